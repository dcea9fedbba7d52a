//! The calls that a provider of models may be sent at once and in a minute.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub struct LlmGate {
    calls: Semaphore,
    /// Between the beginnings of two calls.
    spacing: Duration,
    next: Mutex<Option<Instant>>,
}

impl LlmGate {
    pub fn new(concurrency: usize, calls_per_minute: Option<u32>) -> Self {
        Self {
            calls: Semaphore::new(concurrency),
            spacing: calls_per_minute.map_or(Duration::ZERO, |calls| {
                Duration::from_secs(60) / calls.max(1)
            }),
            next: Mutex::new(None),
        }
    }

    /// Waits until a call may be made. The call is over when the permit is dropped.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.calls.acquire().await.ok();
        let now = Instant::now();
        let begin = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = next.map_or(now, |next| next.max(now));
            *next = Some(begin + self.spacing);
            begin
        };
        if begin > now {
            sleep_until(begin).await;
        }
        permit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn calls_keep_their_distance() {
        let gate = LlmGate::new(2, Some(60));
        let began = Instant::now();
        for _ in 0..4 {
            drop(gate.enter().await);
        }
        assert_eq!(began.elapsed().as_secs(), 3);
    }
}
