//! The workload of a league as bytes: which messages, in which order, to how many addresses. Pure.
//!
//! Recorded exchanges are redacted and truncated, so they cannot be sent again. Their order and types are kept; the
//! messages come from a league of the same size that is played without a network.

use crate::size::Size;
use anyhow::{Result, bail};
use bytes::Bytes;
use matchday_benchmark_league::{BenchmarkLeague, Exchange};
use matchday_core::agent::Content;
use matchday_core::protocol::Message;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::ReplyTo;
use matchday_core::protocol::jsonrpc::Id;
use matchday_store::reader::ExchangeTimes;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many samples of one message type are kept. Standings of 99 rows take many kilobytes.
const SAMPLES_MAX: usize = 64;

#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) addresses: usize,
    pub(crate) at_once: usize,
    /// Each as the index of an address and of a sample.
    pub(crate) order: Vec<(usize, usize)>,
    pub(crate) samples: Arc<[Sample]>,
}

/// A request and its answer. The request's id is the sample's index, by which the server finds the answer.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) request: Bytes,
    pub(crate) answer: Bytes,
}

impl Workload {
    /// The workload of a league of this size that made these calls.
    pub(crate) fn of(size: Size, calls: &[ExchangeTimes]) -> Result<Self> {
        let (samples, by_type) = samples(size)?;
        let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
        let mut peers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut order = Vec::with_capacity(calls.len());
        for call in calls {
            // Calls that are not league messages, such as pings, are rare.
            let Some(numbers) = by_type.get(&call.message_type) else {
                continue;
            };
            let turn = turns.entry(&call.message_type).or_default();
            let sample = numbers.get(*turn % numbers.len().max(1));
            *turn += 1;
            let known = peers.len();
            let address = *peers.entry(&call.peer).or_insert(known);
            order.extend(sample.map(|sample| (address % size.agents(), *sample)));
        }
        if order.is_empty() {
            bail!("the league of {size} kept no exchanges, so there is nothing to compare it with");
        }
        Ok(Self {
            addresses: size.agents(),
            at_once: size.at_once(),
            order,
            samples,
        })
    }
}

type ByType = BTreeMap<SmolStr, Vec<usize>>;

fn samples(size: Size) -> Result<(Arc<[Sample]>, ByType)> {
    let mut sampled: BTreeMap<SmolStr, SampledMessages> = BTreeMap::new();
    let mut league = BenchmarkLeague::gather(size.players.into(), size.referees.into())?;
    league.play_showing(|exchange| {
        sampled
            .entry(exchange.message.message_type().name().into())
            .or_default()
            .consider(exchange);
    });
    let mut samples = Vec::new();
    let mut by_type = ByType::new();
    for (kind, SampledMessages { kept, .. }) in sampled {
        for (message, answer) in kept {
            by_type.entry(kind.clone()).or_default().push(samples.len());
            samples.push(Sample::written(
                i64::try_from(samples.len())?,
                &message,
                &answer,
            ));
        }
    }
    Ok((samples.into(), by_type))
}

impl Sample {
    fn written(number: i64, message: &Message, answer: &Content) -> Self {
        let reply = write_reply(&ReplyTo::Id(Id::from(number)), Dialect::Standard, answer);
        Self {
            request: write_call(Dialect::Standard, number, message).into(),
            answer: HttpReply::one(reply).body.into(),
        }
    }
}

/// Evenly spaced messages of one type, from the whole league.
#[derive(Debug, Default)]
struct SampledMessages {
    kept: Vec<(Message, Content)>,
    seen: usize,
    /// One of 2^halvings messages is kept.
    halvings: u32,
}

impl SampledMessages {
    fn consider(&mut self, exchange: &Exchange<'_>) {
        if self.seen.trailing_zeros() >= self.halvings {
            self.kept
                .push((exchange.message.clone(), exchange.answer.clone()));
        }
        self.seen += 1;
        if self.kept.len() > SAMPLES_MAX {
            let mut numbers = 0..;
            self.kept.retain(|_| {
                numbers
                    .next()
                    .is_some_and(|number: usize| number.is_multiple_of(2))
            });
            self.halvings += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::Timestamp;
    use matchday_store::Direction;
    use serde_json::Value;

    fn call(kind: &str, peer: &str) -> ExchangeTimes {
        let at = Timestamp::EPOCH;
        let direction = Direction::Out;
        let peer = peer.into();
        let message_type = kind.into();
        ExchangeTimes {
            at,
            answered_at: Some(at),
            done_at: Some(at),
            direction,
            peer,
            message_type,
            match_id: None,
            answered: true,
        }
    }

    #[test]
    fn the_order_of_a_league_is_kept_and_its_words_are_real() {
        let kinds = [
            "GAME_INVITATION",
            "LEAGUE_STANDINGS_UPDATE",
            "ping",
            "GAME_INVITATION",
        ];
        let calls: Vec<_> = kinds
            .iter()
            .zip(["a", "b", "c", "b"])
            .map(|(kind, peer)| call(kind, peer))
            .collect();
        let workload = Workload::of(Size::new(4, 1), &calls).unwrap();
        let addresses: Vec<usize> = workload.order.iter().map(|(address, _)| *address).collect();
        assert_eq!(addresses, [0, 1, 1]);
        let read = |bytes: &Bytes| serde_json::from_slice::<Value>(bytes).unwrap();
        for ((_, number), kind) in workload.order.iter().zip([kinds[0], kinds[1], kinds[3]]) {
            let sample = &workload.samples[*number];
            let request = read(&sample.request);
            let answer = read(&sample.answer);
            assert_eq!(request["params"]["message_type"], *kind);
            assert_eq!(
                (&request["id"], &answer["id"]),
                (&Value::from(*number), &Value::from(*number))
            );
            assert!(answer["result"].is_object(), "{answer}");
        }
        assert_eq!((workload.addresses, workload.at_once), (6, 4));
    }

    #[test]
    fn a_league_without_records_cannot_be_compared() {
        let error = Workload::of(Size::new(4, 1), &[]).unwrap_err().to_string();
        assert!(error.contains("kept no exchanges"), "{error}");
    }

    #[test]
    fn few_of_very_many_messages_are_kept_and_from_the_whole_course() {
        let mut league = BenchmarkLeague::gather(16, 2).unwrap();
        let mut sampled = SampledMessages::default();
        league.play_showing(|exchange| sampled.consider(exchange));
        assert!(
            sampled.seen > 10 * SAMPLES_MAX && sampled.kept.len() <= SAMPLES_MAX,
            "{}",
            sampled.kept.len()
        );
        assert!(
            sampled.kept.len() >= SAMPLES_MAX / 2,
            "{}",
            sampled.kept.len()
        );
    }
}
