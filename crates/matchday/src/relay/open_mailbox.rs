//! One mailbox at run time: the core's state machine, the bodies of its calls, and the tasks that wait for it.

use super::log::MailboxRecord;
use bytes::Bytes;
use matchday_core::mailbox::{
    CallNumber, Mailbox, Next, NotOpen, Presence, Refused, StreamNumber, Taken, Transport,
};
use matchday_core::protocol::Timestamp;
use matchday_runtime::Clock;
use matchday_runtime::telemetry::Metrics;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// How much memory the bodies of all calls of a relay may take up.
const BODIES_BYTES_MAX: usize = 64 << 20;
/// An answer that was received before the deadline may still be on its way from the task that reads it. So many steps in a
/// row that were on schedule are enough for that; only an overloaded machine needs more.
const STEP: Duration = Duration::from_millis(1);
const STEPS: u32 = 10;
const STEP_MAX: Duration = Duration::from_millis(5);
const GRACE_MAX: Duration = Duration::from_secs(5);

/// What the agent answered, and when the last byte of that was received here.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Bytes,
    pub(super) arrived: Instant,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Undelivered {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the client of the relay could not reach the agent")]
    NotReached,
    #[error("no answer in time")]
    TimedOut,
    #[error("the relay is stopping")]
    Stopping,
}

struct WaitingCall {
    body: Bytes,
    answer: oneshot::Sender<Result<Answer, Undelivered>>,
}

struct Inner {
    mailbox: Mailbox,
    calls: BTreeMap<CallNumber, WaitingCall>,
    had_stream: bool,
}

pub(super) struct OpenMailbox {
    pub(super) record: MailboxRecord,
    clock: Clock,
    inner: Mutex<Inner>,
    /// Changes when there is something to fetch, and when the agent connects or disconnects.
    changes: watch::Sender<u64>,
    shared: Arc<Shared>,
}

/// What all mailboxes of a relay share.
#[derive(Debug)]
pub(super) struct Shared {
    metrics: Arc<Metrics>,
    bodies_bytes: AtomicUsize,
}

impl Shared {
    pub(super) fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, bodies_bytes: AtomicUsize::new(0) }
    }
}

