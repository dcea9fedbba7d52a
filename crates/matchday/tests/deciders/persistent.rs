//! A program that stays alive between turns: how it says so, and what happens when it crashes.

use crate::command::Script;
use crate::turn;
use matchday_core::agent::ExternalResult;
use matchday_runtime::Decider;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// Answers every line, and tells on standard error how many turns it has answered.
const COUNTING: &str = r#"n=0; while read -r line; do n=$((n + 1)); echo "turn $n" >&2
echo '{"move": "odd", "persistent": true}'; done"#;

async fn turns_told(script: &str, turns: usize) -> Vec<String> {
    let script = Script::new(script);
    let program = script.program("");
    let mut told = Vec::new();
    for _ in 0..turns {
        let decided = program.decide(turn(60_000)).await;
        assert_eq!(decided.decision, Ok(json!("odd")));
        told.push(decided.remark.unwrap());
    }
    told
}

#[tokio::test]
async fn a_program_that_says_so_answers_all_further_turns_in_one_process() {
    let first_alone = [r#""turn 1""#, r#""turn 1""#, r#""turn 2""#, r#""turn 3""#];
    assert_eq!(turns_told(COUNTING, 4).await, first_alone);
}

#[tokio::test]
async fn a_program_that_does_not_say_so_is_started_for_each_turn() {
    let silent = COUNTING.replace(r#", "persistent": true"#, "");
    assert_eq!(turns_told(&silent, 3).await, [r#""turn 1""#; 3]);
}

#[tokio::test]
async fn a_process_that_ends_after_an_answer_is_replaced() {
    let ends = COUNTING.replace("done", r#"if [ "$n" = 2 ]; then exit 3; fi; done"#);
    let told = turns_told(&ends, 6).await;
    assert_eq!(
        told,
        ["turn 1", "turn 1", "turn 2", "turn 1", "turn 2", "turn 1"].map(|t| format!("{t:?}"))
    );
}

/// The second and further decisions of a program that announces itself with its first answer.
async fn then(rest: &str) -> ExternalResult {
    let script = Script::new(&format!(
        "read -r line; if [ ! -e \"$1\" ]; then touch \"$1\"; echo '{{\"move\": \"odd\", \"persistent\": true}}'; exit; fi\n{rest}"
    ));
    let mark = script.path().with_extension("asked").display().to_string();
    let program = script.program(&mark);
    assert_eq!(
        program.decide(turn(60_000)).await.decision,
        Ok(json!("odd"))
    );
    program.decide(turn(60_000)).await.decision
}

#[tokio::test]
async fn what_goes_wrong_in_a_process_that_stays_is_told() {
    for (rest, why) in [
        ("echo maybe", "\"maybe\" is no move"),
        (
            "exit 3",
            "the program failed: it ended without an answer (exit status: 3)",
        ),
        (
            "echo oh >&2; exit 3",
            "the program failed: it ended without an answer (exit status: 3); its last words: \"oh\"",
        ),
        (
            "yes even | tr -d '\\n'",
            "the program writes more than 262144 bytes",
        ),
        ("printf '\\377\\n'", "what the program writes is not text"),
    ] {
        assert_eq!(then(rest).await, Err(why.to_owned()), "{rest}");
    }
}

#[tokio::test]
async fn a_process_that_is_given_up_is_not_asked_again() {
    let script = Script::new(
        r#"n=0; while read -r line; do n=$((n + 1)); echo "turn $n" >&2; [ "$n" = 2 ] && sleep 600
echo '{"move": "odd", "persistent": true}'; done"#,
    );
    let program = script.program("");
    for _ in 0..2 {
        assert_eq!(
            program.decide(turn(60_000)).await.decision,
            Ok(json!("odd"))
        );
    }
    let late = timeout(Duration::from_millis(200), program.decide(turn(60_000))).await;
    assert!(late.is_err(), "its second turn takes too long");
    assert_eq!(
        program.decide(turn(60_000)).await.remark,
        Some(r#""turn 1""#.to_owned())
    );
}

#[tokio::test]
async fn turns_at_the_same_time_have_a_process_each() {
    let script = Script::new(COUNTING);
    let program = script.program("");
    program.decide(turn(60_000)).await;
    let (one, other) = tokio::join!(program.decide(turn(60_000)), program.decide(turn(60_000)));
    assert_eq!(
        [one.remark, other.remark],
        [(); 2].map(|()| Some(r#""turn 1""#.to_owned()))
    );
}

#[tokio::test]
async fn a_program_that_says_so_is_asked_many_turns_in_one_line() {
    let script = Script::new(
        r#"while read -r line; do case $line in
'{"turns"'*) echo '{"moves": ["odd", null, "even"]}' ;;
*) echo '{"move": "odd", "persistent": true, "batch": true}' ;;
esac; done"#,
    );
    let program = script.program("");
    assert!(program.batches().is_none());
    let first = program.decide(turn(60_000)).await;
    assert_eq!(first.decision, Ok(json!("odd")));
    let batches = program.batches().unwrap();
    let turns = vec![b"{}".to_vec(); 3];
    let moves = vec![json!("odd"), json!(null), json!("even")];
    assert_eq!(batches.decide_all(&turns).await, Ok(moves));
    assert_eq!(batches.process_number(), 0);
    // Whose memory is lost is known by its number.
    let wrong = batches.decide_all(&turns[..2]).await;
    assert_eq!(
        wrong,
        Err("the program answered 2 turns with 3 moves".to_owned())
    );
    assert_eq!(batches.process_number(), 1);
    assert!(batches.decide_all(&turns).await.is_ok());
}
