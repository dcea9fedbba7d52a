//! A client of a seat that speaks over standard input and output, as hosts of models do.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// `matchday seat --stdio`, and the client of it.
pub struct SeatClient {
    child: Child,
    replies: BufReader<ChildStdout>,
    calls: u64,
}

impl SeatClient {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
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

    pub fn id(&self) -> u32 {
        self.child.id()
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

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Plays to the end of the league, by the key of its seat; how many moves that took.
    pub fn play(&mut self, seat: &Value) -> u32 {
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
