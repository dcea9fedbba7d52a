//! What people, programs and graders are given.

use crate::fake_player::{fake_player, spoil};
use crate::report::{Report as _, run, run_aside};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_grader_gets_a_test_for_each_rule() {
    let stub = fake_player(|_, _, right| {
        spoil(right, "CHOOSE_PARITY_RESPONSE", |answer| {
            answer["parity_choice"] = json!("<odd>")
        })
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("player.xml");
    let done = run_aside(&[
        "check",
        "player",
        &stub.url(),
        "--quick",
        "--junit",
        file.to_str().unwrap(),
    ])
    .await;
    assert_eq!(done.code, 1);
    let xml = std::fs::read_to_string(&file).unwrap();
    assert!(xml.contains("name=\"choice.parity: "), "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 1, "{xml}");
    assert!(
        xml.contains("&lt;odd&gt;") && !xml.contains("<odd>"),
        "{xml}"
    );
    assert!(
        done.out.contains("FAIL    choice.parity"),
        "people still see theirs: {}",
        done.out
    );
    assert!(!done.out.contains('\u{1b}'), "no colours into a pipe");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_written_is_told() {
    let stub = fake_player(|_, _, right| right).await;
    let done = run_aside(&[
        "check",
        "player",
        &stub.url(),
        "--quick",
        "--junit",
        "/no/such/folder/x.xml",
    ])
    .await;
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("cannot write /no/such/folder/x.xml"),
        "{}",
        done.err
    );
}

#[test]
fn a_rule_is_explained_with_what_the_protocol_says_of_it() {
    let done = run(&["check", "--explain", "choice.parity"]);
    assert_eq!(done.code, 0, "{done:?}");
    for said in [
        "choice.parity (player)",
        "Fix: Send",
        "### CHOOSE_PARITY_RESPONSE",
    ] {
        assert!(done.out.contains(said), "{said}: {}", done.out);
    }
    let wrong = run(&["check", "--explain", "choice.party"]);
    assert!(
        wrong.line(2).contains("did you mean \"choice.parity\"?"),
        "{wrong:?}"
    );
}

/// The two verdicts, and each by itself.
#[tokio::test(flavor = "multi_thread")]
async fn whether_it_is_ready_and_what_would_be_cleaner_are_told_apart() {
    let stub = fake_player(|_, _, right| {
        spoil(right, "CHOOSE_PARITY_RESPONSE", |answer| {
            answer["conversation_id"] = json!("conv-1");
            answer["nonce"] = json!(null);
        })
    })
    .await;
    let url = stub.url();
    let lenient = run_aside(&["check", "player", &url, "--player-id", "P01"]).await;
    assert_eq!(lenient.code, 0, "{}", lenient.out);
    for said in [
        "Ready: it plays in any lenient league, as leagues are by default. \
         It would lose matches in a strict one, because of 1 rule: envelope.conversation",
        "1 warning, which loses no match: choice.nonce",
    ] {
        assert!(lenient.out.contains(said), "{said}: {}", lenient.out);
    }
    let strict = run_aside(&[
        "check",
        "player",
        &url,
        "--quick",
        "--player-id",
        "P01",
        "--conformance",
        "strict",
    ])
    .await;
    assert_eq!(strict.code, 1, "{}", strict.out);
    assert!(
        strict.out.contains("Not ready for a strict league"),
        "{}",
        strict.out
    );
}
