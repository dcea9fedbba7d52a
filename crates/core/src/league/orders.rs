//! The operator's orders: pause, resume, withdraw a player, void a result, end early. Tokens are in `tokens`, join
//! codes in `roster`.

use super::cause::LossCause;
use super::event::LeagueEvent;
use super::manager::{Ctx, Manager};
use super::request::{ReceivedMessage, RequestError};
use crate::agent::Agent;
use crate::protocol::Sender;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, PlayerId};
use crate::protocol::messages::{Culprit, LeagueOrder, LeagueStatus, Order, Phase};

impl Manager {
    pub(super) fn carry_out(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        order: LeagueOrder,
    ) -> Result<(), RequestError> {
        self.check_league(&order.league_id)?;
        if let (Order::Rotate, Some(whose)) = (order.order, &order.agent_id) {
            return self.rotate(ctx, received, whose);
        }
        if let (Order::Invite | Order::RotateCode, Some(whose)) = (order.order, &order.agent_id) {
            return self.issue_code(ctx, received, whose, order.order == Order::Invite);
        }
        if let (Order::Revoke, Some(whose)) = (order.order, &order.agent_id) {
            self.revoke(ctx, whose)?;
            self.reply(ctx, received, self.status());
            return Ok(());
        }
        match (order.order, order.player_id, order.match_id) {
            (Order::Pause, ..) => self.pause(ctx)?,
            (Order::Resume, ..) => self.go_on(ctx)?,
            (Order::Withdraw, Some(player), _) => self.withdraw(ctx, &player)?,
            (Order::Void, _, Some(match_id)) => self.strike(ctx, match_id)?,
            (Order::End, ..) => self.end_early(ctx)?,
            (Order::AllowUnproven, ..) => self.allow_unproven(ctx)?,
            (Order::Roster, ..) => {
                let status = LeagueStatus { roster: Some(self.roster()), ..self.status() };
                self.reply(ctx, received, status);
                return Ok(());
            }
            (Order::Withdraw, None, _)
            | (Order::Void, _, None)
            | (Order::Rotate | Order::Revoke | Order::Invite | Order::RotateCode, ..) => {
                return Err(RequestError::new(
                    ErrorCode::MissingField,
                    "name the player, the match or the agent",
                ));
            }
        }
        self.reply(ctx, received, self.status());
        Ok(())
    }

    fn expect_phase(&self, wanted: &[Phase], to: &str) -> Result<(), RequestError> {
        let phase = self.league.phase;
        if wanted.contains(&phase) {
            return Ok(());
        }
        Err(RequestError::new(
            ErrorCode::InvalidState,
            format!("the league is in {phase:?}: there is nothing to {to}"),
        ))
    }

    fn pause(&mut self, ctx: &mut Ctx<'_>) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Running], "pause")?;
        self.record(ctx, LeagueEvent::LeaguePaused);
        Ok(())
    }

    fn go_on(&mut self, ctx: &mut Ctx<'_>) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Paused], "resume")?;
        self.record(ctx, LeagueEvent::LeagueResumed);
        self.advance(ctx);
        Ok(())
    }

    fn withdraw(&mut self, ctx: &mut Ctx<'_>, player: &PlayerId) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Registration, Phase::Running, Phase::Paused], "withdraw from")?;
        match self.league.players.get(player) {
            None => {
                let message = format!("no player is registered here as {player}");
                return Err(RequestError::new(ErrorCode::PlayerNotRegistered, message)
                    .with("player_id", player.as_str()));
            }
            Some(known) if known.withdrawn => {
                let message = format!("{player} has been withdrawn already");
                return Err(RequestError::new(ErrorCode::InvalidState, message));
            }
            Some(_) => {}
        }
        self.record(ctx, LeagueEvent::PlayerWithdrawn { player_id: player.clone() });
        self.take_out(ctx, player);
        self.advance(ctx);
        Ok(())
    }

