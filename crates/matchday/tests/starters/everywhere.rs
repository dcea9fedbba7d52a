//! Starters of every language on a service: seasons, ladders, by dialling out, through restarts, over TLS.

use crate::MATCHDAY;
use matchday_testkit::certificates::Authority;
use matchday_testkit::cli::{Cli, Process, free_address};
use matchday_testkit::eventually::eventually;
use matchday_testkit::starter::Starter;
use serde_json::Value;
use std::env;

const LANGUAGES: [&str; 4] = ["python", "typescript", "rust", "go"];
const SERVICE_TOKEN: &str = "tok_service_of_the_tests";

struct Service {
    cli: Cli,
    url: String,
    /// The authority to trust, if it is called over TLS.
    ca: Option<String>,
    _process: Process,
}

/// A starter with its own folder, and its language.
struct Home {
    language: &'static str,
    starter: Starter,
    /// Where it listens, if it does not dial out.
    listen: String,
    _cli: Cli,
}

impl Service {
    fn start(tls: bool) -> Self {
        let cli = Cli::new(MATCHDAY);
        let listen = free_address();
        let mut words = vec!["serve", "--listen", &listen, "--store", "service.db"];
        words.extend(["--service-token", SERVICE_TOKEN]);
        let authority = Authority::new("test authority");
        let pair = authority.issue(cli.path(), "league", &["localhost", "127.0.0.1"]);
        let path = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
        let (cert, key) = (path(pair.cert), path(pair.key));
        let ca = path(authority.file(cli.path(), "ca.pem"));
        let scheme = if tls { "https" } else { "http" };
        let url = format!("{scheme}://{listen}");
        let advertised = format!("{url}/mcp");
        if tls {
            words.extend(["--tls-cert", &cert, "--tls-key", &key, "--tls-ca", &ca]);
            words.extend(["--advertise", &advertised]);
        }
        let process = cli.start(&words);
        process.until("leagues are served at");
        Self {
            cli,
            url,
            ca: tls.then_some(ca),
            _process: process,
        }
    }

    fn order(&self, words: &[&str]) -> Value {
        let mut words = words.to_vec();
        words.extend(["--service", &self.url, "--service-token", SERVICE_TOKEN]);
        words.push("--json");
        if let Some(ca) = &self.ca {
            words.extend(["--tls-ca", ca]);
        }
        let done = self.cli.run(&words);
        assert_eq!(done.code, 0, "{done:?}");
        done.json()
    }

    /// Starts a player of this language, which keeps what it knows in its folder.
    fn play(&self, home: &Home, league: &str, dials: bool) -> Process {
        let manager = format!("{}/leagues/{league}/mcp", self.url);
        let mut words = vec!["--name", home.language, "--manager", &manager];
        if dials {
            words.push("--dial");
        } else {
            words.extend(["--listen", &home.listen]);
        }
        let mut command = home.starter.start(&words);
        if let Some(ca) = &self.ca {
            command
                .env("SSL_CERT_FILE", ca)
                .env("NODE_EXTRA_CA_CERTS", ca);
        }
        let agent = Process::start(command);
        agent.until("registered as ");
        agent
    }

    /// The rows of a league's table, by the names of the languages.
    fn rows(&self, league: &str) -> Vec<Value> {
        let manager = format!("{}/leagues/{league}/mcp", self.url);
        let mut words = vec!["standings", "--manager", &manager, "--json"];
        if let Some(ca) = &self.ca {
            words.extend(["--tls-ca", ca]);
        }
        let shown = self.cli.run(&words).json();
        shown["standings"].as_array().unwrap().clone()
    }

    fn no_technical_loss(&self, league: &str, agents: &[Process]) {
        let said: Vec<_> = agents.iter().map(Process::err).collect();
        for row in self.rows(league) {
            assert_eq!(row["technical_losses"], 0, "{league}: {row}\n{said:#?}");
        }
    }
}

/// `None`, with a line that says so, where a language is missing.
fn homes() -> Option<Vec<Home>> {
    let home = |language| {
        let cli = Cli::new(MATCHDAY);
        let starter = Starter::write(&cli, language)?;
        Some(Home {
            language,
            starter,
            listen: free_address(),
            _cli: cli,
        })
    };
    LANGUAGES.into_iter().map(home).collect()
}

/// They stay up, and play each league of the season; two of them dial out.
#[test]
fn starters_of_every_language_play_two_leagues_of_a_season() {
    let Some(homes) = homes() else { return };
    let service = Service::start(false);
    service.order(&["season", "create", "nightly", "--lead", "0"]);
    let agents: Vec<_> = homes
        .iter()
        .enumerate()
        .map(|(place, home)| service.play(home, "nightly", place % 2 == 0))
        .collect();
    for night in 1..=2 {
        service.order(&["season", "run", "nightly"]);
        eventually("the league is over", || {
            let season = service.order(&["season", "show", "nightly"]);
            let is_over = season["leagues_played"] == night && season["is_playing"] == false;
            if is_over { Ok(()) } else { Err(season) }
        });
        let league = format!("nightly_{night}");
        let played: Vec<_> = service
            .rows(&league)
            .iter()
            .map(|row| row["played"].clone())
            .collect();
        assert_eq!(played, [3, 3, 3, 3], "{league}");
        service.no_technical_loss(&league, &agents);
    }
}

/// A ladder over TLS. Half of them dial out; the others are stopped in the middle of it and come back. `./soak starters` plays it
/// for long.
#[test]
fn starters_of_every_language_play_a_ladder_over_tls_through_restarts() {
    let Some(homes) = homes() else { return };
    let rounds = env::var("MATCHDAY_STARTER_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    let service = Service::start(true);
    let ladder = [
        "--format",
        "ladder",
        "--start-when",
        "players=4",
        "--matches-per-hour",
        "5000",
    ];
    service.order(
        &[
            &["league", "create", "ladder", "--lead", "0.2"][..],
            &ladder,
        ]
        .concat(),
    );
    let mut agents: Vec<_> = homes
        .iter()
        .enumerate()
        .map(|(place, home)| service.play(home, "ladder", place % 2 == 0))
        .collect();
    let decided = |wanted: u64| {
        eventually("matches are decided", || {
            let shown = service.order(&["league", "show", "ladder"]);
            if shown["matches_decided"].as_u64() >= Some(wanted) {
                Ok(())
            } else {
                Err(shown)
            }
        });
    };
    for round in 1..=rounds {
        decided(round * 2);
        let place = usize::try_from(round * 2 + 1).unwrap() % agents.len();
        let before = agents[place].err();
        let id = before
            .split("registered as ")
            .nth(1)
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap();
        agents[place].signal("INT");
        agents[place].wait();
        agents[place] = service.play(&homes[place], "ladder", false);
        agents[place].until(&format!("registered as {id}"));
    }
    decided((rounds + 3) * 2);
    assert_eq!(
        service.rows("ladder").len(),
        homes.len(),
        "who returns keeps its place"
    );
    service.no_technical_loss("ladder", &agents);
}
