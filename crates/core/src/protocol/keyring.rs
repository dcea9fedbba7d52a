//! All tokens that follow from one agent's own token in one league, made once and kept. Pure, and never written down.
//!
//! Manager and agent each have one of these for the same agent, so both know what the other must show.

use super::ids::{Attempt, LeagueId, MatchId};
use super::messages::MatchTokens;
use super::token::{Maker, Token, TokenHash};
use std::borrow::Cow;
use std::fmt;

#[derive(Clone)]
pub struct Keyring {
    hash: TokenHash,
    league: LeagueId,
    maker: Maker,
    notice: Token,
    /// The tokens of the match that was kept last: an agent has its matches one after the other.
    last: Option<(MatchId, Attempt, MatchTokens)>,
}

impl Keyring {
    pub fn new(hash: TokenHash, league: &LeagueId) -> Self {
        let maker = hash.maker();
        Self { hash, league: league.clone(), notice: maker.notice_token(league), maker, last: None }
    }

    /// Whether this is the keyring of the token behind this hash.
    pub fn is_of(&self, hash: &TokenHash) -> bool {
        self.hash.is(hash)
    }

    /// By which the agent knows the manager's own messages.
    pub fn notice_token(&self) -> &Token {
        &self.notice
    }

    /// The tokens of one attempt at a match, if the agent plays in it.
    pub fn match_tokens(&self, match_id: &MatchId, attempt: Attempt) -> Cow<'_, MatchTokens> {
        match &self.last {
            Some((id, of, tokens)) if of == &attempt && id == match_id => Cow::Borrowed(tokens),
            _ => Cow::Owned(self.maker.match_tokens(&self.league, match_id, attempt)),
        }
    }

    /// Keeps the tokens of one attempt at a match at hand, until it is another's turn.
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
        let (hash, league) = (Token::new("tok_p01_secret").hash(), LeagueId::new("l1"));
        let mut keyring = Keyring::new(hash, &league);
        assert!(keyring.is_of(&hash) && !keyring.is_of(&Token::new("another").hash()));
        assert_eq!(*keyring.notice_token(), hash.notice_token(&league));
        for (number, attempt) in [(1, 1), (1, 2), (2, 1), (2, 1), (1, 1)] {
            let (id, attempt) = (MatchId::numbered(RoundId(1), number), Attempt(attempt));
            let expected = |direction| hash.match_token(&league, &id, attempt, direction);
            for _ in 0..2 {
                let MatchTokens { to_player, from_player } = keyring.match_tokens(&id, attempt).into_owned();
                assert_eq!(to_player, expected(Direction::RefereeToPlayer));
                assert_eq!(from_player, expected(Direction::PlayerToReferee));
                keyring.keep(&id, attempt, MatchTokens { to_player, from_player });
            }
        }
    }
}
