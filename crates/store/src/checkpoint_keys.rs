//! The private keys with which a manager signs checkpoints, in a file of their own beside its store, so that a copy of the
//! store can be given away to be verified. Touches that file.
//!
//! One key a line, in hexadecimal digits, the newest last. The earlier ones stay: a new key that is not announced yet when
//! the process dies is signed by the one before it at the next start.

use crate::error::StoreError;
use crate::handle::Store;
use crate::open::file_base;
use crate::path::{beside, directory};
use matchday_core::entropy::Entropy;
use matchday_core::signature::{PublicKey, SigningKey};
use matchday_os::file::{create_private, sync_directory};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".checkpoint-keys";

/// All keys of one store.
#[derive(Debug, Clone)]
pub struct CheckpointKeys {
    /// None for a store without a file.
    file: Option<PathBuf>,
    keys: Vec<SigningKey>,
}

impl CheckpointKeys {
    /// The keys of a store; makes the first if it has none.
    pub fn of(store: &Store, entropy: &mut Entropy) -> Result<Self, StoreError> {
        let file = store.path().map(|path| beside(&file_base(path), SUFFIX));
        let keys = file.as_deref().map_or(Ok(Vec::new()), read)?;
        let mut keys = Self { file, keys };
        if keys.keys.is_empty() {
            keys.add(entropy)?;
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
        let seed = entropy.bytes();
        if let Some(file) = &self.file {
            write(file, &hex::encode(seed)).map_err(|error| StoreError::io(file, error))?;
        }
        self.keys.push(SigningKey::from_seed(seed));
        Ok(())
    }
}

fn read(file: &Path) -> Result<Vec<SigningKey>, StoreError> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| StoreError::io(file, error))?,
    };
    let key = |line: &str| {
        let mut seed = [0; 32];
        hex::decode_to_slice(line, &mut seed).ok().map(|()| SigningKey::from_seed(seed))
    };
    let keys: Option<Vec<SigningKey>> = text.lines().map(key).collect();
    keys.ok_or_else(|| StoreError::NoKeys(file.to_owned()))
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
    use std::os::unix::fs::PermissionsExt;

    fn public(keys: &CheckpointKeys) -> Vec<PublicKey> {
        keys.keys.iter().map(SigningKey::public_key).collect()
    }

    #[test]
    fn keys_outlive_the_process_and_only_their_owner_can_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("league.db")).unwrap();
        let mut entropy = Entropy::numbered(1);
        let mut keys = CheckpointKeys::of(&store, &mut entropy).unwrap();
        keys.add(&mut entropy).unwrap();
        let again = CheckpointKeys::of(&store, &mut entropy).unwrap();
        assert_eq!((public(&again), public(&again).len()), (public(&keys), 2));
        let file = folder.path().join("league.db.checkpoint-keys");
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_something_else_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("league.db")).unwrap();
        let file = folder.path().join("league.db.checkpoint-keys");
        fs::write(&file, "precious\n").unwrap();
        let refused = CheckpointKeys::of(&store, &mut Entropy::numbered(1)).unwrap_err();
        assert!(refused.to_string().contains("does not hold checkpoint keys"), "{refused}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious\n");
    }
}
