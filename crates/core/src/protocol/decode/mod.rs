//! Decodes JSON into a message, or into a rejection with path, rule and code.

mod envelope;
mod error;
mod game;
mod launch;
mod moves;
mod query;
mod reader;
mod registration;
mod result;
mod round;
mod rules;

pub use super::conformance::Conformance;
use super::envelope::{Envelope, Sender};
use super::error::ErrorCode;
use super::ids::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RoundId};
use super::json::Json;
use super::message::{Body, Message, MessageType};
pub use super::rejection::Rejection;
use super::time::Timestamp;
use reader::{Context, Read, Reader};
use std::fmt;

/// Decodes one message. `Err` is an invalid envelope; an invalid body is in [`Incoming::body`], because the receiver
/// authenticates the sender in between.
pub fn decode(value: impl Into<Json>, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    let value = value.into();
    let incoming = read(&value, reading)?;
    Ok(incoming.with_strict_reading(reading, |strict| read(&value, strict)))
}

fn read(value: &Json, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    let context = Context::new(value, reading);
    let reader = Reader::open(&context)?;
    let (message_type, envelope) = envelope::read(&reader)?;
    let body = read_body(message_type, &reader);
    Ok(Incoming {
        envelope,
        message_type,
        body,
        deviations: context.into_deviations(),
        strict: None,
    })
}

fn read_body(message_type: MessageType, r: &Reader<'_>) -> Read<Body> {
    use MessageType as M;
    Ok(match message_type {
        M::RefereeRegisterRequest => registration::referee_request(r)?.into(),
        M::RefereeRegisterResponse => registration::referee_response(r)?.into(),
        M::LeagueRegisterRequest => registration::player_request(r)?.into(),
        M::LeagueRegisterResponse => registration::player_response(r)?.into(),
        M::RoundAnnouncement => round::announcement(r)?.into(),
        M::RoundCompleted => round::completed(r)?.into(),
        M::LeagueCompleted => round::league_completed(r)?.into(),
        M::GameInvitation => game::invitation(r)?.into(),
        M::GameJoinAck => game::join_ack(r)?.into(),
        M::ChooseParityCall => moves::parity_call(r)?.into(),
        M::ChooseParityResponse => moves::parity_response(r)?.into(),
        M::GameMoveCall => moves::move_call(r)?.into(),
        M::GameMoveResponse => moves::move_response(r)?.into(),
        M::GameOver => game::over(r)?.into(),
        M::GameError => error::game_error(r)?.into(),
        M::MatchResultReport => result::report(r)?.into(),
        M::MatchResultAck => result::ack(r)?.into(),
        M::LeagueStandingsUpdate => result::standings_update(r)?.into(),
        M::LeagueQuery => query::query(r)?.into(),
        M::LeagueQueryResponse => query::response(r)?.into(),
        M::LeagueError => error::league_error(r)?.into(),
        M::StartLeague => launch::start(r)?.into(),
        M::LeagueOrder => launch::order(r)?.into(),
        M::LeagueStatus => launch::status(r)?.into(),
        M::MatchAssignment => launch::assignment(r)?.into(),
    })
}

/// The league; an answer that leaves it out means the one it was asked about.
fn league_id(r: &Reader<'_>) -> Read<LeagueId> {
    r.filled("league_id", rules::id(LeagueId::new), || {
        r.exchange()?.league_id.clone()
    })
}

/// The league of a message in which its receiver does not use it, so that any name will do.
fn unused_league_id(r: &Reader<'_>) -> Read<LeagueId> {
    r.filled("league_id", rules::id(LeagueId::new), || {
        Some(LeagueId::new("unknown"))
    })
}

/// The game; an agent that leaves it out plays the one that the protocol is made for.
fn game_type(r: &Reader<'_>) -> Read<GameType> {
    r.filled("game_type", rules::id(GameType::new), || {
        Some(GameType::even_odd())
    })
}

/// The match; an answer that leaves it out means the one it was asked about.
fn match_id(r: &Reader<'_>) -> Read<MatchId> {
    r.filled("match_id", rules::id(MatchId::new), || {
        r.exchange()?.match_id.clone()
    })
}

/// The player; an answer that leaves it out comes from the one who was asked.
fn player_id(r: &Reader<'_>) -> Read<PlayerId> {
    r.filled("player_id", rules::id(PlayerId::new), || {
        r.exchange()?.player_id.clone()
    })
}

/// The round in the name of the match: `R2M1`.
fn round_by_match(r: &Reader<'_>) -> Option<u32> {
    let (round, _) = r
        .value("match_id")?
        .as_str()?
        .strip_prefix('R')?
        .split_once('M')?;
    round.parse().ok().filter(|round| *round > 0)
}

/// The round of a report; where it is left out, the match's own name tells.
fn round_id(r: &Reader<'_>) -> Read<RoundId> {
    r.filled("round_id", rules::ordinal, || round_by_match(r))
        .map(RoundId)
}

/// The round of a message to an agent that can do without: some managers count from 0, or write `"ROUND_1"`.
fn unneeded_round_id(r: &Reader<'_>) -> Read<Option<RoundId>> {
    r.unneeded("round_id", rules::ordinal)
        .map(|round| round.map(RoundId))
}

/// The same where a round must be named: the match's name tells it, or the digits that came.
fn some_round_id(r: &Reader<'_>) -> Read<RoundId> {
    let digits = || {
        let text = r.value("round_id")?.as_str()?;
        let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok().filter(|round| *round > 0)
    };
    let otherwise = || round_by_match(r).or_else(digits).unwrap_or(1);
    r.replaced("round_id", rules::ordinal, otherwise)
        .map(RoundId)
}

