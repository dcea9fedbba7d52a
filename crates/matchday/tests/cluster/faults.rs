//! Services that are killed, stopped beyond their lease, and cut off from the database, in mid-league. Afterwards the history of
//! what all of them asked the database for is held against the log: nothing acknowledged is lost or doubled, and no two write
//! under one epoch. No match is a technical loss.

use crate::balancer::Balancer;
use crate::fixture::{Service, Services};
use matchday_testkit::cli::{Process, free_address};
use matchday_testkit::cut_proxy::{CutProxy, Direction};
use matchday_testkit::eventually::eventually;
use serde_json::json;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const SERVICES: usize = 3;
const LEAGUES: u32 = 3;
/// Longer than a lease, and than another waits beyond its end.
const BEYOND_LEASE: Duration = Duration::from_secs(5);
const TAKE_OVER_MAX: Duration = Duration::from_secs(60);

fn count(variable: &str) -> usize {
    std::env::var(variable).map_or(2, |text| text.parse().unwrap())
}

/// A service with its own way to the database.
struct Member {
    service: Option<Service>,
    proxy: CutProxy,
    listen: String,
    store: String,
    /// Where the leagues are, whichever service owns them.
    public: String,
}

/// Ladders, which have no end, over several services.
struct Ladders {
    services: Services,
    members: Vec<Member>,
    /// At the public URL.
    balancer: Balancer,
    players: Vec<Process>,
    tokens: Vec<String>,
    /// The last result that was waited for, by league: what is before it is not read again.
    last_seq: [u64; LEAGUES as usize],
    /// From each fault to the next result of each league of the one that it hit.
    took: Vec<Duration>,
}

impl Ladders {
    fn start() -> Option<Self> {
        Self::behind(|listen, _| Some(Balancer::told(listen)))
    }

    fn behind(balancer: impl FnOnce(&[String], &Path) -> Option<Balancer>) -> Option<Self> {
        let services = Services::start()?;
        let listen: Vec<String> = (0..SERVICES).map(|_| free_address()).collect();
        let balancer = balancer(&listen, services.cli.path())?;
        let public = format!("http://{}", balancer.address());
        let members = vec![Member::start(&services, &listen[0], &public)];
        let first = members[0].service.as_ref().unwrap();
        let settings = json!({"format": "ladder", "start-when": "players=2", "matches-per-hour": "9999", "lead": "0.1"});
        let names = (1..=LEAGUES).map(|number| format!("ladder-{number}"));
        let tokens = names
            .clone()
            .map(|name| first.create(&name, &settings))
            .collect();
        let players =
            names.flat_map(|name| [services.player(first, &name), services.player(first, &name)]);
        let players = players.collect();
        let last_seq = Default::default();
        let mut ladders = Self {
            services,
            members,
            balancer,
            players,
            tokens,
            last_seq,
            took: Vec::new(),
        };
        for league in 1..=LEAGUES {
            ladders.next_result(league, 0);
        }
        // The others get their share of leagues that are under way.
        for listen in &listen[1..] {
            let member = Member::start(&ladders.services, listen, &public);
            ladders.members.push(member);
        }
        Some(ladders)
    }

