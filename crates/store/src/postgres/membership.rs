//! What this process holds of a shared store: its row in the table of processes, its lease, and the epochs of its leagues.
//! Its connections share it. Does no I/O.
//!
//! The row of a process names one *incarnation* of it. A process whose lease expired is declared dead by a write to its row,
//! which waits for a renewal that is under way; its leagues are taken only after that. So a renewal that succeeds says that nobody
//! has taken anything, and one that finds the row dead says that all may be taken: they are lost, and the process begins anew as
//! another incarnation. One that was declared dead never comes back to life, because who declares it dead remembers its id.

use super::address::Address;
use super::claim::Claim;
use super::time::{Measurement, StoreTime};
use crate::lease::Lease;
use crate::ownership::Process;
use matchday_core::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a lease lasts, as the SQL has it too, and how often it is renewed.
pub(super) const LEASE: Duration = Duration::from_secs(3);
pub(super) const RENEWED_EVERY: Duration = Duration::from_secs(1);

/// A league that this process owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnedLeague {
    pub(super) epoch: i64,
    /// The newest form of its events.
    pub(super) event_form: i32,
}

#[derive(Debug)]
pub(super) struct Membership {
    pub(super) address: Address,
    pub(super) process: Process,
    /// Whether it has the whole store, and no other process may have a part of it.
    pub(super) exclusive: bool,
    pub(super) lease: Arc<Lease>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    incarnation: u32,
    held: BTreeMap<u32, OwnedLeague>,
    time: StoreTime,
    /// Until then no other process is declared dead.
    lenient_until: Instant,
}

impl Membership {
    pub(super) fn new(
        address: Address,
        process: Process,
        exclusive: bool,
        registered: Measurement,
        held: BTreeMap<u32, OwnedLeague>,
    ) -> Self {
        let time = StoreTime::starting(registered);
        let state = State {
            incarnation: 1,
            held,
            time,
            lenient_until: registered.sent,
        };
        let lease = Arc::new(Lease::until(registered.sent + LEASE));
        Self {
            address,
            process,
            exclusive,
            lease,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of its row.
    pub(super) fn id(&self) -> String {
        row_id(&self.process, self.state().incarnation)
    }

    pub(super) fn event_form(&self) -> i32 {
        i32::try_from(self.process.event_form).unwrap_or(i32::MAX)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.state().time.at(Instant::now())
    }

    pub(super) fn clock_offset_us(&self) -> i64 {
        self.state().time.offset_us
    }

    pub(super) fn held(&self, league: u32) -> Option<OwnedLeague> {
        self.state().held.get(&league).copied()
    }

    /// The key of its row, and what it holds of these leagues, at one moment.
    pub(super) fn held_of(&self, leagues: &BTreeSet<u32>) -> (String, BTreeMap<u32, OwnedLeague>) {
        let state = self.state();
        let held = leagues
            .iter()
            .filter_map(|league| Some((*league, *state.held.get(league)?)));
        (row_id(&self.process, state.incarnation), held.collect())
    }

    /// The lease was renewed. After a renewal that came late the database may have been away for all: others get time to renew
    /// theirs.
    pub(super) fn renewed(&self, measurement: Measurement) {
        let mut state = self.state();
        state.time.measured(measurement);
        if self.lease.left().is_zero() {
            state.lenient_until = measurement.received + LEASE;
        }
        self.lease.renew(measurement.sent + LEASE);
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.state().lenient_until > Instant::now()
    }

    /// Another has declared this process dead: it goes on, if at all, as another incarnation that owns nothing. How many leagues it has lost.
    pub(super) fn declared_dead(&self) -> usize {
        let mut state = self.state();
        state.incarnation += 1;
        let held = std::mem::take(&mut state.held);
        let lost = held.len();
        self.lease.lose(held.into_keys());
        if self.exclusive {
            self.lease.end();
        }
        lost
    }

    /// Takes note of leagues that the incarnation with this id owns. Whether it still is the one.
    pub(super) fn hold(
        &self,
        id: &str,
        leagues: impl IntoIterator<Item = (u32, OwnedLeague)>,
    ) -> bool {
        let mut state = self.state();
        let current = row_id(&self.process, state.incarnation) == id;
        for (league, held) in leagues {
            let before = if current {
                state.held.insert(league, held)
            } else {
                None
            };
            // One that it had already was lost meanwhile, whatever has become of it since.
            if !current || before.is_some_and(|before| before.epoch != held.epoch) {
                self.lease.lose([league]);
            }
        }
        current
    }

    /// Takes note of the epoch under which the incarnation with this id took a league again that it had.
    pub(super) fn hold_again(&self, id: &str, league: u32, held: OwnedLeague) {
        let mut state = self.state();
        if row_id(&self.process, state.incarnation) == id {
            state.held.insert(league, held);
        } else {
            self.lease.lose([league]);
        }
    }

    /// A transaction was stored: its new leagues belong to this process, and have the newest form of events.
    pub(super) fn stored(&self, claim: &Claim) {
        let mut state = self.state();
        let current = row_id(&self.process, state.incarnation) == claim.id;
        for (league, held) in &claim.leagues {
            let event_form = if claim.raised.contains(&league.cast_signed()) {
                self.event_form()
            } else {
                held.event_form
            };
            match state.held.get_mut(league) {
                Some(known) if known.epoch == held.epoch => known.event_form = event_form,
                None if current && claim.fresh.contains(&league.cast_signed()) => {
                    state.held.insert(*league, *held);
                }
                None => self.lease.lose([*league]),
                // Taken again since.
                Some(_) => {}
            }
        }
    }

    /// Others own these leagues.
    pub(super) fn lose(&self, leagues: &BTreeSet<u32>) {
        let mut state = self.state();
        state.held.retain(|league, _| !leagues.contains(league));
        self.lease.lose(leagues.iter().copied());
    }

    /// Gives leagues back.
    pub(super) fn let_go(&self, leagues: &[u32]) -> BTreeMap<u32, OwnedLeague> {
        let mut state = self.state();
        leagues
            .iter()
            .filter_map(|league| Some((*league, state.held.remove(league)?)))
            .collect()
    }
}

fn row_id(process: &Process, incarnation: u32) -> String {
    format!("{}.{incarnation}", process.id)
}

/// The id of a process, from the key of its row.
pub(super) fn process_id(row_id: &str) -> &str {
    row_id.rsplit_once('.').map_or(row_id, |(id, _)| id)
}
