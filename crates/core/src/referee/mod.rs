//! The referee: registers with a manager, is assigned matches, asks both players, draws, announces the result, reports
//! it.
//!
//! - [`event`], [`durable`]: its events, and the fold over them
//! - `registration`, `notices`, `assignment`, `report`, `handing_back`: its exchanges with the manager
//! - `matches`, `match_queue`: concurrent matches, and those that wait; `answers`: routes players' answers to their matches
//! - `one_match`, `failures`, `side`, `window`, `judge`, `proof`, `verdict`: one match; `messages_out`, `game_error`:
//!   messages to players; `external_rules`: games whose rules are in another program
//!
//! A crash loses the progress of matches under way. They restart with their invitations, with the same attempt and
//! secret, so players give the same answers again.

mod answers;
mod assignment;
pub mod durable;
pub mod event;
mod external_rules;
mod failures;
mod game_error;
mod handing_back;
mod judge;
mod match_queue;
mod matches;
mod messages_out;
mod notices;
mod one_match;
mod proof;
mod registration;
mod report;
mod schedule;
mod side;
mod verdict;
mod view;
mod window;

pub use durable::{AssignedMatch, Durable};
pub use event::{Assignment, RefereeEvent, SeatedPlayer};
pub use one_match::Phase;
pub use view::{MatchView, PlayerView};

use crate::agent::{
    Agent, Answer, Ask, CallId, Content, DecodeHints, Input, Request, Signing, Step, StepContext,
};
use crate::driver::{Durability, EventDurability};
use crate::entropy::Entropy;
use crate::game::Seat;
use crate::metrics::{Gauges, Metrics, Milestone};
use crate::outbox::{Delivery, Outbox};
use crate::pending_calls::PendingCalls;
use crate::protocol::decode::{Conformance, Incoming, Limits, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueError, Timeouts};
use crate::protocol::methods::{Party, Query, QueryRequest};
use crate::protocol::rights::{Right, who_may};
use crate::protocol::{
    Attempt, ConversationId, DisplayName, Endpoint, Envelope, ErrorCode, GameType, MatchId,
    Message, PlayerId, RefereeId, Sender, Timestamp, Token, UntrustedText, Version,
};
use crate::registration::{Identity, Registration, RegistrationState};
use crate::signature::SigningKey;
use crate::timers::Timers;
use crate::timing::Timing;
use core::net::IpAddr;
use external_rules::ExternalRules;
use match_queue::MatchQueue;
use one_match::OngoingMatch;
use schedule::SchedulePoll;
use std::collections::{BTreeMap, BTreeSet};

/// The configuration of a referee.
#[derive(Debug, Clone, PartialEq)]
pub struct RefereeSettings {
    /// The league manager's endpoint.
    pub manager: Endpoint,
    /// This referee's endpoint.
    pub contact_endpoint: Endpoint,
    /// For people; the manager assigns the id.
    pub display_name: DisplayName,
    /// Of the program, for people.
    pub version: Version,
    /// The games that it can run.
    pub game_types: Vec<GameType>,
    /// Matches beyond wait until another is over.
    pub max_concurrent_matches: u32,
    /// For its own calls, and for matches whose manager hands over no timeouts.
    pub timing: Timing,
    /// Upper bounds on the timeouts that a manager hands over.
    pub bounds: Timeouts,
    /// How strictly answers of players are read in a match whose manager does not say: one of another make.
    pub conformance: Conformance,
}

/// A referee as an agent.
#[derive(Debug)]
pub struct Referee {
    settings: RefereeSettings,
    durable: Durable,
    registration: Registration,
    outbox: Outbox<Purpose>,
    /// Authenticates the manager, once registered.
    manager_token: Option<Token>,
    /// Signs commitments and results.
    key: Option<SigningKey>,
    /// Running matches.
    // Boxed, because the map moves its values whenever a match begins or ends.
    playing: BTreeMap<MatchId, Box<OngoingMatch>>,
    /// The next deadline of each of them.
    timers: Timers<MatchId>,
    /// Matches that wait.
    queue: MatchQueue,
    /// Questions to players that are not answered yet.
    pending_questions: PendingCalls<PendingQuestion>,
    /// A game with external rules, if there is one.
    external_rules: Option<ExternalRules>,
    /// GAME_OVERs that wait until a GAME_ERROR of the same match is delivered.
    delayed_game_overs: BTreeMap<(MatchId, Attempt, Seat), DelayedGameOver>,
    /// Players whose endpoints the manager tells in no way.
    unlisted: BTreeSet<PlayerId>,
    poll: SchedulePoll,
}

/// A GAME_OVER behind GAME_ERRORs in flight.
#[derive(Debug)]
struct DelayedGameOver {
    /// How many of them are in flight.
    errors_in_flight: u32,
    game_over: Delivery<Purpose>,
}

