//! What a store does so that it can be read: the one trait of its reading side. All of a reader's queries see one moment.

use crate::batch::Stored;
use crate::chain::Hash;
use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::stream::Stream;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::{ConversationId, Timestamp};
use smol_str::SmolStr;
use std::fmt::Debug;
use std::path::Path;

/// The reading side of a store. Streams of no single league belong to each, except for the log of a service.
pub trait Read: Debug + Send {
    /// The number of the latest league; 1 if there is none.
    fn latest_league(&self) -> Result<u32, StoreError>;

    /// What is kept of every league beside its log, removed ones included.
    fn league_states(&self) -> Result<Vec<LeagueState>, StoreError>;

    /// The number, the manager's stream and the first line of every league, the first one first.
    fn leagues(&self) -> Result<Vec<(u32, Stream, String)>, StoreError>;

    /// The manager's stream of a league.
    fn manager_stream(&self, league: u32) -> Result<Option<Stream>, StoreError>;

    /// The streams of a league that have events, the manager's first, each with the number under which it is kept.
    fn streams(&self, league: u32) -> Result<Vec<(Stream, u32)>, StoreError>;

    /// How many events each stream of every league has, and the hash of the last, as they stand there.
    fn heads(&self) -> Result<Vec<StreamHead>, StoreError>;

    /// The number and the hash of a stream's last event.
    fn head(&self, league: u32, stream: &Stream) -> Result<Option<(u64, Hash)>, StoreError>;

    /// The events of a stream after the one with this number, as they stand there. What is not even text or a hash is read
    /// as something that cannot be right, so that the check of the chain can name the event.
    fn load(&self, league: u32, stream: &Stream, after: u64) -> Result<Vec<Stored>, StoreError>;

    /// The events of all streams of a league whose lines contain one of these texts, ordered by number.
    fn load_about(
        &self,
        league: u32,
        texts: [&str; 2],
    ) -> Result<Vec<(Stream, Stored)>, StoreError>;

    /// The exchanges of a league that a query names, each with its number.
    fn exchanges(
        &self,
        league: u32,
        query: &ExchangeQuery<'_>,
    ) -> Result<Vec<(i64, Exchange)>, StoreError>;

    /// How many exchanges are kept of a league, or of all if none is named.
    fn exchanges_count(&self, league: Option<u32>) -> Result<u64, StoreError>;

    /// The number of the exchange that a league recorded last; 0 if there is none.
    fn last_exchange(&self, league: u32) -> Result<i64, StoreError>;

    /// The number of the first of the last `count` exchanges of a league before this one; 0 if there is none.
    fn exchange_before(&self, league: u32, before: i64, count: u32) -> Result<i64, StoreError>;

    /// Every exchange of a league in the order in which they were stored, without bodies.
    fn exchange_times(&self, league: u32) -> Result<Vec<ExchangeTimes>, StoreError>;

    /// Exchanges without an answer or with an error, in the order in which they were stored.
    fn failed_exchanges(&self, league: u32) -> Result<Vec<FailedExchange>, StoreError>;

    /// How many bytes it takes, as far as that is known.
    fn bytes(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// An error if the store's own file, if it is one, does not hold together: also pages that no query happens to read.
    fn check_whole(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Copies the store's own file, if it is one, as it stands. Whether it is.
    fn copy_file(&self, _draft: &Path, _to: &Path) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// Which exchanges of a league are meant: all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExchangeQuery<'a> {
    pub match_id: Option<&'a str>,
    pub conversation_id: Option<&'a str>,
    pub message_type: Option<&'a str>,
    /// Those that the agent with this id recorded, that went to this endpoint, or that were received.
    pub agent: Option<(&'a str, &'a str)>,
    /// Those with a number from this one on, and before that one.
    pub from: Option<i64>,
    pub before: Option<i64>,
    pub order: ExchangeOrder,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExchangeOrder {
    /// By the time at which they began.
    #[default]
    Time,
    Number,
    NewestFirst,
}

impl ExchangeOrder {
    /// As SQL has it.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Time => " ORDER BY at, id",
            Self::Number => " ORDER BY id",
            Self::NewestFirst => " ORDER BY id DESC",
        }
    }
}

/// The columns of an exchange, in the order in which both databases read them.
pub(super) const EXCHANGE_COLUMNS: &str = "at, done_at, agent, direction, peer, message_type, conversation_id, match_id, request, answer, outcome, \
     connected_at, first_byte_at, deadline_at, error_code, id";

/// What a store keeps of a league beside its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeagueState {
    pub number: u32,
    /// How many bytes of requests and answers are kept.
    pub exchange_bytes: u64,
    /// When it is to be loaded: the epoch if it was loaded last.
    pub wake_at: Option<Timestamp>,
    /// Wholly: a crash may leave some of its rows, which are still to be removed.
    pub removed: bool,
}

/// The last event of a stream.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamHead {
    pub league: u32,
    pub stream: Stream,
    pub events: i64,
    pub hash: Vec<u8>,
}

/// An exchange without its bodies: there may be very many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeTimes {
    pub at: Timestamp,
    /// When the answer began to come, or was given.
    pub answered_at: Option<Timestamp>,
    pub done_at: Option<Timestamp>,
    pub direction: Direction,
    pub peer: SmolStr,
    pub message_type: SmolStr,
    pub match_id: Option<SmolStr>,
    pub answered: bool,
}

/// An exchange without an answer, or with an error.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedExchange {
    pub direction: Direction,
    pub message_type: SmolStr,
    pub conversation_id: ConversationId,
    pub outcome: ExchangeOutcome,
    pub answered: bool,
    /// The message that may name an error.
    pub error: Option<String>,
}
