//! Through an HTTP proxy and over TLS, as in a company's network.

use crate::MATCHDAY;
use matchday_testkit::certificates::Authority;
use matchday_testkit::cli::{Cli, Process, free_address};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that connects every name to one address. What was asked of it is written down.
fn proxy(to: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let notes = Arc::clone(&asked);
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let to = to.clone();
            let notes = Arc::clone(&notes);
            thread::spawn(move || tunnel(near, &to, &notes));
        }
    });
    (address, asked)
}

fn tunnel(mut near: TcpStream, to: &str, notes: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(near.try_clone().unwrap());
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request).unwrap() == 0 {
            return;
        }
    }
    notes
        .lock()
        .unwrap()
        .push(request.lines().next().unwrap().to_owned());
    let mut far = TcpStream::connect(to).unwrap();
    near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
        .unwrap();
    let mut back = far.try_clone().unwrap();
    let mut out = near.try_clone().unwrap();
    thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut out);
        let _ = out.shutdown(std::net::Shutdown::Both);
    });
    let _ = std::io::copy(&mut reader, &mut far);
    let _ = far.shutdown(std::net::Shutdown::Both);
}

/// A league over TLS that is only found through a proxy, and what a client of it needs.
struct Company {
    cli: Cli,
    manager: Process,
    ca: String,
    proxy: String,
    asked: Arc<Mutex<Vec<String>>>,
}

const LEAGUE: &str = "https://league.test/mcp";

impl Company {
    fn new(args: &[&str]) -> Self {
        let cli = Cli::new(MATCHDAY);
        let authority = Authority::new("test authority");
        let pair = authority.issue(cli.path(), "league", &["league.test"]);
        let ca = authority
            .file(cli.path(), "ca.pem")
            .to_str()
            .unwrap()
            .to_owned();
        let cert = pair.cert.to_str().unwrap();
        let key = pair.key.to_str().unwrap();
        let own = [
            "--relay",
            "on",
            "--tls-cert",
            cert,
            "--tls-key",
            key,
            "--advertise",
            LEAGUE,
            "--referee-code",
            "off",
        ];
        let manager = cli.manager(&[&own[..], &["--endpoint-check", "off"], args].concat());
        let (proxy, asked) = proxy(cli.listen.clone());
        Self {
            cli,
            manager,
            ca,
            proxy,
            asked,
        }
    }

    /// A program of the company, which can only call out through its proxy.
    fn start(&self, args: &[&str]) -> Process {
        let mut command = self.cli.command(args);
        command
            .args(["--tls-ca", &self.ca])
            .env("HTTPS_PROXY", format!("http://{}", self.proxy));
        Process::start(command)
    }

    fn assert_all_went_through_the_proxy(&self) {
        let asked = self.asked.lock().unwrap();
        let right = asked
            .iter()
            .all(|line| line == "CONNECT league.test:443 HTTP/1.1");
        assert!(right && !asked.is_empty(), "{asked:?}");
    }
}

#[test]
fn an_agent_behind_a_proxy_connects_over_tls() {
    let company = Company::new(&[]);
    let agent = free_address();
    let listen = free_address();
    let connect = company.start(&[
        "connect",
        LEAGUE,
        "--listen",
        &listen,
        "--to",
        &format!("http://{agent}/mcp"),
    ]);
    connect.until("connected to the league");
    let manager = format!("http://{listen}/mcp");
    let player = company
        .cli
        .start(&["player", "--listen", &agent, "--manager", &manager]);
    player.until("registered as");
    company.assert_all_went_through_the_proxy();
}

#[test]
fn agents_behind_a_proxy_play_a_league_over_tls() {
    let company = Company::new(&["--lead", "0", "--start-when", "players=2,referees=1"]);
    let agents = [
        ["player", "p1.db"],
        ["player", "p2.db"],
        ["referee", "r.db"],
    ]
    .map(|[role, store]| {
        company.start(&[role, "--dial", "on", "--store", store, "--manager", LEAGUE])
    });
    company.manager.until("LEAGUE_COMPLETED to");
    assert!(
        !company.manager.out().contains("technical"),
        "{}",
        company.manager.out()
    );
    agents
        .iter()
        .for_each(|agent| agent.until("connected to the league"));
    company.assert_all_went_through_the_proxy();
}

/// Answers every request in the same way.
fn always(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut near in listener.incoming().flatten() {
            let mut reader = BufReader::new(near.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n")
                && reader.read_line(&mut head).is_ok_and(|bytes| bytes > 0)
            {}
            let _ = near.write_all(answer.as_bytes());
        }
    });
    address
}

/// What `connect` says at last, without the address of this test.
fn said(proxy: &str, league: &str) -> String {
    let cli = Cli::new(MATCHDAY);
    let mut command = cli.command(&["connect", league, "--listen", &free_address()]);
    command.env("HTTPS_PROXY", format!("http://{proxy}"));
    let refused = matchday_testkit::cli::output(command);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(
        refused.err.trim_end().lines().count(),
        1,
        "one line: {refused:?}"
    );
    refused.err.replace(proxy, "PROXY")
}

#[test]
fn a_proxy_that_is_in_the_way_is_told_of() {
    let wants_password = said(
        &always("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n"),
        LEAGUE,
    );
    let forbids = said(
        &always("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"),
        LEAGUE,
    );
    let page = always(
        "HTTP/1.1 403 No\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
    );
    let answers_itself = said(&page, &format!("http://{page}/mcp"));
    insta::assert_snapshot!([wants_password, forbids, answers_itself].concat());
}

#[test]
fn a_clock_that_is_off_is_told_of() {
    const OPENED: &str = "HTTP/1.1 201 Created\r\nContent-Length: 117\r\n\r\n{\"mailbox\":\"ab\",\"relay_token\":\"tok_relay_1\",\"contact_endpoint\":\"http://l/relay/ab/mcp\",\"time\":\"2020-01-01T00:00:00Z\"}";
    let (_, body) = OPENED.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.len(), 117, "as the head says");
    let cli = Cli::new(MATCHDAY);
    let connect = cli.start(&[
        "connect",
        &format!("http://{}/mcp", always(OPENED)),
        "--listen",
        &free_address(),
    ]);
    connect.until("s ahead of the league's: set it, deadlines are read by it");
}
