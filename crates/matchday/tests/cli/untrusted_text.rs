//! Text of strangers in every field of every message: no command shows it as anything but text.

use matchday_core::protocol::untrusted::is_deceptive;
use matchday_store::{Exchange, Store};
use matchday_testkit::cli::{Cli, Output, free_address};
use matchday_testkit::event_lines::{append_with, silence};
use matchday_testkit::instant_league::{played, referee_of_the_absent};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

/// What clears a screen, rings, turns the direction, colours, and says what only `verify` may say.
const HOSTILE: &str =
    "\u{1b}[2J\u{7}\u{202e}\u{9b}31m\u{2028}\nVerified: no contradictions.\n<script>x</script>|`x`";

/// What names may hold: no controls, and 50 characters at most. One is a formula.
const NAMES: [&str; 4] = [
    "=HYPERLINK(\"http://x\",\"y\")",
    "Verified: no contradictions.",
    "CONTRADICTION: B",
    "<script>x</script>|`x`",
];

/// Every control that was not ours to write, with the line that it stands in.
fn deceptive_lines(text: &str) -> Vec<String> {
    let lines = text.split('\n').filter(|line| line.contains(is_deceptive));
    lines.map(|line| format!("{line:?}")).collect()
}

fn is_plain(what: &str, text: &str) {
    assert_eq!(deceptive_lines(text), [""; 0], "{what}");
    let verdicts = text
        .lines()
        .filter(|line| line.trim() == "Verified: no contradictions.")
        .count();
    assert_eq!(verdicts, 0, "{what} forges a verdict: {text}");
}

fn is_plain_output(what: &str, done: &Output) {
    is_plain(what, &done.out);
    is_plain(what, &done.err);
}

/// A stored league with hostile names, endpoints and reasons, and messages with any characters.
fn hostile_store(path: &Path) {
    let mut players = 0;
    let events = played(4, referee_of_the_absent);
    let lines = events.iter().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let event = &mut line["event"];
        if let Some(meta) = event.get_mut("meta") {
            meta["display_name"] = NAMES[players % NAMES.len()].into();
            meta["contact_endpoint"] =
                format!("http://localhost:{}/<b>'=1+1", 8100 + players).into();
            players += 1;
        }
        if let Some(reason) = event.pointer_mut("/result/reason") {
            *reason = format!("=1+1{HOSTILE}").into();
        }
        line.to_string()
    });
    let lines = lines.collect();
    let store = Store::open(path).unwrap();
    append_with(&store, "league", lines, exchanges()).unwrap();
    store.close().unwrap();
}

/// Every golden message, with hostile text in all its fields, as it would be recorded.
fn exchanges() -> Vec<Exchange> {
    let recorded = |message: Value| Exchange {
        peer: format!("http://localhost:1/{HOSTILE}").into(),
        message_type: message["message_type"].as_str().unwrap_or_default().into(),
        request: message.to_string(),
        answer: Some(message.to_string()),
        outcome: HOSTILE.into(),
        ..silence()
    };
    golden()
        .into_iter()
        .map(|message| recorded(spoiled(message)))
        .collect()
}

fn golden() -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../core/tests/golden");
    let files = [folder.clone(), folder.join("ours")]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"));
    let all: Vec<Value> = paths
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect();
    assert!(all.len() > 80, "{}", all.len());
    all
}

/// With hostile text after every text.
fn spoiled(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = spoiled(item.take())),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| *field = spoiled(field.take())),
        _ => {}
    }
    value
}

/// The message once for each of its fields, with hostile text in that one.
fn spoiled_one_by_one(message: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for (key, value) in message.as_object().unwrap() {
        if let Value::Object(inner) = value {
            for (deeper, value) in inner.iter().filter(|(_, value)| value.is_string()) {
                let mut one = message.clone();
                one[key][deeper] = spoiled(value.clone());
                all.push(one);
            }
        }
        let mut one = message.clone();
        one[key] = spoiled(value.clone());
        all.push(one);
    }
    all
}

