//! The rules on the pairings of a ladder, held against the manager's log: who is there is paired or sits out, within what it
//! allows, and meets its last opponent again only where there is no other way. Small ladders allow trying every way.

use crate::failure::{Checker, Fault};
use matchday_core::league::{LeagueEvent, LeagueSettings};
use matchday_core::protocol::{MatchId, PlayerId, Sender, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

type Pair = (PlayerId, PlayerId);

/// What the log of a ladder says so far.
#[derive(Debug, Clone, Default)]
pub struct LadderRules {
    best_of: u32,
    per_hour: Option<u32>,
    /// Each player with the matches it allows in an hour.
    players: BTreeMap<PlayerId, Option<u32>>,
    left: BTreeSet<PlayerId>,
    suspended: BTreeSet<PlayerId>,
    out: BTreeSet<PlayerId>,
    drawn_at: BTreeMap<PlayerId, Vec<Timestamp>>,
    last_opponent: BTreeMap<PlayerId, PlayerId>,
    /// The pairs of the current pairing, each with the wins of both and the games that it has had.
    ties: BTreeMap<Pair, ([u32; 2], u32)>,
    matches: BTreeMap<MatchId, Pair>,
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(Fault::new(Checker::LadderIsFollowed, what()))
    }
}

fn ordered(a: &PlayerId, b: &PlayerId) -> Pair {
    if a < b {
        (a.clone(), b.clone())
    } else {
        (b.clone(), a.clone())
    }
}

