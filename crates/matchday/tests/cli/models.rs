//! Tournaments of language models by a plan, against a server that plays six models: a perfect one, one at random, and four that
//! fail, each in its own way.

use matchday_testkit::cli::{Cli, Process};
use matchday_testkit::eventually::eventually;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub(crate) const KEY: &str = "sk-this-must-be-seen-nowhere";
const NEVER: Duration = Duration::from_secs(3600);

/// What the server was asked, by model.
type Asked = Arc<Mutex<BTreeMap<String, Vec<Value>>>>;

pub(crate) struct Models {
    url: String,
    asked: Asked,
}

impl Models {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Asked::default();
        let noting = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let asked = Arc::clone(&noting);
                thread::spawn(move || answer_all(&stream, &asked));
            }
        });
        Self { url, asked }
    }

    fn calls(&self) -> usize {
        self.asked.lock().unwrap().values().map(Vec::len).sum()
    }
}

fn answer_all(stream: &TcpStream, asked: &Asked) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(body) = read_request(&mut reader) {
        let model = body["model"].as_str().unwrap().to_owned();
        let is_new = {
            let mut asked = asked.lock().unwrap();
            let before = asked.entry(model.clone()).or_default();
            let is_new = !before.contains(&body);
            before.push(body.clone());
            is_new
        };
        let (status, head, answer) = answer(&model, &body, is_new);
        let answer = answer.to_string();
        let text = format!(
            "HTTP/1.1 {status}\r\n{head}content-length: {}\r\n\r\n{answer}",
            answer.len()
        );
        let mut stream = stream;
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn openai(model: &str, content: &str) -> Value {
    json!({
        "model": format!("{model}-2026-11-01"),
        "choices": [{"message": {"content": content, "reasoning_content": "Let me see."}}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 10},
    })
}

/// Status, further headers and body. `is_new` is whether this was never asked before.
fn answer(model: &str, body: &Value, is_new: bool) -> (&'static str, &'static str, Value) {
    let messages = body["messages"].as_array().unwrap();
    let question = messages
        .iter()
        .find(|message| message["role"] == "user")
        .unwrap()["content"]
        .as_str()
        .unwrap();
    let said = |made: &Value| format!("I am sure. {}", json!({"move": made}));
    match model {
        "perfect" => ("200 OK", "", openai(model, &said(&perfect(question)))),
        "random" => {
            let answer = json!({
                "model": "random:7b", "message": {"content": said(&random(question))}, "prompt_eval_count": 100,
                "eval_count": 5,
            });
            ("200 OK", "", answer)
        }
        "illegal" => (
            "200 OK",
            "",
            openai(model, &format!("{KEY}: {}", said(&json!("castle")))),
        ),
        "slow" => {
            thread::sleep(NEVER);
            ("200 OK", "", json!({}))
        }
        "refusing" => {
            let answer = json!({
                "model": "refusing-1", "stop_reason": "refusal", "content": [],
                "usage": {"input_tokens": 50, "output_tokens": 1},
            });
            ("200 OK", "", answer)
        }
        // It fails every game of one kind, and each question of the others once.
        "flaky" if question.contains("\"your_mark\"") => (
            "503 Service Unavailable",
            "retry-after: 3600\r\n",
            json!({"error": "overloaded"}),
        ),
        "flaky" if is_new => ("429 Too Many Requests", "retry-after: 0\r\n", json!({})),
        _ => ("200 OK", "", openai(model, &said(&random(question)))),
    }
}

/// The JSON value after these words.
fn shown(question: &str, words: &str) -> Option<Value> {
    let at = question.to_ascii_lowercase().find(words)? + words.len();
    let rest = question[at..].trim_start_matches(['"', ':', ' ']);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    values.next()?.ok()
}

fn options(question: &str) -> Vec<Value> {
    let options = shown(question, "options").unwrap();
    options.as_array().unwrap().clone()
}

fn random(question: &str) -> Value {
    let options = options(question);
    let mut hasher = DefaultHasher::new();
    options
        .iter()
        .for_each(|option| option.to_string().hash(&mut hasher));
    options[usize::try_from(hasher.finish() % options.len() as u64).unwrap()].clone()
}

fn perfect(question: &str) -> Value {
    let options = options(question);
    if let Some(heaps) = shown(question, "\"heaps\"") {
        let heaps: Vec<u64> = serde_json::from_value(heaps).unwrap();
        let wins = |option: &&Value| {
            let left = heaps.iter().enumerate().map(|(heap, size)| {
                let of = option["heap"].as_u64().unwrap() == heap as u64 + 1;
                size - if of {
                    option["take"].as_u64().unwrap()
                } else {
                    0
                }
            });
            left.fold(0, |all, size| all ^ size) == 0
        };
        return options.iter().find(wins).unwrap_or(&options[0]).clone();
    }
    if let Some(board) = shown(question, "\"board\"") {
        let own = shown(question, "\"your_mark\"").unwrap();
        let cells: Vec<i8> = board
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| match cell {
                Value::Null => 0,
                mark if *mark == own => 1,
                _ => -1,
            })
            .collect();
        let mut cells: [i8; 9] = cells.try_into().unwrap();
        let mut best = (i8::MIN, 0);
        for cell in 0..9 {
            if cells[cell] == 0 {
                cells[cell] = 1;
                best = best.max((-worth(&mut cells, -1), cell));
                cells[cell] = 0;
            }
        }
        return json!(best.1);
    }
    options[0].clone()
}

