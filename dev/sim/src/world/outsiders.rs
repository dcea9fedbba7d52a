//! Clients that are no agents of the league: the launcher that starts it, spectators that query, and forgers.

use super::World;
use super::takeovers;
use crate::agent_id::AgentId;
use crate::call::Purpose;
use crate::event::WorldEvent;
use crate::failure::{Checker, Fault};
use crate::faults::pick;
use crate::scenario::{LADDER_ROUNDS, OPERATOR_TOKEN};
use crate::wire::Packet;
use matchday_core::agent::{Answer, Ask};
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::messages::{
    ByPlayer, GameDetails, GameStatus, LeagueError, LeagueOrder, LeagueQuery, MatchResult,
    MatchResultReport, Order, Phase, QueryError, ResultDetails, StartLeague,
};
use matchday_core::protocol::{
    Body, ConversationId, Envelope, ErrorCode, Message, PlayerId, Query, QueryParams, RefereeId,
    Sender, Token,
};
use std::sync::Arc;
use std::time::Duration;

/// How long the launcher waits for agents that are late, once the faults are over.
const PATIENCE: Duration = Duration::from_secs(40);

impl World {
    pub(super) fn launch(&mut self) {
        if self.launched {
            return self.end_ladder();
        }
        let ready = if self.scenario.hasty {
            self.can_begin()
        } else {
            self.all_are_in()
        };
        let now = self.now;
        let late = now >= self.heals_at + PATIENCE;
        if ready || late {
            self.start_league();
        }
        let pause = if ready || late { 2_000 } else { 100 };
        self.queue
            .plan(now + Duration::from_millis(pause), WorldEvent::Launch);
    }

    /// The operator ends a ladder after some rounds, or when it has had the time for them.
    fn end_ladder(&mut self) {
        if !self.scenario.is_ladder() {
            return;
        }
        // Also after its end, which a process that loses the league may not have stored.
        let league = self.agents.league();
        let is_late = self.now >= self.heals_at + self.scenario.bound() / 2;
        if league.phase != Phase::Completed && (league.current_round >= LADDER_ROUNDS || is_late) {
            let message = self.order(
                Sender::Launcher,
                Token::new(OPERATOR_TOKEN),
                Order::End,
                None,
            );
            self.call_from_outside(
                Purpose::End,
                AgentId::Outsider,
                AgentId::Manager,
                Packet::Message(message),
            );
        }
        self.queue
            .plan(self.now + Duration::from_secs(1), WorldEvent::Launch);
    }

    fn order(
        &self,
        sender: Sender,
        token: Token,
        order: Order,
        player_id: Option<PlayerId>,
    ) -> Message {
        let league_id = self.scenario.league_id.clone();
        let order = LeagueOrder {
            league_id,
            order,
            player_id,
            match_id: None,
            agent_id: None,
            join_code: None,
        };
        Message::new(self.envelope(sender, Some(token)), order)
    }

    /// A player leaves the ladder; it is back when it registers again.
    fn leave(&mut self) {
        let Some((who, player, token)) = self.some_player() else {
            return;
        };
        let message = self.order(
            Sender::Player(player.clone()),
            token,
            Order::Withdraw,
            Some(player),
        );
        self.call_from_outside(
            Purpose::Leave,
            who,
            AgentId::Manager,
            Packet::Message(message),
        );
    }

    /// Who is in the league by what is stored. It need not know.
    fn entered(&self) -> Vec<AgentId> {
        let endpoint = |(_, event): &(_, LeagueEvent)| match event {
            LeagueEvent::PlayerRegistered { meta, .. } => AgentId::at(&meta.contact_endpoint),
            LeagueEvent::RefereeRegistered { meta, .. } => AgentId::at(&meta.contact_endpoint),
            _ => None,
        };
        self.agents
            .manager
            .log()
            .iter()
            .filter_map(endpoint)
            .collect()
    }

    fn all_are_in(&self) -> bool {
        let entered = self.entered();
        let hosts = self.agents.hosts();
        let mut expected = hosts
            .iter()
            .filter(|who| **who != AgentId::Manager && self.scenario.is_expected(**who));
        expected.all(|who| entered.contains(who))
    }

