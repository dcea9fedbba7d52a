//! Checking a stored league without trusting anyone who ran it: the chain of hashes, and every event against the league
//! as it stood when the event was written down. Pure, but for [`verify_file`], which reads the file.
//!
//! # Layout
//! - `audit`: each kind of event, against the state that it was applied to
//! - `schedule`, `result`: is it a round robin; is it a result that the rules can bring about, and is its draw proven
//! - `moves`, `signatures`: does a match end so when it is played over, and have its players signed these moves?
//! - `agents`: what referees and players wrote down; `compare`: it, and the manager's events, side by side;
//!   `claims`, `contradiction`: what a referee says of a player, and the player's own word; `own_signatures`: what the player
//!   signed
//! - `checkpoints`: the head of the chain as the manager signed it; `notes`: all heads that are at hand, side by side
//! - `report`: the findings, for people
//! - [`history`]: what several processes did to one store at once, against the log that they left
//!
//! Draws, scores and tables are recomputed by code of their own, since one mistake must not pass both this and the manager; what
//! must be proven, and whether it is, is the manager's own check: one rule cannot be two.

mod agents;
mod audit;
mod checkpoints;
mod claims;
mod compare;
mod contradiction;
mod drawing;
pub mod history;
mod moves;
mod notes;
mod own_signatures;
mod report;
pub(super) mod result;
mod schedule;
mod signatures;

use crate::describe;
use audit::Auditor;
pub use checkpoints::{ExternalCheckpoint, LastCheckpoint};
use contradiction::AllegedSilence;
use matchday_core::event_codec;
use matchday_core::league::fixture::Decision;
use matchday_core::league::{League, LeagueEvent, ResultProof};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{Phase, StandingRow};
use matchday_core::protocol::{LeagueId, MatchId, PlayerId, Timestamp};
use matchday_core::referee::RefereeEvent;
use matchday_store::StoreUrl;
use matchday_store::batch::Stored;
use matchday_store::chain::{self, Hash};
use matchday_store::error::StoreError;
use matchday_store::handle::Store;
use matchday_store::leagues::NO_LEAGUE;
use matchday_store::reader::Reader;
use matchday_store::stream::Stream;
pub use notes::{Evidence, PlacedNote};
use result::Played;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use smol_str::SmolStr;

/// What was found. Printed, it is a report for people.
#[derive(Debug, Clone, Default, Serialize)]
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
    /// Matches of many moves that end as their result says when they are played over.
    pub matches_replayed: u64,
    /// Those whose moves the referee has not told.
    pub matches_untold: u64,
    /// Results that are more than a referee's word.
    pub results_proven: u64,
    /// The matches whose result is a referee's word, although a player in it had a key.
    pub unproven: Vec<MatchId>,
    /// Whether agents needed no tokens, so that anybody on the machine could have spoken for them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tokens_optional: bool,
    /// The table as the results make it; up to the fault, if there is one.
    pub table: Vec<StandingRow>,
    /// Who has won, if the league is over.
    pub champion: Option<PlayerId>,
    /// Whether the league was ended with matches still to play, as the operator may.
    pub ended_early: bool,
    /// The last hash of the league's stream, in hexadecimal digits: it stands for all of it.
    pub head: Option<String>,
    /// How many checkpoints the manager has signed, and the last of them.
    pub checkpoints: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_checkpoint: Option<LastCheckpoint>,
    /// What the checkpoints cover that were kept elsewhere and fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_checkpoints: Vec<String>,
    /// How many checkpoints in players' stores fit.
    pub players_checkpoints: u64,
    /// Why the first checkpoint that does not fit does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_fault: Option<String>,
    /// Two checkpoints of which the manager has signed both, though no log has both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equivocation: Option<[PlacedNote; 2]>,
    /// What the referees' own events say.
    pub referees: AgentFindings,
    /// What the players' own events say.
    pub players: AgentFindings,
    /// Stored messages. They are outside the chain, so that nothing here proves them.
    pub messages: u64,
    /// What could not be checked, and why.
    pub not_checked: Vec<String>,
    /// What was promised, or asked for, and could not be checked.
    pub unconfirmed: Vec<String>,
    /// The other leagues of the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Verification>,
    /// The first event that does not fit, of this league or another.
    pub fault: Option<Fault>,
}

