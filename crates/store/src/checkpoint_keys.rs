//! The private keys with which a manager signs checkpoints, in a file of their own beside its store, so that a copy of the
//! store can be given away to be verified. In a store that several processes share, and in that of a league whose agents are all
//! in one process, they are in a private stream of their league, where its next owner finds them. Touches that file, or appends to that stream.
//!
//! One key a line, in hexadecimal digits, the newest last. The earlier ones stay: a new key that is not announced yet when
//! the process dies is signed by the one before it at the next start.

use crate::batch::Stored;
use crate::error::StoreError;
use crate::handle::Store;
use crate::path::{beside, directory};
use crate::store_url::StoreUrl;
use crate::stream::Stream;
use matchday_core::entropy::Entropy;
use matchday_core::event_codec;
use matchday_core::protocol::Timestamp;
use matchday_core::signature::{PublicKey, SigningKey};
use matchday_os::file::{create_private, sync_directory};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".checkpoint-keys";

/// All keys of one store.
#[derive(Debug, Clone)]
pub struct CheckpointKeys {
    kept: Kept,
    keys: Vec<SigningKey>,
}

/// Where keys are kept.
#[derive(Debug, Clone)]
enum Kept {
    InMemory,
    File(PathBuf),
    Stream(Store),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum KeyEvent {
    CheckpointKey { seed: String },
}

pub(super) fn stream() -> Stream {
    Stream("checkpoint-keys".into())
}

impl CheckpointKeys {
    /// The keys of a store; makes the first if it has none.
    pub fn of(store: &Store, entropy: &mut Entropy) -> Result<Self, StoreError> {
        let file = store.url().file_base().map(|base| beside(&base, SUFFIX));
        let in_file = seeds_beside(store.url())?;
        let mut keys = match (store.is_private(), file) {
            (true, _) => Self::of_stream(store, &in_file)?,
            (false, Some(file)) => Self {
                kept: Kept::File(file),
                keys: of_seeds(&in_file),
            },
            (false, None) => Self {
                kept: Kept::InMemory,
                keys: Vec::new(),
            },
        };
        if keys.keys.is_empty() {
            keys.add(entropy)?;
        }
        Ok(keys)
    }

    /// The keys of a league's private stream. Those of a file, from before the store was shared, are taken over.
    fn of_stream(store: &Store, in_file: &[Seed]) -> Result<Self, StoreError> {
        let seeds = seeds_of(&store.load(&stream())?, store.url())?;
        let mut keys = Self {
            kept: Kept::Stream(store.clone()),
            keys: of_seeds(&seeds),
        };
        for seed in in_file.iter().filter(|_| seeds.is_empty()) {
            keys.keep(*seed)?;
        }
        Ok(keys)
    }

    pub fn newest(&self) -> Option<&SigningKey> {
        self.keys.last()
    }

    pub fn find(&self, key: &PublicKey) -> Option<&SigningKey> {
        self.keys.iter().find(|known| known.public_key() == *key)
    }

    /// Makes a new key, which is on disk when this comes back.
    pub fn add(&mut self, entropy: &mut Entropy) -> Result<(), StoreError> {
        self.keep(entropy.bytes())
    }

