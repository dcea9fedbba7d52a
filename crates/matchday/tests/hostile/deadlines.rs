//! Deadlines are exact: what was there in good time counts, what came later does not, however much goes on.

use crate::late_or_not::{GOOD_TIME, Players};
use matchday_core::league::schedule::Pairings;
use matchday_core::league::{EndpointCheck, League, LeagueSettings, Manager};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameDetails;
use matchday_core::referee::Referee;
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_runtime::{Handle, Mailboxes};
use matchday_server::connect::RelayClient;
use matchday_server::relay::{Relay, RelayLimits, RelaySettings};
use matchday_store::Stream;
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, until_completed, until_registered,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How many matches a referee plays at once.
const EACH: usize = 10;

/// One league, whose matches are all played at once.
struct Stand {
    test_league: TestLeague,
    manager: Handle<Manager>,
    referees: Vec<Handle<Referee>>,
    players: Players,
}

/// How players are asked, and answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    Directly,
    /// They dial out to the relay of the manager, whose process the referees share.
    ByRelay,
}

/// What came of the answers of a league.
#[derive(Debug, Default)]
struct Tally {
    in_good_time: usize,
    of_them_counted_late: usize,
    late: usize,
    of_them_counted: usize,
    /// So near to the deadline that nobody can tell from outside.
    neither: usize,
    doubt_max: Duration,
    /// How long the machine itself has kept bytes from their reader.
    delay_max: Duration,
}

fn timing(choice: Duration) -> Timing {
    let patient = Duration::from_secs(20);
    Timing {
        join: patient,
        choice,
        game_over: patient,
        report: patient,
        other: patient,
        retry: RetryPolicy {
            retries: 0,
            backoff: Backoff::Fixed {
                delay: Duration::ZERO,
            },
        },
    }
}

impl Stand {
    async fn set_up(
        matches: usize,
        choice: Duration,
        for_writing: Duration,
        reached: Reached,
    ) -> Self {
        let mut test_league = TestLeague::new(matchday_server::agent_options);
        let name = |number: usize| PlayerId::new(format!("P{number:02}"));
        let pairs = (0..matches)
            .map(|one| (name(2 * one + 1), name(2 * one + 2)))
            .collect();
        let settings = LeagueSettings {
            endpoint_check: EndpointCheck::Off,
            players_max: 1000,
            fixtures: Some(vec![Pairings { pairs, bye: None }]),
            standings_pause: Duration::from_secs(60),
            announce_lead: Duration::from_secs(1),
            ..quick(timing(choice))
        };
        let manager = match reached {
            Reached::Directly => test_league.manager(settings).await,
            Reached::ByRelay => manager_with_relay(&mut test_league, settings, 2 * matches).await,
        };
        let mut referees = Vec::new();
        for number in 1..=u32::try_from(matches.div_ceil(EACH)).unwrap() {
            referees.push(
                test_league
                    .referee(number, &endpoint(manager.address()), timing(choice))
                    .await,
            );
            until_registered(&manager, 0, referees.len()).await;
        }
        let players = Players::wait(choice, for_writing);
        for number in 1..=2 * matches {
            let contact = match reached {
                Reached::Directly => format!("http://{}/{number}/mcp", players.address),
                Reached::ByRelay => dial_out(&test_league, &manager, &players).await,
            };
            register(&test_league, &manager, &players, number, &contact).await;
        }
        Self {
            test_league,
            manager,
            referees,
            players,
        }
    }

    async fn play(self) -> Tally {
        self.test_league.start(&self.manager).await;
        let league = until_completed(&self.manager, Duration::from_secs(120)).await;
        // Late answers may be written after the league is over.
        self.players.until_all_have_answered().await;
        for referee in self.referees {
            referee.shutdown().await.unwrap();
        }
        self.manager.shutdown().await.unwrap();
        tally(&league, &self.players)
    }
}

/// The referees that are started from here on call its mailboxes without a connection.
async fn manager_with_relay(
    test_league: &mut TestLeague,
    settings: LeagueSettings,
    mailboxes_max: usize,
) -> Handle<Manager> {
    let listener = free_port().await;
    let mut options = test_league.options("league");
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let limits = RelayLimits::new(mailboxes_max, mailboxes_max);
    let own = RelaySettings {
        base_url,
        limits,
        message_bytes_max: settings.message_bytes_max,
    };
    let relay = Relay::open(own, test_league.store.clone(), Default::default(), &options).unwrap();
    relay.mount(&mut options);
    test_league.mailboxes = Some(Arc::clone(&relay) as Arc<dyn Mailboxes>);
    let store = test_league.store.clone();
    let manager = matchday_runtime::run(
        Manager::new(settings),
        listener,
        store,
        Stream("league".into()),
        options,
    )
    .unwrap();
    relay.serve_league_of(manager.inspector());
    manager
}

