//! The outbox of an agent: keeps each delivery until it is answered, and retries it with backoff. At-least-once.
//!
//! Questions to players are not sent this way: the windows of their match determine retries.

use crate::agent::{CallDeadline, CallId, Outgoing, Payload};
use crate::pending_calls::PendingCalls;
use crate::protocol::Timestamp;
use crate::protocol::dialect::Dialect;
use crate::protocol::text::Endpoint;
use crate::retry::Backoff;
use std::collections::BTreeMap;
use std::time::Duration;

/// A message to deliver. `P` is the agent's own purpose, to interpret the answer by.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery<P> {
    /// Where the peer listens.
    pub to: Endpoint,
    /// The dialect of the first attempt.
    pub dialect: Dialect,
    /// What is delivered. A message gets a new timestamp with each try.
    pub payload: Payload,
    /// Returned with the answer.
    pub purpose: P,
    /// The timeout of each try.
    pub timeout: Duration,
    /// How often it is sent without an answer.
    pub tries: Tries,
}

/// How often a delivery is sent while nobody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tries {
    /// No retry.
    Once,
    /// A limited number of retries.
    Retry(u32, Backoff),
    /// Until it is answered or cancelled.
    Forever(Backoff),
}

impl Tries {
    fn pause(self, retry: u32) -> Option<Duration> {
        match self {
            Self::Once => None,
            Self::Retry(most, backoff) => (retry <= most).then(|| backoff.pause(retry)),
            Self::Forever(backoff) => Some(backoff.pause(retry)),
        }
    }
}

/// The deliveries of one agent.
#[derive(Debug, Clone)]
pub struct Outbox<P> {
    last_call: u64,
    /// In flight.
    open: PendingCalls<Box<Sent<P>>>,
    /// Waiting for a retry, by time and order.
    // Boxed, because the map moves its values on every change.
    waiting: BTreeMap<(Timestamp, u64), Box<Sent<P>>>,
}

/// A delivery that has been sent at least once.
#[derive(Debug, Clone)]
pub struct Sent<P> {
    /// As it was handed in, but for the time of its last try.
    pub delivery: Delivery<P>,
    /// The number of retries so far.
    pub retry: u32,
}

impl<P> Default for Outbox<P> {
    fn default() -> Self {
        Self {
            last_call: 0,
            open: PendingCalls::default(),
            waiting: BTreeMap::new(),
        }
    }
}

impl<P: Clone> Outbox<P> {
    /// A new id, for calls that are not deliveries.
    pub fn next_call(&mut self) -> CallId {
        self.last_call += 1;
        CallId(self.last_call)
    }

    /// Sends the first try, into `out`, and keeps the delivery. Returns the id of that try.
    pub fn send(
        &mut self,
        now: Timestamp,
        delivery: Delivery<P>,
        out: &mut Vec<Outgoing>,
    ) -> CallId {
        self.dispatch(now, Box::new(Sent { delivery, retry: 0 }), out)
    }

    fn dispatch(
        &mut self,
        now: Timestamp,
        mut sent: Box<Sent<P>>,
        out: &mut Vec<Outgoing>,
    ) -> CallId {
        let call = self.next_call();
        if let Payload::Message(message) = &mut sent.delivery.payload {
            message.envelope.timestamp = now;
        }
        out.push(Outgoing {
            call,
            to: sent.delivery.to.clone(),
            dialect: sent.delivery.dialect,
            payload: sent.delivery.payload.clone(),
            deadline: CallDeadline::After(sent.delivery.timeout),
        });
        self.open.insert(call, sent);
        call
    }

    /// Removes the delivery of a call that ended; `None` if it was cancelled, or is not the outbox's.
    pub fn answered(&mut self, call: CallId) -> Option<Box<Sent<P>>> {
        self.open.remove(call)
    }

