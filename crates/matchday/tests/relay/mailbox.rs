//! What a relay promises to callers and to agents.

use crate::MATCHDAY;
use crate::http::{Mailbox, absence, call, receive};
use matchday_testkit::cli::Cli;
use std::time::Instant;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn relay(args: &[&str]) -> (Cli, matchday_testkit::cli::Process) {
    let cli = Cli::new(MATCHDAY);
    let manager = cli.manager(&[&["--relay", "on"], args].concat());
    (cli, manager)
}

#[test]
fn a_call_travels_unchanged_and_so_does_its_answer() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    assert!(
        mailbox.contact.ends_with(&format!("{}/mcp", mailbox.path)),
        "{}",
        mailbox.contact
    );
    let mut lines = mailbox.stream("client=a");
    let body = "{ \"id\":1.50,\n\"x\":\"é\" }";
    let caller = mailbox.ask(body, 20_000);
    let call = lines.next().unwrap();
    assert_eq!(call["body"], body);
    assert!(call["left_ms"].as_u64().unwrap() <= 20_000);
    let answered = mailbox
        .post(
            &format!("answers/{}?status=202", call["id"]),
            "{\"answer\": 1.0}",
        )
        .unwrap();
    assert_eq!(answered.status, 204, "{answered:?}");
    let answer = receive(caller).unwrap();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (202, "{\"answer\": 1.0}")
    );
    let again = mailbox
        .post(&format!("answers/{}", call["id"]), "{}")
        .unwrap();
    assert_eq!(again.status, 410, "an answer counts once");
}

#[test]
fn a_poll_brings_the_call_that_waits() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let caller = mailbox.ask(PING, 20_000);
    let lines = mailbox.get("next?client=a").unwrap();
    let line: serde_json::Value = serde_json::from_str(
        lines
            .body
            .lines()
            .find(|line| line.starts_with('{'))
            .unwrap(),
    )
    .unwrap();
    mailbox
        .post(&format!("answers/{}", line["id"]), "{}")
        .unwrap();
    assert_eq!(receive(caller).unwrap().status, 200);
}

#[test]
fn that_an_agent_is_absent_is_said_in_a_header_of_the_relays_own() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    assert_eq!(absence(receive(mailbox.ask(PING, 100))), "absent");
    let nobody = format!("/relay/{}/mcp", "0".repeat(32));
    assert_eq!(
        absence(call(&cli.listen, "POST", &nobody, None, PING)),
        "absent"
    );
    // Its client says that it does not listen.
    let mut lines = mailbox.stream("client=a");
    let caller = mailbox.ask(PING, 20_000);
    let id = lines.next().unwrap()["id"].clone();
    assert_eq!(
        mailbox
            .post(&format!("answers/{id}?failed=1"), "")
            .unwrap()
            .status,
        204
    );
    assert_eq!(absence(receive(caller)), "absent");
}

#[test]
fn an_answer_after_the_deadline_is_refused() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let caller = mailbox.ask(PING, 200);
    let id = lines.next().unwrap()["id"].clone();
    assert_eq!(absence(receive(caller)), "silent");
    assert_eq!(
        mailbox.post(&format!("answers/{id}"), "{}").unwrap().status,
        410
    );
}

#[test]
fn a_reconnect_answers_the_question_that_is_still_open() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let caller = mailbox.ask(PING, 60_000);
    let cut = lines.next().unwrap()["id"].clone();
    drop(lines);
    let began = Instant::now();
    let mut lines = mailbox.stream("client=a");
    assert_eq!(lines.next().unwrap()["id"], cut, "it is delivered again");
    assert!(began.elapsed().as_secs() < 15);
    mailbox.post(&format!("answers/{cut}"), "{}").unwrap();
    assert_eq!(receive(caller).unwrap().status, 200);
}

#[test]
fn only_the_holder_of_the_token_reads_and_answers() {
    let (cli, _manager) = relay(&[]);
    let mine = Mailbox::open(&cli.listen, None);
    let theirs = Mailbox::open(&cli.listen, None);
    for path in ["stream", "next"] {
        for token in [None, Some(theirs.token.as_str()), Some("tok_relay_guess")] {
            let refused = call(
                &cli.listen,
                "GET",
                &format!("{}/{path}", mine.path),
                token,
                "",
            )
            .unwrap();
            assert_eq!(refused.status, 401, "{refused:?}");
        }
    }
    let answer = call(
        &cli.listen,
        "POST",
        &format!("{}/answers/1", mine.path),
        Some(&theirs.token),
        "{}",
    );
    assert_eq!(answer.unwrap().status, 401);
    for path in ["metrics", "health/live", "..%2fmcp", "mcp/../../mcp", ""] {
        let status = call(
            &cli.listen,
            "GET",
            &format!("{}/{path}", mine.path),
            Some(&mine.token),
            "",
        )
        .unwrap()
        .status;
        assert!(matches!(status, 404 | 405), "{path}: {status}");
    }
}

