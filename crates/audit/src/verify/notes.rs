//! Checkpoints from everywhere, those of the log itself, those that players keep and those that the caller holds: against the
//! log, against the key that the manager is known by, and against each other. Pure.

use super::checkpoints::{self, ExternalCheckpoint};
use super::{Fault, Source, Verification, kind};
use crate::agent_log::AgentLog;
use matchday_core::league::is_successor;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_core::signature::PublicKey;
use matchday_store::StoreUrl;
use matchday_store::entry::Entry;
use matchday_store::stream::Stream;
use serde::Serialize;
use smol_str::SmolStr;

/// What the caller has from elsewhere to hold a log against.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    pub checkpoints: Vec<ExternalCheckpoint>,
    /// The key of the manager.
    pub key: Option<PublicKey>,
}

/// A signed note, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedNote {
    pub place: String,
    pub note: String,
}

/// What players keep of the manager.
#[derive(Debug, Default)]
pub(super) struct KeptByPlayers {
    notes: Vec<(ExternalCheckpoint, StorePlace)>,
    /// The keys that the manager gave them when they registered.
    keys: Vec<(PublicKey, StorePlace)>,
}

/// An event in a player's store.
#[derive(Debug, Clone)]
struct StorePlace {
    player: String,
    file: Option<StoreUrl>,
    stream: Stream,
    seq: u64,
    at: Timestamp,
    what: &'static str,
}

impl StorePlace {
    fn of(log: &AgentLog<PlayerEvent>, entry: &Entry<PlayerEvent>, what: &'static str) -> Self {
        let file = log.store.clone();
        let stream = log.stream.clone();
        Self {
            player: log.id().to_owned(),
            file,
            stream,
            seq: entry.seq,
            at: entry.at,
            what,
        }
    }

    fn name(&self) -> String {
        place(self.file.as_ref(), &self.stream, self.seq)
    }

    fn fault(&self, why: String) -> Fault {
        let Self {
            file,
            stream,
            seq,
            at,
            what,
            ..
        } = self;
        let what = SmolStr::new_static(what);
        Fault {
            file: file.clone(),
            stream: stream.clone(),
            seq: *seq,
            at: *at,
            what,
            why,
        }
    }
}

/// `event 17 of player/1 in p1.db`
pub(super) fn place(file: Option<&StoreUrl>, stream: &Stream, seq: u64) -> String {
    match file {
        None => format!("event {seq} of {stream}"),
        Some(file) => format!("event {seq} of {stream} in {file}"),
    }
}

impl KeptByPlayers {
    /// What cannot be read as a checkpoint is a fault of the store that keeps it.
    pub(super) fn add(&mut self, log: &AgentLog<PlayerEvent>) {
        for entry in &log.entries {
            match &entry.event {
                PlayerEvent::CheckpointReceived { note } => {
                    let place = StorePlace::of(log, entry, "checkpoint_received");
                    let kept = ExternalCheckpoint::parse(&place.name(), note);
                    self.notes.extend(kept.ok().map(|kept| (kept, place)));
                }
                PlayerEvent::Registered { identity } => {
                    let place = StorePlace::of(log, entry, "enrolled");
                    self.keys
                        .extend(identity.manager_key.map(|key| (key, place)));
                }
                _ => {}
            }
        }
    }
}

/// The log of a league, and the keys by which its manager is known.
struct ManagerLog<'a> {
    source: &'a Source,
    league_id: LeagueId,
    origin: String,
    /// Every key that the log announces, with the number of its event.
    announced: Vec<(u64, PublicKey)>,
    /// Those that sign for the manager: all, or those that the expected key vouches for.
    accepted: Vec<PublicKey>,
    /// The log's own checkpoints.
    own: Vec<(u64, ExternalCheckpoint)>,
}

