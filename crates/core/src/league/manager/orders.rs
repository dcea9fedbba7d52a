//! The operator's orders: pause, resume, withdraw a player, void a result, end early; tokens and join codes.

use super::checkpoints::CHECKPOINT_KEY;
use super::{Ctx, Manager};
use crate::agent::Agent;
use crate::league::event::LeagueEvent;
use crate::league::invitation::Invitation;
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::state::new_slot;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, PlayerId};
use crate::protocol::messages::{AgentRole, LeagueOrder, LeagueStatus, Order, Phase};
use crate::protocol::text::DisplayName;
use crate::protocol::{Sender, Token};

/// The operator's own token, in an order.
pub const OPERATOR: &str = "operator";

impl Manager {
    pub(super) fn execute(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        order: LeagueOrder,
    ) -> Result<(), RequestError> {
        self.league.check_id(&order.league_id)?;
        if let (Order::Rotate, Some(whose)) = (order.order, &order.agent_id) {
            return self.rotate(ctx, received, whose);
        }
        if let (Order::Invite | Order::RotateCode, Some(whose)) = (order.order, &order.agent_id) {
            let add = order.order == Order::Invite;
            return self.issue_code(ctx, received, whose, add, order.join_code);
        }
        if let (Order::Revoke, Some(whose)) = (order.order, &order.agent_id) {
            self.revoke(ctx, whose)?;
            self.reply(ctx, received, self.league.status());
            return Ok(());
        }
        match (order.order, order.player_id, order.match_id) {
            (Order::Pause, ..) => self.pause(ctx)?,
            (Order::Resume, ..) => self.unpause(ctx)?,
            (Order::Withdraw, Some(player), _) => self.withdraw(ctx, &player)?,
            (Order::Void, _, Some(match_id)) => self.void(ctx, match_id)?,
            (Order::End, ..) => self.end_early(ctx)?,
            (Order::AllowUnproven, ..) => self.allow_unproven(ctx)?,
            (Order::Roster, ..) => {
                let status = LeagueStatus {
                    roster: Some(self.league.roster_shown()),
                    ..self.league.status()
                };
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
        self.reply(ctx, received, self.league.status());
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

    fn unpause(&mut self, ctx: &mut Ctx<'_>) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Paused], "resume")?;
        self.record(ctx, LeagueEvent::LeagueResumed);
        self.advance(ctx);
        Ok(())
    }

    fn withdraw(&mut self, ctx: &mut Ctx<'_>, player: &PlayerId) -> Result<(), RequestError> {
        self.expect_phase(
            &[Phase::Registration, Phase::Running, Phase::Paused],
            "withdraw from",
        )?;
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
        self.record(
            ctx,
            LeagueEvent::PlayerWithdrawn {
                player_id: player.clone(),
            },
        );
        self.lose_attempts_with(ctx, player);
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
        self.league.check_id(&order.league_id)?;
        if order.order != Order::Withdraw || order.player_id.as_ref() != Some(player) {
            let message =
                format!("{player} can only withdraw itself: agents do not run the league");
            return Err(RequestError::new(ErrorCode::TokenInvalid, message));
        }
        self.expect_phase(
            &[Phase::Registration, Phase::Running, Phase::Paused],
            "leave",
        )?;
        if self
            .league
            .players
            .get(player)
            .is_some_and(|known| !known.away)
        {
            self.record(
                ctx,
                LeagueEvent::PlayerLeft {
                    player_id: player.clone(),
                },
            );
        }
        self.reply(ctx, received, self.league.status());
        Ok(())
    }

    fn void(&mut self, ctx: &mut Ctx<'_>, match_id: MatchId) -> Result<(), RequestError> {
        let Some(fixture) = self.league.matches.get(&match_id) else {
            return Err(RequestError::new(
                ErrorCode::MatchNotFound,
                format!("there is no match {match_id}"),
            ));
        };
        if fixture.decision.is_none() {
            let message = format!("{match_id} has no result that could be voided");
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        if self.league.phase == Phase::Completed
            && self
                .league
                .matches
                .values()
                .any(|fixture| fixture.decision.is_none())
        {
            let message = "the league was ended early and cannot continue";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        if let Some(later) = self.league.drawn_from(&match_id) {
            let title = later
                .drawn
                .as_ref()
                .map_or("a later round", |drawn| drawn.title.as_str());
            let message = format!(
                "{match_id}: round {} ({title}) was paired from its result, so the result stays",
                later.round_id
            );
            return Err(RequestError::new(ErrorCode::InvalidState, message)
                .with("round_id", later.round_id.0));
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
            let message =
                "this league requires no proofs: every referee is given every match already";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        self.record(ctx, LeagueEvent::UnprovenAllowed);
        self.advance(ctx);
        Ok(())
    }

    fn end_early(&mut self, ctx: &mut Ctx<'_>) -> Result<(), RequestError> {
        self.expect_phase(&[Phase::Running, Phase::Paused], "end")?;
        let under_way = self.league.in_hand(|_| true);
        self.liveness.cancel_roll_call();
        self.rounds.stop();
        self.assignments.stop();
        self.complete_league(ctx, true);
        for (match_id, _) in under_way {
            self.stop_referee(ctx, &match_id);
        }
        Ok(())
    }
}

/// Tokens and join codes.
impl Manager {
    /// Issues a new token, which only this answer shows; the old one and its registration key become invalid.
    fn rotate(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        whose: &str,
    ) -> Result<(), RequestError> {
        if whose == CHECKPOINT_KEY {
            return self.rotate_checkpoint_key(received);
        }
        let agent = if whose == OPERATOR {
            None
        } else {
            Some(self.member_called(whose)?)
        };
        let issued = Token::issue(whose, ctx.entropy);
        let token = issued.hash();
        let event = match agent {
            Some(agent) => LeagueEvent::TokenRotated { agent, token },
            None => LeagueEvent::OperatorTokenRotated { token },
        };
        self.record(ctx, event);
        self.advance(ctx);
        self.reply_with_token(ctx, received, self.league.status(), Some(issued));
        Ok(())
    }

    /// Revokes a token. Until it gets another, a player forfeits its matches and a referee gets none.
    fn revoke(&mut self, ctx: &mut Ctx<'_>, whose: &str) -> Result<(), RequestError> {
        if whose == OPERATOR {
            let message =
                "without a token nobody could run this league any more: rotate it instead";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        let agent = self.member_called(whose)?;
        if self.league.is_revoked(&agent) {
            let message = format!("the token of {whose} has been revoked already");
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        self.record(
            ctx,
            LeagueEvent::TokenRevoked {
                agent: agent.clone(),
            },
        );
        match &agent {
            Sender::Player(player) => self.lose_attempts_with(ctx, player),
            Sender::Referee(referee) => {
                self.lose_attempts_of(ctx, referee, "its token was revoked")
            }
            Sender::LeagueManager | Sender::Launcher => {}
        }
        self.advance(ctx);
        Ok(())
    }

    fn member_called(&self, id: &str) -> Result<Sender, RequestError> {
        self.league.member_called(id).ok_or_else(|| {
            let message = format!("nobody is registered here as {id}");
            RequestError::new(ErrorCode::PlayerNotRegistered, message)
                .with("id", id)
                .with("player_id", id)
        })
    }

    /// Issues a code for a slot, or with `add` for a new slot: the one that was `given`, or one that only this answer shows.
    fn issue_code(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        whose: &str,
        add: bool,
        given: Option<Token>,
    ) -> Result<(), RequestError> {
        let (role, name) = if add {
            new_slot(whose)?
        } else {
            self.league.slot_called(whose)?
        };
        if add
            && self
                .league
                .roster
                .iter()
                .any(|place| place.is(role, name.as_ref()))
        {
            let (_, name) = whose.split_once(':').unwrap_or(("", whose));
            let message = format!("{name} is on the roster already: rotate its code instead");
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        let code = match given {
            None => Token::new_join_code(ctx.entropy),
            Some(code) => self.checked_code(code, role, name.as_ref())?,
        };
        let invitation = Invitation {
            role,
            name,
            code: code.hash(),
        };
        self.record(ctx, LeagueEvent::JoinCodeIssued { invitation });
        self.reply_with_token(ctx, received, self.league.status(), Some(code));
        Ok(())
    }

    /// A code that the operator has handed out already: nobody can guess it, and nobody else has it.
    fn checked_code(
        &self,
        code: Token,
        role: AgentRole,
        name: Option<&DisplayName>,
    ) -> Result<Token, RequestError> {
        if !code.is_join_code() {
            let message = "join_code: expected tok_join_ and at least 16 letters and digits";
            return Err(RequestError::new(ErrorCode::InvalidFormat, message));
        }
        let is_of_another = |role_of: AgentRole| {
            let place = self.league.place_for(role_of, &code);
            place.is_some_and(|place| !place.is(role, name))
        };
        if AgentRole::ALL.into_iter().any(is_of_another) {
            let message = "join_code: another name on the roster has it: each needs one of its own";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        Ok(code)
    }
}