    /// Whether the manager would let the league begin, and it can also end: nobody plays without a referee.
    fn can_begin(&self) -> bool {
        let entered = self.entered();
        let lasts = |who: &AgentId| matches!(who, AgentId::Referee(_)) && self.doomed != Some(*who);
        entered
            .iter()
            .filter(|who| matches!(who, AgentId::Player(_)))
            .count()
            >= 2
            && entered.iter().any(lasts)
    }

    fn start_league(&mut self) {
        let league_id = self.scenario.league_id.clone();
        let message = Message::new(
            self.envelope(Sender::Launcher, None),
            StartLeague { league_id },
        );
        let purpose = Purpose::Launch {
            again: self.launched,
        };
        self.call_from_outside(
            purpose,
            AgentId::Outsider,
            AgentId::Manager,
            Packet::Message(message),
        );
    }

    fn envelope(&self, sender: Sender, token: Option<Token>) -> Envelope {
        Envelope::new(sender, self.now, ConversationId::new("conv-outsider")).with_token(token)
    }

    /// Now and then somebody asks, repeats or forges something.
    pub(super) fn meddle(&mut self) {
        let now = self.now;
        let next = Duration::from_millis(200 + self.chance.below(1_600));
        if !self.ending {
            self.queue.plan(now + next, WorldEvent::Meddle);
        }
        if !self.chance.chance(self.scenario.faults.meddling_percent) {
            return;
        }
        match self.chance.below(8) {
            6 if self.scenario.is_ladder() => self.leave(),
            0 => self.ask_around(),
            1 => self.query(),
            2 if self.launched => self.start_league(),
            3 => self.replay_a_report(),
            4 | 5 => self.try_takeover(),
            _ => self.forge_a_report(),
        }
    }

    fn ask_around(&mut self) {
        let whom = pick(&mut self.chance, &self.agents.hosts())
            .copied()
            .unwrap_or(AgentId::Manager);
        let queries = [
            Query::Standings,
            Query::MatchState,
            Query::PlayerState,
            Query::Ping,
        ];
        if let Some(query) = pick(&mut self.chance, &queries) {
            let packet = Packet::Ask(Ask::Query((*query).into()));
            self.call_from_outside(Purpose::Ask, AgentId::Outsider, whom, packet);
        }
    }

    /// A player asks the manager something, under its own token.
    fn query(&mut self) {
        let Some((who, player, token)) = self.some_player() else {
            return;
        };
        let types = [
            Query::Standings,
            Query::Schedule,
            Query::NextMatch,
            Query::PlayerStats,
            Query::Players,
        ];
        let query = LeagueQuery {
            league_id: self.scenario.league_id.clone(),
            query_type: pick(&mut self.chance, &types)
                .copied()
                .unwrap_or(Query::Standings),
            query_params: QueryParams {
                player_id: Some(player.clone()),
                ..QueryParams::default()
            },
        };
        let message = Message::new(self.envelope(Sender::Player(player), Some(token)), query);
        self.call_from_outside(
            Purpose::Query,
            who,
            AgentId::Manager,
            Packet::Message(message),
        );
    }

    /// Any player that has a token.
    fn some_player(&mut self) -> Option<(AgentId, PlayerId, Token)> {
        let known: Vec<_> = (self.agents.league().players.iter())
            .filter_map(|(id, member)| {
                let who = AgentId::at(&member.meta.contact_endpoint)?;
                Some((who, id.clone(), self.wiretap.token_of(who)?.clone()))
            })
            .collect();
        pick(&mut self.chance, &known).cloned()
    }

    fn replay_a_report(&mut self) {
        let reports: Vec<_> = self.wiretap.reports().into_iter().cloned().collect();
        if let Some(report) = pick(&mut self.chance, &reports) {
            let packet = Packet::Message(report.clone());
            self.call_from_outside(Purpose::Replay, AgentId::Outsider, AgentId::Manager, packet);
        }
    }