/// Of a board of tic-tac-toe, to the one who is to move.
fn worth(cells: &mut [i8; 9], to_move: i8) -> i8 {
    const LINES: [[usize; 3]; 8] = [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
        [0, 3, 6],
        [1, 4, 7],
        [2, 5, 8],
        [0, 4, 8],
        [2, 4, 6],
    ];
    if LINES
        .iter()
        .any(|line| line.iter().all(|cell| cells[*cell] == -to_move))
    {
        return -1;
    }
    let mut best = None;
    for cell in 0..9 {
        if cells[cell] == 0 {
            cells[cell] = to_move;
            best = best.max(Some(-worth(cells, -to_move)));
            cells[cell] = 0;
        }
    }
    best.unwrap_or(0)
}

const SIX: &str = r#"
name = "Six models"
games = ["nim", "tic_tac_toe", "even_odd"]
repetitions = 1
think_time = 3

[[provider]]
url = "URL"
concurrency = 64

[[player]]
name = "perfect"
url = "URL"
model = "perfect"
observation = "json"
key_env = "KEY_OF_THE_TEST"
temperature = 0.0
prices = "3,15"

[[player]]
name = "random"
api = "ollama"
url = "URL"
model = "random"
observation = "json"
prices = "0,0"

[[player]]
name = "illegal"
url = "URL"
model = "illegal"
key_env = "KEY_OF_THE_TEST"
prices = "3,15"

[[player]]
name = "slow"
url = "URL"
model = "slow"
prices = "3,15"

[[player]]
name = "refusing"
api = "anthropic"
url = "URL"
model = "refusing"
prices = "3,15"

[[player]]
name = "flaky"
url = "URL"
model = "flaky"
observation = "json"
prices = "3,15"
"#;

fn run(cli: &Cli, args: &[&str]) -> matchday_testkit::cli::Output {
    let mut command = cli.command(&[&["experiment", "plan.toml"], args].concat());
    command.env("KEY_OF_THE_TEST", KEY);
    matchday_testkit::cli::output(command)
}

pub(crate) fn plan(cli: &Cli, models: &Models, text: &str) {
    let text = text.replace("URL", &models.url);
    fs::write(cli.path().join("plan.toml"), text).unwrap();
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let read = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), text)
    };
    entries.map(read).collect()
}

