//! Ids of leagues, rounds, matches, agents and conversations.
//!
//! Ids are text, because foreign agents choose their own; short ones are stored inline, so cloning is cheap.

use super::short_id::ShortId;
use super::untrusted::Untrusted;
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use std::fmt;

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", schemars(with = "crate::protocol::schema_words::Word"))]
        pub struct $name(ShortId);

        impl $name {
            /// Takes any text; decoding rejects what cannot be an id.
            pub fn new(text: impl Into<SmolStr>) -> Self {
                Self(ShortId::new(text.into()))
            }

            /// As it came: to compare, to hash, to send. To show it, format the id itself.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        /// For people, with deceptive characters escaped: foreign agents choose ids too.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Untrusted::new(self.as_str()).escaped().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

text_ids! {
    /// A league, `league_2025_even_odd`.
    LeagueId;
    /// A match, `R1M1`.
    MatchId;
    /// A player, `P01`.
    PlayerId;
    /// A referee, `REF01`.
    RefereeId;
    /// The thread that ties the messages of one exchange or one match together, `conv-r1m1-001`.
    ConversationId;
    /// A game, `even_odd`.
    GameType;
}

impl GameType {
    /// The game that every player knows, and that has messages of its own.
    pub const EVEN_ODD: &'static str = "even_odd";

    /// The game itself.
    pub fn even_odd() -> Self {
        Self::new(Self::EVEN_ODD)
    }

    /// Whether it is that game.
    pub fn is_even_odd(&self) -> bool {
        self.as_str() == Self::EVEN_ODD
    }
}

impl PlayerId {
    /// `P01`, `P02`, ... growing to three digits past 99.
    pub fn numbered(n: u32) -> Self {
        Self::new(format_smolstr!("P{n:02}"))
    }

    /// Of a message that does not say whom it means.
    pub fn unknown() -> Self {
        Self::new("unknown")
    }

    /// The number of an id that has the form of those that managers assign; past all numbers, the greatest.
    pub fn number(&self) -> Option<u32> {
        let digits = self.as_str().strip_prefix('P')?;
        let is_numbered = digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_numbered.then(|| digits.parse().unwrap_or(u32::MAX))
    }
}

impl RefereeId {
    /// `REF01`, `REF02`, ...
    pub fn numbered(n: u32) -> Self {
        Self::new(format_smolstr!("REF{n:02}"))
    }

    /// The number of an id that has the form of those that managers assign.
    pub fn number(&self) -> Option<u32> {
        let digits = self.as_str().strip_prefix("REF")?;
        let is_numbered = digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_numbered.then(|| digits.parse().unwrap_or(u32::MAX))
    }
}

impl MatchId {
    /// `R{round}M{number}`, both counted from 1.
    pub fn numbered(round: RoundId, number: u32) -> Self {
        Self::new(format_smolstr!("R{round}M{number}"))
    }
}

impl ConversationId {
    /// The conversation of one attempt at a match: `conv-r1m1-001`. A reassigned match goes on under `-002`.
    pub fn of_match(match_id: &MatchId, attempt: Attempt) -> Self {
        let mut text = String::with_capacity(match_id.as_str().len() + 9);
        text.push_str("conv-");
        text.push_str(match_id.as_str());
        text.make_ascii_lowercase();
        text.push('-');
        // Every announcement names one for each of its matches, and to format a number takes longer than all the rest.
        match attempt.0 {
            number @ ..1000 => [number / 100, number / 10 % 10, number % 10]
                .into_iter()
                .for_each(|digit| text.extend(char::from_digit(digit, 10))),
            number => text.push_str(&format_smolstr!("{number}")),
        }
        Self::new(text)
    }

    /// Which attempt this conversation belongs to, if it is the conversation of `match_id` at all.
    pub fn attempt_of(&self, match_id: &MatchId) -> Option<Attempt> {
        let rest = self.as_str().strip_prefix("conv-")?;
        let (head, number) = rest.split_at_checked(match_id.as_str().len())?;
        let lower_case = match_id
            .as_str()
            .bytes()
            .map(|byte| byte.to_ascii_lowercase());
        head.bytes().eq(lower_case).then_some(())?;
        number.strip_prefix('-')?.parse().ok().map(Attempt)
    }
}

/// A round's number, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RoundId(#[cfg_attr(feature = "schema", schemars(range(min = 1)))] pub u32);

impl fmt::Display for RoundId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a match has been given to a referee, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attempt(pub u32);

impl Attempt {
    /// The attempt before any reassignment.
    pub const FIRST: Self = Self(1);

    /// The attempt after a reassignment.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_people_count() {
        let mut ids: Vec<_> = [100, 9, 99, 10].map(PlayerId::numbered).to_vec();
        ids.sort();
        assert_eq!(ids, [9, 10, 99, 100].map(PlayerId::numbered));
    }

    #[test]
    fn a_conversation_knows_its_match_and_attempt() {
        let match_id = MatchId::numbered(RoundId(1), 1);
        let conversation = ConversationId::of_match(&match_id, Attempt(2));
        assert_eq!(conversation.as_str(), "conv-r1m1-002");
        assert_eq!(conversation.attempt_of(&match_id), Some(Attempt(2)));
        assert_eq!(
            conversation.attempt_of(&MatchId::numbered(RoundId(1), 2)),
            None
        );
        for attempt in [1, 10, 99, 100, 999, 1000, u32::MAX].map(Attempt) {
            let conversation = ConversationId::of_match(&match_id, attempt);
            assert_eq!(conversation.as_str(), format!("conv-r1m1-{:03}", attempt.0));
            assert_eq!(conversation.attempt_of(&match_id), Some(attempt));
        }
        for other in [
            "conv-r1m1",
            "conv-r1m1-",
            "conv-r1m1-x",
            "conv-R1M1-001",
            "conv-r1m1-1-1",
            "r1m1-001",
        ] {
            assert_eq!(
                ConversationId::new(other).attempt_of(&match_id),
                None,
                "{other}"
            );
        }
    }
}
