//! The manager as an agent: hands each input to the machine that it is for, and records, sends and tells what follows.

mod assigning;
mod checkpoints;
mod course;
mod handing_back;
mod metrics;
mod orders;
mod registration;
mod results;
mod telling;

pub use checkpoints::CHECKPOINT_KEY;
pub use handing_back::{LOST_MAX, LOST_PERCENT_MAX};
pub use orders::OPERATOR;

use super::assignments::{Assignments, refusal};
use super::deliveries::Purpose;
use super::event::LeagueEvent;
use super::keyrings::Keyrings;
use super::liveness::Liveness;
use super::notices::Notices;
use super::registrar::{CarriedOver, Registrar};
use super::request::{ReceivedMessage, RequestError};
use super::rounds::Rounds;
use super::settings::{Admission, LeagueSettings};
use super::signatures::{Completion, Signatures};
use super::state::League;
use crate::agent::{
    Agent, Answer, Ask, CallId, Content, DecodeHints, Failure, Input, Request, Step, StepContext,
};
use crate::driver::EventDurability;
use crate::entropy::Entropy;
use crate::outbox::Outbox;
use crate::protocol::decode::{Conformance, Deviation, DeviationKind, Incoming, Limits, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::ConversationId;
use crate::protocol::messages::{LeagueQuery, LeagueStatus, Phase};
use crate::protocol::{
    Body, Envelope, Message, MessageType, Query, Sender, Timestamp, UntrustedText,
};
use std::sync::Arc;

/// Runs one league. The durable state is in [`League`]; the rest is rebuilt on [`Input::Wake`].
#[derive(Debug)]
pub struct Manager {
    league: League,
    outbox: Outbox<Purpose>,
    keyrings: Keyrings,
    registrar: Registrar,
    rounds: Rounds,
    assignments: Assignments,
    notices: Notices,
    liveness: Liveness,
    signatures: Signatures,
    admission: Admission,
}

type Ctx<'a> = StepContext<'a, LeagueEvent>;

impl Manager {
    /// A league without any event: replay its log, or wake it to begin one.
    pub fn new(settings: LeagueSettings) -> Self {
        Self {
            admission: Admission::of(&settings),
            league: League::new(settings),
            outbox: Outbox::default(),
            keyrings: Keyrings::default(),
            registrar: Registrar::default(),
            rounds: Rounds::default(),
            assignments: Assignments::default(),
            notices: Notices::default(),
            liveness: Liveness::default(),
            signatures: Signatures::default(),
        }
    }

    /// With the players of the season's previous league, who take part in this one without registering.
    #[must_use]
    pub fn with_carried_over(mut self, players: Vec<CarriedOver>) -> Self {
        self.registrar.carry_over(players);
        self
    }

    /// The state that the events have made.
    pub fn league(&self) -> &League {
        &self.league
    }

    /// The answer to status queries and to orders of the operator, without the roster.
    pub fn status(&self) -> LeagueStatus {
        self.league.status()
    }

    fn on_request(&mut self, ctx: &mut Ctx<'_>, request: Request) {
        let Request {
            id,
            ask,
            dialect,
            local,
            objection,
            client,
            join_code,
        } = request;
        let received = |envelope, message_type| ReceivedMessage {
            request: id,
            envelope,
            message_type,
            dialect,
            objection,
            client,
            join_code,
        };
        match ask {
            Ask::Message(Ok(Incoming {
                envelope,
                message_type,
                body,
                deviations,
                strict: _,
            })) => {
                let received = received(
                    envelope,
                    Some(UntrustedText::new_static(message_type.name())),
                );
                self.on_message(ctx, &received, local, message_type, body, deviations);
            }
            Ask::Message(Err(rejection)) => {
                let conversation = rejection
                    .conversation_id
                    .clone()
                    .unwrap_or_else(|| ConversationId::new("conv-error"));
                let envelope = envelope(ctx.now, conversation);
                self.reply_error(
                    ctx,
                    &received(envelope, rejection.message_type.clone()),
                    rejection.into(),
                );
            }
            Ask::Checkpoint {
                operator_token: Some(token),
            } if !self.league.settings.public_reads => {
                let envelope =
                    envelope(ctx.now, ConversationId::new("conv-look")).with_token(Some(token));
                let envelope = Envelope {
                    sender: Sender::Launcher,
                    ..envelope
                };
                self.show_checkpoint_to_operator(ctx, &received(envelope, None));
            }
            Ask::Checkpoint { .. } => match self.league.check_reader() {
                Ok(()) => self.show_checkpoint(ctx, id),
                Err(refusal) => {
                    let envelope = envelope(ctx.now, ConversationId::new("conv-look"));
                    ctx.reply(id, Content::Message(Message::new(envelope, refusal)));
                }
            },
            Ask::Query(request) => match request.query {
                Query::Ping => ctx.reply(id, Content::Data(serde_json::json!({"status": "ok"}))),
                Query::MatchState | Query::PlayerState => {
                    let message = "a league manager has no such state to show";
                    let error = RequestError::new(ErrorCode::InvalidState, message);
                    self.reply_error(
                        ctx,
                        &received(envelope(ctx.now, ConversationId::new("conv-error")), None),
                        error,
                    );
                }
                _ => {
                    let envelope = envelope(ctx.now, ConversationId::new("conv-look"));
                    let body = self.league.public_answer(&request);
                    ctx.reply(id, Content::Message(Message { envelope, body }));
                }
            },
        }
    }

    fn on_message(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        local: bool,
        message_type: MessageType,
        body: Result<Body, Rejection>,
        mut deviations: Vec<Deviation>,
    ) {
        let assumed = self.league.assumed_reporter(&received.envelope, &body);
        let is_assumed = assumed.is_some();
        let authorized = match assumed {
            Some(reporter) => Ok(Some(reporter)),
            None => self
                .league
                .authorize(&received.envelope, message_type, local),
        };
        let member = match authorized {
            Ok(member) => member,
            Err(error) => {
                if let Ok(Body::MatchResultReport(report)) = &body {
                    self.on_unproven_report(ctx, received, &report.match_id);
                }
                return self.reject_sender(ctx, received, error);
            }
        };
        if let Some(member) = &member {
            let settings = &self.league.settings;
            if let Some(error) = self.registrar.over_rate_limit(settings, ctx.now, member) {
                return self.reply_error(ctx, received, error);
            }
            if *member != received.envelope.sender && !is_assumed {
                deviations.push(Deviation {
                    kind: DeviationKind::OwnName,
                    path: "sender".into(),
                });
            }
            if received.envelope.auth_token.is_some() {
                self.record_token_shown(ctx, member);
            }
        }
        let outcome = match body {
            Err(rejection) => {
                if let (MessageType::MatchResultReport, Some(Sender::Referee(referee))) =
                    (message_type, &member)
                {
                    self.on_unreadable_report(ctx, referee, &rejection);
                }
                Err(rejection.into())
            }
            Ok(body) => self.dispatch(ctx, received, member.as_ref(), body),
        };
        let member = match outcome {
            Ok(registered) => registered.or(member),
            Err(error) => {
                self.reply_error(ctx, received, error);
                member
            }
        };
        if let Some(member) = member {
            self.record_deviations(ctx, &member, &deviations);
        }
    }

    /// Handles a request, or says why it is rejected. Returns the agent that registered, if one did.
    fn dispatch(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        member: Option<&Sender>,
        body: Body,
    ) -> Result<Option<Sender>, RequestError> {
        match (body, member) {
            (Body::LeagueRegisterRequest(request), _) => {
                return Ok(self.register_player(ctx, received, Arc::unwrap_or_clone(request)));
            }
            (Body::RefereeRegisterRequest(request), _) => {
                return Ok(self.register_referee(ctx, received, Arc::unwrap_or_clone(request)));
            }
            (Body::StartLeague(start), _) => self.start_league(ctx, received, &start)?,
            (Body::LeagueOrder(order), Some(Sender::Player(player))) => {
                self.leave(ctx, received, player, &order)?;
            }
            (Body::LeagueOrder(order), _) => {
                self.execute(ctx, received, Arc::unwrap_or_clone(order))?
            }
            (Body::MatchResultReport(report), Some(Sender::Referee(referee))) => {
                self.accept_report(ctx, received, referee, &report)?;
            }
            (Body::LeagueError(error), Some(Sender::Referee(referee))) => {
                self.on_hand_back(ctx, received, referee, &error)?;
            }
            (Body::LeagueQuery(query), Some(member)) => {
                self.answer(ctx, received, member, &query)?
            }
            (body, _) => {
                let message = format!("a league manager does not accept {}", body.message_type());
                return Err(RequestError::new(ErrorCode::InvalidState, message));
            }
        }
        Ok(None)
    }

    fn answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        member: &Sender,
        query: &LeagueQuery,
    ) -> Result<(), RequestError> {
        self.league.check_id(&query.league_id)?;
        if let (Sender::Referee(referee), Query::Schedule) = (member, query.query_type) {
            self.assignments.record_poll(referee);
        }
        self.reply(
            ctx,
            received,
            self.league
                .answer(member, query.query_type, &query.query_params),
        );
        Ok(())
    }

    fn on_answer(&mut self, ctx: &mut Ctx<'_>, call: CallId, dialect: Dialect, answer: &Answer) {
        if let Some(pending) = self.registrar.take(call) {
            self.outbox.answered(call);
            return self.finish_registration(ctx, pending, answer);
        }
        let Some(sent) = self.outbox.answered(call) else {
            return;
        };
        let reached = !matches!(answer, Answer::Undelivered(_));
        let purpose = sent.delivery.purpose.clone();
        if let (true, Some(agent)) = (is_sign_of_life(answer), purpose.agent()) {
            if reached && sent.delivery.dialect != dialect {
                self.record(
                    ctx,
                    LeagueEvent::DialectLearned {
                        agent: agent.clone(),
                        dialect,
                    },
                );
            }
            // A referee that takes no match is not taken for one that is back.
            let refused = matches!(purpose, Purpose::Assignment(..)) && refusal(answer).is_some();
            self.liveness.record_answer(agent);
            if !refused {
                self.on_sign_of_life(ctx, agent);
            }
        }
        match purpose {
            Purpose::Notice(agent) => self.on_notice_answered(ctx, &agent, sent, reached),
            Purpose::Assignment(matches, agent) => {
                self.on_assignment_answered(ctx, &matches, agent, sent, answer);
            }
            Purpose::Probe(agent) => self.on_probe_answered(ctx, agent, sent, answer),
            Purpose::VerifyReachability(agent) => self.on_reachability_verified(ctx, agent, answer),
            Purpose::Registration => {}
        }
        self.check_roll_call(ctx);
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if !self.league.created {
            let settings = self.league.settings.clone();
            self.record(ctx, LeagueEvent::LeagueCreated { settings });
            self.enter_carried_over(ctx);
        }
        match self.league.phase {
            Phase::Registration => {}
            Phase::Running | Phase::Paused => self.resume(ctx),
            Phase::Completed => self.tell_when_signed(ctx, Completion::League),
        }
    }

    fn on_tick(&mut self, ctx: &mut Ctx<'_>) {
        self.outbox.tick(ctx.now, &mut ctx.step.outbox);
        self.registrar.tick(ctx.now, &mut ctx.step.replies);
        self.reassign_overdue(ctx);
        self.ask_idle_referees(ctx);
        let has_rested = self.assignments.end_backoffs(ctx.now);
        if self.signatures.is_overdue(ctx.now) {
            self.tell_unsigned(ctx);
        }
        if self.rounds.tick(ctx.now) || has_rested {
            self.advance(ctx);
        }
        if self.notices.are_standings_due(ctx.now) {
            self.tell_standings(ctx);
        }
        let probes = self.liveness.probes_due(&self.league, ctx.now);
        self.send(ctx, probes);
    }
}

