//! The channel of commands to the writer thread: unbounded, closable, received in groups. Does no I/O.
//!
//! A commit costs about the same for one batch as for a hundred, so the writer takes everything that is queued (group commit).
//! Batches that nobody waits for linger a few milliseconds, so that more can share their commit.
//!
//! Order, backlog and failure are kept by league: a league that fails, or appends faster than the disk, does not stop others.

use crate::batch::Queued;
use crate::command::{Command, Group};
use crate::error::StoreFailed;
use crate::exchange_buffer::{ExchangeBuffer, TaggedExchange};
use crate::leagues::LeagueState;
use crate::lease::Lease;
use crate::outage::Outage;
use crate::stats::{CommitMetrics, StoreStats};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The most that one commit carries: enough to share its cost, little enough that nobody waits long.
const GROUP_COMMANDS_MAX: usize = 1024;
const GROUP_BYTES_MAX: usize = 4 << 20;
/// How long batches that nobody waits for wait for more, and how many may.
const LINGER: Duration = Duration::from_millis(5);
const LINGER_MAX: usize = 256;
/// Backpressure: with so many batches of a league in the queue, colocated agents wait until theirs is stored.
const BACKLOG_MAX: usize = 1024;
/// Why nothing is answered, although the store may be within reach.
pub(super) const LEASE_EXPIRED: &str =
    "the lease of this process has expired, and is not confirmed again yet";

#[derive(Debug, Default)]
pub(super) struct CommandQueue {
    state: Mutex<State>,
    ready: Condvar,
    /// Without a valid one nothing is completed that the writer has not looked at; a store that is not shared has none.
    lease: Option<Arc<Lease>>,
    /// Whether the connection to the store is lost.
    lost: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    commands: VecDeque<Command>,
    /// How many of them somebody waits for.
    awaited: usize,
    /// When the first of them came.
    since: Option<Instant>,
    exchanges: ExchangeBuffer,
    leagues: BTreeMap<u32, League>,
    /// Whether something is committed that must be fsynced before the next batch that somebody waits for completes.
    fsync_owed: bool,
    /// Whether the writer sleeps, so that it must be woken.
    sleeping: bool,
    closed: bool,
    /// Why nothing is stored any more, of any league.
    failure: Option<StoreFailed>,
    outage: Outage,
    stats: StoreStats,
    metrics: Arc<CommitMetrics>,
}

#[derive(Debug, Default)]
struct League {
    /// Counts how often this process took it. A handle from before it was taken the last time appends nothing.
    term: u64,
    /// Commands whose completion has not run.
    pending: usize,
    failure: Option<StoreFailed>,
    /// Of the exchanges that it has recorded.
    exchange_bytes: u64,
}

impl CommandQueue {
    /// A queue for a store that keeps this of its leagues.
    pub(super) fn of(states: &[LeagueState], lease: Option<Arc<Lease>>) -> Self {
        let queue = Self {
            lease,
            ..Self::default()
        };
        for LeagueState {
            number,
            exchange_bytes,
            ..
        } in states
        {
            queue
                .state()
                .leagues
                .entry(*number)
                .or_default()
                .exchange_bytes = *exchange_bytes;
        }
        queue
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a command of a handle of this term.
    pub(super) fn push(&self, command: Command, term: u64) -> Queued {
        let mut state = self.state();
        let league = command.league();
        let refused = match state.closed {
            true => Some(state.failure(league).unwrap_or_else(StoreFailed::closed)),
            false if state.term(league) != term => Some(StoreFailed::released()),
            false => None,
        };
        if let Some(failed) = refused {
            drop(state);
            command.complete(Err(failed));
            return Queued::Backlogged;
        }
        // While the store is unavailable, or the lease may have expired, nobody knows whether this process still owns the league.
        let owned = state.outage.reason().is_none()
            && self.lease.as_ref().is_none_or(|lease| lease.allows(league));
        if owned && state.has_nothing_before(&command) {
            let outcome = state.failure(league).map_or(Ok(()), Err);
            state.stats.batches += 1;
            drop(state);
            command.complete(outcome);
            return Queued::InOrder;
        }
        if let Command::Taken { leagues, .. } = &command {
            for owned in leagues {
                state.leagues.entry(owned.number).or_default().term += 1;
            }
        }
        if let Command::Remove { .. } = command {
            // What its agents still append or record must not come after the removal.
            state
                .leagues
                .entry(league)
                .or_default()
                .failure
                .get_or_insert_with(StoreFailed::removed);
        }
        let awaited = command.is_awaited();
        state.commands.push_back(command);
        state.awaited += usize::from(awaited);
        let first = state.since.is_none();
        state.since.get_or_insert_with(Instant::now);
        let wakes = awaited || first || state.commands.len() == LINGER_MAX;
        let queued = state.count_in(league);
        self.wake(state, wakes);
        queued
    }

    /// Of which term a handle on a league is that is made now.
    pub(super) fn term(&self, league: u32) -> u64 {
        self.state().term(league)
    }

    pub(super) fn record(&self, exchange: TaggedExchange, term: u64) {
        let mut state = self.state();
        let league = state.leagues.entry(exchange.0).or_default();
        let sound = league.failure.is_none() && league.term == term;
        if sound && !state.closed {
            let league = state.leagues.entry(exchange.0).or_default();
            league.exchange_bytes = league.exchange_bytes.saturating_add(exchange.1.bytes());
            let wakes = state.exchanges.push(exchange);
            self.wake(state, wakes);
        }
    }

    fn wake(&self, mut state: MutexGuard<'_, State>, wakes: bool) {
        if wakes && state.sleeping {
            state.sleeping = false;
            self.ready.notify_one();
        }
    }

    /// Blocks until there is something to commit or `wake_at` has come; `None` once the queue is closed and empty.
    pub(super) fn next_group(&self, wake_at: Option<Instant>) -> Option<Group> {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            if state.closed && state.commands.is_empty() && state.exchanges.is_empty() {
                return None;
            }
            let next = [state.due_at(now), wake_at].into_iter().flatten().min();
            let left = next.map_or(Duration::MAX, |at| at.saturating_duration_since(now));
            if left.is_zero() {
                return Some(state.take_group());
            }
            state.sleeping = true;
            state = self
                .ready
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.sleeping = false;
        }
    }

