//! Players for which a program and a model decide, as people start them.

use matchday_testkit::cli::{Cli, Process};
use matchday_testkit::eventually::eventually;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread;

const KEY: &str = "sk-this-must-be-seen-nowhere";

fn script(cli: &Cli, name: &str, text: &str) {
    let path = cli.path().join(name);
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
    let head: Vec<_> = reader
        .by_ref()
        .lines()
        .map_while(Result::ok)
        .take_while(|l| !l.is_empty())
        .collect();
    let head = head.join("\n").to_ascii_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let status = if head.contains(&format!("bearer {KEY}")) {
        "200 OK"
    } else {
        "401 Unauthorized"
    };
    let body = r#"{"choices": [{"message": {"content": "{\"move\": \"odd\"}"}}]}"#;
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).unwrap();
}

#[test]
fn a_program_and_a_model_play_a_league_and_the_key_is_seen_nowhere() {
    let cli = Cli::new(crate::MATCHDAY);
    script(
        &cli,
        "thinker",
        "grep -q '\"options\":\\[\"even\",\"odd\"\\]' || exit 1\necho hm >&2\necho even",
    );
    let manager = cli.manager(&["--lead", "0"]);
    let referee = cli.agent(&["referee"]);
    let program = cli.agent(&["player", "--strategy", "command:./thinker"]);
    let url = model_server();
    let key = [("MATCHDAY_LLM_API_KEY", KEY)];
    let model = cli.agent_in(
        &key,
        &[
            "player",
            "--strategy",
            "llm",
            "--llm-url",
            &url,
            "--llm-model",
            "some-model",
        ],
    );
    let agents = [&referee, &program, &model];
    agents.iter().for_each(|agent| agent.until("registered as"));
    assert_eq!(cli.ask(&["start"]).code, 0);
    program.until("decided on \"even\" in R1M1");
    program.until("it says \"hm\"");
    model.until("decided on \"odd\" in R1M1");
    cli.until_status("completed");
    let exported = cli.run(&["export", "matchday.db", "--tables", "--out", "tables"]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    let players = fs::read_to_string(cli.path().join("tables/players.csv")).unwrap();
    assert!(
        players.contains(",llm:some-model,0.1.0,some-model,"),
        "{players}"
    );
    assert!(!players.contains("thinker"), "{players}");
    for agent in agents.into_iter().chain([&manager]) {
        assert!(!agent.out().contains(KEY) && !agent.err().contains(KEY));
    }
    let folders = [cli.path().to_owned(), cli.path().join("tables")];
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file());
    for file in files {
        let bytes = fs::read(file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY));
    }
}

#[test]
fn programs_play_in_a_league_at_once_and_it_is_told_when_they_do_not_decide() {
    let cli = Cli::new(crate::MATCHDAY);
    script(&cli, "good", "echo odd");
    script(&cli, "bad", "echo nonsense");
    let strategies = "command:./good,command:./bad";
    let args = [
        "run",
        "--players",
        "2",
        "--referees",
        "1",
        "--port-base",
        "0",
        "--strategies",
        strategies,
    ];
    let done = cli.run(&args);
    assert_eq!(done.code, 0, "{done:?}");
    let told =
        "moves by the fallback of P02 (command:./bad): 1, last in R1M1: \"nonsense\" is no move";
    assert!(done.out.contains(told), "{}", done.out);
    assert!(!done.out.contains("the fallback of P01"), "{}", done.out);
    let refused = cli.run(&["run", "--strategies", "llm"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("matchday player --strategy llm"),
        "{refused:?}"
    );
}

/// What a program that writes `env` into a file of each process has seen.
fn seen_by(cli: &Cli, further: &[&str]) -> Vec<String> {
    script(cli, "spy", "env > \"seen-$$\"; echo odd");
    let args = [
        "run",
        "--players",
        "2",
        "--referees",
        "1",
        "--port-base",
        "0",
        "--strategies",
        "command:./spy",
    ];
    let mut command = cli.command(&[&args[..], further].concat());
    command
        .env("MATCHDAY_OPERATOR_TOKEN", KEY)
        .env("MATCHDAY_LLM_API_KEY", KEY)
        .env("matchday_service_token", KEY)
        .env("PGPASSWORD", KEY)
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .env("LC_TIME", "is seen")
        .env("OPENAI_API_KEY", "is seen if it is named");
    assert!(command.output().unwrap().status.success());
    let seen: Vec<_> = fs::read_dir(cli.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("seen-")
        })
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(!seen.is_empty());
    seen
}

