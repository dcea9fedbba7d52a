//! What was said, newest first, a page at a time: for whoever looks on while a league is played. Touches the database,
//! and changes nothing in it.

use super::error::StoreError;
use super::reader::exchange;
use super::{Exchange, Reader};
use matchday_core::protocol::{MatchId, Timestamp};
use rusqlite::types::Value;
use smol_str::SmolStr;

/// How many records are looked at for one page at most: a question that fits hardly any must not cost a look at all.
const LOOKED_AT_MAX: i64 = 20_000;

/// Which messages are wanted; all that is named must fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    pub conversation_id: Option<String>,
    pub message_type: Option<String>,
    pub match_id: Option<String>,
    /// Only those that this agent recorded, or that were sent to its endpoint, or received from anyone: whoever asks has
    /// to look who sent those.
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
    /// From where to go on, if there may be more.
    pub next_before: Option<i64>,
}

/// A call, without its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub message_type: SmolStr,
    pub at: Timestamp,
    pub done_at: Option<Timestamp>,
    pub answered: bool,
}

impl Reader {
    /// The calls that were made to `endpoint` in a match.
    pub fn calls_in(&self, match_id: &MatchId, endpoint: &str) -> Result<Vec<Call>, StoreError> {
        let sql = format!(
            "SELECT message_type, at, done_at, answer IS NOT NULL FROM exchanges \
             WHERE {} AND match_id = ?1 AND direction = 'out' AND peer = ?2 ORDER BY at, id",
            self.of_the_league()
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

    /// The number of the record that was made last; 0 if there is none.
    pub fn last_message(&self) -> Result<i64, StoreError> {
        let found = self.all("SELECT max(id) FROM exchanges", [], |row| row.get::<_, Option<i64>>(0))?;
        Ok(found.into_iter().flatten().next().unwrap_or(0))
    }

    /// Up to `limit` messages that fit, and that `shown` lets pass.
    pub fn messages(
        &self,
        wanted: &Wanted,
        limit: usize,
        shown: impl Fn(&Exchange) -> bool,
    ) -> Result<Page, StoreError> {
        let newest = self.last_message()?;
        let before = wanted.before.unwrap_or(i64::MAX).clamp(0, newest + 1);
        let from = (before - LOOKED_AT_MAX).max(0);
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
        page.next_before = (from > 1).then_some(from);
        Ok(page)
    }
}