/// The question of a call to a player.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PendingQuestion {
    match_id: MatchId,
    attempt: Attempt,
    seat: Seat,
    turn: u32,
}

impl PendingQuestion {
    /// The match, attempt and seat.
    fn place(&self) -> (MatchId, Attempt, Seat) {
        (self.match_id.clone(), self.attempt, self.seat)
    }
}

type Ctx<'a> = StepContext<'a, RefereeEvent>;

/// What a delivery is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    /// A GAME_OVER, whose answer means nothing.
    GameOver,
    /// A match handed back, whose answer means nothing.
    HandBack,
    /// A GAME_ERROR, which some players answer with the missing answer.
    Notice(PendingQuestion),
    Report(MatchId),
    /// A query for the endpoints of players.
    LookUp(Query),
    /// A query for the matches of its own.
    Schedule,
}

impl Referee {
    /// A referee without any event: replay its log next, then wake it.
    pub fn new(settings: RefereeSettings) -> Self {
        Self {
            registration: Registration::new(settings.manager.clone(), settings.game_types.clone()),
            settings,
            durable: Durable::default(),
            outbox: Outbox::default(),
            manager_token: None,
            key: None,
            playing: BTreeMap::new(),
            timers: Timers::default(),
            queue: MatchQueue::default(),
            pending_questions: PendingCalls::default(),
            external_rules: None,
            delayed_game_overs: BTreeMap::new(),
            unlisted: BTreeSet::new(),
            poll: SchedulePoll::default(),
        }
    }

    /// With a token that the operator issued for it.
    pub fn with_token(mut self, granted: Option<Token>) -> Self {
        self.registration.granted = granted;
        self
    }

    /// With the join code for its registration.
    pub fn with_join_code(mut self, join_code: Option<Token>) -> Self {
        self.registration.join_code = join_code;
        self
    }

    /// As the referee was created with.
    pub fn settings(&self) -> &RefereeSettings {
        &self.settings
    }

    /// The durable state.
    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    /// `None` until the manager has accepted the registration.
    pub fn identity(&self) -> Option<&Identity<RefereeId>> {
        self.durable.identity()
    }

    /// How far the registration has come since the start.
    pub fn registration_state(&self) -> &RegistrationState {
        self.registration.state()
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        let mut open = Vec::new();
        let mut decided = Vec::new();
        for (match_id, held) in self.durable.matches() {
            match held {
                AssignedMatch::Open { .. } => open.push(match_id.clone()),
                AssignedMatch::Decided { .. } => decided.push(match_id.clone()),
                AssignedMatch::Closed { .. } => {}
            }
        }
        for match_id in open {
            self.enqueue(ctx, &match_id);
        }
        for match_id in decided {
            self.tell_the_end(ctx, &match_id);
        }
    }

    fn on_answer(&mut self, ctx: &mut Ctx<'_>, call: CallId, dialect: Dialect, answer: Answer) {
        if self.registration.awaits(call) {
            self.on_register_answer(ctx, dialect, answer);
        } else if let Some(question) = self.pending_questions.remove(call) {
            self.player_answered(ctx, call, &question, dialect, answer);
        } else if let Some(sent) = self.outbox.answered(call) {
            match sent.delivery.purpose.clone() {
                Purpose::GameOver | Purpose::HandBack => {
                    if matches!(answer, Answer::Undelivered(_)) {
                        // Without retries left it is dropped.
                        self.outbox.retry(ctx.now, sent).ok();
                    }
                }
                Purpose::Notice(question) => self.notice_answered(ctx, &question, answer),
                Purpose::Report(match_id) => self.report_answered(ctx, sent, &match_id, answer),
                Purpose::LookUp(asked) => self.on_endpoints(ctx, sent, asked, answer),
                Purpose::Schedule => self.on_schedule(ctx, answer),
            }
        }
    }

    fn on_request(&mut self, ctx: &mut Ctx<'_>, request: Request) {
        let content = match request.ask {
            Ask::Query(QueryRequest {
                query: Query::Ping, ..
            }) => Content::Data(serde_json::json!({"status": "ok"})),
            Ask::Query(QueryRequest {
                query: Query::MatchState,
                params,
                ..
            }) => self.match_state(ctx.now, params.match_id.as_ref()),
            Ask::Query(_) | Ask::Checkpoint { .. } => {
                let message = "a referee keeps no standings and no player's state";
                self.refuse(
                    ctx.now,
                    None,
                    LeagueError::new(ErrorCode::InvalidState, message, None, None),
                )
            }
            Ask::Message(Err(rejection)) => self.unreadable(ctx.now, &rejection),
            Ask::Message(Ok(incoming)) => self.on_message(ctx, incoming, request.client),
        };
        ctx.reply(request.id, content);
    }

