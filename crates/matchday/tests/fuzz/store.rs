//! The store's file: with bytes changed in it, or with a log in it that somebody wrote anew under a chain that holds, every
//! command that reads it ends with a report or an error in one line.

use bolero::check;
use matchday_audit::export::export;
use matchday_audit::log_set::LogSet;
use matchday_audit::timeline::replay;
use matchday_audit::verify::verify_file;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use matchday_store::{Direction, Exchange, Store, StoreError};
use matchday_testkit::event_lines;
use matchday_testkit::mutation::mutated;
use std::fs;
use std::path::Path;

/// How many random inputs an ordinary test takes, beside its corpus: about a second of them.
const RUNS: usize = 100;

/// A league of two, as its manager, its referee and a player of it kept it.
const STREAMS: [(&str, &str); 3] = [
    (
        "league",
        include_str!("../../../core/tests/fuzz/league.jsonl"),
    ),
    (
        "referee/8001",
        include_str!("../../../core/tests/fuzz/referee.jsonl"),
    ),
    (
        "player/8101",
        include_str!("../../../core/tests/fuzz/player.jsonl"),
    ),
];

fn streams() -> Vec<(&'static str, Vec<String>)> {
    STREAMS
        .iter()
        .map(|(name, log)| (*name, log.lines().map(str::to_owned).collect()))
        .collect()
}

/// What the referee asked a player.
fn exchange(request: &str) -> Exchange {
    let at = Timestamp::from_micros(1_794_737_760_400_000);
    Exchange {
        at,
        connected_at: Some(at),
        first_byte_at: Some(at),
        deadline_at: None,
        done_at: Some(at),
        agent: "REF01".into(),
        direction: Direction::Out,
        peer: "http://localhost:8101/mcp".into(),
        message_type: "CHOOSE_PARITY_CALL".into(),
        conversation_id: ConversationId::new("conv-1"),
        match_id: Some(MatchId::new("R1M1")),
        request: request.to_owned(),
        answer: Some(
            r#"{"result":{"message_type":"CHOOSE_PARITY_RESPONSE","parity_choice":"even"}}"#
                .to_owned(),
        ),
        outcome: "answered".into(),
        error_code: None,
    }
}

/// A store that was spoiled may refuse it, but must say so.
fn append(store: &Store, name: &str, lines: Vec<String>, exchanges: Vec<Exchange>) {
    exchanges
        .into_iter()
        .for_each(|exchange| store.record(exchange));
    let _verdict = event_lines::append(store, name, lines);
}

fn written(
    path: &Path,
    streams: Vec<(&str, Vec<String>)>,
    request: &str,
) -> Result<(), StoreError> {
    let store = Store::open(path).unwrap();
    for (name, lines) in streams {
        append(&store, name, lines, vec![exchange(request)]);
    }
    store.close()
}

/// Everything that is done with a store that may be anyone's.
fn examined(dir: &Path, path: &Path) {
    let said = |error: StoreError| {
        let said = error.to_string();
        assert!(
            !said.is_empty() && !said.contains('\n'),
            "an error in one line: {said}"
        );
    };
    match verify_file(path) {
        Ok(found) => assert!(!found.to_string().is_empty()),
        Err(error) => said(error),
    }
    match LogSet::open(&[path.into()]) {
        Ok(logs) => {
            let whole = replay(&logs, None);
            let matches = logs.matches();
            let each = matches.iter().map(|id| replay(&logs, Some(id)));
            each.chain([whole]).filter_map(Result::err).for_each(said);
            export(&logs, &dir.join("out")).map_or_else(said, drop);
        }
        Err(error) => said(error),
    }
}

#[test]
fn a_file_with_bytes_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    written(&path, streams(), "{}").unwrap();
    let good = fs::read(&path).unwrap();
    check!()
        .with_iterations(RUNS)
        .with_max_len(64)
        .for_each(|input: &[u8]| {
            let [kind, changes @ ..] = input else { return };
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("league.db");
            let mut bytes = good.clone();
            for change in changes.chunks_exact(4).take(usize::from(kind % 8) + 1) {
                let at =
                    u32::from_be_bytes([0, change[0], change[1], change[2]]) as usize % good.len();
                match kind / 8 {
                    0..24 => bytes[at] = change[3],
                    24..28 => bytes.truncate(at + 1),
                    _ => bytes.rotate_left(at % 4096 + 1),
                }
            }
            fs::write(&path, bytes).unwrap();
            if kind / 8 == 31 {
                fs::write(dir.path().join("league.db-wal"), changes).unwrap();
            }
            examined(dir.path(), &path);
            if let Ok(store) = Store::open(&path) {
                append(
                    &store,
                    "league",
                    vec![r#"{"v":1,"at":1,"event":{"type":"x"}}"#.to_owned()],
                    Vec::new(),
                );
                let _ = store.close();
            }
        });
}

#[test]
fn a_log_that_was_written_anew() {
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let [which, place, edits @ ..] = input else { return };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("league.db");
        let mut streams = streams();
        let mut request = "{}".to_owned();
        if usize::from(*which) % 8 == 7 {
            let good =
                [r#"{"params":{"message_type":"CHOOSE_PARITY_CALL","deadline":"2025-01-15T10:30:00Z"}}"#];
            request = String::from_utf8_lossy(&mutated(&good, edits)).into_owned();
        } else {
            let lines = &mut streams[usize::from(*which) % 3].1;
            let at = usize::from(*place) % lines.len();
            lines[at] = String::from_utf8_lossy(&mutated(&lines[at..=at], edits)).into_owned();
        }
        // What is no event at all is not taken, and the store then holds what came before it.
        let _ = written(&path, streams, &request);
        examined(dir.path(), &path);
    });
}
