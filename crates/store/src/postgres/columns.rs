//! Rows column by column, as `unnest` takes them: one statement inserts any number. Pure.

use crate::append::{EventRow, Head};
use crate::exchange::Exchange;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;

pub(super) type Params<'a, const N: usize> = [&'a (dyn tokio_postgres::types::ToSql + Sync); N];

/// Events column by column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) league: Vec<i32>,
    pub(super) stream: Vec<&'a str>,
    pub(super) seq: Vec<i64>,
    at: Vec<i64>,
    line: Vec<&'a str>,
    pub(super) hash: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(rows: impl Iterator<Item = &'a EventRow>) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.league.push(row.after.league.cast_signed());
            columns.stream.push(&row.stream.0);
            columns.seq.push(row.seq().cast_signed());
            columns.at.push(row.at.as_micros());
            columns.line.push(&row.line);
            columns.hash.push(&row.hash.0);
        }
        columns
    }

    /// The places of the events that these follow.
    pub(super) fn after(rows: &[&'a EventRow]) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.league.push(row.after.league.cast_signed());
            columns.stream.push(&row.stream.0);
            columns.seq.push(row.after.seq.cast_signed());
            columns.hash.push(&row.after.hash.0);
        }
        columns
    }

    /// The places of last events.
    pub(super) fn ends(ends: &'a [(u32, Stream, Head)]) -> Self {
        let mut columns = Self::default();
        for (_, stream, head) in ends {
            columns.league.push(head.league.cast_signed());
            columns.stream.push(&stream.0);
            columns.seq.push(head.seq.cast_signed());
            columns.hash.push(&head.hash.0);
        }
        columns
    }

    pub(super) fn params(&self) -> Params<'_, 6> {
        [
            &self.league,
            &self.stream,
            &self.seq,
            &self.at,
            &self.line,
            &self.hash,
        ]
    }
}

/// Exchanges column by column.
#[derive(Default)]
pub(super) struct ExchangeColumns<'a> {
    league: Vec<i32>,
    id: Vec<i64>,
    at: Vec<i64>,
    times: [Vec<Option<i64>>; 4],
    texts: [Vec<String>; 6],
    optional: [Vec<Option<String>>; 3],
    direction: Vec<&'a str>,
}

impl<'a> ExchangeColumns<'a> {
    pub(super) fn of(rows: &[(u32, i64, &'a Exchange)]) -> Self {
        let mut columns = Self::default();
        for (league, id, exchange) in rows {
            columns.league.push(league.cast_signed());
            columns.id.push(*id);
            columns.at.push(exchange.at.as_micros());
            columns.direction.push(exchange.direction.name());
            let times = [
                exchange.done_at,
                exchange.connected_at,
                exchange.first_byte_at,
                exchange.deadline_at,
            ];
            for (column, time) in columns.times.iter_mut().zip(times) {
                column.push(time.map(Timestamp::as_micros));
            }
            let texts = [
                exchange.agent.as_str(),
                exchange.peer.raw(),
                exchange.message_type.raw(),
                exchange.conversation_id.as_str(),
                &exchange.request,
                exchange.outcome.raw(),
            ];
            for (column, text) in columns.texts.iter_mut().zip(texts) {
                column.push(storable(text));
            }
            let optional = [
                exchange.match_id.as_ref().map(|id| id.as_str()),
                exchange.answer.as_deref(),
                exchange.error_code.as_deref(),
            ];
            for (column, text) in columns.optional.iter_mut().zip(optional) {
                column.push(text.map(storable));
            }
        }
        columns
    }

    pub(super) fn params(&self) -> Params<'_, 17> {
        let [done_at, connected_at, first_byte_at, deadline_at] = &self.times;
        let [agent, peer, message_type, conversation_id, request, outcome] = &self.texts;
        let [match_id, answer, error_code] = &self.optional;
        [
            &self.league,
            &self.id,
            &self.at,
            done_at,
            agent,
            &self.direction,
            peer,
            message_type,
            conversation_id,
            match_id,
            request,
            answer,
            outcome,
            connected_at,
            first_byte_at,
            deadline_at,
            error_code,
        ]
    }
}

/// A database keeps no zero byte in a text; others may have sent one. The sign for it takes its place.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}
