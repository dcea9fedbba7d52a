//! Takes leagues that nobody owns, hands over those beyond the fair share, and drops those that others may have taken.

use super::Cluster;
use crate::service::slot::SlotState;
use crate::service::{Service, lock};
use anyhow::{Result, bail};
use matchday_store::leagues::NO_LEAGUE;
use matchday_store::ownership::{Member, Owned, Owner};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a service that starts waits for an owner of the service's log.
const START_MAX: Duration = Duration::from_secs(15);
/// A clock that is off by more than this is told of.
const CLOCK_OFFSET_MAX_US: u64 = 2_000_000;

impl Service {
    /// Takes part in the ownership of leagues until `closing` turns true, then hands all over.
    pub(in crate::service) async fn own_leagues(
        self: Arc<Self>,
        cluster: Arc<Cluster>,
        mut closing: watch::Receiver<bool>,
    ) {
        let mut tasks = JoinSet::new();
        let mut told_of_clock = false;
        while !*closing.borrow() {
            // A store that cannot be reached is told of by its writer.
            let _ = self.look_at_ownership(&cluster, &mut tasks).await;
            self.warn_of_clock(&cluster, &mut told_of_clock);
            while tasks.try_join_next().is_some() {}
            tokio::select! {
                () = sleep(LOOK_EVERY) => {}
                () = cluster.look_now.notified() => {}
                () = async { drop(closing.wait_for(|&closing| closing).await) } => break,
            }
        }
        while tasks.join_next().await.is_some() {}
        self.hand_over_all(&cluster).await;
    }

    async fn look_at_ownership(
        self: &Arc<Self>,
        cluster: &Arc<Cluster>,
        tasks: &mut JoinSet<()>,
    ) -> Result<()> {
        for number in cluster.ownership.lost() {
            cluster.metrics.fenced.fetch_add(1, Ordering::Relaxed);
            lock(&cluster.owned).remove(&number);
            lock(&self.wake_times).remove(&number);
            let service = Arc::clone(self);
            tasks.spawn(async move { service.forget(number).await });
        }
        let members = cluster.ask(|ownership| ownership.members()).await?;
        cluster.note_members(&members);
        if !cluster.owns(NO_LEAGUE) {
            self.follow_registry().await?;
        }
        self.take_leagues(cluster).await?;
        let surplus = cluster.ask(|ownership| ownership.surplus()).await?;
        for number in surplus {
            if lock(&cluster.owned).contains(&number) {
                let service = Arc::clone(self);
                let cluster = Arc::clone(cluster);
                let members = members.clone();
                tasks.spawn(async move { service.hand_over(&cluster, number, &members).await });
            }
        }
        Ok(())
    }

    async fn take_leagues(&self, cluster: &Cluster) -> Result<()> {
        let taken = cluster.ask(|ownership| ownership.take()).await?;
        if taken.is_empty() {
            Ok(())
        } else {
            self.note_taken(cluster, &taken).await
        }
    }

    /// Takes note of leagues that this process owns from now on.
    pub(in crate::service) async fn note_taken(
        &self,
        cluster: &Cluster,
        taken: &[Owned],
    ) -> Result<()> {
        let takeovers = taken.iter().filter(|league| league.taken_over).count();
        cluster
            .metrics
            .takeovers
            .fetch_add(takeovers as u64, Ordering::Relaxed);
        // What its last owner recorded must be known before anything is recorded after it.
        self.follow_registry().await?;
        for Owned {
            number, wake_at, ..
        } in taken
        {
            lock(&self.wake_times).extend(wake_at.map(|at| (*number, at)));
        }
        let numbers: BTreeSet<u32> = taken.iter().map(|league| league.number).collect();
        lock(&cluster.owned).extend(&numbers);
        if numbers.contains(&NO_LEAGUE) {
            self.make_rows(cluster).await?;
        }
        for number in numbers {
            if number != NO_LEAGUE && lock(&self.registry).by_number(number).is_none() {
                // Of a league that was removed, or was not wholly imported, when its owner died.
                self.remove_rows(number, true).await?;
            }
        }
        Ok(())
    }

    /// Gives every league that was created a row, without which nobody can own it.
    pub(in crate::service) async fn make_rows(&self, cluster: &Cluster) -> Result<()> {
        let known: BTreeSet<u32> = lock(&self.registry)
            .leagues()
            .map(|(_, league)| league.number)
            .collect();
        let store = self.store.clone();
        let states = tokio::task::spawn_blocking(move || store.league_states()).await??;
        let rows: BTreeSet<u32> = states.iter().map(|state| state.number).collect();
        for number in known.difference(&rows) {
            let store = self.store.in_league(*number);
            store.set_wake_at(None);
            // A league belongs to the process that makes its row.
            if store.flush().await.is_ok() {
                cluster.mark_created(*number);
            }
        }
        Ok(())
    }

