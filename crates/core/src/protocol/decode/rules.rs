//! Rules for single values, each with a text that completes "expected ...".

use super::Conformance;
use crate::protocol::dialect::Dialect;
use crate::protocol::draw::{Commitment, Proof};
use crate::protocol::envelope::{Sender, id_fits};
use crate::protocol::error::ErrorCode;
use crate::protocol::json::{Fields, Json};
use crate::protocol::messages::{
    AckStatus, AgentRole, Blame, Cause, Culprit, GameStatus, Order, Parity, Phase, PlaceState,
    RegisterStatus, Role, Seconds,
};
use crate::protocol::methods::Query;
use crate::protocol::nonce::{NONCE_BYTES_MAX, Nonce, NonceCommitment};
use crate::protocol::text::{RuleBroken, Version};
use crate::protocol::time::{TimeForm, Timestamp};
use crate::protocol::token::{TOKEN_BYTES_MAX, Token};
use crate::protocol::untrusted::{UntrustedText, is_deceptive};
use crate::signature::{PublicKey, Signature};
use serde_json::{Map, Number, Value};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Why a value violates a rule.
pub(super) struct Wrong {
    pub(super) code: ErrorCode,
    pub(super) expected: Cow<'static, str>,
}

impl Wrong {
    pub(super) fn new(code: ErrorCode, expected: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            expected: expected.into(),
        }
    }

    /// E002: a wrong type, form or range.
    pub(super) fn format(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidFormat, expected)
    }
}

impl From<RuleBroken> for Wrong {
    fn from(RuleBroken(expected): RuleBroken) -> Self {
        Self::format(expected)
    }
}

/// Parses one value. No rule accepts null, except where null is a value.
pub(super) trait Rule<'v, T>: Fn(&'v Json) -> Result<T, Wrong> {}

impl<'v, T, F: Fn(&'v Json) -> Result<T, Wrong>> Rule<'v, T> for F {}

pub(super) fn text(value: &Json) -> Result<&str, Wrong> {
    value.as_str().ok_or(Wrong::format("a text"))
}

/// Free text, for people.
pub(super) fn prose(value: &Json) -> Result<UntrustedText, Wrong> {
    let text = value.as_text().ok_or(Wrong::format("a text"))?;
    Ok(text.clone().into())
}

pub(super) fn boolean(value: &Json) -> Result<bool, Wrong> {
    value.as_bool().ok_or(Wrong::format("true or false"))
}

pub(super) fn object(value: &Json) -> Result<&Fields, Wrong> {
    value.as_object().ok_or(Wrong::format("an object"))
}

/// Any object, unchanged.
pub(super) fn any_object(value: &Json) -> Result<Map<String, Value>, Wrong> {
    object(value).map(Fields::to_map)
}

pub(super) fn array(value: &Json) -> Result<&[Json], Wrong> {
    value.as_array().ok_or(Wrong::format("a list"))
}

pub(super) fn anything(value: &Json) -> Result<Value, Wrong> {
    match value {
        Json::Null => Err(Wrong::format("a value")),
        value => Ok(value.into()),
    }
}

/// `null`, or what the rule says.
pub(super) fn nullable<'v, T>(rule: impl Rule<'v, T>) -> impl Rule<'v, Option<T>> {
    move |value| match value {
        Json::Null => Ok(None),
        value => rule(value).map(Some),
    }
}

/// An id, made by the constructor of its type.
pub(super) fn id<'v, T>(make: fn(SmolStr) -> T) -> impl Rule<'v, T> {
    move |value| word(value).map(make)
}

/// A short text: a code, a state, a move type.
pub(super) fn word(value: &Json) -> Result<SmolStr, Wrong> {
    value
        .as_text()
        .filter(|text| id_fits(text))
        .cloned()
        .ok_or(Wrong::format(
            "a text of 1 to 128 bytes without control or invisible characters",
        ))
}

pub(super) fn words(value: &Json) -> Result<Vec<SmolStr>, Wrong> {
    array(value)?.iter().map(word).collect()
}

pub(super) fn error_code(value: &Json) -> Result<ErrorCode, Wrong> {
    word(value).map(|text| ErrorCode::parse(&text))
}

pub(super) fn sender(value: &Json) -> Result<Sender, Wrong> {
    value.as_str().and_then(Sender::parse).ok_or(Wrong::format(
        "a sender: \"league_manager\", \"referee:ID\", \"player:ID\" or \"launcher\"",
    ))
}

const UTC: &str = "a time in UTC, such as \"2025-01-15T10:30:00Z\"";

pub(super) fn not_utc() -> Wrong {
    Wrong::new(ErrorCode::InvalidTimestamp, UTC)
}

/// A number or a list is a wrong type rather than an invalid timestamp.
pub(super) fn time(value: &Json) -> Result<(Timestamp, TimeForm), Wrong> {
    let text = value.as_str().ok_or(Wrong::format(UTC))?;
    Timestamp::parse(text).ok_or_else(not_utc)
}

