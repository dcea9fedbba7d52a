//! The agent's side of registration, of a referee or a player: asks the manager until it accepts or refuses. The
//! manager's side is in `league::registration`.

use crate::agent::{Answer, CallDeadline, CallId, Outgoing, Payload};
use crate::entropy::Entropy;
use crate::hash_input;
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{ConversationId, GameType, LeagueId};
use crate::protocol::messages::{MATCH_TOKENS, RegisterAnswer, RegisterStatus};
use crate::protocol::{
    Body, DisplayName, Endpoint, Envelope, Message, Sender, Timestamp, Token, UntrustedText,
};
use crate::retry::Backoff;
use crate::signature::{PublicKey, SigningKey};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Who an agent is in a league, once the manager has said so. It holds the agent's own token: keep it as a key is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity<I> {
    /// The player's or referee's id, which the manager assigned.
    pub id: I,
    /// Some managers do not say.
    pub league_id: Option<LeagueId>,
    /// Absent under managers that issue no tokens.
    pub auth_token: Option<Token>,
    /// Whether the manager makes a token for each match.
    pub match_tokens: bool,
    /// The key that signs the manager's checkpoints; absent under managers that sign none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_key: Option<PublicKey>,
}

impl<I: PartialEq> Identity<I> {
    /// Whether both are of one registration: the manager may have rotated its key since.
    pub fn is_of_same_registration(&self, other: &Self) -> bool {
        let Self {
            id,
            league_id,
            auth_token,
            match_tokens,
            manager_key: _,
        } = self;
        *id == other.id
            && *league_id == other.league_id
            && *auth_token == other.auth_token
            && *match_tokens == other.match_tokens
    }
}

/// The idempotency key of a registration, created once and stored before it is first used: an agent that is killed before
/// it could store its token registers again with the same one, by which the manager recognises it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// The same in every try, so that a manager recognises a repeated registration.
    pub conversation_id: ConversationId,
    /// The agent's own secret.
    pub registration_key: Token,
}

impl Application {
    /// A new one. `name` makes the conversation readable in logs; chance makes it unique and secret.
    pub fn new(name: &str, entropy: &mut Entropy) -> Self {
        let random = hex::encode(entropy.bytes::<16>());
        Self {
            conversation_id: ConversationId::new(format!("{}{random}", Self::prefix(name))),
            registration_key: Token::new_registration_key(entropy),
        }
    }

    /// How the conversation of an agent of this name begins.
    pub fn prefix(name: &str) -> String {
        format!("conv-register-{name}-")
    }

    /// The key that the agent signs with: derived from its registration key, so that a crash does not change it.
    pub fn signing_key(&self) -> SigningKey {
        let registration_key = self.registration_key.reveal().as_bytes();
        SigningKey::from_seed(hash_input::sha256(&[SIGNING_LABEL, registration_key]))
    }

    /// What the agent shows the manager when it registers: the token that it has, else its key.
    pub fn shown(&self, manager: &Endpoint, earlier: Option<&Token>) -> Token {
        earlier
            .cloned()
            .unwrap_or_else(|| self.registration_key.shown_to(manager))
    }
}

const SIGNING_LABEL: &[u8] = b"matchday-signing-key";

/// The timeout of each try.
const REGISTER_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before a retry. Retries are unlimited: a manager may be started after its agents.
const RETRY_PAUSE: Duration = Duration::from_secs(2);
/// The pauses after answers that do not decide.
const UNDECIDED_BACKOFF: Backoff = Backoff::Exponential {
    initial: RETRY_PAUSE,
    max: Duration::from_secs(60),
};

/// A name as the id that an agent has before the manager gives it one: its letters and digits, joined by hyphens. Managers
/// may give out the id that an agent asks for by its name, so the case is kept.
pub fn own_word(name: &DisplayName, otherwise: &str) -> String {
    let words = name.raw().split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        otherwise.to_owned()
    } else {
        words.join("-")
    }
}

