//! The player: joins a league, comes to its matches, chooses, remembers. A pure state machine.
//!
//! In reading order: [`event`] and [`durable`] are what it keeps, [`memory`] what it remembers of its games, [`strategy`]
//! how it chooses, [`pondering`] how it has a mind outside choose, [`keys`] what it signs with; `trust` decides whom it hears, `answering`, `notices`
//! and `fairness` what it makes of what it hears.

mod answering;
pub mod durable;
mod enrolling;
pub mod event;
mod fairness;
pub mod keys;
pub mod memory;
mod notices;
pub mod pondering;
pub mod question;
mod report;
pub mod sheet;
mod signing;
pub mod strategy;
mod trust;

pub use durable::Durable;
pub use enrolling::PROTOCOL_VERSION;
pub use event::PlayerEvent;
pub use memory::{History, Past, PastGame};
pub use pondering::THINK_TIME;
pub use sheet::TurnSheet;
pub use strategy::{Strategy, Turn};

use crate::agent::{Agent, Ask, Content, Input, Inquiry, Reply, Request, RequestId, Step};
use crate::census::{Census, Milestone};
use crate::enrol::{Enrolment, Identity};
use crate::entropy::Entropy;
use crate::post::Post;
use crate::protocol::decode::{Conformance, Incoming, Limits, Rejection};
use crate::protocol::keyring::Keyring;
use crate::protocol::messages::{LeagueError, StandingRow};
use crate::protocol::methods::Party;
use crate::protocol::rights::{Right, who_may};
use crate::protocol::{
    Body, ConversationId, DisplayName, Endpoint, Envelope, ErrorCode, GameType, Message, PlayerId, Sender,
    Timestamp, Token, UntrustedText, Version,
};
use keys::Keys;
use pondering::Outside;
use serde_json::json;
use smol_str::SmolStr;
use std::sync::Arc;
use std::time::Duration;
use trust::{Refusal, refusal};

/// What a player is told at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub manager: Endpoint,
    pub contact_endpoint: Endpoint,
    pub display_name: DisplayName,
    pub version: Version,
    pub game_types: Vec<GameType>,
    /// The strategy's name, for people.
    pub strategy: SmolStr,
}

#[derive(Debug)]
pub struct Player {
    settings: Settings,
    strategy: Box<dyn Strategy>,
    /// A token that the operator has given out for this player. It counts more than the one it was registered with.
    granted: Option<Token>,
    /// The code that the operator has given out for it, where the league asks for one.
    join_code: Option<Token>,
    /// If the strategy is only the fallback for a mind outside.
    outside: Option<Outside>,
    durable: Durable,
    /// What our moves are signed with. Those that applied before there were registration keys have none.
    keys: Option<Keys>,
    /// What follows from our identity, with a manager that derives tokens.
    keyring: Option<Keyring>,
    enrolment: Enrolment,
    /// Whether the manager has refused the list of all games that this player plays.
    plain_games: bool,
    post: Post<()>,
    /// Our row of the last table that the manager sent.
    standing: Option<StandingRow>,
}

/// What comes of a message that was believed.
struct Response {
    events: Vec<PlayerEvent>,
    /// None if the answer must be thought about, and comes later.
    content: Option<Content>,
    inquiry: Option<Inquiry>,
}

impl Response {
    fn now(events: Vec<PlayerEvent>, content: Content) -> Self {
        Self { events, content: Some(content), inquiry: None }
    }

    fn received(event: Option<PlayerEvent>) -> Self {
        Self::now(event.into_iter().collect(), Content::Received)
    }

    fn later(inquiry: Option<Inquiry>) -> Self {
        Self { events: Vec::new(), content: None, inquiry }
    }
}

impl Player {
    pub fn new(settings: Settings, strategy: Box<dyn Strategy>) -> Self {
        Self {
            settings,
            strategy,
            outside: None,
            granted: None,
            join_code: None,
            durable: Durable::default(),
            keys: None,
            keyring: None,
            enrolment: Enrolment::Idle,
            plain_games: false,
            post: Post::default(),
            standing: None,
        }
    }

