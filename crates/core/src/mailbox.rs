//! The mailbox of an agent that dials out: an endpoint at a relay at which calls wait until the agent fetches and answers them.
//! Pure: the relay and the simulator drive it.
//!
//! The agent reads the mailbox over one stream at a time. A call is delivered to each stream until it is answered, so that a
//! stream that was cut loses nothing; it ends by its answer, at its deadline, or once the agent has been away for
//! [`ABSENT_AFTER`].

use crate::protocol::Timestamp;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many calls may wait in one mailbox of its relay's own process, and how many of others.
pub const WAITING_MAX: usize = 64;
/// How long an agent may be without a stream before calls to it fail at once, as connections to a closed port do.
pub const ABSENT_AFTER: Duration = Duration::from_secs(15);

/// Names a call within its mailbox. Later calls have higher numbers, also after a restart of the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallNumber(pub u64);

/// Names a stream within its mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamNumber(pub u64);

/// Who calls. Calls of the one kind take no place from those of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The manager or a referee of the relay's own process.
    Own,
    /// Anyone who knows the address of the mailbox.
    Outside,
}

/// How an agent fetches its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// One long response, a line for each call.
    Stream,
    /// One request after another, each answered by the next call.
    LongPoll,
}

/// Whether the agent reads its mailbox, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It has a stream, or waits in a poll.
    Connected {
        /// The stream that calls are delivered to.
        stream: StreamNumber,
        /// The name that the client gave itself: a stream of the same name is its reconnect.
        client: SmolStr,
        /// Whether it is a stream or a poll.
        transport: Transport,
        /// When the stream began, or the first of polls that follow on each other.
        since: Timestamp,
    },
    /// It has none.
    Absent {
        /// When its last stream ended, or the relay started.
        since: Timestamp,
    },
}

/// Why a call is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The agent has been away for too long.
    #[error("the agent is not connected to the relay")]
    Absent,
    /// [`WAITING_MAX`] such calls wait already.
    #[error("too many calls wait for the agent")]
    Full,
}

/// Another client reads the mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another client reads this mailbox")]
pub struct Taken;

/// Why an answer does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotOpen {
    /// It was answered, has failed, or never was.
    #[error("no such call is open: it was answered, or its caller has given up")]
    Unknown,
    /// The answer arrived after the deadline.
    #[error("the answer came after the deadline of the call")]
    Late,
}

/// What a stream is to send next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// This call, whose answer must arrive by the deadline.
    Call(CallNumber, Timestamp),
    /// Nothing for now.
    Nothing,
    /// Another stream has taken over: this one ends.
    Replaced,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    caller: Caller,
    deadline: Timestamp,
    delivered_to: Option<StreamNumber>,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Mailbox {
    presence: Presence,
    /// The client that polled last, and since when it has polled without a pause.
    polling: Option<(SmolStr, Timestamp)>,
    waiting: BTreeMap<CallNumber, Waiting>,
    last_call: u64,
    last_stream: u64,
}

impl Mailbox {
    /// A mailbox that nobody reads yet.
    pub fn new(now: Timestamp) -> Self {
        Self {
            presence: Presence::Absent { since: now },
            polling: None,
            waiting: BTreeMap::new(),
            last_call: now.as_micros().max(0).cast_unsigned(),
            last_stream: 0,
        }
    }

    /// Whether the agent reads it.
    pub fn presence(&self) -> &Presence {
        &self.presence
    }

    /// How the agent is connected, and since when; `Err` with the time since when it is not. Between two polls it is.
    pub fn connection(&self, now: Timestamp) -> Result<(Transport, Timestamp), Timestamp> {
        match (&self.presence, &self.polling) {
            (
                Presence::Connected {
                    transport, since, ..
                },
                _,
            ) => Ok((*transport, *since)),
            (Presence::Absent { since }, Some((_, polls_since))) if now < *since + ABSENT_AFTER => {
                Ok((Transport::LongPoll, *polls_since))
            }
            (Presence::Absent { since }, _) => Err(*since),
        }
    }

    /// Takes a call in.
    pub fn call(
        &mut self,
        now: Timestamp,
        deadline: Timestamp,
        caller: Caller,
    ) -> Result<CallNumber, Refused> {
        let alike = self
            .waiting
            .values()
            .filter(|waiting| waiting.caller == caller)
            .count();
        match self.presence {
            Presence::Absent { since } if now >= since + ABSENT_AFTER => {
                return Err(Refused::Absent);
            }
            _ if alike >= WAITING_MAX => return Err(Refused::Full),
            _ => {}
        }
        self.last_call = self.last_call.saturating_add(1);
        let number = CallNumber(self.last_call);
        self.waiting.insert(
            number,
            Waiting {
                caller,
                deadline,
                delivered_to: None,
            },
        );
        Ok(number)
    }

