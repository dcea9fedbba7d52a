//! Checkpoints: those in the log against the chain before them, and one that was kept elsewhere against the whole log.
//! Pure.

use super::notes::{PlacedNote, place};
use super::{Fault, Source, Verification, kind};
use matchday_core::event_codec;
use matchday_core::league::{LeagueEvent, checkpoint_origin, is_successor};
use matchday_core::protocol::LeagueId;
use matchday_core::signature::{PublicKey, Signature};
use matchday_core::signed_note::{Checkpoint, NoteError, SignedNote, verifier_key};
use matchday_store::batch::Stored;
use matchday_store::chain;
use matchday_store::stream::Stream;
use serde::Serialize;

/// The last checkpoint of a league.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastCheckpoint {
    /// How many events it covers.
    pub size: u64,
    /// The key that signed it, as tools for signed notes take it.
    pub verifier_key: String,
    /// All of it, to be kept elsewhere.
    pub note: String,
}

/// A checkpoint that was kept outside the log, or read from it.
#[derive(Debug, Clone)]
pub struct ExternalCheckpoint {
    /// Where it was found, in words.
    place: String,
    checkpoint: Checkpoint,
    note: SignedNote,
    text: String,
}

impl ExternalCheckpoint {
    pub fn parse(place: &str, text: &str) -> Result<Self, NoteError> {
        let note = SignedNote::parse(text)?;
        let checkpoint = Checkpoint::parse(note.text())?;
        Ok(Self {
            place: place.to_owned(),
            checkpoint,
            note,
            text: text.to_owned(),
        })
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn placed(&self) -> PlacedNote {
        PlacedNote {
            place: self.place.clone(),
            note: self.text.clone(),
        }
    }

    pub(super) fn origin(&self) -> &str {
        &self.checkpoint.origin
    }

    pub(super) fn size(&self) -> u64 {
        self.checkpoint.size
    }

    pub(super) fn root(&self) -> &[u8; 32] {
        &self.checkpoint.root
    }

    pub(super) fn is_signed_by(&self, key: &PublicKey) -> bool {
        self.note.is_signed_by(&self.checkpoint.origin, key)
    }
}

/// Reads the events that have to do with checkpoints; what cannot be read is a fault elsewhere.
fn events(all: &[Stored]) -> impl Iterator<Item = (&Stored, LeagueEvent)> {
    let wanted = ["\"manager_key_announced\"", "\"checkpoint_signed\""];
    let concerns = move |stored: &&Stored| wanted.iter().any(|kind| stored.line.contains(kind));
    all.iter()
        .filter(concerns)
        .filter_map(|stored| Some((stored, event_codec::decode(&stored.line).ok()?.1)))
}

/// The league of a log, and the first line of its checkpoints.
pub(super) fn identity(source: &Source) -> Option<(LeagueId, String)> {
    let league_id = league_id(source)?;
    let origin = checkpoint_origin(&league_id);
    Some((league_id, origin))
}

/// Every key that a log announces, with the number of its event and the signature of the key before it.
pub(super) fn announced_keys(source: &Source) -> Vec<(u64, PublicKey, Option<Signature>)> {
    let announced = events(&source.events).filter_map(|(stored, event)| match event {
        LeagueEvent::ManagerKeyAnnounced {
            public_key,
            signature,
        } => Some((stored.seq, public_key, signature)),
        _ => None,
    });
    announced.collect()
}

/// The checkpoints that a log has of itself, with the numbers of their events.
pub(super) fn own_notes(source: &Source) -> Vec<(u64, ExternalCheckpoint)> {
    let signed = events(&source.events).filter_map(|(stored, event)| match event {
        LeagueEvent::CheckpointSigned { note } => {
            let place = place(source.file.as_ref(), &source.stream, stored.seq);
            Some((stored.seq, ExternalCheckpoint::parse(&place, &note).ok()?))
        }
        _ => None,
    });
    signed.collect()
}

fn league_id(source: &Source) -> Option<LeagueId> {
    match event_codec::decode(&source.events.first()?.line) {
        Ok((_, LeagueEvent::LeagueCreated { settings })) => Some(settings.league_id),
        _ => None,
    }
}

/// Checks every key and every checkpoint in a league's log, whose chain holds.
pub(super) fn check(source: &Source, found: &mut Verification) -> Option<Fault> {
    let league_id = league_id(source)?;
    let origin = checkpoint_origin(&league_id);
    let mut key: Option<PublicKey> = None;
    for (stored, event) in events(&source.events) {
        let outcome = match event {
            LeagueEvent::ManagerKeyAnnounced {
                public_key,
                signature,
            } => {
                let outcome = match (&key, &signature) {
                    (Some(old), Some(signature))
                        if !is_successor(old, &league_id, &public_key, signature) =>
                    {
                        Err("the key before it has not signed this one".to_owned())
                    }
                    (Some(_), None) => {
                        found.unconfirmed.push(format!(
                            "whether the checkpoint key of event {} is the manager's: the key before it did not sign it",
                            stored.seq
                        ));
                        Ok(())
                    }
                    _ => Ok(()),
                };
                key = Some(public_key);
                outcome
            }
            LeagueEvent::CheckpointSigned { note } => {
                check_note(source, stored.seq, &origin, key.as_ref(), &note).map(|checkpoint| {
                    found.checkpoints += 1;
                    let verifier_key = key
                        .map(|key| verifier_key(&origin, &key))
                        .unwrap_or_default();
                    let size = checkpoint.size;
                    let note = note.to_string();
                    found.last_checkpoint = Some(LastCheckpoint {
                        size,
                        verifier_key,
                        note,
                    });
                })
            }
            _ => Ok(()),
        };
        if let Err(why) = outcome {
            let file = source.file.clone();
            let stream = source.stream.clone();
            return Some(Fault {
                file,
                stream,
                seq: stored.seq,
                at: stored.at,
                what: kind(&stored.line),
                why,
            });
        }
    }
    None
}

fn check_note(
    source: &Source,
    seq: u64,
    origin: &str,
    key: Option<&PublicKey>,
    note: &str,
) -> Result<Checkpoint, String> {
    let kept = ExternalCheckpoint::parse("", note)
        .map_err(|error| format!("it is not a checkpoint: {error}"))?;
    let size = kept.checkpoint.size;
    if size >= seq {
        return Err(format!(
            "it covers {size} events, of which some come after it"
        ));
    }
    compare(&kept, source, origin)?;
    match key {
        Some(key) if kept.note.is_signed_by(origin, key) => Ok(kept.checkpoint),
        Some(_) => Err("it is not signed with the key that was announced before it".to_owned()),
        None => Err("no key was announced before it".to_owned()),
    }
}

/// Whether the log begins with the events that a checkpoint covers.
pub(super) fn compare(
    kept: &ExternalCheckpoint,
    source: &Source,
    origin: &str,
) -> Result<(), String> {
    let Checkpoint {
        origin: its_origin,
        size,
        root,
        extensions,
    } = &kept.checkpoint;
    let chain = format!("{} {}", chain::SCHEME, source.stream);
    if its_origin != origin || *extensions != [chain] {
        return Err(format!("it is of another log, {its_origin}"));
    }
    let size = *size;
    let here = source.events.len() as u64;
    let last = size
        .checked_sub(1)
        .and_then(|last| source.events.get(usize::try_from(last).ok()?));
    let head = match last {
        Some(last) => last.hash,
        None if size == 0 => chain::genesis(&source.stream),
        None => {
            let lost = size - here;
            return Err(format!(
                "it covers {size} events, but only {here} are here: the last {lost} were dropped"
            ));
        }
    };
    if head.0 == *root {
        Ok(())
    } else {
        Err(format!(
            "event {size} had another hash when it was signed: something up to there was changed, and the chain computed \
             anew"
        ))
    }
}

/// Compares a checkpoint that was kept elsewhere with the league among these streams: how much of it it covers, or what is
/// wrong; `None` if it is of another league.
pub(super) fn hold(
    kept: &ExternalCheckpoint,
    sources: &[Source],
) -> Option<Result<String, String>> {
    let wanted = &kept.checkpoint.origin;
    let its =
        |source: &&Source| league_id(source).is_some_and(|id| checkpoint_origin(&id) == *wanted);
    let source = sources
        .iter()
        .filter(|source| source.is_league())
        .find(its)?;
    Some(coverage(kept, source, wanted))
}

pub(super) fn no_such_league(kept: &ExternalCheckpoint) -> String {
    let wanted = &kept.checkpoint.origin;
    format!(
        "it is of {wanted}, but there is no such league here: it was dropped, or is in another store"
    )
}

fn coverage(kept: &ExternalCheckpoint, source: &Source, wanted: &str) -> Result<String, String> {
    compare(kept, source, wanted)?;
    let key = announced_keys(source)
        .into_iter()
        .map(|(_, key, _)| key)
        .find(|key| kept.is_signed_by(key));
    match key {
        Some(key) => Ok(covers(kept, source, Some(&key))),
        None => Err("it is signed with none of the keys that the league has announced".to_owned()),
    }
}

/// How much of a log a checkpoint covers, and who signed it.
pub(super) fn covers(
    kept: &ExternalCheckpoint,
    source: &Source,
    key: Option<&PublicKey>,
) -> String {
    let (size, all, stream): (u64, usize, &Stream) =
        (kept.size(), source.events.len(), &source.stream);
    let key = key
        .map(|key| verifier_key(kept.origin(), key))
        .unwrap_or_default();
    format!(
        "{} covers {size} of {all} events of {stream}, signed with {key}",
        kept.place
    )
}
