//! Merges the messages of several stores into one list, newest first, with a cursor. Pure.

use matchday_audit::timeline::paired;
use matchday_store::Exchange;
use matchday_store::messages::Page;
use serde::{Serialize, Serializer};
use std::collections::VecDeque;

/// The position in each store: `120`, or `120.45` of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor(Vec<i64>);

impl Cursor {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<i64>, _> = text
            .split('.')
            .map(|part| part.parse::<u32>().map(i64::from))
            .collect();
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
pub(super) struct MergedPage {
    /// Each with a unique number, and with its receiver's record of it.
    pub(super) messages: Vec<(i64, Exchange, Option<Exchange>)>,
    pub(super) next_before: Option<Cursor>,
}

impl MergedPage {
    /// Takes the newest messages of all pages. The rest comes again with the next cursor.
    pub(super) fn of(pages: Vec<Page>, limit: usize) -> Self {
        let mut stores: Vec<StorePage> = pages.into_iter().map(StorePage::of).collect();
        let mut ids = Vec::new();
        let mut taken = Vec::new();
        while taken.len() < limit {
            let newest = |page: &StorePage| page.messages.front().map(|(_, exchange)| exchange.at);
            let best = (0_i64..)
                .zip(&mut stores)
                .filter(|(_, page)| !page.messages.is_empty());
            let Some((store, page)) = best.max_by_key(|(store, page)| (newest(page), -store))
            else {
                break;
            };
            if let Some((id, exchange)) = page.messages.pop_front() {
                page.taken = id;
                ids.push((store << 40) + id);
                taken.push(exchange);
            }
        }
        let is_more = stores
            .iter()
            .any(|page| !page.messages.is_empty() || page.next_page.is_some());
        let next = stores.iter().map(StorePage::cursor).collect();
        Self {
            messages: deduplicate(&ids, &taken),
            next_before: is_more.then_some(Cursor(next)),
        }
    }
}

/// The page of one store during the merge.
#[derive(Debug)]
struct StorePage {
    messages: VecDeque<(i64, Exchange)>,
    /// The cursor after this page.
    next_page: Option<i64>,
    /// The last message that was taken; at first, one after the newest.
    taken: i64,
}

impl StorePage {
    fn of(page: Page) -> Self {
        let first = page.messages.first().map_or(0, |(id, _)| id + 1);
        Self {
            taken: first,
            next_page: page.next_before,
            messages: page.messages.into(),
        }
    }

    fn cursor(&self) -> i64 {
        match self.next_page {
            Some(next) if self.messages.is_empty() => next,
            _ => self.taken,
        }
    }
}

/// Joins the two records that sender and receiver made of one message.
fn deduplicate(ids: &[i64], taken: &[Exchange]) -> Vec<(i64, Exchange, Option<Exchange>)> {
    let pairs = paired(taken);
    let place = |sent: &Exchange| {
        taken
            .iter()
            .position(|exchange| std::ptr::eq(exchange, sent))
    };
    let mut messages: Vec<(usize, Option<Exchange>)> = pairs
        .into_iter()
        .filter_map(|(sent, received)| Some((place(sent)?, received.cloned())))
        .collect();
    messages.sort_by_key(|(place, _)| *place);
    let whole = messages.into_iter().filter_map(|(place, received)| {
        Some((*ids.get(place)?, taken.get(place)?.clone(), received))
    });
    whole.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::{ConversationId, Timestamp};
    use matchday_store::Direction;

    fn exchange(at: i64) -> Exchange {
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

    /// What a store stores of messages that were sent at these times, the first with number 1.
    fn page(times: &[i64], before: Option<i64>, limit: usize) -> Page {
        let numbered = (1..)
            .zip(times)
            .filter(|(id, _)| before.is_none_or(|before| *id < before));
        let mut messages: Vec<_> = numbered.map(|(id, at)| (id, exchange(*at))).collect();
        messages.reverse();
        let is_more = messages.len() > limit;
        messages.truncate(limit);
        Page {
            next_before: messages.last().map(|(id, _)| *id).filter(|_| is_more),
            messages,
        }
    }

    #[test]
    fn pages_of_several_stores_follow_each_other_without_gap_or_repetition() {
        let stores: [&[i64]; 3] = [&[1, 4, 5, 9, 12], &[], &[2, 3, 6, 7, 8, 10, 11]];
        for limit in 1..=13 {
            let (mut cursor, mut seen): (Option<Cursor>, Vec<i64>) = (None, Vec::new());
            loop {
                let before = |store: usize| cursor.as_ref().and_then(|cursor| cursor.of(store));
                let pages = stores
                    .iter()
                    .enumerate()
                    .map(|(store, times)| page(times, before(store), limit));
                let merged = MergedPage::of(pages.collect(), limit);
                seen.extend(
                    merged
                        .messages
                        .iter()
                        .map(|(_, sent, _)| sent.at.as_micros()),
                );
                match merged.next_before {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
            assert_eq!(
                seen,
                (1..=12).rev().collect::<Vec<i64>>(),
                "{limit} at a time"
            );
        }
    }

    #[test]
    fn what_both_sides_recorded_is_told_once() {
        let received = Exchange {
            direction: Direction::In,
            agent: "P01".into(),
            ..exchange(5)
        };
        let [sent, received] = [exchange(5), received].map(|exchange| Page {
            messages: vec![(1, exchange)],
            next_before: None,
        });
        let merged = MergedPage::of(vec![received, sent], 10);
        assert_eq!(merged.messages.len(), 1);
        let (_, sent, received) = &merged.messages[0];
        assert_eq!(
            (
                sent.direction,
                received.as_ref().map(|received| received.agent.as_str())
            ),
            (Direction::Out, Some("P01"))
        );
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for (cursor, text) in [
            (Cursor(vec![7]), "7"),
            (Cursor(vec![7, 0, 12]), "\"7.0.12\""),
        ] {
            let written = serde_json::to_string(&cursor).unwrap();
            assert_eq!(written, text);
            assert_eq!(Cursor::read(written.trim_matches('"')), Ok(cursor));
        }
        assert!(Cursor::read("x").unwrap_err().contains("next_before"));
    }
}
