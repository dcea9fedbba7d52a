//! Tokens: authentication of agents, and derived tokens for single matches.
//!
//! The manager issues each agent a secret token and keeps only its hash. Both sides derive further tokens from that
//! hash, each valid for one direction of one match, so that a token seen by another agent is worthless elsewhere.

use super::ids::{Attempt, ConversationId, LeagueId, MatchId};
use super::text::Endpoint;
use super::untrusted::id_fits;
use crate::entropy::Entropy;
use crate::hash_input;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use smol_str::{SmolStr, format_smolstr};
use std::fmt;
use subtle::ConstantTimeEq;

/// A token in clear. It is never printed whole: `Debug` shows its first characters only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(
    description = "A secret that proves who speaks. Ours are `tok_`, the owner in lower case, `_` and 64 hexadecimal \
                   digits; those of other managers may look otherwise.",
    extend("maxLength" = TOKEN_BYTES_MAX)
))]
pub struct Token(SmolStr);

/// The two tokens of one player in one attempt at a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchTokens {
    /// The referee shows it to the player.
    pub to_player: Token,
    /// The player shows it to the referee.
    pub from_player: Token,
}

/// The hash that the manager keeps of a token. It suffices to derive tokens, not to impersonate the agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash([u8; 32]);

/// The direction of a derived token.
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

/// How every token of ours begins. Texts of this shape are redacted in logs.
pub const TOKEN_PREFIX: &str = "tok_";

/// The form of a token, as errors show it.
pub const TOKEN_FORM: &str = "tok_{agent_id}_{hash}";

/// The owner part of a registration key.
const KEY_OWNER: &str = "registration";

/// The prefix of join codes.
const JOIN_CODE: &str = "tok_join_";

/// The longest accepted token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 1024;

/// How much of a rejected token an error may show.
const SHOWN_CHARS: usize = 8;

impl Token {
    /// Takes any text, as foreign agents have tokens of any form; decoding bounds the length.
    pub fn new(text: impl Into<SmolStr>) -> Self {
        Self(text.into())
    }

    /// A fresh token for `agent`: `tok_{agent id, lower case}_{256 random bits}`.
    pub fn issue(agent: &str, entropy: &mut Entropy) -> Self {
        Self::shaped(agent, &entropy.bytes())
    }

    fn shaped(owner: &str, bits: &[u8; 32]) -> Self {
        Self(format_smolstr!(
            "{TOKEN_PREFIX}{}_{}",
            owner.to_ascii_lowercase(),
            hex::encode(bits)
        ))
    }

    /// The agent that a token of our form names.
    pub fn owner(text: &str) -> Option<SmolStr> {
        let (owner, _) = text.strip_prefix(TOKEN_PREFIX)?.rsplit_once('_')?;
        id_fits(owner).then(|| owner.to_ascii_uppercase().into())
    }

    /// The secret that an agent creates before it first registers; its league token is derived from it.
    pub fn new_registration_key(entropy: &mut Entropy) -> Self {
        Self::shaped(KEY_OWNER, &entropy.bytes())
    }

    /// The registration key for one manager: two managers must not learn each other's tokens.
    pub fn shown_to(&self, manager: &Endpoint) -> Self {
        derive(
            &self.hash().0,
            KEY_OWNER,
            &[b"manager", manager.raw().as_bytes()],
        )
    }