impl OpenMailbox {
    pub(super) fn new(record: MailboxRecord, clock: Clock, shared: Arc<Shared>) -> Self {
        let mailbox = Mailbox::new(clock.now());
        let inner = Mutex::new(Inner { mailbox, calls: BTreeMap::new(), had_stream: false });
        Self { record, clock, inner, changes: watch::Sender::new(0), shared }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn presence(&self) -> Presence {
        self.inner().mailbox.presence().clone()
    }

    /// See [`Mailbox::connection`].
    pub(super) fn connection(&self) -> Result<(Transport, Timestamp), Timestamp> {
        self.inner().mailbox.connection(self.clock.now())
    }

    /// Has the agent answer `body` by the deadline.
    pub(super) async fn call(&self, body: Bytes, deadline: Instant) -> Result<Answer, Undelivered> {
        self.shared.metrics.relay.calls.fetch_add(1, Ordering::Relaxed);
        let result = self.call_uncounted(body, deadline).await;
        if result.is_err() {
            self.shared.metrics.relay.undelivered.fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    async fn call_uncounted(&self, body: Bytes, deadline: Instant) -> Result<Answer, Undelivered> {
        let _memory = Memory::reserve(&self.shared, body.len()).ok_or(Refused::Full)?;
        let mut changes = self.changes();
        let (sender, mut answer) = oneshot::channel();
        let number = {
            let mut inner = self.inner();
            let number = inner.mailbox.call(self.clock.now(), self.clock.at(deadline))?;
            inner.calls.insert(number, WaitingCall { body, answer: sender });
            number
        };
        let _ends = EndOnDrop { mailbox: self, number };
        self.changed();
        loop {
            let fails_at = self.inner().mailbox.fails_at(number);
            // The answer has been taken and is on its way to us.
            let Some(fails_at) = fails_at else { return received(answer.await) };
            tokio::select! {
                biased;
                answer = &mut answer => return received(answer),
                () = sleep_until(self.clock.instant(fails_at)) => break,
                Ok(()) = changes.changed() => {}
            }
        }
        if matches!(self.presence(), Presence::Absent { .. }) {
            return Err(Refused::Absent.into());
        }
        in_flight(&mut answer).await
    }

    pub(super) fn connect(
        self: &Arc<Self>,
        client: SmolStr,
        transport: Transport,
        take_over: bool,
        after: Option<u64>,
    ) -> Result<Reading, Taken> {
        let stream = {
            let mut inner = self.inner();
            let now = self.clock.now();
            let before = inner.mailbox.connection(now);
            let stream = inner.mailbox.connect(now, client, transport, take_over, after.map(CallNumber))?;
            // The next of several polls has not reconnected.
            let goes_on = before.is_ok() && before == inner.mailbox.connection(now);
            if std::mem::replace(&mut inner.had_stream, true) && !goes_on {
                self.shared.metrics.relay.reconnects.fetch_add(1, Ordering::Relaxed);
            }
            stream
        };
        self.shared.metrics.relay.streams.fetch_add(1, Ordering::Relaxed);
        self.changed();
        Ok(Reading { mailbox: Arc::clone(self), stream })
    }

    /// An answer of the agent, or `Err` if its client could not reach it.
    pub(super) fn answer(
        &self,
        number: u64,
        arrived: Instant,
        answer: Option<Answer>,
    ) -> Result<(), NotOpen> {
        let number = CallNumber(number);
        let mut inner = self.inner();
        inner.mailbox.answer(self.clock.at(arrived), number)?;
        if let Some(call) = inner.calls.remove(&number) {
            let _ = call.answer.send(answer.ok_or(Undelivered::NotReached));
        }
        Ok(())
    }

    /// Fails every call.
    pub(super) fn close(&self) {
        let calls = std::mem::take(&mut self.inner().calls);
        for call in calls.into_values() {
            let _ = call.answer.send(Err(Undelivered::Stopping));
        }
    }

    /// Since when nobody has read it, if nobody does.
    pub(super) fn absent_since(&self) -> Option<Timestamp> {
        match self.presence() {
            Presence::Absent { since } => Some(since),
            Presence::Connected { .. } => None,
        }
    }
}

fn received(
    answer: Result<Result<Answer, Undelivered>, oneshot::error::RecvError>,
) -> Result<Answer, Undelivered> {
    answer.unwrap_or(Err(Undelivered::Stopping))
}

/// The deadline is over; an answer that was received before it is still taken.
async fn in_flight(
    answer: &mut oneshot::Receiver<Result<Answer, Undelivered>>,
) -> Result<Answer, Undelivered> {
    let until = Instant::now() + GRACE_MAX;
    let mut steps_left = STEPS;
    while steps_left > 0 && Instant::now() < until {
        let began = Instant::now();
        if let Ok(answer) = timeout(STEP, &mut *answer).await {
            return received(answer);
        }
        steps_left = if began.elapsed() > STEP_MAX { STEPS } else { steps_left - 1 };
    }
    Err(Undelivered::TimedOut)
}

/// A call to be sent to the agent.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) number: u64,
    pub(super) left: Duration,
    pub(super) body: Bytes,
}

/// What a stream or a poll is to send next.
#[derive(Debug)]
pub(super) enum NextLine {
    Call(Fetched),
    Nothing,
    Replaced,
}

/// A stream or a poll of the agent. It ends when this is dropped.
pub(super) struct Reading {
    pub(super) mailbox: Arc<OpenMailbox>,
    stream: StreamNumber,
}

impl Reading {
    pub(super) fn next(&self) -> NextLine {
        let mailbox = &self.mailbox;
        let mut inner = mailbox.inner();
        loop {
            return match inner.mailbox.next(self.stream) {
                Next::Nothing => NextLine::Nothing,
                Next::Replaced => NextLine::Replaced,
                Next::Call(number, deadline) => {
                    let Some(call) = inner.calls.get(&number) else { continue };
                    let left = deadline.since(mailbox.clock.now());
                    NextLine::Call(Fetched { number: number.0, left, body: call.body.clone() })
                }
            };
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let now = self.mailbox.clock.now();
        self.mailbox.inner().mailbox.disconnect(now, self.stream);
        self.mailbox.shared.metrics.relay.streams.fetch_sub(1, Ordering::Relaxed);
        self.mailbox.changed();
    }
}

/// Ends a call however its caller leaves.
struct EndOnDrop<'a> {
    mailbox: &'a OpenMailbox,
    number: CallNumber,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        let mut inner = self.mailbox.inner();
        inner.mailbox.end(self.number);
        inner.calls.remove(&self.number);
    }
}

/// The share of a body in the memory of the relay.
struct Memory<'a> {
    shared: &'a Shared,
    bytes: usize,
}

impl<'a> Memory<'a> {
    fn reserve(shared: &'a Shared, bytes: usize) -> Option<Self> {
        let before = shared.bodies_bytes.fetch_add(bytes, Ordering::AcqRel);
        let memory = Self { shared, bytes };
        (before.saturating_add(bytes) <= BODIES_BYTES_MAX).then_some(memory)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.shared.bodies_bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}
