//! Against guessing and flooding: how many wrong tokens were shown in whose name, and how much each member asks. Nothing
//! here outlives a restart. Time is an argument; nothing is sent from here.

use crate::agent::Reply;
use crate::protocol::{Sender, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Over what time wrong tokens are counted.
const GUESSES_WITHIN: Duration = Duration::from_secs(60);

/// How long the answer to one wrong token too many is held back.
const ANSWER_AFTER: Duration = Duration::from_secs(1);

/// How many answers are held back at most; those beyond go out at once, for they cost memory.
const HELD_BACK_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Wrong tokens by whose name they were shown in. Only members and the operator are told apart, so there are few.
    guesses: BTreeMap<Sender, Count>,
    asked: BTreeMap<Sender, Count>,
    held_back: VecDeque<(Timestamp, Reply)>,
}

/// How often something has happened since a point in time.
#[derive(Debug, Clone, Copy)]
struct Count {
    since: Timestamp,
    times: u32,
}

impl Count {
    /// Counts once more; says how long to wait if that was more than `most` within `span`.
    fn one_more(&mut self, now: Timestamp, most: u32, span: Duration) -> Option<Duration> {
        // A clock that was set back begins a new span too.
        if now < self.since || now.since(self.since) >= span {
            *self = Self { since: now, times: 0 };
        }
        self.times = self.times.saturating_add(1);
        (most > 0 && self.times > most).then(|| span.saturating_sub(now.since(self.since)))
    }
}

impl Guard {
    /// A wrong token was shown in this name; says how long to wait if there were too many.
    pub(super) fn guessed(&mut self, now: Timestamp, name: Sender, most: u32) -> Option<Duration> {
        let count = self.guesses.entry(name).or_insert(Count { since: now, times: 0 });
        count.one_more(now, most, GUESSES_WITHIN)
    }

    /// A member asks; says how long to wait if it does so more than `most` times a second.
    pub(super) fn asked(&mut self, now: Timestamp, member: &Sender, most: u32) -> Option<Duration> {
        if let Some(count) = self.asked.get_mut(member) {
            return count.one_more(now, most, Duration::from_secs(1));
        }
        self.asked.insert(member.clone(), Count { since: now, times: 1 });
        None
    }

    /// Keeps an answer for a while; gives it back if there are too many kept already.
    pub(super) fn hold_back(&mut self, now: Timestamp, reply: Reply) -> Option<Reply> {
        if self.held_back.len() >= HELD_BACK_MAX {
            return Some(reply);
        }
        self.held_back.push_back((now + ANSWER_AFTER, reply));
        None
    }

    /// The answers whose time has come.
    pub(super) fn release(&mut self, now: Timestamp, replies: &mut Vec<Reply>) {
        while self.held_back.front().is_some_and(|(at, _)| *at <= now) {
            replies.extend(self.held_back.pop_front().map(|(_, reply)| reply));
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.held_back.front().map(|(at, _)| *at)
    }
}