    /// A player for which someone outside chooses, and thinks for `think_time` at most about each move: by
    /// [`Inquiry`] and [`Input::Decided`]. Where nothing of use comes of that in time, `fallback` chooses.
    pub fn with_outside_mind(settings: Settings, fallback: Box<dyn Strategy>, think_time: Duration) -> Self {
        Self { outside: Some(Outside::new(think_time)), ..Self::new(settings, fallback) }
    }

    /// The same player without its fallback: a question that the mind outside does not decide in time is refused. The
    /// referee may ask again, and in the end the match is forfeited.
    pub fn without_fallback(self) -> Self {
        Self { outside: self.outside.map(Outside::alone), ..self }
    }

    /// The same player with a token that the operator has handed to it: it comes back by that.
    pub fn with_token(self, granted: Option<Token>) -> Self {
        Self { granted, ..self }
    }

    /// The same player with the join code that it registers with.
    pub fn with_join_code(self, join_code: Option<Token>) -> Self {
        Self { join_code, ..self }
    }

    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn identity(&self) -> Option<&Identity<PlayerId>> {
        self.durable.identity()
    }

    pub fn enrolment(&self) -> &Enrolment {
        &self.enrolment
    }

    pub fn history(&self) -> &History {
        self.durable.history()
    }

    fn answer(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        request: Request,
        step: &mut Step<PlayerEvent>,
    ) {
        let content = match request.ask {
            Ask::Message(Ok(incoming)) => {
                let conversation = incoming.envelope.conversation_id.clone();
                let message_type = incoming.message_type;
                match self.hear(now, entropy, request.id, incoming) {
                    Ok(response) => {
                        step.events = response.events;
                        step.inquiries.extend(response.inquiry);
                        match response.content {
                            Some(content) => content,
                            None => return,
                        }
                    }
                    Err(mut refusal) => {
                        refusal.original_message_type = Some(UntrustedText::new_static(message_type.name()));
                        self.error(now, Some(conversation), refusal)
                    }
                }
            }
            Ask::Message(Err(rejection)) => self.reject(now, &rejection),
            Ask::PlayerState => Content::Data(self.state_report(request.local)),
            Ask::Ping => Content::Data(json!({ "status": "ok" })),
            Ask::Look(_) | Ask::MatchState(_) => {
                let message =
                    "this is a player: ask the league manager for standings, a referee for its matches";
                self.error(now, None, refusal(ErrorCode::InvalidState, message))
            }
        };
        step.replies.push(Reply { to: request.id, content });
    }

    /// Takes a message in, once it is known to come from the one who may send it.
    fn hear(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        request: RequestId,
        incoming: Incoming,
    ) -> Result<Response, Refusal> {
        let Incoming { envelope, message_type, body, .. } = incoming;
        match who_may(Party::Player, message_type) {
            Right::Manager => self.believe_manager(&envelope)?,
            // Which token is due depends on the match, so the message is read first.
            Right::RefereeOfMatch => {}
            _ => {
                let message = format!("a player takes no {message_type}");
                return Err(refusal(ErrorCode::InvalidState, message));
            }
        }
        match body.map_err(|rejection| Refusal::from(&rejection))? {
            Body::GameInvitation(invitation) => self.join(now, &envelope, &invitation),
            Body::ChooseParityCall(call) => self.choose_parity(now, entropy, request, &envelope, &call),
            Body::GameMoveCall(call) => {
                self.choose_move(now, entropy, request, &envelope, Arc::unwrap_or_clone(call))
            }
            Body::GameOver(over) => self.hear_result(&envelope, &over),
            Body::GameError(error) => self.hear_game_error(&envelope, &error),
            Body::RoundAnnouncement(announcement) => self.hear_announcement(&announcement),
            Body::RoundCompleted(completed) => Ok(self.hear_round_completed(&completed)),
            Body::LeagueCompleted(_) => Ok(self.hear_league_completed()),
            Body::LeagueStandingsUpdate(update) => self.hear_standings(&update),
            Body::LeagueError(_) => Ok(Response::received(None)),
            other => {
                let message = format!("a player takes no {}", other.message_type());
                Err(refusal(ErrorCode::InvalidState, message))
            }
        }
    }