    pub(super) fn note_commit(&self, events: usize, exchanges: usize) {
        let mut state = self.state();
        state.stats.commits += 1;
        state.stats.events += events as u64;
        state.stats.exchanges += exchanges as u64;
        if events > 0 {
            state.metrics.events.observe(events as u64);
        }
    }

    /// An fsync is done; `waited`: how long somebody had to wait for it.
    pub(super) fn note_fsync(&self, waited: Option<Duration>) {
        let mut state = self.state();
        state.stats.syncs += 1;
        if let Some(waited) = waited {
            state.metrics.observe_fsync(waited);
        }
    }

    /// From now on nothing of this league is stored any more; of any league if none is named.
    pub(super) fn fail(&self, league: Option<u32>, failed: StoreFailed) {
        let mut state = self.state();
        let failure = match league {
            Some(league) => &mut state.leagues.entry(league).or_default().failure,
            None => &mut state.failure,
        };
        failure.get_or_insert(failed);
    }

    pub(super) fn failure(&self, league: u32) -> Option<StoreFailed> {
        self.state().failure(league)
    }

    /// This process has taken a league anew: what was wrong with it before is over.
    pub(super) fn revive(&self, league: u32, exchange_bytes: u64) {
        let mut state = self.state();
        let league = state.leagues.entry(league).or_default();
        (league.failure, league.exchange_bytes) = (None, exchange_bytes);
    }

    pub(super) fn lease(&self) -> Option<&Lease> {
        self.lease.as_deref()
    }

    /// The store is lost sight of for this reason, or can be reached again.
    pub(super) fn set_away(&self, why: Option<&str>) {
        let mut state = self.state();
        state.stats.outages += u64::from(why.is_some());
        state.outage.set_lost(why);
        self.lost.send_replace(why.is_some());
    }

    /// The writer asks the store for something, or has its answer.
    pub(super) fn set_working(&self, working: bool) {
        self.state().outage.set_working(working);
    }

    pub(super) fn unavailable(&self) -> Option<String> {
        let away = self.state().outage.reason();
        let expired = || {
            self.lease
                .as_ref()
                .is_some_and(|lease| lease.left().is_zero())
        };
        away.or_else(|| expired().then(|| LEASE_EXPIRED.to_owned()))
    }

    /// Changes when the connection to the store is lost or is back.
    pub(super) fn watch_lost(&self) -> watch::Receiver<bool> {
        self.lost.subscribe()
    }

    /// How long the store is certain to be reached if its connection is not lost; `None` if it cannot be reached now.
    pub(super) fn available_for(&self) -> Option<Duration> {
        let left = self.state().outage.available_for()?;
        let lease = self
            .lease
            .as_ref()
            .map_or(Duration::MAX, |lease| lease.left());
        Some(left.min(lease)).filter(|left| !left.is_zero())
    }

    /// How long the store could not be reached, now included.
    pub(super) fn downtime(&self) -> Duration {
        self.state().outage.downtime()
    }

