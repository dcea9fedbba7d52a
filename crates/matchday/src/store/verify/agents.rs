//! What referees and players wrote down, by itself and against what the manager has recorded. Pure.
//!
//! A referee's store has its assignments with the secrets of their draws, and its results: those can be checked as they
//! stand. A player's has only what it was told. Whether anyone was believed, only the manager's store can say.

use super::moves;
use super::result::{self, Draw, Played};
use super::signatures;
use super::{Fault, Told};
use crate::store::Stream;
use crate::store::chronicle::is_known;
use crate::store::diary::{Diary, Note};
use crate::store::words::status_of;
use matchday_core::league::{DecidedBy, League};
use matchday_core::player::PlayerEvent;
use matchday_core::player::memory::{DrawCheck, Outcome, PastGame};
use matchday_core::protocol::messages::MatchResult;
use matchday_core::protocol::{Attempt, MatchId, PlayerId, RefereeId, Timestamp};
use matchday_core::referee::{Assignment, RefereeEvent};
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
pub(super) struct Book<'a> {
    pub(super) file: &'a Path,
    pub(super) league: &'a League,
    pub(super) recorded: &'a [Recorded],
}

impl Book<'_> {
    fn of_match(&self, match_id: &MatchId) -> impl Iterator<Item = &Recorded> {
        self.recorded.iter().filter(move |recorded| recorded.match_id == *match_id)
    }
}

fn misfit<E>(diary: &Diary<E>, note: &Note<E>, what: &'static str, why: String) -> Fault {
    Fault {
        file: diary.file.clone(),
        stream: diary.stream.clone(),
        seq: note.seq,
        at: note.at,
        what: SmolStr::new_static(what),
        why,
    }
}

/// A referee by itself: every result is of a match that it was given, scores as the rules say, and draws what it had bound
/// itself to.
pub(super) fn referee(diary: &Diary<RefereeEvent>, told: &mut Told) -> Result<(), Fault> {
    let mut given: BTreeMap<MatchId, Arc<Assignment>> = BTreeMap::new();
    let mut decided = BTreeSet::new();
    for note in &diary.entries {
        match &note.event {
            RefereeEvent::Assigned { assignment } => {
                given.insert(assignment.match_id.clone(), assignment.clone());
            }
            RefereeEvent::Decided { match_id, attempt, result } => {
                let assignment = given.get(match_id).filter(|assignment| assignment.attempt == *attempt);
                let checked = match assignment {
                    Some(assignment) => check_result(assignment, result),
                    None => Err(format!("attempt {attempt} at {match_id} was never given to it")),
                };
                match checked.map_err(|why| misfit(diary, note, "decided", why))? {
                    Draw::None => {}
                    Draw::Proven => told.draws_proven += 1,
                    Draw::Unproven => told.draws_unproven += 1,
                }
                told.results += 1;
                decided.insert((match_id.clone(), *attempt));
            }
            RefereeEvent::Reported { match_id, attempt }
                if !decided.contains(&(match_id.clone(), *attempt)) =>
            {
                let why = format!("attempt {attempt} at {match_id} was reported before it was decided");
                return Err(misfit(diary, note, "reported", why));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_result(assignment: &Assignment, result: &MatchResult) -> Result<Draw, String> {
    let (played, status) = (Played::as_assigned(assignment), status_of(result));
    result::check_score(&played, status, result)?;
    moves::check(&played, status, result)?;
    let draw = result::check_draw(&played, status, result)?;
    signatures::check(&played, result)?;
    match &result.details.fairness {
        Some(reveal) if reveal.commitment != assignment.commitment() => {
            Err("the draw was made from another secret than that of the assignment".into())
        }
        _ => Ok(draw),
    }
}

/// A referee against the manager: what was recorded in its name is what it decided, and what it knows to be recorded is.
pub(super) fn compare_referee(
    diary: &Diary<RefereeEvent>,
    book: Book<'_>,
    told: &mut Told,
) -> Result<(), Fault> {
    let own = DecidedBy::Referee(RefereeId::new(diary.id()));
    let mut decided: BTreeMap<(&MatchId, Attempt), &MatchResult> = BTreeMap::new();
    for note in &diary.entries {
        match &note.event {
            RefereeEvent::Decided { match_id, attempt, result } => {
                decided.insert((match_id, *attempt), result);
            }
            RefereeEvent::Reported { match_id, attempt } => {
                let mut recorded = book.of_match(match_id);
                if !recorded.any(|recorded| recorded.by == own && recorded.attempt == *attempt) {
                    let why = format!(
                        "the manager acknowledged this result of {match_id}, and its store does not have it"
                    );
                    return Err(misfit(diary, note, "reported", why));
                }
            }
            _ => {}
        }
    }
    for recorded in book.recorded.iter().filter(|recorded| recorded.by == own) {
        let (match_id, attempt) = (&recorded.match_id, recorded.attempt);
        let why = match decided.get(&(match_id, attempt)) {
            Some(result) if is_equal(result, &recorded.result) => {
                told.agreeing += 1;
                continue;
            }
            Some(_) => format!("{} decided {match_id} otherwise, by its own store", diary.id()),
            None => format!("{} never decided {match_id}, by its own store", diary.id()),
        };
        let what = SmolStr::new_static("match_decided");
        let (seq, at) = (recorded.seq, recorded.at);
        return Err(Fault { file: book.file.to_owned(), stream: Stream::league(), seq, at, what, why });
    }
    Ok(())
}

/// As messages: on their way through JSON, players may have changed places.
fn is_equal(one: &MatchResult, other: &MatchResult) -> bool {
    let value = |result| serde_json::to_value(result).ok();
    value(one) == value(other)
}

/// A player by itself: what it was told, and what it found of the draws.
pub(super) fn player(diary: &Diary<PlayerEvent>, told: &mut Told) -> Result<(), Fault> {
    for note in &diary.entries {
        let PlayerEvent::Finished { game } = &note.event else { continue };
        told.results += 1;
        match game.draw {
            DrawCheck::NotPromised => {}
            DrawCheck::Proven => told.draws_proven += 1,
            DrawCheck::Unproven => told.draws_unproven += 1,
            DrawCheck::Broken => {
                let why = "the draw is not what the referee had promised, the player found".to_owned();
                return Err(misfit(diary, note, "finished", why));
            }
        }
    }
    Ok(())
}

/// A player against the manager. It may have heard the result of an attempt that did not count in the end, so that another
/// result is worth telling, and no fault.
pub(super) fn compare_player(diary: &Diary<PlayerEvent>, book: Book<'_>, told: &mut Told) -> Vec<String> {
    let own = PlayerId::new(diary.id());
    let mut otherwise = Vec::new();
    for note in &diary.entries {
        let PlayerEvent::Finished { game } = &note.event else { continue };
        if book.of_match(&game.match_id).any(|recorded| is_same(&own, game, &recorded.result)) {
            told.agreeing += 1;
        } else {
            otherwise.push(game.match_id.to_string());
        }
    }
    if otherwise.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "{own} was told another result than the manager has, or one it does not have, of {}: it may be of an attempt \
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

/// Whether an agent was in the manager's league, so that the two can be compared.
pub(super) fn can_compare<E>(diary: &Diary<E>, book: Book<'_>) -> bool {
    diary.name.as_ref().is_some_and(|name| is_known(book.league, name))
}