/// Opens a mailbox that a player reads from here on; its endpoint.
async fn dial_out(
    test_league: &TestLeague,
    manager: &Handle<Manager>,
    players: &Players,
) -> String {
    let league = endpoint(manager.address());
    let opened = RelayClient::open(&test_league.client, league.raw(), None)
        .await
        .unwrap();
    players.dial_out(manager.address(), opened.mailbox, opened.relay_token);
    opened.contact_endpoint
}

async fn register(
    test_league: &TestLeague,
    manager: &Handle<Manager>,
    players: &Players,
    number: usize,
    contact: &str,
) {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:punctual",
            "timestamp": test_league.clock.now(), "conversation_id": format!("conv-{number}"),
            "player_meta": {
                "display_name": format!("Punctual {number}"), "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": contact,
            },
        },
    });
    let (_, answer) = test_league
        .post(manager.address(), message.to_string())
        .await;
    let id = &answer["result"]["player_id"];
    let token = &answer["result"]["auth_token"];
    players.know(
        PlayerId::new(id.as_str().unwrap()),
        token.as_str().unwrap().to_owned(),
    );
}

fn tally(league: &League, players: &Players) -> Tally {
    let (mut tally, answers) = (
        Tally {
            delay_max: players.delay_max(),
            ..Tally::default()
        },
        players.answers(),
    );
    for game in league.matches.values() {
        let result = &game.decision.as_ref().unwrap().result;
        let GameDetails::Parity(details) = &result.details.game else {
            panic!("a game of parity")
        };
        for id in [&game.a, &game.b] {
            let Some(answer) = answers.get(id) else {
                continue;
            };
            let counted = details.choices.get(id).copied().flatten().is_some();
            tally.doubt_max = tally.doubt_max.max(answer.doubt());
            if answer.surely_in_good_time(tally.delay_max) {
                tally.in_good_time += 1;
                tally.of_them_counted_late += usize::from(!counted);
            } else if answer.surely_late() {
                tally.late += 1;
                tally.of_them_counted += usize::from(counted);
            } else {
                tally.neither += 1;
            }
        }
    }
    tally
}

async fn all_at_once(leagues: usize, matches: usize, choice: Duration, reached: Reached) {
    let mut stands = Vec::new();
    for _ in 0..leagues {
        stands.push(Stand::set_up(matches, choice, Duration::from_millis(5), reached).await);
    }
    let mut playing = JoinSet::new();
    for stand in stands {
        playing.spawn(stand.play());
    }
    let mut all = Tally::default();
    for tally in playing.join_all().await {
        all.in_good_time += tally.in_good_time;
        all.of_them_counted_late += tally.of_them_counted_late;
        all.late += tally.late;
        all.of_them_counted += tally.of_them_counted;
        all.neither += tally.neither;
        all.doubt_max = all.doubt_max.max(tally.doubt_max);
        all.delay_max = all.delay_max.max(tally.delay_max);
    }
    println!(
        "{} matches at once, good time is {GOOD_TIME:?} before the deadline: {all:?}",
        leagues * matches
    );
    assert_eq!(
        (all.of_them_counted_late, all.of_them_counted),
        (0, 0),
        "{all:?}"
    );
    let players = 2 * leagues * matches;
    assert!(
        all.in_good_time >= players / 8 && all.late >= players / 8,
        "too little is certain: {all:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_in_good_time_counts_and_what_was_late_does_not() {
    all_at_once(1, 40, Duration::from_millis(1500), Reached::Directly).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlines_are_exact_with_500_matches_at_once() {
    all_at_once(5, 100, Duration::from_secs(4), Reached::Directly).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlines_are_exact_with_500_matches_at_once_of_players_that_dial_out() {
    all_at_once(5, 100, Duration::from_secs(4), Reached::ByRelay).await;
}

/// All agents stand still from before the first answer until well after the deadline, as if the process had been stopped.
/// What came meanwhile counts by when it came.
async fn standstill(apart: bool) {
    let choice = Duration::from_secs(2);
    let stand = Stand::set_up(1, choice, choice / 2, Reached::Directly).await;
    if apart {
        stand.players.answer_apart(stand.referees[0].address());
    }
    stand.test_league.start(&stand.manager).await;
    while stand.players.questions() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    std::thread::sleep(choice + Duration::from_millis(300));
    let league = until_completed(&stand.manager, Duration::from_secs(60)).await;
    stand.players.until_all_have_answered().await;
    let tally = tally(&league, &stand.players);
    assert_eq!(
        (tally.of_them_counted_late, tally.of_them_counted),
        (0, 0),
        "{tally:?}"
    );
    assert_eq!(
        (tally.in_good_time, tally.late),
        (1, 1),
        "the machine was too slow to tell: {tally:?}"
    );
}

#[tokio::test]
async fn answers_that_come_while_everyone_stands_still_are_judged_by_when_they_came() {
    standstill(false).await;
}

#[tokio::test]
async fn so_are_answers_by_a_request_of_their_own() {
    standstill(true).await;
}
