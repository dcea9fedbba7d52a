//! Checking a stored league without trusting anyone who ran it: the chain of hashes, and every event against the league
//! as it stood when the event was written down. Pure, but for [`verify_file`], which reads the file.
//!
//! # Layout
//! - `audit`: each kind of event, against the state that it was applied to
//! - `schedule`, `result`: is it a round robin; is it a result that the rules can bring about, and is its draw proven
//! - `report`: the findings, for people
//!
//! The checks are written anew here rather than shared with the manager: one mistake must not pass both.

mod audit;
mod report;
pub(super) mod result;
mod schedule;

use super::chain::{self, Hash};
use super::error::StoreError;
use super::writer::time_of;
use super::{Store, Stored, Stream, words};
use audit::Auditor;
use matchday_core::league::LeagueEvent;
use matchday_core::log;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{Phase, StandingRow};
use matchday_core::protocol::{LeagueId, PlayerId, Timestamp};
use matchday_core::referee::RefereeEvent;
use serde::Serialize;
use serde::de::DeserializeOwned;
use smol_str::SmolStr;
use std::path::Path;

/// What was found. Printed, it is a report for people.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    /// Events that fit, of all streams.
    pub events: u64,
    pub streams: u64,
    pub league_id: Option<LeagueId>,
    /// Matches that have their result.
    pub matches: u64,
    pub matches_scheduled: u64,
    /// Draws that follow from what the referee bound itself to before anyone chose.
    pub draws_proven: u64,
    /// Draws for which the referee has offered no proof.
    pub draws_unproven: u64,
    /// The table as the results make it; up to the fault, if there is one.
    pub table: Vec<StandingRow>,
    /// Who has won, if the league is over.
    pub champion: Option<PlayerId>,
    /// Whether the league was ended with matches still to play, as the operator may.
    pub ended_early: bool,
    /// The last hash of the league's stream, in hexadecimal digits: it stands for all of it.
    pub head: Option<String>,
    /// The first event that does not fit.
    pub fault: Option<Fault>,
}

/// An event that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub stream: Stream,
    pub seq: u64,
    #[serde(with = "matchday_core::protocol::time::exact")]
    pub at: Timestamp,
    /// The kind of the event, `match_decided`.
    pub what: SmolStr,
    pub why: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stream, seq, at, what, why } = self;
        write!(f, "event {seq} of {stream} ({what}, {}): {why}", words::of_time(*at))
    }
}

/// Checks a store from end to end.
pub fn verify_file(path: &Path) -> Result<Verification, StoreError> {
    let reader = Store::open_read_only(path)?;
    let mut streams = Vec::new();
    for stream in reader.streams()? {
        let events = reader.load(&stream)?;
        streams.push((stream, events));
    }
    Ok(verify(streams))
}

/// Checks streams of events, the league's among them. Everything up to the first fault is counted.
pub fn verify(streams: impl IntoIterator<Item = (Stream, Vec<Stored>)>) -> Verification {
    let mut auditor = Auditor::default();
    let mut found = Verification {
        events: 0,
        streams: 0,
        league_id: None,
        matches: 0,
        matches_scheduled: 0,
        draws_proven: 0,
        draws_unproven: 0,
        table: Vec::new(),
        champion: None,
        ended_early: false,
        head: None,
        fault: None,
    };
    for (stream, events) in streams {
        found.streams += 1;
        let mut before = chain::genesis(&stream);
        let (mut good, mut fault) = (0, None);
        for (seq, stored) in (1..).zip(&events) {
            match check(&mut auditor, &stream, seq, &before, stored) {
                Ok(()) => good += 1,
                Err(why) => {
                    let what = kind(&stored.line);
                    fault = Some(Fault { stream: stream.clone(), seq: stored.seq, at: stored.at, what, why });
                    break;
                }
            }
            before = stored.hash;
        }
        found.events += good;
        if stream == Stream::league() {
            found.head = Some(before.to_string());
        }
        found.fault = found.fault.or(fault);
    }
    auditor.report(&mut found);
    found
}

fn check(
    auditor: &mut Auditor,
    stream: &Stream,
    seq: u64,
    before: &Hash,
    stored: &Stored,
) -> Result<(), String> {
    if stored.seq != seq {
        return Err(format!("event {seq} should stand here: one is missing"));
    }
    if stored.hash != chain::link(before, stream, seq, &stored.line) {
        return Err(
            "its hash does not follow from its text and the event before: one of them was changed".into()
        );
    }
    let at = match stream.0.split('/').next() {
        Some("league") => {
            let (at, event) = log::read::<LeagueEvent>(&stored.line).map_err(|error| error.to_string())?;
            auditor.take(at, &event)?;
            at
        }
        Some("referee") => readable::<RefereeEvent>(&stored.line)?,
        Some("player") => readable::<PlayerEvent>(&stored.line)?,
        _ => time_of(&stored.line).map_err(|error| format!("not an event: {error}"))?,
    };
    if at != stored.at {
        return Err(format!("it is filed under {:?}, and says {at:?} itself", stored.at));
    }
    Ok(())
}

fn readable<E: DeserializeOwned>(line: &str) -> Result<Timestamp, String> {
    log::read::<E>(line).map(|(at, _)| at).map_err(|error| error.to_string())
}

/// What an event calls itself.
fn kind(line: &str) -> SmolStr {
    let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    let named = value.get("event").and_then(|event| event.get("type")).and_then(|kind| kind.as_str());
    named.map_or(SmolStr::new_static("unreadable"), SmolStr::new)
}

impl Auditor {
    fn report(self, found: &mut Verification) {
        let league = self.league();
        found.league_id = league.created.then(|| league.settings.league_id.clone());
        found.matches = u64::from(league.matches_decided);
        found.matches_scheduled = league.matches.len() as u64;
        found.table = league.rows().to_vec();
        found.champion = league.champion.clone();
        found.ended_early = league.phase == Phase::Completed && found.matches < found.matches_scheduled;
        found.draws_proven = self.draws.values().filter(|proven| **proven).count() as u64;
        found.draws_unproven = self.draws.values().filter(|proven| !**proven).count() as u64;
    }
}
