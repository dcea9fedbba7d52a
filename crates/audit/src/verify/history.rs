//! Judges a history of what several processes asked one store for (`MATCHDAY_STORE_HISTORY`; its form is described in
//! `postgres/history.rs`) against the log that they left. Linear but for sorting. Pure, but for [`FinalLog::read`].
//!
//! - Every acknowledged append is in the log once and in order, and nothing is there that nobody appended.
//! - Each read saw a prefix of the log: nothing less than was acknowledged before it began, nothing more than was begun before it ended.
//! - An epoch of a league has one process; epochs do not overlap in the log; nothing was acknowledged that was begun after the epoch
//!   was superseded or released.
//!
//! A database that is killed may forget commits that were not synchronous, though they were `done`: nobody was told of them, and the
//! writer stores them again. Histories of such runs are not for this checker.

use matchday_store::StoreUrl;
use matchday_store::chain::Hash;
use matchday_store::error::StoreError;
use matchday_store::open::Target;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

type StreamKey = (u32, String);

/// The hash of every event in a store, by league and stream, in order.
#[derive(Debug, Clone, Default)]
pub struct FinalLog(pub BTreeMap<StreamKey, Vec<Hash>>);

impl FinalLog {
    pub fn read(store: impl Into<StoreUrl>) -> Result<Self, StoreError> {
        let target = Target::of(store)?;
        let rows = target.read()?;
        let mut streams = BTreeMap::new();
        for head in rows.heads()? {
            let events = rows.load(head.league, &head.stream, 0)?;
            if (1..).zip(&events).any(|(seq, event)| event.seq != seq) {
                let what = format!(
                    "the numbers of the stream {} of league {} have a gap",
                    head.stream.0, head.league
                );
                return Err(StoreError::Damaged {
                    store: target.name().clone(),
                    what,
                });
            }
            let hashes = events.iter().map(|event| event.hash).collect();
            streams.insert((head.league, head.stream.0.to_string()), hashes);
        }
        Ok(Self(streams))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Op {
    Append,
    ReadHead,
    Take,
    Release,
    Renew,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Invoked,
    Done,
    Refused,
    Unknown,
}

#[derive(Debug, Clone, Deserialize)]
struct Line {
    at_us: u64,
    process: String,
    id: u64,
    op: Op,
    phase: Phase,
    league: Option<u32>,
    stream: Option<String>,
    from: Option<u64>,
    to: Option<u64>,
    hash: Option<String>,
    epoch: Option<i64>,
}

/// One part of an operation, with its times. An operation that never ended, as its process died, is unknown.
#[derive(Debug)]
struct Part {
    line: Line,
    began_us: u64,
    ended_us: u64,
    outcome: Phase,
}

/// What was judged, and what was wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryReport {
    pub appends: usize,
    /// Of them, those whose outcome the process did not learn.
    pub unknown: usize,
    pub refused: usize,
    pub reads: usize,
    pub takes: usize,
    pub faults: Vec<String>,
}

/// Judges the lines of a history against the log that is left.
pub fn check_history(text: &str, log: &FinalLog) -> HistoryReport {
    let mut report = HistoryReport::default();
    let parts = parts(text, &mut report.faults);
    let of = |op: Op| parts.iter().filter(move |part| part.line.op == op);
    let (appends, reads): (Vec<&Part>, Vec<&Part>) =
        (of(Op::Append).collect(), of(Op::ReadHead).collect());
    let count = |outcome: Phase| {
        appends
            .iter()
            .filter(|part| part.outcome == outcome)
            .count()
    };
    (report.appends, report.unknown, report.refused) =
        (appends.len(), count(Phase::Unknown), count(Phase::Refused));
    (report.reads, report.takes) = (
        reads.len(),
        of(Op::Take)
            .filter(|part| part.line.league.is_some())
            .count(),
    );
    let mut streams: BTreeMap<StreamKey, (Vec<&Part>, Vec<&Part>)> = BTreeMap::new();
    for part in appends.iter().chain(&reads) {
        let (Some(league), Some(stream)) = (part.line.league, &part.line.stream) else {
            continue;
        };
        let (appends, reads) = streams.entry((league, stream.clone())).or_default();
        if part.line.op == Op::Append {
            appends.push(part)
        } else {
            reads.push(part)
        }
    }
    for key in log.0.keys() {
        streams.entry(key.clone()).or_default();
    }
    for (key, (mut appends, reads)) in streams {
        let hashes = log.0.get(&key).map(Vec::as_slice).unwrap_or_default();
        appends.sort_by_key(|part| (part.line.from, part.began_us));
        check_appends(&key, &appends, hashes, &mut report.faults);
        check_reads(&key, &appends, &reads, hashes, &mut report.faults);
    }
    let epochs: Vec<&Part> = parts
        .iter()
        .filter(|part| part.line.epoch.is_some())
        .collect();
    check_epochs(&epochs, &mut report.faults);
    report
}

/// Operations with their beginnings and ends put together.
fn parts(text: &str, faults: &mut Vec<String>) -> Vec<Part> {
    // When each operation began, and the parts of it that have not ended.
    let mut begun: HashMap<(String, u64), (u64, Vec<Line>)> = HashMap::new();
    let mut parts = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let line: Line = match serde_json::from_str(text) {
            Ok(line) => line,
            Err(error) => {
                faults.push(format!("line {number} cannot be read: {error}"));
                continue;
            }
        };
        let key = (line.process.clone(), line.id);
        if line.phase == Phase::Invoked {
            begun
                .entry(key)
                .or_insert((line.at_us, Vec::new()))
                .1
                .push(line);
            continue;
        }
        let Some((began_us, unended)) = begun.get_mut(&key) else {
            faults.push(format!(
                "line {number}: an operation ends that did not begin"
            ));
            continue;
        };
        unended.retain(|begun| (begun.league, &begun.stream) != (line.league, &line.stream));
        parts.push(Part {
            began_us: *began_us,
            ended_us: line.at_us,
            outcome: line.phase,
            line,
        });
    }
    let unended = begun
        .into_values()
        .flat_map(|(began_us, lines)| lines.into_iter().map(move |line| (began_us, line)));
    parts.extend(unended.map(|(began_us, line)| Part {
        began_us,
        ended_us: u64::MAX,
        outcome: Phase::Unknown,
        line,
    }));
    parts
}

