//! The tokens derived from each member's token, made on first use.

use super::state::League;
use crate::protocol::Sender;
use crate::protocol::keyring::Keyring;
use std::collections::BTreeMap;

/// Not durable: all of it follows from the members' tokens.
#[derive(Debug, Default)]
pub(super) struct Keyrings {
    keyrings: BTreeMap<Sender, Keyring>,
}

impl Keyrings {
    /// The keyring of the agent's current token.
    pub(super) fn of(&mut self, league: &League, agent: &Sender) -> Option<&Keyring> {
        let hash = league.member(agent)?.token;
        if self
            .keyrings
            .get(agent)
            .is_none_or(|keyring| !keyring.is_of(&hash))
        {
            let keyring = Keyring::new(hash, &league.settings.league_id);
            self.keyrings.insert(agent.clone(), keyring);
        }
        self.keyrings.get(agent)
    }
}
