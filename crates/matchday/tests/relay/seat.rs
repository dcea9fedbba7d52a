//! Seats that dial out, with their client at the standard input: a process without any socket.

use crate::MATCHDAY;
use crate::dial::{assert_no_technical_loss, listening_sockets};
use matchday_testkit::cli::Cli;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};

/// `matchday seat --stdio --dial`, and the client of it.
struct SeatClient {
    child: Child,
    replies: BufReader<ChildStdout>,
    calls: u64,
}

impl SeatClient {
    fn start(cli: &Cli) -> Self {
        let mut command = cli.command(&[
            "seat",
            "--stdio",
            "--dial",
            "--fallback",
            "none",
            "--store",
            "s.db",
        ]);
        command
            .args(["--manager", &cli.manager])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let replies = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self {
            child,
            replies,
            calls: 0,
        };
        let own = json!({"name": "test", "version": "1"});
        client.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own}),
        );
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(
                self.replies.read_line(&mut line).unwrap() > 0,
                "it has ended"
            );
            let reply: Value = serde_json::from_str(&line).unwrap();
            if reply["id"] == id {
                return reply["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Plays to the end of the league, by the key of its seat; how many moves that took.
    fn play(&mut self, seat: &Value) -> u32 {
        let mut moves = 0;
        loop {
            let news = self.call("wait_for_turn", &json!({ "seat": seat }));
            match news["happened"].as_str() {
                Some("league_over") => return moves,
                Some("your_turn") => {
                    let (turn, choice) = (&news["turn"]["turn"], &news["turn"]["options"][0]);
                    self.call(
                        "make_move",
                        &json!({"seat": seat, "turn": turn, "choice": choice}),
                    );
                    moves += 1;
                }
                _ => {}
            }
        }
    }
}

impl Drop for SeatClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_seat_without_a_socket_plays_a_league() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ]);
    let mut client = SeatClient::start(&cli);
    let seat = client.call("join_league", &json!({"name": "Ann"}))["seat"].clone();
    assert_eq!(listening_sockets(client.child.id()), 0);
    let _agents = [cli.agent(&["player"]), cli.agent(&["referee"])];
    assert!(client.play(&seat) > 0);
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
}

#[test]
fn a_seat_keeps_its_mailbox_when_it_is_started_again() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ]);
    let seat = SeatClient::start(&cli).call("join_league", &json!({"name": "Ann"}))["seat"].clone();
    let saved = || std::fs::read_to_string(cli.path().join("s.db.seat-1.mailbox.json")).unwrap();
    let before = saved();
    let mut client = SeatClient::start(&cli);
    let _agents = [cli.agent(&["player"]), cli.agent(&["referee"])];
    assert!(client.play(&seat) > 0);
    assert_eq!(saved(), before);
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
}
