//! Signed notes and checkpoints in the text formats of transparency logs (C2SP signed-note and tlog-checkpoint): written,
//! read, signed and verified with Ed25519. Pure.
//!
//! A note is a text that ends in a newline, then an empty line, then one signature a line: an em dash, the name of the key,
//! and in Base64 four bytes that identify the key and the signature of the text. A checkpoint is a note whose text says how
//! long a log is and the hash that stands for all of it.

use crate::signature::{PublicKey, Signature, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest, Sha256};
use std::fmt;

/// Ed25519, in the list of signature types of signed-note.
const ED25519: u8 = 0x01;
/// The specification asks verifiers to accept at least 16 signatures, and to have a limit.
const SIGNATURES_MAX: usize = 100;

/// The text of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log it is of.
    pub origin: String,
    /// How many entries the log has.
    pub size: u64,
    /// What stands for all of them.
    pub root: [u8; 32],
    /// Further lines, if any.
    pub extensions: Vec<String>,
}

/// Why a text is not a signed note or not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct NoteError {
    /// Counted from 1.
    pub line: usize,
    /// In words for people, after the line.
    pub what: &'static str,
}

fn wrong<T>(line: usize, what: &'static str) -> Result<T, NoteError> {
    Err(NoteError { line, what })
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}\n{}\n{}",
            self.origin,
            self.size,
            BASE64.encode(self.root)
        )?;
        self.extensions
            .iter()
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Checkpoint {
    /// The whole note: the origin is also the name of the key.
    pub fn sign(&self, key: &SigningKey) -> String {
        sign(&self.to_string(), &self.origin, key)
    }

    /// Reads the checkpoint of a signed note, without a look at its signatures.
    pub fn parse_note(note: &str) -> Result<Self, NoteError> {
        Self::parse(SignedNote::parse(note)?.text())
    }

    /// Reads the text of a checkpoint.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let mut lines = text.lines();
        let origin = lines.next();
        let size = lines.next();
        let root = lines.next();
        let Some(origin) = origin.filter(|origin| !origin.is_empty()) else {
            return wrong(1, "expected the origin of the log");
        };
        let decimal = |text: &&str| {
            text.bytes().all(|byte| byte.is_ascii_digit())
                && (*text == "0" || !text.starts_with('0'))
        };
        let Some(size) = size.filter(decimal).and_then(|size| size.parse().ok()) else {
            return wrong(2, "expected the number of entries, in decimal digits");
        };
        let root = root
            .and_then(|root| BASE64.decode(root).ok())
            .and_then(|root| root.try_into().ok());
        let Some(root) = root else {
            return wrong(3, "expected a hash of 32 bytes, in Base64");
        };
        let extensions: Vec<String> = lines.map(str::to_owned).collect();
        match extensions.iter().position(String::is_empty) {
            Some(place) => wrong(place + 4, "expected a line that is not empty"),
            None => Ok(Self {
                origin: origin.to_owned(),
                size,
                root,
                extensions,
            }),
        }
    }
}

/// Signs a text, which ends in a newline.
pub fn sign(text: &str, name: &str, key: &SigningKey) -> String {
    let mut signed = key_id(name, &key.public_key()).to_vec();
    signed.extend_from_slice(key.sign(text.as_bytes()).as_bytes());
    format!("{text}\n\u{2014} {name} {}\n", BASE64.encode(signed))
}

/// Four bytes by which a verifier finds the key among those that it knows.
pub fn key_id(name: &str, key: &PublicKey) -> [u8; 4] {
    let mut hash = Sha256::new();
    hash.update(name.as_bytes());
    hash.update([b'\n', ED25519]);
    hash.update(key.as_bytes());
    let [a, b, c, d, ..]: [u8; 32] = hash.finalize().into();
    [a, b, c, d]
}

/// The key as tools for signed notes are given it: `name+id+key`.
pub fn verifier_key(name: &str, key: &PublicKey) -> String {
    let mut bytes = vec![ED25519];
    bytes.extend_from_slice(key.as_bytes());
    format!(
        "{name}+{}+{}",
        hex::encode(key_id(name, key)),
        BASE64.encode(bytes)
    )
}

/// The key of a text that [`verifier_key`] has written; `None` for any other text.
pub fn key_of_verifier(text: &str) -> Option<PublicKey> {
    let mut parts = text.splitn(3, '+');
    let name = parts.next()?;
    let id = parts.next()?;
    let key = parts.next()?;
    let bytes = BASE64.decode(key).ok()?;
    let key = match bytes.split_first()? {
        (&ED25519, key) => PublicKey::from_bytes(key.try_into().ok()?)?,
        _ => return None,
    };
    (hex::encode(key_id(name, &key)) == id).then_some(key)
}

/// A note as it was read: nothing of it is verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedNote {
    text: String,
    signatures: Vec<Signed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Signed {
    name: String,
    key_id: [u8; 4],
    signature: Vec<u8>,
}

impl SignedNote {
    /// Reads a note without verifying it: see [`Self::is_signed_by`].
    pub fn parse(note: &str) -> Result<Self, NoteError> {
        let control = |line: &str| line.chars().any(|letter| letter < ' ');
        if let Some(place) = note.split('\n').position(control) {
            return wrong(place + 1, "it holds a control character");
        }
        // The text may have empty lines itself.
        let Some((text, rest)) = note.rsplit_once("\n\n") else {
            return wrong(
                note.lines().count(),
                "expected an empty line and then signatures",
            );
        };
        let first = text.split('\n').count() + 2;
        let Some(rest) = rest.strip_suffix('\n') else {
            return wrong(first, "expected signatures, with a newline after the last");
        };
        let mut signatures = Vec::new();
        for (line, signature) in (first..).zip(rest.split('\n')) {
            signatures.push(Signed::parse(signature).ok_or(NoteError {
                line,
                what: "it is not a signature",
            })?);
            if signatures.len() > SIGNATURES_MAX {
                return wrong(line, "there are too many signatures");
            }
        }
        Ok(Self {
            text: format!("{text}\n"),
            signatures,
        })
    }

    /// The signed text, its last newline included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the key of this name has signed it. One signature in its name that is wrong spoils the note.
    pub fn is_signed_by(&self, name: &str, key: &PublicKey) -> bool {
        let id = key_id(name, key);
        let mut its = self
            .signatures
            .iter()
            .filter(|signed| signed.name == name && signed.key_id == id)
            .peekable();
        its.peek().is_some()
            && its.all(|signed| {
                let signature =
                    <[u8; 64]>::try_from(signed.signature.as_slice()).map(Signature::from_bytes);
                signature.is_ok_and(|signature| key.verifies(self.text.as_bytes(), &signature))
            })
    }
}

impl Signed {
    fn parse(line: &str) -> Option<Self> {
        let (name, signature) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
        if name.is_empty() || name.contains(|letter: char| letter.is_whitespace() || letter == '+')
        {
            return None;
        }
        let bytes = BASE64.decode(signature).ok()?;
        let (key_id, signature) = bytes.split_first_chunk::<4>()?;
        Some(Self {
            name: name.to_owned(),
            key_id: *key_id,
            signature: signature.to_vec(),
        })
    }
}
