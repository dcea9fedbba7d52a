//! The referee: registers with a manager, is given matches, asks both players, draws, tells everyone, reports.
//!
//! - [`event`]: what it must not forget; [`durable`]: what follows from that
//! - `enrolling`, `notices`, `offer`: its dealings with the manager; `report`, `handing_back`: the last of them
//! - `matches`: many matches at once; `answers`: how players' answers find theirs
//! - `one_match`, `side`, `window`, `judge`, `verdict`: one match; `asks`, `complaint`: what players are told
//!
//! What a crash loses is the progress of matches under way. They begin again with their invitations, under the same
//! attempt and with the same secret, which is why players give the same answer when asked again.

mod answers;
mod appeals;
mod asks;
mod complaint;
pub mod durable;
mod enrolling;
pub mod event;
mod handing_back;
mod judge;
mod matches;
mod notices;
mod offer;
mod one_match;
mod proof;
mod report;
mod side;
mod verdict;
mod view;
mod window;

pub use durable::{Durable, Held};
pub use event::{Assignment, RefereeEvent, Seated};
pub use one_match::Phase;
pub use view::{MatchView, PlayerView};

use crate::agent::{Agent, Answer, Ask, CallId, Content, Input, Reply, Request, RequestId, Step};
use crate::alarms::Alarms;
use crate::calls::Calls;
use crate::census::{Census, Milestone};
use crate::enrol::{Enrolment, Identity};
use crate::entropy::Entropy;
use crate::game::Seat;
use crate::post::{Errand, Post};
use crate::protocol::decode::{Conformance, Incoming, Limits, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueError, Timeouts};
use crate::protocol::methods::Party;
use crate::protocol::rights::{Right, who_may};
use crate::protocol::{
    Attempt, ConversationId, DisplayName, Endpoint, Envelope, ErrorCode, GameType, MatchId, Message,
    PlayerId, RefereeId, Sender, Timestamp, Token, UntrustedText, Version,
};
use crate::timing::Timing;
use appeals::Appeals;
use one_match::Match;
use std::collections::{BTreeMap, BTreeSet};

/// What whoever runs a referee decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Where the league manager listens.
    pub manager: Endpoint,
    /// Where this referee listens.
    pub contact_endpoint: Endpoint,
    pub display_name: DisplayName,
    pub version: Version,
    pub game_types: Vec<GameType>,
    pub max_concurrent_matches: u32,
    /// Its own calls are bounded by it; matches too, if their manager hands over no timeouts.
    pub timing: Timing,
    /// The most that it allows of what a manager hands over.
    pub bounds: Timeouts,
    pub conformance: Conformance,
}

#[derive(Debug)]
pub struct Referee {
    settings: Settings,
    /// A token that the operator has given out for this referee. It counts more than the one it was registered with.
    granted: Option<Token>,
    /// The code that the operator has given out for it, where the league asks for one.
    join_code: Option<Token>,
    durable: Durable,
    enrolment: Enrolment,
    /// Whether the manager has refused the list of all games that this referee runs.
    plain_games: bool,
    post: Post<Purpose>,
    /// By which the manager is known, once it has taken us on.
    manager_token: Option<Token>,
    /// The dialect in which the manager understood us last.
    manager_dialect: Dialect,
    /// Matches under way.
    // In boxes, because the map moves what it holds whenever a match begins or ends.
    playing: BTreeMap<MatchId, Box<Match>>,
    /// When something happens of itself in each of them.
    alarms: Alarms<MatchId>,
    /// Matches that wait for their time or for room, in the order in which they will begin.
    queue: BTreeSet<(Timestamp, u64, MatchId)>,
    /// Matches whose players' endpoints are not known yet.
    unlocated: BTreeSet<MatchId>,
    /// Where players are, as far as the manager had to be asked.
    directory: BTreeMap<PlayerId, Endpoint>,
    /// Questions to players that have not come to their end.
    asked: Calls<Asked>,
    /// A game whose rules are kept outside, if there is one.
    appeals: Option<Appeals>,
    /// GAME_OVERs that wait until a GAME_ERROR of the same match has reached the player.
    held_back: BTreeMap<(MatchId, Attempt, Seat), HeldBack>,
}

/// GAME_OVER for a player that a GAME_ERROR is still on its way to.
#[derive(Debug)]
struct HeldBack {
    /// How many of them.
    complaints: u32,
    game_over: Errand<Purpose>,
}

