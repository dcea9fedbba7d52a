//! The manager as an agent: takes each input to the part that decides on it.

use super::event::LeagueEvent;
use super::guard::Guard;
use super::launch::Roll;
use super::notices::Mailbox;
use super::registration::Probation;
use super::settings::Settings;
use super::state::League;
use crate::agent::{
    Agent, Answer, Ask, CallId, Content, Failure, Input, Reply, Request, RequestId, SigningDue, Step,
};
use crate::alarms::Alarms;
use crate::census::{Census, Milestone};
use crate::entropy::Entropy;
use crate::post::{Post, Sent};
use crate::protocol::decode::{Conformance, Deviation, DeviationKind, Incoming, Limits, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{ConversationId, MatchId, PlayerId};
use crate::protocol::messages::{LeagueError, Phase};
use crate::protocol::token::Mint;
use crate::protocol::{Body, Envelope, Message, MessageType, Sender, Timestamp, Token, UntrustedText};
use core::net::IpAddr;
use serde_json::{Map, Value};
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Runs one league. What must last is in [`League`]; the rest is rebuilt when the manager wakes.
#[derive(Debug)]
pub struct Manager {
    pub(super) league: League,
    pub(super) post: Post<Purpose>,
    /// Made when the first agent registers.
    pub(super) mint: Option<Mint>,
    pub(super) mailboxes: BTreeMap<Sender, Mailbox>,
    /// Registrations that wait for their endpoint to answer.
    pub(super) on_probation: BTreeMap<CallId, Probation>,
    /// The roll call before the first round, while it lasts.
    pub(super) roll: Option<Roll>,
    /// When the matches of the announced round may begin, while that is to come.
    pub(super) release_at: Option<Timestamp>,
    /// The players that have not yet heard of the round, with their matches in it, which wait for that.
    pub(super) unheard: BTreeMap<PlayerId, MatchId>,
    /// Until when their matches wait for them.
    pub(super) unheard_until: Option<Timestamp>,
    /// Matches that were handed back, and until when they rest.
    pub(super) resting: BTreeMap<MatchId, Timestamp>,
    /// When each open match is given to another referee.
    pub(super) due: Alarms<MatchId>,
    /// When the table goes out, if there is a result that it has not shown yet.
    pub(super) standings_at: Option<Timestamp>,
    /// When the suspended are looked after next.
    pub(super) probe_at: Option<Timestamp>,
    /// Whom we could not probe by our own fault: nothing is known of them.
    pub(super) unprobed: BTreeSet<Sender>,
    pub(super) guard: Guard,
    /// The order for a new checkpoint key, until the driver has made it.
    pub(super) key_rotation: Option<Asked>,
}

/// Why something was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// From the mailbox of that agent.
    Notice(Sender),
    /// To give a referee matches.
    Assignment(Vec<MatchId>, Sender),
    /// To see whether an agent is there.
    Probe(Sender),
    /// To see whether a player is there whose referees say that they have no way to it.
    Witness(Sender),
    /// To see whether an agent that wants to register is there.
    Probation,
}

/// One input being dealt with: the time, the chance, and what comes of it.
pub(super) struct Act<'a> {
    pub(super) now: Timestamp,
    pub(super) entropy: &'a mut Entropy,
    pub(super) step: Step<LeagueEvent>,
}

/// A league message as the parts of the manager see it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) request: RequestId,
    pub(super) envelope: Envelope,
    /// As it called itself, if it did.
    pub(super) message_type: Option<UntrustedText>,
    pub(super) dialect: Dialect,
    /// What the driver has against the endpoint that a registration names.
    pub(super) objection: Option<String>,
    /// The IP address that it came from.
    pub(super) client: Option<IpAddr>,
    /// The join code in the path that it was sent to.
    pub(super) join_code: Option<Token>,
}

