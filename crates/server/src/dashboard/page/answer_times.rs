//! Response times of a player, compared with its deadlines. Pure.

use matchday_core::league::League;
use matchday_core::protocol::messages::Cause;
use matchday_core::protocol::{MessageType, PlayerId};
use matchday_stats::quantile::quantile;
use matchday_store::messages::Call;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Response times of moves, and of each kind of call. Where no calls were recorded, moves are as referees report them: one mean
/// for each match.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct AnswerTimes {
    #[serde(flatten)]
    moves: TimeStatistics,
    /// Whether each time is the mean of a match.
    means: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    by_type: BTreeMap<&'static str, TimeStatistics>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct TimeStatistics {
    deadline_ms: u64,
    pub(super) count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p50_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p99_ms: Option<u32>,
    /// Of moves: matches lost by a timeout. Of calls: those without an answer.
    late: usize,
    buckets: Vec<Bucket>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Bucket {
    from_ms: u64,
    to_ms: u64,
    count: usize,
}

/// Where the buckets end, as far as they lie before the deadline.
const STEPS_MS: [u64; 15] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000,
];

pub(super) fn of(league: &League, player: &PlayerId, calls: &[Call]) -> AnswerTimes {
    let decided = || {
        let own = league.matches.values().filter(|game| game.has(player));
        own.filter_map(|game| game.decision.as_ref())
    };
    let times = decided().filter_map(|decision| decision.result.details.answer_ms.as_ref());
    let times = times
        .filter_map(|times| times.get(player).copied().flatten())
        .collect();
    let late = decided().filter_map(|decision| decision.blame(player));
    let late = late
        .filter(|blame| matches!(blame.cause, Cause::Silent | Cause::Unreachable))
        .count();
    let timing = &league.settings.timing;
    let is_move = |call: &&Call| {
        [MessageType::ChooseParityCall, MessageType::GameMoveCall]
            .iter()
            .any(|kind| call.message_type == kind.name())
    };
    let moves: Vec<&Call> = calls.iter().filter(is_move).collect();
    let of_type = |(kind, deadline): (MessageType, Duration)| {
        let (answered, unanswered): (Vec<&Call>, Vec<&Call>) = calls
            .iter()
            .filter(|call| call.message_type == kind.name())
            .partition(|call| call.answered);
        let times = TimeStatistics::of(
            answered.iter().filter_map(|call| call.took_ms()).collect(),
            unanswered.len(),
            deadline,
        );
        (times.count + times.late > 0).then_some((kind.name(), times))
    };
    let kinds = [
        (MessageType::GameInvitation, timing.join),
        (MessageType::ChooseParityCall, timing.choice),
        (MessageType::GameMoveCall, timing.choice),
        (MessageType::GameOver, timing.game_over),
    ];
    AnswerTimes {
        means: moves.is_empty(),
        moves: match moves.as_slice() {
            [] => TimeStatistics::of(times, late, timing.choice),
            moves => {
                let answered: Vec<u32> = moves.iter().filter_map(|call| call.took_ms()).collect();
                let late = moves.len() - answered.len();
                TimeStatistics::of(answered, late, timing.choice)
            }
        },
        by_type: kinds.into_iter().filter_map(of_type).collect(),
    }
}

impl TimeStatistics {
    pub(super) fn of(mut times: Vec<u32>, late: usize, deadline: Duration) -> Self {
        let deadline_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        times.sort_unstable();
        let percentile = |share| quantile(&times, share).map(|ms| ms.round() as u32);
        Self {
            deadline_ms,
            count: times.len(),
            p50_ms: percentile(0.5),
            p99_ms: percentile(0.99),
            late,
            buckets: buckets(&times, deadline_ms),
        }
    }
}

/// A histogram up to the deadline, with one more bucket for what lies beyond it.
fn buckets(times: &[u32], deadline_ms: u64) -> Vec<Bucket> {
    let ends = STEPS_MS
        .into_iter()
        .filter(|end| *end < deadline_ms)
        .chain([deadline_ms]);
    let mut from_ms = 0;
    let count = |from: u64, to: u64| {
        times
            .iter()
            .filter(|time| (from..to).contains(&u64::from(**time)))
            .count()
    };
    let mut buckets = Vec::new();
    for to_ms in ends {
        buckets.push(Bucket {
            from_ms,
            to_ms,
            count: count(from_ms, to_ms),
        });
        from_ms = to_ms;
    }
    let beyond = times.last().map_or(0, |last| u64::from(*last) + 1);
    if beyond > from_ms {
        buckets.push(Bucket {
            from_ms,
            to_ms: beyond,
            count: count(from_ms, beyond),
        });
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_one_bucket() {
        let times = [0, 1, 4, 4, 299, 300, 900];
        let buckets = buckets(&times, 300);
        assert_eq!(
            buckets.iter().map(|bucket| bucket.count).sum::<usize>(),
            times.len()
        );
        let ends: Vec<u64> = buckets.iter().map(|bucket| bucket.to_ms).collect();
        assert_eq!(ends, [1, 2, 5, 10, 20, 50, 100, 200, 300, 901]);
        assert!(
            buckets
                .windows(2)
                .all(|pair| pair[0].to_ms == pair[1].from_ms)
        );
    }
}