    /// Runs the completions of a group, in order.
    pub(super) fn complete(&self, group: Vec<Command>, fsync_owed: bool) {
        let mut completed: BTreeMap<u32, usize> = BTreeMap::new();
        for command in group {
            let league = command.league();
            *completed.entry(league).or_default() += 1;
            let failure = match command {
                Command::Remove { .. } | Command::Taken { .. } => self.state().failure.clone(),
                _ => self.failure(league),
            };
            command.complete(failure.map_or(Ok(()), Err));
        }
        let mut state = self.state();
        state.fsync_owed = fsync_owed;
        for (league, count) in completed {
            state.stats.batches += count as u64;
            let league = state.leagues.entry(league).or_default();
            league.pending = league.pending.saturating_sub(count);
        }
    }

    /// Ends a command that was not carried out.
    pub(super) fn refuse(&self, command: Command, failed: StoreFailed) {
        let league = command.league();
        command.complete(Err(failed));
        let mut state = self.state();
        state.stats.batches += 1;
        let league = state.leagues.entry(league).or_default();
        league.pending = league.pending.saturating_sub(1);
    }

    pub(super) fn exchange_bytes(&self, league: u32) -> u64 {
        self.state()
            .leagues
            .get(&league)
            .map_or(0, |league| league.exchange_bytes)
    }

    /// Puts a command back that is not done yet, behind those that came meanwhile.
    pub(super) fn again(&self, command: Command) {
        let mut state = self.state();
        state.awaited += usize::from(command.is_awaited());
        state.commands.push_back(command);
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.ready.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    pub(super) fn metrics(&self) -> Arc<CommitMetrics> {
        Arc::clone(&self.state().metrics)
    }

    pub(super) fn stats(&self) -> StoreStats {
        let state = self.state();
        let pending: usize = state.leagues.values().map(|league| league.pending).sum();
        StoreStats {
            queue_depth: pending as u64,
            ..state.stats
        }
    }
}

impl State {
    fn term(&self, league: u32) -> u64 {
        self.leagues.get(&league).map_or(0, |league| league.term)
    }

    fn failure(&self, league: u32) -> Option<StoreFailed> {
        let of_league = self
            .leagues
            .get(&league)
            .and_then(|league| league.failure.as_ref());
        self.failure.as_ref().or(of_league).cloned()
    }

    /// Whether a command without events has nothing to wait for, so that the writer need not be woken for it.
    fn has_nothing_before(&self, command: &Command) -> bool {
        let Command::Append { league, batch } = command else {
            return false;
        };
        let pending = self.leagues.get(league).map_or(0, |league| league.pending);
        batch.lines.is_empty() && !command.needs_fsync() && pending == 0 && !self.fsync_owed
    }

    fn count_in(&mut self, league: u32) -> Queued {
        let failed = self.failure.is_some();
        let league = self.leagues.entry(league).or_default();
        league.pending += 1;
        if failed || league.failure.is_some() || league.pending >= BACKLOG_MAX {
            Queued::Backlogged
        } else {
            Queued::InOrder
        }
    }

    /// When the next group is to be taken, if nothing else comes.
    fn due_at(&self, now: Instant) -> Option<Instant> {
        if self.closed || self.awaited > 0 || self.commands.len() >= LINGER_MAX {
            return Some(now);
        }
        let commands = self.since.map(|since| since + LINGER);
        [commands, self.exchanges.due_at()]
            .into_iter()
            .flatten()
            .min()
    }

    fn take_group(&mut self) -> Group {
        let mut bytes = 0_usize;
        let mut flush = self.closed;
        let mut commands = Vec::new();
        while commands.len() < GROUP_COMMANDS_MAX && bytes < GROUP_BYTES_MAX {
            // What was queued before a league was taken is judged before that, and what came after it afterwards.
            if !commands.is_empty() && self.commands.front().is_some_and(Command::is_alone) {
                break;
            }
            let Some(command) = self.commands.pop_front() else {
                break;
            };
            let alone = command.is_alone();
            bytes = bytes.saturating_add(command.bytes());
            self.awaited -= usize::from(command.is_awaited());
            flush |= matches!(command, Command::Flush { .. });
            commands.push(command);
            if alone {
                break;
            }
        }
        if self.commands.is_empty() {
            self.since = None;
        }
        let mut group = Group {
            commands,
            exchanges: Vec::new(),
        };
        group.exchanges = match self.commands.is_empty() {
            _ if flush => self.exchanges.take_all(),
            true => self.exchanges.take_group(group.is_awaited()),
            // Exchanges are stored after the events that they are about.
            false => Vec::new(),
        };
        group
    }
}
