//! Tokens: how an agent proves who it is, and how it is kept from proving it in someone else's name.
//!
//! The manager gives each agent a secret token and keeps only its hash. From that hash both sides can derive further
//! tokens, each good for one direction of one match, so that a token seen by another agent is worth nothing elsewhere.

use super::ids::{Attempt, ConversationId, LeagueId, MatchId};
use super::messages::MatchTokens;
use super::text::Endpoint;
use crate::digits;
use crate::entropy::Entropy;
use crate::list;
use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use smol_str::{SmolStr, format_smolstr};
use std::fmt;
use subtle::ConstantTimeEq;

/// A token in clear. It is never printed whole: `Debug` shows its first characters only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(
    description = "A secret that proves who speaks. Ours are `tok_`, the owner in lower case, `_` and 64 hexadecimal \
                   digits; those of other managers may look otherwise.",
    extend("maxLength" = TOKEN_BYTES_MAX)
)]
pub struct Token(SmolStr);

/// What the manager keeps of a token. Knowing it is enough to derive tokens, not to impersonate the agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash([u8; 32]);

/// What a derived token is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The referee shows it to the player in the messages of one match.
    RefereeToPlayer,
    /// The player shows it to the referee in its answers in one match.
    PlayerToReferee,
}

impl Direction {
    fn label(self) -> &'static [u8] {
        match self {
            Self::RefereeToPlayer => b"referee-to-player",
            Self::PlayerToReferee => b"player-to-referee",
        }
    }
}

/// Whose token a registration key is, by its shape.
const KEY_OWNER: &str = "registration";

/// What every join code begins with. A text of this shape is cut wherever it would be logged.
const JOIN_CODE: &str = "tok_join_";

/// The longest token that is read, in bytes.
pub const TOKEN_BYTES_MAX: usize = 1024;

/// How much of a refused token an error may show.
const SHOWN_CHARS: usize = 8;

impl Token {
    pub fn new(text: impl Into<SmolStr>) -> Self {
        Self(text.into())
    }

    /// A fresh token for `agent`: `tok_{agent id, lower case}_{256 random bits}`.
    pub fn issue(agent: &str, entropy: &mut Entropy) -> Self {
        Self::shaped(agent, &entropy.bytes())
    }

    fn shaped(owner: &str, bits: &[u8; 32]) -> Self {
        Self(digits::after(&["tok_", owner, "_"], bits))
    }

    /// The secret that an agent makes up before it first registers, and from which its league token will follow.
    pub fn new_registration_key(entropy: &mut Entropy) -> Self {
        Self::shaped(KEY_OWNER, &entropy.bytes())
    }

    /// What an agent shows one manager of its registration key: two managers must not learn each other's tokens.
    pub fn shown_to(&self, manager: &Endpoint) -> Self {
        derive(&self.hash().0, KEY_OWNER, &[b"manager", manager.raw().as_bytes()])
    }

    /// Whether this has the shape of a registration key: `tok_registration_` and 64 hexadecimal digits.
    pub fn is_registration_key(&self) -> bool {
        let digits =
            self.0.strip_prefix("tok_").and_then(|rest| rest.strip_prefix(KEY_OWNER)?.strip_prefix('_'));
        digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    /// What the operator gives out for a place on the roster: `tok_join_` and 128 random bits, short enough for a URL.
    pub fn new_join_code(entropy: &mut Entropy) -> Self {
        Self(format_smolstr!("{JOIN_CODE}{}", hex::encode(entropy.bytes::<16>())))
    }

    /// Whether this has the shape of a join code: `tok_join_` and at least 16 letters and digits.
    pub fn is_join_code(&self) -> bool {
        let random = self.0.strip_prefix(JOIN_CODE);
        random.is_some_and(|text| text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    }

    /// The league token of an agent that registers with this key. Whoever shows the key again is given the same one, by
    /// any manager that has the league's log.
    pub fn league_token(&self, league: &LeagueId, agent: &str) -> Self {
        derive(&self.hash().0, agent, &[KEY_OWNER.as_bytes(), league.as_str().as_bytes(), agent.as_bytes()])
    }

    /// By what a manager knows a registration key again. No token follows from it.
    pub fn proof(&self) -> TokenHash {
        derive(&self.hash().0, KEY_OWNER, &[b"proof"]).hash()
    }

    /// The token itself, for the wire and for the agent's own keyring; nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// What may be said of a token in an error: its first 8 characters.
    pub fn hint(&self) -> String {
        let mut hint: String = self.0.chars().take(SHOWN_CHARS).collect();
        hint.push_str("...");
        hint
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hint())
    }
}

impl TokenHash {
    /// By what a manager knows a conversation again: as good a proof as the conversation's name is hard to guess.
    pub fn of_conversation(conversation: &ConversationId) -> Self {
        Self(Sha256::digest(conversation.as_str().as_bytes()).into())
    }