    /// A client begins to read after `after`, the last call that it has received. It replaces a stream of its own; that of
    /// another client only if it says that it takes over.
    pub fn connect(
        &mut self,
        now: Timestamp,
        client: SmolStr,
        transport: Transport,
        take_over: bool,
        after: Option<CallNumber>,
    ) -> Result<StreamNumber, Taken> {
        if let Presence::Connected {
            client: current, ..
        } = &self.presence
            && *current != client
            && !take_over
        {
            return Err(Taken);
        }
        self.last_stream = self.last_stream.saturating_add(1);
        let stream = StreamNumber(self.last_stream);
        for (number, waiting) in &mut self.waiting {
            waiting.delivered_to = after.filter(|after| number <= after).map(|_| stream);
        }
        let goes_on = transport == Transport::LongPoll && self.connection(now).is_ok();
        let polls = self
            .polling
            .take()
            .filter(|(polled, _)| goes_on && *polled == client);
        let since = polls.map_or(now, |(_, since)| since);
        self.polling = (transport == Transport::LongPoll).then(|| (client.clone(), since));
        self.presence = Presence::Connected {
            stream,
            client,
            transport,
            since,
        };
        Ok(stream)
    }

    /// A stream has ended.
    pub fn disconnect(&mut self, now: Timestamp, ended: StreamNumber) {
        if self.is_current(ended) {
            self.presence = Presence::Absent { since: now };
        }
    }

    /// Whether a stream has something to send or to end for.
    pub fn has_next(&self, stream: StreamNumber) -> bool {
        let undelivered = |waiting: &Waiting| waiting.delivered_to != Some(stream);
        !self.is_current(stream) || self.waiting.values().any(undelivered)
    }

    /// What to send over a stream. A call counts as delivered to it from then on.
    pub fn next(&mut self, stream: StreamNumber) -> Next {
        if !self.is_current(stream) {
            return Next::Replaced;
        }
        let undelivered = self
            .waiting
            .iter_mut()
            .find(|(_, waiting)| waiting.delivered_to != Some(stream));
        match undelivered {
            Some((number, waiting)) => {
                waiting.delivered_to = Some(stream);
                Next::Call(*number, waiting.deadline)
            }
            None => Next::Nothing,
        }
    }

    /// An answer whose last byte arrived at `arrived`. If it counts, its call has ended.
    pub fn answer(&mut self, arrived: Timestamp, number: CallNumber) -> Result<(), NotOpen> {
        let waiting = self.waiting.get(&number).ok_or(NotOpen::Unknown)?;
        if arrived > waiting.deadline {
            return Err(NotOpen::Late);
        }
        self.waiting.remove(&number);
        Ok(())
    }

    /// When a call fails unless something happens before; `None` if it has ended.
    pub fn fails_at(&self, number: CallNumber) -> Option<Timestamp> {
        let deadline = self.waiting.get(&number)?.deadline;
        Some(match self.presence {
            Presence::Connected { .. } => deadline,
            Presence::Absent { since } => deadline.min(since + ABSENT_AFTER),
        })
    }

    /// The caller has given up, or the call has failed.
    pub fn end(&mut self, number: CallNumber) {
        self.waiting.remove(&number);
    }