impl LadderRules {
    /// Takes in the next event of the log.
    pub fn take(&mut self, at: Timestamp, event: &LeagueEvent) -> Result<(), Fault> {
        match event {
            LeagueEvent::LeagueCreated { settings } => self.begin(settings),
            LeagueEvent::PlayerRegistered {
                player_id, meta, ..
            }
            | LeagueEvent::PlayerRejoined {
                player_id, meta, ..
            } => {
                self.players
                    .insert(player_id.clone(), meta.max_matches_per_hour);
                self.left.remove(player_id);
                // An agent that registers again is there, and no longer suspended.
                self.suspended.remove(player_id);
            }
            LeagueEvent::PlayerLeft { player_id } => {
                self.left.insert(player_id.clone());
            }
            LeagueEvent::PlayerWithdrawn { player_id } => {
                self.out.insert(player_id.clone());
            }
            LeagueEvent::AgentSuspended {
                agent: Sender::Player(id),
                ..
            } => {
                self.suspended.insert(id.clone());
            }
            LeagueEvent::AgentRecovered {
                agent: Sender::Player(id),
            } => {
                self.suspended.remove(id);
            }
            LeagueEvent::MatchDecided {
                match_id, result, ..
            } => self.count(match_id, result.winner.as_ref()),
            LeagueEvent::RoundDrawn { round_id, drawn } => {
                match drawn.leg {
                    1 => self.check_pairing(at, &drawn.pairs, &drawn.byes)?,
                    _ => self.check_next_game(at, &drawn.pairs)?,
                }
                for (number, (a, b)) in (1..).zip(&drawn.pairs) {
                    self.matches
                        .insert(MatchId::numbered(*round_id, number), ordered(a, b));
                    for player in [a, b] {
                        self.drawn_at.entry(player.clone()).or_default().push(at);
                    }
                }
            }
            LeagueEvent::LeagueCompleted { by_order, .. } => {
                ensure(*by_order, || "the ladder has ended by itself".to_owned())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, settings: &LeagueSettings) {
        self.best_of = settings.competition.matches_per_pairing;
        self.per_hour = settings.competition.matches_per_hour;
    }

    fn count(&mut self, match_id: &MatchId, winner: Option<&PlayerId>) {
        let Some(pair) = self.matches.get(match_id) else {
            return;
        };
        let Some(([a, b], games)) = self.ties.get_mut(pair) else {
            return;
        };
        *games += 1;
        match winner {
            Some(winner) if *winner == pair.0 => *a += 1,
            Some(_) => *b += 1,
            None => {}
        }
    }

    fn is_there(&self, player: &PlayerId) -> bool {
        [&self.left, &self.suspended, &self.out]
            .iter()
            .all(|gone| !gone.contains(player))
    }

    /// Whether it may have so many matches more at this time, or as many as it allows in an hour, if that is fewer.
    fn is_free(&self, at: Timestamp, player: &PlayerId, matches: u32) -> bool {
        let own = self.players.get(player).copied().flatten();
        let allowed = self.per_hour.into_iter().chain(own).min();
        let drawn_at = self
            .drawn_at
            .get(player)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let lately = drawn_at.iter().filter(|drawn| **drawn + HOUR > at).count();
        allowed.is_none_or(|allowed| {
            let taken = u32::try_from(lately).unwrap_or(u32::MAX);
            taken.saturating_add(matches.min(allowed)) <= allowed
        })
    }

    fn check_pairing(
        &mut self,
        at: Timestamp,
        pairs: &[Pair],
        byes: &[PlayerId],
    ) -> Result<(), Fault> {
        let named: Vec<&PlayerId> = pairs.iter().flat_map(|(a, b)| [a, b]).chain(byes).collect();
        let present: BTreeSet<&PlayerId> = named.iter().copied().collect();
        ensure(present.len() == named.len(), || {
            format!("someone has two places in {pairs:?}")
        })?;
        let due: BTreeSet<&PlayerId> = self
            .players
            .keys()
            .filter(|id| self.is_there(id) && self.is_free(at, id, self.best_of))
            .collect();
        ensure(present == due, || {
            format!("{present:?} are paired, and {due:?} can be")
        })?;
        ensure(byes.len() <= 1, || format!("{byes:?} sit out at once"))?;
        let met = |a: &PlayerId, b: &PlayerId| {
            self.last_opponent.get(a) == Some(b) || self.last_opponent.get(b) == Some(a)
        };
        if let Some((a, b)) = pairs.iter().find(|(a, b)| met(a, b)) {
            let everyone: Vec<&PlayerId> = present.iter().copied().collect();
            ensure(!can_be_paired(&everyone, &met), || {
                format!("{a} and {b} need not meet again")
            })?;
        }
        self.ties.clear();
        for (a, b) in pairs {
            self.last_opponent.insert(a.clone(), b.clone());
            self.last_opponent.insert(b.clone(), a.clone());
            self.ties.insert(ordered(a, b), ([0, 0], 0));
        }
        Ok(())
    }

    /// Another game is for pairs that are not decided.
    fn check_next_game(&self, at: Timestamp, pairs: &[Pair]) -> Result<(), Fault> {
        for (a, b) in pairs {
            let ([one, other], games) = self.ties.get(&ordered(a, b)).copied().unwrap_or_default();
            ensure(games > 0, || format!("{a} and {b} were not paired"))?;
            let left = self.best_of.saturating_sub(games);
            let is_open = left > 0 && one.abs_diff(other) <= left;
            ensure(is_open, || {
                format!("{a} and {b} play on, and stand at {one} to {other}")
            })?;
            ensure(self.is_there(a) && self.is_there(b), || {
                format!("{a} or {b} is not there")
            })?;
            ensure(self.is_free(at, a, 1) && self.is_free(at, b, 1), || {
                format!("{a} or {b} has had as many matches as it allows in an hour")
            })?;
        }
        Ok(())
    }
}

/// Whether all but at most one can be paired so that nobody meets again.
fn can_be_paired(left: &[&PlayerId], met: &impl Fn(&PlayerId, &PlayerId) -> bool) -> bool {
    let Some((first, rest)) = left.split_first() else {
        return true;
    };
    let without = |other: &PlayerId| -> Vec<&PlayerId> {
        rest.iter()
            .copied()
            .filter(|player| *player != other)
            .collect()
    };
    let sits_out = left.len() % 2 == 1 && can_be_paired(rest, met);
    sits_out
        || rest
            .iter()
            .any(|other| !met(first, other) && can_be_paired(&without(other), met))
}