/// What a verification comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Verified: no contradictions.
    Fits,
    /// Something contradicts something else.
    Contradicted,
    /// Nothing contradicts, but a result is unproven although a player in it had a key, or something that was promised cannot
    /// be checked.
    NotAllProven,
}

/// What was found in the logs of agents of one role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentFindings {
    pub agents: Vec<String>,
    /// Results that referees came to, or that players were told.
    pub results: u64,
    pub draws_proven: u64,
    pub draws_unproven: u64,
    /// Results that are what the manager has recorded; of use only if its events are there too.
    pub agreeing: u64,
}

/// An event that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The store that it is in, if there are several.
    pub file: Option<StoreUrl>,
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
        let Self {
            file,
            stream,
            seq,
            at,
            what,
            why,
        } = self;
        write!(f, "event {seq} of {stream}")?;
        if let Some(file) = file {
            write!(f, " in {file}")?;
        }
        write!(f, " ({what}, {}): {why}", describe::time(*at))
    }
}

/// Whether the draw of a match is proven: `proven`, `unproven`, or why it is wrong; `None` if there was none.
pub fn draw_proof(league: &League, match_id: &MatchId) -> Option<String> {
    let game = league.matches.get(match_id)?;
    let Decision {
        attempt,
        status,
        result,
        ..
    } = game.decision.as_ref()?;
    result::proof(
        &Played::in_league(league, match_id, game, *attempt),
        *status,
        result,
    )
}

/// The events of one stream, and the file they came from.
#[derive(Debug)]
struct Source {
    /// As it is named in a report: not at all, where there is but one.
    file: Option<StoreUrl>,
    store: StoreUrl,
    /// The number under which the store keeps it.
    league: u32,
    stream: Stream,
    events: Vec<Stored>,
}

impl Source {
    fn is_league(&self) -> bool {
        self.stream.role() == "league"
    }
}

/// Checks a store from end to end.
pub fn verify_file(store: impl Into<StoreUrl>) -> Result<Verification, StoreError> {
    verify_files(&[store.into()])
}

/// Checks stores from end to end, and whether they agree. At most one may hold a league.
pub fn verify_files(stores: &[StoreUrl]) -> Result<Verification, StoreError> {
    verify_league(stores, None, &Evidence::default())
}

