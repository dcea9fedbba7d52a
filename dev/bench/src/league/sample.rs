//! Sample figures for tests.

use super::figures::{
    Allocations, Answers, Core, FORMAT, Kind, League, LeagueFigures, Memory, Queries, Run,
};
use crate::quantiles::Quantiles;
use crate::size::Size;

const MEGABYTE: u64 = 1024 * 1024;

/// `speed` scales the throughput.
pub(crate) fn figures(speed: f64) -> LeagueFigures {
    let one = Kind::OneProcess;
    let outside = Kind::OutsidePlayers;
    LeagueFigures {
        format: FORMAT,
        leagues: vec![
            league(Size::new(16, 2), one, 120, speed),
            league(Size::new(50, 10), one, 1225, speed),
            league(Size::new(50, 10), outside, 1225, speed * 0.6),
            league(Size::new(99, 10), one, 4851, speed),
            league(Size::new(99, 10), outside, 4851, speed * 0.6),
        ],
        queries: Some(Queries {
            size: Size::new(50, 10),
            took: vec![
                (
                    "GET_STANDINGS".to_owned(),
                    quantiles(2_000, 1.5, 9.9, 14.25),
                ),
                (
                    "GET_NEXT_MATCH".to_owned(),
                    quantiles(2_000, 0.75, 4.0, 7.0),
                ),
            ],
        }),
        core: vec![Core {
            size: Size::new(50, 10),
            matches_per_s: vec![510_000.0, 498_000.0, 505_000.0],
        }],
        allocations: vec![Allocations {
            size: Size::new(50, 10),
            per_match: 812.5,
        }],
        first_match_ms: vec![120.0, 130.0, 125.0],
        player_bytes: Some(5 * MEGABYTE),
    }
}

fn league(size: Size, kind: Kind, matches: usize, speed: f64) -> League {
    let quarters: Vec<u64> = match kind {
        Kind::OneProcess => vec![60, 64, 65, 65],
        Kind::OutsidePlayers => vec![640],
    };
    let run = |luck: f64| Run {
        matches,
        technical_losses: 0,
        exchanges: matches * 10,
        seconds: matches as f64 / (4_000.0 * speed * luck),
        ceiling_per_s: 60_000.0,
        ceiling_cpu_us_per_exchange: Some(33.0),
        cpu_us_per_match: Some(500.0 / speed),
        memory: Some(Memory {
            start_bytes: 40 * MEGABYTE,
            quarters_bytes: quarters
                .iter()
                .map(|megabytes| megabytes * MEGABYTE)
                .collect(),
            most_bytes: quarters.iter().max().copied().unwrap_or_default() * MEGABYTE,
        }),
        log_bytes_per_match: 9_000.0,
    };
    let answers = |message_type: &str, per_match, took| Answers {
        message_type: message_type.to_owned(),
        per_match,
        took,
    };
    League {
        size,
        kind,
        runs: [0.97, 1.0, 1.02].map(run).to_vec(),
        answers: vec![
            answers(
                "GAME_INVITATION",
                2.0,
                quantiles(matches * 6, 2.5, 8.0, 12.0),
            ),
            answers(
                "MATCH_RESULT_REPORT",
                1.0,
                quantiles(matches * 3, 4.25, 9.5, 15.0),
            ),
        ],
        standings: Some(quantiles(matches * 3, 31.0, 62.0, 80.0)),
    }
}

fn quantiles(count: usize, p50_ms: f64, p99_ms: f64, p999_ms: f64) -> Quantiles {
    Quantiles {
        count,
        p50_ms,
        p99_ms,
        p999_ms,
    }
}
