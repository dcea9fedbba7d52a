//! One mailbox at run time: the core's state machine, the bodies of its calls, and the tasks that wait for it.

use super::call_line::CallLine;
use super::log::MailboxRecord;
use super::memory::{MailboxMemory, MemoryPool, Message, Reserved};
use bytes::Bytes;
use matchday_core::mailbox::{
    CallNumber, Caller, Mailbox, Next, NotOpen, Presence, Refused, StreamNumber, Taken, Transport,
};
use matchday_core::protocol::Timestamp;
use matchday_runtime::Clock;
use matchday_runtime::telemetry::Metrics;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

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
    pub(super) body: Message,
    pub(super) arrived: Instant,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Undelivered {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the client of the relay could not reach the agent")]
    NotReached,
    #[error(
        "the answer of the agent has {0} bytes or more, which is longer than a message of this league may be"
    )]
    TooLarge(usize),
    #[error("no answer in time")]
    TimedOut,
    #[error("the relay is stopping")]
    Stopping,
}

/// Why an answer is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error(transparent)]
    NotOpen(#[from] NotOpen),
    #[error(
        "the calls of this mailbox take up all the memory that it may have: answer again when others have ended"
    )]
    NoRoom,
}

struct WaitingCall {
    message: Arc<Message>,
    answer: oneshot::Sender<Result<Answer, Undelivered>>,
}

struct Inner {
    mailbox: Mailbox,
    calls: BTreeMap<CallNumber, WaitingCall>,
    /// What the current stream is in the middle of. The call itself may have ended.
    sending: Option<CallLine>,
    had_stream: bool,
}

pub(super) struct OpenMailbox {
    pub(super) record: MailboxRecord,
    clock: Clock,
    inner: Mutex<Inner>,
    /// Changes when there is something to fetch, and when the agent connects or disconnects.
    changes: watch::Sender<u64>,
    memory: Arc<MailboxMemory>,
    shared: Arc<Shared>,
}

/// What all mailboxes of a relay share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) metrics: Arc<Metrics>,
    pub(super) pool: Arc<MemoryPool>,
}

