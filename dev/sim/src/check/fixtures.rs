//! The rules on pairings and on results.

use super::{Facts, Fixture, Kind, Outcome};
use crate::failure::{Checker, Fault};
use matchday_core::protocol::PlayerId;
use std::collections::{BTreeMap, BTreeSet};

/// Once the league has begun, every pair of players has exactly so many matches, on each side as often as can be.
pub fn each_pair_meets(facts: &Facts, times: usize) -> Result<(), Fault> {
    if facts.fixtures.is_empty() {
        return Ok(());
    }
    let broken = |what: String| Err(Fault::new(Checker::EachPairOnce, what));
    let mut pairs: BTreeMap<(&PlayerId, &PlayerId), [usize; 2]> = BTreeMap::new();
    for fixture in facts
        .fixtures
        .iter()
        .filter(|fixture| fixture.series.is_none())
    {
        let turned = fixture.b < fixture.a;
        let pair = if turned {
            (&fixture.b, &fixture.a)
        } else {
            (&fixture.a, &fixture.b)
        };
        let [one, other] = pairs.entry(pair).or_default();
        *(if turned { other } else { one }) += 1;
    }
    for ((a, b), [one, other]) in &pairs {
        if a == b || one + other != times || one.abs_diff(*other) > 1 {
            return broken(format!(
                "{a} and {b} meet {one} times, and {other} times with sides turned"
            ));
        }
    }
    let players = facts.players.len();
    let wanted = players * players.saturating_sub(1) / 2;
    if pairs.len() != wanted {
        return broken(format!("{} pairs meet, of {wanted}", pairs.len()));
    }
    Ok(())
}

/// Every match has a name of its own, and two players of the league.
pub fn matches_are_of_the_league(facts: &Facts) -> Result<(), Fault> {
    let broken = |what: String| Err(Fault::new(Checker::EachPairOnce, what));
    let mut ids = BTreeSet::new();
    for fixture in &facts.fixtures {
        if fixture.a == fixture.b {
            return broken(format!("{} meets itself in {}", fixture.a, fixture.id));
        }
        if !ids.insert(&fixture.id) {
            return broken(format!("two matches are called {}", fixture.id));
        }
        if let Some(stranger) = [&fixture.a, &fixture.b]
            .into_iter()
            .find(|player| !facts.players.contains(player))
        {
            return broken(format!("{stranger} of {} is not in the league", fixture.id));
        }
    }
    Ok(())
}

/// Fails if a player is in two matches of a round.
pub fn at_most_one_match_per_round(facts: &Facts) -> Result<(), Fault> {
    let mut busy = BTreeSet::new();
    for fixture in &facts.fixtures {
        for player in [&fixture.a, &fixture.b] {
            if !busy.insert((fixture.round, player)) {
                return Err(Fault::new(
                    Checker::OneMatchPerRound,
                    format!("{player} has two matches in round {}", fixture.round),
                ));
            }
        }
    }
    Ok(())
}

/// Fails if a match of a completed league has no result, or if someone won who was not in it.
pub fn a_completed_league_is_decided(facts: &Facts) -> Result<(), Fault> {
    let broken = |what: String| Err(Fault::new(Checker::EveryMatchDecided, what));
    for Fixture {
        id, a, b, outcome, ..
    } in &facts.fixtures
    {
        match outcome {
            // The operator may end a ladder in the middle of a round.
            None if facts.completed && facts.course.kind != Kind::Ladder => {
                return broken(format!("the league is over, and {id} has no result"));
            }
            Some(Outcome::Won(winner) | Outcome::Forfeited { winner })
                if winner != a && winner != b =>
            {
                return broken(format!("{winner} has won {id} without playing in it"));
            }
            _ => {}
        }
    }
    if facts.completed && facts.fixtures.is_empty() && facts.course.kind != Kind::Ladder {
        return broken("the league is over without a match".into());
    }
    Ok(())
}

/// No player of `sound` has lost a match for want of an answer.
pub fn none_forfeits(facts: &Facts, sound: &[PlayerId]) -> Result<(), Fault> {
    for fixture in &facts.fixtures {
        for player in [&fixture.a, &fixture.b] {
            let forfeited = match &fixture.outcome {
                Some(Outcome::Forfeited { winner }) => winner != player,
                Some(Outcome::BothForfeited) => true,
                _ => false,
            };
            if forfeited && sound.contains(player) {
                return Err(Fault::new(
                    Checker::HonestPlayersPlay,
                    format!(
                        "{player} lost {} for want of an answer, which it gave",
                        fixture.id
                    ),
                ));
            }
        }
    }
    Ok(())
}