/// Checks stores, with the league of this name rather than the latest as the main one. Every league is checked; the agents'
/// events are compared with the main one, and each checkpoint that was kept elsewhere with its league.
pub fn verify_league(
    stores: &[StoreUrl],
    league_id: Option<&LeagueId>,
    evidence: &Evidence,
) -> Result<Verification, StoreError> {
    let mut sources = Vec::new();
    let mut others = Vec::new();
    let mut messages = 0;
    let mut service_fault = None;
    let mut name = None;
    let mut held: Vec<Option<Result<String, String>>> = vec![None; evidence.checkpoints.len()];
    for url in stores {
        let mut reader = Store::open_read_only(url)?.choose(league_id)?;
        reader.rows.check_whole()?;
        messages += reader.exchanges_count()?;
        let own = load_sources(&reader, stores.len() > 1)?;
        let first = sources.iter().find(|source: &&Source| source.is_league());
        if let Some(first) = first.filter(|_| own.iter().any(Source::is_league)) {
            return Err(StoreError::TwoLeagues(first.store.clone(), url.clone()));
        }
        sources.extend(own);
        let chosen = reader.league_number();
        for league in reader.leagues()? {
            if league.number == chosen {
                name = name.or(league.id);
                continue;
            }
            reader = reader.in_league(league.number);
            messages += reader.exchanges_count()?;
            let mut other = load_sources(&reader, stores.len() > 1)?;
            // Agents of no single league are compared with the main one.
            other.retain(|source| source.league == league.number);
            for (held, kept) in held.iter_mut().zip(&evidence.checkpoints) {
                *held = held.take().or_else(|| checkpoints::hold(kept, &other));
            }
            let mut found = audit_all(&other, &Evidence::default()).0;
            found.league_id = found.league_id.or(league.id);
            others.push(found);
        }
        let service = load_sources(&reader.in_league(NO_LEAGUE), stores.len() > 1)?;
        service_fault = service_fault.or(audit_all(&service, &Evidence::default()).0.fault);
    }
    if let Some(first) = stores.first().filter(|_| league_id.is_some())
        && !sources.iter().any(Source::is_league)
    {
        return Err(StoreError::NoLeague(first.clone()));
    }
    let (mut found, silences) = audit_all(&sources, evidence);
    for (held, kept) in held.into_iter().zip(&evidence.checkpoints) {
        // The audit has judged those of the main league.
        if checkpoints::hold(kept, &sources).is_some() {
            continue;
        }
        match held.unwrap_or_else(|| Err(checkpoints::no_such_league(kept))) {
            Ok(covers) => found.kept_checkpoints.push(covers),
            Err(why) => found.note_checkpoint_fault(format!("{}: {why}", kept.place())),
        }
    }
    // A league whose first event does not fit is named as that event names it.
    found.league_id = found.league_id.or(name);
    for silence in silences {
        if silence.is_disproved()? {
            found.fault = found.fault.or(Some(silence.fault));
        }
    }
    found.messages = messages;
    found.others = others;
    let fault = found.others.iter().find_map(|other| other.fault.clone());
    found.fault = found.fault.or(fault).or(service_fault);
    Ok(found)
}

/// The streams of the reader's league.
fn load_sources(reader: &Reader, is_named: bool) -> Result<Vec<Source>, StoreError> {
    // Where there is but one file, there is no need to say which.
    let store = reader.url();
    let file = is_named.then(|| store.clone());
    let streams = reader
        .numbered_streams()?
        .into_iter()
        .map(|(stream, league)| {
            let events = reader.load(&stream)?;
            Ok(Source {
                file: file.clone(),
                store: store.clone(),
                league,
                stream,
                events,
            })
        });
    streams.collect()
}

/// Checks streams of events, the league's among them. Everything up to the first fault is counted.
pub fn verify(streams: impl IntoIterator<Item = (Stream, Vec<Stored>)>) -> Verification {
    let unnamed = |(stream, events)| Source {
        file: None,
        store: StoreUrl::Memory,
        league: 1,
        stream,
        events,
    };
    let sources: Vec<Source> = streams.into_iter().map(unnamed).collect();
    audit_all(&sources, &Evidence::default()).0
}

fn audit_all(sources: &[Source], evidence: &Evidence) -> (Verification, Vec<AllegedSilence>) {
    let mut auditor = Auditor::default();
    let mut found = Verification::default();
    for source in sources {
        let (events, head, fault) = check_stream(&mut auditor, source);
        found.streams += 1;
        found.events += events;
        if source.is_league() {
            found.head = Some(head.to_string());
        }
        let fault = match fault {
            None if source.is_league() => checkpoints::check(source, &mut found),
            other => other,
        };
        found.fault = found.fault.or(fault);
    }
    // What the chain does not vouch for is not worth comparing.
    let (silences, kept) = if found.fault.is_none() {
        compare::all(sources, &auditor, &mut found)
    } else {
        Default::default()
    };
    let league = sources.iter().find(|source| source.is_league());
    notes::judge(league, &kept, evidence, &mut found);
    auditor.report(&mut found);
    (found, silences)
}

