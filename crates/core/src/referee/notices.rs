//! What the manager tells a referee: rounds with its matches, single matches, ends and cancellations.

use super::offer::{Guest, Offer, forfeits, guests};
use super::one_match::Match;
use super::{Held, Purpose, Referee, RefereeEvent};
use crate::agent::Step;
use crate::enrol::Identity;
use crate::entropy::Entropy;
use crate::protocol::messages::{AnnouncedMatch, LeagueError, MatchAssignment, RoundAnnouncement};
use crate::protocol::token::same_token;
use crate::protocol::{
    Body, Envelope, ErrorCode, LeagueId, MatchId, RefereeId, RoundId, Sender, Timestamp, Token, UntrustedText,
};
use serde_json::{Map, Value};

pub(super) fn refusal(code: ErrorCode, message: impl Into<UntrustedText>) -> LeagueError {
    LeagueError::new(code, message, None, None)
}

impl Referee {
    /// Takes in a notice of the manager, if it is one.
    pub(super) fn notice(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        envelope: &Envelope,
        body: &Body,
        step: &mut Step<RefereeEvent>,
    ) -> Result<(), LeagueError> {
        match body {
            Body::RoundAnnouncement(round) => self.announced(now, entropy, round, step),
            Body::MatchAssignment(single) => {
                self.assigned(now, entropy, envelope, MatchAssignment::clone(single), step)
            }
            Body::RoundCompleted(round) => {
                self.right_league(&round.league_id)?;
                self.close_round(now, round.round_id, step);
                Ok(())
            }
            Body::LeagueCompleted(league) => {
                self.right_league(&league.league_id)?;
                if !self.durable.is_closed(RoundId(u32::MAX)) {
                    self.forget_matches();
                    self.record(now, RefereeEvent::LeagueClosed, step);
                }
                Ok(())
            }
            Body::LeagueError(error) => {
                self.cancelled(now, envelope, error, step);
                Ok(())
            }
            other => Err(refusal(
                ErrorCode::InvalidState,
                format!("a referee does not take {}", other.message_type()),
            )),
        }
    }

    /// Whether a message is the manager's own. One that makes match tokens also shows a token of its own to us;
    /// of any other there is only its word, as the sources have it.
    pub(super) fn admit_manager(&self, envelope: &Envelope) -> Result<(), LeagueError> {
        let Some(identity) = self.durable.identity() else {
            return Err(refusal(ErrorCode::InvalidState, "this referee is not registered yet"));
        };
        if envelope.sender != Sender::LeagueManager {
            let message = format!("sender: expected league_manager, got {}", envelope.sender);
            return Err(refusal(ErrorCode::TokenInvalid, message));
        }
        if !identity.match_tokens {
            return Ok(());
        }
        let Some(token) = &envelope.auth_token else {
            return Err(refusal(
                ErrorCode::TokenMissing,
                "auth_token: expected the manager's token for this referee",
            ));
        };
        if self.manager_token.as_ref().is_some_and(|expected| same_token(token, expected)) {
            return Ok(());
        }
        let context = Map::from_iter([("provided_token".to_owned(), Value::from(token.hint()))]);
        let message = "auth_token: this is not the manager's token for this referee";
        Err(LeagueError::new(ErrorCode::TokenInvalid, message, None, Some(context)))
    }

    fn right_league(&self, league_id: &LeagueId) -> Result<(), LeagueError> {
        let ours = self.durable.identity().and_then(|identity| identity.league_id.as_ref());
        match ours {
            Some(ours) if ours != league_id => Err(refusal(
                ErrorCode::LeagueNotFound,
                format!("league_id: expected {ours}, got {league_id}"),
            )),
            _ => Ok(()),
        }
    }

