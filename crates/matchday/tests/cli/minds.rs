//! Players for which a program and a model decide, as people start them.

use crate::ground::Ground;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread;

const KEY: &str = "sk-this-must-be-seen-nowhere";

fn script(ground: &Ground, name: &str, text: &str) {
    let path = ground.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A server of models that wants the key and always says odd.
fn model_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || listener.incoming().flatten().for_each(answer));
    url
}

fn answer(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head: Vec<_> = reader.by_ref().lines().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
    let head = head.join("\n").to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let status = if head.contains(&format!("bearer {KEY}")) { "200 OK" } else { "401 Unauthorized" };
    let body = r#"{"choices": [{"message": {"content": "{\"move\": \"odd\"}"}}]}"#;
    let length = body.len();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).unwrap();
}

#[test]
fn a_program_and_a_model_play_a_league_and_the_key_is_seen_nowhere() {
    let ground = Ground::new();
    script(
        &ground,
        "thinker",
        "grep -q '\"options\":\\[\"even\",\"odd\"\\]' || exit 1\necho hm >&2\necho even",
    );
    let manager = ground.manager(&["--lead", "0"]);
    let referee = ground.agent(&["referee"]);
    let program = ground.agent(&["player", "--strategy", "command:./thinker"]);
    let (url, key) = (model_server(), [("MATCHDAY_LLM_API_KEY", KEY)]);
    let model = ground
        .agent_in(&key, &["player", "--strategy", "llm", "--llm-url", &url, "--llm-model", "some-model"]);
    let agents = [&referee, &program, &model];
    agents.iter().for_each(|agent| agent.until("registered as"));
    assert_eq!(ground.ask(&["start"]).code, 0);
    program.until("decided on \"even\" in R1M1");
    program.until("it says \"hm\"");
    model.until("decided on \"odd\" in R1M1");
    ground.until_status("completed");
    for agent in agents.into_iter().chain([&manager]) {
        assert!(!agent.out().contains(KEY) && !agent.err().contains(KEY));
    }
    for file in fs::read_dir(ground.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY));
    }
}

#[test]
fn programs_play_in_a_league_at_once_and_it_is_told_when_they_do_not_decide() {
    let ground = Ground::new();
    script(&ground, "good", "echo odd");
    script(&ground, "bad", "echo nonsense");
    let strategies = "command:./good,command:./bad";
    let args = ["run", "--players", "2", "--referees", "1", "--port-base", "0", "--strategies", strategies];
    let done = ground.run(&args);
    assert_eq!(done.code, 0, "{done:?}");
    let told =
        "P02 (command:./bad) did not choose 1 of its moves itself, last in R1M1: \"nonsense\" is no move";
    assert!(done.out.contains(told), "{}", done.out);
    assert!(!done.out.contains("P01 (command:./good) did not"), "{}", done.out);
    let refused = ground.run(&["run", "--strategies", "llm"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("matchday player --strategy llm"), "{refused:?}");
}
