//! The operator's way: a service with a certificate for its name, in a file; moved to a database as a whole; an outage of the database;
//! a backup of what is in use, and a league that is looked into from it; and back into a file.

use matchday_testkit::certificates::Authority;
use matchday_testkit::cli::{Cli, Output, Process, free_address, output};
use matchday_testkit::cut_proxy::CutProxy;
use matchday_testkit::eventually::eventually;
use matchday_testkit::postgres::Cluster;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const TOKEN: &str = "tok_service_of_the_tests";
/// How long a command may take to say that the database is away.
const AT_ONCE: Duration = Duration::from_secs(3);

/// What the operator has in the environment and in the folder.
struct Operator {
    cli: Cli,
    listen: String,
    url: String,
}

impl Operator {
    /// With a certificate for the name of the service, and for no address.
    fn new() -> Self {
        let cli = Cli::new(crate::matchday());
        let authority = Authority::new("public authority");
        authority.file(cli.path(), "ca.pem");
        let pair = authority.issue(cli.path(), "service", &["localhost"]);
        let token = cli.path().join("service-token");
        fs::write(&token, TOKEN).unwrap();
        for secret in [&pair.key, &token] {
            fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let listen = free_address();
        let port = listen.rsplit_once(':').unwrap().1;
        Self {
            url: format!("https://localhost:{port}"),
            cli,
            listen,
        }
    }

    fn settings<'a>(&'a self, store: &'a str) -> [&'a str; 12] {
        [
            "--listen",
            &self.listen,
            "--public-url",
            &self.url,
            "--store",
            store,
            "--tls-cert",
            "service.pem",
            "--tls-key",
            "service.key",
            "--service-token-file",
            "service-token",
        ]
    }

    fn serve(&self, store: &str) -> Process {
        let service = self
            .cli
            .start(&[&["serve"], &self.settings(store)[..]].concat());
        service.until("leagues are served at");
        service
    }

    fn stop(mut service: Process) {
        service.signal("TERM");
        assert!(service.wait().success(), "{}", service.err());
    }

    /// A command on the operator's machine.
    fn run(&self, args: &[&str]) -> Output {
        let mut command = self.cli.command(args);
        command
            .env("MATCHDAY_SERVICE", &self.url)
            .env("MATCHDAY_SERVICE_TOKEN", TOKEN)
            .env("MATCHDAY_TLS_CA", "ca.pem");
        output(command)
    }

    fn succeeds(&self, args: &[&str]) -> Output {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        done
    }

    fn show(&self, league: &str) -> Value {
        self.succeeds(&["league", "show", league, "--json"]).json()
    }

    /// Two students join, and the league is played to its end.
    fn play(&self, league: &str) {
        let _players = self.players(league);
        self.until_completed(league);
    }

    fn players(&self, league: &str) -> [Process; 2] {
        let manager = format!("{}/leagues/{league}/mcp", self.url);
        ["Ann", "Bob"].map(|name| {
            let listen = free_address();
            let store = format!("{league}-{name}.db");
            self.cli.start(&[
                "player",
                "--name",
                name,
                "--listen",
                &listen,
                "--manager",
                &manager,
                "--tls-ca",
                "ca.pem",
                "--store",
                &store,
            ])
        })
    }

    fn until_completed(&self, league: &str) {
        eventually("the end of the league", || {
            let shown = self.show(league);
            if shown["phase"] == "completed" {
                Ok(())
            } else {
                Err(shown)
            }
        });
    }

    fn doctor(&self, store: &str) -> Output {
        self.run(&[&["doctor", "serve"], &self.settings(store)[..]].concat())
    }

    /// What a league, a season and the list of them look like to those who use the service.
    fn everything(&self) -> [Value; 3] {
        let mut league = self.show("section-01");
        // What is asked is kept, too.
        for changing in ["state", "exchange_bytes"] {
            league[changing].take();
        }
        let season = self
            .succeeds(&["season", "show", "nightly", "--json"])
            .json();
        let standings = self
            .succeeds(&[
                "standings",
                "--json",
                "--manager",
                &format!("{}/leagues/section-01/mcp", self.url),
            ])
            .json();
        [league, season, standings["standings"].clone()]
    }
}

