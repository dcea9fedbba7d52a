//! A match as a manager offers it, in whichever way, and how it becomes an assignment.

use super::event::{Assignment, Seated};
use super::notices::refusal;
use super::{Held, Referee, RefereeEvent};
use crate::agent::Step;
use crate::entropy::Entropy;
use crate::fair::{Scheme, Secret};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{AnnouncedMatch, Cause, LeagueError, MatchTokens, Record, Timeouts};
use crate::protocol::{
    Attempt, ConversationId, Endpoint, ErrorCode, GameType, LeagueId, MatchId, PlayerId, RoundId, Timestamp,
    Token,
};
use crate::signature::PublicKey;
use smol_str::SmolStr;
use std::sync::Arc;

/// A match as a manager hands it over, in whichever way.
pub(super) struct Offer {
    pub(super) league_id: LeagueId,
    pub(super) round_id: RoundId,
    pub(super) match_id: MatchId,
    pub(super) game_type: GameType,
    pub(super) conversation_id: Option<ConversationId>,
    pub(super) starts_at: Timestamp,
    /// Whether its result was struck, so that it is to be played again.
    pub(super) replay: bool,
    pub(super) players: [Guest; 2],
    pub(super) timeouts: Option<Timeouts>,
    pub(super) forfeits: Vec<(PlayerId, Cause)>,
}

/// What a manager says of one player.
pub(super) struct Guest {
    pub(super) player_id: PlayerId,
    pub(super) endpoint: Option<Endpoint>,
    pub(super) dialect: Option<Dialect>,
    pub(super) record: Option<Record>,
    pub(super) tokens: Option<MatchTokens>,
    pub(super) public_key: Option<PublicKey>,
}

impl Guest {
    pub(super) fn named(player_id: PlayerId, endpoint: Option<Endpoint>) -> Self {
        Self { player_id, endpoint, dialect: None, record: None, tokens: None, public_key: None }
    }
}

impl Referee {
    /// Takes a match on, unless it is known already. The same offer again changes nothing.
    pub(super) fn offered(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        offer: Offer,
        step: &mut Step<RefereeEvent>,
    ) -> Result<(), LeagueError> {
        if self.new_game(&offer.game_type).is_none() || !self.settings.game_types.contains(&offer.game_type) {
            let message = format!("{}: game_type {} is not played here", offer.match_id, offer.game_type);
            return Err(refusal(ErrorCode::InvalidFormat, message));
        }
        let [a, b] = &offer.players;
        if a.player_id == b.player_id {
            let message = format!("{}: {} cannot play against itself", offer.match_id, a.player_id);
            return Err(refusal(ErrorCode::InvalidFormat, message));
        }
        if self.durable.is_closed(offer.round_id) && !offer.replay {
            return Ok(());
        }
        let named = offer.conversation_id.as_ref();
        let attempt = named.and_then(|id| id.attempt_of(&offer.match_id)).unwrap_or(Attempt::FIRST);
        match self.durable.matches().get(&offer.match_id) {
            Some(Held::Decided { .. }) => {
                self.report_again(now, &offer.match_id, step);
                return Ok(());
            }
            Some(Held::Settled { recorded: true, .. }) if !offer.replay => return Ok(()),
            Some(held) if attempt <= held.attempt() => return Ok(()),
            _ => {}
        }
        let match_id = offer.match_id.clone();
        self.drop_match(&match_id);
        let assignment = Arc::new(offer.accept(attempt, entropy));
        self.record(now, RefereeEvent::Assigned { assignment }, step);
        self.line_up(now, &match_id, step);
        Ok(())
    }
}

impl Offer {
    fn accept(self, attempt: Attempt, entropy: &mut Entropy) -> Assignment {
        let match_id = self.match_id;
        let players = self.players.map(|guest| Seated {
            // Without match tokens the player is shown one that is good for nothing: ours would let it forge results.
            shows: match &guest.tokens {
                Some(tokens) => tokens.to_player.clone(),
                None => Token::issue(match_id.as_str(), entropy),
            },
            expects: guest.tokens.map(|tokens| tokens.from_player),
            player_id: guest.player_id,
            endpoint: guest.endpoint,
            dialect: guest.dialect.unwrap_or_default(),
            record: guest.record,
            public_key: guest.public_key,
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
            draw_scheme: Some(SmolStr::new_static(Scheme::Draw2.name())),
            players,
            timeouts: self.timeouts,
            forfeits: self.forfeits,
            match_id,
        }
    }
}

pub(super) fn guests(announced: &AnnouncedMatch) -> [Guest; 2] {
    let (a, b) = (announced.player_a_id.clone(), announced.player_b_id.clone());
    let Some(briefing) = &announced.briefing else {
        return [Guest::named(a, None), Guest::named(b, None)];
    };
    [
        Guest {
            player_id: a,
            endpoint: Some(briefing.player_a_endpoint.clone()),
            dialect: briefing.player_a_dialect,
            record: Some(briefing.player_a_record),
            tokens: briefing.player_a_tokens.clone(),
            public_key: briefing.player_a_public_key,
        },
        Guest {
            player_id: b,
            endpoint: Some(briefing.player_b_endpoint.clone()),
            dialect: briefing.player_b_dialect,
            record: Some(briefing.player_b_record),
            tokens: briefing.player_b_tokens.clone(),
            public_key: briefing.player_b_public_key,
        },
    ]
}

/// Who loses the match without play. What is said of others than its players means nothing.
pub(super) fn forfeits(announced: &AnnouncedMatch) -> Vec<(PlayerId, Cause)> {
    let named = announced.briefing.as_ref().and_then(|briefing| briefing.forfeits.as_ref());
    let plays = |id: &PlayerId| *id == announced.player_a_id || *id == announced.player_b_id;
    let named = named.into_iter().flat_map(|named| named.iter()).filter(|(id, _)| plays(id));
    named.map(|(id, cause)| (id.clone(), *cause)).collect()
}
