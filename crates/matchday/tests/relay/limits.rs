//! What strangers send to mailboxes of their own takes neither memory nor calls from others.

use crate::MATCHDAY;
use crate::dial::{assert_no_technical_loss, dialling};
use crate::http::{Mailbox, call, receive, send};
use matchday_testkit::cli::{Cli, Process};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// The longest message of the leagues here: a hundred times what it is by default.
const MESSAGE_BYTES_MAX: &str = "1048576";

fn relay(args: &[&str]) -> (Cli, Process) {
    let cli = Cli::new(MATCHDAY);
    let manager = cli.manager(&[&["--relay", "on"], args].concat());
    (cli, manager)
}

/// Mailboxes of a stranger, each with a stream that nobody reads and with calls that nobody answers.
struct Stranger {
    mailboxes: Vec<Mailbox>,
    open: Vec<TcpStream>,
}

impl Stranger {
    fn fill(at: &str, mailboxes: usize, calls_each: usize) -> Self {
        let mut stranger = Self {
            mailboxes: Vec::new(),
            open: Vec::new(),
        };
        let before = calls(at);
        for _ in 0..mailboxes {
            let mailbox = Mailbox::open(at, None);
            stranger.open.push(unread(&mailbox, "stream?client=s"));
            stranger
                .open
                .extend((0..calls_each).map(|_| large_call(&mailbox)));
            stranger.mailboxes.push(mailbox);
        }
        while calls(at) < before + mailboxes * calls_each {}
        stranger
    }
}

/// A call of 1 MiB that takes six times as much in JSON. It may be refused before it has been sent.
fn large_call(mailbox: &Mailbox) -> TcpStream {
    let body = "\u{1}".repeat(1 << 20);
    let mut stream = TcpStream::connect(&mailbox.at).unwrap();
    let path = &mailbox.path;
    let head = format!(
        "POST {path}/mcp HTTP/1.1\r\nHost: {}\r\nMatchday-Timeout-Ms: 600000\r\n",
        mailbox.at
    );
    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    let _refused = stream.write_all(format!("{head}{body}").as_bytes());
    stream
}

/// Begins to read a mailbox, and reads no further than the head of the answer.
fn unread(mailbox: &Mailbox, what: &str) -> TcpStream {
    let bearer = format!("Bearer {}", mailbox.token);
    let path = format!("{}/{what}", mailbox.path);
    let mut stream = BufReader::new(send(
        &mailbox.at,
        "GET",
        &path,
        &[("Authorization", &bearer)],
        "",
    ));
    let mut head = String::new();
    stream.read_line(&mut head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    stream.into_inner()
}

/// How many calls the relay has had.
fn calls(at: &str) -> usize {
    let metrics = call(at, "GET", "/metrics", None, "").unwrap().body;
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("matchday_relay_calls_total "));
    line.unwrap().parse().unwrap()
}

fn resident_mib(process: &Process) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        / 1024
}

#[test]
fn a_strangers_full_mailboxes_take_nothing_from_the_players_of_the_league() {
    let start = ["--lead", "0", "--start-when", "players=3,referees=1"];
    let (cli, _manager) =
        relay(&[&start[..], &["--message-bytes-max", MESSAGE_BYTES_MAX]].concat());
    let _stranger = Stranger::fill(&cli.listen, 3, 22);
    // The referee calls them from a process of its own, as a stranger would.
    let _agents = [
        cli.agent(&["referee"]),
        dialling(&cli, &["player", "--store", "p1.db"]),
        dialling(&cli, &["player", "--store", "p2.db"]),
        dialling(&cli, &["player", "--store", "p3.db"]),
    ];
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
}

#[test]
fn a_poll_that_is_not_read_holds_no_more_than_one_bounded_answer() {
    let (cli, manager) = relay(&["--message-bytes-max", MESSAGE_BYTES_MAX]);
    let stranger = Stranger::fill(&cli.listen, 1, 8);
    let before = resident_mib(&manager);
    let _polls: Vec<_> = (0..6)
        .map(|_| unread(&stranger.mailboxes[0], "next?client=s"))
        .collect();
    let grown = resident_mib(&manager).saturating_sub(before);
    assert!(grown < 16, "{grown} MiB for six polls of 48 MiB each");
}

#[test]
fn a_call_is_as_long_as_a_message_of_the_league_may_be_and_no_longer() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let refused = receive(mailbox.ask(&" ".repeat(10_241), 20_000)).unwrap();
    assert_eq!(refused.status, 413, "{refused:?}");
    insta::assert_snapshot!(refused.body);
    let body = " ".repeat(10_240);
    let caller = mailbox.ask(&body, 20_000);
    let call = lines.next().unwrap();
    assert_eq!(call["body"], body, "the agent has not heard of the other");
    mailbox
        .post(&format!("answers/{}", call["id"]), "{}")
        .unwrap();
    assert_eq!(receive(caller).unwrap().status, 200);
}

#[test]
fn an_answer_beyond_the_leagues_limit_ends_the_call_at_once() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let caller = mailbox.ask("{}", 600_000);
    let id = lines.next().unwrap()["id"].clone();
    let refused = mailbox
        .post(&format!("answers/{id}"), &" ".repeat(10_241))
        .unwrap();
    assert_eq!(refused.status, 413, "{refused:?}");
    let told = receive(caller).unwrap();
    assert_eq!(told.status, 502, "{told:?}");
    insta::assert_snapshot!(told.body);
}

#[test]
fn only_a_final_status_is_passed_on() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let caller = mailbox.ask("{}", 60_000);
    let id = lines.next().unwrap()["id"].clone();
    for status in ["100", "101", "199", "600", "999", "0", "x", ""] {
        let refused = mailbox
            .post(&format!("answers/{id}?status={status}"), "{}")
            .unwrap();
        assert_eq!(refused.status, 400, "{status}: {refused:?}");
    }
    assert_eq!(
        mailbox
            .post(&format!("answers/{id}?status=599"), "{}")
            .unwrap()
            .status,
        204
    );
    assert_eq!(receive(caller).unwrap().status, 599);
}

#[test]
fn a_call_that_is_no_text_is_refused_and_the_agent_hears_nothing_of_it() {
    let (cli, _manager) = relay(&[]);
    let mailbox = Mailbox::open(&cli.listen, None);
    let mut lines = mailbox.stream("client=a");
    let mut stream = TcpStream::connect(&cli.listen).unwrap();
    let head = format!(
        "POST {}/mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
        mailbox.path, cli.listen
    );
    stream
        .write_all(format!("{head}Content-Length: 2\r\n\r\n").as_bytes())
        .unwrap();
    stream.write_all(&[0xff, 0xfe]).unwrap();
    assert_eq!(receive(stream).unwrap().status, 400);
    let _caller = mailbox.ask("{}", 60_000);
    assert_eq!(lines.next().unwrap()["body"], "{}");
}