    /// Ends a league that another service may have taken. What it still appends fails as fenced.
    async fn forget(&self, number: u32) {
        let slot = self.slot(number);
        let mut state = slot.lock().await;
        state.unload().await;
        if !matches!(*state, SlotState::Removed) {
            *state = SlotState::Asleep;
        }
    }

    /// Unloads a league and gives it back, so that another service takes it.
    async fn hand_over(&self, cluster: &Cluster, number: u32, members: &[Member]) {
        let slot = self.slot(number);
        // Requests wait for this lock, and then for the next owner.
        let mut state = slot.lock().await;
        state.unload().await;
        if !lock(&cluster.owned).remove(&number) {
            return;
        }
        lock(&self.wake_times).remove(&number);
        if self.store.in_league(number).flush().await.is_ok() {
            let _ = cluster
                .ask(move |ownership| ownership.release(&[number]))
                .await;
        }
        drop(state);
        cluster.wake_others(cluster.others(members)).await;
    }

    /// Gives everything back: those that are not loaded at once, the others as they are unloaded, the earliest due first.
    async fn hand_over_all(self: &Arc<Self>, cluster: &Arc<Cluster>) {
        let members = cluster
            .ask(|ownership| ownership.members())
            .await
            .unwrap_or_default();
        let slots = lock(&self.slots).clone();
        let is_loaded = |number: &u32| slots.contains_key(number) || *number == NO_LEAGUE;
        let (loaded, asleep): (Vec<u32>, Vec<u32>) = lock(&cluster.owned)
            .iter()
            .copied()
            .partition(|number| is_loaded(number));
        lock(&cluster.owned).retain(|number| is_loaded(number));
        let _ = cluster
            .ask(move |ownership| ownership.release(&asleep))
            .await;
        let mut tasks = JoinSet::new();
        for number in loaded.into_iter().filter(|number| *number != NO_LEAGUE) {
            let service = Arc::clone(self);
            let cluster = Arc::clone(cluster);
            let members = members.clone();
            tasks.spawn(async move { service.hand_over(&cluster, number, &members).await });
        }
        while tasks.join_next().await.is_some() {}
        // Last, since leagues may have recorded something while they were unloaded.
        if self.store.in_league(NO_LEAGUE).flush().await.is_ok()
            && lock(&cluster.owned).remove(&NO_LEAGUE)
        {
            let _ = cluster
                .ask(|ownership| ownership.release(&[NO_LEAGUE]))
                .await;
        }
        cluster.wake_others(cluster.others(&members)).await;
    }

    fn warn_of_clock(&self, cluster: &Cluster, told: &mut bool) {
        let offset = cluster.ownership.clock_offset_us();
        let lease_left = cluster.ownership.lease_left();
        cluster
            .metrics
            .clock_offset_us
            .store(offset, Ordering::Relaxed);
        cluster
            .metrics
            .leagues
            .store(lock(&cluster.owned).len() as u64, Ordering::Relaxed);
        cluster.metrics.lease_left_us.store(
            u64::try_from(lease_left.as_micros()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
        let is_off = offset.unsigned_abs() > CLOCK_OFFSET_MAX_US;
        if is_off && !*told {
            #[allow(clippy::cast_precision_loss, reason = "for people")]
            let seconds = offset as f64 / 1e6;
            (self.settings.notice)(&format!(
                "the clock of this machine is {seconds:+.1} s off from the database's: leagues go by the database's, but set it \
                 right (NTP), since logs and certificates go by this one"
            ));
        }
        *told = is_off;
    }

    /// Whether the league still is our own, by the store.
    pub(in crate::service) async fn is_still_own(&self, cluster: &Cluster, number: u32) -> bool {
        let owner = cluster.ask(move |ownership| ownership.owner(number)).await;
        matches!(owner, Ok(Owner::Own { .. }))
    }
}

impl Cluster {
    /// This process has made the league's row, and owns it so.
    pub(crate) fn mark_created(&self, number: u32) {
        lock(&self.owned).insert(number);
    }

    /// The league is there no more.
    pub(crate) fn mark_removed(&self, number: u32) {
        lock(&self.owned).remove(&number);
    }

    /// Takes leagues until the service's log has an owner. Whether that is this process, and what it has taken.
    pub(crate) async fn find_registry_owner(&self) -> Result<(bool, Vec<Owned>)> {
        let give_up_at = Instant::now() + START_MAX;
        let mut taken = Vec::new();
        loop {
            taken.extend(self.ask(|ownership| ownership.take()).await?);
            if taken.iter().any(|league| league.number == NO_LEAGUE) {
                return Ok((true, taken));
            }
            if let Owner::Other(_) = self.ask(|ownership| ownership.owner(NO_LEAGUE)).await? {
                return Ok((false, taken));
            }
            if Instant::now() > give_up_at {
                bail!(
                    "no service has the log of the services yet: is one of them being stopped? Try again"
                );
            }
            sleep(LOOK_EVERY).await;
        }
    }
}
