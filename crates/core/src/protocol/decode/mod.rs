//! The one way in: any JSON becomes a message, or a rejection that says what was wrong, where, and by which rule.

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

use super::envelope::{Envelope, Sender};
use super::error::ErrorCode;
use super::ids::{ConversationId, LeagueId, MatchId, PlayerId, RoundId};
use super::json::Json;
use super::message::{Body, MessageType};
use super::time::Timestamp;
use super::untrusted::UntrustedText;
use reader::{Context, Read, Reader};
use std::fmt;

/// Reads one message. `Err` is a fault of the envelope; a fault of the body stands in [`Incoming::body`], because
/// whoever receives it checks the sender's token in between.
pub fn decode<'v>(value: impl Into<Json<'v>>, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    let value = value.into();
    let context = Context::new(&value, reading);
    let reader = Reader::open(&context)?;
    let (message_type, envelope) = envelope::read(&reader)?;
    let body = read_body(message_type, &reader);
    Ok(Incoming { envelope, message_type, body, deviations: context.into_deviations() })
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
    r.filled("league_id", rules::id(LeagueId::new), || r.exchange()?.league_id.clone())
}

/// The match; an answer that leaves it out means the one it was asked about.
fn match_id(r: &Reader<'_>) -> Read<MatchId> {
    r.filled("match_id", rules::id(MatchId::new), || r.exchange()?.match_id.clone())
}

/// The player; an answer that leaves it out comes from the one who was asked.
fn player_id(r: &Reader<'_>) -> Read<PlayerId> {
    r.filled("player_id", rules::id(PlayerId::new), || r.exchange()?.player_id.clone())
}

/// The round of a match message; where it is left out, the match's own name tells: `R2M1`.
fn round_id(r: &Reader<'_>) -> Read<RoundId> {
    let by_match = || {
        let (round, _) = r.value("match_id")?.as_str()?.strip_prefix('R')?.split_once('M')?;
        round.parse().ok().filter(|round| *round > 0)
    };
    r.filled("round_id", rules::ordinal, by_match).map(RoundId)
}

/// How strictly content is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conformance {
    /// The message catalogue to the letter.
    #[default]
    Strict,
    /// What some source or a widely used agent omits is filled in, and the omission recorded.
    Lenient,
}

/// A message whose envelope is in order. Its body may not be: senders are checked before bodies are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    pub envelope: Envelope,
    pub message_type: MessageType,
    pub body: Result<Body, Rejection>,
    pub deviations: Vec<Deviation>,
}

/// Why a message, or a part of it, is not taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {}", self.sentence())]
pub struct Rejection {
    pub code: ErrorCode,
    /// Where: `player_meta.display_name`, `matches[1].match_id`; empty for the message as a whole.
    pub path: String,
    /// What the rule asks for, in words that finish "expected ...".
    pub expected: String,
    /// What was there instead, shortened.
    pub came: String,
    /// What the message called itself, if it did.
    pub message_type: Option<UntrustedText>,
    /// Its conversation, if it named one, so that the answer can stay in it.
    pub conversation_id: Option<ConversationId>,
}

impl Rejection {
    /// For people: what was wrong, where, and what should have been there.
    pub fn sentence(&self) -> String {
        let (path, expected, came) = (&self.path, &self.expected, &self.came);
        if path.is_empty() {
            format!("the message: expected {expected}, got {came}")
        } else {
            format!("{path}: expected {expected}, got {came}")
        }
    }
}

/// A departure from the rules that the lenient reading let pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// What was done instead: `missing`, `alias`, `case`, `timestamp_form`, ...
    pub kind: DeviationKind,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
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
    /// A timestamp lay in our future, and counted as now.
    Future,
}

/// How to read one message: the mode, the time, and what is already known about who sends it.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    pub conformance: Conformance,
    pub now: Timestamp,
    pub limits: Limits,
    /// The exchange that the message answers, if it came as an answer.
    pub exchange: Option<&'a Exchange>,
    /// Whose matches and whose place in the table alone are read, if the reader cares for nobody else's: what is told to
    /// everyone is mostly about others.
    pub about: Option<&'a PlayerId>,
}

/// What we asked, where a message comes back as the answer: enough to fill in what a lenient reading may miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub peer: Sender,
    pub conversation_id: ConversationId,
    pub league_id: Option<LeagueId>,
    pub match_id: Option<MatchId>,
    pub player_id: Option<PlayerId>,
}

/// Bounds on what is read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub message_bytes_max: usize,
    pub array_len_max: usize,
}

impl Limits {
    /// What a manager reads of agents it does not know.
    pub const MANAGER: Self = Self { message_bytes_max: 10 * 1024, array_len_max: 100 };

    /// What referees and players read of their league: its full table and its rounds may be long.
    pub const AGENT: Self = Self { message_bytes_max: 1024 * 1024, array_len_max: 10_000 };

    /// Whether a message of so many bytes is read at all. To be asked before it is parsed.
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