impl OpenMailbox {
    pub(super) fn new(record: MailboxRecord, clock: Clock, shared: Arc<Shared>) -> Self {
        let mailbox = Mailbox::new(clock.now());
        let inner = Inner {
            mailbox,
            calls: BTreeMap::new(),
            sending: None,
            had_stream: false,
        };
        let memory = MailboxMemory::new(record.from, Arc::clone(&shared.pool));
        Self {
            record,
            clock,
            inner: Mutex::new(inner),
            changes: watch::Sender::new(0),
            memory,
            shared,
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes
            .send_modify(|changes| *changes = changes.wrapping_add(1));
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

    /// Room for a stranger's call of so many bytes, before it is read. One that finds none counts as undelivered.
    pub(super) fn room_for_call(&self, bytes: usize) -> Option<Reserved> {
        let room = self.memory.reserve(bytes);
        if room.is_none() {
            self.shared
                .metrics
                .relay
                .calls
                .fetch_add(1, Ordering::Relaxed);
            self.shared
                .metrics
                .relay
                .undelivered
                .fetch_add(1, Ordering::Relaxed);
        }
        room
    }

    /// Room for an answer of so many bytes, before it is read. That to a call of our own does not count.
    pub(super) fn room_for_answer(
        &self,
        number: u64,
        bytes: usize,
    ) -> Result<Option<Reserved>, NoAnswer> {
        let is_own = self
            .inner()
            .calls
            .get(&CallNumber(number))
            .map(|call| call.message.is_own());
        match is_own {
            None => Err(NotOpen::Unknown.into()),
            Some(true) => Ok(None),
            Some(false) => self.memory.reserve(bytes).map(Some).ok_or(NoAnswer::NoRoom),
        }
    }

    /// Has the agent answer `message` by the deadline.
    pub(super) async fn call(
        &self,
        message: Message,
        deadline: Instant,
    ) -> Result<Answer, Undelivered> {
        self.shared
            .metrics
            .relay
            .calls
            .fetch_add(1, Ordering::Relaxed);
        let result = self.call_uncounted(message, deadline).await;
        if result.is_err() {
            self.shared
                .metrics
                .relay
                .undelivered
                .fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    async fn call_uncounted(
        &self,
        message: Message,
        deadline: Instant,
    ) -> Result<Answer, Undelivered> {
        let caller = if message.is_own() {
            Caller::Own
        } else {
            Caller::Outside
        };
        let message = Arc::new(message);
        let mut changes = self.changes();
        let (sender, mut answer) = oneshot::channel();
        let number = {
            let mut inner = self.inner();
            let number = inner
                .mailbox
                .call(self.clock.now(), self.clock.at(deadline), caller)?;
            inner.calls.insert(
                number,
                WaitingCall {
                    message,
                    answer: sender,
                },
            );
            number
        };
        let _ends = EndOnDrop {
            mailbox: self,
            number,
        };
        self.changed();
        loop {
            let fails_at = self.inner().mailbox.fails_at(number);
            // The answer has been taken and is on its way to us.
            let Some(fails_at) = fails_at else {
                return received(answer.await);
            };
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
            let stream =
                inner
                    .mailbox
                    .connect(now, client, transport, take_over, after.map(CallNumber))?;
            // The next of several polls has not reconnected.
            let goes_on = before.is_ok() && before == inner.mailbox.connection(now);
            inner.sending = None;
            if std::mem::replace(&mut inner.had_stream, true) && !goes_on {
                self.shared
                    .metrics
                    .relay
                    .reconnects
                    .fetch_add(1, Ordering::Relaxed);
            }
            stream
        };
        self.shared
            .metrics
            .relay
            .streams
            .fetch_add(1, Ordering::Relaxed);
        self.changed();
        Ok(Reading {
            mailbox: Arc::clone(self),
            stream,
        })
    }

    /// An answer of the agent, or why there is none.
    pub(super) fn answer(
        &self,
        number: u64,
        arrived: Instant,
        answer: Result<Answer, Undelivered>,
    ) -> Result<(), NotOpen> {
        let number = CallNumber(number);
        let mut inner = self.inner();
        inner.mailbox.answer(self.clock.at(arrived), number)?;
        if let Some(call) = inner.calls.remove(&number) {
            let _ = call.answer.send(answer);
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
        steps_left = if began.elapsed() > STEP_MAX {
            STEPS
        } else {
            steps_left - 1
        };
    }
    Err(Undelivered::TimedOut)
}

/// What a stream or a poll is to send next.
#[derive(Debug)]
pub(super) enum NextPiece {
    /// Of a call.
    Piece {
        text: Bytes,
        ends_line: bool,
    },
    Nothing,
    Replaced,
}

/// A stream or a poll of the agent. It ends when this is dropped.
pub(super) struct Reading {
    mailbox: Arc<OpenMailbox>,
    stream: StreamNumber,
}

impl Reading {
    pub(super) fn next(&self) -> NextPiece {
        let mut inner = self.mailbox.inner();
        let Inner {
            mailbox,
            calls,
            sending,
            ..
        } = &mut *inner;
        if !mailbox.is_current(self.stream) {
            return NextPiece::Replaced;
        }
        let mut line = match sending.take() {
            Some(line) => line,
            None => loop {
                match mailbox.next(self.stream) {
                    Next::Nothing => return NextPiece::Nothing,
                    Next::Replaced => return NextPiece::Replaced,
                    Next::Call(number, deadline) => {
                        let Some(call) = calls.get(&number) else {
                            continue;
                        };
                        let left = deadline.since(self.mailbox.clock.now());
                        break CallLine::new(number, left, Arc::clone(&call.message));
                    }
                }
            },
        };
        let (text, ends_line) = line.next_piece();
        *sending = (!ends_line).then_some(line);
        NextPiece::Piece { text, ends_line }
    }

    /// Returns once there is something to send, or another has taken over.
    pub(super) async fn has_next(&self) {
        self.until(|mailbox| mailbox.has_next(self.stream)).await;
    }

    /// Returns once another has taken over.
    pub(super) async fn replaced(&self) {
        self.until(|mailbox| !mailbox.is_current(self.stream)).await;
    }

    async fn until(&self, is_so: impl Fn(&Mailbox) -> bool) {
        let mut changes = self.mailbox.changes();
        while !is_so(&self.mailbox.inner().mailbox) {
            // It cannot fail: we hold the mailbox, which holds the sender.
            let _ = changes.changed().await;
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let now = self.mailbox.clock.now();
        {
            let mut inner = self.mailbox.inner();
            if inner.mailbox.is_current(self.stream) {
                inner.sending = None;
            }
            inner.mailbox.disconnect(now, self.stream);
        }
        self.mailbox
            .shared
            .metrics
            .relay
            .streams
            .fetch_sub(1, Ordering::Relaxed);
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

#[cfg(test)]
pub(super) mod tests;
