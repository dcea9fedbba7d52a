//! How an exchange with a peer ended: one type for the log, the metrics, the traces and the store. `Display` is the text that
//! the store keeps, and [`ExchangeOutcome::parse`] reads it back.

use crate::agent::{Answer, Content, Failure};
use crate::protocol::decode::Rejection;
use crate::protocol::messages::{LeagueError, RegisterStatus};
use crate::protocol::{Body, ErrorCode, MessageType};
use smol_str::{SmolStr, ToSmolStr};
use std::fmt;

/// What an exchange came to.
#[derive(Debug, Clone, PartialEq)]
pub enum ExchangeOutcome {
    /// A league message that is no error.
    Message(MessageType),
    /// GAME_ERROR, which is a message like any other but for its code.
    GameError(ErrorCode),
    /// The answer to a question that is not a league message.
    Data,
    /// "Received", where the protocol demands no answer.
    Received,
    /// A batch, whatever became of its parts.
    Batch,
    /// LEAGUE_ERROR, or a message that breaks a rule.
    Error {
        /// A code of the protocol, or a foreign one as the peer wrote it.
        code: ErrorCode,
        /// The error in words for people; absent where only the code was stored.
        text: Option<SmolStr>,
    },
    /// Something that is no JSON-RPC request.
    NotARequest,
    /// The request names a method that its receiver does not have.
    MethodNotFound,
    /// A request of the Model Context Protocol, by its HTTP status.
    Http {
        /// The status code of the response.
        status: u16,
        /// Whether the status is one of success.
        is_success: bool,
    },
    /// The agent stopped before it replied.
    Stopping,
    /// A call was answered by something that is no answer: an HTTP error, a page, broken JSON.
    Garbled(SmolStr),
    /// A call was not answered.
    Undelivered(Failure),
}

impl ExchangeOutcome {
    /// How we answered a request.
    pub fn of_reply(content: &Content) -> Self {
        match content {
            Content::Message(message) => Self::of_body(&message.body),
            Content::Data(_) => Self::Data,
            Content::Received => Self::Received,
        }
    }

    /// How a call of ours was answered.
    pub fn of_answer(answer: &Answer) -> Self {
        match answer {
            Answer::Message(Ok(incoming)) => match &incoming.body {
                Ok(Body::GameError(error)) => Self::GameError(error.error_code.clone()),
                Ok(body) => Self::of_body(body),
                Err(rejection) => Self::of_rejection(rejection),
            },
            Answer::Message(Err(rejection)) => Self::of_rejection(rejection),
            Answer::Received => Self::Received,
            Answer::NotUnderstood(what) | Answer::Garbled(what) => Self::Garbled(what.into()),
            Answer::Undelivered(failure) => Self::Undelivered(*failure),
        }
    }

    fn of_body(body: &Body) -> Self {
        let registration = match body {
            Body::LeagueError(error) => return Self::of_league_error(error),
            Body::LeagueRegisterResponse(response) => Some(&response.answer),
            Body::RefereeRegisterResponse(response) => Some(&response.answer),
            _ => None,
        };
        match registration.filter(|answer| answer.status == RegisterStatus::Rejected) {
            Some(answer) => Self::Error {
                // A foreign manager gives no code.
                code: answer.error_code.clone().unwrap_or(ErrorCode::InvalidState),
                text: Some(
                    answer
                        .reason
                        .clone()
                        .unwrap_or_default()
                        .escaped()
                        .to_smolstr(),
                ),
            },
            None => Self::Message(body.message_type()),
        }
    }

    fn of_league_error(error: &LeagueError) -> Self {
        let code = error.own_code();
        let described = Some(&error.error_description).filter(|text| text.raw() != code.code());
        let text = error.error_message.as_ref().or(described).cloned();
        Self::Error {
            text: Some(text.unwrap_or_default().escaped().to_smolstr()),
            code,
        }
    }

    fn of_rejection(rejection: &Rejection) -> Self {
        Self::Error {
            code: rejection.code.clone(),
            text: Some(rejection.sentence().into()),
        }
    }

    /// Whether the exchange served its purpose. A GAME_ERROR does: it is delivered as any message is.
    pub fn is_ok(&self) -> bool {
        match self {
            Self::Message(_) | Self::GameError(_) | Self::Data | Self::Received | Self::Batch => {
                true
            }
            Self::Http { is_success, .. } => *is_success,
            Self::Error { .. }
            | Self::NotARequest
            | Self::MethodNotFound
            | Self::Stopping
            | Self::Garbled(_)
            | Self::Undelivered(_) => false,
        }
    }

