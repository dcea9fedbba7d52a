//! By when an answer must have come. It is in time if its last byte had come by the deadline, whenever we get to see it,
//! and late otherwise, however soon. Touches the timer, and the one exchange it is asked about.

use super::client::{CallError, Received, Times};
use super::stamps::Stamps;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long after the deadline we may take to read what came before it. Only a machine that has far too much to do takes
/// more than a moment, and it is not the peer's fault if ours does: what it sends after the deadline ends the wait.
const READING_MAX: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(1);
/// Bytes that were read reach us by way of other tasks. So many steps in a row, each of them in time, are enough for that.
const STEPS: u32 = 10;
const STEP_MAX: Duration = Duration::from_millis(5);

/// What becomes known while a call is made.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) began: Instant,
    line: Mutex<Option<(Instant, Arc<Stamps>)>>,
}

impl Trace {
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), line: Mutex::new(None) }
    }

    fn line(&self) -> MutexGuard<'_, Option<(Instant, Arc<Stamps>)>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is a connection, over which the request goes now.
    pub(super) fn connected(&self, at: Instant, stamps: &Arc<Stamps>) {
        stamps.begin();
        *self.line() = Some((at, Arc::clone(stamps)));
    }

    pub(super) fn times(&self) -> Times {
        let line = self.line();
        let (connected, stamps) = line.as_ref().map(|(at, stamps)| (*at, stamps)).unzip();
        Times {
            began: self.began,
            connected,
            first_byte: stamps.and_then(|stamps| stamps.first()),
            last_byte: stamps.and_then(|stamps| stamps.last()),
        }
    }

    fn is_late(&self, deadline: Instant) -> bool {
        self.line().as_ref().and_then(|(_, stamps)| stamps.last()).is_some_and(|last| last > deadline)
    }

    fn has_begun(&self) -> bool {
        self.line().as_ref().is_some_and(|(_, stamps)| stamps.first().is_some())
    }

    fn is_more_coming(&self) -> bool {
        self.line().as_ref().is_some_and(|(_, stamps)| stamps.is_more_coming())
    }
}

/// What comes of an exchange by its deadline.
pub(super) async fn keep(
    deadline: Instant,
    trace: &Trace,
    exchange: impl Future<Output = Result<Received, CallError>>,
) -> Result<Received, CallError> {
    let mut exchange = pin!(exchange);
    let outcome = match timeout_at(deadline, exchange.as_mut()).await {
        Ok(outcome) => outcome,
        Err(_) => Box::pin(last_look(deadline, trace, exchange)).await,
    };
    match outcome {
        Ok(_) | Err(CallError::TooLarge(_) | CallError::Unusable(_)) if trace.is_late(deadline) => {
            Err(CallError::TimedOut)
        }
        outcome => outcome,
    }
}

/// The deadline is over. What came before may not have been read, or may be on its way from whoever read it.
async fn last_look(
    deadline: Instant,
    trace: &Trace,
    mut exchange: Pin<&mut impl Future<Output = Result<Received, CallError>>>,
) -> Result<Received, CallError> {
    let until = Instant::now() + READING_MAX;
    let mut steps_left = STEPS;
    while !trace.is_late(deadline) && Instant::now() < until {
        let more = trace.is_more_coming();
        if steps_left == 0 || !(more || trace.has_begun()) {
            break;
        }
        let began = Instant::now();
        if let Ok(outcome) = timeout(STEP, exchange.as_mut()).await {
            return outcome;
        }
        steps_left = if more || began.elapsed() > STEP_MAX { STEPS } else { steps_left - 1 };
    }
    // What had been read by then has reached the exchange.
    match poll_fn(|cx| Poll::Ready(exchange.as_mut().poll(cx))).await {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(CallError::TimedOut),
    }
}
