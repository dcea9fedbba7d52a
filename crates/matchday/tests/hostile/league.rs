//! A league in which hostile agents play beside honest players, and how each of its matches must have ended.

use crate::agent_server::{RunningAgent, start_agent};
use crate::agents::{ExpectedEnd, HostileAgent};
use matchday_core::league::fixture::Match;
use matchday_core::league::schedule::Pairings;
use matchday_core::league::settings::EndpointCheck;
use matchday_core::league::{League, LeagueSettings, Manager};
use matchday_core::player::Player;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::{GameDetails, GameStatus, Parity};
use matchday_core::protocol::{PlayerId, Timestamp};
use matchday_core::referee::Referee;
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_runtime::Handle;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, until_completed, until_registered,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Short, but long enough for an honest player on a machine that has much else to do.
fn timing() -> Timing {
    Timing {
        join: Duration::from_secs(4),
        choice: Duration::from_secs(4),
        game_over: Duration::from_secs(4),
        report: Duration::from_secs(10),
        other: Duration::from_secs(10),
        retry: RetryPolicy {
            retries: 1,
            backoff: Backoff::Fixed {
                delay: Duration::from_millis(50),
            },
        },
    }
}

pub(crate) struct HostileLeague {
    test_league: Arc<TestLeague>,
    pub(crate) manager: Handle<Manager>,
    pub(crate) referees: Vec<Handle<Referee>>,
    honest: Vec<Handle<Player>>,
    hostile: Vec<RunningAgent>,
}

/// What is left of a league when everyone has gone.
pub(crate) struct Played {
    pub(crate) league: League,
    honest: usize,
    hostile: Vec<RunningAgent>,
}

/// A round of a schedule, by the numbers of the players.
pub(crate) fn round(pairs: impl IntoIterator<Item = (usize, usize)>) -> Pairings {
    let id = |number: usize| PlayerId::new(format!("P{number:02}"));
    Pairings {
        pairs: pairs.into_iter().map(|(a, b)| (id(a), id(b))).collect(),
        bye: None,
    }
}

impl HostileLeague {
    /// Honest players come first: P01 is one.
    pub(crate) async fn open(
        honest: usize,
        hostile: &[HostileAgent],
        referees: u32,
        fixtures: Vec<Pairings>,
    ) -> Self {
        let test_league = Arc::new(TestLeague::new(matchday_server::agent_options));
        // Everyone is to be played with, again and again: nobody is looked for beforehand or left out afterwards.
        let settings = LeagueSettings {
            // What they do wrong is told by its code.
            conformance: Conformance::Strict,
            endpoint_check: EndpointCheck::Off,
            suspend_after: u32::MAX,
            fixtures: Some(fixtures),
            ..quick(timing())
        };
        let manager = test_league.manager(settings).await;
        let at = endpoint(manager.address());
        let mut judges = Vec::new();
        for number in 1..=referees {
            judges.push(test_league.referee(number, &at, timing()).await);
            until_registered(&manager, 0, judges.len()).await;
        }
        let mut players = Vec::new();
        for number in 1..=honest {
            let strategy = if number.is_multiple_of(2) {
                "always_odd"
            } else {
                "always_even"
            };
            players.push(
                test_league
                    .player(u32::try_from(number).unwrap(), &at, strategy)
                    .await,
            );
            until_registered(&manager, number, judges.len()).await;
        }
        let addresses: Vec<_> = judges.iter().map(Handle::address).collect();
        let mut running = Vec::new();
        for agent in hostile {
            running.push(start_agent(&test_league, *agent, manager.address(), &addresses).await);
        }
        Self {
            test_league,
            manager,
            referees: judges,
            honest: players,
            hostile: running,
        }
    }

    /// Everyone who can be called and is ours.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        std::iter::once(self.manager.address())
            .chain(self.referees.iter().map(Handle::address))
            .collect()
    }

    /// Plays the league to its end.
    pub(crate) async fn play(self) -> Played {
        let Self {
            test_league,
            manager,
            referees,
            honest,
            hostile,
        } = self;
        test_league.start(&manager).await;
        let league = until_completed(&manager, Duration::from_secs(240)).await;
        let count = honest.len();
        for player in honest {
            player.shutdown().await.unwrap();
        }
        for referee in referees {
            referee.shutdown().await.unwrap();
        }
        manager.shutdown().await.unwrap();
        // Whatever was said to the hostile agents was well formed.
        assert!(!test_league.exchanges().is_empty());
        Played {
            league,
            honest: count,
            hostile,
        }
    }
}

