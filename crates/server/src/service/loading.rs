//! Loads leagues when they have something to do or are asked, and unloads them when they have had nothing to do for a while.

use super::api::types::LeagueState;
use super::database_away::is_unreachable;
use super::hosted_league::{HostedLeague, InFlight};
use super::quota::Usage;
use super::registry::Registered;
use super::slot::{Slot, SlotState};
use super::{Service, Unavailable, lock};
use crate::league::{History, LeaguePlan, LeagueStore};
use anyhow::Result;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_runtime::entropy_from_system;
use matchday_runtime::log::SERVICE_TARGET;
use matchday_store::Store;
use matchday_store::StoreUrl;
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::leagues::NO_LEAGUE;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedMutexGuard, Semaphore, watch};
use tokio::task::JoinSet;

/// How often loaded leagues are looked at, and those that are due are loaded.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How many leagues are loaded at once because they are due: after a crash all that were loaded are.
const LOADS_MAX: usize = 4;

impl Service {
    /// The league, loaded, and a guard that keeps it so.
    pub(super) async fn league(
        &self,
        id: &LeagueId,
    ) -> Result<(Arc<HostedLeague>, InFlight), Unavailable> {
        let number = lock(&self.registry)
            .get(id)
            .ok_or(Unavailable::NotFound)?
            .number;
        let slot = self.slot(number);
        let mut state = slot.lock().await;
        let running = self.awake(number, &mut state).await?;
        let guard = running.begin_request();
        Ok((running, guard))
    }

    /// The league of this number, whose slot this is, loaded.
    async fn awake(
        &self,
        number: u32,
        state: &mut SlotState,
    ) -> Result<Arc<HostedLeague>, Unavailable> {
        match state {
            SlotState::Awake(running) => return Ok(Arc::clone(running)),
            SlotState::Removed => return Err(Unavailable::NotFound),
            SlotState::Quarantined => return Err(Unavailable::Quarantined),
            SlotState::Asleep if !self.owns(number) => return Err(Unavailable::Elsewhere),
            SlotState::Asleep => {}
        }
        let registered = lock(&self.registry)
            .by_number(number)
            .cloned()
            .ok_or(Unavailable::NotFound)?;
        let id = registered.plan.league.league_id.clone();
        match self.load(registered).await {
            Ok(running) => {
                *state = SlotState::Awake(Arc::clone(&running));
                Ok(running)
            }
            Err(_) if !self.is_own(number).await => Err(Unavailable::Elsewhere),
            Err(error) if is_unreachable(&error) => {
                // It may have been due: it is loaded once the database answers.
                lock(&self.wake_times).insert(number, Timestamp::EPOCH);
                Err(Unavailable::Unreachable)
            }
            Err(error) => {
                self.quarantine(&id, state, &format!("{error:#}"));
                Err(Unavailable::Quarantined)
            }
        }
    }

    fn quarantine(&self, id: &LeagueId, state: &mut SlotState, why: &str) {
        // The service ends with this reason, and no league is to blame.
        if self.has_failed() {
            return;
        }
        tracing::error!(
            target: SERVICE_TARGET,
            event_type = "league_quarantined",
            league = %id,
            "league {id} is in quarantine, the others go on: {why} - fix that and start the service again, or delete it"
        );
        *state = SlotState::Quarantined;
    }