    fn keep(&mut self, seed: Seed) -> Result<(), StoreError> {
        match &self.kept {
            Kept::InMemory => {}
            Kept::File(file) => {
                write(file, &hex::encode(seed)).map_err(|error| StoreError::io(file, error))?;
            }
            Kept::Stream(store) => append(store, seed)?,
        }
        self.keys.push(SigningKey::from_seed(seed));
        Ok(())
    }
}

/// From which a key is made.
pub(super) type Seed = [u8; 32];

/// The keys in the file beside a store, the newest last.
pub(super) fn seeds_beside(store: &StoreUrl) -> Result<Vec<Seed>, StoreError> {
    let file = store.file_base().map(|base| beside(&base, SUFFIX));
    file.as_deref().map_or(Ok(Vec::new()), read)
}

/// The keys in a private stream, the newest last.
pub(super) fn seeds_of(events: &[Stored], store: &StoreUrl) -> Result<Vec<Seed>, StoreError> {
    let seed = |stored: &Stored| {
        let event = event_codec::decode::<KeyEvent>(&stored.line).ok();
        let seed = event.and_then(|(_, KeyEvent::CheckpointKey { seed })| parse(&seed));
        seed.ok_or_else(|| StoreError::NoKeys(store.clone()))
    };
    events.iter().map(seed).collect()
}

/// Keeps keys of another store in the file beside this one, which must not be there yet.
pub(super) fn keep_in_file(store: &Store, seeds: &[Seed]) -> Result<(), StoreError> {
    let Some(file) = store.url().file_base().map(|base| beside(&base, SUFFIX)) else {
        return Ok(());
    };
    if fs::symlink_metadata(&file).is_ok() {
        return Err(StoreError::Exists(file));
    }
    for seed in seeds {
        write(&file, &hex::encode(seed)).map_err(|error| StoreError::io(&file, error))?;
    }
    Ok(())
}

/// Keeps keys of another store in the private stream of a league.
pub(super) fn keep_in_stream(league: &Store, seeds: &[Seed]) -> Result<(), StoreError> {
    seeds.iter().try_for_each(|seed| append(league, *seed))
}

fn of_seeds(seeds: &[Seed]) -> Vec<SigningKey> {
    seeds
        .iter()
        .map(|seed| SigningKey::from_seed(*seed))
        .collect()
}

fn parse(text: &str) -> Option<Seed> {
    let mut seed = [0; 32];
    hex::decode_to_slice(text, &mut seed).ok().map(|()| seed)
}

/// Blocks until the key is durable.
fn append(store: &Store, seed: Seed) -> Result<(), StoreError> {
    let event = KeyEvent::CheckpointKey {
        seed: hex::encode(seed),
    };
    // No clock belongs here, and nobody asks when a key was made.
    let line =
        event_codec::encode(Timestamp::EPOCH, &event).map_err(|error| StoreError::Unreadable {
            store: store.url().clone(),
            error,
        })?;
    Ok(store.append_blocking(Timestamp::EPOCH, stream(), line)?)
}

fn read(file: &Path) -> Result<Vec<Seed>, StoreError> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| StoreError::io(file, error))?,
    };
    let seeds: Option<Vec<Seed>> = text.lines().map(parse).collect();
    seeds.ok_or_else(|| StoreError::NoKeys(file.into()))
}

/// Made anew under another name and then renamed: a crash leaves the keys as they were, or with the new one.
fn write(file: &Path, key: &str) -> io::Result<()> {
    let before = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other?,
    };
    let draft = beside(file, ".new");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut new = create_private(&draft)?;
    new.write_all(format!("{before}{key}\n").as_bytes())?;
    new.sync_all()?;
    fs::rename(&draft, file)?;
    sync_directory(directory(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(keys: &CheckpointKeys) -> Vec<PublicKey> {
        keys.keys.iter().map(SigningKey::public_key).collect()
    }

    #[test]
    fn keys_outlive_the_process_and_only_their_owner_can_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("league.db")).unwrap();
        let mut entropy = Entropy::numbered(1);
        let mut keys = CheckpointKeys::of(&store, &mut entropy).unwrap();
        keys.add(&mut entropy).unwrap();
        let again = CheckpointKeys::of(&store, &mut entropy).unwrap();
        assert_eq!((public(&again), public(&again).len()), (public(&keys), 2));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let file = folder.path().join("league.db.checkpoint-keys");
            let mode = fs::metadata(file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_of_something_else_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("league.db")).unwrap();
        let file = folder.path().join("league.db.checkpoint-keys");
        fs::write(&file, "precious\n").unwrap();
        let refused = CheckpointKeys::of(&store, &mut Entropy::numbered(1)).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("does not hold checkpoint keys"),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious\n");
    }
}