    /// When the first match of a league was decided after this time, both in microseconds.
    fn next_result(&mut self, league: u32, after: u64) -> u64 {
        let began = Instant::now();
        let place = league as usize - 1;
        let next = format!(
            "SELECT at, seq FROM matchday_events WHERE league = {league} AND stream IN ('league', 'league/{league}') \
             AND seq > {} AND at > {after} AND line LIKE '%\"match_decided\"%' ORDER BY seq LIMIT 1",
            self.last_seq[place]
        );
        loop {
            if let Some((at, seq)) = self.services.sql(&next).split_once('|') {
                self.last_seq[place] = seq.parse().unwrap();
                return at.parse().unwrap();
            }
            if began.elapsed() >= TAKE_OVER_MAX {
                let end = format!(
                    "SELECT stream, seq, at, left(line, 160) FROM matchday_events WHERE league = {league} \
                     ORDER BY at DESC, seq DESC LIMIT 30"
                );
                panic!(
                    "league {league} does not go on\n{}\n{}",
                    self.last_words(),
                    self.services.sql(&end)
                );
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The place of a service that owns leagues, another one each time, and its leagues.
    fn owner(&self, turn: usize) -> (usize, Vec<u32>) {
        let began = Instant::now();
        for place in (turn..).map(|turn| turn % SERVICES) {
            let service = self.members[place].service.as_ref().unwrap();
            let own = (1..=LEAGUES).filter(|league| service.is(&self.services.owner(*league)));
            let own: Vec<u32> = own.collect();
            if !own.is_empty() {
                return (place, own);
            }
            assert!(
                began.elapsed() < TAKE_OVER_MAX,
                "nobody owns a league\n{}",
                self.last_words()
            );
        }
        panic!("the turns do not end")
    }

    /// Hits an owner with each fault in turn; its leagues go on elsewhere before the fault ends.
    fn survive(
        &mut self,
        faults: usize,
        hit: impl Fn(&mut Member, usize),
        restore: impl Fn(&Services, &mut Member),
    ) {
        let mut hit_last = 0;
        for turn in 0..faults {
            let (place, leagues) = self.owner(turn);
            hit_last = place;
            hit(&mut self.members[place], turn);
            // What was decided before the fault took effect does not count.
            let at = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_micros();
            let at = u64::try_from(at).unwrap();
            let began = Instant::now();
            self.balancer
                .exclude(Some(self.members[place].listen.parse().unwrap()));
            for league in leagues {
                let result = self.next_result(league, at + 1);
                self.took.push(Duration::from_micros(result - at));
            }
            self.balancer
                .until_it_answers("/leagues/ladder-1/api/league");
            thread::sleep(BEYOND_LEASE.saturating_sub(began.elapsed()));
            restore(&self.services, &mut self.members[place]);
            self.balancer.exclude(None);
            println!("{} of {faults} faults survived", turn + 1);
        }
        // One that has just woken may still answer 503.
        self.end((hit_last + 1) % SERVICES);
    }

    /// Ends the leagues and the services, and judges what they left.
    fn end(&mut self, through: usize) {
        let listen = &self.members[through].listen;
        for (number, token) in (1..).zip(&self.tokens) {
            let manager = format!("http://{listen}/leagues/ladder-{number}/mcp");
            let ended = self.services.cli.run(&[
                "admin",
                "end",
                "--manager",
                &manager,
                "--operator-token",
                token,
            ]);
            assert_eq!(ended.code, 0, "{ended:?}\n{}", self.last_words());
            let service = self.members[through].service.as_ref().unwrap();
            service.until(&format!("ladder-{number}"), |shown| {
                shown["phase"] == "completed"
            });
        }
        for member in &mut self.members {
            let mut service = member.service.take().unwrap();
            service.process.signal("TERM");
            assert!(
                service.process.wait().success(),
                "{}",
                service.process.err()
            );
            // A league that was taken over is no fault.
            let said = service.process.err() + &service.process.out();
            for fault in ["restore it", "fix that", "quarantine"] {
                assert!(!said.contains(fault), "{said}");
            }
        }
        assert_eq!(self.services.technical_losses(), "0");
        (1..=LEAGUES).for_each(|number| self.services.verify(&format!("ladder-{number}")));
        let report = self.services.check_history();
        let decided = self.services.sql("SELECT count(*) FROM matchday_events WHERE line LIKE '%\"match_decided\"%' AND stream LIKE 'league%'");
        self.took.sort_unstable();
        let quantile = |share: usize| self.took[(self.took.len() - 1) * share / 100].as_millis();
        println!(
            "{decided} matches; {} appends ({} unknown, {} refused), {} reads, {} leagues taken; to the next result: p50 {} ms, p99 {} ms, most {} ms",
            report.appends,
            report.unknown,
            report.refused,
            report.reads,
            report.takes,
            quantile(50),
            quantile(99),
            quantile(100)
        );
        assert!(report.appends > 0 && report.takes > 0, "{report:?}");
    }

    fn last_words(&self) -> String {
        let services = self
            .members
            .iter()
            .filter_map(|member| Some(&member.service.as_ref()?.process));
        let last = services.chain(&self.players).map(|process| {
            let text = process.err() + &process.out();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(10)..].join("\n")
        });
        last.collect::<Vec<_>>().join("\n---\n")
    }
}

impl Member {
    fn start(services: &Services, listen: &str, public: &str) -> Self {
        let proxy = services.postgres.proxy();
        let name = services
            .store
            .split('/')
            .nth(3)
            .unwrap()
            .split('?')
            .next()
            .unwrap();
        let store = format!(
            "postgres://matchday@{}/{name}?sslmode=disable",
            proxy.address()
        );
        let mut member = Self {
            service: None,
            proxy,
            listen: listen.to_owned(),
            store,
            public: public.to_owned(),
        };
        member.serve(services);
        member
    }

    fn serve(&mut self, services: &Services) {
        self.service = Some(services.serve_at(&self.listen, &self.store, &self.public));
    }

    fn signal(&self, name: &str) {
        self.service.as_ref().unwrap().process.signal(name);
    }
}

/// `MATCHDAY_CLUSTER_KILLS=1000` makes a soak of it.
#[test]
fn leagues_go_on_when_their_owners_are_killed() {
    let Some(mut ladders) = Ladders::start() else {
        return;
    };
    ladders.survive(
        count("MATCHDAY_CLUSTER_KILLS"),
        // Dropping a process kills it.
        |member, _| drop(member.service.take()),
        |services, member| member.serve(services),
    );
}

/// `MATCHDAY_CLUSTER_STOPS=200` makes a soak of it.
#[test]
fn leagues_go_on_when_their_owners_are_stopped_beyond_the_lease_and_wake_again() {
    let Some(mut ladders) = Ladders::start() else {
        return;
    };
    ladders.survive(
        count("MATCHDAY_CLUSTER_STOPS"),
        |member, _| member.signal("STOP"),
        |_, member| member.signal("CONT"),
    );
}

/// `MATCHDAY_CLUSTER_CUTS=200` makes a soak of it: in both directions, and in either one alone.
#[test]
fn leagues_go_on_when_their_owners_are_cut_off_from_the_database() {
    let Some(mut ladders) = Ladders::start() else {
        return;
    };
    ladders.survive(
        count("MATCHDAY_CLUSTER_CUTS"),
        |member, turn| match turn % 3 {
            0 => member.proxy.cut(),
            1 => member.proxy.hold(Direction::ToClient),
            _ => member.proxy.hold(Direction::ToServer),
        },
        |_, member| member.proxy.restore(),
    );
}

/// `MATCHDAY_HAPROXY_FAULTS=100` makes a soak of it.
#[test]
fn leagues_go_on_behind_haproxy_when_owners_are_killed_or_lose_the_database() {
    let Some(mut ladders) = Ladders::behind(Balancer::haproxy) else {
        return;
    };
    for inside in ["/metrics", "/health/ready", "/leagues/ladder-1/metrics"] {
        ladders.balancer.hides(inside);
    }
    ladders.survive(
        count("MATCHDAY_HAPROXY_FAULTS"),
        |member, turn| match turn % 2 {
            0 => drop(member.service.take()),
            _ => member.proxy.cut(),
        },
        |services, member| {
            member.proxy.restore();
            if member.service.is_none() {
                member.serve(services);
            }
        },
    );
}

#[test]
fn a_league_goes_by_the_databases_clock_though_its_owner_was_cut_off_before() {
    let Some(services) = Services::start() else {
        return;
    };
    let listen = free_address();
    let member = Member::start(&services, &listen, &format!("http://{listen}"));
    let service = member.service.as_ref().unwrap();
    member.proxy.cut();
    service.process.until("the store is unavailable");
    thread::sleep(BEYOND_LEASE);
    member.proxy.restore();
    service.process.until("the store is available again");
    eventually("ready", || {
        service.call("GET", "/health/ready", &[], None).status == 200
    });
    service.create("spring", &json!({}));
    assert_eq!(
        service
            .call("GET", "/leagues/spring/api/standings", &[], None)
            .status,
        200
    );
    let behind = services.sql(
        "SELECT (extract(epoch FROM now()) * 1000000)::bigint - max(at) FROM matchday_events WHERE league = 1",
    );
    assert!(
        behind.parse::<i64>().unwrap() < 3_000_000,
        "{behind} us behind"
    );
}