fn hash_at(hashes: &[Hash], seq: u64) -> Option<String> {
    let place = usize::try_from(seq.checked_sub(1)?).ok()?;
    hashes.get(place).map(|hash| hex::encode(hash.0))
}

/// `appends` are in the order of their places.
fn check_appends(key: &StreamKey, appends: &[&Part], hashes: &[Hash], faults: &mut Vec<String>) {
    let (league, stream) = key;
    let named = |part: &Part| {
        let from = part.line.from.unwrap_or_default();
        let to = part.line.to.unwrap_or_default();
        format!(
            "events {from} to {to} of {stream}, league {league}, by {}",
            part.line.process
        )
    };
    let mut acknowledged_to = 0;
    let mut covered_to = 0;
    let mut epoch = None;
    for part in appends {
        let (Some(from), Some(to)) = (part.line.from, part.line.to) else {
            continue;
        };
        // The hash of the last holds all before it.
        let stored = hash_at(hashes, to).is_some() && hash_at(hashes, to) == part.line.hash;
        if part.outcome == Phase::Done {
            if !stored {
                faults.push(format!(
                    "lost: {} were acknowledged, and the log has others or none there",
                    named(part)
                ));
            }
            if from <= acknowledged_to {
                faults.push(format!(
                    "doubled: {} were acknowledged after others at these places",
                    named(part)
                ));
            }
            acknowledged_to = acknowledged_to.max(to);
        }
        if part.outcome == Phase::Refused || !stored {
            continue;
        }
        if from > covered_to + 1 {
            faults.push(format!(
                "events {} to {} of {stream}, league {league}, were appended by nobody",
                covered_to + 1,
                from - 1
            ));
        }
        if part.line.epoch < epoch {
            faults.push(format!(
                "epochs overlap: {} have an epoch before that of earlier events",
                named(part)
            ));
        }
        (covered_to, epoch) = (covered_to.max(to), epoch.max(part.line.epoch));
    }
    if (covered_to as usize) < hashes.len() {
        let last = hashes.len();
        faults.push(format!(
            "events {} to {last} of {stream}, league {league}, were appended by nobody",
            covered_to + 1
        ));
    }
}

