//! Notices: announcements, results, the end of rounds and of the league.

use super::event::{Fixture, Notice, PlayerEvent};
use super::fairness::DrawCommitment;
use super::{Ctx, Player};
use crate::agent::Agent;
use crate::game::past::{DrawCheck, GameSummary, Outcome, PastGame};
use crate::protocol::messages::{
    AnnouncedMatch, GameDetails, GameError, GameOver, GameResult, GameStatus, LeagueCompleted,
    LeagueError, LeagueStandingsUpdate, Role, RoundAnnouncement, RoundCompleted,
};
use crate::protocol::{Attempt, Envelope, PlayerId};
use serde_json::{Map, Value};

impl Player {
    pub(super) fn on_round_announcement(
        &mut self,
        ctx: &mut Ctx<'_>,
        announcement: &RoundAnnouncement,
    ) -> Result<(), LeagueError> {
        let own = self.own_id()?;
        let matches: Vec<Fixture> = announcement
            .matches
            .iter()
            .filter_map(|announced| fixture(own, announced))
            .filter(|fixture| {
                let known = self.durable.find(&fixture.match_id);
                known.is_none_or(|known| !known.knows(fixture.notice))
            })
            .filter(|fixture| self.durable.has_room_for(&fixture.match_id))
            .take(FIXTURES_MAX)
            .collect();
        if !matches.is_empty() {
            self.record(
                ctx,
                PlayerEvent::Announced {
                    round_id: announcement.round_id,
                    matches,
                },
            );
        }
        Ok(())
    }

    pub(super) fn on_game_over(
        &mut self,
        ctx: &mut Ctx<'_>,
        envelope: &Envelope,
        over: &GameOver,
    ) -> Result<(), LeagueError> {
        let attempt = self.authenticate_referee(envelope, &over.match_id)?;
        self.check_match_known(&over.match_id)?;
        if self.history().has_finished(&over.match_id) {
            return Ok(());
        }
        let game = self.past_game(self.own_id()?, attempt, over);
        let signed = self.signed_result(ctx, attempt, over).map(Box::new);
        self.record(ctx, PlayerEvent::Finished { game, signed });
        Ok(())
    }

    fn past_game(&self, own: &PlayerId, attempt: Attempt, over: &GameOver) -> PastGame {
        let known = self.durable.find(&over.match_id);
        let result = &over.game_result;
        let named = opponent_in(own, result);
        let opponent_id = known.and_then(|known| known.opponent_id.clone()).or(named);
        let (own_choice, opponent_choice, drawn_parity) = match &result.details {
            GameDetails::Parity(details) => {
                let choice = |player: &PlayerId| details.choices.get(player).copied().flatten();
                (
                    choice(own),
                    opponent_id.as_ref().and_then(choice),
                    details.number_parity,
                )
            }
            GameDetails::Other(_) => (None, None, None),
        };
        PastGame {
            round_id: known.and_then(|known| known.round_id).or(over.round_id),
            opponent_id,
            own_choice,
            opponent_choice,
            drawn_parity,
            outcome: outcome(own, result),
            technical: result.status == GameStatus::TechnicalLoss,
            draw: self.check_draw(own, attempt, over),
            match_id: over.match_id.clone(),
            // A referee of another make may leave the game out.
            game_type: known
                .and_then(|known| known.game_type.clone())
                .unwrap_or(over.game_type.clone()),
            summary: self
                .decider
                .as_ref()
                .map(|_| Box::new(summary(own, result))),
        }
    }

    fn check_draw(&self, own: &PlayerId, attempt: Attempt, over: &GameOver) -> DrawCheck {
        let known = self.durable.find(&over.match_id);
        let promised = known.and_then(|known| known.invitations.get(&attempt)?.commitment.as_ref());
        let (Some(known), Some(commitment)) = (known, promised) else {
            return DrawCheck::NotPromised;
        };
        let own_league = self
            .identity()
            .and_then(|identity| identity.league_id.as_ref());
        let commitment_check = DrawCommitment {
            league: own_league.or(over.league_id.as_ref()),
            match_id: &over.match_id,
            attempt,
            own_id: own,
            known,
            commitment,
        };
        commitment_check.check(&over.game_result)
    }

