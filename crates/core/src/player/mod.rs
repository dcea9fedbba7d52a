//! The player: registers with a manager, joins its matches, chooses moves, remembers results.
//!
//! In reading order: [`event`] and [`durable`] are its lasting state, [`memory`] its finished games, [`external_decision`]
//! the decision by an external decider, [`keys`] its signing keys; `authentication` authenticates senders, and `answering`,
//! `notices` and `fairness` handle messages. Strategies are in [`crate::game::strategy`].

mod answering;
mod authentication;
pub mod durable;
pub mod event;
pub mod external_decision;
mod fairness;
pub mod keys;
pub mod memory;
mod notices;
mod registration;
mod report;
mod signing;
mod statements;

pub use durable::Durable;
pub use event::PlayerEvent;
pub use external_decision::THINK_TIME;
pub use memory::History;

use crate::agent::{
    Agent, Ask, Content, DecodeHints, Input, Request, RequestId, Signing, Step, StepContext,
};
use crate::driver::{Durability, EventDurability};
use crate::entropy::Entropy;
use crate::game::strategy::Strategy;
use crate::metrics::{Gauges, Metrics, Milestone};
use crate::protocol::decode::{Conformance, DeviationKind, Incoming, Limits, Rejection};
use crate::protocol::keyring::Keyring;
use crate::protocol::messages::{LeagueError, StandingRow};
use crate::protocol::methods::{Party, Query, QueryRequest};
use crate::protocol::rights::{Right, who_may};
use crate::protocol::{
    Attempt, Body, ConversationId, DisplayName, Endpoint, Envelope, ErrorCode, GameType, MatchId,
    Message, PlayerId, Sender, Timestamp, Token, UntrustedText, Version,
};
use crate::registration::{Identity, Registration, RegistrationState};
use authentication::league_error;
use external_decision::ExternalDecider;
use keys::Keys;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerSettings {
    /// Where the league manager listens.
    pub manager: Endpoint,
    /// Where peers reach this player.
    pub contact_endpoint: Endpoint,
    /// For people; the manager assigns the id.
    pub display_name: DisplayName,
    /// Of the program, for people.
    pub version: Version,
    /// The games that it offers to play.
    pub game_types: Vec<GameType>,
    /// What it says that it plays by, for people.
    pub strategy: Option<DisplayName>,
}

/// A player as an agent.
#[derive(Debug)]
pub struct Player {
    settings: PlayerSettings,
    strategy: Box<dyn Strategy>,
    /// Set if the strategy is only the fallback of an external decider.
    decider: Option<ExternalDecider>,
    durable: Durable,
    /// Signs our moves. `None` until the first try to register.
    keys: Option<Keys>,
    /// The tokens derived from our own, with a manager that derives tokens.
    keyring: Option<Keyring>,
    registration: Registration,
    last_call: u64,
    /// Our row of the latest standings.
    standing: Option<StandingRow>,
    /// How many matches we want in any hour of a ladder.
    max_matches_per_hour: Option<u32>,
    /// When a message of another league has last made us register again.
    renewed_at: Option<Timestamp>,
}

type Ctx<'a> = StepContext<'a, PlayerEvent>;

impl Player {
    /// A player that chooses moves by `strategy`. Replay its log next, then wake it.
    pub fn new(settings: PlayerSettings, strategy: Box<dyn Strategy>) -> Self {
        Self {
            registration: Registration::new(settings.manager.clone(), settings.game_types.clone()),
            settings,
            strategy,
            decider: None,
            durable: Durable::default(),
            keys: None,
            keyring: None,
            last_call: 0,
            standing: None,
            max_matches_per_hour: None,
            renewed_at: None,
        }
    }

    /// A player whose moves an external decider chooses, within `think_time` each, by
    /// [`DecisionRequest`](crate::agent::DecisionRequest) and [`Input::External`]. Without a valid decision in time,
    /// `fallback` chooses.
    pub fn with_external_decider(
        settings: PlayerSettings,
        fallback: Box<dyn Strategy>,
        think_time: Duration,
    ) -> Self {
        Self {
            decider: Some(ExternalDecider::new(think_time)),
            ..Self::new(settings, fallback)
        }
    }

    /// Without a fallback: a question that is not decided in time is rejected. The referee may ask again, and in the
    /// end the match is forfeited.
    pub fn without_fallback(self) -> Self {
        Self {
            decider: self.decider.map(ExternalDecider::alone),
            ..self
        }
    }

    /// With a token that the operator issued for it.
    pub fn with_token(mut self, granted: Option<Token>) -> Self {
        self.registration.granted = granted;
        self
    }

