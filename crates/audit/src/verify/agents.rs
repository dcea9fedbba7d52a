//! The logs of referees and players, by themselves and against the manager's. Pure.
//!
//! A referee's store has its assignments with the secrets of their draws, and its results: those can be checked as they
//! stand. A player's has only what it was told. Whether anyone was believed, only the manager's store can say.

use super::moves;
use super::result::{self, Draw, Played};
use super::signatures;
use super::{AgentFindings, Fault};
use crate::agent_log::AgentLog;
use crate::describe::status_of;
use crate::log_set::is_known;
use matchday_core::game::past::{DrawCheck, Outcome, PastGame};
use matchday_core::league::{DecidedBy, League};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::MatchResult;
use matchday_core::protocol::{Attempt, MatchId, PlayerId, RefereeId, Timestamp};
use matchday_core::referee::{Assignment, RefereeEvent};
use matchday_core::signature::PublicKey;
use matchday_store::StoreUrl;
use matchday_store::entry::Entry;
use matchday_store::stream::Stream;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A result that the manager has recorded, with the place of its event.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) match_id: MatchId,
    pub(super) attempt: Attempt,
    pub(super) by: DecidedBy,
    pub(super) result: Arc<MatchResult>,
}

/// What the manager's store says, if it is at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct ManagerRecord<'a> {
    pub(super) file: Option<&'a StoreUrl>,
    pub(super) league: &'a League,
    pub(super) recorded: &'a [Recorded],
}

impl ManagerRecord<'_> {
    fn of_match(&self, match_id: &MatchId) -> impl Iterator<Item = &Recorded> {
        self.recorded
            .iter()
            .filter(move |recorded| recorded.match_id == *match_id)
    }
}

fn misfit<E>(log: &AgentLog<E>, entry: &Entry<E>, what: &'static str, why: String) -> Fault {
    Fault {
        file: log.store.clone(),
        stream: log.stream.clone(),
        seq: entry.seq,
        at: entry.at,
        what: SmolStr::new_static(what),
        why,
    }
}

