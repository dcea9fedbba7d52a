//! Players that a league of a season takes over from the league before it.

use crate::league::event::{LeagueEvent, RegistrationRecord};
use crate::league::state::League;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{LeagueId, PlayerId};
use crate::protocol::messages::PlayerMeta;
use crate::protocol::text::DisplayName;
use crate::protocol::token::TokenHash;

/// A player of the previous league.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedOver {
    player_id: PlayerId,
    meta: PlayerMeta,
    token: TokenHash,
    dialect: Dialect,
    request: Option<RegistrationRecord>,
    from: LeagueId,
}

impl League {
    /// The players that take part in the season's next league: all but those that the operator has taken out.
    pub fn to_carry_over(&self) -> Vec<CarriedOver> {
        let players = self.players.iter().filter(|(_, player)| player.is_in());
        let carried = players.map(|(id, player)| CarriedOver {
            player_id: id.clone(),
            meta: player.meta.clone(),
            token: player.token,
            dialect: player.dialect,
            request: player.request,
            from: self.settings.league_id.clone(),
        });
        carried.collect()
    }
}

impl CarriedOver {
    /// Under which it is on the roster of the next league, if that has one.
    pub fn display_name(&self) -> &DisplayName {
        &self.meta.display_name
    }
}

impl From<CarriedOver> for LeagueEvent {
    fn from(player: CarriedOver) -> Self {
        let CarriedOver {
            player_id,
            meta,
            token,
            dialect,
            request,
            from,
        } = player;
        Self::PlayerCarriedOver {
            player_id,
            meta,
            token,
            dialect,
            request,
            from,
        }
    }
}
