//! The rules on the order of what players hear: of their round before their match, of one attempt at a time, of the end of
//! each match, and of nothing of it after that. They hold over a sound network.

use crate::agent_id::AgentId;
use crate::failure::{Checker, Fault};
use matchday_core::league::{LeagueEvent, Suspicion};
use matchday_core::protocol::{Attempt, Body, MatchId, Message};
use std::collections::{BTreeMap, BTreeSet};

/// What has been sent to players so far.
#[derive(Debug, Default)]
pub struct Conduct {
    announced: BTreeSet<(AgentId, MatchId)>,
    /// The latest attempt at each match of which a player was asked anything.
    asked: BTreeMap<MatchId, Attempt>,
    over: BTreeSet<(AgentId, MatchId, Attempt)>,
}

impl Conduct {
    /// Takes in a message that leaves for a player. `listens`: whether the player answers whatever it is told.
    pub fn hear(&mut self, to: AgentId, listens: bool, message: &Message) -> Result<(), Fault> {
        let attempt_at = |match_id: &MatchId| {
            message
                .envelope
                .conversation_id
                .attempt_of(match_id)
                .unwrap_or(Attempt::FIRST)
        };
        match &message.body {
            Body::RoundAnnouncement(round) => {
                self.announced
                    .extend(round.matches.iter().map(|game| (to, game.match_id.clone())));
                Ok(())
            }
            Body::GameInvitation(invitation) => {
                let match_id = &invitation.match_id;
                if listens && !self.announced.contains(&(to, match_id.clone())) {
                    let what =
                        format!("{to} is invited to {match_id}, and was not told of the round");
                    return Err(Fault::new(Checker::AnnouncedBeforeInvited, what));
                }
                self.ask(to, match_id, attempt_at(match_id))
            }
            Body::ChooseParityCall(call) => {
                self.ask(to, &call.match_id, attempt_at(&call.match_id))
            }
            Body::GameMoveCall(call) => self.ask(to, &call.match_id, attempt_at(&call.match_id)),
            Body::GameError(error) => match &error.match_id {
                Some(match_id) => self.not_over(to, match_id, attempt_at(match_id)),
                None => Ok(()),
            },
            Body::GameOver(over) => {
                self.over
                    .insert((to, over.match_id.clone(), attempt_at(&over.match_id)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn ask(&mut self, to: AgentId, match_id: &MatchId, attempt: Attempt) -> Result<(), Fault> {
        self.not_over(to, match_id, attempt)?;
        let latest = self.asked.entry(match_id.clone()).or_insert(attempt);
        if attempt < *latest {
            let what = format!(
                "{to} is asked in attempt {attempt} at {match_id}, after attempt {latest} began"
            );
            return Err(Fault::new(Checker::OneLiveAttempt, what));
        }
        *latest = attempt;
        Ok(())
    }

    fn not_over(&self, to: AgentId, match_id: &MatchId, attempt: Attempt) -> Result<(), Fault> {
        if !self.over.contains(&(to, match_id.clone(), attempt)) {
            return Ok(());
        }
        let what = format!("{to} hears more of {match_id} after it was told how that ended");
        Err(Fault::new(Checker::GameOverIsLast, what))
    }

    /// Whether a player was told how a match ended.
    pub fn was_told(&self, player: AgentId, match_id: &MatchId) -> Result<(), Fault> {
        if self
            .over
            .iter()
            .any(|(who, over, _)| *who == player && over == match_id)
        {
            return Ok(());
        }
        Err(Fault::new(
            Checker::GameOverIsLast,
            format!("{player} was never told how {match_id} ended"),
        ))
    }
}

/// Where nothing gets in the way of a referee, it is not suspended for want of a report.
pub fn healthy_referee_stays(event: &LeagueEvent) -> Result<(), Fault> {
    match event {
        LeagueEvent::AgentSuspended {
            agent,
            cause: Suspicion::Overdue,
        } => {
            let what =
                format!("{agent} is suspended for want of a report, and nothing is wrong with it");
            Err(Fault::new(Checker::HealthyRefereesStay, what))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::START;
    use matchday_core::protocol::messages::{
        ChooseParityCall, GameDetails, GameInvitation, GameOver, GameResult, GameStatus, Role,
    };
    use matchday_core::protocol::{
        ConversationId, Envelope, GameType, LeagueId, PlayerId, RefereeId, RoundId, Sender,
    };

    const PLAYER: AgentId = AgentId::Player(1);

    fn message(attempt: u32, body: impl Into<Body>) -> Message {
        let conversation = ConversationId::of_match(&MatchId::new("R1M1"), Attempt(attempt));
        let sender = Sender::Referee(RefereeId::new("REF01"));
        Message::new(Envelope::new(sender, START, conversation), body)
    }

    fn invitation(attempt: u32) -> Message {
        let body = GameInvitation {
            league_id: LeagueId::new("league_sim"),
            round_id: RoundId(1),
            match_id: MatchId::new("R1M1"),
            game_type: GameType::even_odd(),
            role_in_match: Role::PlayerA,
            opponent_id: PlayerId::new("P02"),
            player_id: None,
            draw_commitment: None,
            draw_scheme: None,
            commitment_signature: None,
        };
        message(attempt, body)
    }

    fn question(attempt: u32) -> Message {
        let body = ChooseParityCall {
            league_id: None,
            round_id: None,
            match_id: MatchId::new("R1M1"),
            player_id: PlayerId::new("P01"),
            game_type: GameType::even_odd(),
            context: None,
            deadline: START,
            opponent_nonce_commitment: None,
            turn: None,
        };
        message(attempt, body)
    }

    fn over(attempt: u32) -> Message {
        let game_result = GameResult {
            status: GameStatus::Win,
            winner_player_id: None,
            details: GameDetails::Other(serde_json::Map::new()),
            reason: None,
            fairness: None,
        };
        let body = GameOver {
            league_id: None,
            round_id: None,
            match_id: MatchId::new("R1M1"),
            game_type: GameType::even_odd(),
            game_result,
            reason: None,
            signature: None,
        };
        message(attempt, body)
    }

    #[test]
    fn an_invitation_that_was_not_announced_is_noticed() {
        let fault = Conduct::default()
            .hear(PLAYER, true, &invitation(1))
            .unwrap_err();
        assert_eq!(fault.checker, Checker::AnnouncedBeforeInvited);
    }

    #[test]
    fn a_question_of_an_attempt_that_another_has_replaced_is_noticed() {
        let mut conduct = Conduct::default();
        assert_eq!(conduct.hear(PLAYER, true, &question(2)), Ok(()));
        let fault = conduct.hear(PLAYER, true, &question(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::OneLiveAttempt);
    }

    #[test]
    fn a_question_after_the_end_of_its_match_is_noticed() {
        let mut conduct = Conduct::default();
        assert_eq!(conduct.hear(PLAYER, true, &over(1)), Ok(()));
        let fault = conduct.hear(PLAYER, true, &question(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::GameOverIsLast);
        assert_eq!(conduct.was_told(PLAYER, &MatchId::new("R1M1")), Ok(()));
        let fault = conduct
            .was_told(AgentId::Player(2), &MatchId::new("R1M1"))
            .unwrap_err();
        assert_eq!(fault.checker, Checker::GameOverIsLast);
    }

    #[test]
    fn a_suspension_of_a_healthy_referee_is_noticed() {
        let agent = Sender::Referee(RefereeId::new("REF01"));
        let suspended = |cause| LeagueEvent::AgentSuspended {
            agent: agent.clone(),
            cause,
        };
        let fault = healthy_referee_stays(&suspended(Suspicion::Overdue)).unwrap_err();
        assert_eq!(fault.checker, Checker::HealthyRefereesStay);
        assert_eq!(
            healthy_referee_stays(&suspended(Suspicion::Unreachable)),
            Ok(())
        );
    }
}
