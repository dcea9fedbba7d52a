//! Computes something once for all who ask for it at the same time, when it is its turn; not at all if they are gone by then.

use super::readers::{LeagueReaders, Turn};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long a caller waits for its computation to begin.
pub const QUEUED_MAX: Duration = Duration::from_secs(10);
/// How long it waits for the end then: of a long computation what comes later finds the value, and a store may not answer.
pub const BEGUN_MAX: Duration = Duration::from_secs(30);

/// Whether a computation waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// It takes no longer than to ask for it.
    Cheap,
    Expensive,
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotComputed {
    /// Its turn or its end has not come in time.
    Busy,
    /// The computation has panicked.
    Broken,
}

#[derive(Debug)]
enum Progress<V> {
    Queued,
    Begun,
    Done(V),
}

/// Computations of one kind, each under way at most once for each key.
pub(super) struct SharedComputation<K, V> {
    readers: Arc<LeagueReaders>,
    under_way: Mutex<BTreeMap<K, watch::Sender<Progress<V>>>>,
}

impl<K, V> fmt::Debug for SharedComputation<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedComputation").finish_non_exhaustive()
    }
}

impl<K: Ord + Clone + Send + Sync + 'static, V: Clone + Send + Sync + 'static>
    SharedComputation<K, V>
{
    pub(super) fn new(readers: Arc<LeagueReaders>) -> Arc<Self> {
        Arc::new(Self {
            readers,
            under_way: Mutex::default(),
        })
    }

    /// The value of `key`: the one that is kept, or that is being computed, or else what `compute` returns. `compute` blocks, and
    /// keeps its value before it returns, so that nobody computes it again in between.
    pub(super) async fn get(
        self: &Arc<Self>,
        key: K,
        cost: Cost,
        kept: impl FnOnce() -> Option<V>,
        compute: impl FnOnce() -> V + Send + 'static,
    ) -> Result<V, NotComputed> {
        let mut progress = {
            let mut under_way = self.lock();
            match under_way.get(&key) {
                Some(sender) => sender.subscribe(),
                None => {
                    if let Some(value) = kept() {
                        return Ok(value);
                    }
                    let (sender, receiver) = watch::channel(Progress::Queued);
                    under_way.insert(key.clone(), sender.clone());
                    tokio::spawn(Arc::clone(self).run(key, cost, sender, compute));
                    receiver
                }
            }
        };
        let begun = progress.wait_for(|progress| !matches!(progress, Progress::Queued));
        match timeout(QUEUED_MAX, begun).await.map(|begun| begun.is_ok()) {
            Ok(true) => {}
            Ok(false) => return Err(NotComputed::Broken),
            Err(_) => return Err(self.refuse()),
        }
        let done = progress.wait_for(|progress| matches!(progress, Progress::Done(_)));
        match timeout(BEGUN_MAX, done)
            .await
            .as_ref()
            .map(Result::as_deref)
        {
            Ok(Ok(Progress::Done(value))) => Ok(value.clone()),
            Ok(_) => Err(NotComputed::Broken),
            Err(_) => Err(self.refuse()),
        }
    }

    fn refuse(&self) -> NotComputed {
        self.readers
            .process
            .metrics
            .refused
            .fetch_add(1, Ordering::Relaxed);
        NotComputed::Busy
    }

    async fn run(
        self: Arc<Self>,
        key: K,
        cost: Cost,
        progress: watch::Sender<Progress<V>>,
        compute: impl FnOnce() -> V + Send + 'static,
    ) {
        let turn = match cost {
            Cost::Cheap => None,
            Cost::Expensive => match self.turn_if_wanted(&key, &progress).await {
                Some(turn) => Some(turn),
                None => return,
            },
        };
        progress.send_replace(Progress::Begun);
        let computed = spawn_blocking(move || {
            let _turn = turn;
            compute()
        });
        let computed = computed.await;
        self.lock().remove(&key);
        if let Ok(value) = computed {
            progress.send_replace(Progress::Done(value));
        }
    }

    /// The turn of a computation; `None` if nobody waits for it any more.
    async fn turn_if_wanted(&self, key: &K, progress: &watch::Sender<Progress<V>>) -> Option<Turn> {
        let mut turn = pin!(self.readers.turn());
        loop {
            tokio::select! {
                biased;
                () = progress.closed() => {
                    let mut under_way = self.lock();
                    // Another caller may have come in between.
                    if progress.receiver_count() == 0 {
                        under_way.remove(key);
                        self.readers.process.metrics.abandoned.fetch_add(1, Ordering::Relaxed);
                        return None;
                    }
                }
                turn = &mut turn => return Some(turn),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, watch::Sender<Progress<V>>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::Readers;
    use matchday_runtime::telemetry::ComputationMetrics;
    use std::sync::atomic::{AtomicU64, AtomicUsize};
    use std::sync::mpsc;
    use tokio::task::{JoinSet, yield_now};

    type Numbers = SharedComputation<u32, u32>;

    fn readers(at_once: usize) -> (Arc<Readers>, Arc<ComputationMetrics>) {
        let metrics = Arc::<ComputationMetrics>::default();
        (Readers::new(at_once, Arc::clone(&metrics)), metrics)
    }

    fn count(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    async fn get(
        numbers: Arc<Numbers>,
        key: u32,
        compute: impl FnOnce() -> u32 + Send + 'static,
    ) -> Result<u32, NotComputed> {
        numbers.get(key, Cost::Expensive, || None, compute).await
    }

    async fn until(is_so: impl Fn() -> bool) {
        while !is_so() {
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn all_who_ask_at_the_same_time_share_one_computation() {
        let (readers, metrics) = readers(4);
        let numbers = Numbers::new(readers.of_league());
        let (release, released) = mpsc::channel::<()>();
        let mut released = Some(released);
        let mut callers = JoinSet::new();
        for _ in 0..200 {
            let released = released.take();
            callers.spawn(get(Arc::clone(&numbers), 1, move || {
                released.map_or(0, |released| released.recv().map_or(7, |()| 7))
            }));
        }
        until(|| {
            numbers
                .lock()
                .get(&1)
                .is_some_and(|progress| progress.receiver_count() == 200)
        })
        .await;
        release.send(()).unwrap();
        assert_eq!(callers.join_all().await, vec![Ok(7); 200]);
        assert_eq!(count(&metrics.begun), 1);
        assert_eq!(
            get(numbers, 1, || 8).await,
            Ok(8),
            "and what comes later is computed again"
        );
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_is_not_begun() {
        let (readers, metrics) = readers(1);
        let numbers = Numbers::new(readers.of_league());
        let turn = readers.of_league().turn().await;
        let caller = tokio::spawn(get(Arc::clone(&numbers), 1, || panic!("this is begun")));
        until(|| !numbers.lock().is_empty()).await;
        caller.abort();
        until(|| count(&metrics.abandoned) == 1).await;
        drop(turn);
        assert!(numbers.lock().is_empty());
        assert_eq!(get(Arc::clone(&numbers), 1, || 7).await, Ok(7));
        assert_eq!(
            count(&metrics.begun),
            2,
            "the turn of this test, and the last"
        );
    }

    #[tokio::test]
    async fn leagues_share_the_bound_of_the_process() {
        let (readers, metrics) = readers(2);
        let running = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let mut callers = JoinSet::new();
        let mut gates = Vec::new();
        for key in 0..6 {
            let running = Arc::clone(&running);
            let most = Arc::clone(&most);
            let (open, gate) = mpsc::channel::<()>();
            gates.push(open);
            callers.spawn(get(Numbers::new(readers.of_league()), key, move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                gate.recv().unwrap();
                running.fetch_sub(1, Ordering::SeqCst);
                key
            }));
        }
        until(|| running.load(Ordering::SeqCst) == 2).await;
        assert_eq!(count(&metrics.begun), 2);
        gates.iter().for_each(|gate| gate.send(()).unwrap());
        let mut values: Vec<u32> = callers
            .join_all()
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2, 3, 4, 5]);
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_league_that_is_asked_much_does_not_hold_up_another() {
        let (readers, metrics) = readers(1);
        let [busy, other] = [(); 2].map(|()| Numbers::new(readers.of_league()));
        let order = Arc::new(Mutex::new(Vec::new()));
        let noting = |key: u32| {
            let order = Arc::clone(&order);
            move || {
                order.lock().unwrap().push(key);
                key
            }
        };
        let (open, gate) = mpsc::channel::<()>();
        let first = noting(0);
        let mut callers = JoinSet::new();
        callers.spawn(get(Arc::clone(&busy), 0, move || {
            gate.recv().unwrap();
            first()
        }));
        until(|| count(&metrics.begun) == 1).await;
        for key in 1..20 {
            callers.spawn(get(Arc::clone(&busy), key, noting(key)));
        }
        until(|| busy.lock().len() == 20).await;
        callers.spawn(get(Arc::clone(&other), 100, noting(100)));
        until(|| !other.lock().is_empty()).await;
        open.send(()).unwrap();
        callers.join_all().await;
        let place = order.lock().unwrap().iter().position(|key| *key == 100);
        assert!(place.is_some_and(|place| place <= 2), "{order:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_too_long_is_turned_away() {
        let (readers, metrics) = readers(1);
        let numbers = Numbers::new(readers.of_league());
        let _turn = readers.of_league().turn().await;
        assert_eq!(
            get(Arc::clone(&numbers), 1, || panic!("this is begun")).await,
            Err(NotComputed::Busy)
        );
        until(|| count(&metrics.abandoned) == 1).await;
        assert_eq!((count(&metrics.refused), numbers.lock().len()), (1, 0));
    }

    #[tokio::test]
    async fn a_computation_that_panics_holds_up_nobody() {
        let (readers, _) = readers(1);
        let numbers = Numbers::new(readers.of_league());
        assert_eq!(
            get(Arc::clone(&numbers), 1, || panic!("as meant")).await,
            Err(NotComputed::Broken)
        );
        assert_eq!(get(numbers, 1, || 7).await, Ok(7));
    }
}