impl<'a> ManagerLog<'a> {
    fn read(source: &'a Source, expected: Option<&PublicKey>) -> Option<Self> {
        let (league_id, origin) = checkpoints::identity(source)?;
        let keys = checkpoints::announced_keys(source);
        let announced: Vec<_> = keys.iter().map(|(seq, key, _)| (*seq, *key)).collect();
        let own = checkpoints::own_notes(source);
        let mut log = Self {
            source,
            league_id,
            origin,
            announced,
            accepted: Vec::new(),
            own,
        };
        let Some(expected) = expected else {
            log.accepted = log.announced.iter().map(|(_, key)| *key).collect();
            return Some(log);
        };
        log.accepted.push(*expected);
        let mut before: Option<PublicKey> = None;
        for (_, key, signature) in &keys {
            let vouched = before
                .filter(|before| log.accepted.contains(before))
                .zip(signature.as_ref());
            if vouched.is_some_and(|(before, signature)| {
                is_successor(&before, &log.league_id, key, signature)
            }) {
                log.accepted.push(*key);
            }
            before = Some(*key);
        }
        // What a checkpoint under the expected key covers is the manager's, the keys that were announced there too.
        let covered = log
            .own
            .iter()
            .filter(|(_, note)| log.has_signed(note))
            .map(|(_, note)| note.size())
            .max();
        let earlier = log
            .announced
            .iter()
            .filter(|(seq, _)| Some(*seq) <= covered)
            .map(|(_, key)| *key);
        let earlier: Vec<_> = earlier.collect();
        log.accepted.extend(earlier);
        Some(log)
    }

    fn has_signed(&self, note: &ExternalCheckpoint) -> bool {
        self.accepted.iter().any(|key| note.is_signed_by(key))
    }

    fn holds(&self, note: &ExternalCheckpoint) -> Result<(), String> {
        checkpoints::compare(note, self.source, &self.origin)
    }

    /// The event up to which a checkpoint speaks, as far as it is here.
    fn fault(&self, size: u64, why: String) -> Option<Fault> {
        let last = usize::try_from(size.saturating_sub(1)).ok();
        let stored = last
            .and_then(|last| self.source.events.get(last))
            .or(self.source.events.last())?;
        let file = self.source.file.clone();
        let stream = self.source.stream.clone();
        Some(Fault {
            file,
            stream,
            seq: stored.seq,
            at: stored.at,
            what: kind(&stored.line),
            why,
        })
    }
}

/// Judges all checkpoints of the league in `source`, or if there is none those of the players among themselves.
pub(super) fn judge(
    source: Option<&Source>,
    kept: &KeptByPlayers,
    evidence: &Evidence,
    found: &mut Verification,
) {
    let Some(log) = source.and_then(|source| ManagerLog::read(source, evidence.key.as_ref()))
    else {
        return judge_without_log(kept, evidence, found);
    };
    if evidence.key.is_some() {
        check_own(&log, found);
    }
    check_given_keys(&log, kept, evidence.key.as_ref(), found);
    let own = log.own.iter().map(|(_, note)| note);
    let all: Vec<&ExternalCheckpoint> = own
        .chain(&evidence.checkpoints)
        .chain(kept.notes.iter().map(|(note, _)| note))
        .collect();
    let external = evidence.checkpoints.iter().map(|note| (note, None));
    let by_players = kept.notes.iter().map(|(note, place)| (note, Some(place)));
    for (note, place) in external
        .chain(by_players)
        .filter(|(note, _)| note.origin() == log.origin)
    {
        match (log.has_signed(note), log.holds(note), place) {
            (true, Ok(()), None) => {
                let signer = log.accepted.iter().find(|key| note.is_signed_by(key));
                found
                    .kept_checkpoints
                    .push(checkpoints::covers(note, log.source, signer));
            }
            (true, Ok(()), Some(_)) => found.players_checkpoints += 1,
            (true, Err(why), place) => {
                let other = all.iter().find(|other| contradicts(&log, other, note));
                if let Some(other) = other.filter(|_| found.equivocation.is_none()) {
                    found.equivocation = Some([other.placed(), note.placed()]);
                }
                match place {
                    None => found.note_checkpoint_fault(format!("{}: {why}", note.place())),
                    Some(place) => {
                        let why = format!(
                            "the manager has signed another log for {}, which keeps a checkpoint ({}): {why}",
                            place.player,
                            place.name()
                        );
                        found.fault = found.fault.take().or(log.fault(note.size(), why));
                    }
                }
            }
            (false, held, None) => {
                let why = held
                    .err()
                    .unwrap_or_else(|| not_signed(evidence.key.as_ref()).to_owned());
                found.note_checkpoint_fault(format!("{}: {why}", note.place()));
            }
            (false, held, Some(place)) => {
                let why = match held {
                    Ok(()) => {
                        format!(
                            "{}, though the log has what it covers",
                            not_signed(evidence.key.as_ref())
                        )
                    }
                    Err(why) => format!(
                        "{} says that the manager has sent this checkpoint, and the log says otherwise ({why}); {}, so \
                         that it decides nothing",
                        place.player,
                        not_signed(evidence.key.as_ref())
                    ),
                };
                found.fault = found.fault.take().or(Some(place.fault(why)));
            }
        }
    }
}