    /// Whether `token` is the one behind this hash, in a time that does not depend on where they differ.
    pub fn admits(&self, token: &Token) -> bool {
        same_bytes(&self.0, &token.hash().0)
    }

    /// Whether two hashes are the same, in constant time.
    pub fn is(&self, other: &Self) -> bool {
        same_bytes(&self.0, &other.0)
    }

    /// The token for one direction of one attempt at a match, of the player behind this hash.
    pub fn match_token(
        &self,
        league: &LeagueId,
        match_id: &MatchId,
        attempt: Attempt,
        direction: Direction,
    ) -> Token {
        let maker = Maker::new(&self.0);
        maker.with(&match_parts(league, match_id, &attempt.0.to_be_bytes())).direction(match_id, direction)
    }

    /// The token by which the agent behind this hash knows the manager's own messages.
    pub fn notice_token(&self, league: &LeagueId) -> Token {
        self.maker().notice_token(league)
    }

    pub(super) fn maker(&self) -> Maker {
        Maker::new(&self.0)
    }
}

/// Makes the tokens that follow from one key. Keying costs as much as a token does, so whoever makes many keeps it.
#[derive(Clone)]
pub(super) struct Maker(Option<Hmac<Sha256>>);

impl Maker {
    fn new(key: &[u8; 32]) -> Self {
        // HMAC takes keys of any length, so there always is one.
        Self(Hmac::new_from_slice(key).ok())
    }

    /// The same, for tokens whose parts begin with these.
    fn with(&self, parts: &[&[u8]]) -> Self {
        let mut keyed = self.0.clone();
        keyed.iter_mut().for_each(|mac| list::feed(parts, |bytes| mac.update(bytes)));
        Self(keyed)
    }

    /// The token for `owner`, from which neither the key nor the parts can be told.
    fn finish(self, owner: &str) -> Token {
        let bits = self.0.map_or([0; 32], |mac| mac.finalize().into_bytes().into());
        Token::shaped(owner, &bits)
    }

    pub(super) fn notice_token(&self, league: &LeagueId) -> Token {
        self.with(&[b"notice", league.as_str().as_bytes(), b"", b"", b""]).finish("league_manager")
    }

    /// The tokens for both directions of one attempt at a match.
    pub(super) fn match_tokens(
        &self,
        league: &LeagueId,
        match_id: &MatchId,
        attempt: Attempt,
    ) -> MatchTokens {
        let of_match = self.with(&match_parts(league, match_id, &attempt.0.to_be_bytes()));
        MatchTokens {
            to_player: of_match.direction(match_id, Direction::RefereeToPlayer),
            from_player: of_match.direction(match_id, Direction::PlayerToReferee),
        }
    }

    fn direction(&self, match_id: &MatchId, direction: Direction) -> Token {
        self.with(&[direction.label()]).finish(match_id.as_str())
    }
}

fn match_parts<'a>(league: &'a LeagueId, match_id: &'a MatchId, attempt: &'a [u8; 4]) -> [&'a [u8]; 4] {
    [b"match", league.as_str().as_bytes(), match_id.as_str().as_bytes(), attempt]
}

/// A token for `owner` that follows from the key and the parts, and from which neither can be told.
fn derive(key: &[u8; 32], owner: &str, parts: &[&[u8]]) -> Token {
    Maker::new(key).with(parts).finish(owner)
}

/// Issues the tokens of one manager from its start to its end, to agents that register without a key of their own.
///
/// A registration that arrives twice, because the network or the agent repeated it, must not kill the token that its
/// first arrival was given: so a token follows from the agent and the conversation it registers in. The key is never
/// stored, and a restarted manager has another.
pub struct Mint([u8; 32]);

impl Mint {
    pub fn new(entropy: &mut Entropy) -> Self {
        Self(entropy.bytes())
    }

    /// `tok_{agent id, lower case}_{256 bits}`.
    pub fn issue(&self, agent: &str, conversation: &ConversationId) -> Token {
        derive(&self.0, agent, &[b"registration", agent.as_bytes(), conversation.as_str().as_bytes()])
    }
}

impl fmt::Debug for Mint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mint(..)")
    }
}

