//! A match as a manager offers it, by announcement or single assignment, and its acceptance.

use super::event::{Assignment, SeatedPlayer};
use super::notices::league_error;
use super::{AssignedMatch, Ctx, Referee, RefereeEvent};
use crate::agent::Agent;
use crate::entropy::Entropy;
use crate::fair::Secret;
use crate::protocol::decode::Conformance;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{
    AnnouncedMatch, Cause, LeagueError, MatchTokens, Record, Timeouts,
};
use crate::protocol::{
    Attempt, ConversationId, Endpoint, ErrorCode, GameType, LeagueId, MatchId, PlayerId, RoundId,
    Timestamp, Token,
};
use crate::signature::PublicKey;
use std::sync::Arc;

/// A match as a manager offers it.
pub(super) struct OfferedMatch {
    pub(super) league_id: LeagueId,
    pub(super) round_id: RoundId,
    pub(super) match_id: MatchId,
    pub(super) game_type: GameType,
    pub(super) conversation_id: Option<ConversationId>,
    pub(super) starts_at: Timestamp,
    /// Whether its result was voided, so that it is replayed.
    pub(super) replay: bool,
    pub(super) players: [OfferedPlayer; 2],
    pub(super) timeouts: Option<Timeouts>,
    pub(super) forfeits: Vec<(PlayerId, Cause)>,
    pub(super) conformance: Option<Conformance>,
}

/// A player as a manager describes it.
pub(super) struct OfferedPlayer {
    pub(super) player_id: PlayerId,
    pub(super) endpoint: Option<Endpoint>,
    pub(super) dialect: Option<Dialect>,
    pub(super) record: Option<Record>,
    pub(super) tokens: Option<MatchTokens>,
    pub(super) public_key: Option<PublicKey>,
}

impl OfferedPlayer {
    pub(super) fn named(player_id: PlayerId, endpoint: Option<Endpoint>) -> Self {
        Self {
            player_id,
            endpoint,
            dialect: None,
            record: None,
            tokens: None,
            public_key: None,
        }
    }
}

impl Referee {
    /// Accepts a match, unless it is known already. Idempotent.
    pub(super) fn accept_offer(
        &mut self,
        ctx: &mut Ctx<'_>,
        offer: OfferedMatch,
    ) -> Result<(), LeagueError> {
        if self.new_game(&offer.game_type).is_none()
            || !self.settings.game_types.contains(&offer.game_type)
        {
            let message = format!(
                "{}: game_type {} is not played here",
                offer.match_id, offer.game_type
            );
            return Err(league_error(ErrorCode::InvalidFormat, message));
        }
        let [a, b] = &offer.players;
        if a.player_id == b.player_id {
            let message = format!(
                "{}: {} cannot play against itself",
                offer.match_id, a.player_id
            );
            return Err(league_error(ErrorCode::InvalidFormat, message));
        }
        if self.durable.is_closed(offer.round_id) && !offer.replay {
            return Ok(());
        }
        let named = offer.conversation_id.as_ref();
        let attempt = named
            .and_then(|id| id.attempt_of(&offer.match_id))
            .unwrap_or(Attempt::FIRST);
        match self.durable.matches().get(&offer.match_id) {
            Some(AssignedMatch::Decided { .. }) => {
                self.report_again(ctx, &offer.match_id);
                return Ok(());
            }
            Some(AssignedMatch::Closed { recorded: true, .. }) if !offer.replay => return Ok(()),
            Some(held) if attempt <= held.attempt() => return Ok(()),
            _ => {}
        }
        let match_id = offer.match_id.clone();
        self.drop_match(&match_id);
        let assignment = Arc::new(offer.accept(attempt, ctx.entropy));
        self.record(ctx, RefereeEvent::Assigned { assignment });
        self.enqueue(ctx, &match_id);
        Ok(())
    }
}

impl OfferedMatch {
    fn accept(self, attempt: Attempt, entropy: &mut Entropy) -> Assignment {
        let match_id = self.match_id;
        let players = self.players.map(|player| SeatedPlayer {
            // Without match tokens the player is shown a random token: the referee's own would let it forge results.
            shows: match &player.tokens {
                Some(tokens) => tokens.to_player.clone(),
                None => Token::issue(match_id.as_str(), entropy),
            },
            expects: player.tokens.map(|tokens| tokens.from_player),
            player_id: player.player_id,
            endpoint: player.endpoint,
            dialect: player.dialect.unwrap_or_default(),
            record: player.record,
            public_key: player.public_key,
        });
        Assignment {
            league_id: self.league_id,
            round_id: self.round_id,
            game_type: self.game_type,
            attempt,
            conversation_id: self
                .conversation_id
                .unwrap_or_else(|| ConversationId::of_match(&match_id, attempt)),
            starts_at: self.starts_at,
            secret: Secret::draw(entropy),
            players,
            timeouts: self.timeouts,
            forfeits: self.forfeits,
            conformance: self.conformance,
            match_id,
        }
    }
}

pub(super) fn offered_players(announced: &AnnouncedMatch) -> [OfferedPlayer; 2] {
    let a = announced.player_a_id.clone();
    let b = announced.player_b_id.clone();
    let Some(briefing) = &announced.briefing else {
        return [OfferedPlayer::named(a, None), OfferedPlayer::named(b, None)];
    };
    [
        OfferedPlayer {
            player_id: a,
            endpoint: Some(briefing.player_a_endpoint.clone()),
            dialect: briefing.player_a_dialect,
            record: Some(briefing.player_a_record),
            tokens: briefing.player_a_tokens.clone(),
            public_key: briefing.player_a_public_key,
        },
        OfferedPlayer {
            player_id: b,
            endpoint: Some(briefing.player_b_endpoint.clone()),
            dialect: briefing.player_b_dialect,
            record: Some(briefing.player_b_record),
            tokens: briefing.player_b_tokens.clone(),
            public_key: briefing.player_b_public_key,
        },
    ]
}

/// The players that forfeit the match.
pub(super) fn forfeits(announced: &AnnouncedMatch) -> Vec<(PlayerId, Cause)> {
    let named = announced
        .briefing
        .as_ref()
        .and_then(|briefing| briefing.forfeits.as_ref());
    let plays = |id: &PlayerId| *id == announced.player_a_id || *id == announced.player_b_id;
    let named = named
        .into_iter()
        .flat_map(|named| named.iter())
        .filter(|(id, _)| plays(id));
    named.map(|(id, cause)| (id.clone(), *cause)).collect()
}
