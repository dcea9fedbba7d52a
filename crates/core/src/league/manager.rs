//! The manager as an agent: dispatches each input to the module that handles it.

use super::assignments::{AssignmentForm, refusal};
use super::carry_over::CarriedOver;
use super::checkpoints::{Completion, Unsigned};
use super::event::LeagueEvent;
use super::notices::NoticeQueue;
use super::rate_limit::RateLimiter;
use super::registration::PendingRegistration;
use super::request::{ReceivedMessage, RequestError};
use super::settings::LeagueSettings;
use super::state::League;
use crate::agent::{Agent, Answer, Ask, CallId, Content, Input, Request, Step, StepContext};
use crate::driver::EventDurability;
use crate::entropy::Entropy;
use crate::outbox::{Outbox, Sent};
use crate::protocol::decode::{Deviation, DeviationKind, Incoming, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{ConversationId, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{LeagueError, Phase};
use crate::protocol::token::TokenIssuer;
use crate::protocol::{Body, Envelope, Message, MessageType, Query, Sender, Timestamp, UntrustedText};
use crate::timers::Timers;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Runs one league. The durable state is in [`League`]; the rest is rebuilt on [`Input::Wake`].
#[derive(Debug)]
pub struct Manager {
    pub(super) league: League,
    pub(super) outbox: Outbox<Purpose>,
    /// Created when the first agent registers.
    pub(super) token_issuer: Option<TokenIssuer>,
    pub(super) notice_queues: BTreeMap<Sender, NoticeQueue>,
    /// Registrations that are answered once their endpoint has answered a probe.
    pub(super) pending_registrations: BTreeMap<CallId, PendingRegistration>,
    /// Whether the roll call before the first round is running.
    pub(super) in_roll_call: bool,
    /// When the matches of the announced round may begin, until then.
    pub(super) release_at: Option<Timestamp>,
    /// The players that have not acknowledged the round's announcement, with their matches, which wait for that.
    pub(super) unacknowledged: BTreeMap<PlayerId, MatchId>,
    /// When those matches stop waiting for the acknowledgement.
    pub(super) announcement_deadline: Option<Timestamp>,
    /// Matches that were handed back, with the end of their backoff.
    pub(super) backoff_until: BTreeMap<MatchId, Timestamp>,
    /// The deadline of each open match for its report; after it the match is reassigned.
    pub(super) due: Timers<MatchId>,
    /// How referees of other makes have to be told of their matches.
    pub(super) assignment_forms: BTreeMap<RefereeId, AssignmentForm>,
    /// When the standings are sent, if there are results that they have not shown.
    pub(super) standings_at: Option<Timestamp>,
    /// When players of a ladder that have had as many matches as they allow may have another, while nobody can be paired.
    pub(super) pair_at: Option<Timestamp>,
    /// When suspended agents are probed next.
    pub(super) probe_at: Option<Timestamp>,
    /// Agents whose probe failed for a local reason, so that nothing is known of them.
    pub(super) unprobed: BTreeSet<Sender>,
    pub(super) rate_limiter: RateLimiter,
    /// The players of the season's previous league, until the first event of this one.
    pub(super) carried_over: Vec<CarriedOver>,
    pub(super) unsigned: Unsigned,
    /// The order to rotate the checkpoint key, until the driver has created the new key.
    pub(super) key_rotation: Option<ReceivedMessage>,
}

/// What a delivery is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A notice from the agent's queue.
    Notice(Sender),
    /// An assignment of matches to a referee.
    Assignment(Vec<MatchId>, Sender),
    /// A liveness probe.
    Probe(Sender),
    /// A probe of a player that its referees report as unreachable.
    VerifyReachability(Sender),
    /// A probe of an agent that registers.
    Registration,
}

pub(super) type Ctx<'a> = StepContext<'a, LeagueEvent>;

impl Manager {
    /// A league without any event: replay its log, or wake it to begin one.
    pub fn new(settings: LeagueSettings) -> Self {
        Self {
            league: League::new(settings),
            outbox: Outbox::default(),
            token_issuer: None,
            notice_queues: BTreeMap::new(),
            pending_registrations: BTreeMap::new(),
            in_roll_call: false,
            release_at: None,
            unacknowledged: BTreeMap::new(),
            announcement_deadline: None,
            backoff_until: BTreeMap::new(),
            due: Timers::default(),
            assignment_forms: BTreeMap::new(),
            standings_at: None,
            pair_at: None,
            probe_at: None,
            unprobed: BTreeSet::new(),
            rate_limiter: RateLimiter::default(),
            carried_over: Vec::new(),
            unsigned: Unsigned::default(),
            key_rotation: None,
        }
    }

    /// The state that the events have made.
    pub fn league(&self) -> &League {
        &self.league
    }

    /// The envelope of a message that answers no request.
    pub(super) fn envelope(&self, now: Timestamp, conversation: impl Into<SmolStr>) -> Envelope {
        Envelope::new(Sender::LeagueManager, now, ConversationId::new(conversation))
    }

    pub(super) fn reply(&self, ctx: &mut Ctx<'_>, received: &ReceivedMessage, body: impl Into<Body>) {
        let envelope = self.envelope(ctx.now, received.envelope.conversation_id.as_str());
        let content = Content::Message(Message::new(envelope, body));
        ctx.reply(received.request, content);
    }

    pub(super) fn reply_error(&self, ctx: &mut Ctx<'_>, received: &ReceivedMessage, error: RequestError) {
        let original = received.message_type.clone();
        let mut context = error.context.unwrap_or_default();
        if let Some(named) = &original {
            let action = MessageType::parse(named.raw()).map_or(named.raw(), |kind| kind.method());
            context.entry("action").or_insert_with(|| action.to_owned().into());
        }
        let about_sender = matches!(error.code, ErrorCode::PlayerNotRegistered | ErrorCode::TokenInvalid);
        if let (Sender::Player(id), true) = (&received.envelope.sender, about_sender) {
            context.entry("player_id").or_insert_with(|| id.as_str().into());
        }
        let context = (!context.is_empty()).then_some(context);
        self.reply(ctx, received, LeagueError::new(error.code, error.message, original, context));
    }

    fn on_request(&mut self, ctx: &mut Ctx<'_>, request: Request) {
        let Request { id, ask, dialect, local, objection, client, join_code } = request;
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
            Ask::Message(Ok(Incoming { envelope, message_type, body, deviations })) => {
                let received = received(envelope, Some(UntrustedText::new_static(message_type.name())));
                self.on_message(ctx, &received, local, message_type, body, deviations);
            }
            Ask::Message(Err(rejection)) => {
                let conversation =
                    rejection.conversation_id.clone().unwrap_or_else(|| ConversationId::new("conv-error"));
                let envelope = self.envelope(ctx.now, conversation.as_str());
                self.reply_error(ctx, &received(envelope, rejection.message_type.clone()), rejection.into());
            }
            Ask::Checkpoint { operator_token } => self.show_checkpoint(ctx, id, dialect, operator_token),
            Ask::Query(request) => match request.query {
                Query::Ping => ctx.reply(id, Content::Data(serde_json::json!({"status": "ok"}))),
                Query::MatchState | Query::PlayerState => {
                    let message = "a league manager has no such state to show";
                    let error = RequestError::new(ErrorCode::InvalidState, message);
                    self.reply_error(ctx, &received(self.envelope(ctx.now, "conv-error"), None), error);
                }
                _ => self.show(ctx, id, &request),
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
        let member = match self.authorize(&received.envelope, message_type, local) {
            Ok(member) => member,
            Err(error) => return self.reject_sender(ctx, received, error),
        };
        if let Some(error) = member.as_ref().and_then(|member| self.over_rate_limit(ctx.now, member)) {
            return self.reply_error(ctx, received, error);
        }
        if member.as_ref().is_some_and(|member| *member != received.envelope.sender) {
            deviations.push(Deviation { kind: DeviationKind::OwnName, path: "sender".into() });
        }
        if let Some(member) = &member {
            self.note_token_shown(ctx, member);
        }
        let outcome = match body {
            Err(rejection) => Err(rejection.into()),
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
            self.note_deviations(ctx, &member, &deviations);
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
                self.register_player(ctx, received, Arc::unwrap_or_clone(request))
            }
            (Body::RefereeRegisterRequest(request), _) => {
                self.register_referee(ctx, received, Arc::unwrap_or_clone(request))
            }
            (Body::StartLeague(start), _) => self.start_league(ctx, received, &start).map(|()| None),
            (Body::LeagueOrder(order), Some(Sender::Player(player))) => {
                self.leave(ctx, received, player, &order).map(|()| None)
            }
            (Body::LeagueOrder(order), _) => {
                self.carry_out(ctx, received, Arc::unwrap_or_clone(order)).map(|()| None)
            }
            (Body::MatchResultReport(report), Some(Sender::Referee(referee))) => {
                self.take_report(ctx, received, referee, &report).map(|()| None)
            }
            (Body::LeagueError(error), Some(Sender::Referee(referee))) => {
                self.on_hand_back(ctx, received, referee, &error).map(|()| None)
            }
            (Body::LeagueQuery(query), Some(member)) => {
                self.answer(ctx, received, member, &query).map(|()| None)
            }
            (body, _) => Err(RequestError::new(
                ErrorCode::InvalidState,
                format!("a league manager does not take {}", body.message_type()),
            )),
        }
    }

    fn on_answer(&mut self, ctx: &mut Ctx<'_>, call: CallId, dialect: Dialect, answer: &Answer) {
        if let Some(pending) = self.pending_registrations.remove(&call) {
            self.outbox.answered(call);
            return self.finish_registration(ctx, pending, answer);
        }
        let Some(sent) = self.outbox.answered(call) else {
            return;
        };
        let reached = !matches!(answer, Answer::Undelivered(_));
        let agent = sent.delivery.purpose.agent().cloned();
        // A referee that takes no match is not taken for one that is back.
        let refused = matches!(sent.delivery.purpose, Purpose::Assignment(..)) && refusal(answer).is_some();
        if let (true, Some(agent)) = (reached, &agent) {
            self.learn_dialect(ctx, agent, sent.delivery.dialect, dialect);
            match refused {
                true => self.note_answered(agent),
                false => self.on_sign_of_life(ctx, agent),
            }
        }
        match &sent.delivery.purpose {
            Purpose::Notice(agent) => {
                let agent = agent.clone();
                self.on_notice_answered(ctx, &agent, sent, reached);
            }
            Purpose::Assignment(matches, _) => {
                let matches = matches.clone();
                self.on_assignment_answered(ctx, &matches, sent, answer);
            }
            Purpose::Probe(agent) => {
                let agent = agent.clone();
                self.on_probe_answered(ctx, agent, sent, answer);
            }
            Purpose::VerifyReachability(agent) => {
                let agent = agent.clone();
                self.on_reachability_verified(ctx, agent, answer);
            }
            Purpose::Registration => {}
        }
        self.check_roll_call(ctx);
    }

    fn learn_dialect(&mut self, ctx: &mut Ctx<'_>, agent: &Sender, used: Dialect, understood: Dialect) {
        if used != understood {
            self.record(ctx, LeagueEvent::DialectLearned { agent: agent.clone(), dialect: understood });
        }
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if !self.league.created {
            let settings = self.league.settings.clone();
            self.record(ctx, LeagueEvent::LeagueCreated { settings });
            self.carry_over(ctx);
        }
        match self.league.phase {
            Phase::Registration => {}
            Phase::Running | Phase::Paused => self.resume(ctx),
            Phase::Completed => self.tell_when_signed(ctx, Completion::League),
        }
    }

    fn on_tick(&mut self, ctx: &mut Ctx<'_>) {
        self.outbox.tick(ctx.now, &mut ctx.step.outbox);
        self.rate_limiter.release(ctx.now, &mut ctx.step.replies);
        self.reassign_overdue(ctx);
        let backoff_until = self.backoff_until.len();
        self.backoff_until.retain(|_, until| *until > ctx.now);
        if self.unsigned.until.is_some_and(|until| until <= ctx.now) {
            self.tell_unsigned(ctx);
        }
        let has_come = |at: Option<Timestamp>| at.is_some_and(|at| at <= ctx.now);
        let waited = has_come(self.announcement_deadline);
        if waited {
            self.unacknowledged.clear();
            self.announcement_deadline = None;
        }
        if waited
            || self.backoff_until.len() < backoff_until
            || has_come(self.release_at)
            || has_come(self.pair_at)
        {
            self.advance(ctx);
        }
        if self.standings_at.is_some_and(|at| at <= ctx.now) {
            self.tell_standings(ctx);
        }
        self.probe_suspended(ctx);
    }

    /// Schedules a retry of a failed delivery; returns the delivery if it has no retries left.
    pub(super) fn try_again(
        &mut self,
        now: Timestamp,
        sent: Box<Sent<Purpose>>,
    ) -> Option<Box<Sent<Purpose>>> {
        self.outbox.retry(now, sent).err()
    }
}

impl Purpose {
    pub(super) fn agent(&self) -> Option<&Sender> {
        match self {
            Self::Notice(agent)
            | Self::Assignment(_, agent)
            | Self::Probe(agent)
            | Self::VerifyReachability(agent) => Some(agent),
            Self::Registration => None,
        }
    }
}

impl Agent for Manager {
    type Event = LeagueEvent;

    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<LeagueEvent> {
        let mut ctx = Ctx::new(now, entropy);
        match input {
            Input::Wake => self.on_wake(&mut ctx),
            Input::Request(request) => self.on_request(&mut ctx, request),
            Input::Answer { call, dialect, answer } => self.on_answer(&mut ctx, call, dialect, &answer),
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
        let due = self.due.first();
        let rested = self.backoff_until.values().min().copied();
        let own = [self.outbox.deadline(), self.rate_limiter.deadline(), self.release_at, due, rested];
        own.into_iter()
            .chain([self.announcement_deadline, self.standings_at, self.pair_at, self.probe_at])
            .chain([self.unsigned.until])
            .flatten()
            .min()
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager
    }
}

impl EventDurability for Manager {}
