//! The tokens derived from one agent's token in one league, cached. Never stored.
//!
//! The manager and the agent each have one, so both know what the other must show.

use super::ids::{Attempt, LeagueId, MatchId};
use super::messages::MatchTokens;
use super::token::{Token, TokenDeriver, TokenHash};
use std::borrow::Cow;
use std::fmt;

/// The tokens that one agent and the manager derive from the agent's token.
#[derive(Clone)]
pub struct Keyring {
    hash: TokenHash,
    league: LeagueId,
    deriver: TokenDeriver,
    notice: Token,
    /// The tokens of the last match: an agent plays one match after the other.
    last: Option<(MatchId, Attempt, MatchTokens)>,
}

impl Keyring {
    /// For the agent whose token has this hash.
    pub fn new(hash: TokenHash, league: &LeagueId) -> Self {
        let deriver = hash.deriver();
        Self {
            hash,
            league: league.clone(),
            notice: deriver.notice_token(league),
            deriver,
            last: None,
        }
    }

    /// Whether this is the keyring of the token behind this hash.
    pub fn is_of(&self, hash: &TokenHash) -> bool {
        self.hash.is(hash)
    }

    /// Authenticates the manager's messages to the agent.
    pub fn notice_token(&self) -> &Token {
        &self.notice
    }

    /// The tokens of one attempt at a match.
    pub fn match_tokens(&self, match_id: &MatchId, attempt: Attempt) -> Cow<'_, MatchTokens> {
        match &self.last {
            Some((id, of, tokens)) if of == &attempt && id == match_id => Cow::Borrowed(tokens),
            _ => Cow::Owned(self.deriver.match_tokens(&self.league, match_id, attempt)),
        }
    }

    /// Caches the tokens of one attempt at a match.
    pub fn keep(&mut self, match_id: &MatchId, attempt: Attempt, tokens: MatchTokens) {
        self.last = Some((match_id.clone(), attempt, tokens));
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::RoundId;
    use crate::protocol::token::Direction;

    #[test]
    fn a_keyring_has_the_tokens_that_follow_from_the_hash() {
        let hash = Token::new("tok_p01_secret").hash();
        let league = LeagueId::new("l1");
        let mut keyring = Keyring::new(hash, &league);
        assert!(keyring.is_of(&hash) && !keyring.is_of(&Token::new("another").hash()));
        assert_eq!(*keyring.notice_token(), hash.notice_token(&league));
        for (number, attempt) in [(1, 1), (1, 2), (2, 1), (2, 1), (1, 1)] {
            let id = MatchId::numbered(RoundId(1), number);
            let attempt = Attempt(attempt);
            let expected = |direction| hash.match_token(&league, &id, attempt, direction);
            for _ in 0..2 {
                let MatchTokens {
                    to_player,
                    from_player,
                } = keyring.match_tokens(&id, attempt).into_owned();
                assert_eq!(to_player, expected(Direction::RefereeToPlayer));
                assert_eq!(from_player, expected(Direction::PlayerToReferee));
                keyring.keep(
                    &id,
                    attempt,
                    MatchTokens {
                        to_player,
                        from_player,
                    },
                );
            }
        }
    }
}