/// How many events of a stream fit, the hash of the last, and the first that does not fit.
fn check_stream(auditor: &mut Auditor, source: &Source) -> (u64, Hash, Option<Fault>) {
    let Source {
        file,
        stream,
        events,
        ..
    } = source;
    let mut before = chain::genesis(stream);
    let mut good = 0;
    for (seq, stored) in (1..).zip(events) {
        if let Err(why) = check(auditor, stream, seq, &before, stored) {
            let what = kind(&stored.line);
            let stream = stream.clone();
            let fault = Fault {
                file: file.clone(),
                stream,
                seq: stored.seq,
                at: stored.at,
                what,
                why,
            };
            return (good, before, Some(fault));
        }
        good += 1;
        before = stored.hash;
    }
    (good, before, None)
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
            "its hash does not follow from its text and the event before: one of them was changed"
                .into(),
        );
    }
    let at = match stream.role() {
        "league" => {
            let (at, event) = event_codec::decode::<LeagueEvent>(&stored.line)
                .map_err(|error| error.to_string())?;
            auditor.take(seq, at, &event)?;
            at
        }
        "referee" => readable::<RefereeEvent>(&stored.line)?,
        "player" => readable::<PlayerEvent>(&stored.line)?,
        _ => readable::<IgnoredAny>(&stored.line)?,
    };
    if at != stored.at {
        return Err(format!(
            "it is stored under {:?}, but its text says {at:?}",
            stored.at
        ));
    }
    Ok(())
}

fn readable<E: DeserializeOwned>(line: &str) -> Result<Timestamp, String> {
    event_codec::decode::<E>(line)
        .map(|(at, _)| at)
        .map_err(|error| error.to_string())
}

/// What an event calls itself.
fn kind(line: &str) -> SmolStr {
    let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    let named = value
        .get("event")
        .and_then(|event| event.get("type"))
        .and_then(|kind| kind.as_str());
    named.map_or(SmolStr::new_static("unreadable"), SmolStr::new)
}

impl Verification {
    /// Whether nothing was found that does not fit.
    pub fn is_good(&self) -> bool {
        self.fault.is_none() && self.checkpoint_fault.is_none() && self.equivocation.is_none()
    }

    fn note_checkpoint_fault(&mut self, why: String) {
        self.checkpoint_fault.get_or_insert(why);
    }

    /// What was found in all leagues of the stores, in one word.
    pub fn verdict(&self) -> Verdict {
        let is_open = |league: &Self| !league.unproven.is_empty() || !league.unconfirmed.is_empty();
        match self.is_good() {
            false => Verdict::Contradicted,
            true if is_open(self) || self.others.iter().any(is_open) => Verdict::NotAllProven,
            true => Verdict::Fits,
        }
    }
}

impl Auditor {
    fn report(self, found: &mut Verification) {
        let league = self.league();
        found.league_id = league.created.then(|| league.settings.league_id.clone());
        found.tokens_optional = !league.settings.tokens.is_required();
        found.matches = u64::from(league.matches_decided);
        found.matches_scheduled = league.matches.len() as u64;
        found.table = league.rows().to_vec();
        found.champion = league.champion.clone();
        found.ended_early =
            league.phase == Phase::Completed && found.matches < found.matches_scheduled;
        found.matches_replayed = self.replays.values().filter(|agrees| **agrees).count() as u64;
        found.matches_untold = self.replays.values().filter(|agrees| !**agrees).count() as u64;
        let decided = league
            .matches
            .iter()
            .filter_map(|(id, game)| Some((id, game.decision.as_ref()?.proof)));
        found.results_proven = decided
            .clone()
            .filter(|(_, proof)| *proof == ResultProof::Proven)
            .count() as u64;
        let unproven = decided.filter(|(_, proof)| *proof == ResultProof::Unproven);
        found.unproven = unproven.map(|(id, _)| id.clone()).collect();
        found.draws_proven = self.draws.values().filter(|proven| **proven).count() as u64;
        found.draws_unproven = self.draws.values().filter(|proven| !**proven).count() as u64;
    }
}
