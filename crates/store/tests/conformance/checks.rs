//! The checks, each on an empty store.

use super::Fixture;
use matchday_core::protocol::{MatchId, Timestamp};
use matchday_store::append::{AppendError, EventRow, Head, Transaction};
use matchday_store::read::{ExchangeOrder, ExchangeQuery};
use matchday_store::{Direction, Exchange, chain};
use matchday_testkit::event_lines::{BEGIN, line, silence, stream};
use std::time::Duration;

pub(super) type Check = fn(&dyn Fixture);

pub(super) const CHECKS: &[(&str, Check)] = &[
    (
        "events are read in the order of their numbers",
        events_are_read_in_order,
    ),
    (
        "an event is appended only after the last of its stream",
        an_event_is_appended_only_after_the_last,
    ),
    (
        "what is refused leaves nothing behind",
        what_is_refused_leaves_nothing_behind,
    ),
    (
        "leagues share a commit and nothing else",
        leagues_share_a_commit_and_nothing_else,
    ),
    ("a reader sees one moment", a_reader_sees_one_moment),
    (
        "a store goes on where it was closed",
        a_store_goes_on_where_it_was_closed,
    ),
    (
        "exchanges are found by what they are about",
        exchanges_are_found,
    ),
    (
        "exchanges are numbered and counted by league",
        exchanges_are_counted_by_league,
    ),
    ("text that others sent is kept", text_of_others_is_kept),
    ("a league that is removed is gone", a_removed_league_is_gone),
    ("it is known when a league is to be loaded", wake_at_is_kept),
    (
        "long events and long transactions are stored",
        long_ones_are_stored,
    ),
];

/// Lines at the end of a stream of a league.
fn rows(league: u32, name: &str, after: Option<Head>, lines: &[String]) -> Vec<EventRow> {
    let stream = stream(name);
    let mut after = after.unwrap_or(Head {
        league,
        seq: 0,
        hash: chain::genesis(&stream),
    });
    let row = |(number, line): (usize, &String)| {
        let hash = chain::link(&after.hash, &stream, after.seq + 1, line);
        let at = BEGIN + Duration::from_micros(number as u64);
        let row = EventRow {
            league,
            after,
            stream: stream.clone(),
            at,
            line: line.clone(),
            hash,
        };
        after = row.head();
        row
    };
    lines.iter().enumerate().map(row).collect()
}

fn events(events: Vec<EventRow>) -> Transaction {
    Transaction {
        events,
        ..Transaction::default()
    }
}

fn lines(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(line).collect()
}

fn events_are_read_in_order(store: &dyn Fixture) {
    let mut log = store.append();
    let first = rows(1, "league", None, &lines(0..3));
    let second = rows(1, "league", first.last().map(EventRow::head), &lines(3..5));
    log.commit(&events(first.clone()), false).unwrap();
    log.commit(&events(second.clone()), true).unwrap();
    log.sync().unwrap();
    let read = store.read();
    let stored = read.load(1, &stream("league"), 0).unwrap();
    let expected: Vec<_> = first.iter().chain(&second).collect();
    assert_eq!(stored.len(), 5);
    for (stored, row) in stored.iter().zip(expected) {
        assert_eq!(
            (stored.seq, stored.at, &stored.line, stored.hash),
            (row.seq(), row.at, &row.line, row.hash)
        );
    }
    let after: Vec<u64> = read
        .load(1, &stream("league"), 3)
        .unwrap()
        .iter()
        .map(|event| event.seq)
        .collect();
    assert_eq!(after, [4, 5]);
    assert_eq!(
        log.head(1, &stream("league")).unwrap(),
        second.last().map(EventRow::head)
    );
    assert_eq!(
        read.head(1, &stream("league")).unwrap().map(|(seq, _)| seq),
        Some(5)
    );
}

fn an_event_is_appended_only_after_the_last(store: &dyn Fixture) {
    let mut log = store.append();
    let stored = rows(1, "league", None, &lines(0..3));
    log.commit(&events(stored.clone()), true).unwrap();
    let taken = rows(1, "league", Some(stored[0].head()), &lines(9..10));
    let gap = rows(
        1,
        "league",
        Some(Head {
            seq: 7,
            ..stored[2].head()
        }),
        &lines(9..10),
    );
    let again = rows(1, "league", None, &lines(0..1));
    for wrong in [taken, gap, again] {
        let refused = log.commit(&events(wrong), true).unwrap_err();
        assert!(matches!(refused, AppendError::Refused(_)), "{refused:?}");
    }
    log.commit(
        &events(rows(1, "league", Some(stored[2].head()), &lines(3..4))),
        true,
    )
    .unwrap();
    assert_eq!(store.read().load(1, &stream("league"), 0).unwrap().len(), 4);
}