#[test]
fn a_program_sees_nothing_of_our_environment_that_may_be_a_secret() {
    for variables in seen_by(&Cli::new(crate::MATCHDAY), &[]) {
        for secret in [
            "MATCHDAY_",
            "matchday_",
            "PGPASSWORD",
            "AWS_",
            "OPENAI_API_KEY",
            KEY,
        ] {
            assert!(!variables.contains(secret), "{secret} in {variables}");
        }
        assert!(
            variables.contains("LC_TIME=is seen") && variables.contains("PATH="),
            "{variables}"
        );
    }
}

#[test]
fn a_program_sees_the_variables_that_its_operator_names() {
    for variables in seen_by(
        &Cli::new(crate::MATCHDAY),
        &["--program-env", "OPENAI_API_KEY,NOT_SET"],
    ) {
        assert!(
            variables.contains("OPENAI_API_KEY=is seen if it is named"),
            "{variables}"
        );
        assert!(
            !variables.contains(KEY) && !variables.contains("NOT_SET"),
            "{variables}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_cannot_read_the_environment_of_who_started_it() {
    let cli = Cli::new(crate::MATCHDAY);
    let look = "cat /proc/$$/environ > own; cat /proc/$PPID/environ > theirs 2> why; echo odd";
    script(&cli, "spy", look);
    let args = [
        "run",
        "--players",
        "2",
        "--referees",
        "1",
        "--port-base",
        "0",
        "--strategies",
        "command:./spy",
    ];
    let mut command = match rustix::process::getuid().is_root() {
        // Root may read everything, unless it has given that right up.
        true => {
            let mut command = matchday_testkit::cli::command("setpriv");
            command
                .args(["--bounding-set=-all", crate::MATCHDAY])
                .args(args)
                .current_dir(cli.path());
            command
        }
        false => cli.command(&args),
    };
    let done = command.env("PGPASSWORD", KEY).output().unwrap();
    let read = |file: &str| fs::read(cli.path().join(file)).unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(
        String::from_utf8_lossy(&read("own")).contains("PATH="),
        "it can read its own"
    );
    assert_eq!(
        String::from_utf8_lossy(&read("theirs")),
        "",
        "it can read ours"
    );
    assert!(
        String::from_utf8_lossy(&read("why")).contains("ermission denied"),
        "{:?}",
        read("why")
    );
}

/// The id of the process that a program has written into its file, once it is there.
fn started(cli: &Cli, by: &Process) -> String {
    eventually("the program is started", || {
        fs::read_to_string(cli.path().join("pid")).map_err(|_| by.err())
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_does_not_end_ends_when_we_are_killed() {
    let loops = "echo $$ > pid.new; mv pid.new pid; exec sleep 600";
    let own_game = [
        "manager",
        "--listen",
        "127.0.0.1:0",
        "--game-command",
        "./loops",
        "--game-time",
        "60",
    ];
    let own_referee = [
        "referee",
        "--listen",
        "127.0.0.1:0",
        "--game-command",
        "./loops",
        "--game-time",
        "60",
    ];
    let decides = [
        "run",
        "--players",
        "2",
        "--port-base",
        "0",
        "--strategies",
        "command:./loops",
    ];
    let simulates = [
        "simulate",
        "--strategies",
        "command:./loops,random",
        "--think-time",
        "60",
    ];
    for args in [&own_game[..], &own_referee, &decides, &simulates] {
        let cli = Cli::new(crate::MATCHDAY);
        script(&cli, "loops", loops);
        let mut ours = cli.start(args);
        let pid = started(&cli, &ours);
        ours.signal("KILL");
        ours.wait();
        until_gone(&pid);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_was_started_to_dial_out_ends_when_its_side_car_is_killed() {
    let cli = Cli::new(crate::MATCHDAY);
    script(
        &cli,
        "loops",
        "echo $$ > pid.new; mv pid.new pid; exec sleep 600",
    );
    let _manager = cli.manager(&["--relay", "on"]);
    let mut ours = cli.start(&[
        "connect",
        &cli.manager,
        "--listen",
        "127.0.0.1:0",
        "--to",
        "command:./loops",
    ]);
    let pid = started(&cli, &ours);
    ours.signal("KILL");
    ours.wait();
    until_gone(&pid);
}

/// Until the process is gone, or only its entry is left because nobody has asked how it ended.
fn until_gone(pid: &str) {
    eventually("the process has ended", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
}

#[test]
fn a_program_ends_with_all_that_it_started_when_we_are_told_to_stop() {
    for signal in ["INT", "TERM"] {
        let cli = Cli::new(crate::MATCHDAY);
        script(
            &cli,
            "slow",
            "sleep 600 & echo $! > pid.new; mv pid.new pid; wait",
        );
        let args = [
            "run",
            "--players",
            "2",
            "--referees",
            "1",
            "--port-base",
            "0",
            "--strategies",
        ];
        let mut league = Process::start(cli.command(&[&args[..], &["command:./slow"]].concat()));
        let pid = started(&cli, &league);
        league.signal(signal);
        league.wait();
        until_gone(&pid);
    }
}

#[test]
fn a_program_that_crashes_is_shown_with_its_last_words_wherever_its_league_is() {
    let cli = Cli::new(crate::MATCHDAY);
    script(&cli, "good", "echo odd");
    script(
        &cli,
        "crashes",
        "printf 'Traceback\\nValueError: \\033[31m<b>no idea</b>\\n' >&2; exit 3",
    );
    let strategies = "command:./good,command:./crashes";
    let args = [
        "run",
        "--players",
        "2",
        "--referees",
        "1",
        "--port-base",
        "0",
        "--strategies",
        strategies,
    ];
    assert_eq!(
        cli.run(&[&args[..], &["--store", "league.db"]].concat())
            .code,
        0
    );
    let dashboard = cli.start(&["dashboard", "league.db", "--listen", "127.0.0.1:0"]);
    dashboard.until("can be seen at http://");
    let said = dashboard.out() + &dashboard.err();
    let address = said
        .split("can be seen at http://")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "GET /api/matches/R1M1 HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let report = |format: &str| {
        cli.run(&["report", "league.db", "--format", format, "--out", "-"])
            .out
    };
    for (what, shown) in [
        (
            "replay",
            cli.run(&["replay", "league.db", "--match", "R1M1"]).out,
        ),
        ("stats", cli.run(&["stats", "--store", "league.db"]).out),
        (
            "stats of the player",
            cli.run(&["stats", "P02", "--store", "league.db"]).out,
        ),
        (
            "stats as JSON",
            cli.run(&["stats", "--store", "league.db", "--json"]).out,
        ),
        ("report", report("html")),
        ("report in Markdown", report("md")),
        ("report as JSON", report("json")),
        ("the match's page", page),
    ] {
        assert!(
            shown.contains("the program failed: exit status: 3"),
            "{what}: {shown}"
        );
        assert!(
            shown.contains("ValueError: ") && shown.contains("no idea"),
            "{what}: {shown}"
        );
        assert!(!shown.contains('\u{1b}'), "{what}: {shown}");
        assert!(
            what != "report" || !shown.contains("<b>no idea"),
            "{what}: {shown}"
        );
    }
    assert!(
        !cli.run(&["stats", "P01", "--store", "league.db"])
            .out
            .contains("the program failed")
    );
}

#[test]
fn nobody_is_told_by_which_strategy_a_player_plays() {
    let cli = Cli::new(crate::MATCHDAY);
    script(&cli, "secret_plan", "echo odd");
    let _manager = cli.manager(&[]);
    let player = cli.agent(&["player", "--strategy", "command:./secret_plan"]);
    player.until("registered as");
    let said = player.out() + &player.err();
    let url = said
        .split("listening on ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    let told = crate::wire::post(
        url,
        &serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "get_player_state"}),
    );
    assert!(
        told.body.contains("\"history\"") && !told.body.contains("secret_plan"),
        "{}",
        told.body
    );
}