/// Whether somebody is there. A connection that was accepted and then closed says so too: its server may have failed at a
/// message that it does not know.
pub(super) fn is_sign_of_life(answer: &Answer) -> bool {
    matches!(answer, Answer::Undelivered(Failure::Closed))
        || !matches!(answer, Answer::Undelivered(_))
}

/// The envelope of a message that answers no request.
fn envelope(now: Timestamp, conversation: ConversationId) -> Envelope {
    Envelope::new(Sender::LeagueManager, now, conversation)
}

impl Agent for Manager {
    type Event = LeagueEvent;

    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<LeagueEvent> {
        let mut ctx = Ctx::new(now, entropy);
        match input {
            Input::Wake => self.on_wake(&mut ctx),
            Input::Request(request) => self.on_request(&mut ctx, request),
            Input::Answer {
                call,
                dialect,
                answer,
            } => self.on_answer(&mut ctx, call, dialect, &answer),
            Input::Signed(signed) => self.on_signed(&mut ctx, signed),
            Input::Tick => self.on_tick(&mut ctx),
            Input::External { .. } => {}
        }
        ctx.step
    }

    fn apply(&mut self, at: Timestamp, event: &LeagueEvent) {
        self.league.apply(at, event);
    }

    fn deadline(&self) -> Option<Timestamp> {
        let machines = [
            self.outbox.deadline(),
            self.registrar.deadline(),
            self.rounds.deadline(),
            self.assignments.deadline(),
            self.notices.deadline(),
            self.liveness.deadline(),
            self.signatures.deadline(),
        ];
        machines.into_iter().flatten().min()
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager
    }
}

impl EventDurability for Manager {}

impl DecodeHints for Manager {
    fn reading(&self) -> (Conformance, Limits) {
        let LeagueSettings {
            conformance,
            message_bytes_max,
            ..
        } = self.league.settings;
        (
            conformance,
            Limits {
                message_bytes_max,
                ..Limits::MANAGER
            },
        )
    }
}