/// How much a registration says. A manager of another make may refuse what no source prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Manner {
    /// All, with the token or key that proves who asks.
    #[default]
    Whole,
    /// The same without a token.
    WithoutToken,
    /// Only the fields that the message catalogue prints, and the join code.
    PrintedFields,
}

impl Manner {
    fn next(self) -> Option<Self> {
        match self {
            Self::Whole => Some(Self::WithoutToken),
            Self::WithoutToken => Some(Self::PrintedFields),
            Self::PrintedFields => None,
        }
    }
}

/// The protocol version that our agents announce.
pub const PROTOCOL_VERSION: &str = "2.1.0";

const NO_REASON: &str = "the manager gave no reason";

/// The state of an agent's registration. Not stored: after a restart it registers anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RegistrationState {
    /// Not asked yet.
    #[default]
    Idle,
    /// The call is out, and its answer awaited.
    Asking(CallId),
    /// The last try failed; why, and when to retry.
    Waiting {
        /// The time of the next try.
        until: Timestamp,
        /// For people; in part the words of the manager.
        why: UntrustedText,
    },
    /// The manager has accepted, and the identity is stored.
    Done,
    /// The manager has rejected it.
    Refused {
        /// In the words of the manager.
        reason: UntrustedText,
        /// Absent if the manager gave none.
        code: Option<ErrorCode>,
    },
}

impl RegistrationState {
    /// Why an agent cannot take part yet, in words for people; `None` once it is registered.
    pub fn lacks(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Idle => Some("it has not asked the manager to register it yet".to_owned()),
            Self::Asking(_) => Some("the manager has not answered its registration yet".to_owned()),
            Self::Waiting { why, .. } => Some(format!(
                "it is not registered with the manager yet: {}",
                why.escaped()
            )),
            Self::Refused { reason, .. } => Some(format!(
                "the manager refuses its registration: {}",
                reason.escaped()
            )),
        }
    }
}

/// Registers one agent with its manager: state, deadline, retries, and the reading of answers.
#[derive(Debug)]
pub struct Registration {
    manager: Endpoint,
    /// All games of the agent.
    game_types: Vec<GameType>,
    /// Whether the manager has rejected the full list of games.
    basic_games_only: bool,
    /// A token that the operator issued for the agent; it takes precedence over the one from registration.
    pub(crate) granted: Option<Token>,
    /// The join code, if the league needs one.
    pub(crate) join_code: Option<Token>,
    /// The dialect in which the manager understood us last.
    dialect: Dialect,
    /// Why its last answer could not be used, though it may have registered us.
    unread: Option<UntrustedText>,
    manner: Manner,
    /// Answers in a row that did not decide.
    undecided: u32,
    state: RegistrationState,
}

impl Registration {
    /// Nothing is asked yet. `game_types` are announced, all of them at first.
    pub fn new(manager: Endpoint, game_types: Vec<GameType>) -> Self {
        Self {
            manager,
            game_types,
            basic_games_only: false,
            granted: None,
            join_code: None,
            dialect: Dialect::default(),
            unread: None,
            manner: Manner::Whole,
            undecided: 0,
            state: RegistrationState::Idle,
        }
    }

    /// The state of the registration.
    pub fn state(&self) -> &RegistrationState {
        &self.state
    }

