//! Services that share a database, and requests to each of them.

use matchday_audit::verify::history::{FinalLog, HistoryReport, check_history};
use matchday_testkit::cli::{Cli, Process, free_address};
use matchday_testkit::eventually::eventually;
use matchday_testkit::postgres::Cluster;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const SERVICE_TOKEN: &str = "tok_service_of_the_tests";

pub(crate) struct Services {
    pub(crate) postgres: Cluster,
    pub(crate) store: String,
    pub(crate) cli: Cli,
    /// Where the leagues are reached: at one of the services, instead of a load balancer.
    public: String,
}

/// One of the services.
pub(crate) struct Service {
    pub(crate) process: Process,
    pub(crate) listen: String,
}

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

impl Services {
    /// `None` where PostgreSQL is not installed: the test returns. In the gate that is a failure.
    pub(crate) fn start() -> Option<Self> {
        let postgres = Cluster::start()?;
        let store = postgres.database();
        Some(Self {
            postgres,
            store,
            cli: Cli::new(crate::MATCHDAY),
            public: free_address(),
        })
    }

    /// A service that owns what there is, and one at the public address.
    pub(crate) fn two(&self) -> (Service, Service) {
        let owner = self.serve(free_address());
        (owner, self.serve(self.public.clone()))
    }

    /// Starts one more service; it listens when this returns.
    pub(crate) fn serve(&self, listen: String) -> Service {
        let public = format!("http://{}", self.public);
        self.serve_at(&listen, &self.store, &public)
    }

    /// Starts a service at this address, with the way to the database that it is to take.
    pub(crate) fn serve_at(&self, listen: &str, store: &str, public: &str) -> Service {
        self.serve_with(listen, store, public, &[])
    }

    /// Starts a service at the public address whose machine's clock is off by so much.
    pub(crate) fn serve_with_clock_off(&self, libfaketime: &str, offset: &str) -> Service {
        // The time since the start of the machine is right even where the time of day is not.
        let clock = [
            ("LD_PRELOAD", libfaketime),
            ("FAKETIME", offset),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        self.serve_with(
            &self.public,
            &self.store,
            &format!("http://{}", self.public),
            &clock,
        )
    }

    pub(crate) fn serve_with(
        &self,
        listen: &str,
        store: &str,
        public: &str,
        environment: &[(&str, &str)],
    ) -> Service {
        let shown = ["serve", "--listen", listen, "--public-url", public];
        let args = [
            &shown[..],
            &["--store", store, "--service-token", SERVICE_TOKEN],
        ]
        .concat();
        let mut command = self.cli.command(&args);
        command
            .env("MATCHDAY_STORE_HISTORY", self.history())
            .envs(environment.iter().copied());
        let process = Process::start(command);
        process.until("leagues are served at");
        Service {
            process,
            listen: listen.to_owned(),
        }
    }

    /// What all services asked the database for.
    pub(crate) fn history(&self) -> PathBuf {
        self.cli.path().join("history.jsonl")
    }

    /// Holds the history against the log; the services have ended.
    pub(crate) fn check_history(&self) -> HistoryReport {
        let log = FinalLog::read(self.store.as_str()).unwrap();
        let report = check_history(&fs::read_to_string(self.history()).unwrap(), &log);
        assert!(report.faults.is_empty(), "{:#?}", report.faults);
        report
    }

    /// Of which process a league is.
    pub(crate) fn owner(&self, number: u32) -> String {
        self.sql(&format!(
            "SELECT p.name FROM matchday_leagues l JOIN matchday_processes p ON p.id = l.owner WHERE l.number = {number}"
        ))
    }

    pub(crate) fn sql(&self, statement: &str) -> String {
        self.postgres
            .sql(self.database(), statement)
            .trim()
            .to_owned()
    }

    fn database(&self) -> &str {
        self.store
            .split('/')
            .nth(3)
            .unwrap()
            .split('?')
            .next()
            .unwrap()
    }

    /// The folder of the database's socket, and its name.
    pub(crate) fn socket_and_database(&self) -> (&str, &str) {
        (self.store.split("host=").nth(1).unwrap(), self.database())
    }

    /// Connections that are open stay so.
    pub(crate) fn refuse_connections(&self, refuse: bool) {
        let statement = format!(
            "ALTER DATABASE {} ALLOW_CONNECTIONS {}",
            self.database(),
            !refuse
        );
        self.postgres.sql("postgres", &statement);
    }

    pub(crate) fn verify(&self, league: &str) {
        let found = self.cli.run(&["verify", &self.store, "--league", league]);
        assert_eq!(found.code, 0, "{found:?}");
    }

    /// How many matches ended otherwise than by being played.
    pub(crate) fn technical_losses(&self) -> String {
        self.sql(
            "SELECT count(*) FROM matchday_events WHERE stream LIKE 'league%' AND line LIKE '%\"match_decided\"%' \
             AND line ILIKE '%technical%'",
        )
    }

    pub(crate) fn player(&self, service: &Service, league: &str) -> Process {
        self.player_with(service, league, &["--listen", &free_address()])
    }

    /// A player that nobody can call: it asks the relay of its league.
    pub(crate) fn dialled_player(&self, service: &Service, league: &str, name: &str) -> Process {
        self.player_with(
            service,
            league,
            &[
                "--dial",
                "on",
                "--name",
                name,
                "--store",
                &format!("{name}.db"),
            ],
        )
    }

    fn player_with(&self, service: &Service, league: &str, args: &[&str]) -> Process {
        let manager = format!("http://{}/leagues/{league}/mcp", service.listen);
        self.cli
            .start(&[&["player", "--manager", &manager], args].concat())
    }
}

impl Service {
    /// How `matchday_processes` calls it.
    pub(crate) fn is(&self, name: &str) -> bool {
        name.ends_with(&format!(":{}", self.process.pid()))
    }

