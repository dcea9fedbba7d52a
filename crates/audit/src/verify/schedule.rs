//! Is a schedule a round robin? Pure.

use matchday_core::league::schedule::Pairings;
use matchday_core::protocol::PlayerId;
use std::collections::BTreeSet;

/// Everyone meets everyone else once, nobody twice in a round; who sits out is who has nobody to meet.
pub(super) fn check<'a>(
    players: impl Iterator<Item = &'a PlayerId>,
    rounds: &[Pairings],
) -> Result<(), String> {
    let players: BTreeSet<&PlayerId> = players.collect();
    if players.len() < 2 {
        return Err(format!(
            "a league needs 2 players, and {} registered",
            players.len()
        ));
    }
    let mut met = BTreeSet::new();
    for (number, round) in (1..).zip(rounds) {
        check_round(&players, number, round)?;
        for (a, b) in &round.pairs {
            let pair = if a < b { (a, b) } else { (b, a) };
            if !met.insert(pair) {
                return Err(format!("{a} and {b} meet again in round {number}"));
            }
        }
    }
    // Every pair is of two players and comes once, so that counting them is enough.
    let pairs = players.len() * (players.len() - 1) / 2;
    if met.len() != pairs {
        return Err(format!(
            "{} players make {pairs} matches, but {} are scheduled",
            players.len(),
            met.len()
        ));
    }
    Ok(())
}

fn check_round(players: &BTreeSet<&PlayerId>, number: u32, round: &Pairings) -> Result<(), String> {
    let mut seated = BTreeSet::new();
    let pairs = round.pairs.iter().flat_map(|(a, b)| [a, b]);
    for player in pairs.chain(&round.bye) {
        if !players.contains(player) {
            return Err(format!("{player} of round {number} has not registered"));
        }
        if !seated.insert(player) {
            return Err(format!("{player} has two places in round {number}"));
        }
    }
    match players.iter().find(|player| !seated.contains(**player)) {
        Some(player) => Err(format!("{player} has no place in round {number}")),
        None => Ok(()),
    }
}
