//! How many calls of a client are under way at once, if whoever makes them asks: enough to keep any machine busy, few enough that whoever
//! asks something meanwhile does not come after them all. What is told to everyone would otherwise be told at the same
//! moment. Touches the timer.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

const LANES: usize = 32;
/// A peer that takes its time holds nobody else up for longer than this.
const PATIENCE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone)]
pub(super) struct Lanes(Arc<Semaphore>);

/// A place among the calls that are under way, given up when it is dropped. `None` for whoever has waited long enough.
pub(crate) type Lane<'a> = Option<SemaphorePermit<'a>>;

impl Default for Lanes {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LANES)))
    }
}

impl Lanes {
    /// In the order of asking.
    pub(super) async fn enter(&self) -> Lane<'_> {
        match self.0.try_acquire() {
            Ok(lane) => Some(lane),
            // Rare, and larger than the rest: whatever is awaited in place makes every call as large.
            Err(_) => Box::pin(timeout(PATIENCE, self.0.acquire())).await.ok()?.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn the_next_call_begins_when_one_has_ended() {
        let lanes = Lanes::default();
        let mut under_way = Vec::new();
        for _ in 0..LANES {
            under_way.push(lanes.enter().await);
        }
        let began = Instant::now();
        let next = async {
            let lane = lanes.enter().await;
            assert!(lane.is_some());
            began.elapsed()
        };
        let end = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            under_way.pop();
        };
        assert_eq!(tokio::join!(next, end).0, Duration::from_millis(1));
    }

    #[tokio::test(start_paused = true)]
    async fn peers_that_do_not_answer_hold_nobody_up_for_long() {
        let lanes = Lanes::default();
        let mut under_way = Vec::new();
        let began = Instant::now();
        for _ in 0..LANES + 3 {
            under_way.push(lanes.enter().await);
        }
        assert_eq!(under_way.iter().flatten().count(), LANES);
        let took = began.elapsed();
        assert!(took >= PATIENCE * 3 && took < PATIENCE * 4, "{took:?}");
    }
}