    /// A player leaves a ladder: it plays the match that it has, and is not paired again before it registers again.
    pub(super) fn leave(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        player: &PlayerId,
        order: &LeagueOrder,
    ) -> Result<(), RequestError> {
        self.check_league(&order.league_id)?;
        if order.order != Order::Withdraw || order.player_id.as_ref() != Some(player) {
            let message =
                format!("{player} may order only that {player} is withdrawn: agents do not run the league");
            return Err(RequestError::new(ErrorCode::TokenInvalid, message));
        }
        self.expect_phase(&[Phase::Registration, Phase::Running, Phase::Paused], "leave")?;
        if self.league.players.get(player).is_some_and(|known| !known.away) {
            self.record(ctx, LeagueEvent::PlayerLeft { player_id: player.clone() });
        }
        self.reply(ctx, received, self.status());
        Ok(())
    }

    /// Ends the current attempts of a player that is out: its matches are reassigned, to be decided as forfeits.
    pub(super) fn take_out(&mut self, ctx: &mut Ctx<'_>, player: &PlayerId) {
        let under_way = self.under_way(|id| self.league.matches.get(id).is_some_and(|game| game.has(player)));
        for match_id in under_way {
            let why = format!("{player} was taken out of the league");
            self.lose_attempt(ctx, &match_id, Culprit::Player, LossCause::PlayerOut, &why);
            self.stop_referee(ctx, &match_id);
        }
    }

    fn strike(&mut self, ctx: &mut Ctx<'_>, match_id: MatchId) -> Result<(), RequestError> {
        let Some(game) = self.league.matches.get(&match_id) else {
            return Err(RequestError::new(ErrorCode::MatchNotFound, format!("there is no match {match_id}")));
        };
        if game.decision.is_none() {
            let message = format!("{match_id} has no result that could be struck");
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        if self.league.phase == Phase::Completed
            && self.league.matches.values().any(|game| game.decision.is_none())
        {
            let message = "the league was ended early, and is not taken up again";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        if let Some(later) = self.league.drawn_from(&match_id) {
            let title = later.drawn.as_ref().map_or("a later round", |drawn| drawn.title.as_str());
            let message = format!(
                "{match_id}: round {} ({title}) was drawn from its result, which therefore stays",
                later.round_id
            );
            return Err(
                RequestError::new(ErrorCode::InvalidState, message).with("round_id", later.round_id.0)
            );
        }
        self.record(ctx, LeagueEvent::MatchVoided { match_id });
        self.tell_standings(ctx);
        self.advance(ctx);
        Ok(())
    }

    /// Referees that do not prove are given every match from now on.
    fn allow_unproven(&mut self, ctx: &mut Ctx<'_>) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Running, Phase::Paused], "allow")?;
        if !self.league.proofs_required {
            let message = "this league requires no proofs: every referee is given every match already";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        self.record(ctx, LeagueEvent::UnprovenAllowed);
        self.advance(ctx);
        Ok(())
    }

    fn end_early(&mut self, ctx: &mut Ctx<'_>) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Running, Phase::Paused], "end")?;
        let under_way = self.under_way(|_| true);
        self.in_roll_call = false;
        self.release_at = None;
        self.due.clear();
        self.backoff_until.clear();
        self.complete_league(ctx, true);
        for match_id in under_way {
            self.stop_referee(ctx, &match_id);
        }
        Ok(())
    }

    fn under_way(&self, wanted: impl Fn(&MatchId) -> bool) -> Vec<MatchId> {
        let playing = self.league.awaited().filter(|(_, game)| game.in_play);
        playing.map(|(id, _)| id.clone()).filter(|id| wanted(id)).collect()
    }

    /// Tells the referee of a match to stop it.
    fn stop_referee(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let game = self.league.matches.get(match_id);
        if let Some((referee, attempt)) = game.and_then(|game| game.referee().cloned().zip(game.attempt())) {
            self.tell_superseded(ctx, Sender::Referee(referee), match_id, attempt);
        }
    }
}