/// Without the columns that a clock decides.
fn without_latency(markdown: &str) -> String {
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(" | ").collect();
        if cells.len() < 20 {
            return line.to_owned();
        }
        [&cells[..17], &cells[19..]].concat().join(" | ")
    };
    markdown.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_failure_has_its_column_and_nobody_loses_by_a_servers_fault() {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    plan(&cli, &models, SIX);
    let done = run(&cli, &[]);
    assert_eq!(done.code, 0, "{done:?}");
    let first = files(&cli.path().join("plan"));
    insta::assert_snapshot!(without_latency(&first["players.md"]));
    for (name, text) in &first {
        assert!(!text.contains(KEY), "{name}");
    }
    let rows: Vec<&str> = first["matches.csv"].lines().collect();
    let of_flaky = |game: &str| {
        let all = rows.iter().filter(|row| row.starts_with(game));
        all.filter(|row| row.contains("flaky"))
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!(of_flaky("tic_tac_toe").len(), 10);
    for row in of_flaky("tic_tac_toe") {
        // Its opponent may have failed first.
        let lost = row.contains(",a,") || row.contains(",b,");
        let not_played =
            row.contains(",not_played,server,,3,") || row.contains(",not_played,,server,3,");
        assert!(not_played || lost, "{row}");
    }
    assert!(!of_flaky("nim").join("\n").contains("not_played"));

    // The same again, without a server.
    let asked = models.calls();
    let done = run(&cli, &["--out", "again", "--replay-replies", "plan"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(models.calls(), asked);
    assert_eq!(files(&cli.path().join("again")), first);

    // What a model said cannot be changed afterwards.
    let said =
        first["replies.jsonl"].replacen("I am sure. {\\\"move\\\":", "I am sure. {\\\"mov\\\":", 1);
    assert_ne!(said, first["replies.jsonl"]);
    fs::write(cli.path().join("changed.jsonl"), said).unwrap();
    let done = run(
        &cli,
        &["--out", "changed", "--replay-replies", "changed.jsonl"],
    );
    assert!(
        done.failed(1).contains("the recorded move is another one"),
        "{done:?}"
    );
}

const TWO: &str = r#"
games = ["nim"]
repetitions = 40
seeds = [1, 2]

[[player]]
name = "one"
url = "URL"
model = "dice"

[[player]]
name = "two"
url = "URL"
model = "perfect"
"#;

#[test]
fn a_run_that_is_killed_asks_nobody_twice() {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    plan(&cli, &models, TWO);
    let mut running = Process::start(cli.command(&["experiment", "plan.toml"]));
    eventually("some calls are made", || {
        if models.calls() > 60 {
            Ok(())
        } else {
            Err(models.calls())
        }
    });
    running.signal("KILL");
    running.wait();
    let recorded = fs::read_to_string(cli.path().join("plan/replies.jsonl")).unwrap();
    let recorded = recorded.lines().count();
    assert!(recorded > 30, "{recorded}");
    let before = models.calls();
    assert_eq!(run(&cli, &[]).code, 0);
    let killed = files(&cli.path().join("plan"));
    let turns = killed["replies.jsonl"].lines().count();
    // Each turn is one call here; what was under way when it was killed is asked again.
    assert_eq!(models.calls() - before, turns - recorded);
    let whole = run(&cli, &["--out", "whole"]);
    assert_eq!(whole.code, 0, "{whole:?}");
    assert_eq!(
        files(&cli.path().join("whole"))["matches.csv"],
        killed["matches.csv"]
    );
}

#[test]
fn an_end_by_budget_says_so_and_counts_every_call() {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    let budget = "[[provider]]\nurl = \"URL\"\nbudget = \"calls=6\"\n";
    plan(
        &cli,
        &models,
        &format!("{TWO}{budget}").replace("\"dice\"", "\"illegal\""),
    );
    for _ in 0..2 {
        let done = run(&cli, &["--threads", "1"]);
        assert!(
            done.failed(1)
                .contains("the model's budget is used up: 6 of 6 calls"),
            "{done:?}"
        );
        assert_eq!(models.calls(), 6);
    }
}

#[test]
fn a_wrong_key_ends_the_run_and_loses_nothing() {
    let cli = Cli::new(crate::MATCHDAY);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while read_request(&mut reader).is_some() {
                let mut stream = &stream;
                let _ =
                    stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}");
            }
        }
    });
    fs::write(cli.path().join("plan.toml"), TWO.replace("URL", &url)).unwrap();
    let done = run(&cli, &["--threads", "1"]);
    assert!(
        done.failed(1)
            .contains("cannot play: the model's server answered HTTP 401 (is the key right?)"),
        "{done:?}"
    );
    let csv = fs::read_to_string(cli.path().join("plan/matches.csv")).unwrap_or_default();
    assert!(csv.lines().count() <= 1, "{csv}");
}

#[test]
fn every_call_is_stored_with_what_was_said_and_used() {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    plan(
        &cli,
        &models,
        &TWO.replace("= 40", "= 1").replace("[1, 2]", "[1]"),
    );
    assert_eq!(run(&cli, &[]).code, 0);
    let text = fs::read_to_string(cli.path().join("plan/replies.jsonl")).unwrap();
    let turn: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&turn["game"], &turn["match"], &turn["turn"]),
        (&json!("nim"), &json!(1), &json!(1))
    );
    let call = &turn["calls"][0];
    assert_eq!(call["prompt"][0]["role"], "system");
    assert!(call["reply"].as_str().unwrap().starts_with("I am sure."));
    assert_eq!(
        (&call["thinking"], &call["status"], &call["input_tokens"]),
        (&json!("Let me see."), &json!(200), &json!(200))
    );
    assert!(call["model"].as_str().unwrap().ends_with("-2026-11-01"));
    let keys: BTreeSet<&String> = turn.as_object().unwrap().keys().collect();
    assert!(keys.contains(&"player".to_owned()) && keys.contains(&"move".to_owned()));
}
