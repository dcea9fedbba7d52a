//! The deadline of a call: a response is in time if its last byte was received by the deadline, whenever we get to read it.

use crate::call::{CallError, CallResponse, CallTimings};
use crate::rx_time::RxTimes;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long after the deadline we may take to read what was received before it. Only an overloaded machine needs more than a
/// moment, and bytes received after the deadline end the wait.
const GRACE_MAX: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(1);
/// Bytes that were read reach us by way of other tasks. So many steps in a row that were on schedule are enough for that.
const STEPS: u32 = 10;
const STEP_MAX: Duration = Duration::from_millis(5);

/// What is known of a call while it runs.
#[derive(Debug)]
pub(crate) struct CallProgress {
    pub(crate) began: Instant,
    connection: Mutex<Option<(Instant, Arc<RxTimes>)>>,
}

impl CallProgress {
    pub(crate) fn begin() -> Self {
        Self {
            began: Instant::now(),
            connection: Mutex::new(None),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Option<(Instant, Arc<RxTimes>)>> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The request is sent over this connection now.
    pub(crate) fn connected(&self, at: Instant, rx_times: &Arc<RxTimes>) {
        rx_times.reset();
        *self.connection() = Some((at, Arc::clone(rx_times)));
    }

    pub(crate) fn timings(&self) -> CallTimings {
        let connection = self.connection();
        let (connected, rx_times) = connection
            .as_ref()
            .map(|(at, rx_times)| (*at, rx_times))
            .unzip();
        CallTimings {
            began: self.began,
            connected,
            first_byte: rx_times.and_then(|rx_times| rx_times.first()),
            last_byte: rx_times.and_then(|rx_times| rx_times.last()),
        }
    }

    fn is_late(&self, deadline: Instant) -> bool {
        self.connection()
            .as_ref()
            .and_then(|(_, rx_times)| rx_times.last())
            .is_some_and(|last| last > deadline)
    }

    fn has_first_byte(&self) -> bool {
        self.connection()
            .as_ref()
            .is_some_and(|(_, rx_times)| rx_times.first().is_some())
    }

    fn has_more(&self) -> bool {
        self.connection()
            .as_ref()
            .is_some_and(|(_, rx_times)| rx_times.has_more())
    }
}

/// The result of `exchange` by `deadline`.
pub(crate) async fn enforce(
    deadline: Instant,
    progress: &CallProgress,
    exchange: impl Future<Output = Result<CallResponse, CallError>>,
) -> Result<CallResponse, CallError> {
    let mut exchange = pin!(exchange);
    let result = match timeout_at(deadline, exchange.as_mut()).await {
        Ok(result) => result,
        Err(_) => Box::pin(read_received(deadline, progress, exchange)).await,
    };
    match result {
        Ok(_) | Err(CallError::TooLarge(_) | CallError::Unusable(_))
            if progress.is_late(deadline) =>
        {
            Err(CallError::TimedOut)
        }
        result => result,
    }
}

/// The deadline is over, but bytes received before it may be unread, or on their way from the task that has read them.
async fn read_received(
    deadline: Instant,
    progress: &CallProgress,
    mut exchange: Pin<&mut impl Future<Output = Result<CallResponse, CallError>>>,
) -> Result<CallResponse, CallError> {
    let until = Instant::now() + GRACE_MAX;
    let mut steps_left = STEPS;
    while !progress.is_late(deadline) && Instant::now() < until {
        let more = progress.has_more();
        if steps_left == 0 || !(more || progress.has_first_byte()) {
            break;
        }
        let began = Instant::now();
        if let Ok(result) = timeout(STEP, exchange.as_mut()).await {
            return result;
        }
        steps_left = if more || began.elapsed() > STEP_MAX {
            STEPS
        } else {
            steps_left - 1
        };
    }
    match poll_fn(|cx| Poll::Ready(exchange.as_mut().poll(cx))).await {
        Poll::Ready(result) => result,
        Poll::Pending => Err(CallError::TimedOut),
    }
}