fn what_is_refused_leaves_nothing_behind(store: &dyn Fixture) {
    let mut log = store.append();
    let stored = rows(1, "league", None, &lines(0..1));
    log.commit(&events(stored.clone()), true).unwrap();
    let mut mixed = rows(2, "league", None, &lines(0..2));
    mixed.extend(stored);
    let refused = Transaction {
        events: mixed,
        wake_at: vec![(2, Some(BEGIN))],
        exchanges: vec![(2, silence())],
    };
    let refused = log.commit(&refused, true).unwrap_err();
    assert!(matches!(refused, AppendError::Refused(_)), "{refused:?}");
    let read = store.read();
    assert!(read.load(2, &stream("league"), 0).unwrap().is_empty());
    assert_eq!(read.exchanges_count(None).unwrap(), 0);
    assert_eq!(read.latest_league().unwrap(), 1);
}

fn leagues_share_a_commit_and_nothing_else(store: &dyn Fixture) {
    let mut log = store.append();
    let mut all = Vec::new();
    for league in 1..=20 {
        all.extend(rows(league, "league", None, &lines(0..2)));
        all.extend(rows(league, "referee/8001", None, &lines(0..1)));
    }
    log.commit(&events(all), true).unwrap();
    let read = store.read();
    assert_eq!(read.latest_league().unwrap(), 20);
    assert_eq!(read.leagues().unwrap().len(), 20);
    let streams: Vec<_> = read.streams(7).unwrap();
    assert_eq!(
        streams,
        [(stream("league"), 7), (stream("referee/8001"), 7)]
    );
    assert_eq!(read.manager_stream(7).unwrap(), Some(stream("league")));
    assert_eq!(read.heads().unwrap().len(), 40);
    assert_eq!(
        read.load_about(7, ["\"number\":1", "nowhere"])
            .unwrap()
            .len(),
        1
    );
}

fn a_reader_sees_one_moment(store: &dyn Fixture) {
    let mut log = store.append();
    let first = rows(1, "league", None, &lines(0..1));
    log.commit(&events(first.clone()), true).unwrap();
    let before = store.read();
    assert_eq!(
        before
            .head(1, &stream("league"))
            .unwrap()
            .map(|(seq, _)| seq),
        Some(1)
    );
    log.commit(
        &events(rows(1, "league", Some(first[0].head()), &lines(1..9))),
        true,
    )
    .unwrap();
    assert_eq!(before.load(1, &stream("league"), 0).unwrap().len(), 1);
    assert_eq!(store.read().load(1, &stream("league"), 0).unwrap().len(), 9);
}

fn a_store_goes_on_where_it_was_closed(store: &dyn Fixture) {
    let mut log = store.append();
    let first = rows(3, "player/8101", None, &lines(0..2));
    log.commit(&events(first.clone()), false).unwrap();
    log.sync().unwrap();
    drop(log);
    let mut log = store.append();
    let head = log.head(3, &stream("player/8101")).unwrap();
    assert_eq!(head, first.last().map(EventRow::head));
    log.commit(&events(rows(3, "player/8101", head, &lines(2..3))), true)
        .unwrap();
    assert_eq!(
        store
            .read()
            .load(3, &stream("player/8101"), 0)
            .unwrap()
            .len(),
        3
    );
    assert_eq!(log.head(3, &stream("player/8102")).unwrap(), None);
}

fn exchanges(league: u32, exchanges: Vec<Exchange>) -> Transaction {
    Transaction {
        exchanges: exchanges.into_iter().map(|one| (league, one)).collect(),
        ..Transaction::default()
    }
}

fn exchanges_are_found(store: &dyn Fixture) {
    let mut log = store.append();
    let told = |number: i64, match_id: &str, kind: &str| Exchange {
        at: Timestamp::from_micros(100 - number),
        message_type: kind.into(),
        match_id: Some(MatchId::new(match_id)),
        ..silence()
    };
    let all = vec![
        told(1, "R1M1", "PING"),
        told(2, "R1M2", "GAME_ERROR"),
        told(3, "R1M1", "PING"),
    ];
    log.commit(&exchanges(1, all.clone()), true).unwrap();
    let read = store.read();
    let find = |query: ExchangeQuery<'_>| -> Vec<Exchange> {
        read.exchanges(1, &query)
            .unwrap()
            .into_iter()
            .map(|(_, exchange)| exchange)
            .collect()
    };
    let by_time = find(ExchangeQuery::default());
    assert_eq!(by_time, [all[2].clone(), all[1].clone(), all[0].clone()]);
    let of_match = find(ExchangeQuery {
        match_id: Some("R1M2"),
        ..ExchangeQuery::default()
    });
    assert_eq!(of_match, [all[1].clone()]);
    let newest = ExchangeQuery {
        order: ExchangeOrder::NewestFirst,
        limit: Some(1),
        ..ExchangeQuery::default()
    };
    assert_eq!(find(newest), [all[2].clone()]);
    let pings = ExchangeQuery {
        message_type: Some("PING"),
        order: ExchangeOrder::Number,
        ..Default::default()
    };
    assert_eq!(find(pings), [all[0].clone(), all[2].clone()]);
    let nobodys = ExchangeQuery {
        agent: Some(("nobody", "nowhere")),
        ..ExchangeQuery::default()
    };
    assert_eq!(
        find(nobodys).len(),
        all.iter()
            .filter(|one| one.direction == Direction::In)
            .count()
    );
    assert_eq!(read.exchange_times(1).unwrap().len(), 3);
    assert_eq!(
        read.failed_exchanges(1).unwrap().len(),
        all.iter().filter(|one| one.answer.is_none()).count()
    );
    let last = read.last_exchange(1).unwrap();
    assert_eq!(read.exchange_before(1, last, 1).unwrap(), last - 1);
    assert_eq!(read.exchange_before(1, last + 1, 20).unwrap(), last - 2);
}