#[test]
fn the_first_stream_stays_unless_another_takes_over_and_is_told() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut first = mailbox.stream("client=a");
    let refused = mailbox.get("stream?client=b").unwrap();
    assert_eq!(refused.status, 409, "{refused:?}");
    let _second = mailbox.stream("client=b&take_over=1");
    assert_eq!(first.next().unwrap()["closed"], "taken_over");
    assert_eq!(first.next(), None);
}

#[test]
fn a_mailbox_survives_a_restart_and_its_token_is_nowhere() {
    let (cli, mut manager) = relay(&["--store", "league.db"]);
    let mailbox = Mailbox::open(&cli.listen, None);
    manager.signal("TERM");
    manager.wait();
    let manager = cli.manager(&["--relay", "on", "--store", "league.db"]);
    let mut lines = mailbox.stream("client=a");
    let caller = mailbox.ask(PING, 20_000);
    let id = lines.next().unwrap()["id"].clone();
    mailbox.post(&format!("answers/{id}"), "{}").unwrap();
    assert_eq!(receive(caller).unwrap().status, 200);
    assert_eq!(cli.run(&["verify", "league.db"]).code, 0);
    let exported = cli.run(&["export", "league.db", "--out", "out"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    let secret = mailbox.token.rsplit('_').next().unwrap();
    let mut read = vec![manager.out(), manager.err()];
    for file in walk(cli.path()) {
        read.push(String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned());
    }
    assert!(!read.iter().any(|text| text.contains(secret)));
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn where_codes_are_in_force_a_mailbox_needs_one() {
    let cli = Cli::new(MATCHDAY);
    std::fs::write(
        cli.path().join("roster.csv"),
        "name,role,mail\nAnn,player,ann@example.org\n",
    )
    .unwrap();
    let _manager = cli.manager(&["--relay", "on", "--roster", "roster.csv"]);
    let codes = std::fs::read_to_string(cli.path().join("roster.codes.csv")).unwrap();
    let code = codes
        .split([',', '\n'])
        .find(|cell| cell.starts_with("tok_join_"))
        .unwrap();
    for wrong in [None, Some("tok_join_0123456789abcdef"), Some("x")] {
        assert_eq!(
            call(&cli.listen, "POST", "/relay", wrong, "")
                .unwrap()
                .status,
            401
        );
    }
    Mailbox::open(&cli.listen, Some(code));
}

#[test]
fn mailboxes_are_bounded_and_a_manager_without_a_relay_has_none() {
    let (cli, _manager) = relay(&["--relay-mailboxes", "2"]);
    let _both = [
        Mailbox::open(&cli.listen, None),
        Mailbox::open(&cli.listen, None),
    ];
    let refused = call(&cli.listen, "POST", "/relay", None, "").unwrap();
    assert_eq!(refused.status, 429);
    insta::assert_snapshot!(refused.body);
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[]);
    assert_eq!(
        call(&cli.listen, "POST", "/relay", None, "")
            .unwrap()
            .status,
        404
    );
}

#[test]
fn a_full_mailbox_refuses_further_calls() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let waiting: Vec<_> = (0..64).map(|_| mailbox.ask(PING, 60_000)).collect();
    for _ in &waiting {
        lines.next().unwrap();
    }
    assert_eq!(absence(receive(mailbox.ask(PING, 60_000))), "absent");
}

#[test]
fn polls_that_follow_on_each_other_are_no_reconnects() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    for _ in 0..3 {
        let caller = mailbox.ask(PING, 20_000);
        let lines = mailbox.get("next?client=a").unwrap();
        let line = lines
            .body
            .lines()
            .find(|line| line.starts_with('{'))
            .unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        mailbox
            .post(&format!("answers/{}", line["id"]), "{}")
            .unwrap();
        receive(caller).unwrap();
    }
    let _stream = mailbox.stream("client=a");
    let metrics = call(&cli.listen, "GET", "/metrics", None, "").unwrap().body;
    assert!(
        metrics.contains("\nmatchday_relay_reconnects_total 1\n"),
        "the stream alone: {metrics}"
    );
}