    /// Handles a league message that answers no call of ours.
    fn on_message(
        &mut self,
        ctx: &mut Ctx<'_>,
        incoming: Incoming,
        client: Option<IpAddr>,
    ) -> Content {
        let verdict = match who_may(Party::Referee, incoming.message_type) {
            Right::PlayerOfMatch => self.separate_answer(ctx, &incoming, client),
            Right::Manager => match (
                self.admit_manager(&incoming.envelope, client),
                &incoming.body,
            ) {
                (Err(error), _) => Err(error),
                (_, Err(rejection)) => Err(LeagueError::from(rejection)),
                (Ok(()), Ok(body)) => self.notice(ctx, &incoming.envelope, body),
            },
            _ => Err(LeagueError::new(
                ErrorCode::InvalidState,
                format!(
                    "a referee does not accept {}: is this meant for the league manager or a player?",
                    incoming.message_type
                ),
                None,
                None,
            )),
        };
        match verdict {
            Ok(()) => Content::Received,
            Err(mut error) => {
                error.original_message_type =
                    Some(UntrustedText::new_static(incoming.message_type.name()));
                self.refuse(ctx.now, Some(incoming.envelope.conversation_id), error)
            }
        }
    }

    fn unreadable(&self, now: Timestamp, rejection: &Rejection) -> Content {
        self.refuse(
            now,
            rejection.conversation_id.clone(),
            LeagueError::from(rejection),
        )
    }

    fn refuse(
        &self,
        now: Timestamp,
        conversation: Option<ConversationId>,
        error: LeagueError,
    ) -> Content {
        let name = self.name();
        let conversation =
            conversation.unwrap_or_else(|| ConversationId::new(format!("conv-{name}-error")));
        let envelope = Envelope::new(Sender::Referee(name), now, conversation);
        Content::Message(Message::new(envelope, error))
    }
}

impl Agent for Referee {
    type Event = RefereeEvent;

    fn handle(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        input: Input,
    ) -> Step<RefereeEvent> {
        let mut ctx = Ctx::new(now, entropy);
        // Deadlines first: an answer at the deadline is late.
        self.end_due_tries(&mut ctx);
        self.expire_rules_requests(&mut ctx);
        match input {
            Input::Wake => self.on_wake(&mut ctx),
            Input::Request(request) => self.on_request(&mut ctx, request),
            Input::Answer {
                call,
                dialect,
                answer,
            } => self.on_answer(&mut ctx, call, dialect, answer),
            Input::External { id, result, .. } => self.on_rules_result(&mut ctx, id, result),
            Input::Signed(_) | Input::Tick => {}
        }
        self.begin_due(&mut ctx);
        self.outbox.tick(now, &mut ctx.step.outbox);
        self.register(&mut ctx);
        self.poll_schedule(&mut ctx);
        ctx.step
    }

    fn apply(&mut self, _at: Timestamp, event: &RefereeEvent) {
        self.durable.apply(event);
        match event {
            RefereeEvent::Registered { identity } => {
                self.manager_token = notices::notice_token(identity)
            }
            RefereeEvent::Applied(application) => self.key = Some(application.signing_key()),
            _ => {}
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        let next = self.queue.deadline().filter(|_| self.has_room());
        let alarm = self.timers.first();
        let rules_request = self
            .external_rules
            .as_ref()
            .and_then(ExternalRules::deadline);
        [
            alarm,
            next,
            rules_request,
            self.outbox.deadline(),
            self.registration.deadline(),
            self.poll.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn sender(&self) -> Sender {
        Sender::Referee(self.name())
    }
}

impl EventDurability for Referee {
    /// What the manager has recorded or repeats need not be fsynced.
    fn durability(event: &RefereeEvent) -> Durability {
        match event {
            RefereeEvent::Applied(_)
            | RefereeEvent::Registered { .. }
            | RefereeEvent::Assigned { .. }
            | RefereeEvent::Decided { .. } => Durability::Fsynced,
            RefereeEvent::HandedBack { .. }
            | RefereeEvent::Reported { .. }
            | RefereeEvent::ReportRefused { .. }
            | RefereeEvent::Abandoned { .. }
            | RefereeEvent::DialectLearned { .. }
            | RefereeEvent::RoundClosed { .. }
            | RefereeEvent::LeagueClosed => Durability::Written,
        }
    }
}

impl DecodeHints for Referee {
    fn reading(&self) -> (Conformance, Limits) {
        // What a strict league makes of an answer stands beside it.
        (Conformance::Lenient, Limits::AGENT)
    }
}

impl Signing for Referee {}

impl Metrics for Referee {
    fn milestone(event: &RefereeEvent) -> Option<Milestone<'_>> {
        event.milestone()
    }

    fn gauges(&self) -> Gauges {
        Gauges {
            lacks: self
                .registration
                .state()
                .lacks()
                .or_else(|| self.lacks_endpoints()),
            matches_live: self.playing.len(),
            matches_waiting: self.queue.len(),
            league: None,
        }
    }
}
