//! Rate limits: wrong tokens per name, and requests per member, counted in fixed windows. Not durable. By the agent's time,
//! which `matchday_net`'s token bucket cannot go by: the core is pure.

use crate::agent::Reply;
use crate::protocol::{Sender, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The window in which wrong tokens are counted.
const WRONG_TOKEN_WINDOW: Duration = Duration::from_secs(60);

/// The delay of the reply to one wrong token too many.
const REPLY_DELAY: Duration = Duration::from_secs(1);

/// Bounds the memory of delayed replies; further ones are sent at once.
const DELAYED_REPLIES_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct RateLimiter {
    /// Wrong tokens by the sender they named. Only members and the operator have a key of their own, so the map is
    /// bounded.
    wrong_tokens: BTreeMap<Sender, FixedWindow>,
    requests: BTreeMap<Sender, FixedWindow>,
    delayed_replies: VecDeque<(Timestamp, Reply)>,
}

/// The number of occurrences since the start of the window.
#[derive(Debug, Clone, Copy)]
struct FixedWindow {
    since: Timestamp,
    times: u32,
}

impl FixedWindow {
    /// Counts one occurrence; returns how long to wait if there were more than `most` within `span`.
    fn one_more(&mut self, now: Timestamp, most: u32, span: Duration) -> Option<Duration> {
        // A clock that was set back starts a new window too.
        if now < self.since || now.since(self.since) >= span {
            *self = Self {
                since: now,
                times: 0,
            };
        }
        self.times = self.times.saturating_add(1);
        (most > 0 && self.times > most).then(|| span.saturating_sub(now.since(self.since)))
    }
}

impl RateLimiter {
    /// Counts a wrong token in this name; returns how long to wait if there were too many.
    pub(super) fn count_wrong_token(
        &mut self,
        now: Timestamp,
        name: Sender,
        most: u32,
    ) -> Option<Duration> {
        let count = self.wrong_tokens.entry(name).or_insert(FixedWindow {
            since: now,
            times: 0,
        });
        count.one_more(now, most, WRONG_TOKEN_WINDOW)
    }

    /// Counts a request of a member; returns how long to wait if there were more than `most` in a second.
    pub(super) fn count_request(
        &mut self,
        now: Timestamp,
        member: &Sender,
        most: u32,
    ) -> Option<Duration> {
        if let Some(count) = self.requests.get_mut(member) {
            return count.one_more(now, most, Duration::from_secs(1));
        }
        self.requests.insert(
            member.clone(),
            FixedWindow {
                since: now,
                times: 1,
            },
        );
        None
    }

    /// Delays a reply; returns it if too many are delayed already.
    pub(super) fn delay(&mut self, now: Timestamp, reply: Reply) -> Option<Reply> {
        if self.delayed_replies.len() >= DELAYED_REPLIES_MAX {
            return Some(reply);
        }
        self.delayed_replies.push_back((now + REPLY_DELAY, reply));
        None
    }

    /// Moves the replies that are due into `replies`.
    pub(super) fn release(&mut self, now: Timestamp, replies: &mut Vec<Reply>) {
        while self
            .delayed_replies
            .front()
            .is_some_and(|(at, _)| *at <= now)
        {
            replies.extend(self.delayed_replies.pop_front().map(|(_, reply)| reply));
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.delayed_replies.front().map(|(at, _)| *at)
    }
}