fn exchanges_are_counted_by_league(store: &dyn Fixture) {
    let mut log = store.append();
    let one = Exchange {
        request: "12345".to_owned(),
        answer: Some("678".to_owned()),
        ..silence()
    };
    log.commit(&exchanges(1, vec![one.clone(), one.clone()]), true)
        .unwrap();
    log.commit(&exchanges(2, vec![one.clone()]), true).unwrap();
    log.commit(&exchanges(1, vec![one]), true).unwrap();
    let read = store.read();
    let bytes: Vec<_> = read
        .league_states()
        .unwrap()
        .iter()
        .map(|state| (state.number, state.exchange_bytes))
        .collect();
    assert_eq!(bytes, [(1, 24), (2, 8)]);
    let counts = [Some(1), Some(2), None].map(|league| read.exchanges_count(league).unwrap());
    assert_eq!(counts, [3, 1, 4]);
}

fn text_of_others_is_kept(store: &dyn Fixture) {
    let mut log = store.append();
    let odd = Exchange {
        request: "a\0b \u{202e} \"'\\ 雪".to_owned(),
        ..silence()
    };
    log.commit(&exchanges(1, vec![odd]), true).unwrap();
    let kept = store
        .read()
        .exchanges(1, &ExchangeQuery::default())
        .unwrap()
        .remove(0)
        .1;
    assert_eq!(
        kept.request.replace('\u{2400}', "\0"),
        "a\0b \u{202e} \"'\\ 雪"
    );
}

fn a_removed_league_is_gone(store: &dyn Fixture) {
    let mut log = store.append();
    log.commit(&events(rows(1, "league", None, &lines(0..3))), true)
        .unwrap();
    log.commit(&events(rows(2, "league", None, &lines(0..3))), true)
        .unwrap();
    log.commit(&exchanges(2, vec![silence()]), true).unwrap();
    while !log.remove(2).unwrap() {}
    let read = store.read();
    assert!(read.load(2, &stream("league"), 0).unwrap().is_empty());
    assert_eq!(
        (
            read.latest_league().unwrap(),
            read.exchanges_count(None).unwrap()
        ),
        (1, 0)
    );
    let removed: Vec<_> = read
        .league_states()
        .unwrap()
        .iter()
        .map(|state| state.removed)
        .collect();
    assert_eq!(removed, [false, true]);
    assert_eq!(read.load(1, &stream("league"), 0).unwrap().len(), 3);
}

fn wake_at_is_kept(store: &dyn Fixture) {
    let mut log = store.append();
    let wakes = |wake_at| Transaction {
        wake_at: vec![(4, wake_at)],
        ..Transaction::default()
    };
    log.commit(&wakes(Some(BEGIN)), true).unwrap();
    assert_eq!(
        store.read().league_states().unwrap()[0].wake_at,
        Some(BEGIN)
    );
    log.commit(&wakes(None), true).unwrap();
    assert_eq!(store.read().league_states().unwrap()[0].wake_at, None);
}

fn long_ones_are_stored(store: &dyn Fixture) {
    let mut log = store.append();
    let long = vec![format!(
        "{{\"v\":1,\"at\":1,\"event\":\"{}\"}}",
        "x".repeat(3 << 20)
    )];
    let first = rows(1, "league", None, &long);
    log.commit(&events(first.clone()), true).unwrap();
    log.commit(
        &events(rows(1, "league", Some(first[0].head()), &lines(0..3000))),
        true,
    )
    .unwrap();
    let stored = store.read().load(1, &stream("league"), 0).unwrap();
    assert_eq!((stored.len(), stored[0].line.len()), (3001, long[0].len()));
}