    /// With a limit on its matches in any hour of a ladder.
    pub fn with_matches_per_hour(mut self, most: Option<u32>) -> Self {
        self.max_matches_per_hour = most;
        self
    }

    /// With the join code for its registration.
    pub fn with_join_code(mut self, join_code: Option<Token>) -> Self {
        self.registration.join_code = join_code;
        self
    }

    /// The state that the events have made.
    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    /// As the player was created with.
    pub fn settings(&self) -> &PlayerSettings {
        &self.settings
    }

    /// `None` until the manager has accepted the registration.
    pub fn identity(&self) -> Option<&Identity<PlayerId>> {
        self.durable.identity()
    }

    /// How far the registration has come since the start.
    pub fn registration_state(&self) -> &RegistrationState {
        self.registration.state()
    }

    /// The games that are over.
    pub fn history(&self) -> &History {
        self.durable.history()
    }

    fn on_tick(&mut self, ctx: &mut Ctx<'_>) {
        self.register(ctx);
        self.expire_decisions(ctx);
    }

    fn on_request(&mut self, ctx: &mut Ctx<'_>, request: Request) {
        let content = match request.ask {
            Ask::Message(Ok(incoming)) => {
                let conversation = incoming.envelope.conversation_id.clone();
                let message_type = incoming.message_type;
                match self.on_message(ctx, request.id, incoming) {
                    Ok(Some(content)) => content,
                    Ok(None) => return,
                    Err(mut league_error) => {
                        league_error.original_message_type =
                            Some(UntrustedText::new_static(message_type.name()));
                        self.error(ctx.now, Some(conversation), league_error)
                    }
                }
            }
            Ask::Message(Err(rejection)) => self.reject(ctx.now, &rejection),
            Ask::Query(QueryRequest {
                query: Query::PlayerState,
                ..
            }) => Content::Data(self.state_report(request.local)),
            Ask::Query(QueryRequest {
                query: Query::Ping, ..
            }) => Content::Data(json!({ "status": "ok" })),
            Ask::Query(_) | Ask::Checkpoint { .. } => {
                let message = "this is a player: ask the league manager for standings, a referee for its matches";
                self.error(
                    ctx.now,
                    None,
                    league_error(ErrorCode::InvalidState, message),
                )
            }
        };
        ctx.reply(request.id, content);
    }

    /// Authenticates and handles a message. Returns the reply; `None` if it comes in a later step.
    fn on_message(
        &mut self,
        ctx: &mut Ctx<'_>,
        request: RequestId,
        incoming: Incoming,
    ) -> Result<Option<Content>, LeagueError> {
        let Incoming {
            mut envelope,
            message_type,
            body,
            deviations,
            ..
        } = incoming;
        let has_none = deviations.iter().any(|deviation| {
            deviation.kind == DeviationKind::Missing && deviation.path == "conversation_id"
        });
        if let (true, Some(match_id)) = (has_none, body.as_ref().ok().and_then(match_of)) {
            let known = self.durable.find(match_id).and_then(|known| known.notice);
            let attempt = known.map_or(Attempt::FIRST, |notice| notice.attempt);
            envelope.conversation_id = ConversationId::of_match(match_id, attempt);
        }
        match who_may(Party::Player, message_type) {
            Right::Manager => {
                self.learn_identity(ctx, &envelope, body.as_ref().ok());
                if let Err(error) = self.authenticate_manager(&envelope) {
                    let is_of_season = self.is_of_next_league(&envelope, body.as_ref().ok());
                    self.on_other_league(ctx, body.as_ref().ok());
                    return if is_of_season {
                        Ok(Some(Content::Received))
                    } else {
                        Err(error)
                    };
                }
            }
            // The expected token depends on the match, so the body is decoded first.
            Right::RefereeOfMatch => {}
            _ => {
                let message = format!("a player does not accept {message_type}");
                return Err(league_error(ErrorCode::InvalidState, message));
            }
        }
        match body.map_err(|rejection| LeagueError::from(&rejection))? {
            Body::GameInvitation(invitation) => {
                return self.join(ctx, &envelope, &invitation).map(Some);
            }
            Body::ChooseParityCall(call) => {
                return self.choose_parity(ctx, request, &envelope, &call);
            }
            Body::GameMoveCall(call) => {
                return self.choose_move(ctx, request, &envelope, Arc::unwrap_or_clone(call));
            }
            Body::GameOver(over) => self.on_game_over(ctx, &envelope, &over)?,
            Body::GameError(error) => self.on_game_error(&envelope, &error)?,
            Body::RoundAnnouncement(announcement) => {
                self.on_round_announcement(ctx, &announcement)?
            }
            Body::RoundCompleted(completed) => self.on_round_completed(ctx, &completed),
            Body::LeagueCompleted(completed) => self.on_league_completed(ctx, &completed),
            Body::LeagueStandingsUpdate(update) => self.on_standings(&update)?,
            Body::LeagueError(_) => {}
            other => {
                let message = format!("a player does not accept {}", other.message_type());
                return Err(league_error(ErrorCode::InvalidState, message));
            }
        }
        Ok(Some(Content::Received))
    }