/// What a call to a player is about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    match_id: MatchId,
    attempt: Attempt,
    seat: Seat,
    turn: u32,
}

impl Asked {
    /// The player of an attempt at a match that it is about.
    fn place(&self) -> (MatchId, Attempt, Seat) {
        (self.match_id.clone(), self.attempt, self.seat)
    }
}

/// What the answer to an errand will mean.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    /// Nothing: the player has been told how its match ended.
    GameOver,
    /// Nothing: the manager has its match back.
    HandBack,
    /// A GAME_ERROR, which some players answer with what they owe.
    Notice(Asked),
    Report(MatchId),
    /// Where the players of a match are.
    LookUp,
}

impl Referee {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            granted: None,
            join_code: None,
            durable: Durable::default(),
            enrolment: Enrolment::default(),
            plain_games: false,
            post: Post::default(),
            manager_token: None,
            manager_dialect: Dialect::default(),
            playing: BTreeMap::new(),
            alarms: Alarms::default(),
            queue: BTreeSet::new(),
            unlocated: BTreeSet::new(),
            directory: BTreeMap::new(),
            asked: Calls::default(),
            appeals: None,
            held_back: BTreeMap::new(),
        }
    }

    /// The same referee with a token that the operator has handed to it: it comes back by that.
    pub fn with_token(self, granted: Option<Token>) -> Self {
        Self { granted, ..self }
    }

    /// The same referee with the join code that it registers with.
    pub fn with_join_code(self, join_code: Option<Token>) -> Self {
        Self { join_code, ..self }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All that survives a crash.
    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    pub fn identity(&self) -> Option<&Identity<RefereeId>> {
        self.durable.identity()
    }

    pub fn enrolment(&self) -> &Enrolment {
        &self.enrolment
    }

    fn record(&mut self, at: Timestamp, event: RefereeEvent, step: &mut Step<RefereeEvent>) {
        self.apply(at, &event);
        step.events.push(event);
    }

    fn wake(&mut self, now: Timestamp, step: &mut Step<RefereeEvent>) {
        let (mut open, mut decided) = (Vec::new(), Vec::new());
        for (match_id, held) in self.durable.matches() {
            match held {
                Held::Open { .. } => open.push(match_id.clone()),
                Held::Decided { .. } => decided.push(match_id.clone()),
                Held::Settled { .. } => {}
            }
        }
        for match_id in open {
            self.line_up(now, &match_id, step);
        }
        for match_id in decided {
            self.tell_the_end(now, &match_id, step);
        }
    }

    fn answered(
        &mut self,
        now: Timestamp,
        call: CallId,
        dialect: Dialect,
        answer: Answer,
        step: &mut Step<RefereeEvent>,
    ) {
        if self.enrolment.awaits(call) {
            if !matches!(answer, Answer::Undelivered(_)) {
                self.manager_dialect = dialect;
            }
            self.registered(now, answer, step);
        } else if let Some(asked) = self.asked.remove(call) {
            self.player_answered(now, call, &asked, dialect, answer, step);
        } else if let Some(sent) = self.post.answered(call) {
            match sent.errand.purpose.clone() {
                Purpose::GameOver | Purpose::HandBack => {
                    if matches!(answer, Answer::Undelivered(_)) {
                        // When the tries are used up, nobody waits for it.
                        self.post.again(now, sent).ok();
                    }
                }
                Purpose::Notice(asked) => self.notice_answered(now, &asked, answer, step),
                Purpose::Report(match_id) => self.report_answered(now, sent, &match_id, answer, step),
                Purpose::LookUp => self.located(now, sent, answer, step),
            }
        }
    }

    fn requested(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        request: Request,
        step: &mut Step<RefereeEvent>,
    ) {
        let content = match request.ask {
            Ask::Ping => Content::Data(serde_json::json!({"status": "ok"})),
            Ask::MatchState(match_id) => self.match_state(now, match_id.as_ref()),
            Ask::Look(_) | Ask::PlayerState => {
                let message = "a referee keeps no standings and no player's state";
                self.refuse(now, None, LeagueError::new(ErrorCode::InvalidState, message, None, None))
            }
            Ask::Message(Err(rejection)) => self.unreadable(now, &rejection),
            Ask::Message(Ok(incoming)) => self.told(now, entropy, incoming, step),
        };
        self.reply(request.id, content, step);
    }

    /// A league message that is not an answer to a call of ours.
    fn told(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        incoming: Incoming,
        step: &mut Step<RefereeEvent>,
    ) -> Content {
        let verdict = match who_may(Party::Referee, incoming.message_type) {
            Right::PlayerOfMatch => self.separate_answer(now, &incoming, step),
            Right::Manager => match (self.admit_manager(&incoming.envelope), &incoming.body) {
                (Err(error), _) => Err(error),
                (_, Err(rejection)) => Err(LeagueError::from(rejection)),
                (Ok(()), Ok(body)) => self.notice(now, entropy, &incoming.envelope, body, step),
            },
            _ => Err(LeagueError::new(
                ErrorCode::InvalidState,
                format!(
                    "a referee does not take {}: is this meant for the league manager or a player?",
                    incoming.message_type
                ),
                None,
                None,
            )),
        };
        match verdict {
            Ok(()) => Content::Received,
            Err(mut error) => {
                error.original_message_type = Some(UntrustedText::new_static(incoming.message_type.name()));
                self.refuse(now, Some(incoming.envelope.conversation_id), error)
            }
        }
    }

    fn unreadable(&self, now: Timestamp, rejection: &Rejection) -> Content {
        self.refuse(now, rejection.conversation_id.clone(), LeagueError::from(rejection))
    }

    fn refuse(&self, now: Timestamp, conversation: Option<ConversationId>, error: LeagueError) -> Content {
        let name = self.name();
        let conversation = conversation.unwrap_or_else(|| ConversationId::new(format!("conv-{name}-error")));
        let envelope = Envelope::new(Sender::Referee(name), now, conversation);
        Content::Message(Message::new(envelope, error))
    }

    fn reply(&self, to: RequestId, content: Content, step: &mut Step<RefereeEvent>) {
        step.replies.push(Reply { to, content });
    }
}