    /// The code of the protocol under which it is stored, if something went wrong.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Error { code, .. } | Self::GameError(code) => Some(code),
            Self::Garbled(_) => Some(&ErrorCode::InvalidFormat),
            Self::Undelivered(Failure::TimedOut) => Some(&ErrorCode::Timeout),
            Self::Undelivered(Failure::Ours) => Some(&ErrorCode::Internal),
            Self::Undelivered(_) => Some(&ErrorCode::Connection),
            Self::Message(_)
            | Self::Data
            | Self::Received
            | Self::Batch
            | Self::NotARequest
            | Self::MethodNotFound
            | Self::Http { .. }
            | Self::Stopping => None,
        }
    }

    /// The outcome without what is specific to one case: an address, an error of the system, a text of the peer.
    pub fn kind(&self) -> SmolStr {
        match self {
            // The first stores kept no code.
            Self::Error {
                code: ErrorCode::Foreign(code),
                ..
            } if code.is_empty() => MessageType::LeagueError.name().into(),
            Self::Error { code, .. } => code.to_smolstr(),
            Self::NotARequest
            | Self::Http {
                is_success: false, ..
            } => SmolStr::new_static("refused"),
            Self::Garbled(what) => what.split(':').next().unwrap_or_default().into(),
            other => other.to_smolstr(),
        }
    }

    /// Reads what a store keeps. Words that are none of ours tell of a call that was answered by something else.
    pub fn parse(stored: &str) -> Self {
        if let Some(kind) = MessageType::parse(stored) {
            return match kind {
                MessageType::LeagueError => Self::Error {
                    code: ErrorCode::Foreign(SmolStr::default()),
                    text: None,
                },
                kind => Self::Message(kind),
            };
        }
        if let Some(code) = leading_code(stored) {
            let text = stored.split_once(": ").map(|(_, text)| text.into());
            return Self::Error {
                code: ErrorCode::parse(code),
                text,
            };
        }
        match stored {
            "data" => Self::Data,
            "received" => Self::Received,
            "answered" => Self::Batch,
            "refused: not a request" => Self::NotARequest,
            "method not found" => Self::MethodNotFound,
            "stopping" => Self::Stopping,
            other => match Failure::ALL
                .into_iter()
                .find(|failure| failure.to_smolstr() == other)
            {
                Some(failure) => Self::Undelivered(failure),
                None => Self::Garbled(other.into()),
            },
        }
    }
}

/// `E003`, if the text begins with a code. Agents may have codes of their own.
fn leading_code(text: &str) -> Option<&str> {
    let word = text.split([' ', ':']).next()?;
    let digits = word.strip_prefix('E')?;
    (digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(word)
}

impl fmt::Display for ExchangeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(kind) => f.write_str(kind.name()),
            Self::GameError(_) => f.write_str(MessageType::GameError.name()),
            Self::Data => f.write_str("data"),
            Self::Received => f.write_str("received"),
            Self::Batch => f.write_str("answered"),
            Self::Error {
                code,
                text: Some(text),
            } => write!(f, "{code}: {text}"),
            Self::Error { code, text: None } => code.fmt(f),
            Self::NotARequest => f.write_str("refused: not a request"),
            Self::MethodNotFound => f.write_str("method not found"),
            Self::Http {
                status,
                is_success: true,
            } => write!(f, "HTTP {status}"),
            Self::Http {
                status,
                is_success: false,
            } => write!(f, "refused: HTTP {status}"),
            Self::Stopping => f.write_str("stopping"),
            Self::Garbled(what) => f.write_str(what),
            Self::Undelivered(failure) => failure.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::messages::{LeagueRegisterResponse, RegisterAnswer};
    use crate::protocol::{ConversationId, Envelope, Message, Sender, Timestamp};

    #[test]
    fn what_a_store_keeps_is_read_back() {
        let error = |text: Option<&str>| ExchangeOutcome::Error {
            code: ErrorCode::RateLimited,
            text: text.map(SmolStr::from),
        };
        let mut all = vec![
            ExchangeOutcome::Message(MessageType::GameJoinAck),
            ExchangeOutcome::Data,
            ExchangeOutcome::Received,
            ExchangeOutcome::Batch,
            error(None),
            error(Some("wait: a second")),
            ExchangeOutcome::NotARequest,
            ExchangeOutcome::MethodNotFound,
            ExchangeOutcome::Stopping,
            ExchangeOutcome::Garbled("HTTP 500: a page".into()),
        ];
        all.extend(Failure::ALL.map(ExchangeOutcome::Undelivered));
        for outcome in all {
            assert_eq!(ExchangeOutcome::parse(&outcome.to_string()), outcome);
        }
    }

    #[test]
    fn a_rejected_registration_is_an_error_with_its_reason() {
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some("League full".into()),
            league_id: None,
            match_tokens: None,
            manager_public_key: None,
            error_name: None,
            error_code: Some(ErrorCode::InvalidState),
            context: None,
        };
        let body = LeagueRegisterResponse {
            player_id: None,
            answer,
        };
        let envelope = Envelope::new(
            Sender::LeagueManager,
            Timestamp::EPOCH,
            ConversationId::new("conv"),
        );
        let outcome = ExchangeOutcome::of_reply(&Content::Message(Message::new(envelope, body)));
        assert!(!outcome.is_ok(), "so it is logged as a warning");
        assert_eq!(outcome.to_string(), "E008 INVALID_STATE: League full");
    }

    #[test]
    fn a_league_error_without_its_code_is_an_error() {
        assert!(!ExchangeOutcome::parse("LEAGUE_ERROR").is_ok());
        assert!(ExchangeOutcome::parse("GAME_ERROR").is_ok());
    }
}
