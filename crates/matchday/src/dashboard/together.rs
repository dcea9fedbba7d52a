//! The messages of several stores as one list, newest first, a page at a time. Pure.

use crate::store::Exchange;
use crate::store::messages::Page;
use crate::store::timeline::paired;
use serde::{Serialize, Serializer};
use std::collections::VecDeque;

/// From where to go on, in each store: `120`, or `120.45` of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor(Vec<i64>);

impl Cursor {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<i64>, _> =
            text.split('.').map(|part| part.parse::<u32>().map(i64::from)).collect();
        numbers
            .map(Self)
            .map_err(|_| format!("before: expected next_before of an earlier answer, got {text:?}"))
    }

    pub(super) fn of(&self, store: usize) -> Option<i64> {
        self.0.get(store).copied()
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [only] => serializer.serialize_i64(*only),
            several => {
                let parts: Vec<String> = several.iter().map(ToString::to_string).collect();
                serializer.serialize_str(&parts.join("."))
            }
        }
    }
}

/// One page of all stores.
#[derive(Debug)]
pub(super) struct Together {
    /// Each with a number of its own, and with what its receiver recorded of it.
    pub(super) messages: Vec<(i64, Exchange, Option<Exchange>)>,
    pub(super) next_before: Option<Cursor>,
}

impl Together {
    /// Takes the newest of what each store has to offer. What is left over is offered again.
    pub(super) fn of(pages: Vec<Page>, limit: usize) -> Self {
        let mut offers: Vec<Offer> = pages.into_iter().map(Offer::of).collect();
        let (mut ids, mut taken) = (Vec::new(), Vec::new());
        while taken.len() < limit {
            let newest = |offer: &Offer| offer.waiting.front().map(|(_, exchange)| exchange.at);
            let best = (0_i64..).zip(&mut offers).filter(|(_, offer)| !offer.waiting.is_empty());
            let Some((store, offer)) = best.max_by_key(|(store, offer)| (newest(offer), -store)) else {
                break;
            };
            if let Some((id, exchange)) = offer.waiting.pop_front() {
                offer.next = id;
                ids.push((store << 40) + id);
                taken.push(exchange);
            }
        }
        let is_more = offers.iter().any(|offer| !offer.waiting.is_empty() || offer.beyond.is_some());
        let next = offers.iter().map(Offer::cursor).collect();
        Self { messages: told_once(&ids, &taken), next_before: is_more.then_some(Cursor(next)) }
    }
}

/// What one store has to offer.
#[derive(Debug)]
struct Offer {
    waiting: VecDeque<(i64, Exchange)>,
    /// From where it goes on after all this.
    beyond: Option<i64>,
    /// The last that was taken; before any was, all that is offered lies before it.
    next: i64,
}

impl Offer {
    fn of(page: Page) -> Self {
        let first = page.messages.first().map_or(0, |(id, _)| id + 1);
        Self { next: first, beyond: page.next_before, waiting: page.messages.into() }
    }

    fn cursor(&self) -> i64 {
        match self.beyond {
            Some(beyond) if self.waiting.is_empty() => beyond,
            _ => self.next,
        }
    }
}

/// What both sides recorded is one message.
fn told_once(ids: &[i64], taken: &[Exchange]) -> Vec<(i64, Exchange, Option<Exchange>)> {
    let pairs = paired(taken);
    let place = |told: &Exchange| taken.iter().position(|exchange| std::ptr::eq(exchange, told));
    let mut messages: Vec<(usize, Option<Exchange>)> =
        pairs.into_iter().filter_map(|(told, heard)| Some((place(told)?, heard.cloned()))).collect();
    messages.sort_by_key(|(place, _)| *place);
    let whole = messages
        .into_iter()
        .filter_map(|(place, heard)| Some((*ids.get(place)?, taken.get(place)?.clone(), heard)));
    whole.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Direction;
    use matchday_core::protocol::{ConversationId, Timestamp};

    fn said(at: i64) -> Exchange {
        Exchange {
            at: Timestamp::from_micros(at),
            connected_at: None,
            first_byte_at: None,
            deadline_at: None,
            done_at: None,
            agent: "REF01".into(),
            direction: Direction::Out,
            peer: "".into(),
            message_type: "GAME_OVER".into(),
            conversation_id: ConversationId::new("conv"),
            match_id: None,
            request: at.to_string(),
            answer: None,
            outcome: "received".into(),
            error_code: None,
        }
    }

    /// What a store offers of messages that were sent at these times, the first with number 1.
    fn page(times: &[i64], before: Option<i64>, limit: usize) -> Page {
        let numbered = (1..).zip(times).filter(|(id, _)| before.is_none_or(|before| *id < before));
        let mut messages: Vec<_> = numbered.map(|(id, at)| (id, said(*at))).collect();
        messages.reverse();
        let is_more = messages.len() > limit;
        messages.truncate(limit);
        Page { next_before: messages.last().map(|(id, _)| *id).filter(|_| is_more), messages }
    }

    #[test]
    fn pages_of_several_stores_follow_each_other_without_gap_or_repetition() {
        let stores: [&[i64]; 3] = [&[1, 4, 5, 9, 12], &[], &[2, 3, 6, 7, 8, 10, 11]];
        for limit in 1..=13 {
            let (mut cursor, mut seen): (Option<Cursor>, Vec<i64>) = (None, Vec::new());
            loop {
                let before = |store: usize| cursor.as_ref().and_then(|cursor| cursor.of(store));
                let pages = stores.iter().enumerate().map(|(store, times)| page(times, before(store), limit));
                let together = Together::of(pages.collect(), limit);
                seen.extend(together.messages.iter().map(|(_, told, _)| told.at.as_micros()));
                match together.next_before {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
            assert_eq!(seen, (1..=12).rev().collect::<Vec<i64>>(), "{limit} at a time");
        }
    }

    #[test]
    fn what_both_sides_recorded_is_told_once() {
        let heard = Exchange { direction: Direction::In, agent: "P01".into(), ..said(5) };
        let [told, heard] =
            [said(5), heard].map(|exchange| Page { messages: vec![(1, exchange)], next_before: None });
        let together = Together::of(vec![heard, told], 10);
        assert_eq!(together.messages.len(), 1);
        let (_, told, heard) = &together.messages[0];
        assert_eq!(
            (told.direction, heard.as_ref().map(|heard| heard.agent.as_str())),
            (Direction::Out, Some("P01"))
        );
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for (cursor, text) in [(Cursor(vec![7]), "7"), (Cursor(vec![7, 0, 12]), "\"7.0.12\"")] {
            let written = serde_json::to_string(&cursor).unwrap();
            assert_eq!(written, text);
            assert_eq!(Cursor::read(written.trim_matches('"')), Ok(cursor));
        }
        assert!(Cursor::read("x").unwrap_err().contains("next_before"));
    }
}