#[test]
fn from_a_file_with_a_certificate_to_a_database_that_goes_away_and_back_to_a_file() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let operator = Operator::new();
    let doctor = operator.doctor("service.db");
    assert_eq!(doctor.code, 0, "{doctor:?}");

    // Served with a certificate that is for a name alone: a league of its own referees starts.
    let service = operator.serve("service.db");
    operator.succeeds(&["health", &operator.url]);
    let create = [
        "--lead",
        "0",
        "--start-when",
        "players=2",
        "--endpoint-check",
        "off",
    ];
    operator.succeeds(&[&["league", "create", "section-01"], &create[..]].concat());
    operator.succeeds(&["season", "create", "nightly", "--lead", "0"]);
    operator.play("section-01");
    let before = operator.everything();
    assert!(
        before[0]["referees"] == 1 && before[0]["matches_decided"] == 1,
        "{before:?}"
    );
    Operator::stop(service);

    // The whole service moves into a database.
    let proxy = cluster.proxy();
    let database = cluster.database_behind(&proxy);
    let without = operator.run(&["backup", "service.db", "--to", &database]);
    assert_eq!(without.code, 2, "{without:?}");
    let moved = operator.succeeds(&["backup", "service.db", "--to", &database, "--move"]);
    assert!(moved.out.contains("and checked: "), "{moved:?}");
    let again = operator.run(&["backup", "service.db", "--to", &database, "--move"]);
    assert!(
        again.failed(1).contains("holds events already"),
        "{again:?}"
    );
    assert_eq!(operator.doctor(&database).code, 0);
    let service = operator.serve(&database);
    let in_use = operator.run(&["backup", &database, "--to", "early.db", "--move"]);
    assert!(
        in_use.failed(1).contains("is in use by another Matchday"),
        "{in_use:?}"
    );
    assert_eq!(operator.everything(), before);

    // The database goes away in mid-league, and comes back.
    operator.succeeds(&[&["league", "create", "section-02"], &create[..]].concat());
    let players = operator.players("section-02");
    players
        .iter()
        .for_each(|player| player.until("registered as"));
    outage(&operator, &proxy);
    operator.until_completed("section-02");
    drop(players);

    // A copy of what is in use, and what was said in it.
    let archived = operator
        .succeeds(&["league", "archive", "section-02", "--json"])
        .json();
    assert!(
        archived["machine"].is_string() && archived["file"].as_str().unwrap().starts_with('/'),
        "{archived}"
    );
    operator.succeeds(&["backup", &database, "--to", "monday.db"]);
    let verified = operator.succeeds(&["verify", "monday.db"]);
    assert!(
        verified.out.contains("Verified: no contradictions."),
        "{verified:?}"
    );
    Operator::stop(service);

    // And back into a file, which goes on under the same name with the same keys.
    operator.succeeds(&["backup", &database, "--to", "back.db", "--move"]);
    let keys = |store: &str| {
        fs::read_to_string(operator.cli.path().join(format!("{store}.checkpoint-keys"))).unwrap()
    };
    assert_eq!(
        keys("back.db").lines().next(),
        keys("service.db").lines().next(),
        "the leagues that were moved have the key that they had"
    );
    let service = operator.serve("back.db");
    assert_eq!(operator.everything(), before);
    Operator::stop(service);
}

/// Everybody is told, at once, and everything goes on by itself.
fn outage(operator: &Operator, proxy: &CutProxy) {
    proxy.cut();
    eventually("not ready", || {
        let health = operator.run(&["health", &operator.url]);
        if health
            .err
            .contains("is not ready: its store is unavailable")
        {
            Ok(())
        } else {
            Err(health)
        }
    });
    for command in [
        &["league", "show", "section-01"][..],
        &["league", "create", "section-03"],
    ] {
        let began = Instant::now();
        let refused = operator.run(command);
        assert!(
            refused.failed(1).contains("the database cannot be reached")
                && !refused.err.contains("matchday@"),
            "{refused:?}"
        );
        assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    }
    proxy.restore();
    eventually("ready", || {
        let health = operator.run(&["health", &operator.url]);
        if health.code == 0 {
            Ok(())
        } else {
            Err(health)
        }
    });
}