fn check_reads(
    key: &StreamKey,
    appends: &[&Part],
    reads: &[&Part],
    hashes: &[Hash],
    faults: &mut Vec<String>,
) {
    let (league, stream) = key;
    let mut ended: Vec<(u64, u64)> = appends
        .iter()
        .filter(|part| part.outcome == Phase::Done)
        .map(|part| (part.ended_us, part.line.to.unwrap_or_default()))
        .collect();
    let mut begun: Vec<(u64, u64)> = appends
        .iter()
        .filter(|part| part.outcome != Phase::Refused)
        .map(|part| (part.began_us, part.line.to.unwrap_or_default()))
        .collect();
    [&mut ended, &mut begun]
        .into_iter()
        .for_each(|times| times.sort_unstable());
    // The furthest place up to each time.
    for times in [&mut ended, &mut begun] {
        let mut most = 0;
        for (_, to) in times.iter_mut() {
            most = most.max(*to);
            *to = most;
        }
    }
    let until = |times: &[(u64, u64)], at: u64| {
        let before = times.partition_point(|(time, _)| *time < at);
        before
            .checked_sub(1)
            .and_then(|place| times.get(place))
            .map_or(0, |(_, to)| *to)
    };
    for read in reads.iter().filter(|read| read.outcome == Phase::Done) {
        let to = read.line.to.unwrap_or_default();
        let by = &read.line.process;
        if to > 0 && hash_at(hashes, to) != read.line.hash {
            faults.push(format!(
                "{by} read event {to} of {stream}, league {league}, that is not in the log"
            ));
        }
        let least = until(&ended, read.began_us);
        if to < least {
            faults.push(format!(
                "stale: {by} read {to} events of {stream}, league {league}, when {least} were acknowledged"
            ));
        }
        let most = until(&begun, read.ended_us);
        if to > most {
            faults.push(format!(
                "{by} read {to} events of {stream}, league {league}, when {most} had been begun"
            ));
        }
    }
}

/// One process an epoch; nothing acknowledged that was begun after the epoch was over.
fn check_epochs(parts: &[&Part], faults: &mut Vec<String>) {
    let mut holders: HashMap<(u32, i64), &str> = HashMap::new();
    // When the latest epoch of each league was certainly taken, by time; and when an epoch was certainly released.
    let mut taken: BTreeMap<u32, Vec<(u64, i64)>> = BTreeMap::new();
    let mut released: HashMap<(u32, i64), u64> = HashMap::new();
    for part in parts {
        let (Some(league), Some(epoch)) = (part.line.league, part.line.epoch) else {
            continue;
        };
        // An append that was refused may have named an epoch that is not its own.
        if part.outcome == Phase::Refused
            || part.line.op == Op::Append && part.outcome != Phase::Done
        {
            continue;
        }
        let holder = holders.entry((league, epoch)).or_insert(&part.line.process);
        if *holder != part.line.process {
            faults.push(format!(
                "two writers: epoch {epoch} of league {league} was that of {holder} and of {}",
                part.line.process
            ));
        }
        match (part.line.op, part.outcome) {
            (Op::Take, Phase::Done) => taken
                .entry(league)
                .or_default()
                .push((part.ended_us, epoch)),
            (Op::Release, Phase::Done) => drop(released.insert((league, epoch), part.ended_us)),
            _ => {}
        }
    }
    for times in taken.values_mut() {
        times.sort_unstable();
        let mut latest = i64::MIN;
        for (_, epoch) in times {
            latest = latest.max(*epoch);
            *epoch = latest;
        }
    }
    for part in parts
        .iter()
        .filter(|part| part.line.op == Op::Append && part.outcome == Phase::Done)
    {
        let (Some(league), Some(epoch)) = (part.line.league, part.line.epoch) else {
            continue;
        };
        let times = taken.get(&league).map(Vec::as_slice).unwrap_or_default();
        let before = times.partition_point(|(at, _)| *at < part.began_us);
        let latest = before
            .checked_sub(1)
            .and_then(|place| times.get(place))
            .map(|(_, epoch)| *epoch);
        let superseded = latest.filter(|latest| *latest > epoch);
        let over = released
            .get(&(league, epoch))
            .filter(|at| **at < part.began_us);
        if superseded.is_some() || over.is_some() {
            let by = &part.line.process;
            faults.push(format!(
                "fenced: {by} was acknowledged an append to league {league} under epoch {epoch}, which was over before it began"
            ));
        }
    }
}