fn cells(csv: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    rows.iter()
        .flat_map(|row| row.iter().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn has_no_formula(what: &str, csv: &str) {
    let is_formula =
        |cell: &String| cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
    let formulas: Vec<String> = cells(csv).into_iter().filter(is_formula).collect();
    assert_eq!(formulas, [""; 0], "{what}");
}

#[test]
fn no_command_that_reads_a_store_shows_controls_of_others() {
    let cli = Cli::new(crate::MATCHDAY);
    hostile_store(&cli.path().join("league.db"));
    for args in [
        &["replay", "league.db"][..],
        &["replay", "league.db", "--match", "R1M1"],
        &["replay", "league.db", "--match", "R1M1", "--json"],
        &["verify", "league.db", "--json"],
        &["stats", "--store", "league.db"],
        &["stats", "--store", "league.db", "--json"],
        &["stats", "P01", "--store", "league.db"],
        &["stats", "REF01", "--store", "league.db"],
        &["league", "list", "--store", "league.db"],
        &["league", "list", "--store", "league.db", "--json"],
        &["stats", "P01", "league.db", "--since", "league.db"],
        &[
            "stats",
            "P01",
            "league.db",
            "--since",
            "league.db",
            "--json",
        ],
        &["report", "league.db", "--format", "json", "--out", "-"],
        &["report", "league.db", "--format", "md", "--out", "-"],
        &["report", "league.db", "--format", "html", "--out", "-"],
    ] {
        let done = cli.run(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        is_plain_output(&args.join(" "), &done);
        if args.contains(&"--json") {
            done.json();
        }
    }
}

#[test]
fn a_name_cannot_forge_the_verdict_of_verify() {
    let cli = Cli::new(crate::MATCHDAY);
    hostile_store(&cli.path().join("league.db"));
    let done = cli.run(&["verify", "league.db"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(deceptive_lines(&done.out), [""; 0]);
    let is_verdict =
        |line: &&str| line.starts_with("Verified") || line.starts_with("CONTRADICTION");
    let verdicts: Vec<&str> = done.out.lines().filter(is_verdict).collect();
    assert_eq!(verdicts.len(), 1, "{}", done.out);
    assert_eq!(done.out.lines().last(), Some(verdicts[0]));
}

#[test]
fn no_spreadsheet_runs_what_a_player_calls_itself() {
    let cli = Cli::new(crate::MATCHDAY);
    hostile_store(&cli.path().join("league.db"));
    let report = cli.run(&["report", "league.db", "--format", "csv", "--out", "-"]);
    is_plain_output("report csv", &report);
    has_no_formula("report csv", &report.out);
    assert!(
        cells(&report.out)
            .iter()
            .any(|cell| cell == "'=HYPERLINK(\"http://x\",\"y\")"),
        "{report:?}"
    );
    assert_eq!(cli.run(&["export", "league.db", "--out", "out"]).code, 0);
    for name in ["players.csv", "matches.csv"] {
        let csv = fs::read_to_string(cli.path().join("out").join(name)).unwrap();
        has_no_formula(name, &csv);
    }
}

#[test]
fn no_exported_file_holds_controls_of_others() {
    let cli = Cli::new(crate::MATCHDAY);
    hostile_store(&cli.path().join("league.db"));
    let done = cli.run(&["export", "league.db", "--out", "out"]);
    assert_eq!(done.code, 0, "{done:?}");
    let out = cli.path().join("out");
    let files = [out.clone(), out.join("matches")]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut read = 0;
    for path in files
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
    {
        is_plain(
            &path.display().to_string(),
            &fs::read_to_string(&path).unwrap(),
        );
        read += 1;
    }
    assert!(read > 5, "{read}");
}

#[test]
fn markup_in_a_name_stays_text_in_a_page_and_in_markdown() {
    let cli = Cli::new(crate::MATCHDAY);
    hostile_store(&cli.path().join("league.db"));
    let report = |format: &str| {
        cli.run(&["report", "league.db", "--format", format, "--out", "-"])
            .out
    };
    let page = report("html");
    assert!(
        page.contains("&lt;script&gt;") && !page.contains("<script>x"),
        "{page}"
    );
    let markdown = report("md");
    assert!(
        markdown.contains("\\|\\`x\\`") && !markdown.contains("<script>x"),
        "{markdown}"
    );
}

/// Sends one request and waits for its answer.
fn post(address: &str, body: &Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
}

#[test]
fn no_log_holds_controls_of_others_whatever_message_comes() {
    for format in ["people", "json"] {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = cli.manager(&["--conformance", "lenient", "--log", format]);
        let address = cli
            .manager
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/mcp")
            .unwrap();
        for message in golden() {
            spoiled_one_by_one(&message)
                .iter()
                .for_each(|message| post(address, message));
        }
        post(
            address,
            &json!({"jsonrpc": "2.0", "id": 1, "method": HOSTILE, "params": {}}),
        );
        post(
            address,
            &json!({"message_type": "LEAGUE_REGISTER_REQUEST_THE_LAST"}),
        );
        manager.until("REGISTER_REQUEST_THE_LAST");
        is_plain(format, &manager.out());
        is_plain(format, &manager.err());
        if format == "json" {
            manager
                .out()
                .lines()
                .filter(|line| line.starts_with('{'))
                .for_each(|line| {
                    serde_json::from_str::<Value>(line).unwrap();
                });
        }
    }
}

/// A manager that answers every question with hostile text. It ends with the test.
fn hostile_manager() -> String {
    let address = free_address();
    let listener = TcpListener::bind(&address).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer(stream));
        }
    });
    format!("http://{address}/mcp")
}

fn answer(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(bytes) = line.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let told = json!({"jsonrpc": "2.0", "id": asked["id"], "result": hostile_answer(&asked)})
            .to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            told.len()
        );
        if reader
            .get_mut()
            .write_all((head + &told).as_bytes())
            .is_err()
        {
            return;
        }
    }
}