    pub(super) fn on_round_completed(&mut self, ctx: &mut Ctx<'_>, completed: &RoundCompleted) {
        self.keep_checkpoint(ctx, completed.checkpoint.as_ref());
        let round_id = completed.round_id;
        if self.durable.can_forget(round_id) {
            self.record(ctx, PlayerEvent::RoundClosed { round_id });
        }
    }

    pub(super) fn on_league_completed(&mut self, ctx: &mut Ctx<'_>, completed: &LeagueCompleted) {
        self.keep_checkpoint(ctx, completed.checkpoint.as_ref());
        if !self.durable.league_closed() {
            self.record(ctx, PlayerEvent::LeagueClosed);
        }
    }

    /// Keeps only our own row, and not durably.
    pub(super) fn on_standings(
        &mut self,
        update: &LeagueStandingsUpdate,
    ) -> Result<(), LeagueError> {
        let own = self.own_id()?;
        let row = update.standings.iter().find(|row| row.player_id == *own);
        self.standing = row.cloned();
        Ok(())
    }

    /// The referee asks again by itself, so GAME_ERROR needs no action.
    pub(super) fn on_game_error(
        &mut self,
        envelope: &Envelope,
        error: &GameError,
    ) -> Result<(), LeagueError> {
        if let Some(match_id) = &error.match_id {
            self.authenticate_referee(envelope, match_id)?;
        }
        Ok(())
    }
}

/// How many new matches of ours one announcement may have.
const FIXTURES_MAX: usize = 100;

fn fixture(own: &PlayerId, announced: &AnnouncedMatch) -> Option<Fixture> {
    let (role, opponent_id) = if announced.player_a_id == *own {
        (Role::PlayerA, &announced.player_b_id)
    } else if announced.player_b_id == *own {
        (Role::PlayerB, &announced.player_a_id)
    } else {
        return None;
    };
    let conversation = announced.conversation_id.as_ref();
    let attempt =
        conversation.and_then(|conversation| conversation.attempt_of(&announced.match_id));
    Some(Fixture {
        match_id: announced.match_id.clone(),
        game_type: announced.game_type.clone(),
        opponent_id: opponent_id.clone(),
        role,
        notice: Notice {
            attempt: attempt.unwrap_or(Attempt::FIRST),
            // Only an explicit `false` exempts a referee from showing match tokens.
            match_tokens: announced.match_tokens.unwrap_or(true),
            referee_key: announced.referee_public_key,
        },
    })
}

fn opponent_in(own: &PlayerId, result: &GameResult) -> Option<PlayerId> {
    let chooser = match &result.details {
        GameDetails::Parity(details) => details
            .choices
            .iter()
            .map(|(id, _)| id)
            .find(|id| *id != own),
        GameDetails::Other(_) => None,
    };
    let winner = result
        .winner_player_id
        .as_ref()
        .filter(|winner| *winner != own);
    chooser.or(winner).cloned()
}

/// How much of what a referee told about a game is kept.
const REASON_CHARS_MAX: usize = 300;
const DETAILS_BYTES_MAX: usize = 4096;

fn summary(own: &PlayerId, result: &GameResult) -> GameSummary {
    let own_win = result.winner_player_id.as_ref().map(|winner| winner == own);
    let details = match &result.details {
        GameDetails::Parity(details) => match serde_json::to_value(details) {
            Ok(Value::Object(details)) => details,
            _ => Map::new(),
        },
        GameDetails::Other(details) => details.clone(),
    };
    let fits = |details: &Map<String, Value>| {
        serde_json::to_string(details).is_ok_and(|text| text.len() <= DETAILS_BYTES_MAX)
    };
    let reason = result
        .reason
        .as_ref()
        .map(|reason| reason.escaped().to_string());
    GameSummary {
        score: [own_win, own_win.map(|won| !won)].map(|won| result.status.points(won)),
        reason: reason.map(|reason| reason.chars().take(REASON_CHARS_MAX).collect()),
        details: Some(details).filter(fits).unwrap_or_default(),
    }
}

fn outcome(own: &PlayerId, result: &GameResult) -> Outcome {
    match (&result.winner_player_id, result.status) {
        (Some(winner), _) if winner == own => Outcome::Win,
        (Some(_), _) | (None, GameStatus::TechnicalLoss) => Outcome::Loss,
        (None, GameStatus::Win | GameStatus::Draw) => Outcome::Draw,
    }
}