impl Agent for Referee {
    type Event = RefereeEvent;

    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<RefereeEvent> {
        let mut step = Step::default();
        // First what the passing of time has brought: an answer at the end of its time is as late as one after it.
        self.pass_time(now, &mut step);
        self.stop_waiting(now, &mut step);
        match input {
            Input::Wake => self.wake(now, &mut step),
            Input::Request(request) => self.requested(now, entropy, request, &mut step),
            Input::Answer { call, dialect, answer } => self.answered(now, call, dialect, answer, &mut step),
            Input::Signed(_) => {}
            Input::Decided { inquiry, decision } => self.ruled(now, inquiry, decision, &mut step),
            Input::Tick => {}
        }
        self.begin_due(now, &mut step);
        self.post.tick(now, &mut step.outbox);
        self.register(now, entropy, &mut step);
        step
    }

    fn apply(&mut self, _at: Timestamp, event: &RefereeEvent) {
        self.durable.apply(event);
        if let RefereeEvent::Enrolled { identity } = event {
            self.manager_token = notices::notice_token(identity);
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        let next = self.queue.first().map(|(at, ..)| *at).filter(|_| self.has_room());
        let alarm = self.alarms.first();
        let appeal = self.appeals.as_ref().and_then(Appeals::deadline);
        [alarm, next, appeal, self.post.deadline(), self.enrolment.deadline()].into_iter().flatten().min()
    }

    fn reading(&self) -> (Conformance, Limits) {
        (self.settings.conformance, Limits::AGENT)
    }

    /// What the manager has recorded, or will say again, it can be asked for or told once more.
    fn can_wait(event: &RefereeEvent) -> bool {
        match event {
            RefereeEvent::Applied(_)
            | RefereeEvent::Enrolled { .. }
            | RefereeEvent::Assigned { .. }
            | RefereeEvent::Decided { .. } => false,
            RefereeEvent::HandedBack { .. }
            | RefereeEvent::Reported { .. }
            | RefereeEvent::ReportRefused { .. }
            | RefereeEvent::Abandoned { .. }
            | RefereeEvent::DialectLearned { .. }
            | RefereeEvent::RoundClosed { .. }
            | RefereeEvent::LeagueClosed => true,
        }
    }

    fn milestone(event: &RefereeEvent) -> Option<Milestone<'_>> {
        event.milestone()
    }

    fn census(&self) -> Census {
        Census {
            lacks: self.enrolment.lacks(),
            matches_live: self.playing.len(),
            matches_waiting: self.queue.len() + self.unlocated.len(),
            league: None,
        }
    }

    fn sender(&self) -> Sender {
        Sender::Referee(self.name())
    }
}