pub(super) fn token(value: &Json) -> Result<Token, Wrong> {
    value
        .as_str()
        .filter(|text| text.len() <= TOKEN_BYTES_MAX)
        .map(Token::new)
        .ok_or(Wrong::format("a token, a text of at most 1024 bytes"))
}

pub(super) fn version(value: &Json) -> Result<Version, Wrong> {
    Ok(Version::parse(value.as_str().unwrap_or_default())?)
}

pub(super) fn nonce(value: &Json) -> Result<Nonce, Wrong> {
    value
        .as_text()
        .filter(|text| text.len() <= NONCE_BYTES_MAX && !text.contains(is_deceptive))
        .map(|text| Nonce(text.clone()))
        .ok_or(Wrong::format(
            "a text of at most 64 bytes without control or invisible characters",
        ))
}

/// In a reveal a player's id stands in for a missing nonce, and may be longer than a nonce.
pub(super) fn revealed_nonce(value: &Json) -> Result<Nonce, Wrong> {
    nonce(value).or_else(|_| word(value).map(Nonce))
}

pub(super) fn commitment(value: &Json) -> Result<Commitment, Wrong> {
    word(value).map(Commitment)
}

pub(super) fn nonce_commitment(value: &Json) -> Result<NonceCommitment, Wrong> {
    value
        .as_str()
        .and_then(NonceCommitment::parse)
        .ok_or(Wrong::format(
            "a SHA-256 as 64 hexadecimal digits in lower case",
        ))
}

pub(super) fn public_key(value: &Json) -> Result<PublicKey, Wrong> {
    value
        .as_str()
        .and_then(PublicKey::parse)
        .ok_or(Wrong::format(
            "an Ed25519 public key: \"ed25519:\" and 64 hexadecimal digits in lower case",
        ))
}

pub(super) fn signature(value: &Json) -> Result<Signature, Wrong> {
    value
        .as_str()
        .and_then(Signature::parse)
        .ok_or(Wrong::format(
            "an Ed25519 signature: 128 hexadecimal digits in lower case",
        ))
}

/// The longest note that is kept: a checkpoint of ours has less than half of it.
const NOTE_BYTES_MAX: usize = 4096;

pub(super) fn note(value: &Json) -> Result<Arc<str>, Wrong> {
    value
        .as_str()
        .filter(|text| text.len() <= NOTE_BYTES_MAX)
        .map(Arc::from)
        .ok_or(Wrong::format("a signed note of at most 4096 bytes"))
}

/// A JSON integer: `1.0`, `"1"` and `true` are not.
fn integer(value: &Json, range: RangeInclusive<u32>, expected: &'static str) -> Result<u32, Wrong> {
    value
        .as_number()
        .and_then(Number::as_u64)
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| range.contains(number))
        .ok_or(Wrong::format(expected))
}

/// The protocol's integers are signed and have 32 bits.
const INTEGER_MAX: u32 = i32::MAX as u32;

pub(super) fn count(value: &Json) -> Result<u32, Wrong> {
    integer(
        value,
        0..=INTEGER_MAX,
        "a whole number from 0 to 2147483647",
    )
}

/// Rounds and ranks, which are counted from 1.
pub(super) fn ordinal(value: &Json) -> Result<u32, Wrong> {
    integer(
        value,
        1..=INTEGER_MAX,
        "a whole number from 1 to 2147483647",
    )
}

pub(super) fn capacity(value: &Json) -> Result<u32, Wrong> {
    integer(value, 1..=10, "a whole number from 1 to 10")
}

pub(super) fn drawn_number(value: &Json) -> Result<u8, Wrong> {
    let expected = "a whole number from 1 to 10, or null";
    let number = integer(value, 1..=10, expected)?;
    u8::try_from(number).map_err(|_| Wrong::format(expected))
}

/// A drawn number of a game of another make.
pub(super) fn small_number(value: &Json) -> Result<u8, Wrong> {
    let number = value.as_number().and_then(Number::as_u64);
    let number = number.and_then(|number| u8::try_from(number).ok());
    number.ok_or(Wrong::format("a whole number from 0 to 255"))
}

pub(super) fn seconds(value: &Json) -> Result<Seconds, Wrong> {
    value
        .as_number()
        .and_then(Number::as_f64)
        .map(Seconds)
        .ok_or(Wrong::format("a number of seconds"))
}

/// Whose fault a technical loss is.
pub(super) fn blame(value: &Json) -> Result<Blame, Wrong> {
    let fields = object(value)?;
    let field = |name: &str| fields.get(name).unwrap_or(&Json::Null);
    let moment =
        |name: &str| nullable(time)(field(name)).map(|read| read.map(|(at, _)| at.whole_second()));
    Ok(Blame {
        culprit: one_of(field("culprit"))?,
        cause: one_of(field("cause"))?,
        owed: nullable(word)(field("owed"))?,
        tries: nullable(count)(field("tries"))?,
        since: moment("since")?,
        until: moment("until")?,
        evidence: nullable(prose)(field("evidence"))?,
    })
}

