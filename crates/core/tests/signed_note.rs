//! Signed notes and checkpoints, against the examples of the specifications and of the first implementation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use matchday_core::signature::{PublicKey, SigningKey};
use matchday_core::signed_note::{Checkpoint, SignedNote, sign, verifier_key};

/// The key and the note of the documentation of golang.org/x/mod/sumdb/note.
const SEED: &str = "810a1402d5146c8d84f2443330f54080ebf98ee17d9c74f6252fc5d5c7283173";
const VERIFIER_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                    then you don't know what your problem is.\n";
const SIGNATURE: &str = "\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

fn key() -> SigningKey {
    let digits =
        (0..32).map(|place| u8::from_str_radix(&SEED[2 * place..2 * place + 2], 16).unwrap());
    SigningKey::from_seed(digits.collect::<Vec<u8>>().try_into().unwrap())
}

fn checkpoint() -> Checkpoint {
    Checkpoint {
        origin: "matchday/spring/manager".into(),
        size: 214,
        root: [7; 32],
        extensions: vec!["matchday-log-1 league".into()],
    }
}

#[test]
fn a_note_is_signed_as_other_implementations_sign_it() {
    assert_eq!(
        verifier_key("PeterNeumann", &key().public_key()),
        VERIFIER_KEY
    );
    assert_eq!(
        sign(TEXT, "PeterNeumann", &key()),
        format!("{TEXT}\n{SIGNATURE}")
    );
}

#[test]
fn a_note_of_another_implementation_is_verified() {
    let note = SignedNote::parse(&format!("{TEXT}\n{SIGNATURE}")).unwrap();
    assert_eq!(note.text(), TEXT);
    assert!(note.is_signed_by("PeterNeumann", &key().public_key()));
    assert!(
        !note.is_signed_by("EnochRoot", &key().public_key()),
        "a name that did not sign"
    );
    let other = SigningKey::from_seed([1; 32]).public_key();
    assert!(
        !note.is_signed_by("PeterNeumann", &other),
        "a key that did not sign"
    );
}

#[test]
fn the_examples_of_the_specifications_are_read() {
    let poem = "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned \u{e8} subito sera.\n\n\
                \u{2014} quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n";
    assert!(
        SignedNote::parse(poem)
            .unwrap()
            .text()
            .ends_with("sole:\n\ned \u{e8} subito sera.\n")
    );
    let sofa = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
                \u{2014} example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";
    let read = Checkpoint::parse_note(sofa).unwrap();
    assert_eq!(
        (read.origin.as_str(), read.size, read.root[0]),
        ("example.com/behind-the-sofa", 20_852_163, 0x0a)
    );
    assert!(sofa.starts_with(&read.to_string()));
}

#[test]
fn a_checkpoint_is_read_as_it_was_written() {
    let note = checkpoint().sign(&key());
    assert_eq!(Checkpoint::parse_note(&note).unwrap(), checkpoint());
    assert!(
        SignedNote::parse(&note)
            .unwrap()
            .is_signed_by("matchday/spring/manager", &key().public_key())
    );
}

#[test]
fn a_byte_that_is_changed_anywhere_spoils_the_note() {
    let (note, public): (String, PublicKey) = (checkpoint().sign(&key()), key().public_key());
    for place in note
        .char_indices()
        .map(|(place, _)| place)
        .filter(|place| note.as_bytes()[*place].is_ascii())
    {
        let mut bytes = note.clone().into_bytes();
        bytes[place] ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        let is_signed = SignedNote::parse(&changed)
            .is_ok_and(|note| note.is_signed_by("matchday/spring/manager", &public));
        assert!(!is_signed, "byte {place}: {changed:?}");
    }
}

#[test]
fn one_wrong_signature_of_a_known_key_spoils_the_note_and_unknown_ones_do_not() {
    let note = format!("{TEXT}\n{SIGNATURE}");
    let public = key().public_key();
    let stranger = sign(TEXT, "witness.example", &SigningKey::from_seed([1; 32]));
    let stranger = stranger.rsplit_once("\n\n").unwrap().1.to_owned();
    let signed = |note: String| {
        SignedNote::parse(&note)
            .unwrap()
            .is_signed_by("PeterNeumann", &public)
    };
    assert!(signed(note.clone() + &stranger));
    let other = sign("Another text.\n", "PeterNeumann", &key());
    assert!(!signed(note + other.rsplit_once("\n\n").unwrap().1));
}

#[test]
fn what_is_no_checkpoint_is_refused_with_the_line() {
    let good = checkpoint().sign(&key());
    for (text, why) in [
        (
            String::new(),
            "line 0: expected an empty line and then signatures",
        ),
        (
            good.replace("\n\n", "\n"),
            "line 5: expected an empty line and then signatures",
        ),
        (
            good.replace("214", "0214"),
            "line 2: expected the number of entries",
        ),
        (
            good.replace("214", "-1"),
            "line 2: expected the number of entries",
        ),
        (
            good.replace("BwcH", "Bwc"),
            "line 3: expected a hash of 32 bytes",
        ),
        (
            good.replace("\u{2014} ", "-- "),
            "line 6: it is not a signature",
        ),
        (
            good.trim_end().to_owned(),
            "line 6: expected signatures, with a newline after the last",
        ),
        (
            good.replace("league", "lea\tgue"),
            "line 4: it holds a control character",
        ),
    ] {
        let error = Checkpoint::parse_note(&text).unwrap_err().to_string();
        assert!(error.starts_with(why), "{text:?}: {error}");
    }
}
