//! A league or a match as a timeline that a person can follow: what was sent, when, what came back, how long it took,
//! and why it ended as it did. Pure: from what was recorded to text.
//!
//! # Layout
//! - `one_match`: a match, from all that the stores at hand tell of it
//! - `exchanges`: messages and answers, those that both sides recorded put together
//! - `outcome`: why it ended as it did
//! - `gaps`: what is missing here, and which store holds it

mod exchanges;
mod gaps;
mod one_match;
mod outcome;

use super::chronicle::Chronicle;
use super::diary::{Diary, Own};
use super::error::StoreError;
use super::history::History;
use super::words;
use matchday_core::protocol::untrusted::escape_line;
use matchday_core::protocol::{MatchId, Timestamp};

pub(super) use exchanges::answer_gist;
pub(crate) use exchanges::{Names, paired};
pub(crate) use gaps::absent_referees;
pub(crate) use one_match::happened;
pub(super) use outcome::decided;
pub(crate) use outcome::fault;

/// The timeline of a match, or of the whole league in brief. Without the manager's store, that of its agents.
pub fn replay(chronicle: &Chronicle, match_id: Option<&MatchId>) -> Result<String, StoreError> {
    match (match_id, &chronicle.league) {
        (None, Some(history)) => Ok(of_league(history)),
        (None, None) => Ok(of_agents(chronicle)),
        (Some(match_id), _) => match one_match::tell(chronicle, match_id)? {
            Some(text) => Ok(text),
            None => Err(no_match(chronicle, match_id)),
        },
    }
}

/// Why there is nothing to tell of a match.
pub(super) fn no_match(chronicle: &Chronicle, match_id: &MatchId) -> StoreError {
    if chronicle.league.is_some() {
        return StoreError::NoMatch(match_id.clone());
    }
    let known: Vec<String> = chronicle.matches().iter().map(ToString::to_string).collect();
    let known = match known.as_slice() {
        [] => "it has no match at all".to_owned(),
        [only] => format!("its only match is {only}"),
        [first, .., last] => format!("it has {} matches, from {first} to {last}", known.len()),
    };
    StoreError::NotItsMatch { who: tellers(chronicle), match_id: match_id.clone(), known }
}

/// `REF01`, `REF01 and P02`: whose own stores these are.
fn tellers(chronicle: &Chronicle) -> String {
    let referees = chronicle.referees.iter().map(Diary::id);
    let names: Vec<&str> = referees.chain(chronicle.players.iter().map(Diary::id)).collect();
    match names.as_slice() {
        [] => "a store without events".to_owned(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Everything that happened to a league, one line each.
fn of_league(history: &History) -> String {
    let events = history.entries.iter();
    in_seconds(events.map(|entry| (entry.at, words::of_event(&entry.event))).collect())
}

/// Everything that agents wrote down for themselves, one line each.
fn of_agents(chronicle: &Chronicle) -> String {
    let mut lines: Vec<(Timestamp, String)> = chronicle.referees.iter().flat_map(told).collect();
    lines.extend(chronicle.players.iter().flat_map(told));
    lines.sort_by_key(|(at, _)| *at);
    in_seconds(lines)
}

fn told<E: Own>(diary: &Diary<E>) -> impl Iterator<Item = (Timestamp, String)> {
    diary.entries.iter().map(|note| (note.at, format!("{} {}", diary.id(), note.event.words())))
}

fn in_seconds(lines: Vec<(Timestamp, String)>) -> String {
    let Some((zero, _)) = lines.first() else { return "nothing has happened yet\n".into() };
    let zero = *zero;
    let mut text = format!("times in seconds after {}\n\n", words::of_time(zero));
    for (at, line) in lines {
        let seconds = milliseconds(at, zero) / 1000.0;
        text.push_str(&format!("{seconds:>10.3}  {}\n", escape_line(&line)));
    }
    text
}

fn milliseconds(at: Timestamp, zero: Timestamp) -> f64 {
    at.as_micros().saturating_sub(zero.as_micros()) as f64 / 1000.0
}