/// A referee by itself: every result is of a match that it was given, scores as the rules say, and draws what it had bound
/// itself to.
pub(super) fn referee(
    log: &AgentLog<RefereeEvent>,
    findings: &mut AgentFindings,
) -> Result<(), Fault> {
    let mut given: BTreeMap<MatchId, Arc<Assignment>> = BTreeMap::new();
    let mut decided = BTreeSet::new();
    for entry in &log.entries {
        match &entry.event {
            RefereeEvent::Assigned { assignment } => {
                given.insert(assignment.match_id.clone(), assignment.clone());
            }
            RefereeEvent::Decided {
                match_id,
                attempt,
                result,
            } => {
                let assignment = given
                    .get(match_id)
                    .filter(|assignment| assignment.attempt == *attempt);
                let checked = match assignment {
                    Some(assignment) => check_result(assignment, result),
                    None => Err(format!(
                        "attempt {attempt} at {match_id} was never given to it"
                    )),
                };
                match checked.map_err(|why| misfit(log, entry, "decided", why))? {
                    Draw::None => {}
                    Draw::Proven => findings.draws_proven += 1,
                    Draw::Unproven => findings.draws_unproven += 1,
                }
                findings.results += 1;
                decided.insert((match_id.clone(), *attempt));
            }
            RefereeEvent::Reported { match_id, attempt }
                if !decided.contains(&(match_id.clone(), *attempt)) =>
            {
                let why =
                    format!("attempt {attempt} at {match_id} was reported before it was decided");
                return Err(misfit(log, entry, "reported", why));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_result(assignment: &Assignment, result: &MatchResult) -> Result<Draw, String> {
    let played = Played::as_assigned(assignment);
    let status = status_of(result);
    result::check_score(&played, status, result)?;
    moves::check(&played, status, result)?;
    let draw = result::check_draw(&played, status, result)?;
    signatures::check(&played, result)?;
    match &result.details.fairness {
        Some(reveal) if reveal.commitment != assignment.commitment() => {
            Err("the number was drawn from another secret than that of the assignment".into())
        }
        _ => Ok(draw),
    }
}

/// A referee against the manager: what was recorded in its name is what it decided, and what it knows to be recorded is.
pub(super) fn compare_referee(
    log: &AgentLog<RefereeEvent>,
    manager: ManagerRecord<'_>,
    findings: &mut AgentFindings,
) -> Result<(), Fault> {
    let own = DecidedBy::Referee(RefereeId::new(log.id()));
    let mut decided: BTreeMap<(&MatchId, Attempt), &MatchResult> = BTreeMap::new();
    for entry in &log.entries {
        match &entry.event {
            RefereeEvent::Decided {
                match_id,
                attempt,
                result,
            } => {
                decided.insert((match_id, *attempt), result);
            }
            RefereeEvent::Reported { match_id, attempt } => {
                let mut recorded = manager.of_match(match_id);
                if !recorded.any(|recorded| recorded.by == own && recorded.attempt == *attempt) {
                    let why = format!(
                        "the manager acknowledged this result of {match_id}, but its store does not have it"
                    );
                    return Err(misfit(log, entry, "reported", why));
                }
            }
            _ => {}
        }
    }
    for recorded in manager
        .recorded
        .iter()
        .filter(|recorded| recorded.by == own)
    {
        let match_id = &recorded.match_id;
        let attempt = recorded.attempt;
        let why = match decided.get(&(match_id, attempt)) {
            Some(result) if is_equal(result, &recorded.result) => {
                findings.agreeing += 1;
                continue;
            }
            Some(_) => format!("the store of {} has another result of {match_id}", log.id()),
            None => format!("the store of {} has no result of {match_id}", log.id()),
        };
        let what = SmolStr::new_static("match_decided");
        let seq = recorded.seq;
        let at = recorded.at;
        return Err(Fault {
            file: manager.file.cloned(),
            stream: Stream::league(),
            seq,
            at,
            what,
            why,
        });
    }
    Ok(())
}

/// As messages: on their way through JSON, players may have changed places.
fn is_equal(one: &MatchResult, other: &MatchResult) -> bool {
    let value = |result| serde_json::to_value(result).ok();
    value(one) == value(other)
}

/// A player by itself: what it was told, and what it found of the draws.
pub(super) fn player(
    log: &AgentLog<PlayerEvent>,
    findings: &mut AgentFindings,
) -> Result<(), Fault> {
    for entry in &log.entries {
        let PlayerEvent::Finished { game, .. } = &entry.event else {
            continue;
        };
        findings.results += 1;
        match game.draw {
            DrawCheck::NotPromised => {}
            DrawCheck::Proven => findings.draws_proven += 1,
            DrawCheck::Unproven => findings.draws_unproven += 1,
            DrawCheck::Broken => {
                let why =
                    "the player found that the number does not match the referee's commitment"
                        .to_owned();
                return Err(misfit(log, entry, "finished", why));
            }
        }
    }
    Ok(())
}

/// A player against the manager. It may have heard the result of an attempt that did not count in the end, so that another
/// result is worth telling, and no fault.
pub(super) fn compare_player(
    log: &AgentLog<PlayerEvent>,
    manager: ManagerRecord<'_>,
    findings: &mut AgentFindings,
) -> Vec<String> {
    let own = PlayerId::new(log.id());
    let mut otherwise = Vec::new();
    for entry in &log.entries {
        let PlayerEvent::Finished { game, .. } = &entry.event else {
            continue;
        };
        if manager
            .of_match(&game.match_id)
            .any(|recorded| is_same(&own, game, &recorded.result))
        {
            findings.agreeing += 1;
        } else {
            otherwise.push(game.match_id.to_string());
        }
    }
    if otherwise.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "{own} received another result than the manager has, or one that the manager does not have, of {}: it may be of an attempt \
         that did not count",
        otherwise.join(", ")
    )]
}

fn is_same(own: &PlayerId, game: &PastGame, result: &MatchResult) -> bool {
    let points = result.score.get(own).copied().unwrap_or(0);
    match game.outcome {
        Outcome::Win => result.winner.as_ref() == Some(own),
        Outcome::Draw => result.winner.is_none() && points > 0,
        Outcome::Loss => result.winner.as_ref() != Some(own) && points == 0,
    }
}

/// The key that the manager has for a player.
pub(super) fn registered_key(manager: ManagerRecord<'_>, player: &str) -> Option<PublicKey> {
    manager
        .league
        .players
        .get(&PlayerId::new(player))?
        .meta
        .public_key
}

/// Whether an agent was in the manager's league, so that the two can be compared.
pub(super) fn can_compare<E>(log: &AgentLog<E>, manager: ManagerRecord<'_>) -> bool {
    log.identity
        .as_ref()
        .is_some_and(|identity| is_known(manager.league, identity))
}