    /// Whether no other stream has taken over from this one.
    pub fn is_current(&self, stream: StreamNumber) -> bool {
        matches!(&self.presence, Presence::Connected { stream: current, .. } if *current == stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

    fn after(seconds: u64) -> Timestamp {
        START + Duration::from_secs(seconds)
    }

    fn connected() -> (Mailbox, StreamNumber) {
        let mut mailbox = Mailbox::new(START);
        let stream = mailbox
            .connect(START, "laptop".into(), Transport::Stream, false, None)
            .unwrap();
        (mailbox, stream)
    }

    #[test]
    fn a_call_is_delivered_once_to_a_stream_and_again_to_the_next() {
        let (mut mailbox, stream) = connected();
        let call = mailbox.call(START, after(30), Caller::Own).unwrap();
        assert_eq!(mailbox.next(stream), Next::Call(call, after(30)));
        assert_eq!(mailbox.next(stream), Next::Nothing);
        let again = mailbox
            .connect(after(1), "laptop".into(), Transport::Stream, false, None)
            .unwrap();
        assert_eq!(mailbox.next(stream), Next::Replaced);
        assert_eq!(mailbox.next(again), Next::Call(call, after(30)));
        let third = mailbox
            .connect(
                after(2),
                "laptop".into(),
                Transport::Stream,
                false,
                Some(call),
            )
            .unwrap();
        assert_eq!(
            mailbox.next(third),
            Next::Nothing,
            "the client has received it"
        );
    }

    #[test]
    fn another_client_must_say_that_it_takes_over() {
        let (mut mailbox, stream) = connected();
        assert_eq!(
            mailbox.connect(after(1), "other".into(), Transport::Stream, false, None),
            Err(Taken)
        );
        assert_eq!(mailbox.next(stream), Next::Nothing);
        mailbox
            .connect(after(1), "other".into(), Transport::Stream, true, None)
            .unwrap();
        assert_eq!(mailbox.next(stream), Next::Replaced);
        mailbox.disconnect(after(2), stream);
        assert!(
            matches!(mailbox.presence(), Presence::Connected { .. }),
            "the old stream's end is no absence"
        );
    }

    #[test]
    fn an_answer_counts_once_and_by_the_deadline() {
        let (mut mailbox, _) = connected();
        let one = mailbox.call(START, after(5), Caller::Own).unwrap();
        let two = mailbox.call(START, after(5), Caller::Own).unwrap();
        assert_eq!(mailbox.answer(after(5), one), Ok(()));
        assert_eq!(mailbox.answer(after(5), one), Err(NotOpen::Unknown));
        assert_eq!(
            mailbox.answer(after(5) + Duration::from_micros(1), two),
            Err(NotOpen::Late)
        );
        assert_eq!(mailbox.fails_at(two), Some(after(5)));
    }

    #[test]
    fn a_call_waits_for_a_reconnect_and_no_longer() {
        let (mut mailbox, stream) = connected();
        let call = mailbox.call(START, after(60), Caller::Own).unwrap();
        mailbox.disconnect(after(1), stream);
        assert_eq!(mailbox.fails_at(call), Some(after(16)));
        assert!(mailbox.call(after(15), after(60), Caller::Own).is_ok());
        assert_eq!(
            mailbox.call(after(16), after(60), Caller::Own),
            Err(Refused::Absent)
        );
        mailbox
            .connect(after(14), "laptop".into(), Transport::Stream, false, None)
            .unwrap();
        assert_eq!(mailbox.fails_at(call), Some(after(60)));
    }

    #[test]
    fn polls_that_follow_on_each_other_are_one_connection() {
        let mut mailbox = Mailbox::new(START);
        let poll = |mailbox: &mut Mailbox, at: u64| {
            let number = mailbox
                .connect(after(at), "laptop".into(), Transport::LongPoll, false, None)
                .unwrap();
            mailbox.disconnect(after(at + 1), number);
        };
        poll(&mut mailbox, 0);
        poll(&mut mailbox, 5);
        assert_eq!(
            mailbox.connection(after(15)),
            Ok((Transport::LongPoll, START))
        );
        assert_eq!(mailbox.connection(after(21)), Err(after(6)));
        poll(&mut mailbox, 60);
        assert_eq!(
            mailbox.connection(after(61)),
            Ok((Transport::LongPoll, after(60))),
            "after an absence"
        );
        let stream = mailbox
            .connect(after(62), "laptop".into(), Transport::Stream, false, None)
            .unwrap();
        mailbox.disconnect(after(63), stream);
        assert_eq!(
            mailbox.connection(after(63)),
            Err(after(63)),
            "a stream that ended is no pause between polls"
        );
    }

    #[test]
    fn a_full_mailbox_takes_no_more() {
        let (mut mailbox, _) = connected();
        let calls: Vec<_> = (0..WAITING_MAX)
            .map(|_| mailbox.call(START, after(5), Caller::Own).unwrap())
            .collect();
        assert_eq!(
            mailbox.call(START, after(5), Caller::Own),
            Err(Refused::Full)
        );
        mailbox.end(calls[0]);
        assert!(mailbox.call(START, after(5), Caller::Own).is_ok());
    }

    #[test]
    fn calls_from_outside_take_no_place_of_the_leagues_own() {
        let (mut mailbox, stream) = connected();
        for _ in 0..WAITING_MAX {
            mailbox.call(START, after(600), Caller::Outside).unwrap();
        }
        assert_eq!(
            mailbox.call(START, after(5), Caller::Outside),
            Err(Refused::Full)
        );
        let own = mailbox.call(START, after(5), Caller::Own).unwrap();
        let sent = std::iter::from_fn(|| match mailbox.next(stream) {
            Next::Call(number, _) => Some(number),
            Next::Nothing | Next::Replaced => None,
        });
        assert_eq!(sent.last(), Some(own));
        assert!(!mailbox.has_next(stream));
    }
}
