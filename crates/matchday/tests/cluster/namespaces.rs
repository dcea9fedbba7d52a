//! One-way cuts in network namespaces: the owner of a league still hears the database and is not heard by it, or the other way
//! round. Another service goes on with the league.

use crate::MATCHDAY;
use crate::fixture::{SERVICE_TOKEN, Services};
use matchday_testkit::cli::{Process, command};
use matchday_testkit::eventually::eventually;
use matchday_testkit::namespaces::Namespaces;
use matchday_testkit::tools::require;

/// Where the database is reached, and the service that is not cut off.
const HUB: usize = 0;
/// The owner that is cut off.
const OWNER: usize = 1;
const HUB_ADDRESS: &str = "10.79.0.1";
const OWNER_ADDRESS: &str = "10.79.0.2";
const PUBLIC: &str = "http://10.79.0.1:8000";

struct Network {
    services: Services,
    namespaces: Namespaces,
}

impl Network {
    fn new() -> Option<Self> {
        let services = Services::start()?;
        let namespaces = Namespaces::new(&["hub", "owner"]).filter(|_| require("python3"))?;
        namespaces.cable([HUB, OWNER], "between", ["10.79.0.1/30", "10.79.0.2/30"]);
        Some(Self {
            services,
            namespaces,
        })
    }

    fn run(&self, inside: usize, program: &[&str]) -> Process {
        let mut command = command(program[0]);
        command
            .args(&program[1..])
            .current_dir(self.services.cli.path());
        command.env("MATCHDAY_STORE_HISTORY", self.services.history());
        command.env("MATCHDAY_SERVICE_TOKEN", SERVICE_TOKEN);
        self.namespaces.exec(inside, &command)
    }

    fn serve(&self, inside: usize, address: &str, store: &str) -> Process {
        let (listen, peers) = (format!("{address}:8000"), format!("https://{address}:8443"));
        let args = [
            MATCHDAY,
            "serve",
            "--listen",
            &listen,
            "--advertise",
            &peers,
            "--public-url",
            PUBLIC,
        ];
        let service = self.run(inside, &[&args[..], &["--store", store]].concat());
        service.until("leagues are served at");
        service
    }

    fn results(&self) -> u64 {
        let count = "SELECT count(*) FROM matchday_events WHERE stream LIKE 'league%' AND line LIKE '%\"match_decided\"%'";
        self.services.sql(count).parse().unwrap()
    }

    fn owner_is(&self, service: &Process) -> bool {
        self.services
            .owner(1)
            .ends_with(&format!(":{}", service.pid()))
    }
}

/// Packets from `side` to `address` are lost until the other service has the league and plays on.
fn another_goes_on(side: usize, address: &str) {
    let Some(network) = Network::new() else {
        return;
    };
    let (socket, database) = network.services.socket_and_database();
    let socket = format!("{socket}/.s.PGSQL.5432");
    let _database = network
        .namespaces
        .forward(HUB, &format!("{HUB_ADDRESS}:5432"), &socket);
    let store = format!("postgres://matchday@{HUB_ADDRESS}/{database}?sslmode=disable");
    let mut owner = network.serve(OWNER, OWNER_ADDRESS, &store);
    let mut other = network.serve(HUB, HUB_ADDRESS, &network.services.store);
    let settings = [
        "--format",
        "ladder",
        "--start-when",
        "players=2",
        "--matches-per-hour",
        "9999",
        "--lead",
        "0.1",
    ];
    let create = [MATCHDAY, "league", "create", "spring", "--service", PUBLIC];
    let mut created = network.run(HUB, &[&create[..], &settings].concat());
    assert!(created.wait().success(), "{}", created.err());
    let manager = format!("{PUBLIC}/leagues/spring/mcp");
    let player = || {
        network.run(
            HUB,
            &[
                MATCHDAY,
                "player",
                "--listen",
                "10.79.0.1:0",
                "--manager",
                &manager,
            ],
        )
    };
    let players = [player(), player()];
    eventually("the owner plays", || {
        network.owner_is(&owner) && network.results() > 3
    });
    network.namespaces.lose_packets_to(side, address);
    eventually("the other has it", || network.owner_is(&other));
    let before = network.results();
    eventually("the other plays on", || network.results() > before + 3);
    network.namespaces.deliver_packets_to(side, address);
    owner.until("the lease of this process had expired");
    drop(players);
    for service in [&mut other, &mut owner] {
        service.signal("TERM");
        assert!(service.wait().success(), "{}", service.err());
    }
    assert_eq!(network.services.technical_losses(), "0");
    network.services.verify("spring");
    assert!(network.services.check_history().takes > 0);
}

#[test]
fn a_league_goes_on_when_its_owner_is_no_longer_heard() {
    another_goes_on(OWNER, HUB_ADDRESS);
}

#[test]
fn a_league_goes_on_when_its_owner_hears_nothing_any_more() {
    another_goes_on(HUB, OWNER_ADDRESS);
}
