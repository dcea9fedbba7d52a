//! Ed25519: the vectors of RFC 8032, and that a key or a signature has one text form.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use matchday_core::signature::{PublicKey, Signature, SigningKey};

/// RFC 8032, section 7.1, test 3.
const SEED: &str = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7";
const PUBLIC: &str = "ed25519:fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025";
const SIGNED: &str = "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                      18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a";

fn key() -> SigningKey {
    SigningKey::from_seed(hex::decode(SEED).unwrap().try_into().unwrap())
}

#[test]
fn the_vector_of_the_specification_comes_out() {
    assert_eq!(key().public_key().to_string(), PUBLIC);
    let signature = key().sign(&[0xaf, 0x82]);
    assert_eq!(signature.to_string(), SIGNED);
    assert!(
        PublicKey::parse(PUBLIC)
            .unwrap()
            .verifies(&[0xaf, 0x82], &signature)
    );
}

#[test]
fn another_message_key_or_signature_does_not_verify() {
    let public = key().public_key();
    let signature = key().sign(b"even");
    assert!(!public.verifies(b"odd", &signature));
    assert!(
        !SigningKey::from_seed([1; 32])
            .public_key()
            .verifies(b"even", &signature)
    );
    let mut bent = *signature.as_bytes();
    bent[0] ^= 1;
    assert!(!public.verifies(b"even", &Signature::from_bytes(bent)));
}

#[test]
fn a_list_is_signed_with_the_borders_of_its_parts() {
    let public = key().public_key();
    let signature = key().sign_list(&[b"ab", b"c"]);
    assert!(public.verifies_list(&[b"ab", b"c"], &signature));
    assert!(!public.verifies_list(&[b"a", b"bc"], &signature));
}

#[test]
fn a_key_and_a_signature_have_one_text_form_each() {
    assert_eq!(serde_json::to_value(key().public_key()).unwrap(), PUBLIC);
    assert_eq!(
        serde_json::from_value::<Signature>(SIGNED.into()).unwrap(),
        Signature::parse(SIGNED).unwrap()
    );
    for wrong in [
        &PUBLIC[8..],
        &PUBLIC.to_uppercase(),
        &PUBLIC[..70],
        "ed25519:",
        "",
    ] {
        let error = serde_json::from_value::<PublicKey>(wrong.into()).unwrap_err();
        assert!(
            error.to_string().contains("64 hexadecimal digits"),
            "{wrong}: {error}"
        );
    }
    for wrong in [&SIGNED[1..], &SIGNED.to_uppercase(), ""] {
        assert!(
            serde_json::from_value::<Signature>(wrong.into()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn a_public_key_of_small_order_with_which_anything_verifies_is_refused() {
    let identity = "ed25519:0100000000000000000000000000000000000000000000000000000000000000";
    assert_eq!(PublicKey::parse(identity), None);
    assert_eq!(
        PublicKey::parse(
            "ed25519:0000000000000000000000000000000000000000000000000000000000000000"
        ),
        None
    );
}

#[test]
fn a_signing_key_shows_nothing_of_itself() {
    assert_eq!(format!("{:?}", key()), "SigningKey(..)");
}