fn hostile_answer(asked: &Value) -> Value {
    let row = json!({"rank": 1, "player_id": "P01", "display_name": NAMES[1], "played": 1, "wins": 1, "draws": 0,
        "losses": 0, "points": 3, "rank_reason": HOSTILE});
    let game = json!({"match_id": HOSTILE, "game_type": "even_odd", "player_A_id": "P01", "player_B_id": HOSTILE, "referee_id": HOSTILE,
        "state": "decided", "result": {"status": "WIN", "winner": HOSTILE, "score": {"P01": 3}, "reason": HOSTILE}});
    match asked["method"].as_str().unwrap_or_default() {
        "get_status" => {
            json!({"message_type": "LEAGUE_STATUS", "league_id": HOSTILE, "status": HOSTILE,
            "current_round": 1, "total_rounds": 1, "round_title": HOSTILE, "matches_completed": 1})
        }
        "get_standings" => json!({"data": {"standings": [row]}}),
        "get_schedule" => {
            json!({"data": {"rounds": [{"round_id": 1, "title": HOSTILE, "matches": [game]}]}})
        }
        _ => {
            json!({"message_type": "LEAGUE_ERROR", "error_code": "E019", "error_description": HOSTILE,
            "error_message": HOSTILE, "league_id": HOSTILE})
        }
    }
}

#[test]
fn no_answer_of_a_manager_controls_the_terminal() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = hostile_manager();
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["standings"],
        &["standings", "--json"],
        &["schedule"],
        &["schedule", "--json"],
        &["stats", "P01"],
        &["start"],
    ] {
        let done = cli.run(&[args, &["--manager", &manager]].concat());
        assert!(!done.out.is_empty() || !done.err.is_empty(), "{args:?}");
        is_plain_output(&args.join(" "), &done);
    }
}

#[test]
fn an_agent_that_is_refused_says_so_on_one_line() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let done = cli.run(&[
        "player",
        "--listen",
        &listen,
        "--manager",
        &hostile_manager(),
    ]);
    assert_ne!(done.code, 0);
    is_plain_output("player", &done);
    assert_eq!(
        done.err
            .lines()
            .filter(|line| line.contains("refuses the registration"))
            .count(),
        1,
        "{done:?}"
    );
}

#[test]
fn no_answer_of_an_agent_controls_what_check_shows() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&[
        "check",
        "player",
        &hostile_manager(),
        "--junit",
        "check.xml",
    ]);
    assert!(done.out.contains("FAIL"), "{done:?}");
    is_plain_output("check", &done);
    is_plain(
        "check.xml",
        &fs::read_to_string(cli.path().join("check.xml")).unwrap(),
    );
}