/// A message with a valid envelope. Its body may be invalid: senders are authenticated first.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// Valid, but not authenticated: the receiver still has to check the token.
    pub envelope: Envelope,
    /// Known also when the body is invalid.
    pub message_type: MessageType,
    /// An invalid body is answered only after the sender is authenticated.
    pub body: Result<Body, Rejection>,
    /// What lenient decoding accepted; empty in strict decoding.
    pub deviations: Vec<Deviation>,
    /// Of a player's answer with deviations: what strict decoding makes of it. A referee of a strict league needs it, and
    /// learns only with the assignment of a match which league that is.
    pub strict: Option<Box<Result<Incoming, Rejection>>>,
}

impl Incoming {
    /// The message as a league of this conformance reads it.
    pub fn under(&self, conformance: Conformance) -> Result<&Self, &Rejection> {
        match (&self.strict, conformance) {
            (Some(strict), Conformance::Strict) => strict.as_ref().as_ref(),
            _ => Ok(self),
        }
    }

    /// With the strict reading beside the lenient one, where it is needed.
    pub(super) fn with_strict_reading(
        mut self,
        reading: &Reading<'_>,
        read: impl FnOnce(&Reading<'_>) -> Result<Self, Rejection>,
    ) -> Self {
        use MessageType as M;
        let answers_referee = matches!(
            self.message_type,
            M::GameJoinAck | M::ChooseParityResponse | M::GameMoveResponse
        );
        if answers_referee && !self.deviations.is_empty() {
            let strict = Reading {
                conformance: Conformance::Strict,
                ..reading.clone()
            };
            self.strict = Some(Box::new(read(&strict)));
        }
        self
    }
}

/// As the strictest reader gives a message that was never written down.
impl From<Message> for Incoming {
    fn from(message: Message) -> Self {
        Self {
            message_type: message.message_type(),
            envelope: message.envelope,
            body: Ok(message.body),
            deviations: Vec::new(),
            strict: None,
        }
    }
}

/// A deviation from the protocol that lenient decoding accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// What was done instead: `missing`, `alias`, `case`, `timestamp_form`, ...
    pub kind: DeviationKind,
    /// Where in the message, written as in [`Rejection::path`].
    pub path: String,
}

/// "missing sender", "alias choice".
impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DeviationKind::Missing => "missing",
            DeviationKind::Alias => "alias",
            DeviationKind::TimestampForm => "timestamp form",
            DeviationKind::OwnName => "own name",
            DeviationKind::Echoed => "echoed",
            DeviationKind::Mismatch => "mismatch",
            DeviationKind::Form => "form",
            DeviationKind::Future => "future",
        };
        write!(f, "{kind} {}", self.path)
    }
}

/// The ways in which a message may deviate and still be accepted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DeviationKind {
    /// A required field was left out, and derived.
    Missing,
    /// A field came under another name or in another form.
    Alias,
    /// A timestamp was UTC, but oddly written.
    TimestampForm,
    /// The agent names itself otherwise than we do.
    OwnName,
    /// An answer shows the token that the question showed, not the player's own.
    Echoed,
    /// An answer names another conversation than its question.
    Mismatch,
    /// A name or an endpoint came with control or invisible characters, and was taken without them.
    Form,
    /// A timestamp was in the future, and counted as now.
    Future,
}

/// How to decode one message: the mode, the time, and the exchange.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    /// Whether deviations are rejected, or accepted and recorded.
    pub conformance: Conformance,
    /// When the message arrived, for timestamps that are missing or in the future.
    pub now: Timestamp,
    /// Longer arrays are rejected; the size in bytes is checked before decoding.
    pub limits: Limits,
    /// The exchange that the message answers, if it came as an answer.
    pub exchange: Option<&'a Exchange>,
    /// Decode only the matches and the row of this player, if set: broadcasts are mostly about others.
    pub about: Option<&'a PlayerId>,
}

/// The exchange that a message answers: what lenient decoding fills in from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The agent that was called, as the sender of an answer that names none.
    pub peer: Sender,
    /// The conversation of the call.
    pub conversation_id: ConversationId,
    /// The league that the call was about, if it named one.
    pub league_id: Option<LeagueId>,
    /// The match that the call was about, if it named one.
    pub match_id: Option<MatchId>,
    /// The player that was called or that the call was about, if any.
    pub player_id: Option<PlayerId>,
}

/// Size limits of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of a whole HTTP body.
    pub message_bytes_max: usize,
    /// Of any array in a message, and of a JSON-RPC batch.
    pub array_len_max: usize,
}

impl Limits {
    /// For messages to a manager.
    pub const MANAGER: Self = Self {
        message_bytes_max: 10 * 1024,
        array_len_max: 100,
    };

    /// For messages to referees and players, which include long standings and rounds.
    pub const AGENT: Self = Self {
        message_bytes_max: 1024 * 1024,
        array_len_max: 10_000,
    };

    /// Checks the size of a message, before it is parsed.
    pub fn admit(&self, bytes: usize) -> Result<(), Rejection> {
        if bytes <= self.message_bytes_max {
            return Ok(());
        }
        Err(Rejection {
            code: ErrorCode::InvalidFormat,
            path: String::new(),
            expected: format!("at most {} bytes", self.message_bytes_max),
            came: format!("{bytes} bytes"),
            message_type: None,
            conversation_id: None,
        })
    }
}
