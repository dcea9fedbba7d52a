//! Players that a league of a season takes over from the league before it.

use super::event::{LeagueEvent, Requested};
use super::manager::{Ctx, Manager};
use super::state::League;
use crate::agent::Agent;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{LeagueId, PlayerId};
use crate::protocol::messages::PlayerMeta;
use crate::protocol::token::TokenHash;

/// A player of the previous league.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedOver {
    player_id: PlayerId,
    meta: PlayerMeta,
    token: TokenHash,
    dialect: Dialect,
    request: Option<Requested>,
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

impl Manager {
    /// With the players of the season's previous league, who take part in this one without registering.
    #[must_use]
    pub fn with_carried_over(mut self, players: Vec<CarriedOver>) -> Self {
        self.carried_over = players;
        self
    }

    /// Enters the players of the previous league. The empty table tells them of this one: our players register again at it,
    /// to learn its id, and players of other makes need not.
    pub(super) fn carry_over(&mut self, ctx: &mut Ctx<'_>) {
        let players = std::mem::take(&mut self.carried_over);
        if players.is_empty() {
            return;
        }
        for CarriedOver { player_id, meta, token, dialect, request, from } in players {
            let event = LeagueEvent::PlayerCarriedOver { player_id, meta, token, dialect, request, from };
            self.record(ctx, event);
        }
        self.tell_standings(ctx);
    }
}
