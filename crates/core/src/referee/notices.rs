//! Notices of the manager: rounds, single assignments, completions and cancellations.

use super::assignment::{OfferedMatch, OfferedPlayer, forfeits, offered_players};
use super::one_match::OngoingMatch;
use super::{AssignedMatch, Ctx, Purpose, Referee, RefereeEvent};
use crate::agent::Agent;
use crate::protocol::messages::{AnnouncedMatch, LeagueError, MatchAssignment, RoundAnnouncement};
use crate::protocol::token::same_token;
use crate::protocol::{
    Body, Envelope, ErrorCode, LeagueId, MatchId, RefereeId, RoundId, Sender, Token, UntrustedText,
};
use crate::registration::Identity;
use core::net::IpAddr;
use serde_json::{Map, Value};

pub(super) fn league_error(code: ErrorCode, message: impl Into<UntrustedText>) -> LeagueError {
    LeagueError::new(code, message, None, None)
}

impl Referee {
    /// Handles a notice of the manager.
    pub(super) fn notice(
        &mut self,
        ctx: &mut Ctx<'_>,
        envelope: &Envelope,
        body: &Body,
    ) -> Result<(), LeagueError> {
        match body {
            Body::RoundAnnouncement(round) => {
                self.poll.stop();
                self.announced(ctx, round)
            }
            Body::MatchAssignment(single) => {
                self.poll.stop();
                self.assigned(ctx, envelope, MatchAssignment::clone(single))
            }
            Body::RoundCompleted(round) => {
                self.right_league(&round.league_id)?;
                self.close_round(ctx, round.round_id);
                Ok(())
            }
            Body::LeagueCompleted(league) => {
                self.right_league(&league.league_id)?;
                if !self.durable.is_closed(RoundId(u32::MAX)) {
                    self.forget_matches();
                    self.record(ctx, RefereeEvent::LeagueClosed);
                }
                Ok(())
            }
            Body::LeagueError(error) => {
                self.cancelled(ctx, envelope, error);
                Ok(())
            }
            // A referee needs no table, and takes it as any notice.
            Body::LeagueStandingsUpdate(_) => Ok(()),
            other => Err(league_error(
                ErrorCode::InvalidState,
                format!("a referee does not accept {}", other.message_type()),
            )),
        }
    }

    /// Authenticates the manager. One with match tokens shows a notice token; any other cannot be authenticated.
    pub(super) fn admit_manager(
        &self,
        envelope: &Envelope,
        client: Option<IpAddr>,
    ) -> Result<(), LeagueError> {
        let Some(identity) = self.durable.identity() else {
            return Err(league_error(
                ErrorCode::InvalidState,
                "this referee is not registered yet",
            ));
        };
        if envelope.sender != Sender::LeagueManager {
            let message = format!("sender: expected league_manager, got {}", envelope.sender);
            return Err(league_error(ErrorCode::TokenInvalid, message));
        }
        if !identity.match_tokens {
            // Where nobody has a token, the address is all there is.
            let manager = &self.settings.manager;
            let elsewhere = identity.auth_token.is_none()
                && client.and_then(|client| manager.is_at(client)) == Some(false);
            if elsewhere {
                let message = format!(
                    "only the league manager at {} may send this",
                    manager.escaped()
                );
                return Err(league_error(ErrorCode::TokenInvalid, message));
            }
            return Ok(());
        }
        let Some(token) = &envelope.auth_token else {
            return Err(league_error(
                ErrorCode::TokenMissing,
                "auth_token: expected the manager's token for this referee",
            ));
        };
        if self
            .manager_token
            .as_ref()
            .is_some_and(|expected| same_token(token, expected))
        {
            return Ok(());
        }
        let context = Map::from_iter([("provided_token".to_owned(), Value::from(token.hint()))]);
        let message = "auth_token: this is not the manager's token for this referee";
        Err(LeagueError::new(
            ErrorCode::TokenInvalid,
            message,
            None,
            Some(context),
        ))
    }

    fn right_league(&self, league_id: &LeagueId) -> Result<(), LeagueError> {
        let ours = self
            .durable
            .identity()
            .and_then(|identity| identity.league_id.as_ref());
        match ours {
            Some(ours) if ours != league_id => Err(league_error(
                ErrorCode::LeagueNotFound,
                format!("league_id: expected {ours}, got {league_id}"),
            )),
            _ => Ok(()),
        }
    }

    fn announced(
        &mut self,
        ctx: &mut Ctx<'_>,
        round: &RoundAnnouncement,
    ) -> Result<(), LeagueError> {
        self.right_league(&round.league_id)?;
        let us = self.name();
        let mut verdict = Ok(());
        // Our manager sends a briefing when a match may begin; an announcement without one is for information only.
        let briefs = self
            .durable
            .identity()
            .is_some_and(|identity| identity.match_tokens);
        for announced in round.matches.iter() {
            if !self.is_ours(&us, announced) || (briefs && announced.briefing.is_none()) {
                continue;
            }
            let offer = OfferedMatch {
                league_id: round.league_id.clone(),
                round_id: round.round_id,
                match_id: announced.match_id.clone(),
                game_type: announced.game_type.clone(),
                conversation_id: announced.conversation_id.clone(),
                starts_at: round.starts_at.unwrap_or(ctx.now),
                replay: announced.replay == Some(true),
                players: offered_players(announced),
                timeouts: announced
                    .briefing
                    .as_ref()
                    .and_then(|briefing| briefing.timeouts),
                forfeits: forfeits(announced),
                conformance: announced
                    .briefing
                    .as_ref()
                    .and_then(|briefing| briefing.conformance),
            };
            // One match that cannot be played must not drop the others.
            verdict = verdict.and(self.accept_offer(ctx, offer));
        }
        verdict
    }