    /// Whether this has the shape of a registration key: `tok_registration_` and 64 hexadecimal digits.
    pub fn is_registration_key(&self) -> bool {
        let digits = self
            .0
            .strip_prefix(TOKEN_PREFIX)
            .and_then(|rest| rest.strip_prefix(KEY_OWNER)?.strip_prefix('_'));
        digits.is_some_and(|digits| {
            digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// A join code for a roster slot: `tok_join_` and 128 random bits, short enough for a URL.
    pub fn new_join_code(entropy: &mut Entropy) -> Self {
        Self(format_smolstr!(
            "{JOIN_CODE}{}",
            hex::encode(entropy.bytes::<16>())
        ))
    }

    /// Whether this has the shape of a join code: `tok_join_` and at least 16 letters and digits.
    pub fn is_join_code(&self) -> bool {
        let random = self.0.strip_prefix(JOIN_CODE);
        random.is_some_and(|text| {
            text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    }

    /// The league token of an agent that registers with this key. Showing the key again yields the same token, also
    /// from another manager with the league's log.
    pub fn league_token(&self, league: &LeagueId, agent: &str) -> Self {
        derive(
            &self.hash().0,
            agent,
            &[
                KEY_OWNER.as_bytes(),
                league.as_str().as_bytes(),
                agent.as_bytes(),
            ],
        )
    }

    /// The hash by which a manager recognises a registration key. No token can be derived from it.
    pub fn proof(&self) -> TokenHash {
        derive(&self.hash().0, KEY_OWNER, &[b"proof"]).hash()
    }

    /// The token in clear, only for the wire and the agent's own keyring.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the text: what a manager stores instead of the token.
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The first 8 characters, for errors.
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
    /// The hash by which a manager recognises a conversation: a proof as strong as its id is hard to guess.
    pub fn of_conversation(conversation: &ConversationId) -> Self {
        Self(Sha256::digest(conversation.as_str().as_bytes()).into())
    }

    /// Whether this is the hash of `token`, in constant time.
    pub fn admits(&self, token: &Token) -> bool {
        same_bytes(&self.0, &token.hash().0)
    }

    /// Whether two hashes are the same, in constant time.
    pub fn is(&self, other: &Self) -> bool {
        same_bytes(&self.0, &other.0)
    }

    /// The token for one direction of one attempt at a match.
    pub fn match_token(
        &self,
        league: &LeagueId,
        match_id: &MatchId,
        attempt: Attempt,
        direction: Direction,
    ) -> Token {
        let deriver = TokenDeriver::new(&self.0);
        deriver
            .with(&match_parts(league, match_id, &attempt.0.to_be_bytes()))
            .direction(match_id, direction)
    }

    /// The token that authenticates the manager's messages to this agent.
    pub fn notice_token(&self, league: &LeagueId) -> Token {
        self.deriver().notice_token(league)
    }

    pub(super) fn deriver(&self) -> TokenDeriver {
        TokenDeriver::new(&self.0)
    }
}

/// Derives tokens from one key. Keying costs as much as a derivation, so it is reused.
#[derive(Clone)]
pub(super) struct TokenDeriver(Option<Hmac<Sha256>>);

impl TokenDeriver {
    fn new(key: &[u8; 32]) -> Self {
        // HMAC accepts keys of any length, so this never fails.
        Self(Hmac::new_from_slice(key).ok())
    }

    /// With a prefix of parts.
    fn with(&self, parts: &[&[u8]]) -> Self {
        let mut keyed = self.0.clone();
        keyed
            .iter_mut()
            .for_each(|mac| hash_input::feed(parts, |bytes| mac.update(bytes)));
        Self(keyed)
    }

    /// The token for `owner`; key and parts cannot be recovered from it.
    fn finish(self, owner: &str) -> Token {
        let bits = self
            .0
            .map_or([0; 32], |mac| mac.finalize().into_bytes().into());
        Token::shaped(owner, &bits)
    }

    pub(super) fn notice_token(&self, league: &LeagueId) -> Token {
        self.with(&[b"notice", league.as_str().as_bytes(), b"", b"", b""])
            .finish("league_manager")
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

fn match_parts<'a>(
    league: &'a LeagueId,
    match_id: &'a MatchId,
    attempt: &'a [u8; 4],
) -> [&'a [u8]; 4] {
    [
        b"match",
        league.as_str().as_bytes(),
        match_id.as_str().as_bytes(),
        attempt,
    ]
}

/// A token for `owner`, derived from the key and the parts.
fn derive(key: &[u8; 32], owner: &str, parts: &[&[u8]]) -> Token {
    TokenDeriver::new(key).with(parts).finish(owner)
}

/// Issues tokens to agents that register without a key.
///
/// A duplicate registration must not invalidate the token that the first one got, so the token is derived from the
/// agent and its conversation. The key is never stored; a restarted manager has another.
pub struct TokenIssuer([u8; 32]);

impl TokenIssuer {
    /// With a random key of 256 bits.
    pub fn new(entropy: &mut Entropy) -> Self {
        Self(entropy.bytes())
    }

    /// `tok_{agent id, lower case}_{256 bits}`.
    pub fn issue(&self, agent: &str, conversation: &ConversationId) -> Token {
        derive(
            &self.0,
            agent,
            &[
                b"registration",
                agent.as_bytes(),
                conversation.as_str().as_bytes(),
            ],
        )
    }
}

impl fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenIssuer(..)")
    }
}

/// Whether two tokens are equal, in constant time.
pub fn same_token(a: &Token, b: &Token) -> bool {
    same_bytes(a.0.as_bytes(), b.0.as_bytes())
}

/// Constant-time comparison, word by word.
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let words = a
        .iter()
        .zip(b)
        .map(|(a, b)| u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b));
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| u64::from(a ^ b));
    words
        .chain(rest)
        .fold(0, |differences, word| differences | word)
        .ct_eq(&0)
        .into()
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
        let issuer = TokenIssuer::new(&mut Entropy::numbered(1));
        let first = ConversationId::new("conv-1");
        let second = ConversationId::new("conv-2");
        assert_eq!(issuer.issue("P01", &first), issuer.issue("P01", &first));
        assert_ne!(issuer.issue("P01", &first), issuer.issue("P01", &second));
        assert_ne!(issuer.issue("P01", &first), issuer.issue("P02", &first));
        assert_ne!(
            issuer.issue("P01", &first),
            TokenIssuer::new(&mut Entropy::numbered(2)).issue("P01", &first)
        );
    }

    #[test]
    fn a_registration_key_leads_to_one_token_in_a_league_and_to_another_in_another() {
        let key = Token::new_registration_key(&mut Entropy::numbered(1));
        let l1 = LeagueId::new("l1");
        let l2 = LeagueId::new("l2");
        assert_eq!(key.league_token(&l1, "P01"), key.league_token(&l1, "P01"));
        assert!(
            key.league_token(&l1, "P01")
                .reveal()
                .starts_with("tok_p01_")
        );
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
        assert!(
            key.shown_to(&Endpoint::parse("http://localhost:8000/mcp").unwrap())
                .is_registration_key()
        );
        for other in [
            "tok_registration_",
            "tok_registration_0123",
            "registration_00",
            token().reveal(),
        ] {
            assert!(!Token::new(other).is_registration_key(), "{other}");
        }
    }

    #[test]
    fn tokens_are_the_same_only_to_the_last_byte() {
        for length in 0..40 {
            let text = "x".repeat(length);
            assert!(same_token(&Token::new(&*text), &Token::new(&*text)));
            assert!(!same_token(
                &Token::new(&*text),
                &Token::new(text.clone() + "x")
            ));
            for place in 0..length {
                let mut other = text.clone();
                other.replace_range(place..=place, "y");
                assert!(
                    !same_token(&Token::new(&*text), &Token::new(other)),
                    "{place} of {length}"
                );
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
        let l1 = LeagueId::new("l1");
        let l2 = LeagueId::new("l2");
        let m1 = MatchId::numbered(RoundId(1), 1);
        let m2 = MatchId::numbered(RoundId(1), 2);
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