    fn reject(&self, now: Timestamp, rejection: &Rejection) -> Content {
        self.error(now, rejection.conversation_id.clone(), LeagueError::from(rejection))
    }

    fn error(&self, now: Timestamp, conversation: Option<ConversationId>, error: LeagueError) -> Content {
        let conversation = conversation.unwrap_or_else(|| ConversationId::new("conv-unknown"));
        Content::Message(Message::new(Envelope::new(self.sender(), now, conversation), error))
    }
}

/// A name as an id: letters and digits in lower case, and one hyphen for everything between them.
fn slug(name: &DisplayName) -> String {
    let words = name.raw().split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    if words.is_empty() { "player".into() } else { words.join("-") }
}

impl Agent for Player {
    type Event = PlayerEvent;

    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<PlayerEvent> {
        let mut step = Step::default();
        match input {
            Input::Wake => self.register(now, entropy, &mut step),
            Input::Tick => {
                self.retry_registration(now, &mut step);
                self.stop_thinking(now, entropy, &mut step);
            }
            Input::Signed(_) => {}
            Input::Decided { inquiry, decision } => self.decided(now, entropy, inquiry, decision, &mut step),
            Input::Answer { call, dialect, answer } => {
                self.hear_of_registration(now, call, dialect, answer, &mut step)
            }
            Input::Request(request) => self.answer(now, entropy, request, &mut step),
        }
        for event in &step.events {
            self.apply(now, event);
        }
        step
    }

    fn apply(&mut self, _at: Timestamp, event: &PlayerEvent) {
        self.durable.apply(event);
        match event {
            PlayerEvent::Enrolled { identity } => self.keyring = Self::keyring_of(identity),
            PlayerEvent::Applied(application) => {
                self.keys = application.registration_key.as_ref().map(Keys::of);
            }
            _ => {}
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        let thinking = self.outside.as_ref().and_then(Outside::deadline);
        self.post.deadline().into_iter().chain(thinking).min()
    }

    /// A player reads leniently: its matches are not lost because someone else's referee leaves a field out.
    fn reading(&self) -> (Conformance, Limits) {
        (Conformance::Lenient, Limits::AGENT)
    }

    fn reads_about(&self) -> Option<&PlayerId> {
        self.identity().map(|identity| &identity.id)
    }

    /// The referee and the manager hold the same in their own logs. Who we are and what we chose is ours alone.
    fn can_wait(event: &PlayerEvent) -> bool {
        match event {
            PlayerEvent::Applied(_) | PlayerEvent::Enrolled { .. } | PlayerEvent::Chosen { .. } => false,
            PlayerEvent::Announced { .. }
            | PlayerEvent::Invited { .. }
            | PlayerEvent::Finished { .. }
            | PlayerEvent::RoundClosed { .. }
            | PlayerEvent::LeagueClosed => true,
        }
    }

    fn milestone(event: &PlayerEvent) -> Option<Milestone<'_>> {
        event.milestone()
    }

    fn census(&self) -> Census {
        let lacks = self.enrolment.lacks().filter(|_| !self.durable.league_closed());
        let matches_live = self.durable.matches().filter(|(_, held)| held.is_under_way()).count();
        Census { lacks, matches_live, ..Census::default() }
    }

    fn sender(&self) -> Sender {
        Sender::Player(match self.identity() {
            Some(identity) => identity.id.clone(),
            None => PlayerId::new(slug(&self.settings.display_name)),
        })
    }
}