    /// Schedules the retry of a failed delivery; returns it if it has no retries left.
    pub fn retry(&mut self, now: Timestamp, mut sent: Box<Sent<P>>) -> Result<(), Box<Sent<P>>> {
        sent.retry = sent.retry.saturating_add(1);
        let Some(pause) = sent.delivery.tries.pause(sent.retry) else {
            return Err(sent);
        };
        self.last_call += 1;
        self.waiting.insert((now + pause, self.last_call), sent);
        Ok(())
    }

    /// Sends the retries that are due.
    pub fn tick(&mut self, now: Timestamp, out: &mut Vec<Outgoing>) {
        while let Some(entry) = self.waiting.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let sent = entry.remove();
            self.dispatch(now, sent, out);
        }
    }

    /// Cancels deliveries. Their answers are ignored.
    pub fn cancel(&mut self, mut is_cancelled: impl FnMut(&P) -> bool) {
        self.open
            .retain(|sent| !is_cancelled(&sent.delivery.purpose));
        self.waiting
            .retain(|_, sent| !is_cancelled(&sent.delivery.purpose));
    }

    /// Sends retries of such deliveries to another endpoint.
    pub fn redirect(&mut self, mut is_meant: impl FnMut(&P) -> bool, to: &Endpoint) {
        for sent in self.open.values_mut().chain(self.waiting.values_mut()) {
            if is_meant(&sent.delivery.purpose) {
                sent.delivery.to = to.clone();
            }
        }
    }

    /// Whether any delivery with such a purpose is in flight or waiting.
    pub fn contains(&self, mut wanted: impl FnMut(&P) -> bool) -> bool {
        self.open
            .values()
            .chain(self.waiting.values())
            .any(|sent| wanted(&sent.delivery.purpose))
    }

    /// The time of the next retry.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.waiting.first_key_value().map(|((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(tries: Tries) -> Delivery<&'static str> {
        Delivery {
            to: Endpoint::parse("http://localhost:1/mcp").unwrap(),
            dialect: Dialect::Standard,
            payload: Payload::Probe,
            purpose: "test",
            timeout: Duration::from_secs(10),
            tries,
        }
    }

    const TWICE: Tries = Tries::Retry(
        2,
        Backoff::Fixed {
            delay: Duration::from_secs(2),
        },
    );

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_failed_delivery_is_sent_again_after_its_pause_and_not_before() {
        let mut outbox = Outbox::default();
        let mut out = Vec::new();
        let call = outbox.send(at(0), delivery(TWICE), &mut out);
        let sent = outbox.answered(call).unwrap();
        outbox.retry(at(1), sent).unwrap();
        assert_eq!(outbox.deadline(), Some(at(3)));
        outbox.tick(at(2), &mut out);
        assert_eq!(out.len(), 1);
        outbox.tick(at(3), &mut out);
        assert_eq!(out.len(), 2);
        assert_eq!(
            out[1].deadline,
            CallDeadline::After(Duration::from_secs(10))
        );
    }

    #[test]
    fn a_delivery_comes_back_when_its_tries_are_used_up() {
        let mut outbox = Outbox::default();
        let mut out = Vec::new();
        let mut call = outbox.send(at(0), delivery(TWICE), &mut out);
        for round in 1..=2 {
            let sent = outbox.answered(call).unwrap();
            outbox.retry(at(round * 10), sent).unwrap();
            outbox.tick(at(round * 10 + 2), &mut out);
            call = out.last().unwrap().call;
        }
        let sent = outbox.answered(call).unwrap();
        assert!(outbox.retry(at(50), sent).is_err());
    }

    #[test]
    fn what_is_called_off_is_neither_sent_again_nor_answered() {
        let mut outbox = Outbox::default();
        let mut out = Vec::new();
        let call = outbox.send(at(0), delivery(TWICE), &mut out);
        outbox.cancel(|purpose| *purpose == "test");
        assert!(outbox.answered(call).is_none());
        assert_eq!(outbox.deadline(), None);
    }
}
