//! How a referee or a player gets into a league: asks the manager until it says yes or no.

use crate::agent::{Answer, CallId};
use crate::entropy::Entropy;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{ConversationId, GameType, LeagueId};
use crate::protocol::messages::{RegisterAnswer, RegisterStatus};
use crate::protocol::{Body, Endpoint, Timestamp, Token, UntrustedText};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Who an agent is in a league, once the manager has said so. It holds the agent's own token: keep it as a key is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity<I> {
    pub id: I,
    /// Some managers do not say.
    pub league_id: Option<LeagueId>,
    pub auth_token: Option<Token>,
    /// Whether the manager makes a token for each match.
    pub match_tokens: bool,
}

/// How an agent asks to be taken on, made up once and stored before it is first used: an agent that is killed before it
/// could store its token asks again in the same way, and the manager knows it by that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    pub conversation_id: ConversationId,
    /// The agent's own secret. Those that applied before there were any have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_key: Option<Token>,
}

impl Application {
    pub fn new(name: &str, entropy: &mut Entropy) -> Self {
        let random = hex::encode(entropy.bytes::<16>());
        Self {
            conversation_id: ConversationId::new(format!("conv-register-{name}-{random}")),
            registration_key: Some(Token::new_registration_key(entropy)),
        }
    }

    /// What the agent shows the manager when it registers: the token that it has, else its key.
    pub fn shown(&self, manager: &Endpoint, earlier: Option<&Token>) -> Option<Token> {
        earlier.cloned().or_else(|| Some(self.registration_key.as_ref()?.shown_to(manager)))
    }
}

/// How long the manager has for its answer to a registration.
pub const REGISTER_TIMEOUT: Duration = Duration::from_secs(10);

/// The game that every manager of league.v2 knows.
const EVEN_ODD: &str = "even_odd";

/// The games that an agent announces: all that it plays; to a manager that will not have the longer list, the one of the
/// sources alone.
pub fn announced_games(played: &[GameType], plain: bool) -> Vec<GameType> {
    if plain { vec![GameType::new(EVEN_ODD)] } else { played.to_vec() }
}

/// Whether a refusal may be about the list of games, and a shorter one is left to try.
pub fn may_ask_plainly(played: &[GameType], reason: &str) -> bool {
    let about_games = reason == NO_REASON || reason.to_ascii_lowercase().contains("game");
    about_games && played.len() > 1 && played.iter().any(|game| game.as_str() == EVEN_ODD)
}

const NO_REASON: &str = "the manager gave no reason";

/// How far an agent has come with its registration. Not stored: after a restart it asks anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Enrolment {
    /// Not asked yet.
    #[default]
    Idle,
    Asking(CallId),
    /// The manager could not be asked; why, and when to try again.
    Waiting {
        until: Timestamp,
        why: UntrustedText,
    },
    Done,
    /// The manager has said no.
    Refused {
        reason: UntrustedText,
        code: Option<ErrorCode>,
    },
}

/// What the manager's answer comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<I> {
    Enrolled(Identity<I>),
    Refused { reason: UntrustedText, code: Option<ErrorCode> },
    TryAgain { why: UntrustedText },
}

impl Enrolment {
    pub fn deadline(&self) -> Option<Timestamp> {
        match self {
            Self::Waiting { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// Whether it is time to ask (again).
    pub fn is_due(&self, now: Timestamp) -> bool {
        match self {
            Self::Idle => true,
            Self::Waiting { until, .. } => *until <= now,
            Self::Asking(_) | Self::Done | Self::Refused { .. } => false,
        }
    }

    pub fn awaits(&self, call: CallId) -> bool {
        *self == Self::Asking(call)
    }
}

/// Reads the manager's answer. `pick` finds the id and the rest in the response that belongs to the agent's role.
pub fn judge<I>(
    answer: Answer,
    pick: impl FnOnce(Body) -> Option<(Option<I>, RegisterAnswer)>,
) -> Verdict<I> {
    let incoming = match answer {
        Answer::Message(Ok(incoming)) => incoming,
        Answer::Message(Err(rejection)) => {
            return Verdict::TryAgain { why: rejection.to_string().into() };
        }
        Answer::Received => {
            return Verdict::TryAgain { why: "the manager sent no answer".into() };
        }
        Answer::Garbled(what) => return Verdict::TryAgain { why: what.into() },
        Answer::Undelivered(failure) => {
            return Verdict::TryAgain { why: failure.to_string().into() };
        }
    };
    let auth_token = incoming.envelope.auth_token;
    match incoming.body {
        Err(rejection) => Verdict::TryAgain { why: rejection.to_string().into() },
        Ok(Body::LeagueError(error)) => {
            let error = Arc::unwrap_or_clone(error);
            let reason = error.error_message.unwrap_or(error.error_description);
            if error.error_code.retryable() {
                Verdict::TryAgain { why: reason }
            } else {
                Verdict::Refused { reason, code: Some(error.error_code) }
            }
        }
        Ok(body) => match pick(body) {
            Some((Some(id), answer)) if answer.status == RegisterStatus::Accepted => {
                Verdict::Enrolled(Identity {
                    id,
                    league_id: answer.league_id,
                    auth_token,
                    match_tokens: answer.match_tokens.unwrap_or(false),
                })
            }
            Some((_, answer)) => {
                let reason = answer.reason.unwrap_or_else(|| NO_REASON.into());
                match answer.error_code {
                    Some(code) if code.retryable() => Verdict::TryAgain { why: reason },
                    code => Verdict::Refused { reason, code },
                }
            }
            None => Verdict::TryAgain { why: "the manager answered with another kind of message".into() },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::decode::Incoming;
    use crate::protocol::messages::LeagueRegisterResponse;
    use crate::protocol::{ConversationId, Envelope, MessageType, PlayerId, Sender};

    fn rejected(code: ErrorCode) -> Verdict<PlayerId> {
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some("because".into()),
            league_id: None,
            match_tokens: None,
            error_name: None,
            error_code: Some(code),
            context: None,
        };
        let conversation = ConversationId::new("conv-register");
        let incoming = Incoming {
            envelope: Envelope::new(Sender::LeagueManager, Timestamp::EPOCH, conversation),
            message_type: MessageType::LeagueRegisterResponse,
            body: Ok(LeagueRegisterResponse { player_id: None, answer }.into()),
            deviations: Vec::new(),
        };
        judge(Answer::Message(Ok(incoming)), |body| match body {
            Body::LeagueRegisterResponse(response) => {
                Some((response.player_id.clone(), response.answer.clone()))
            }
            _ => None,
        })
    }

    #[test]
    fn a_rejection_for_want_of_a_connection_is_not_the_last_word() {
        assert!(matches!(rejected(ErrorCode::Connection), Verdict::TryAgain { .. }));
        assert!(matches!(rejected(ErrorCode::LateRegistration), Verdict::Refused { .. }));
    }
}
