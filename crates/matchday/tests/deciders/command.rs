//! A program decides: what it may write, and how it ends.

use crate::turn;
use matchday_runtime::Decider;
use matchday_runtime::decider::Decided;
use matchday_runtime::deciders::command::ProgramError;
use matchday_runtime::deciders::program_decider::ProgramDecider;
use matchday_testkit::eventually::eventually_async;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

pub(crate) struct Script(tempfile::TempDir);

impl Script {
    pub(crate) fn new(text: &str) -> Self {
        let script = Self(tempfile::tempdir().unwrap());
        fs::write(script.path(), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(script.path(), fs::Permissions::from_mode(0o755)).unwrap();
        script
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("program")
    }

    pub(crate) fn program(&self, args: &str) -> ProgramDecider {
        format!("{} {args}", self.path().display()).parse().unwrap()
    }
}

async fn decide(script: &str) -> Decided {
    Script::new(script).program("").decide(turn(60_000)).await
}

#[tokio::test]
async fn a_move_is_read_as_text_or_json() {
    for script in [
        "echo odd",
        "printf odd",
        "echo '\"odd\"'",
        "echo '{\"move\": \"odd\"}'",
    ] {
        assert_eq!(decide(script).await, Ok(json!("odd")).into(), "{script}");
    }
}

#[tokio::test]
async fn the_turn_is_one_line_of_json() {
    let script = r#"read -r line; case "$line" in
        '{"game_type":"even_odd",'*'"match_id":"R1M1"'*'"options":["even","odd"]'*'}') echo even;; *) echo "$line";;
    esac"#;
    assert_eq!(decide(script).await, Ok(json!("even")).into());
}

#[tokio::test]
async fn arguments_are_handed_on() {
    let script = Script::new("echo \"$2\"");
    let considered = script.program("--choose odd").decide(turn(60_000)).await;
    assert_eq!(considered.decision, Ok(json!("odd")));
}

#[tokio::test]
async fn what_is_no_move_is_told() {
    for (script, why) in [
        ("echo maybe", "\"maybe\" is no move"),
        ("true", "the reply is empty"),
        ("echo even; exit 3", "the program failed: exit status: 3"),
        ("kill -9 $$", "the program failed: signal: 9 (SIGKILL)"),
        ("yes even", "the program writes more than 65536 bytes"),
        ("printf '\\377'", "what the program writes is not text"),
    ] {
        assert_eq!(
            decide(script).await.decision,
            Err(why.to_owned()),
            "{script}"
        );
    }
}

#[tokio::test]
async fn the_last_line_of_its_errors_is_part_of_why_it_failed() {
    let considered = decide("echo first >&2; printf 'no \\033[1midea\\n' >&2; exit 3").await;
    let why = "the program failed: exit status: 3; its last words: \"no \\u{1b}[1midea\"";
    assert_eq!(considered, Err(why.to_owned()).into());
}

#[tokio::test]
async fn the_last_line_of_its_errors_is_its_remark() {
    let considered = decide("echo hm >&2; echo 'no idea' >&2; echo >&2; echo odd").await;
    assert_eq!(
        considered,
        Decided {
            remark: Some("\"no idea\"".into()),
            ..Decided::from(Ok(json!("odd")))
        }
    );
    let considered = decide("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo odd").await;
    assert_eq!(
        considered.decision,
        Ok(json!("odd")),
        "a flood of errors stops nobody"
    );
    assert!(considered.remark.unwrap().len() < 100);
}

#[tokio::test]
async fn a_program_that_does_not_listen_may_decide_all_the_same() {
    let mut long = turn(60_000);
    long.context
        .insert("noise".into(), json!("x".repeat(1_000_000)));
    let script = Script::new("exec 0<&-; echo odd");
    assert_eq!(
        script.program("").decide(long).await.decision,
        Ok(json!("odd"))
    );
}

/// Until the process is gone, or only its entry is left because nobody has asked how it ended.
async fn until_gone(pid: &str) {
    let running = || {
        let stat =
            fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    eventually_async("the process has ended", async || !running()).await;
}

#[tokio::test]
async fn a_program_that_is_given_up_ends_with_all_that_it_started() {
    let script = Script::new("sleep 600 & echo $! > \"$1.new\"; mv \"$1.new\" \"$1\"; wait");
    let told = script.0.path().join("pid");
    let deciding = script
        .program(&told.display().to_string())
        .decide(turn(60_000));
    let waiting = eventually_async("the program tells its process", async || {
        fs::read_to_string(&told)
    });
    let pid = tokio::select! {
        considered = deciding => panic!("it sleeps: {considered:?}"),
        pid = timeout(Duration::from_secs(60), waiting) => pid.unwrap(),
    };
    until_gone(pid.trim()).await;
}

#[test]
fn what_cannot_be_run_is_told_before_anything_begins() {
    let script = Script::new("echo odd");
    fs::set_permissions(script.path(), fs::Permissions::from_mode(0o644)).unwrap();
    let path = script.path().display().to_string();
    for (text, why) in [
        ("", ProgramError::Missing),
        (
            "./no_such_program",
            ProgramError::NotFound("./no_such_program".into()),
        ),
        (
            "no_such_program_anywhere",
            ProgramError::NotFound("no_such_program_anywhere".into()),
        ),
        (&path, ProgramError::NotFound(path.clone())),
    ] {
        assert_eq!(text.parse::<ProgramDecider>().unwrap_err(), why);
    }
    assert!(
        "sh".parse::<ProgramDecider>().is_ok(),
        "a name is looked for on the PATH"
    );
}