    pub(crate) fn create(&self, name: &str, settings: &Value) -> String {
        let mut all = json!({"lead": "0", "endpoint-check": "off"});
        all.as_object_mut()
            .unwrap()
            .extend(settings.as_object().unwrap().clone());
        let body = json!({"leagues": [{"league_id": name, "settings": all}]});
        let made = self.call("POST", "/api/leagues", &[], Some(body));
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["leagues"][0]["operator_token"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub(crate) fn show(&self, league: &str) -> Value {
        self.call("GET", &format!("/api/leagues/{league}"), &[], None)
            .json()
    }

    /// What the services are, which is as the OpenAPI document says.
    pub(crate) fn cluster(&self) -> Value {
        let status = self.call("GET", "/api/cluster", &[], None).json();
        let components = &self.call("GET", "/api/openapi.json", &[], None).json()["components"];
        let schema =
            json!({"$ref": "#/components/schemas/ClusterStatus", "components": components});
        assert!(
            jsonschema::validator_for(&schema)
                .unwrap()
                .is_valid(&status),
            "{status}"
        );
        status
    }

    pub(crate) fn until(&self, league: &str, what: impl Fn(&Value) -> bool) {
        eventually(league, || {
            let shown = self.show(league);
            if what(&shown) { Ok(()) } else { Err(shown) }
        });
    }

    /// One HTTP exchange, with the service token for the API.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Response {
        let mut stream = self.send(method, path, headers, body);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response {
            status,
            body: body.to_owned(),
        }
    }

    /// Sends a request, whose response is yet to be read.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> TcpStream {
        let bearer = format!("Bearer {SERVICE_TOKEN}");
        let token = path
            .starts_with("/api/")
            .then_some(("Authorization", bearer.as_str()));
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain(token).collect();
        self.send_as_is(
            method,
            path,
            &headers,
            &body.map(|body| body.to_string()).unwrap_or_default(),
        )
    }

    /// Sends a request with these headers alone.
    pub(crate) fn send_as_is(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(&self.listen).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let more: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             {more}Content-Length: {}\r\n\r\n",
            self.listen,
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        stream
    }
}

/// A registration that names no league.
pub(crate) fn registration(name: &str) -> Value {
    json!({
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": format!("player:{name}"),
        "timestamp": "2026-03-02T09:00:00Z",
        "conversation_id": format!("conv-{name}"),
        "player_meta": {
            "display_name": name,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": format!("http://{}/mcp", free_address()),
        },
    })
}
