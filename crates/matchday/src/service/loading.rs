//! Loads leagues when they have something to do or are asked, and unloads them when they have had nothing to do for a while.

use super::registry::Registered;
use super::running_league::{History, InFlight, RunningLeague};
use super::slot::{Slot, SlotState};
use super::{Service, Unavailable, lock};
use anyhow::Result;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_store::Store;
use matchday_store::open::file_base;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often loaded leagues are looked at, and those that are due are loaded.
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl Service {
    /// The league, loaded, and a guard that keeps it so.
    pub(super) async fn league(&self, id: &LeagueId) -> Result<(Arc<RunningLeague>, InFlight), Unavailable> {
        let registered = self.registered(id).ok_or(Unavailable::NotFound)?;
        let slot = self.slot(registered.number);
        let mut state = slot.lock().await;
        let running = match &*state {
            SlotState::Awake(running) => Arc::clone(running),
            SlotState::Removed => return Err(Unavailable::NotFound),
            SlotState::Quarantined => return Err(Unavailable::Quarantined),
            SlotState::Asleep => match self.load(registered).await {
                Ok(running) => {
                    *state = SlotState::Awake(Arc::clone(&running));
                    running
                }
                Err(error) => {
                    self.quarantine(id, &mut state, &format!("{error:#}"));
                    return Err(Unavailable::Quarantined);
                }
            },
        };
        let guard = running.begin_request();
        Ok((running, guard))
    }

    fn quarantine(&self, id: &LeagueId, state: &mut SlotState, why: &str) {
        (self.settings.notice)(&format!(
            "league {id} is in quarantine, the others go on: {why} - mend that and start the service again, or delete it"
        ));
        *state = SlotState::Quarantined;
    }

    async fn load(&self, registered: Registered) -> Result<Arc<RunningLeague>> {
        let Registered { number, plan, .. } = registered;
        let store = self.store.in_league(number);
        let had_work = lock(&self.wake_times).remove(&number).is_some();
        let history = History { had_work, is_new: lock(&self.counted).insert(number) };
        // Noted before its first event: a crash from here on finds it among those that have something to do.
        store.set_wake_at(Some(Timestamp::EPOCH));
        let seats = plan.seats.as_ref().map(|_| self.seats_store()).transpose()?;
        let seats = seats.map(|seats| seats.in_league(number));
        // Replaying a long log takes its time, and must not hold up the others.
        tokio::task::block_in_place(|| RunningLeague::load(&self.settings.host, &plan, store, seats, history))
            .map(Arc::new)
    }

    pub(super) fn seats_store(&self) -> Result<Store> {
        let mut seats = lock(&self.seats_store);
        if let Some(store) = &*seats {
            return Ok(store.clone());
        }
        let path = file_base(&self.path);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let store = Store::open(&path.with_file_name(format!("{name}-seats.db")))?;
        Ok(seats.insert(store).clone())
    }

    pub(super) fn slot(&self, number: u32) -> Arc<Slot> {
        Arc::clone(lock(&self.slots).entry(number).or_default())
    }

    /// Loads what is due and unloads what has nothing to do, until `closing` turns true; then unloads all.
    pub(super) async fn supervise(self: Arc<Self>, mut closing: watch::Receiver<bool>) {
        loop {
            self.look().await;
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = async { drop(closing.wait_for(|&closing| closing).await) } => break,
            }
        }
        let slots: Vec<_> = lock(&self.slots).values().cloned().collect();
        for slot in slots {
            slot.lock().await.unload().await;
        }
    }

    async fn look(&self) {
        let now = self.settings.host.clock.now();
        let leagues: Vec<(LeagueId, u32)> = {
            let (registry, slots, due) = (lock(&self.registry), lock(&self.slots), lock(&self.wake_times));
            let is_due = |number: &u32| due.get(number).is_some_and(|at| *at <= now + LOOK_EVERY);
            let concerns = |number: &u32| is_due(number) || slots.contains_key(number);
            let leagues = registry.leagues().filter(|(_, league)| concerns(&league.number));
            leagues.map(|(id, league)| (id.clone(), league.number)).collect()
        };
        for (id, number) in leagues {
            let due = lock(&self.wake_times).get(&number).is_some_and(|at| *at <= now + LOOK_EVERY);
            if due {
                // What is wrong has been said, and is shown to whoever asks.
                let _ = self.league(&id).await;
            } else {
                self.look_at(&id, number).await;
            }
        }
    }

    async fn look_at(&self, id: &LeagueId, number: u32) {
        let slot = self.slot(number);
        // A request that loads it holds the lock.
        let Ok(mut state) = slot.try_lock() else { return };
        let SlotState::Awake(running) = &*state else { return };
        if let Some(why) = running.failure() {
            self.quarantine(id, &mut state, &why);
            return;
        }
        if let Some(why) = running.start_if_complete().await {
            (self.settings.notice)(&format!("league {id} could not be started: {why}"));
        }
        if let Some(wake_at) = running.idle(self.settings.sleep_after).await {
            state.unload().await;
            self.store.in_league(number).set_wake_at(wake_at);
            lock(&self.wake_times).extend(wake_at.map(|at| (number, at)));
        }
    }
}