    /// A report in favour of one player, under a token that does not allow it.
    fn forge_a_report(&mut self) {
        if self.agents.league().phase != Phase::Running {
            return;
        }
        let games: Vec<_> = (self.agents.league().matches.iter())
            .map(|(id, game)| (id.clone(), game.clone()))
            .collect();
        let (Some((match_id, game)), Some((who, player, token))) =
            (pick(&mut self.chance, &games).cloned(), self.some_player())
        else {
            return;
        };
        let referee = Sender::Referee(
            game.referee()
                .cloned()
                .unwrap_or_else(|| RefereeId::numbered(1)),
        );
        let of_a_match = pick(&mut self.chance, self.wiretap.match_tokens()).cloned();
        let (sender, token) = match (self.chance.below(4), of_a_match) {
            (0, _) => (Sender::Player(player), token),
            (1, Some(token)) => (referee, token),
            (2, Some(token)) => (Sender::Player(player), token),
            _ => (referee, token),
        };
        let report = MatchResultReport {
            league_id: self.scenario.league_id.clone(),
            round_id: game.round_id,
            match_id,
            game_type: self.scenario.game_type.clone(),
            result: Arc::new(MatchResult {
                winner: Some(game.a.clone()),
                score: ByPlayer::pair((game.a.clone(), 3), (game.b.clone(), 0)),
                details: ResultDetails::of(GameDetails::Other(serde_json::Map::new())),
                status: Some(GameStatus::Win),
                reason: None,
            }),
        };
        let message = Message::new(self.envelope(sender, Some(token)), report);
        self.stats.forgeries += 1;
        self.call_from_outside(
            Purpose::Forgery,
            who,
            AgentId::Manager,
            Packet::Message(message),
        );
    }