    async fn load(&self, registered: Registered) -> Result<Arc<HostedLeague>> {
        let (season, before) = self.season_of(registered.number);
        let (carried_over, mailboxes) = match before {
            Some(before) => self.taken_over(&registered, before).await?,
            None => Default::default(),
        };
        let Registered { number, plan, .. } = registered;
        self.check_program(number, &plan)?;
        let store = self.store.in_league(number);
        lock(&self.progress).remove(&number);
        let had_work = lock(&self.wake_times).remove(&number).is_some();
        let history = History {
            had_work,
            is_new: lock(&self.counted).insert(number),
        };
        // Noted before its first event: a crash from here on finds it among those that have something to do.
        store.set_wake_at(Some(Timestamp::EPOCH));
        let seats = match (&plan.seats, &self.cluster) {
            (None, _) => None,
            (Some(_), None) => Some(self.seats_store()?.in_league(number)),
            (Some(_), Some(_)) => Some(store.private()),
        };
        let source = self.source(number);
        // Replaying a long log takes its time, and must not hold up the others.
        let load = || {
            let checkpoint_keys = match &self.cluster {
                None => self.settings.host.checkpoint_keys.clone(),
                Some(_) => CheckpointKeys::of(&store.private(), &mut entropy_from_system()?)?,
            };
            let stream = store.manager_stream()?;
            let source = Some(source);
            let store = LeagueStore {
                events: store,
                stream,
                seats,
                checkpoint_keys,
                source,
                history,
                carried_over,
                mailboxes,
            };
            let (host, notice) = (&self.settings.host, self.settings.notice);
            HostedLeague::load(host, plan, season.as_ref(), store, notice)
        };
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::CurrentThread => load(),
            _ => tokio::task::block_in_place(load),
        }
        .map(Arc::new)
    }

    /// The leagues that were created before this one come first.
    fn check_program(&self, number: u32, plan: &LeaguePlan) -> Result<()> {
        let mut before = Usage::default();
        let registry = lock(&self.registry);
        let leagues = registry
            .leagues()
            .filter(|(_, league)| league.number < number);
        leagues.for_each(|(_, league)| before.add(&league.plan));
        self.settings
            .quota
            .check_program(plan, before)
            .map_err(anyhow::Error::msg)
    }

    /// Whether a league that fails is our own, so that its failure is not that another service has taken it.
    async fn is_own(&self, number: u32) -> bool {
        match &self.cluster {
            None => true,
            Some(cluster) => self.is_still_own(cluster, number).await,
        }
    }

    pub(super) fn seats_store(&self) -> Result<Store> {
        let mut seats = lock(&self.seats_store);
        if let Some(store) = &*seats {
            return Ok(store.clone());
        }
        Ok(seats.insert(Store::open(self.seats_url())?).clone())
    }

    pub(super) fn seats_url(&self) -> StoreUrl {
        self.store.url().of_seats()
    }

    pub(super) fn slot(&self, number: u32) -> Arc<Slot> {
        Arc::clone(lock(&self.slots).entry(number).or_default())
    }

    /// Loads what is due and unloads what has nothing to do, until `closing` turns true; then unloads all.
    pub(super) async fn supervise(self: Arc<Self>, mut closing: watch::Receiver<bool>) {
        let mut looks = Looks::new(closing.clone());
        loop {
            self.look(&mut looks);
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = async { drop(closing.wait_for(|&closing| closing).await) } => break,
            }
        }
        while looks.tasks.join_next().await.is_some() {}
        let slots: Vec<_> = lock(&self.slots).values().cloned().collect();
        for slot in slots {
            slot.lock().await.unload().await;
        }
    }

    /// Begins a task for each league and season that has to be looked at: none waits for another.
    fn look(self: &Arc<Self>, looks: &mut Looks) {
        looks.reap();
        self.count_states();
        let now = self.settings.host.now();
        let mut due: Vec<(Timestamp, u32)> = {
            let times = lock(&self.wake_times);
            times
                .iter()
                .filter(|(_, at)| **at <= now + LOOK_EVERY)
                .map(|(number, at)| (*at, *number))
                .collect()
        };
        due.sort_unstable();
        for (_, number) in due {
            let (service, closing, loads) = (
                Arc::clone(self),
                looks.closing.clone(),
                Arc::clone(&looks.loads),
            );
            looks.begin(Subject::League(number), async move {
                let _load = loads.acquire().await;
                if !*closing.borrow() {
                    service.load_due(number).await;
                }
            });
        }
        for (number, slot) in self.awake_slots() {
            let service = Arc::clone(self);
            looks.begin(Subject::League(number), async move {
                service.look_at(number, slot).await
            });
        }
        // The owner of the service's log alone records what becomes of seasons.
        let seasons = if self.owns(NO_LEAGUE) {
            self.seasons_due(now)
        } else {
            Vec::new()
        };
        for (name, next) in seasons {
            let service = Arc::clone(self);
            looks.begin(Subject::Season(name.clone()), async move {
                service.look_at_season(name, next, now).await;
            });
        }
    }

    /// Counts the leagues by their state, for the metrics.
    fn count_states(&self) {
        let telemetry = &self.settings.host.options.telemetry;
        let owned = match &self.cluster {
            None => lock(&self.registry).leagues().len() as u64,
            Some(_) => telemetry.metrics.cluster.leagues.load(Ordering::Relaxed),
        };
        let (mut awake, mut quarantined) = (0, 0);
        for slot in lock(&self.slots).values() {
            match slot.try_lock().map(|state| state.shown()) {
                Ok(LeagueState::Quarantined) => quarantined += 1,
                // Locked: it is being loaded or unloaded.
                Ok(LeagueState::Awake) | Err(_) => awake += 1,
                Ok(_) => {}
            }
        }
        let service = &telemetry.metrics.service;
        service.awake.store(awake, Ordering::Relaxed);
        service.quarantined.store(quarantined, Ordering::Relaxed);
        let asleep = owned.saturating_sub(awake + quarantined);
        service.asleep.store(asleep, Ordering::Relaxed);
    }

    /// The slots of loaded leagues about which there may be something to do. Those of sleeping leagues that nobody holds are
    /// forgotten.
    fn awake_slots(&self) -> Vec<(u32, OwnedMutexGuard<SlotState>)> {
        let mut awake = Vec::new();
        let followed = self.followed();
        lock(&self.slots).retain(|number, slot| {
            let is_held = Arc::strong_count(slot) > 1;
            // Held by what loads or unloads it.
            let Ok(state) = Arc::clone(slot).try_lock_owned() else {
                return true;
            };
            match &*state {
                SlotState::Asleep => is_held,
                SlotState::Awake(running)
                    if running.needs_a_look(self.settings.sleep_after)
                        || followed.contains(number) && running.running.has_dialled_agents() =>
                {
                    awake.push((*number, state));
                    true
                }
                _ => true,
            }
        });
        awake
    }

    async fn load_due(&self, number: u32) {
        let slot = self.slot(number);
        // A request that loads it holds the lock. What is wrong has been said, and is shown to those who ask.
        if let Ok(mut state) = slot.try_lock()
            && !matches!(
                self.awake(number, &mut state).await,
                Err(Unavailable::Unreachable)
            )
        {
            lock(&self.wake_times).remove(&number);
        }
    }

    async fn look_at(&self, number: u32, mut state: OwnedMutexGuard<SlotState>) {
        let SlotState::Awake(running) = &*state else {
            return;
        };
        let id = running.id().clone();
        if let Some(why) = running.running.failure() {
            if !self.is_own(number).await {
                state.unload().await;
                return;
            }
            self.quarantine(&id, &mut state, &why);
            return;
        }
        running.note_changes();
        if self.followed().contains(&number) {
            running.running.release_dialled_agents().await;
        }
        if let Some(Some(token)) = running.operator_token().await {
            self.note_operator_token(number, token).await;
        }
        if let Some(wake_at) = running.idle(self.settings.sleep_after).await {
            state.unload().await;
            self.store.in_league(number).set_wake_at(wake_at);
            lock(&self.wake_times).extend(wake_at.map(|at| (number, at)));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    League(u32),
    Season(LeagueId),
}

/// The tasks that look at leagues and seasons, at most one for each.
struct Looks {
    tasks: JoinSet<Subject>,
    busy: BTreeSet<Subject>,
    loads: Arc<Semaphore>,
    closing: watch::Receiver<bool>,
}

impl Looks {
    fn new(closing: watch::Receiver<bool>) -> Self {
        let loads = Arc::new(Semaphore::new(LOADS_MAX));
        Self {
            tasks: JoinSet::new(),
            busy: BTreeSet::new(),
            loads,
            closing,
        }
    }

    fn begin(&mut self, subject: Subject, look: impl Future<Output = ()> + Send + 'static) {
        if self.busy.insert(subject.clone()) {
            self.tasks.spawn(async move {
                look.await;
                subject
            });
        }
    }

    fn reap(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(subject) = ended {
                self.busy.remove(&subject);
            }
        }
        // A task that panicked has not told its subject.
        if self.tasks.is_empty() {
            self.busy.clear();
        }
    }
}
