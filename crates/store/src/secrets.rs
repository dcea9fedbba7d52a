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

/// Gives a store that has none yet the keys and the seats of another.
pub fn copy_secrets(from: &Reader, to: &Store) -> Result<(), StoreError> {
    let keys = checkpoint_keys::stream();
    let (seats, in_leagues) = match from.url().file() {
        Some(_) => (of_file(from)?, keys_of_file(from)?),
        None => {
            let (of_keys, seats): (Vec<_>, Vec<_>) = of_database(from)?
                .into_iter()
                .partition(|secret| secret.stream == keys);
            (seats, keys_of(from, &of_keys)?)
        }
    };
    if to.url().file().is_some() {
        let distinct: BTreeSet<&Seed> = in_leagues.iter().flat_map(|(_, seeds)| seeds).collect();
        let mut left = distinct;
        let in_order = in_leagues
            .iter()
            .flat_map(|(_, seeds)| seeds)
            .filter(|seed| left.remove(seed))
            .copied()
            .collect::<Vec<_>>();
        checkpoint_keys::keep_in_file(to, &in_order)?;
        if !seats.is_empty() {
            let store = Store::open(to.url().of_seats())?;
            for secret in &seats {
                secret.write(&store.in_league(secret.league))?;
            }
            store.close()?;
        }
        return Ok(());
    }
    for (league, seeds) in in_leagues {
        checkpoint_keys::keep_in_stream(&to.in_league(league).private(), &seeds)?;
    }
    for secret in &seats {
        secret.write(&to.in_league(secret.league).private())?;
    }
    Ok(())
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

fn of_database(from: &Reader) -> Result<Vec<Secret>, StoreError> {
    let mut secrets = Vec::new();
    for head in from.rows.heads()? {
        if let Some(stream) = head.stream.of_private() {
            let events = from.rows.load(head.league, &head.stream, 0)?;
            secrets.push(Secret {
                league: head.league,
                stream,
                events,
            });
        }
    }
    Ok(secrets)
}

fn keys_of(from: &Reader, streams: &[Secret]) -> Result<Vec<(u32, Vec<Seed>)>, StoreError> {
    let seeds = |secret: &Secret| {
        let seeds = checkpoint_keys::seeds_of(&secret.events, from.url())?;
        Ok((secret.league, seeds))
    };
    streams.iter().map(seeds).collect()
}

fn of_file(from: &Reader) -> Result<Vec<Secret>, StoreError> {
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
fn keys_of_file(from: &Reader) -> Result<Vec<(u32, Vec<Seed>)>, StoreError> {
    let seeds = checkpoint_keys::seeds_beside(from.url())?;
    let leagues: BTreeSet<u32> = from.heads()?.into_iter().map(|head| head.league).collect();
    let leagues = leagues.into_iter().filter(|league| *league != NO_LEAGUE);
    Ok(leagues.map(|league| (league, seeds.clone())).collect())
}
