//! Recorded exchanges, newest first, a page at a time. Reads the store.

use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::read::{ExchangeOrder, ExchangeQuery, ExchangeTimes};
use crate::reader::Reader;
use matchday_core::protocol::{MatchId, Timestamp};
use smol_str::SmolStr;

/// The most records that one page scans: a filter that hardly any record matches must not scan all of them.
const LOOKED_AT_MAX: u32 = 20_000;
/// The most records that are held at once while a page is filled.
const AT_ONCE_MAX: usize = 256;

/// Which messages to return: all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageFilter {
    pub conversation_id: Option<String>,
    pub message_type: Option<String>,
    pub match_id: Option<String>,
    /// Only those that this agent recorded, or that were sent to its endpoint, or received from anyone: the caller has to
    /// check who sent those.
    pub agent: Option<Agent>,
    /// Only those that were recorded before this one.
    pub before: Option<i64>,
}

/// How an agent is known in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: String,
    pub endpoint: String,
}

/// Some of the messages.
#[derive(Debug, Default)]
pub struct Page {
    /// Each with its number, newest first.
    pub messages: Vec<(i64, Exchange)>,
    /// The cursor of the next page, if there may be more.
    pub next_before: Option<i64>,
}

/// A call without its bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub message_type: SmolStr,
    pub at: Timestamp,
    pub done_at: Option<Timestamp>,
    pub answered: bool,
}

impl Call {
    /// How long the answer took, if there was one.
    pub fn took_ms(&self) -> Option<u32> {
        let done = self.done_at.filter(|_| self.answered)?;
        u32::try_from(done.since(self.at).as_millis()).ok()
    }
}

impl Reader {
    /// The calls that were made to `endpoint` in a match.
    pub fn calls_in(&self, match_id: &MatchId, endpoint: &str) -> Result<Vec<Call>, StoreError> {
        let made = self.exchanges_of(match_id)?.into_iter();
        let made =
            made.filter(|call| call.direction == Direction::Out && call.peer.raw() == endpoint);
        let call = |call: Exchange| Call {
            message_type: call.message_type.raw().into(),
            at: call.at,
            done_at: call.done_at,
            answered: call.answer.is_some(),
        };
        Ok(made.map(call).collect())
    }

    /// The calls for moves in all matches, with the match and the endpoint; at most `limit`, the newest.
    pub fn move_calls(&self, limit: usize) -> Result<Vec<(MatchId, String, Call)>, StoreError> {
        let asks = |times: &ExchangeTimes| {
            times.direction == Direction::Out
                && matches!(
                    times.message_type.as_str(),
                    "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL"
                )
        };
        let calls = self
            .exchange_times()?
            .into_iter()
            .rev()
            .filter(asks)
            .filter_map(|times| {
                let ExchangeTimes {
                    message_type,
                    at,
                    done_at,
                    answered,
                    match_id,
                    peer,
                    ..
                } = times;
                let call = Call {
                    message_type,
                    at,
                    done_at,
                    answered,
                };
                Some((MatchId::new(match_id?), peer.to_string(), call))
            });
        Ok(calls.take(limit).collect())
    }

    /// The number of the record that the league made last; 0 if there is none.
    pub fn last_message(&self) -> Result<i64, StoreError> {
        self.rows.last_exchange(self.league)
    }

    /// Up to `limit` messages that match the filter and the predicate `shown`.
    pub fn messages(
        &self,
        wanted: &MessageFilter,
        limit: usize,
        shown: impl Fn(&Exchange) -> bool,
    ) -> Result<Page, StoreError> {
        let newest = self.last_message()?;
        let mut before = wanted.before.unwrap_or(i64::MAX).clamp(0, newest + 1);
        let from = self
            .rows
            .exchange_before(self.league, before, LOOKED_AT_MAX)?;
        let mut page = Page::default();
        loop {
            let query = ExchangeQuery {
                match_id: wanted.match_id.as_deref(),
                conversation_id: wanted.conversation_id.as_deref(),
                message_type: wanted.message_type.as_deref(),
                agent: wanted
                    .agent
                    .as_ref()
                    .map(|agent| (agent.id.as_str(), agent.endpoint.as_str())),
                from: Some(from),
                before: Some(before),
                order: ExchangeOrder::NewestFirst,
                limit: Some(limit.saturating_add(1).min(AT_ONCE_MAX)),
            };
            let found = self.rows.exchanges(self.league, &query)?;
            let Some((last, _)) = found.last() else { break };
            before = *last;
            for (id, exchange) in found.into_iter().filter(|(_, exchange)| shown(exchange)) {
                if page.messages.len() == limit {
                    page.next_before = page.messages.last().map(|(id, _)| *id);
                    return Ok(page);
                }
                page.messages.push((id, exchange));
            }
        }
        let more = self.rows.exchange_before(self.league, from, 1)? > 0;
        page.next_before = more.then_some(from);
        Ok(page)
    }
}
