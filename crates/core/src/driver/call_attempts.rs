//! The attempts of one call: in the dialect that was asked for, then, if the peer does not understand it, in each other
//! dialect until one is understood. Pure: the caller makes the attempts.

use crate::protocol::dialect::Dialect;
use crate::protocol::operation::{Answer, Failure};

/// Whether the peer understood an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Understood {
    /// It answered as the protocol demands, be it with an error.
    Yes,
    /// It answered with an error that is none of the league's: another dialect may be what it knows.
    No,
    /// It failed in some other way.
    Unclear,
    /// Nothing came back.
    NoAnswer,
    /// This machine could not make the call, which tells nothing about the peer.
    NotMade,
}

impl Understood {
    /// Whether an answer shows that the peer understood.
    pub fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Message(_) | Answer::Received => Self::Yes,
            Answer::NotUnderstood(_) => Self::No,
            Answer::Garbled(_) => Self::Unclear,
            Answer::Undelivered(Failure::Ours) => Self::NotMade,
            Answer::Undelivered(_) => Self::NoAnswer,
        }
    }
}

/// `T` is the outcome of an attempt. If no dialect is understood, the outcome of the first stands.
#[derive(Debug)]
pub struct CallAttempts<T> {
    first_dialect: Dialect,
    dialect: Dialect,
    try_others: bool,
    first: Option<T>,
}

impl<T> CallAttempts<T> {
    /// No attempt has been made yet. `try_others`: whether another dialect may follow the first.
    pub fn new(dialect: Dialect, try_others: bool) -> Self {
        Self {
            first_dialect: dialect,
            dialect,
            try_others,
            first: None,
        }
    }

    /// In which dialect to make the next attempt.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// An attempt has ended. The outcome of the call, or `None` if there is to be another attempt.
    pub fn ended(&mut self, understood: Understood, outcome: T) -> Option<T> {
        match (self.first.take(), understood) {
            (None, Understood::No) if self.try_others => self.first = Some(outcome),
            (None, _) | (Some(_), Understood::Yes | Understood::NotMade) => return Some(outcome),
            (Some(first), Understood::NoAnswer) => return Some(first),
            (first, Understood::No | Understood::Unclear) => self.first = first,
        }
        self.dialect = self.dialect.next();
        self.first.take_if(|_| self.dialect == self.first_dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dialects of all attempts on a peer that takes them like this, and the outcome: the number of its attempt.
    fn attempts(try_others: bool, peer: impl Fn(Dialect) -> Understood) -> (Vec<Dialect>, usize) {
        let mut attempts = CallAttempts::new(Dialect::HandleMessage, try_others);
        let mut tried = Vec::new();
        loop {
            tried.push(attempts.dialect());
            if let Some(outcome) = attempts.ended(peer(attempts.dialect()), tried.len()) {
                return (tried, outcome);
            }
        }
    }

    #[test]
    fn what_is_understood_is_not_tried_again() {
        assert_eq!(
            attempts(true, |_| Understood::Yes),
            (vec![Dialect::HandleMessage], 1)
        );
        assert_eq!(attempts(true, |_| Understood::Unclear).1, 1);
        assert_eq!(attempts(true, |_| Understood::NoAnswer).1, 1);
    }

    #[test]
    fn other_dialects_are_tried_until_one_is_understood() {
        let only = |known| {
            move |dialect| {
                if dialect == known {
                    Understood::Yes
                } else {
                    Understood::No
                }
            }
        };
        for known in Dialect::ALL {
            let (tried, outcome) = attempts(true, only(known));
            assert_eq!((tried.last(), outcome), (Some(&known), tried.len()));
        }
        assert_eq!(
            attempts(false, only(Dialect::Bare)).1,
            1,
            "unless that is ruled out"
        );
    }

    #[test]
    fn where_none_is_understood_or_the_peer_falls_silent_the_first_outcome_stands() {
        let (tried, outcome) = attempts(true, |_| Understood::No);
        assert_eq!((tried.len(), outcome), (Dialect::ALL.len(), 1));
        let silent = |dialect| match dialect {
            Dialect::HandleMessage => Understood::No,
            _ => Understood::NoAnswer,
        };
        assert_eq!(
            attempts(true, silent),
            (vec![Dialect::HandleMessage, Dialect::Bare], 1)
        );
    }

    #[test]
    fn an_attempt_that_this_machine_could_not_make_is_not_blamed_on_the_peer() {
        let out_of_sockets = |dialect| match dialect {
            Dialect::HandleMessage => Understood::No,
            _ => Understood::NotMade,
        };
        assert_eq!(
            attempts(true, out_of_sockets),
            (vec![Dialect::HandleMessage, Dialect::Bare], 2)
        );
    }
}
