//! Recorded exchanges, newest first, a page at a time. Reads the database.

use crate::error::StoreError;
use crate::exchange::Exchange;
use crate::reader::Reader;
use crate::reader::exchange;
use matchday_core::protocol::{MatchId, Timestamp};
use rusqlite::types::Value;
use smol_str::SmolStr;

/// The most records that one page scans: a filter that hardly any record matches must not scan all of them.
const LOOKED_AT_MAX: i64 = 20_000;

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
        let sql = format!(
            "SELECT message_type, at, done_at, answer IS NOT NULL FROM exchanges \
             WHERE league = {} AND match_id = ?1 AND direction = 'out' AND peer = ?2 ORDER BY at, id",
            self.league
        );
        self.all(&sql, [match_id.as_str(), endpoint], |row| {
            Ok(Call {
                message_type: row.get_ref(0)?.as_str()?.into(),
                at: Timestamp::from_micros(row.get(1)?),
                done_at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_micros),
                answered: row.get(3)?,
            })
        })
    }

    /// The calls for moves in all matches, with the match and the endpoint; at most `limit`, the newest.
    pub fn move_calls(&self, limit: usize) -> Result<Vec<(MatchId, String, Call)>, StoreError> {
        let sql = format!(
            "SELECT message_type, at, done_at, answer IS NOT NULL, match_id, peer FROM exchanges \
             WHERE league = {} AND direction = 'out' AND match_id IS NOT NULL \
             AND message_type IN ('CHOOSE_PARITY_CALL', 'GAME_MOVE_CALL') ORDER BY id DESC LIMIT {limit}",
            self.league
        );
        self.all(&sql, [], |row| {
            let call = Call {
                message_type: row.get_ref(0)?.as_str()?.into(),
                at: Timestamp::from_micros(row.get(1)?),
                done_at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_micros),
                answered: row.get(3)?,
            };
            Ok((MatchId::new(row.get_ref(4)?.as_str()?), row.get(5)?, call))
        })
    }

    /// The number of the record that the league made last; 0 if there is none.
    pub fn last_message(&self) -> Result<i64, StoreError> {
        self.number(&format!("SELECT max(id) FROM exchanges WHERE league = {}", self.league))
    }

    /// The number of the record that any league made last.
    pub(super) fn last_message_of_all(&self) -> Result<i64, StoreError> {
        self.number("SELECT max(id) FROM exchanges")
    }

    fn number(&self, sql: &str) -> Result<i64, StoreError> {
        let found = self.all(sql, [], |row| row.get::<_, Option<i64>>(0))?;
        Ok(found.into_iter().flatten().next().unwrap_or(0))
    }

    /// Up to `limit` messages that match the filter and the predicate `shown`.
    pub fn messages(
        &self,
        wanted: &MessageFilter,
        limit: usize,
        shown: impl Fn(&Exchange) -> bool,
    ) -> Result<Page, StoreError> {
        let newest = self.last_message()?;
        let before = wanted.before.unwrap_or(i64::MAX).clamp(0, newest + 1);
        let from = self.number(&format!(
            "SELECT min(id) FROM (SELECT id FROM exchanges WHERE league = {} AND id < {before} \
             ORDER BY id DESC LIMIT {LOOKED_AT_MAX})",
            self.league
        ))?;
        let mut sql = format!("{} AND id < ?1 AND id >= ?2", self.select_exchanges());
        let mut params = vec![Value::from(before), Value::from(from)];
        let fields = [
            ("conversation_id", &wanted.conversation_id),
            ("message_type", &wanted.message_type),
            ("match_id", &wanted.match_id),
        ];
        for (column, value) in fields {
            if let Some(value) = value {
                params.push(Value::from(value.clone()));
                sql.push_str(&format!(" AND {column} = ?{}", params.len()));
            }
        }
        if let Some(Agent { id, endpoint }) = &wanted.agent {
            params.extend([Value::from(id.clone()), Value::from(endpoint.clone())]);
            let (id, endpoint) = (params.len() - 1, params.len());
            sql.push_str(&format!(" AND (agent = ?{id} OR peer = ?{endpoint} OR direction = 'in')"));
        }
        sql.push_str(" ORDER BY id DESC");
        self.page(&sql, params, limit, shown, from)
    }

    /// The messages that the league recorded after this one, each with its number, in their order.
    pub(super) fn exchanges_after(&self, id: i64, limit: usize) -> Result<Vec<(i64, Exchange)>, StoreError> {
        let sql = format!("{} AND id > {id} ORDER BY id LIMIT {limit}", self.select_exchanges());
        self.all(&sql, [], |row| Ok((row.get("id")?, exchange(row)?)))
    }

    fn has_messages_before(&self, id: i64) -> Result<bool, StoreError> {
        let sql = format!("SELECT max(id) FROM exchanges WHERE league = {} AND id < {id}", self.league);
        Ok(self.number(&sql)? > 0)
    }

    fn page(
        &self,
        sql: &str,
        params: Vec<Value>,
        limit: usize,
        shown: impl Fn(&Exchange) -> bool,
        from: i64,
    ) -> Result<Page, StoreError> {
        let failed = |error| StoreError::sql(self.path(), error);
        let mut statement = self.db.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(failed)?;
        let mut page = Page::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let id: i64 = row.get("id").map_err(failed)?;
            let exchange = exchange(row).map_err(failed)?;
            if !shown(&exchange) {
                continue;
            }
            if page.messages.len() == limit {
                page.next_before = page.messages.last().map(|(id, _)| *id);
                return Ok(page);
            }
            page.messages.push((id, exchange));
        }
        page.next_before = self.has_messages_before(from)?.then_some(from);
        Ok(page)
    }
}
