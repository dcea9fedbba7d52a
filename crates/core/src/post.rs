//! Carries messages that ought to arrive: keeps each until it is answered, and sends it again when that fails.
//!
//! An agent embeds a [`Post`] for what it tells others. What an agent *asks* a player in a match is not sent this way:
//! there the windows of the match decide.

use crate::agent::{CallId, Outgoing, Parcel};
use crate::calls::Calls;
use crate::protocol::Timestamp;
use crate::protocol::dialect::Dialect;
use crate::protocol::text::Endpoint;
use crate::retry::Backoff;
use std::collections::BTreeMap;
use std::time::Duration;

/// Something to deliver, and why: `P` is the agent's own note of what the answer will mean to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Errand<P> {
    pub to: Endpoint,
    pub dialect: Dialect,
    pub parcel: Parcel,
    pub purpose: P,
    /// How long each try waits for its answer.
    pub timeout: Duration,
    pub tries: Tries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tries {
    Once,
    /// That many retries after the first try.
    Retry(u32, Backoff),
    /// Until it is answered or called off.
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

/// The outgoing mail of one agent.
#[derive(Debug, Clone)]
pub struct Post<P> {
    last_call: u64,
    /// Under way: sent, and not yet answered.
    open: Calls<Box<Sent<P>>>,
    /// To be sent again, by time and by the order in which they came to wait.
    // In boxes, because the map moves what it holds whenever something comes or goes.
    waiting: BTreeMap<(Timestamp, u64), Box<Sent<P>>>,
}

/// An errand that has been sent at least once.
#[derive(Debug, Clone)]
pub struct Sent<P> {
    pub errand: Errand<P>,
    /// How often it has been sent again.
    pub retry: u32,
}

impl<P> Default for Post<P> {
    fn default() -> Self {
        Self { last_call: 0, open: Calls::default(), waiting: BTreeMap::new() }
    }
}

impl<P: Clone> Post<P> {
    /// A fresh name for a call, for calls that the post does not keep.
    pub fn next_call(&mut self) -> CallId {
        self.last_call += 1;
        CallId(self.last_call)
    }

    pub fn send(&mut self, now: Timestamp, errand: Errand<P>, outbox: &mut Vec<Outgoing>) -> CallId {
        self.dispatch(now, Box::new(Sent { errand, retry: 0 }), outbox)
    }

    fn dispatch(&mut self, now: Timestamp, mut sent: Box<Sent<P>>, outbox: &mut Vec<Outgoing>) -> CallId {
        let call = self.next_call();
        if let Parcel::Message(message) = &mut sent.errand.parcel {
            message.envelope.timestamp = now;
        }
        outbox.push(Outgoing {
            call,
            to: sent.errand.to.clone(),
            dialect: sent.errand.dialect,
            parcel: sent.errand.parcel.clone(),
            deadline: now + sent.errand.timeout,
        });
        self.open.insert(call, sent);
        call
    }

    /// Takes back the errand whose call was answered; `None` if the call was called off, or is not the post's.
    pub fn answered(&mut self, call: CallId) -> Option<Box<Sent<P>>> {
        self.open.remove(call)
    }

    /// Puts an errand whose call failed in line for its next try; gives it back if it has none left.
    pub fn again(&mut self, now: Timestamp, mut sent: Box<Sent<P>>) -> Result<(), Box<Sent<P>>> {
        sent.retry = sent.retry.saturating_add(1);
        let Some(pause) = sent.errand.tries.pause(sent.retry) else {
            return Err(sent);
        };
        self.last_call += 1;
        self.waiting.insert((now + pause, self.last_call), sent);
        Ok(())
    }

    /// Sends what is due.
    pub fn tick(&mut self, now: Timestamp, outbox: &mut Vec<Outgoing>) {
        while let Some(entry) = self.waiting.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let sent = entry.remove();
            self.dispatch(now, sent, outbox);
        }
    }

    /// Forgets every errand that no longer matters. An answer that still comes finds nothing.
    pub fn call_off(&mut self, mut is_moot: impl FnMut(&P) -> bool) {
        self.open.retain(|sent| !is_moot(&sent.errand.purpose));
        self.waiting.retain(|_, sent| !is_moot(&sent.errand.purpose));
    }

    /// Whether any errand with such a purpose is under way or waiting.
    pub fn carries(&self, mut wanted: impl FnMut(&P) -> bool) -> bool {
        self.open.values().chain(self.waiting.values()).any(|sent| wanted(&sent.errand.purpose))
    }

    /// When the next retry is due.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.waiting.first_key_value().map(|((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errand(tries: Tries) -> Errand<&'static str> {
        Errand {
            to: Endpoint::parse("http://localhost:1/mcp").unwrap(),
            dialect: Dialect::Standard,
            parcel: Parcel::Probe,
            purpose: "test",
            timeout: Duration::from_secs(10),
            tries,
        }
    }

    const TWICE: Tries = Tries::Retry(2, Backoff::Fixed { delay: Duration::from_secs(2) });

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_failed_errand_is_sent_again_after_its_pause_and_not_before() {
        let (mut post, mut outbox) = (Post::default(), Vec::new());
        let call = post.send(at(0), errand(TWICE), &mut outbox);
        let sent = post.answered(call).unwrap();
        post.again(at(1), sent).unwrap();
        assert_eq!(post.deadline(), Some(at(3)));
        post.tick(at(2), &mut outbox);
        assert_eq!(outbox.len(), 1);
        post.tick(at(3), &mut outbox);
        assert_eq!(outbox.len(), 2);
        assert_eq!(outbox[1].deadline, at(13));
    }

    #[test]
    fn an_errand_comes_back_when_its_tries_are_used_up() {
        let (mut post, mut outbox) = (Post::default(), Vec::new());
        let mut call = post.send(at(0), errand(TWICE), &mut outbox);
        for round in 1..=2 {
            let sent = post.answered(call).unwrap();
            post.again(at(round * 10), sent).unwrap();
            post.tick(at(round * 10 + 2), &mut outbox);
            call = outbox.last().unwrap().call;
        }
        let sent = post.answered(call).unwrap();
        assert!(post.again(at(50), sent).is_err());
    }

    #[test]
    fn what_is_called_off_is_neither_sent_again_nor_answered() {
        let (mut post, mut outbox) = (Post::default(), Vec::new());
        let call = post.send(at(0), errand(TWICE), &mut outbox);
        post.call_off(|purpose| *purpose == "test");
        assert!(post.answered(call).is_none());
        assert_eq!(post.deadline(), None);
    }
}
