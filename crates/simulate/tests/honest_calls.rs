//! Honest players of even/odd are not accused of an agreement: leagues of every mixture of built-in strategies.
//!
//! The gate plays a part of them. More of them, with counts:
//! `HONEST=2000 cargo test --release -p matchday-simulate --test honest_calls -- --nocapture`

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

use matchday_core::entropy::Entropy;
use matchday_core::game::context::Context;
use matchday_core::game::past::{DrawCheck, Outcome, Past, PastGame};
use matchday_core::game::strategy::{self, StrategyEntry, Turn};
use matchday_core::league::TieBreak;
use matchday_core::league::format::{Competition, Draw, Drawn, Format, Played as PlayedRound};
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::messages::{Parity, Record};
use matchday_core::protocol::{GameType, MatchId, PlayerId};
use matchday_stats::{Calls, Entrant, MatchOutcome, Played, Results, complementary};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

struct Player {
    strategy: &'static StrategyEntry,
    overall: Past,
    against: BTreeMap<usize, Past>,
}

impl Player {
    fn call(&self, own: &PlayerId, opponent: (usize, &PlayerId), chance: &mut Entropy) -> Parity {
        let options = Parity::ALL.map(|parity| Value::from(parity.as_str()));
        let turn = Turn {
            game_type: &GameType::new("even_odd"),
            own_id: own,
            opponent_id: Some(opponent.1),
            options: &options,
            context: &Context::OfParity(None),
            against: self.against.get(&opponent.0).unwrap_or(Past::NONE),
            overall: &self.overall,
            record: Record::default(),
        };
        let chosen = strategy::Strategy::choose(self.strategy, &turn, chance);
        Parity::parse(chosen.as_str().unwrap()).unwrap()
    }

    fn remember(&mut self, opponent: usize, calls: [Parity; 2], drawn: Parity) {
        let [own, other] = calls.map(|call| call == drawn);
        let outcome = match (own, other) {
            (true, false) => Outcome::Win,
            (false, true) => Outcome::Loss,
            _ => Outcome::Draw,
        };
        let game = Arc::new(PastGame {
            match_id: MatchId::new("R1M1"),
            round_id: None,
            game_type: GameType::new("even_odd"),
            opponent_id: None,
            own_choice: Some(calls[0]),
            opponent_choice: Some(calls[1]),
            drawn_parity: Some(drawn),
            outcome,
            technical: false,
            draw: DrawCheck::Proven,
            summary: None,
        });
        self.against.entry(opponent).or_default().push(Arc::clone(&game));
        self.overall.push(game);
    }
}

fn told(parity: Parity) -> matchday_stats::Parity {
    match parity {
        Parity::Even => matchday_stats::Parity::Even,
        Parity::Odd => matchday_stats::Parity::Odd,
    }
}