fn not_signed(expected: Option<&PublicKey>) -> &'static str {
    match expected {
        Some(_) => "it is signed with another key than the one that was given",
        None => "it is signed with none of the keys that the league has announced",
    }
}

/// Whether no log can begin with what both cover: the same number of events with another head, or one that the log does not
/// have beneath one that it has.
fn contradicts(
    log: &ManagerLog<'_>,
    other: &ExternalCheckpoint,
    note: &ExternalCheckpoint,
) -> bool {
    let is_of_log = other.size() >= note.size() && log.holds(other).is_ok();
    log.has_signed(other) && (differs(other, note) || is_of_log)
}

fn differs(one: &ExternalCheckpoint, other: &ExternalCheckpoint) -> bool {
    one.origin() == other.origin() && one.size() == other.size() && one.root() != other.root()
}

/// The log's own checkpoints under the key that was given.
fn check_own(log: &ManagerLog<'_>, found: &mut Verification) {
    match log.own.iter().find(|(_, note)| !log.has_signed(note)) {
        Some((seq, _)) => found.note_checkpoint_fault(format!(
            "event {seq} of {}: {}",
            log.source.stream,
            not_signed(log.accepted.first())
        )),
        None if log.own.is_empty() => found.unconfirmed.push(
            "whether this is the log of the manager with the key that was given: it has no checkpoint".into(),
        ),
        None => {}
    }
}

/// The keys that players were given, against those of the log.
fn check_given_keys(
    log: &ManagerLog<'_>,
    kept: &KeptByPlayers,
    expected: Option<&PublicKey>,
    found: &mut Verification,
) {
    for (key, place) in &kept.keys {
        if log.announced.iter().any(|(_, announced)| announced == key) {
            continue;
        }
        let player = &place.player;
        let fault = match expected {
            Some(expected) if expected == key => {
                let why = format!("the log does not announce the key that was given, and that {player} has too");
                log.fault(1, why)
            }
            Some(_) => Some(place.fault(format!("{player} has another key of the manager than the one that was given"))),
            None => Some(place.fault(format!(
                "{player} says that the manager gave it the key {key}, and the manager's log does not announce it: the \
                 manager's key from elsewhere (--key) decides"
            ))),
        };
        found.fault = found.fault.take().or(fault);
    }
}

/// Players alone: two of them may keep checkpoints that contradict each other.
fn judge_without_log(kept: &KeptByPlayers, evidence: &Evidence, found: &mut Verification) {
    let given = kept.keys.iter().map(|(key, _)| key);
    let keys: Vec<&PublicKey> = evidence
        .key
        .iter()
        .chain(given.filter(|_| evidence.key.is_none()))
        .collect();
    let all = kept
        .notes
        .iter()
        .map(|(note, _)| note)
        .chain(&evidence.checkpoints);
    let signed: Vec<_> = all
        .filter(|note| keys.iter().any(|key| note.is_signed_by(key)))
        .collect();
    let pairs = signed
        .iter()
        .flat_map(|one| signed.iter().map(move |other| (one, other)));
    if let Some((one, other)) = pairs.into_iter().find(|(one, other)| differs(one, other)) {
        found.equivocation = Some([one.placed(), other.placed()]);
    }
}
