//! A match in messages: as everyone's announcement shows it, and with the briefing for its referee alone.

use super::manager::Manager;
use crate::protocol::ids::{Attempt, ConversationId, MatchId, RefereeId};
use crate::protocol::messages::{AnnouncedMatch, BRIEFING, Briefing, MATCH_TOKENS};
use crate::protocol::{Sender, UntrustedText};

impl Manager {
    /// A match with the briefing for its referee.
    pub(super) fn briefed(&mut self, match_id: &MatchId) -> Option<AnnouncedMatch> {
        let announced = self.announced(match_id)?;
        let referee = announced.referee_id.as_ref().and_then(|id| self.league.referees.get(id))?;
        let briefs = referee.meta.has_capability(BRIEFING);
        let briefing =
            Some(Box::new(self.briefing(match_id, announced.match_tokens == Some(true), briefs)?));
        Some(AnnouncedMatch { briefing, ..announced })
    }

    /// A match as everyone's announcement shows it.
    pub(super) fn announced(&self, match_id: &MatchId) -> Option<AnnouncedMatch> {
        let game = self.league.matches.get(match_id)?;
        let referee_id = game.planned.as_ref()?;
        let referee = self.league.referees.get(referee_id)?;
        let attempt = game.attempt().unwrap_or(Attempt::FIRST);
        Some(AnnouncedMatch {
            match_id: match_id.clone(),
            game_type: self.league.settings.game_type.clone(),
            player_a_id: game.a.clone(),
            player_b_id: game.b.clone(),
            referee_id: Some(referee_id.clone()),
            referee_endpoint: referee.meta.contact_endpoint.clone(),
            conversation_id: Some(ConversationId::of_match(match_id, attempt)),
            match_tokens: Some(referee.meta.has_capability(MATCH_TOKENS)),
            referee_public_key: referee.meta.public_key,
            replay: (game.struck > 0).then_some(true),
            briefing: None,
        })
    }

    /// What a referee is told of matches that it is not given.
    pub(super) fn remark_to(&self, referee: &RefereeId) -> Option<UntrustedText> {
        let known = self.league.referees.get(referee)?;
        self.league.is_without_keyed_matches(known).then(|| {
            UntrustedText::new_static(
                "no match in which a player has a key is given to a referee that does not announce draw-2",
            )
        })
    }

    fn briefing(&mut self, match_id: &MatchId, speaks_tokens: bool, briefs: bool) -> Option<Briefing> {
        let game = self.league.matches.get(match_id)?;
        let attempt = game.attempt().unwrap_or(Attempt::FIRST);
        let players = [game.a.clone(), game.b.clone()];
        let [player_a_tokens, player_b_tokens] = players.each_ref().map(|id| {
            let keyring = self.keyring(&Sender::Player(id.clone())).filter(|_| speaks_tokens)?;
            Some(keyring.match_tokens(match_id, attempt).into_owned())
        });
        let game = self.league.matches.get(match_id)?;
        let [player_a_public_key, player_b_public_key] = game.keys.as_deref().copied().unwrap_or_default();
        let [a, b] = players.each_ref().map(|id| self.league.players.get(id));
        let (a, b) = (a?, b?);
        Some(Briefing {
            player_a_endpoint: a.meta.contact_endpoint.clone(),
            player_b_endpoint: b.meta.contact_endpoint.clone(),
            player_a_record: a.record,
            player_b_record: b.record,
            player_a_dialect: Some(a.dialect),
            player_b_dialect: Some(b.dialect),
            player_a_tokens,
            player_b_tokens,
            timeouts: briefs.then(|| self.league.settings.timing.timeouts()),
            forfeits: (briefs && !game.forfeits.is_empty()).then(|| game.forfeits.iter().cloned().collect()),
            player_a_public_key,
            player_b_public_key,
            players_registered: u32::try_from(self.league.players.len()).ok().filter(|_| briefs),
        })
    }
}
