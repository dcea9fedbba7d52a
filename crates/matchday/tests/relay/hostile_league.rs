//! `matchday connect` at a league that means harm: what it holds and how long it waits is bounded.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process, free_address};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;

/// As many calls as `connect` answers at once.
const AT_ONCE: usize = 64;

/// The head of a request, and its body.
fn read_request(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// A server whose every connection is a thread.
fn serve(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let mut near = stream.try_clone().unwrap();
                let mut requests = BufReader::new(stream);
                while let Some((head, _)) = read_request(&mut requests) {
                    answer(&head, &mut near);
                }
            });
        }
    });
    address
}

fn respond(to: &mut TcpStream, status: &str, body: &str) {
    let _ = write!(
        to,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
}

/// A league that opens a mailbox, and does with it what `read` and `answered` say.
fn league(
    read: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static,
    answered: impl Fn() + Send + Sync + 'static,
) -> String {
    serve(move |head, stream| {
        if head.starts_with("POST /relay ") {
            let opened = json!({"mailbox": "ab", "relay_token": "tok_relay_1",
                "contact_endpoint": "http://l/relay/ab/mcp", "time": "2026-01-01T00:00:00Z"});
            respond(stream, "201 Created", &opened.to_string());
        } else if head.contains("/answers/") {
            respond(stream, "204 No Content", "");
            answered();
        } else {
            read(head, stream);
        }
    })
}

fn connect(cli: &Cli, league: &str, agent: &str) -> Process {
    let (league, agent) = (
        format!("http://{league}/mcp"),
        format!("http://{agent}/mcp"),
    );
    cli.start(&[
        "connect",
        &league,
        "--listen",
        &free_address(),
        "--to",
        &agent,
    ])
}

/// Counts the requests that it is in the middle of. It answers none before `AT_ONCE` have come.
#[derive(Default)]
struct Agent {
    open: Mutex<(usize, usize)>,
    all_there: Condvar,
}

impl Agent {
    fn answer(&self, stream: &mut TcpStream) {
        let mut open = self.open.lock().unwrap();
        open.0 += 1;
        open.1 = open.1.max(open.0);
        self.all_there.notify_all();
        let mut open = self
            .all_there
            .wait_while(open, |open| open.1 < AT_ONCE)
            .unwrap();
        open.0 -= 1;
        // Within the lock: once it has been answered another may come.
        respond(stream, "200 OK", "{}");
    }
}

#[test]
fn a_flood_of_calls_is_answered_a_few_at_a_time() {
    const CALLS: usize = 400;
    let agent = Arc::new(Agent::default());
    let asked = Arc::clone(&agent);
    let agent_at = serve(move |_, stream| asked.answer(stream));
    let (answered, answers) = mpsc::channel();
    let league = league(
        |_, stream| {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n\n");
            for id in 1..=CALLS {
                // As long as a time can be.
                let _ = writeln!(
                    stream,
                    "{}",
                    json!({"id": id, "left_ms": u64::MAX, "body": "{}"})
                );
            }
        },
        move || answered.send(()).unwrap(),
    );
    let cli = Cli::new(MATCHDAY);
    let _connect = connect(&cli, &league, &agent_at);
    assert_eq!(answers.iter().take(CALLS).count(), CALLS);
    assert_eq!(agent.open.lock().unwrap().1, AT_ONCE);
}

#[test]
fn a_refusal_that_does_not_end_is_read_no_further() {
    let (asked, requests) = mpsc::channel();
    let league = league(
        move |_, stream| {
            asked.send(()).unwrap();
            let _ = write!(stream, "HTTP/1.1 500 Internal Server Error\r\n\r\n");
            // Then nothing: the connection stays open.
            let _ = stream.write_all(&vec![b'x'; 1 << 20]);
        },
        || {},
    );
    let cli = Cli::new(MATCHDAY);
    let connect = connect(&cli, &league, &free_address());
    assert_eq!(requests.iter().take(2).count(), 2, "it asks again");
    connect.until("it is a proxy in between that answers");
}

#[test]
fn a_line_without_an_end_is_read_no_further() {
    let (asked, requests) = mpsc::channel();
    let league = league(
        move |_, stream| {
            asked.send(()).unwrap();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n\n");
            let piece = vec![b' '; 1 << 20];
            while stream.write_all(&piece).is_ok() {}
        },
        || {},
    );
    let cli = Cli::new(MATCHDAY);
    let connect = connect(&cli, &league, &free_address());
    assert_eq!(requests.iter().take(2).count(), 2, "it reconnects");
    connect.until("a line that is longer than 8388608 bytes");
}