    fn announced(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        round: &RoundAnnouncement,
        step: &mut Step<RefereeEvent>,
    ) -> Result<(), LeagueError> {
        self.right_league(&round.league_id)?;
        let (us, mut verdict) = (self.name(), Ok(()));
        // A manager of ours briefs the referee of a match when it may begin; without a briefing it only tells who meets whom.
        let briefs = self.durable.identity().is_some_and(|identity| identity.match_tokens);
        for announced in round.matches.iter() {
            if !self.is_ours(&us, announced) || (briefs && announced.briefing.is_none()) {
                continue;
            }
            let offer = Offer {
                league_id: round.league_id.clone(),
                round_id: round.round_id,
                match_id: announced.match_id.clone(),
                game_type: announced.game_type.clone(),
                conversation_id: announced.conversation_id.clone(),
                starts_at: round.starts_at.unwrap_or(now),
                replay: announced.replay == Some(true),
                players: guests(announced),
                timeouts: announced.briefing.as_ref().and_then(|briefing| briefing.timeouts),
                forfeits: forfeits(announced),
            };
            // One match that cannot be played here is no reason to drop the others.
            verdict = verdict.and(self.offered(now, entropy, offer, step));
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
        now: Timestamp,
        entropy: &mut Entropy,
        envelope: &Envelope,
        single: MatchAssignment,
        step: &mut Step<RefereeEvent>,
    ) -> Result<(), LeagueError> {
        let known = self.durable.identity().and_then(|identity| identity.league_id.clone());
        let Some(league_id) = single.league_id.or(known) else {
            let message = "league_id: expected the league of this match, got nothing";
            return Err(refusal(ErrorCode::MissingField, message));
        };
        self.right_league(&league_id)?;
        let Some(game_type) = single.game_type.or_else(|| self.settings.game_types.first().cloned()) else {
            return Err(refusal(
                ErrorCode::MissingField,
                "game_type: expected the game of this match, got nothing",
            ));
        };
        let conversation = &envelope.conversation_id;
        let offer = Offer {
            league_id,
            round_id: single.round_id.unwrap_or_else(|| round_of(&single.match_id)),
            conversation_id: conversation.attempt_of(&single.match_id).map(|_| conversation.clone()),
            match_id: single.match_id,
            game_type,
            starts_at: now,
            replay: false,
            players: [
                Guest::named(single.player_a_id, single.player_a_endpoint),
                Guest::named(single.player_b_id, single.player_b_endpoint),
            ],
            timeouts: None,
            forfeits: Vec::new(),
        };
        self.offered(now, entropy, offer, step)
    }

    fn close_round(&mut self, now: Timestamp, round_id: RoundId, step: &mut Step<RefereeEvent>) {
        if self.durable.is_closed(round_id) {
            return;
        }
        // Every match of the round has a result: what is still open here was decided elsewhere.
        let open: Vec<_> = self
            .durable
            .matches()
            .iter()
            .filter_map(|(match_id, held)| match held {
                Held::Open { assignment, .. } if assignment.round_id <= round_id => Some(match_id.clone()),
                _ => None,
            })
            .collect();
        for match_id in open {
            self.abandon(now, &match_id, step);
        }
        self.record(now, RefereeEvent::RoundClosed { round_id }, step);
    }

    /// E016 for a match that is still open here: another attempt at it has been decided.
    fn cancelled(
        &mut self,
        now: Timestamp,
        envelope: &Envelope,
        error: &LeagueError,
        step: &mut Step<RefereeEvent>,
    ) {
        let named = error.context.as_ref().and_then(|context| context.get("match_id")?.as_str());
        let (Some(named), ErrorCode::ResultConflict) = (named, &error.error_code) else {
            return;
        };
        let match_id = MatchId::new(named);
        let meant = envelope.conversation_id.attempt_of(&match_id);
        if let Some(held) = self.durable.open(&match_id)
            && meant.is_none_or(|attempt| attempt >= held.attempt)
        {
            self.abandon(now, &match_id, step);
        }
    }

    fn abandon(&mut self, now: Timestamp, match_id: &MatchId, step: &mut Step<RefereeEvent>) {
        let Some(attempt) = self.durable.open(match_id).map(|assignment| assignment.attempt) else {
            return;
        };
        self.drop_match(match_id);
        let match_id = match_id.clone();
        self.record(now, RefereeEvent::Abandoned { match_id, attempt }, step);
    }

    /// Lets go of everything that is under way for a match.
    pub(super) fn drop_match(&mut self, match_id: &MatchId) {
        if let Some(dropped) = self.playing.remove(match_id) {
            self.let_go(match_id, &dropped);
        }
        self.queue.retain(|(_, _, queued)| queued != match_id);
        self.unlocated.remove(match_id);
        let held_back = &self.held_back;
        self.post.call_off(|purpose| {
            matches!(purpose, Purpose::Notice(asked)
                if asked.match_id == *match_id && !held_back.contains_key(&asked.place()))
        });
    }

    /// A match is under way no more: nothing is waited for.
    pub(super) fn let_go(&mut self, match_id: &MatchId, ended: &Match) {
        self.alarms.set(match_id, None);
        for call in &ended.calls {
            self.asked.remove(*call);
        }
    }

    /// Lets go of every match.
    pub(super) fn forget_matches(&mut self) {
        self.playing.clear();
        self.alarms.clear();
        self.queue.clear();
        self.unlocated.clear();
        self.asked.clear();
        let held_back = &self.held_back;
        self.post.call_off(|purpose| match purpose {
            Purpose::GameOver => false,
            Purpose::Notice(asked) => !held_back.contains_key(&asked.place()),
            _ => true,
        });
    }
}

/// The round in a match id such as `R2M1`; the first, where the id does not say.
fn round_of(match_id: &MatchId) -> RoundId {
    let digits = match_id
        .as_str()
        .strip_prefix(['R', 'r'])
        .map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
    RoundId(digits.and_then(|digits| digits.parse().ok()).unwrap_or(1))
}

/// The token by which this referee knows its manager.
pub(super) fn notice_token(identity: &Identity<RefereeId>) -> Option<Token> {
    let hash = identity.auth_token.as_ref()?.hash();
    Some(hash.notice_token(identity.league_id.as_ref()?))
}
