//! What a service keeps beside the logs of its leagues and needs to go on with them: the keys that sign checkpoints, and the seats.
//! Of a file they are in files beside it; in a database they are private streams of their leagues. Reads one store, and writes
//! another.

use crate::batch::{Batch, Stored};
use crate::checkpoint_keys::{self, Seed};
use crate::error::StoreError;
use crate::handle::Store;
use crate::leagues::NO_LEAGUE;
use crate::open;
use crate::reader::Reader;
use crate::stream::Stream;
use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use std::collections::BTreeSet;

/// The keys of leagues by their numbers, each league's newest last.
type Keys = Vec<(u32, Vec<Seed>)>;

/// Gives a store that has none yet the keys and the seats of another.
pub fn copy_secrets(from: &Reader, to: &Store) -> Result<(), StoreError> {
    let (keys, seats) = if from.url().file().is_some() {
        (keys_of_file(from)?, seats_of_file(from)?)
    } else {
        of_database(from)?
    };
    if to.url().file().is_some() {
        into_files(to, &keys, &seats)
    } else {
        into_database(to, &keys, &seats)
    }
}

fn into_files(to: &Store, keys: &Keys, seats: &[Secret]) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    let all = keys.iter().flat_map(|(_, seeds)| seeds).copied();
    let distinct: Vec<Seed> = all.filter(|seed| seen.insert(*seed)).collect();
    checkpoint_keys::keep_in_file(to, &distinct)?;
    if seats.is_empty() {
        return Ok(());
    }
    let store = Store::open(to.url().of_seats())?;
    for secret in seats {
        secret.write(&store.in_league(secret.league))?;
    }
    store.close()
}

fn into_database(to: &Store, keys: &Keys, seats: &[Secret]) -> Result<(), StoreError> {
    for (league, seeds) in keys {
        checkpoint_keys::keep_in_stream(&to.in_league(*league).private(), seeds)?;
    }
    seats
        .iter()
        .try_for_each(|secret| secret.write(&to.in_league(secret.league).private()))
}

/// A stream of secrets, under the name that its readers know.
struct Secret {
    league: u32,
    stream: Stream,
    events: Vec<Stored>,
}

impl Secret {
    fn write(&self, to: &Store) -> Result<(), StoreError> {
        for events in self.events.chunk_by(|one, next| one.at == next.at) {
            to.append(Batch {
                at: events.first().map_or(Timestamp::EPOCH, |first| first.at),
                stream: self.stream.clone(),
                lines: events.iter().map(|stored| stored.line.clone()).collect(),
                durability: Durability::Written,
                awaited: false,
                then: Box::new(|_| {}),
            });
        }
        Ok(to.flush_blocking()?)
    }
}

fn of_database(from: &Reader) -> Result<(Keys, Vec<Secret>), StoreError> {
    let mut keys = Keys::new();
    let mut seats = Vec::new();
    for head in from.rows.heads()? {
        let Some(stream) = head.stream.of_private() else {
            continue;
        };
        let league = head.league;
        let events = from.rows.load(league, &head.stream, 0)?;
        if stream == checkpoint_keys::stream() {
            keys.push((league, checkpoint_keys::seeds_of(&events, from.url())?));
        } else {
            seats.push(Secret {
                league,
                stream,
                events,
            });
        }
    }
    Ok((keys, seats))
}

fn seats_of_file(from: &Reader) -> Result<Vec<Secret>, StoreError> {
    let url = from.url().of_seats();
    if !url.file().is_some_and(std::path::Path::exists) {
        return Ok(Vec::new());
    }
    let seats = open::to_read(&url)?;
    let mut secrets = Vec::new();
    for head in seats.heads()? {
        let events = seats.rows.load(head.league, &head.stream, 0)?;
        secrets.push(Secret {
            league: head.league,
            stream: head.stream,
            events,
        });
    }
    Ok(secrets)
}

/// The keys of a file sign the checkpoints of each of its leagues.
fn keys_of_file(from: &Reader) -> Result<Keys, StoreError> {
    let seeds = checkpoint_keys::seeds_beside(from.url())?;
    let leagues: BTreeSet<u32> = from.heads()?.into_iter().map(|head| head.league).collect();
    let leagues = leagues.into_iter().filter(|league| *league != NO_LEAGUE);
    Ok(leagues.map(|league| (league, seeds.clone())).collect())
}