impl Asked {
    /// The same with the join code that the message itself shows, if it shows one.
    pub(super) fn with_code(&self, code: Option<Token>) -> Self {
        let asked = self.clone();
        Self { join_code: code.or(asked.join_code), ..asked }
    }
}

/// Why a request is not granted; becomes LEAGUE_ERROR.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) context: Option<Map<String, Value>>,
    /// In whose name a wrong token was shown, if that is why.
    pub(super) guess: Option<Sender>,
}

impl Refusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), context: None, guess: None }
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.get_or_insert_default().insert(key.to_owned(), value.into());
        self
    }
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        let error = LeagueError::from(&rejection);
        Self { message: rejection.sentence(), context: error.context, code: rejection.code, guess: None }
    }
}

impl Manager {
    pub fn new(settings: Settings) -> Self {
        Self {
            league: League::new(settings),
            post: Post::default(),
            mint: None,
            mailboxes: BTreeMap::new(),
            on_probation: BTreeMap::new(),
            roll: None,
            release_at: None,
            unheard: BTreeMap::new(),
            unheard_until: None,
            resting: BTreeMap::new(),
            due: Alarms::default(),
            standings_at: None,
            probe_at: None,
            unprobed: BTreeSet::new(),
            guard: Guard::default(),
            key_rotation: None,
        }
    }

    pub fn league(&self) -> &League {
        &self.league
    }

    /// The one door through which the league changes while it runs.
    pub(super) fn record(&mut self, act: &mut Act<'_>, event: LeagueEvent) {
        self.league.apply(act.now, &event);
        act.step.events.push(event);
    }

    /// The envelope of what the manager says of its own accord.
    pub(super) fn envelope(&self, now: Timestamp, conversation: impl Into<SmolStr>) -> Envelope {
        Envelope::new(Sender::LeagueManager, now, ConversationId::new(conversation))
    }

    pub(super) fn reply(&self, act: &mut Act<'_>, asked: &Asked, body: impl Into<Body>) {
        let envelope = self.envelope(act.now, asked.envelope.conversation_id.as_str());
        let content = Content::Message(Message::new(envelope, body));
        act.step.replies.push(Reply { to: asked.request, content });
    }

    pub(super) fn refuse(&self, act: &mut Act<'_>, asked: &Asked, refusal: Refusal) {
        let original = asked.message_type.clone();
        let mut context = refusal.context.unwrap_or_default();
        if let Some(named) = &original {
            let action = MessageType::parse(named.raw()).map_or(named.raw(), |kind| kind.method());
            context.entry("action").or_insert_with(|| action.to_owned().into());
        }
        let about_sender = matches!(refusal.code, ErrorCode::PlayerNotRegistered | ErrorCode::TokenInvalid);
        if let (Sender::Player(id), true) = (&asked.envelope.sender, about_sender) {
            context.entry("player_id").or_insert_with(|| id.as_str().into());
        }
        let context = (!context.is_empty()).then_some(context);
        self.reply(act, asked, LeagueError::new(refusal.code, refusal.message, original, context));
    }

