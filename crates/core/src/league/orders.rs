//! The operator steps in: pause, resume, withdraw a player, strike a result, end early. Tokens are `tokens`' matter, join codes `roster`'s.

use super::event::{LeagueEvent, LossCause};
use super::manager::{Act, Asked, Manager, Refusal};
use crate::protocol::Sender;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, PlayerId};
use crate::protocol::messages::{Culprit, LeagueOrder, LeagueStatus, Order, Phase};

impl Manager {
    pub(super) fn obey(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        order: LeagueOrder,
    ) -> Result<(), Refusal> {
        self.check_league(&order.league_id)?;
        if let (Order::Rotate, Some(whose)) = (order.order, &order.agent_id) {
            return self.rotate(act, asked, whose);
        }
        if let (Order::Invite | Order::RotateCode, Some(whose)) = (order.order, &order.agent_id) {
            return self.issue_code(act, asked, whose, order.order == Order::Invite);
        }
        if let (Order::Revoke, Some(whose)) = (order.order, &order.agent_id) {
            self.revoke(act, whose)?;
            self.reply(act, asked, self.status());
            return Ok(());
        }
        match (order.order, order.player_id, order.match_id) {
            (Order::Pause, ..) => self.pause(act)?,
            (Order::Resume, ..) => self.go_on(act)?,
            (Order::Withdraw, Some(player), _) => self.withdraw(act, &player)?,
            (Order::Void, _, Some(match_id)) => self.strike(act, match_id)?,
            (Order::End, ..) => self.end_early(act)?,
            (Order::Roster, ..) => {
                let status = LeagueStatus { roster: Some(self.roster()), ..self.status() };
                self.reply(act, asked, status);
                return Ok(());
            }
            (Order::Withdraw, None, _)
            | (Order::Void, _, None)
            | (Order::Rotate | Order::Revoke | Order::Invite | Order::RotateCode, ..) => {
                return Err(Refusal::new(ErrorCode::MissingField, "name the player, the match or the agent"));
            }
        }
        self.reply(act, asked, self.status());
        Ok(())
    }

    fn expect_phase(&self, wanted: &[Phase], to: &str) -> Result<(), Refusal> {
        let phase = self.league.phase;
        if wanted.contains(&phase) {
            return Ok(());
        }
        Err(Refusal::new(
            ErrorCode::InvalidState,
            format!("the league is in {phase:?}: there is nothing to {to}"),
        ))
    }

    fn pause(&mut self, act: &mut Act<'_>) -> Result<(), Refusal> {
        self.expect_phase(&[Phase::Running], "pause")?;
        self.record(act, LeagueEvent::LeaguePaused);
        Ok(())
    }

    fn go_on(&mut self, act: &mut Act<'_>) -> Result<(), Refusal> {
        self.expect_phase(&[Phase::Paused], "resume")?;
        self.record(act, LeagueEvent::LeagueResumed);
        self.advance(act);
        Ok(())
    }

    fn withdraw(&mut self, act: &mut Act<'_>, player: &PlayerId) -> Result<(), Refusal> {
        self.expect_phase(&[Phase::Registration, Phase::Running, Phase::Paused], "withdraw from")?;
        match self.league.players.get(player) {
            None => {
                let message = format!("no player is registered here as {player}");
                return Err(
                    Refusal::new(ErrorCode::PlayerNotRegistered, message).with("player_id", player.as_str())
                );
            }
            Some(known) if known.withdrawn => {
                let message = format!("{player} has been withdrawn already");
                return Err(Refusal::new(ErrorCode::InvalidState, message));
            }
            Some(_) => {}
        }
        self.record(act, LeagueEvent::PlayerWithdrawn { player_id: player.clone() });
        self.take_out(act, player);
        self.advance(act);
        Ok(())
    }

    /// Ends what a player that is out has under way: it is given out anew, to be decided without play.
    pub(super) fn take_out(&mut self, act: &mut Act<'_>, player: &PlayerId) {
        let under_way = self.under_way(|id| self.league.matches.get(id).is_some_and(|game| game.has(player)));
        for match_id in under_way {
            let why = format!("{player} was taken out of the league");
            self.lose_attempt(act, &match_id, Culprit::Player, LossCause::PlayerOut, &why);
            self.stop_referee(act, &match_id);
        }
    }

    fn strike(&mut self, act: &mut Act<'_>, match_id: MatchId) -> Result<(), Refusal> {
        let Some(game) = self.league.matches.get(&match_id) else {
            return Err(Refusal::new(ErrorCode::MatchNotFound, format!("there is no match {match_id}")));
        };
        if game.decision.is_none() {
            let message = format!("{match_id} has no result that could be struck");
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        }
        if self.league.phase == Phase::Completed
            && self.league.matches.values().any(|game| game.decision.is_none())
        {
            let message = "the league was ended early, and is not taken up again";
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        }
        if let Some(later) = self.league.drawn_from(&match_id) {
            let title = later.drawn.as_ref().map_or("a later round", |drawn| drawn.title.as_str());
            let message = format!(
                "{match_id}: round {} ({title}) was drawn from its result, which therefore stays",
                later.round_id
            );
            return Err(Refusal::new(ErrorCode::InvalidState, message).with("round_id", later.round_id.0));
        }
        self.record(act, LeagueEvent::MatchVoided { match_id });
        self.tell_standings(act);
        self.advance(act);
        Ok(())
    }

    fn end_early(&mut self, act: &mut Act<'_>) -> Result<(), Refusal> {
        self.expect_phase(&[Phase::Running, Phase::Paused], "end")?;
        let under_way = self.under_way(|_| true);
        self.roll = None;
        self.release_at = None;
        self.due.clear();
        self.resting.clear();
        self.complete_league(act, true);
        for match_id in under_way {
            self.stop_referee(act, &match_id);
        }
        Ok(())
    }

    fn under_way(&self, wanted: impl Fn(&MatchId) -> bool) -> Vec<MatchId> {
        let playing = self.league.awaited().filter(|(_, game)| game.in_play);
        playing.map(|(id, _)| id.clone()).filter(|id| wanted(id)).collect()
    }

    /// Tells the referee of a match that it need not be played any more.
    fn stop_referee(&mut self, act: &mut Act<'_>, match_id: &MatchId) {
        let game = self.league.matches.get(match_id);
        if let Some((referee, attempt)) = game.and_then(|game| game.referee().cloned().zip(game.attempt())) {
            self.tell_moot(act, Sender::Referee(referee), match_id, attempt);
        }
    }
}