/// One league of strategies in a format, the whole of it repeated as often as a round robin has legs.
fn league(
    strategies: &[&'static StrategyEntry],
    format: Format,
    repeats: u32,
    chance: &mut Entropy,
) -> Results {
    let ids: Vec<PlayerId> = (1..=strategies.len()).map(|number| PlayerId::numbered(number as u32)).collect();
    let mut players: Vec<Player> = strategies
        .iter()
        .map(|strategy| Player { strategy, overall: Past::default(), against: BTreeMap::new() })
        .collect();
    let mut matches = Vec::new();
    let mut round = 0;
    for _ in 0..repeats {
        let draw =
            Draw::begin(&Competition::of(format), &ids, &TieBreak::DEFAULT, chance.next_u64() >> 11).unwrap();
        let mut rounds: Vec<(Drawn, Vec<Option<Verdict>>)> = Vec::new();
        loop {
            let played: Vec<PlayedRound<'_>> = rounds
                .iter()
                .map(|(drawn, verdicts)| PlayedRound { drawn, verdicts: verdicts.clone() })
                .collect();
            let next = draw.next(&played, &BTreeSet::new());
            if next.is_empty() {
                break;
            }
            for drawn in next {
                round += 1;
                let mut verdicts = Vec::new();
                for (a, b) in &drawn.pairs {
                    let place = |id: &PlayerId| ids.iter().position(|one| one == id).unwrap();
                    let (one, other) = (place(a), place(b));
                    let calls =
                        [players[one].call(a, (other, b), chance), players[other].call(b, (one, a), chance)];
                    let number = Parity::ALL[chance.below(2) as usize];
                    let verdict = match calls.map(|call| call == number) {
                        [true, false] => Verdict::WonByA,
                        [false, true] => Verdict::WonByB,
                        _ => Verdict::Drawn,
                    };
                    players[one].remember(other, calls, number);
                    players[other].remember(one, [calls[1], calls[0]], number);
                    verdicts.push(Some(verdict));
                    let [call_a, call_b] = calls.map(|call| Some(told(call)));
                    matches.push(Played {
                        round,
                        a: a.to_string(),
                        b: b.to_string(),
                        outcome: match verdict {
                            Verdict::WonByA => MatchOutcome::WonByA,
                            Verdict::WonByB => MatchOutcome::WonByB,
                            _ => MatchOutcome::Drawn,
                        },
                        forfeited: false,
                        calls: Some(Calls { a: call_a, b: call_b, drawn: Some(told(number)) }),
                    });
                }
                rounds.push((drawn, verdicts));
            }
        }
    }
    let players = ids.iter().map(|id| Entrant { id: id.to_string(), name: id.to_string() }).collect();
    Results { game: "even_odd".to_owned(), players, matches, ladder: false }
}

/// How many of so many leagues name a pair. `leagues_in_store` leagues are looked at together.
fn false_alarms(format: Format, repeats: u32, leagues_in_store: usize, trials: u64) -> u64 {
    let strategies: Vec<&'static StrategyEntry> =
        strategy::of(matchday_core::game::find(&GameType::new("even_odd")).unwrap()).collect();
    let named = (0..trials).filter(|seed| {
        let mut chance = Entropy::numbered(1000 + seed);
        let chosen: Vec<&'static StrategyEntry> = match seed % 4 {
            // All of one kind, all kinds, and any mixture.
            0 => vec![strategies[(seed / 4) as usize % strategies.len()]; 8],
            1 => strategies.clone(),
            _ => (0..8).map(|_| strategies[chance.below(strategies.len() as u64) as usize]).collect(),
        };
        let leagues: Vec<Results> =
            (0..leagues_in_store).map(|_| league(&chosen, format, repeats, &mut chance)).collect();
        let keyed: Vec<(&Results, Vec<String>)> = leagues
            .iter()
            .map(|results| (results, results.players.iter().map(|player| player.id.clone()).collect()))
            .collect();
        let found = complementary::examine(&keyed).unwrap();
        if let Some(question) = found.questions.first() {
            println!("{format} x{repeats}, seed {seed}: {}", question.sentence);
        }
        !found.questions.is_empty()
    });
    named.count() as u64
}

#[test]
fn honest_players_are_accused_in_at_most_5_percent_of_leagues() {
    let trials = std::env::var("HONEST").map_or(40, |trials| trials.parse().unwrap());
    for (format, repeats, leagues) in [
        (Format::RoundRobin, 12, 1),
        (Format::RoundRobin, 40, 1),
        (Format::DoubleRoundRobin, 6, 1),
        (Format::Swiss, 20, 1),
        (Format::Knockout, 30, 1),
        (Format::GroupsKnockout, 20, 1),
        (Format::RoundRobin, 1, 30),
    ] {
        let named = false_alarms(format, repeats, leagues, trials);
        println!("{format} x{repeats}, {leagues} leagues: {named} of {trials} name a pair");
        assert!(named * 20 <= trials, "{format} x{repeats}: {named} of {trials}");
    }
}
