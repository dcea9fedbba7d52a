//! What a flood of connections, or a reader that stalls, does to a running manager: nothing.

use crate::wire::{Response, post, post_with};
use matchday_testkit::address::until_listening;
use matchday_testkit::cli::{Cli, Process, TOKEN, free_address};
use matchday_testkit::eventually::eventually;
use serde_json::{Value, json};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The program, with so many descriptors as its soft and its hard limit.
fn limited(cli: &Cli, soft: u32, hard: u32, args: &[&str]) -> Command {
    let program = cli.command(args);
    let mut shell = Command::new("sh");
    let limits = format!("ulimit -S -n {soft}; ulimit -H -n {hard}; exec \"$0\" \"$@\"");
    shell
        .args(["-c", &limits])
        .arg(program.get_program())
        .args(program.get_args());
    shell.current_dir(cli.path()).stdin(Stdio::null());
    shell
}

#[test]
fn the_soft_limit_of_descriptors_is_raised_to_the_hard_one() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = Process::start(limited(
        &cli,
        256,
        2000,
        &["manager", "--listen", "127.0.0.1:0"],
    ));
    manager.until("listening on");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", manager.pid())).unwrap();
    let open = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    let numbers: Vec<_> = open
        .split_whitespace()
        .filter_map(|word| word.parse::<u32>().ok())
        .collect();
    assert_eq!(numbers, [2000, 2000], "{open}");
}

/// What one request from another address of this machine is answered with, within some seconds.
fn asked_from(source: [u8; 4], to: SocketAddr) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((source, 0))).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    let request = format!("GET /health/live HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn half_open_connections_from_one_address_do_not_deafen_a_manager_at_1024_descriptors() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let _manager = {
        let manager = Process::start(limited(&cli, 1024, 1024, &["manager", "--listen", &listen]));
        manager.until("listening on");
        manager
    };
    let address: SocketAddr = listen.parse().unwrap();
    let half_open: Vec<_> = (0..1100)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            // Those beyond the limit of one address are closed at once.
            let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: loc");
            stream
        })
        .collect();
    let answer = asked_from([127, 0, 0, 2], address);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer:?}");
    // The same address is heard again as soon as its half-open connections have been closed.
    eventually("half-open connections are closed", || {
        asked_from([127, 0, 0, 1], address).starts_with("HTTP/1.1 200 ")
    });
    drop(half_open);
}

/// A process that is ended with the test, whatever it writes.
struct Unread(Child);

impl Drop for Unread {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A pipe in which there is no room for another byte.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let filler = writer.try_clone().unwrap();
    rustix::io::ioctl_fionbio(&filler, true).unwrap();
    while writer.write(&[b'\n'; 4096]).is_ok() {}
    while writer.write(b"\n").is_ok() {}
    rustix::io::ioctl_fionbio(&filler, false).unwrap();
    (reader, writer)
}

#[test]
fn a_manager_whose_log_nobody_reads_goes_on_and_says_how_many_lines_were_dropped() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let (mut log, full) = full_pipe();
    let mut command = cli.command(&["manager", "--listen", &listen, "--operator-token", TOKEN]);
    command.stdout(full.try_clone().unwrap()).stderr(full);
    let mut manager = Unread(command.spawn().unwrap());
    drop(command);
    until_listening(&listen);
    let url = format!("http://{listen}/mcp");
    let ask = || {
        post(
            &url,
            &json!({"jsonrpc": "2.0", "id": 1, "method": "get_standings", "params": {}}),
        )
    };
    for _ in 0..5000 {
        assert_eq!(ask().status, 200);
    }
    let mut metrics = TcpStream::connect(&listen).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {listen}\r\nConnection: close\r\n\r\n");
    metrics.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    metrics.read_to_string(&mut page).unwrap();
    let dropped = page
        .lines()
        .find_map(|line| line.strip_prefix("matchday_log_lines_dropped_total "));
    assert!(
        dropped.is_some_and(|count| count.parse::<u64>().unwrap() > 100),
        "{dropped:?}"
    );

    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text
    });
    let pid = manager.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", "TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(manager.0.wait().unwrap().success());
    let text = reading.join().unwrap();
    assert!(
        text.contains("listening on") && text.contains(" log lines dropped"),
        "{}",
        text.trim()
    );
}