    pub(super) fn outsider_hears(&mut self, purpose: Purpose, answer: Answer) -> Result<(), Fault> {
        let body = match answer {
            Answer::Message(Ok(incoming)) => incoming.body.ok(),
            Answer::Undelivered(_) => return Ok(()),
            // HTTP 503.
            Answer::Garbled(_) if self.scenario.shared_store.is_some() => return Ok(()),
            _ => None,
        };
        let fits = match (purpose, &body) {
            (Purpose::Separate | Purpose::Ask, _) => true,
            (Purpose::Query, Some(Body::LeagueQueryResponse(response))) => {
                // There is no schedule before the start.
                let too_early = |error: &QueryError| error.error_code == ErrorCode::InvalidState;
                response.success
                    || response.query_type == Query::Schedule
                        && response.error.as_ref().is_some_and(too_early)
            }
            // The player has registered again since, and this was its earlier token.
            (Purpose::Query, Some(Body::LeagueError(error))) => refused(error),
            (Purpose::Launch { .. }, Some(Body::LeagueStatus(status))) => {
                self.launched = true;
                status.status != Phase::Registration
            }
            // Too few have registered: the launcher will try again.
            (Purpose::Launch { again }, Some(Body::LeagueError(error))) => {
                !again && error.error_code == ErrorCode::InvalidState
            }
            (Purpose::End | Purpose::Leave, Some(Body::LeagueStatus(_))) => true,
            // It is over already, or has not begun.
            (Purpose::End | Purpose::Leave, Some(Body::LeagueError(error))) => {
                refused(error) || error.error_code == ErrorCode::InvalidState
            }
            (Purpose::Forgery, Some(Body::LeagueError(error))) => refused(error),
            (Purpose::Takeover(_), body) => takeovers::is_refused(body.as_ref()),
            (Purpose::Replay, Some(Body::MatchResultAck(_))) => true,
            (Purpose::Replay, Some(Body::LeagueError(error))) => {
                // Its token may have been replaced since, if the referee registered again.
                let is_lie = !self.scenario.cheats.is_empty()
                    && error.error_code == ErrorCode::InvalidFormat;
                error.error_code == ErrorCode::ResultConflict || is_lie || refused(error)
            }
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let shown = body.map(|body| format!("{body:?}"));
        let checker = match purpose {
            Purpose::Forgery | Purpose::Replay => Checker::ForgeriesRefused,
            Purpose::Takeover(_) => Checker::NobodyTakenOver,
            Purpose::Launch { .. }
            | Purpose::End
            | Purpose::Leave
            | Purpose::Separate
            | Purpose::Ask
            | Purpose::Query => Checker::QuestionsAnswered,
        };
        Err(Fault::new(
            checker,
            format!("{purpose:?} was answered with {shown:?}"),
        ))
    }
}

/// For its token: at once, or slowly, where there were many wrong ones.
fn refused(error: &LeagueError) -> bool {
    [ErrorCode::TokenInvalid, ErrorCode::RateLimited].contains(&error.error_code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Scenario};
    use matchday_core::protocol::messages::{
        AckStatus, LeagueRegisterResponse, LeagueStatus, MatchResultAck, RegisterAnswer,
        RegisterStatus,
    };
    use matchday_core::protocol::{LeagueId, MatchId};

    fn hears(purpose: Purpose, body: impl Into<Body>) -> Option<Checker> {
        let mut world = World::new(
            1,
            &Options {
                scenario: Some(Scenario::plain(2, 1)),
                ..Options::default()
            },
        );
        let message = Message::new(world.envelope(Sender::LeagueManager, None), body);
        let answer = Answer::Message(Ok(message.into()));
        world
            .outsider_hears(purpose, answer)
            .err()
            .map(|fault| fault.checker)
    }

    fn error(code: ErrorCode) -> LeagueError {
        LeagueError::new(code, "no", None, None)
    }

    #[test]
    fn a_forged_report_that_is_not_refused_for_its_token_is_noticed() {
        let receipt = MatchResultAck {
            match_id: MatchId::new("R1M1"),
            status: AckStatus::Recorded,
            duplicate: None,
        };
        assert_eq!(
            hears(Purpose::Forgery, error(ErrorCode::TokenInvalid)),
            None
        );
        assert_eq!(
            hears(Purpose::Forgery, receipt.clone()),
            Some(Checker::ForgeriesRefused)
        );
        assert_eq!(
            hears(Purpose::Forgery, error(ErrorCode::ResultConflict)),
            Some(Checker::ForgeriesRefused)
        );
        assert_eq!(hears(Purpose::Replay, receipt), None);
        assert_eq!(
            hears(Purpose::Replay, error(ErrorCode::Internal)),
            Some(Checker::ForgeriesRefused)
        );
    }

    #[test]
    fn a_takeover_that_is_not_refused_is_noticed() {
        let answered = |status, player_id| LeagueRegisterResponse {
            player_id,
            answer: RegisterAnswer {
                status,
                reason: None,
                league_id: None,
                match_tokens: None,
                manager_public_key: None,
                error_code: None,
                error_name: None,
                context: None,
            },
        };
        let takeover = Purpose::Takeover(AgentId::Player(1));
        assert_eq!(
            hears(takeover, answered(RegisterStatus::Rejected, None)),
            None
        );
        let accepted = answered(RegisterStatus::Accepted, Some(PlayerId::numbered(1)));
        assert_eq!(hears(takeover, accepted), Some(Checker::NobodyTakenOver));
    }

    #[test]
    fn an_answer_to_another_question_is_noticed() {
        let status = |status| LeagueStatus {
            league_id: LeagueId::new("league_sim"),
            status,
            current_round: 0,
            total_rounds: 1,
            round_title: None,
            starts_at: None,
            matches_completed: 0,
            results_unproven: 0,
            matches_awaiting_prover: 0,
            roster: None,
        };
        let launch = Purpose::Launch { again: false };
        assert_eq!(hears(launch, status(Phase::Running)), None);
        let too_few = error(ErrorCode::InvalidState);
        assert_eq!(hears(launch, too_few.clone()), None);
        assert_eq!(
            hears(Purpose::Launch { again: true }, too_few),
            Some(Checker::QuestionsAnswered)
        );
        assert_eq!(
            hears(launch, status(Phase::Registration)),
            Some(Checker::QuestionsAnswered)
        );
        assert_eq!(
            hears(launch, error(ErrorCode::TokenInvalid)),
            Some(Checker::QuestionsAnswered)
        );
        assert_eq!(
            hears(Purpose::Query, status(Phase::Running)),
            Some(Checker::QuestionsAnswered)
        );
        assert_eq!(
            hears(Purpose::Query, error(ErrorCode::TokenMissing)),
            Some(Checker::QuestionsAnswered)
        );
    }
}