    fn reject(&self, now: Timestamp, rejection: &Rejection) -> Content {
        self.error(
            now,
            rejection.conversation_id.clone(),
            LeagueError::from(rejection),
        )
    }

    fn error(
        &self,
        now: Timestamp,
        conversation: Option<ConversationId>,
        error: LeagueError,
    ) -> Content {
        let conversation = conversation.unwrap_or_else(|| ConversationId::new("conv-unknown"));
        Content::Message(Message::new(
            Envelope::new(self.sender(), now, conversation),
            error,
        ))
    }
}

/// The match that a question or a result is about.
fn match_of(body: &Body) -> Option<&MatchId> {
    match body {
        Body::GameInvitation(invitation) => Some(&invitation.match_id),
        Body::ChooseParityCall(call) => Some(&call.match_id),
        Body::GameMoveCall(call) => Some(&call.match_id),
        Body::GameOver(over) => Some(&over.match_id),
        _ => None,
    }
}

impl Agent for Player {
    type Event = PlayerEvent;

    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<PlayerEvent> {
        let mut ctx = Ctx::new(now, entropy);
        match input {
            Input::Wake => self.register(&mut ctx),
            Input::Request(request) => self.on_request(&mut ctx, request),
            Input::Answer {
                call,
                dialect,
                answer,
            } => self.on_answer(&mut ctx, call, dialect, answer),
            Input::External { id, result, usage } => self.on_decision(&mut ctx, id, result, usage),
            Input::Tick => self.on_tick(&mut ctx),
            Input::Signed(_) => {}
        }
        ctx.step
    }

    fn apply(&mut self, _at: Timestamp, event: &PlayerEvent) {
        self.durable.apply(event);
        match event {
            PlayerEvent::Registered { identity } => self.keyring = Self::keyring_of(identity),
            PlayerEvent::Applied(application) => {
                self.keys = Some(Keys::of(application));
            }
            _ => {}
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        let thinking = self.decider.as_ref().and_then(ExternalDecider::deadline);
        self.registration
            .deadline()
            .into_iter()
            .chain(thinking)
            .min()
    }

    fn sender(&self) -> Sender {
        Sender::Player(match self.identity() {
            Some(identity) => identity.id.clone(),
            None => PlayerId::new(self.own_word()),
        })
    }
}

impl EventDurability for Player {
    /// Only our identity and our choices are in no other agent's log.
    fn durability(event: &PlayerEvent) -> Durability {
        match event {
            PlayerEvent::Applied(_)
            | PlayerEvent::Registered { .. }
            | PlayerEvent::Chosen { .. } => Durability::Fsynced,
            PlayerEvent::Announced { .. }
            | PlayerEvent::Invited { .. }
            | PlayerEvent::Finished { .. }
            | PlayerEvent::NotSigned { .. }
            | PlayerEvent::CheckpointReceived { .. }
            | PlayerEvent::RoundClosed { .. }
            | PlayerEvent::LeagueClosed => Durability::Written,
        }
    }
}

impl DecodeHints for Player {
    /// Lenient, so that no match is lost because a foreign referee leaves a field out.
    fn reading(&self) -> (Conformance, Limits) {
        (Conformance::Lenient, Limits::AGENT)
    }

    fn reads_about(&self) -> Option<&PlayerId> {
        self.identity().map(|identity| &identity.id)
    }
}

impl Signing for Player {}

impl Metrics for Player {
    fn milestone(event: &PlayerEvent) -> Option<Milestone<'_>> {
        event.milestone()
    }

    fn gauges(&self) -> Gauges {
        let lacks = self
            .registration
            .state()
            .lacks()
            .filter(|_| !self.durable.league_closed());
        let matches_live = self
            .durable
            .matches()
            .filter(|(_, held)| held.is_under_way())
            .count();
        Gauges {
            lacks,
            matches_live,
            ..Gauges::default()
        }
    }
}
