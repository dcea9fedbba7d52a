//! What goes wrong with the network and its hosts, and when: drawn from a seed, and over again after a while.

use crate::sim_network::{LATENCY_MAX, MANAGER};
use matchday_core::entropy::Entropy;
use matchday_runtime::entropy_numbered;
use std::collections::BTreeSet;
use std::time::Duration;
use turmoil::Sim;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing passes between two hosts, and the caller is told so.
    Cut(String, String),
    /// Nothing passes from the first to the second.
    Mute(String, String),
    /// What is sent arrives when it is over.
    Stall(String, String),
    /// One message in ten is lost, and its connection with it.
    Lossy(String, String),
    /// Messages take so long that deadlines pass.
    Slow(String, String),
    /// The process dies, and is started again when it is over; what it has stored is still there.
    Crash(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    begins: Duration,
    ends: Duration,
}

/// Whom faults may befall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Everyone,
    /// The manager, the referees, and what lies between them.
    Officials,
}

/// When faults may begin, and how long they may last.
const BEGIN_WITHIN_MS: u64 = 400;
const LAST_MS: (u64, u64) = (100, 1_500);
const LOSS: f64 = 0.1;
const SLOW: Duration = Duration::from_millis(400);

/// The faults of a seed, between these players and referees.
pub(crate) fn drawn(
    seed: u64,
    reach: Reach,
    players: &[String],
    referees: &[String],
) -> Vec<Fault> {
    let mut chance = entropy_numbered(seed, "faults");
    let mut officials = vec![MANAGER.to_owned()];
    officials.extend_from_slice(referees);
    let mut faults: Vec<Fault> = Vec::new();
    for _ in 0..3 + chance.below(5) {
        let kind = kind(&mut chance, reach, &officials, players);
        // A host that is down cannot go down.
        if matches!(kind, Kind::Crash(_)) && faults.iter().any(|fault| fault.kind == kind) {
            continue;
        }
        let begins = Duration::from_millis(1 + chance.below(BEGIN_WITHIN_MS));
        let ends = begins + Duration::from_millis(LAST_MS.0 + chance.below(LAST_MS.1 - LAST_MS.0));
        faults.push(Fault { kind, begins, ends });
    }
    faults
}

fn kind(chance: &mut Entropy, reach: Reach, officials: &[String], players: &[String]) -> Kind {
    // Players have nothing to say to each other: every link has an official at one end.
    let one = pick(chance, officials);
    let others: Vec<String> = officials
        .iter()
        .chain(players.iter().filter(|_| reach == Reach::Everyone))
        .filter(|other| **other != one)
        .cloned()
        .collect();
    let other = pick(chance, &others);
    let (one, other) = if chance.chance(50) {
        (one, other)
    } else {
        (other, one)
    };
    match chance.below(6) {
        0 => Kind::Cut(one, other),
        1 => Kind::Mute(one, other),
        2 => Kind::Stall(one, other),
        3 => Kind::Lossy(one, other),
        4 => Kind::Slow(one, other),
        _ => Kind::Crash(one),
    }
}

fn pick(chance: &mut Entropy, from: &[String]) -> String {
    from[usize::try_from(chance.below(from.len() as u64)).unwrap()].clone()
}

/// Everyone whom one of the faults befalls.
pub(crate) fn touched(faults: &[Fault]) -> BTreeSet<&str> {
    let ends = faults.iter().flat_map(|fault| match &fault.kind {
        Kind::Cut(a, b)
        | Kind::Mute(a, b)
        | Kind::Stall(a, b)
        | Kind::Lossy(a, b)
        | Kind::Slow(a, b) => {
            vec![a.as_str(), b.as_str()]
        }
        Kind::Crash(host) => vec![host.as_str()],
    });
    ends.collect()
}

/// When the last of the faults is over.
pub(crate) fn over(faults: &[Fault]) -> Duration {
    faults
        .iter()
        .map(|fault| fault.ends)
        .max()
        .unwrap_or_default()
}

/// What has yet to happen, in order.
pub(crate) struct Agenda(Vec<(Duration, bool, Kind)>);

impl Agenda {
    pub(crate) fn of(faults: &[Fault]) -> Self {
        let begin = faults
            .iter()
            .map(|fault| (fault.begins, true, fault.kind.clone()));
        let end = faults
            .iter()
            .map(|fault| (fault.ends, false, fault.kind.clone()));
        let mut all: Vec<_> = begin.chain(end).collect();
        // The earliest last, to be taken first.
        all.sort_by_key(|(at, _, _)| std::cmp::Reverse(*at));
        Self(all)
    }

    /// Lets everything happen that is due.
    pub(crate) fn pass(&mut self, sim: &mut Sim<'_>) {
        while self.0.last().is_some_and(|(at, _, _)| *at <= sim.elapsed()) {
            match self.0.pop() {
                Some((_, true, kind)) => begin(&kind, sim),
                Some((_, false, kind)) => end(&kind, sim),
                None => {}
            }
        }
    }
}

fn begin(kind: &Kind, sim: &mut Sim<'_>) {
    match kind {
        Kind::Cut(a, b) => sim.partition(a.as_str(), b.as_str()),
        Kind::Mute(a, b) => sim.partition_oneway(a.as_str(), b.as_str()),
        Kind::Stall(a, b) => sim.hold(a.as_str(), b.as_str()),
        Kind::Lossy(a, b) => sim.set_link_fail_rate(a.as_str(), b.as_str(), LOSS),
        Kind::Slow(a, b) => sim.set_link_max_message_latency(a.as_str(), b.as_str(), SLOW),
        Kind::Crash(host) => sim.crash(host.as_str()),
    }
}

fn end(kind: &Kind, sim: &mut Sim<'_>) {
    match kind {
        Kind::Cut(a, b) => sim.repair(a.as_str(), b.as_str()),
        Kind::Mute(a, b) => sim.repair_oneway(a.as_str(), b.as_str()),
        Kind::Stall(a, b) => sim.release(a.as_str(), b.as_str()),
        Kind::Lossy(a, b) => sim.set_link_fail_rate(a.as_str(), b.as_str(), 0.0),
        Kind::Slow(a, b) => sim.set_link_max_message_latency(a.as_str(), b.as_str(), LATENCY_MAX),
        Kind::Crash(host) => sim.bounce(host.as_str()),
    }
}
