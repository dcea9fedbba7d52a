//! The starter that asks a language model, with a fake one.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process, free_address};
use matchday_testkit::fake_peer::{Answer, FakePeer};
use matchday_testkit::starter::Starter;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_chooses_and_the_player_passes_the_check() {
    let cli = Cli::new(MATCHDAY);
    let Some(starter) = Starter::write_with(&cli, "python", &["--llm"]) else {
        return;
    };
    starter.test();
    let asked = Arc::new(Mutex::new(Vec::<Value>::new()));
    let noting = Arc::clone(&asked);
    let model = FakePeer::start(move |body| {
        noting
            .lock()
            .unwrap()
            .push(serde_json::from_slice(body).unwrap());
        Answer::json(&json!({"choices": [{"message": {"content": "I say: {\"move\": \"odd\"}"}}]}))
    });
    let model = model.await;
    let listen = free_address();
    let mut run = starter.run(&format!("http://{listen}/mcp"));
    run.env("LLM_URL", format!("http://{}", model.address))
        .env("LLM_MODEL", "some-model");
    let agent = Process::start(run);
    let done = cli.run(&["check", "player", "--wait", "--listen", &listen]);
    assert_eq!(done.code, 0, "{}\n{}", done.out, agent.err());
    assert!(
        !agent.err().contains("a random move instead"),
        "{}",
        agent.err()
    );
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0]["model"], "some-model");
    let text = asked[0]["messages"][0]["content"].as_str().unwrap();
    assert!(
        text.contains("# even_odd") && text.contains(r#"The legal moves: ["even", "odd"]"#),
        "{text}"
    );
}