/// Any violation has its own code, E004.
pub(super) fn parity_choice(value: &Json) -> Result<Parity, Wrong> {
    one_of(value)
        .map_err(|Wrong { expected, .. }| Wrong::new(ErrorCode::InvalidParityChoice, expected))
}

/// The query of a LEAGUE_QUERY.
pub(super) fn query_type(value: &Json) -> Result<Query, Wrong> {
    let named = |text| {
        Query::types()
            .find(|(_, name)| *name == text)
            .map(|(query, _)| query)
    };
    value.as_str().and_then(named).ok_or_else(|| {
        let names: Vec<_> = Query::types()
            .map(|(_, name)| format!("\"{name}\""))
            .collect();
        Wrong::format(format!("one of {}", names.join(", ")))
    })
}

/// A type with a few fixed values on the wire, case-sensitive.
pub(super) trait Words: Copy + 'static {
    const WORDS: &'static [(&'static str, Self)];
    const EXPECTED: &'static str;
}

pub(super) fn one_of<T: Words>(value: &Json) -> Result<T, Wrong> {
    let text = value.as_str();
    T::WORDS
        .iter()
        .find(|(word, _)| Some(*word) == text)
        .map(|(_, meaning)| *meaning)
        .ok_or(Wrong::format(T::EXPECTED))
}

macro_rules! words {
    ($($type:ident $expected:literal { $($word:literal $variant:ident,)* })*) => {
        $(impl Words for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)*];
            const EXPECTED: &'static str = $expected;
        })*

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn every_word_is_read_as_it_is_written() {
                $(for (word, meaning) in $type::WORDS {
                    assert_eq!(serde_json::to_value(meaning).unwrap(), *word);
                })*
            }
        }
    };
}

words! {
    Parity "exactly \"even\" or \"odd\"" { "even" Even, "odd" Odd, }
    RegisterStatus "\"ACCEPTED\" or \"REJECTED\"" { "ACCEPTED" Accepted, "REJECTED" Rejected, }
    GameStatus "\"WIN\", \"DRAW\" or \"TECHNICAL_LOSS\"" {
        "WIN" Win, "DRAW" Draw, "TECHNICAL_LOSS" TechnicalLoss,
    }
    Role "\"PLAYER_A\" or \"PLAYER_B\"" { "PLAYER_A" PlayerA, "PLAYER_B" PlayerB, }
    Proof "\"signed\", \"nonce\" or \"none\"" { "signed" Signed, "nonce" Nonce, "none" None, }
    AckStatus "\"recorded\"" { "recorded" Recorded, }
    AgentRole "\"player\" or \"referee\"" { "player" Player, "referee" Referee, }
    PlaceState "\"open\", \"registered\", \"withdrawn\" or \"shared\"" {
        "open" Open, "registered" Registered, "withdrawn" Withdrawn, "shared" Shared,
    }
    Order "one of \"PAUSE\", \"RESUME\", \"WITHDRAW\", \"VOID\", \"END\", \"ROTATE\", \"REVOKE\", \"ROSTER\", \"INVITE\", \"ROTATE_CODE\", \"ALLOW_UNPROVEN\"" {
        "PAUSE" Pause,
        "RESUME" Resume,
        "WITHDRAW" Withdraw,
        "VOID" Void,
        "END" End,
        "ROTATE" Rotate,
        "REVOKE" Revoke,
        "ROSTER" Roster,
        "INVITE" Invite,
        "ROTATE_CODE" RotateCode,
        "ALLOW_UNPROVEN" AllowUnproven,
    }
    Culprit "a culprit: \"player\", \"opponent\", \"referee\" or \"infrastructure\"" {
        "player" Player, "opponent" Opponent, "referee" Referee, "infrastructure" Infrastructure,
    }
    Cause "a cause, such as \"silent\" or \"unreachable\"" {
        "silent" Silent,
        "unreachable" Unreachable,
        "declined" Declined,
        "invalid" Invalid,
        "suspended" Suspended,
        "withdrawn" Withdrawn,
        "revoked" Revoked,
        "unstated" Unstated,
    }
    Conformance "\"strict\" or \"lenient\"" { "strict" Strict, "lenient" Lenient, }
    Phase "\"registration\", \"running\", \"paused\" or \"completed\"" {
        "registration" Registration, "running" Running, "paused" Paused, "completed" Completed,
    }
    Dialect "the name of a dialect, such as \"standard\"" {
        "standard" Standard,
        "type_as_method" TypeAsMethod,
        "lower_type_as_method" LowerTypeAsMethod,
        "handle_message" HandleMessage,
        "mcp_message" McpMessage,
        "protocol_message" ProtocolMessage,
        "bare" Bare,
        "tools_call" ToolsCall,
    }
}