    fn on_request(&mut self, act: &mut Act<'_>, request: Request) {
        let Request { id, ask, dialect, local, objection, client, join_code } = request;
        let asked = |envelope, message_type| Asked {
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
                let asked = asked(envelope, Some(UntrustedText::new_static(message_type.name())));
                self.on_message(act, &asked, local, message_type, body, deviations);
            }
            Ask::Message(Err(rejection)) => {
                let conversation =
                    rejection.conversation_id.clone().unwrap_or_else(|| ConversationId::new("conv-error"));
                let envelope = self.envelope(act.now, conversation.as_str());
                self.refuse(act, &asked(envelope, rejection.message_type.clone()), rejection.into());
            }
            Ask::Look(look) => self.show(act, id, &look),
            Ask::Ping => {
                act.step
                    .replies
                    .push(Reply { to: id, content: Content::Data(serde_json::json!({"status": "ok"})) });
            }
            Ask::MatchState(_) | Ask::PlayerState => {
                let refusal =
                    Refusal::new(ErrorCode::InvalidState, "a league manager has no such state to show");
                self.refuse(act, &asked(self.envelope(act.now, "conv-error"), None), refusal);
            }
        }
    }

    fn on_message(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        local: bool,
        message_type: MessageType,
        body: Result<Body, Rejection>,
        mut deviations: Vec<Deviation>,
    ) {
        let member = match self.admit(&asked.envelope, message_type, local) {
            Ok(member) => member,
            Err(refusal) => return self.turn_away(act, asked, refusal),
        };
        if let Some(refusal) = member.as_ref().and_then(|member| self.hurried(act.now, member)) {
            return self.refuse(act, asked, refusal);
        }
        if member.as_ref().is_some_and(|member| *member != asked.envelope.sender) {
            deviations.push(Deviation { kind: DeviationKind::OwnName, path: "sender".into() });
        }
        if let Some(member) = &member {
            self.note_token_shown(act, member);
        }
        let outcome = match body {
            Err(rejection) => Err(rejection.into()),
            Ok(body) => self.dispatch(act, asked, member.as_ref(), body),
        };
        let member = match outcome {
            Ok(registered) => registered.or(member),
            Err(refusal) => {
                self.refuse(act, asked, refusal);
                member
            }
        };
        if let Some(member) = member {
            self.note_deviations(act, &member, &deviations);
        }
    }

    /// Grants a request, or says why not. Gives back who registered, if someone did.
    fn dispatch(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        member: Option<&Sender>,
        body: Body,
    ) -> Result<Option<Sender>, Refusal> {
        match (body, member) {
            (Body::LeagueRegisterRequest(request), _) => {
                self.register_player(act, asked, Arc::unwrap_or_clone(request))
            }
            (Body::RefereeRegisterRequest(request), _) => {
                self.register_referee(act, asked, Arc::unwrap_or_clone(request))
            }
            (Body::StartLeague(start), _) => self.start_league(act, asked, &start).map(|()| None),
            (Body::LeagueOrder(order), _) => {
                self.obey(act, asked, Arc::unwrap_or_clone(order)).map(|()| None)
            }
            (Body::MatchResultReport(report), Some(Sender::Referee(referee))) => {
                self.take_report(act, asked, referee, &report).map(|()| None)
            }
            (Body::LeagueError(error), Some(Sender::Referee(referee))) => {
                self.take_back(act, asked, referee, &error).map(|()| None)
            }
            (Body::LeagueQuery(query), Some(member)) => {
                self.answer(act, asked, member, &query).map(|()| None)
            }
            (body, _) => Err(Refusal::new(
                ErrorCode::InvalidState,
                format!("a league manager does not take {}", body.message_type()),
            )),
        }
    }

    fn on_answer(&mut self, act: &mut Act<'_>, call: CallId, dialect: Dialect, answer: &Answer) {
        if let Some(probation) = self.on_probation.remove(&call) {
            self.post.answered(call);
            return self.end_probation(act, probation, answer);
        }
        let Some(sent) = self.post.answered(call) else {
            return;
        };
        let reached = !matches!(answer, Answer::Undelivered(_));
        let agent = sent.errand.purpose.agent().cloned();
        if let (true, Some(agent)) = (reached, &agent) {
            self.learn_dialect(act, agent, sent.errand.dialect, dialect);
            self.on_sign_of_life(act, agent);
        }
        match &sent.errand.purpose {
            Purpose::Notice(agent) => {
                let agent = agent.clone();
                self.on_notice_answered(act, &agent, sent, reached);
            }
            Purpose::Assignment(matches, _) => {
                let matches = matches.clone();
                self.on_assignment_answered(act, &matches, sent, answer);
            }
            Purpose::Probe(agent) => {
                if matches!(answer, Answer::Undelivered(Failure::Ours)) {
                    self.unprobed.insert(agent.clone());
                }
            }
            Purpose::Witness(agent) => {
                let agent = agent.clone();
                self.on_witnessed(act, agent, answer);
            }
            Purpose::Probation => {}
        }
        self.check_roll(act);
    }

    fn learn_dialect(&mut self, act: &mut Act<'_>, agent: &Sender, used: Dialect, understood: Dialect) {
        if used != understood {
            self.record(act, LeagueEvent::DialectLearned { agent: agent.clone(), dialect: understood });
        }
    }

    fn wake(&mut self, act: &mut Act<'_>) {
        if !self.league.created {
            let settings = self.league.settings.clone();
            self.record(act, LeagueEvent::LeagueCreated { settings });
        }
        match self.league.phase {
            Phase::Registration => {}
            Phase::Running | Phase::Paused => self.resume(act),
            Phase::Completed => self.tell_completed(act),
        }
    }

    fn tick(&mut self, act: &mut Act<'_>) {
        self.post.tick(act.now, &mut act.step.outbox);
        self.guard.release(act.now, &mut act.step.replies);
        self.check_roll(act);
        self.reassign_overdue(act);
        let resting = self.resting.len();
        self.resting.retain(|_, until| *until > act.now);
        let has_come = |at: Option<Timestamp>| at.is_some_and(|at| at <= act.now);
        let waited = has_come(self.unheard_until);
        if waited {
            self.unheard.clear();
            self.unheard_until = None;
        }
        if waited || self.resting.len() < resting || has_come(self.release_at) {
            self.advance(act);
        }
        if self.standings_at.is_some_and(|at| at <= act.now) {
            self.tell_standings(act);
        }
        self.probe_suspended(act);
    }

    /// Puts a failed errand in line again; gives it back when it has no tries left.
    pub(super) fn try_again(
        &mut self,
        now: Timestamp,
        sent: Box<Sent<Purpose>>,
    ) -> Option<Box<Sent<Purpose>>> {
        self.post.again(now, sent).err()
    }
}