#[test]
fn a_league_in_one_process_is_played_to_its_end_though_nobody_reads_what_it_prints() {
    let cli = Cli::new(crate::MATCHDAY);
    let (log, full) = full_pipe();
    let mut command = cli.command(&["run", "--port-base", "0", "--store", "league.db"]);
    command.stdout(full.try_clone().unwrap()).stderr(full);
    let mut league = Unread(command.spawn().unwrap());
    eventually("the league is over", || {
        let told = cli.run(&["league", "list", "--store", "league.db", "--json"]);
        let is_over = told.code == 0 && told.out.contains("\"completed\"");
        if is_over { Ok(()) } else { Err(told) }
    });
    drop(log);
    let _ = league.0.wait();
}

/// A session of the Model Context Protocol, revision 2025-11-25.
fn session(url: &str) -> Response {
    post(
        url,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1.0.0"},
        }}),
    )
}

fn in_session(url: &str, session: &str, method: &str, params: Value) -> Response {
    let headers = format!(
        "mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\nAccept: application/json, \
         text/event-stream\r\n"
    );
    post_with(
        url,
        &headers,
        &json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params}),
    )
}

/// The message in the last event of an answer that is a stream.
fn told(answer: &Response) -> Value {
    let mut events = answer
        .body
        .lines()
        .rev()
        .filter_map(|line| line.strip_prefix("data: "));
    let last = events
        .find(|data| data.starts_with('{'))
        .unwrap_or_else(|| panic!("{}", answer.body));
    serde_json::from_str(last).unwrap()
}

#[test]
fn a_flood_of_sessions_shuts_nobody_out_and_ends_nobody_elses() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[]);
    let opened = session(&cli.manager);
    let in_use = opened.header("mcp-session-id").unwrap();
    assert_eq!(
        in_session(&cli.manager, in_use, "tools/list", json!({})).status,
        200
    );
    for number in 1..=1100 {
        assert_eq!(session(&cli.manager).status, 200, "session {number}");
    }
    let told = in_session(&cli.manager, in_use, "tools/list", json!({}));
    assert_eq!(told.status, 200, "{}", told.body);
}

/// A whole one: stored messages show the first characters of tokens.
fn holds_a_token(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = text.split("tok_").skip(1);
    found.any(|rest| rest.find(|c: char| !is_part(c)).unwrap_or(rest.len()) > 64)
}

#[test]
fn the_managers_store_holds_no_token_of_a_player_in_a_seat() {
    let cli = Cli::new(crate::MATCHDAY);
    let mut manager = cli.manager(&["--seats", "on", "--store", "league.db"]);
    let join = json!({"name": "join_league", "arguments": {"name": "Ann"}});
    let opened = session(&cli.manager);
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let joined = told(&in_session(&cli.manager, &id, "tools/call", join));
    let seat = joined["result"]["structuredContent"]["seat"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        joined["result"]["structuredContent"]["player_id"], "P01",
        "{joined}"
    );
    manager.signal("TERM");
    assert!(manager.wait().success(), "{}", manager.err());
    for file in std::fs::read_dir(cli.path()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&seat), "{name} holds the key of a seat");
        let is_of_seats = name.starts_with("league-seats.db");
        assert!(is_of_seats || !holds_a_token(&text), "{name} holds a token");
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&path).unwrap().permissions(),
        );
        let is_closed = mode & 0o077 == 0 || name.ends_with(".lock");
        assert!(
            !is_of_seats || is_closed,
            "{name} can be read by others: {mode:o}"
        );
    }
    // Who had the seat has it again.
    let manager = cli.manager(&["--seats", "on", "--store", "league.db"]);
    let id = session(&cli.manager)
        .header("mcp-session-id")
        .unwrap()
        .to_owned();
    let again = json!({"name": "join_league", "arguments": {"seat": seat}});
    let joined = told(&in_session(&cli.manager, &id, "tools/call", again));
    assert_eq!(
        joined["result"]["structuredContent"]["player_id"],
        "P01",
        "{joined} {}",
        manager.err()
    );
}