impl Played {
    fn agent(&self, id: &PlayerId) -> Option<&RunningAgent> {
        let number: usize = id.as_str().trim_start_matches('P').parse().unwrap();
        self.hostile.get(number.checked_sub(self.honest + 1)?)
    }

    /// Every match ended as the table of hostile agents says, and the honest ones by being played.
    pub(crate) fn assert_expected_ends(&self) {
        for (match_id, game) in &self.league.matches {
            let decision = game.decision.as_ref().expect("decided");
            let said = format!("{match_id} {} {}: {:?}", game.a, game.b, decision.result);
            assert_eq!(game.attempts.len(), 1, "no referee was to blame: {said}");
            let losers: Vec<_> = [&game.a, &game.b]
                .into_iter()
                .filter_map(|id| match self.agent(id)?.agent.expected_end {
                    ExpectedEnd::Plays => None,
                    ExpectedEnd::Loses(words, code) => Some((id, words, code)),
                })
                .collect();
            assert_eq!(
                decision.status == GameStatus::TechnicalLoss,
                !losers.is_empty(),
                "{said}"
            );
            for (loser, words, code) in &losers {
                let told = format!("{loser} {words}");
                assert!(
                    decision
                        .result
                        .reason
                        .as_ref()
                        .unwrap()
                        .raw()
                        .contains(&told),
                    "{told}; {said}"
                );
                let blame = decision
                    .result
                    .details
                    .blame
                    .as_ref()
                    .and_then(|blame| blame.get(loser));
                let evidence = blame
                    .and_then(|blame| blame.evidence.as_ref())
                    .expect(&said);
                assert!(evidence.raw().starts_with(code), "{code}; {said}");
            }
            if losers.is_empty() {
                assert_played(game, &said, |id| self.agent(id).is_none());
            } else if let [(loser, _, _)] = losers[..] {
                assert_eq!(
                    decision.result.winner.as_ref(),
                    Some(game.opponent(loser)),
                    "{said}"
                );
            }
        }
    }

    /// A hostile agent that called a referee in another's name was told that it may not, or that it does not play there.
    pub(crate) fn assert_forgers_refused(&self) {
        for running in &self.hostile {
            for told in running.told.lock().unwrap().iter() {
                let code = &told["error"]["data"]["error_code"];
                assert!(
                    code == "E012" || code == "E006",
                    "{}: {told}",
                    running.agent.name
                );
            }
        }
    }

    /// No round lasted longer than was reckoned. Gives back the longest, and how long it could have been.
    pub(crate) fn assert_rounds_in_time(&self) -> (Duration, Duration) {
        let bound = self
            .league
            .settings
            .overdue_after(&self.league.settings.timing);
        let mut ends: BTreeMap<_, Timestamp> = BTreeMap::new();
        for game in self.league.matches.values() {
            let at = game.decision.as_ref().unwrap().at;
            let end = ends.entry(game.round_id).or_insert(at);
            *end = at.max(*end);
        }
        let lasted = self
            .league
            .rounds
            .iter()
            .map(|round| ends[&round.round_id].since(round.starts_at.unwrap()));
        let longest = lasted.max().unwrap();
        assert!(
            longest <= bound,
            "a round lasted {longest:?} and may last {bound:?}"
        );
        (longest, bound)
    }
}

/// Played to its end: both chose, honest players what they always do, and the number decided.
fn assert_played(game: &Match, said: &str, is_honest: impl Fn(&PlayerId) -> bool) {
    let result = &game.decision.as_ref().unwrap().result;
    let GameDetails::Parity(details) = &result.details.game else {
        panic!("a game of parity: {said}")
    };
    let drawn = details.drawn_number.expect(said);
    let right = if drawn.is_multiple_of(2) {
        Parity::Even
    } else {
        Parity::Odd
    };
    let mut won = Vec::new();
    for id in [&game.a, &game.b] {
        let number: usize = id.as_str().trim_start_matches('P').parse().unwrap();
        let choice = details.choices.get(id).copied().flatten().expect(said);
        let always = if is_honest(id) && !number.is_multiple_of(2) {
            Parity::Even
        } else {
            Parity::Odd
        };
        assert_eq!(choice, always, "{said}");
        if choice == right {
            won.push(id);
        }
    }
    let winner = if let [one] = won[..] { Some(one) } else { None };
    assert_eq!(result.winner.as_ref(), winner, "{said}");
}
