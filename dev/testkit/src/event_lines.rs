//! Events, streams and recorded exchanges to fill a store with, and ways to append them and wait.

use crate::eventually::eventually;
use matchday_core::event_codec;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use matchday_store::{
    Batch, Direction, Durability, Exchange, Store, StoreFailed, StoreStats, Stored, Stream, chain,
};
use std::sync::mpsc;
use std::time::Duration;

pub const BEGIN: Timestamp = Timestamp::from_micros(1_736_937_000_000_000);

/// A line that is an event of nobody in particular.
pub fn line(number: usize) -> String {
    event_codec::encode(
        BEGIN + Duration::from_micros(number as u64),
        &serde_json::json!({"number": number}),
    )
    .unwrap()
}

pub fn number_in(line: &str) -> usize {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value["event"]["number"].as_u64().unwrap() as usize
}

pub fn stream(name: &str) -> Stream {
    Stream(name.into())
}

/// The numbers of the lines that a stream has.
pub fn numbers(store: &Store, name: &str) -> Vec<usize> {
    store
        .load(&stream(name))
        .unwrap()
        .iter()
        .map(|stored| number_in(&stored.line))
        .collect()
}

pub fn until(store: &Store, there: impl Fn(&StoreStats) -> bool) {
    eventually("the store has come so far", || {
        let stats = store.stats();
        if there(&stats) { Ok(()) } else { Err(stats) }
    });
}

/// Appends lines, those of one time together, and waits for the verdicts. Without lines it waits for those before it.
pub fn append(store: &Store, name: &str, lines: Vec<String>) -> Result<(), StoreFailed> {
    let (tell, told) = mpsc::channel();
    let mut batches: Vec<&[String]> = lines
        .chunk_by(|one, next| time_of(one) == time_of(next))
        .collect();
    if batches.is_empty() {
        batches.push(&[]);
    }
    for lines in batches {
        let tell = tell.clone();
        store.append(Batch {
            at: lines.first().map_or(Timestamp::EPOCH, |line| time_of(line)),
            stream: stream(name),
            lines: lines.to_vec(),
            durability: Durability::Fsynced,
            awaited: true,
            then: Box::new(move |verdict| tell.send(verdict).unwrap()),
        });
    }
    drop(tell);
    told.iter().collect()
}

fn time_of(line: &str) -> Timestamp {
    event_codec::decode::<serde_json::Value>(line).map_or(Timestamp::EPOCH, |(at, _)| at)
}

/// Waits until everything is on disk, recorded exchanges included.
pub fn flush(store: &Store) -> Result<(), StoreFailed> {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(store.flush())
}

/// Appends, records, and waits until both are stored.
pub fn append_with(
    store: &Store,
    name: &str,
    lines: Vec<String>,
    exchanges: Vec<Exchange>,
) -> Result<(), StoreFailed> {
    append(store, name, lines)?;
    exchanges
        .into_iter()
        .for_each(|exchange| store.record(exchange));
    flush(store)
}

/// A call that nobody answered.
pub fn silence() -> Exchange {
    let after = |ms| BEGIN + Duration::from_millis(ms);
    Exchange {
        at: after(0),
        connected_at: Some(after(2)),
        first_byte_at: None,
        deadline_at: Some(after(5000)),
        done_at: Some(after(5000)),
        agent: "REF01".into(),
        direction: Direction::Out,
        peer: "http://localhost:8101/mcp".into(),
        message_type: "GAME_INVITATION".into(),
        conversation_id: ConversationId::new("conv-r1m1-001"),
        match_id: Some(MatchId::new("R1M1")),
        request: "{}".into(),
        answer: None,
        outcome: "no answer in time".into(),
        error_code: Some("E001".into()),
    }
}

/// The lines as they would stand in a store, with a chain that holds.
pub fn chained(name: &str, lines: &[String]) -> Vec<Stored> {
    let stream = stream(name);
    let mut hash = chain::genesis(&stream);
    let mut events = Vec::new();
    for (seq, line) in (1..).zip(lines) {
        hash = chain::link(&hash, &stream, seq, line);
        let (at, _) = event_codec::decode::<serde_json::Value>(line).unwrap();
        events.push(Stored {
            seq,
            at,
            line: line.clone(),
            hash,
        });
    }
    events
}
