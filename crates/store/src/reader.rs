//! Reads a store: the events and exchanges of one of its leagues, as they were at one moment. Changes nothing.

use crate::batch::Stored;
use crate::chain::{self, Hash};
use crate::error::StoreError;
use crate::exchange::Exchange;
use crate::read::{ExchangeOrder, ExchangeQuery, LeagueState, Read, StreamHead};
use crate::store_url::StoreUrl;
use crate::stream::Stream;
use matchday_core::protocol::MatchId;
use std::collections::BTreeMap;

pub use crate::read::{ExchangeTimes, FailedExchange};

/// A store as it was when it was opened: what is appended afterwards is not seen.
#[derive(Debug)]
pub struct Reader {
    pub rows: Box<dyn Read>,
    url: StoreUrl,
    /// The number of the league that is looked at.
    pub league: u32,
}

impl Reader {
    /// For the latest league of a store.
    pub(super) fn new(rows: Box<dyn Read>, url: StoreUrl) -> Result<Self, StoreError> {
        let league = rows.latest_league()?;
        Ok(Self { rows, url, league })
    }

    pub fn url(&self) -> &StoreUrl {
        &self.url
    }

    /// How many bytes the whole store takes.
    pub fn bytes(&self) -> Result<u64, StoreError> {
        self.rows.bytes()
    }

    /// The streams that have events, the league's first.
    pub fn streams(&self) -> Result<Vec<Stream>, StoreError> {
        Ok(self
            .numbered_streams()?
            .into_iter()
            .map(|(stream, _)| stream)
            .collect())
    }

    /// Each with the number under which it is kept: the league's, or that of no single league.
    pub fn numbered_streams(&self) -> Result<Vec<(Stream, u32)>, StoreError> {
        let mut streams = self.rows.streams(self.league)?;
        streams.retain(|(stream, _)| !stream.is_private());
        Ok(streams)
    }

    /// How many events each stream of every league has, and the hash of the last, as they stand there.
    pub fn heads(&self) -> Result<Vec<StreamHead>, StoreError> {
        let mut heads = self.rows.heads()?;
        heads.retain(|head| !head.stream.is_private());
        Ok(heads)
    }

    /// The number and the hash of a stream's last event.
    pub fn head(&self, stream: &Stream) -> Result<Option<(u64, Hash)>, StoreError> {
        self.rows.head(self.league, stream)
    }

    /// What the store keeps of every league beside its log, removed ones included.
    pub fn league_states(&self) -> Result<Vec<LeagueState>, StoreError> {
        self.rows.league_states()
    }

    /// The events of a stream as they stand in the store, whatever their hashes say.
    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        self.load_after(stream, 0)
    }

    /// The events of a stream after the one with this number.
    pub fn load_after(&self, stream: &Stream, seq: u64) -> Result<Vec<Stored>, StoreError> {
        self.rows.load(self.league, stream, seq)
    }

    /// The events of all streams of the league whose lines contain one of these texts, in order.
    pub fn load_about(
        &self,
        texts: [&str; 2],
    ) -> Result<BTreeMap<Stream, Vec<Stored>>, StoreError> {
        let mut streams: BTreeMap<Stream, Vec<Stored>> = BTreeMap::new();
        let found = self.rows.load_about(self.league, texts)?;
        for (stream, event) in found.into_iter().filter(|(stream, _)| !stream.is_private()) {
            streams.entry(stream).or_default().push(event);
        }
        Ok(streams)
    }

    /// The events of a stream; an error if the chain does not hold.
    pub fn load_checked(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        let events = self.load(stream)?;
        let mut before = chain::genesis(stream);
        for (seq, event) in (1..).zip(&events) {
            if event.seq != seq || event.hash != chain::link(&before, stream, seq, &event.line) {
                let what = format!("event {} of {stream} is not what was stored", event.seq);
                return Err(StoreError::Damaged {
                    store: self.url.clone(),
                    what,
                });
            }
            before = event.hash;
        }
        Ok(events)
    }

    /// The exchanges that belong to a match of the league, in the order in which they began.
    pub fn exchanges_of(&self, match_id: &MatchId) -> Result<Vec<Exchange>, StoreError> {
        self.select(&ExchangeQuery {
            match_id: Some(match_id.as_str()),
            ..ExchangeQuery::default()
        })
    }

    /// Every exchange of the league, in the order in which they began.
    pub fn exchanges(&self) -> Result<Vec<Exchange>, StoreError> {
        self.select(&ExchangeQuery::default())
    }

    fn select(&self, query: &ExchangeQuery<'_>) -> Result<Vec<Exchange>, StoreError> {
        Ok(self
            .rows
            .exchanges(self.league, query)?
            .into_iter()
            .map(|(_, exchange)| exchange)
            .collect())
    }

    /// Those that the league recorded after this one, each with its number, in their order.
    pub fn exchanges_after(
        &self,
        id: i64,
        limit: usize,
    ) -> Result<Vec<(i64, Exchange)>, StoreError> {
        let from = Some(id.saturating_add(1));
        let order = ExchangeOrder::Number;
        self.rows.exchanges(
            self.league,
            &ExchangeQuery {
                from,
                order,
                limit: Some(limit),
                ..Default::default()
            },
        )
    }

    /// How many there are.
    pub fn exchanges_count(&self) -> Result<u64, StoreError> {
        self.rows.exchanges_count(Some(self.league))
    }

    /// When every exchange of the league began and ended, in the order in which they were stored, without bodies.
    pub fn exchange_times(&self) -> Result<Vec<ExchangeTimes>, StoreError> {
        self.rows.exchange_times(self.league)
    }

    /// The exchanges that failed: no answer came, or one side reported an error.
    pub fn failed_exchanges(&self) -> Result<Vec<FailedExchange>, StoreError> {
        self.rows.failed_exchanges(self.league)
    }
}
