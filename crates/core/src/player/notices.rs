//! What the player is told: its matches, their results, the end of rounds and of the league.

use super::event::{Fixture, Notice, PlayerEvent};
use super::fairness::Promise;
use super::memory::{DrawCheck, Outcome, PastGame};
use super::trust::Refusal;
use super::{Player, Response};
use crate::protocol::messages::{
    AnnouncedMatch, GameDetails, GameError, GameOver, GameResult, GameStatus, LeagueStandingsUpdate, Role,
    RoundAnnouncement, RoundCompleted,
};
use crate::protocol::{Attempt, Envelope, PlayerId};

impl Player {
    pub(super) fn hear_announcement(&self, announcement: &RoundAnnouncement) -> Result<Response, Refusal> {
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
        let is_news = !matches.is_empty();
        Ok(Response::received(
            is_news.then_some(PlayerEvent::Announced { round_id: announcement.round_id, matches }),
        ))
    }

    pub(super) fn hear_result(&mut self, envelope: &Envelope, over: &GameOver) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &over.match_id)?;
        self.believe_match(&over.match_id)?;
        if self.history().has_finished(&over.match_id) {
            return Ok(Response::received(None));
        }
        let game = self.past_game(self.own_id()?, attempt, over);
        Ok(Response::received(Some(PlayerEvent::Finished { game })))
    }

    fn past_game(&self, own: &PlayerId, attempt: Attempt, over: &GameOver) -> PastGame {
        let known = self.durable.find(&over.match_id);
        let result = &over.game_result;
        let named = opponent_in(own, result);
        let opponent_id = known.and_then(|known| known.opponent_id.clone()).or(named);
        let (own_choice, opponent_choice, drawn_parity) = match &result.details {
            GameDetails::Parity(details) => {
                let choice = |player: &PlayerId| details.choices.get(player).copied().flatten();
                (choice(own), opponent_id.as_ref().and_then(choice), details.number_parity)
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
            game_type: over.game_type.clone(),
        }
    }

    fn check_draw(&self, own: &PlayerId, attempt: Attempt, over: &GameOver) -> DrawCheck {
        let known = self.durable.find(&over.match_id);
        let promised = known.and_then(|known| known.invitations.get(&attempt)?.commitment.as_ref());
        let (Some(known), Some(commitment)) = (known, promised) else {
            return DrawCheck::NotPromised;
        };
        let own_league = self.identity().and_then(|identity| identity.league_id.as_ref());
        let promise = Promise {
            league: own_league.or(over.league_id.as_ref()),
            match_id: &over.match_id,
            attempt,
            own_id: own,
            known,
            commitment,
        };
        promise.check(&over.game_result)
    }

    pub(super) fn hear_round_completed(&self, completed: &RoundCompleted) -> Response {
        let round_id = completed.round_id;
        let is_news = self.durable.can_forget(round_id);
        Response::received(is_news.then_some(PlayerEvent::RoundClosed { round_id }))
    }

    pub(super) fn hear_league_completed(&self) -> Response {
        let is_news = !self.durable.league_closed();
        Response::received(is_news.then_some(PlayerEvent::LeagueClosed))
    }

    /// The table is the manager's to keep: we note only where we stand, and only until the next restart.
    pub(super) fn hear_standings(&mut self, update: &LeagueStandingsUpdate) -> Result<Response, Refusal> {
        let own = self.own_id()?;
        let row = update.standings.iter().find(|row| row.player_id == *own);
        self.standing = row.cloned();
        Ok(Response::received(None))
    }

    /// The referee asks again where it wants another answer, so there is nothing to do here but to hear it.
    pub(super) fn hear_game_error(
        &mut self,
        envelope: &Envelope,
        error: &GameError,
    ) -> Result<Response, Refusal> {
        if let Some(match_id) = &error.match_id {
            self.believe_referee(envelope, match_id)?;
        }
        Ok(Response::received(None))
    }
}

/// How many new matches of ours one announcement may hold.
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
    let attempt = conversation.and_then(|conversation| conversation.attempt_of(&announced.match_id));
    Some(Fixture {
        match_id: announced.match_id.clone(),
        game_type: announced.game_type.clone(),
        opponent_id: opponent_id.clone(),
        role,
        notice: Notice {
            attempt: attempt.unwrap_or(Attempt::FIRST),
            // Only a plain no lets a referee do without: silence must not.
            match_tokens: announced.match_tokens.unwrap_or(true),
        },
    })
}

fn opponent_in(own: &PlayerId, result: &GameResult) -> Option<PlayerId> {
    let chooser = match &result.details {
        GameDetails::Parity(details) => details.choices.iter().map(|(id, _)| id).find(|id| *id != own),
        GameDetails::Other(_) => None,
    };
    let winner = result.winner_player_id.as_ref().filter(|winner| *winner != own);
    chooser.or(winner).cloned()
}

fn outcome(own: &PlayerId, result: &GameResult) -> Outcome {
    match (&result.winner_player_id, result.status) {
        (Some(winner), _) if winner == own => Outcome::Win,
        (Some(_), _) | (None, GameStatus::TechnicalLoss) => Outcome::Loss,
        (None, GameStatus::Win | GameStatus::Draw) => Outcome::Draw,
    }
}