    /// The dialect for calls to the manager.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The time of the next retry.
    pub fn deadline(&self) -> Option<Timestamp> {
        match self.state {
            RegistrationState::Waiting { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Whether it is time to ask (again).
    pub fn is_due(&self, now: Timestamp) -> bool {
        match self.state {
            RegistrationState::Idle => true,
            RegistrationState::Waiting { until, .. } => until <= now,
            RegistrationState::Asking(_)
            | RegistrationState::Done
            | RegistrationState::Refused { .. } => false,
        }
    }

    /// Whether this call is the registration that is under way.
    pub fn awaits(&self, call: CallId) -> bool {
        self.state == RegistrationState::Asking(call)
    }

    /// The games to announce: all, or to a manager that rejects that list the one that every manager knows.
    pub fn announced_games(&self) -> Vec<GameType> {
        if self.basic_games_only {
            vec![GameType::even_odd()]
        } else {
            self.game_types.clone()
        }
    }

    /// Whether the request may have no other fields than those that the message catalogue prints.
    pub fn says_printed_fields_alone(&self) -> bool {
        self.manner == Manner::PrintedFields
    }

    /// The request with this body. `earlier` is the token from an earlier registration.
    pub fn ask(
        &mut self,
        now: Timestamp,
        call: CallId,
        sender: Sender,
        application: Application,
        earlier: Option<&Token>,
        body: impl Into<Body>,
    ) -> Outgoing {
        self.state = RegistrationState::Asking(call);
        let token = (self.manner == Manner::Whole)
            .then(|| application.shown(&self.manager, self.granted.as_ref().or(earlier)));
        let envelope = Envelope::new(sender, now, application.conversation_id).with_token(token);
        Outgoing {
            call,
            to: self.manager.clone(),
            dialect: self.dialect,
            payload: Payload::Message(Message::new(envelope, body)),
            deadline: CallDeadline::After(REGISTER_TIMEOUT),
        }
    }

    /// Takes the manager's answer. Returns the agent's identity if it is new or differs from the `known` one. `pick`
    /// finds the id and the rest in the response that belongs to the agent's role.
    pub fn on_answer<I: PartialEq>(
        &mut self,
        now: Timestamp,
        dialect: Dialect,
        answer: Answer,
        known: Option<&Identity<I>>,
        pick: impl FnOnce(Body) -> Option<(Option<I>, RegisterAnswer)>,
    ) -> Option<Identity<I>> {
        if !matches!(answer, Answer::Undelivered(_)) {
            self.dialect = dialect;
        }
        let mut registered = None;
        self.state = match Decision::read(answer, pick) {
            Decision::Accepted(granted) => {
                registered =
                    Some(granted.completed_by(known)).filter(|identity| known != Some(identity));
                RegistrationState::Done
            }
            Decision::Refused { reason, .. } if self.may_announce_less(reason.raw()) => {
                self.basic_games_only = true;
                RegistrationState::Idle
            }
            Decision::Refused {
                is_about_form: true,
                ..
            }
            | Decision::NotUnderstood { .. }
                if self.say_less() =>
            {
                RegistrationState::Idle
            }
            Decision::Refused { reason, code, .. } => RegistrationState::Refused {
                reason: self.explained(reason),
                code,
            },
            Decision::Unread { why } => {
                self.unread = Some(why.clone());
                self.wait(now, why)
            }
            Decision::NotUnderstood { why } => {
                // It may be another manager by then.
                self.manner = Manner::Whole;
                self.wait(now, why)
            }
            Decision::TryAgain { why } => self.wait(now, why),
            Decision::Unreached { why } => {
                self.undecided = 0;
                RegistrationState::Waiting {
                    until: now + RETRY_PAUSE,
                    why,
                }
            }
        };
        registered
    }

    /// Waits after an answer that did not decide, each time longer.
    fn wait(&mut self, now: Timestamp, why: UntrustedText) -> RegistrationState {
        self.undecided = self.undecided.saturating_add(1);
        RegistrationState::Waiting {
            until: now + UNDECIDED_BACKOFF.pause(self.undecided),
            why,
        }
    }

    /// Whether there is a way left to ask that says less.
    fn say_less(&mut self) -> bool {
        let Some(next) = self.manner.next() else {
            return false;
        };
        self.manner = next;
        true
    }

    /// Asks again, though the manager has accepted or refused.
    pub(crate) fn renew(&mut self) {
        if matches!(
            self.state,
            RegistrationState::Done | RegistrationState::Refused { .. }
        ) {
            self.state = RegistrationState::Idle;
        }
    }

    /// The manager has accepted, as a message of it proves.
    pub(crate) fn complete(&mut self) {
        self.state = RegistrationState::Done;
    }

    /// After a refusal: the agent continues under the identity that it has, though registration may be closed.
    pub fn keep_identity(&mut self) {
        if matches!(self.state, RegistrationState::Refused { .. }) {
            self.state = RegistrationState::Done;
        }
    }

    /// A refusal with what may be behind it: the manager has registered us, in an answer that we could not read.
    fn explained(&self, reason: UntrustedText) -> UntrustedText {
        match self.unread.as_ref().filter(|_| says_already(reason.raw())) {
            Some(unread) => format!(
                "{}; its answer before that could not be read ({}), so remove this agent there, or use another name and endpoint",
                reason.raw(),
                unread.raw()
            )
            .into(),
            None => reason,
        }
    }

    /// Whether a refusal may be about the list of games, and a shorter one is left to try.
    fn may_announce_less(&self, reason: &str) -> bool {
        let about_games = reason == NO_REASON || reason.to_ascii_lowercase().contains("game");
        let has_basic = self.game_types.iter().any(GameType::is_even_odd);
        !self.basic_games_only && about_games && self.game_types.len() > 1 && has_basic
    }
}

impl<I: PartialEq> Identity<I> {
    /// A manager need not repeat what a registered agent knows.
    fn completed_by(self, known: Option<&Self>) -> Self {
        match known {
            Some(known) if known.id == self.id => Self {
                league_id: self.league_id.or_else(|| known.league_id.clone()),
                auth_token: self.auth_token.or_else(|| known.auth_token.clone()),
                manager_key: self.manager_key.or(known.manager_key),
                ..self
            },
            _ => self,
        }
    }
}

/// The manager's decision, as its answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Decision<I> {
    Accepted(Identity<I>),
    Refused {
        reason: UntrustedText,
        code: Option<ErrorCode>,
        /// Whether a manager of another make may have refused what ours add to the request.
        is_about_form: bool,
    },
    /// It has answered, and perhaps accepted.
    Unread {
        why: UntrustedText,
    },
    /// It has answered with an error that is none of the league's.
    NotUnderstood {
        why: UntrustedText,
    },
    /// It has refused for now.
    TryAgain {
        why: UntrustedText,
    },
    /// It has not answered.
    Unreached {
        why: UntrustedText,
    },
}

/// Whether a manager of another make that refuses with this code and in these words may do so for a token or a field that it
/// does not know.
fn may_be_about_form(code: Option<&ErrorCode>, reason: &str) -> bool {
    let named = matches!(
        code,
        Some(
            ErrorCode::InvalidFormat
                | ErrorCode::MissingField
                | ErrorCode::TokenMissing
                | ErrorCode::TokenInvalid
        )
    );
    let reason = reason.to_ascii_lowercase();
    let words = [
        "token",
        "auth",
        "field",
        "key",
        "extra",
        "unexpected",
        "additional",
        "schema",
    ];
    named || words.iter().any(|word| reason.contains(word))
}

/// Whether a manager says that the agent is registered: another try would be answered likewise.
fn says_already(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["already registered", "registered already", "already exists"]
        .iter()
        .any(|words| reason.contains(words))
}

fn is_repeated(answer: &RegisterAnswer) -> bool {
    answer
        .reason
        .as_ref()
        .is_some_and(|reason| says_already(reason.raw()))
}

impl<I> Decision<I> {
    fn read(
        answer: Answer,
        pick: impl FnOnce(Body) -> Option<(Option<I>, RegisterAnswer)>,
    ) -> Self {
        let incoming = match answer {
            Answer::Message(Ok(incoming)) => incoming,
            Answer::Message(Err(rejection)) => return Self::unread(rejection.to_string()),
            Answer::Received => return Self::unread("the manager sent no answer"),
            Answer::Garbled(what) => return Self::unread(what),
            Answer::NotUnderstood(what) if says_already(&what) => {
                return Self::rejected(what.into(), None, true);
            }
            Answer::NotUnderstood(what) => return Self::NotUnderstood { why: what.into() },
            Answer::Undelivered(failure) => {
                return Self::Unreached {
                    why: failure.to_string().into(),
                };
            }
        };
        let auth_token = incoming.envelope.auth_token;
        let body = match incoming.body {
            Ok(body) => body,
            Err(rejection) => return Self::unread(rejection.to_string()),
        };
        if let Body::LeagueError(error) = body {
            let error = Arc::unwrap_or_clone(error);
            let by_ours = error
                .context
                .is_some_and(|context| context.contains_key(MATCH_TOKENS));
            let reason = error.error_message.unwrap_or(error.error_description);
            return Self::rejected(reason, Some(error.error_code), by_ours);
        }
        match pick(body) {
            // A manager that has registered the agent before may reject it and still say who it is.
            Some((Some(id), answer))
                if answer.status == RegisterStatus::Accepted || is_repeated(&answer) =>
            {
                Self::Accepted(Identity {
                    id,
                    league_id: answer.league_id,
                    auth_token,
                    match_tokens: answer.match_tokens.unwrap_or(false),
                    manager_key: answer.manager_public_key,
                })
            }
            Some((_, answer)) => Self::rejected(
                answer.reason.unwrap_or_else(|| NO_REASON.into()),
                answer.error_code,
                answer.match_tokens == Some(true),
            ),
            None => Self::unread("the manager answered with another kind of message"),
        }
    }

    fn unread(why: impl Into<UntrustedText>) -> Self {
        Self::Unread { why: why.into() }
    }

    fn rejected(reason: UntrustedText, code: Option<ErrorCode>, by_ours: bool) -> Self {
        match code {
            Some(code) if code.retryable() => Self::TryAgain { why: reason },
            code => Self::Refused {
                is_about_form: !by_ours
                    && !says_already(reason.raw())
                    && may_be_about_form(code.as_ref(), reason.raw()),
                reason,
                code,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::decode::Incoming;
    use crate::protocol::messages::LeagueRegisterResponse;
    use crate::protocol::{ConversationId, Envelope, MessageType, PlayerId, Sender};

    fn rejected(code: ErrorCode) -> Decision<PlayerId> {
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some("because".into()),
            league_id: None,
            match_tokens: None,
            manager_public_key: None,
            error_name: None,
            error_code: Some(code),
            context: None,
        };
        let conversation = ConversationId::new("conv-register");
        let incoming = Incoming {
            envelope: Envelope::new(Sender::LeagueManager, Timestamp::EPOCH, conversation),
            message_type: MessageType::LeagueRegisterResponse,
            body: Ok(LeagueRegisterResponse {
                player_id: None,
                answer,
            }
            .into()),
            deviations: Vec::new(),
            strict: None,
        };
        Decision::read(Answer::Message(Ok(incoming)), |body| match body {
            Body::LeagueRegisterResponse(response) => {
                Some((response.player_id.clone(), response.answer.clone()))
            }
            _ => None,
        })
    }

    #[test]
    fn a_rejection_for_want_of_a_connection_is_not_the_last_word() {
        assert!(matches!(
            rejected(ErrorCode::Connection),
            Decision::TryAgain { .. }
        ));
        assert!(matches!(
            rejected(ErrorCode::LateRegistration),
            Decision::Refused { .. }
        ));
    }

    #[test]
    fn only_a_registered_agent_lacks_nothing() {
        let waiting = RegistrationState::Waiting {
            until: Timestamp::EPOCH,
            why: "no connection".into(),
        };
        assert_eq!(RegistrationState::Done.lacks(), None);
        assert_eq!(
            waiting.lacks().unwrap(),
            "it is not registered with the manager yet: no connection"
        );
        let refused = RegistrationState::Refused {
            reason: "the league is full".into(),
            code: None,
        };
        for not_yet in [
            RegistrationState::Idle,
            RegistrationState::Asking(CallId(1)),
            refused,
        ] {
            assert!(not_yet.lacks().is_some(), "{not_yet:?}");
        }
    }
}
