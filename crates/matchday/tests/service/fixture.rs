//! A service, the leagues in it, and requests to both.

pub(crate) use matchday_testkit::cli::registration;
use matchday_testkit::cli::{Cli, Output, Process, free_address};
use matchday_testkit::eventually::eventually;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const SERVICE_TOKEN: &str = "tok_service_of_the_tests";

pub(crate) struct Fixture {
    pub(crate) cli: Cli,
    pub(crate) listen: String,
}

/// The status and the body of a response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            cli: Cli::new(crate::MATCHDAY),
            listen: free_address(),
        }
    }

    /// Starts the service; it listens when this returns.
    pub(crate) fn serve(&self, args: &[&str]) -> Process {
        let fixed = [
            "serve",
            "--listen",
            &self.listen,
            "--store",
            "service.db",
            "--service-token",
            SERVICE_TOKEN,
        ];
        let service = self.cli.start(&[&fixed[..], args].concat());
        service.until("leagues are served at");
        service
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.cli.path().join("service.db")
    }

    /// Runs `matchday league` with the service token.
    pub(crate) fn league(&self, args: &[&str]) -> Output {
        let service = format!("http://{}", self.listen);
        let fixed = [
            "--service",
            &service,
            "--service-token",
            SERVICE_TOKEN,
            "--json",
        ];
        self.cli.run(&[&["league"], args, &fixed[..]].concat())
    }

    /// Creates leagues whose rounds begin at once; their operator tokens.
    pub(crate) fn create(&self, names: &[&str], args: &[&str]) -> Vec<String> {
        let lead: &[&str] = if args.contains(&"--lead") {
            &[]
        } else {
            &["--lead", "0"]
        };
        let made =
            self.league(&[&["create"], names, lead, &["--endpoint-check", "off"], args].concat());
        assert_eq!(made.code, 0, "{made:?}");
        let made = made.json();
        let leagues = made["leagues"].as_array().unwrap();
        leagues
            .iter()
            .map(|league| league["operator_token"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn manager(&self, league: &str) -> String {
        format!("http://{}/leagues/{league}/mcp", self.listen)
    }

    pub(crate) fn player(&self, league: &str) -> Process {
        let listen = free_address();
        let manager = self.manager(league);
        self.cli
            .start(&["player", "--listen", &listen, "--manager", &manager])
    }

    pub(crate) fn show(&self, league: &str) -> Value {
        self.call(
            "GET",
            &format!("/api/leagues/{league}"),
            Some(SERVICE_TOKEN),
            None,
        )
        .json()
    }

    pub(crate) fn until(&self, league: &str, what: impl Fn(&Value) -> bool) {
        eventually(league, || {
            let shown = self.show(league);
            if what(&shown) { Ok(()) } else { Err(shown) }
        });
    }

    /// One HTTP exchange with the service.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<Value>,
    ) -> Response {
        let mut stream = TcpStream::connect(&self.listen).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let token = token
            .map(|token| format!("Authorization: Bearer {token}\r\n"))
            .unwrap_or_default();
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             {token}Content-Length: {}\r\n\r\n",
            self.listen,
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response {
            status,
            body: body.to_owned(),
        }
    }

    /// Posts to the league messages of a path.
    pub(crate) fn post(&self, path: &str, message: Value) -> Response {
        self.call("POST", path, None, Some(message))
    }
}

/// A query that no other league answers.
pub(crate) fn standings(league: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "get_standings", "params": {"league_id": league}})
}