    fn is_ours(&self, us: &RefereeId, announced: &AnnouncedMatch) -> bool {
        match &announced.referee_id {
            Some(id) => id == us,
            None => announced.referee_endpoint == self.settings.contact_endpoint,
        }
    }

    fn assigned(
        &mut self,
        ctx: &mut Ctx<'_>,
        envelope: &Envelope,
        single: MatchAssignment,
    ) -> Result<(), LeagueError> {
        let known = self
            .durable
            .identity()
            .and_then(|identity| identity.league_id.clone());
        let Some(league_id) = single.league_id.or(known) else {
            let message = "league_id: expected the league of this match, got nothing";
            return Err(league_error(ErrorCode::MissingField, message));
        };
        self.right_league(&league_id)?;
        let Some(game_type) = single
            .game_type
            .or_else(|| self.settings.game_types.first().cloned())
        else {
            return Err(league_error(
                ErrorCode::MissingField,
                "game_type: expected the game of this match, got nothing",
            ));
        };
        let conversation = &envelope.conversation_id;
        let offer = OfferedMatch {
            league_id,
            round_id: single
                .round_id
                .unwrap_or_else(|| round_of(&single.match_id)),
            conversation_id: conversation
                .attempt_of(&single.match_id)
                .map(|_| conversation.clone()),
            match_id: single.match_id,
            game_type,
            starts_at: ctx.now,
            replay: false,
            players: [
                OfferedPlayer::named(single.player_a_id, single.player_a_endpoint),
                OfferedPlayer::named(single.player_b_id, single.player_b_endpoint),
            ],
            timeouts: None,
            forfeits: Vec::new(),
            conformance: None,
        };
        self.accept_offer(ctx, offer)
    }

    fn close_round(&mut self, ctx: &mut Ctx<'_>, round_id: RoundId) {
        if self.durable.is_closed(round_id) {
            return;
        }
        // Every match of the round has a result, so what is open here was decided elsewhere.
        let open: Vec<_> = self
            .durable
            .matches()
            .iter()
            .filter_map(|(match_id, held)| match held {
                AssignedMatch::Open { assignment, .. } if assignment.round_id <= round_id => {
                    Some(match_id.clone())
                }
                _ => None,
            })
            .collect();
        for match_id in open {
            self.abandon(ctx, &match_id);
        }
        self.record(ctx, RefereeEvent::RoundClosed { round_id });
    }

    /// E016 for an open match: another attempt at it has been decided.
    fn cancelled(&mut self, ctx: &mut Ctx<'_>, envelope: &Envelope, error: &LeagueError) {
        let named = error
            .context
            .as_ref()
            .and_then(|context| context.get("match_id")?.as_str());
        let (Some(named), ErrorCode::ResultConflict) = (named, &error.error_code) else {
            return;
        };
        let match_id = MatchId::new(named);
        let meant = envelope.conversation_id.attempt_of(&match_id);
        if let Some(held) = self.durable.open(&match_id)
            && meant.is_none_or(|attempt| attempt >= held.attempt)
        {
            self.abandon(ctx, &match_id);
        }
    }

    fn abandon(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some(attempt) = self
            .durable
            .open(match_id)
            .map(|assignment| assignment.attempt)
        else {
            return;
        };
        self.drop_match(match_id);
        let match_id = match_id.clone();
        self.record(ctx, RefereeEvent::Abandoned { match_id, attempt });
    }

    /// Drops all pending work for a match.
    pub(super) fn drop_match(&mut self, match_id: &MatchId) {
        if let Some(dropped) = self.playing.remove(match_id) {
            self.stop_waiting_for(match_id, &dropped);
        }
        self.queue.remove(match_id);
        let delayed_game_overs = &self.delayed_game_overs;
        self.outbox.cancel(|purpose| {
            matches!(purpose, Purpose::Notice(question)
                if question.match_id == *match_id && !delayed_game_overs.contains_key(&question.place()))
        });
    }

    /// Cancels the timer and the pending questions of a match.
    pub(super) fn stop_waiting_for(&mut self, match_id: &MatchId, ended: &OngoingMatch) {
        self.timers.set(match_id, None);
        for call in &ended.calls {
            self.pending_questions.remove(*call);
        }
    }

    /// Drops all matches.
    pub(super) fn forget_matches(&mut self) {
        self.playing.clear();
        self.timers.clear();
        self.queue.clear();
        self.pending_questions.clear();
        let delayed_game_overs = &self.delayed_game_overs;
        self.outbox.cancel(|purpose| match purpose {
            Purpose::GameOver => false,
            Purpose::Notice(question) => !delayed_game_overs.contains_key(&question.place()),
            _ => true,
        });
    }
}

/// The round in a match id such as `R2M1`, or the first.
fn round_of(match_id: &MatchId) -> RoundId {
    let digits = match_id.as_str().strip_prefix(['R', 'r']).map(|rest| {
        rest.split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap_or_default()
    });
    RoundId(digits.and_then(|digits| digits.parse().ok()).unwrap_or(1))
}

/// The token that authenticates the manager.
pub(super) fn notice_token(identity: &Identity<RefereeId>) -> Option<Token> {
    let hash = identity.auth_token.as_ref()?.hash();
    Some(hash.notice_token(identity.league_id.as_ref()?))
}