impl Purpose {
    pub(super) fn agent(&self) -> Option<&Sender> {
        match self {
            Self::Notice(agent) | Self::Assignment(_, agent) | Self::Probe(agent) | Self::Witness(agent) => {
                Some(agent)
            }
            Self::Probation => None,
        }
    }
}

impl Agent for Manager {
    type Event = LeagueEvent;

    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<LeagueEvent> {
        let mut act = Act { now, entropy, step: Step::default() };
        match input {
            Input::Wake => self.wake(&mut act),
            Input::Request(request) => self.on_request(&mut act, request),
            Input::Answer { call, dialect, answer } => self.on_answer(&mut act, call, dialect, &answer),
            Input::Signed(signed) => self.on_signed(&mut act, signed),
            Input::Tick => self.tick(&mut act),
            // A manager's mind is its own.
            Input::Decided { .. } => {}
        }
        act.step
    }

    fn apply(&mut self, at: Timestamp, event: &LeagueEvent) {
        self.league.apply(at, event);
    }

    fn deadline(&self) -> Option<Timestamp> {
        let due = self.due.first();
        let roll = self.roll.as_ref().map(|roll| roll.until);
        let rested = self.resting.values().min().copied();
        let own = [self.post.deadline(), self.guard.deadline(), self.release_at, due, roll, rested];
        own.into_iter().chain([self.unheard_until, self.standings_at, self.probe_at]).flatten().min()
    }

    fn reading(&self) -> (Conformance, Limits) {
        (
            self.league.settings.conformance,
            Limits { message_bytes_max: self.league.settings.message_bytes_max, ..Limits::MANAGER },
        )
    }

    fn milestone(event: &LeagueEvent) -> Option<Milestone<'_>> {
        event.milestone()
    }

    fn signing(&self) -> Option<SigningDue<'_>> {
        Self::signing(self)
    }

    fn census(&self) -> Census {
        self.league.census()
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager
    }
}