/// Whether two tokens are the same, in a time that does not depend on where they differ.
pub fn same_token(a: &Token, b: &Token) -> bool {
    same_bytes(a.0.as_bytes(), b.0.as_bytes())
}

/// Compares word by word, and looks at the differences only once all of them are gathered.
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let words = a.iter().zip(b).map(|(a, b)| u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b));
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| u64::from(a ^ b));
    words.chain(rest).fold(0, |differences, word| differences | word).ct_eq(&0).into()
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

impl Serialize for TokenHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for TokenHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(text.as_bytes(), &mut bytes).map_err(serde::de::Error::custom)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::RoundId;

    fn token() -> Token {
        Token::issue("P01", &mut Entropy::from_seed([7; 32]))
    }

    #[test]
    fn a_token_names_its_agent_and_carries_256_bits() {
        let token = token();
        let digits = token.reveal().strip_prefix("tok_p01_").unwrap();
        assert_eq!(digits.len(), 64);
        assert!(token.hash().admits(&token));
        assert!(!token.hash().admits(&Token::new("tok_p01_guess")));
    }

    #[test]
    fn a_repeated_registration_gets_the_same_token_and_another_one_another() {
        let mint = Mint::new(&mut Entropy::numbered(1));
        let (first, second) = (ConversationId::new("conv-1"), ConversationId::new("conv-2"));
        assert_eq!(mint.issue("P01", &first), mint.issue("P01", &first));
        assert_ne!(mint.issue("P01", &first), mint.issue("P01", &second));
        assert_ne!(mint.issue("P01", &first), mint.issue("P02", &first));
        assert_ne!(mint.issue("P01", &first), Mint::new(&mut Entropy::numbered(2)).issue("P01", &first));
    }

    #[test]
    fn a_registration_key_leads_to_one_token_in_a_league_and_to_another_in_another() {
        let key = Token::new_registration_key(&mut Entropy::numbered(1));
        let (l1, l2) = (LeagueId::new("l1"), LeagueId::new("l2"));
        assert_eq!(key.league_token(&l1, "P01"), key.league_token(&l1, "P01"));
        assert!(key.league_token(&l1, "P01").reveal().starts_with("tok_p01_"));
        let manager = |port| Endpoint::parse(&format!("http://localhost:{port}/mcp")).unwrap();
        let mut all = vec![
            key.league_token(&l1, "P01"),
            key.league_token(&l1, "P02"),
            key.league_token(&l2, "P01"),
            key.shown_to(&manager(8000)),
            key.shown_to(&manager(8001)),
            key,
        ];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn a_registration_key_is_known_by_its_shape() {
        let key = Token::new_registration_key(&mut Entropy::numbered(1));
        assert!(key.is_registration_key());
        assert!(key.shown_to(&Endpoint::parse("http://localhost:8000/mcp").unwrap()).is_registration_key());
        for other in ["tok_registration_", "tok_registration_0123", "registration_00", token().reveal()] {
            assert!(!Token::new(other).is_registration_key(), "{other}");
        }
    }

    #[test]
    fn tokens_are_the_same_only_to_the_last_byte() {
        for length in 0..40 {
            let text = "x".repeat(length);
            assert!(same_token(&Token::new(&*text), &Token::new(&*text)));
            assert!(!same_token(&Token::new(&*text), &Token::new(text.clone() + "x")));
            for place in 0..length {
                let mut other = text.clone();
                other.replace_range(place..=place, "y");
                assert!(!same_token(&Token::new(&*text), &Token::new(other)), "{place} of {length}");
            }
        }
    }

    #[test]
    fn a_token_is_never_printed_whole() {
        assert_eq!(format!("{:?}", token()), "tok_p01_...");
    }

    #[test]
    fn derived_tokens_differ_by_league_match_attempt_and_direction() {
        let hash = token().hash();
        let (l1, l2) = (LeagueId::new("l1"), LeagueId::new("l2"));
        let (m1, m2) = (MatchId::numbered(RoundId(1), 1), MatchId::numbered(RoundId(1), 2));
        let mut tokens = vec![hash.notice_token(&l1), hash.notice_token(&l2), token()];
        for league in [&l1, &l2] {
            for id in [&m1, &m2] {
                for attempt in [Attempt(1), Attempt(2)] {
                    for direction in [Direction::RefereeToPlayer, Direction::PlayerToReferee] {
                        tokens.push(hash.match_token(league, id, attempt, direction));
                    }
                }
            }
        }
        let count = tokens.len();
        tokens.sort();
        tokens.dedup();
        assert_eq!(tokens.len(), count);
    }
}
