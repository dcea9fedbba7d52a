//! What people, programs and graders are given.

use crate::fake_player::{fake_player, spoil};
use crate::report::run_aside;
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
        done.out.contains("FAIL  choice.parity"),
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
