//! The figures of a relay, its aims, and both for people. Pure.

use super::super::quantiles::Quantiles;
use super::super::render::{headed, targets_met};
use super::super::targets::{Target, at_least, at_most};
use matchday_terminal::{Colour, Paint};
use serde::Serialize;

const MEGABYTE: f64 = 1024.0 * 1024.0;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RelayFigures {
    pub(crate) made_by: String,
    pub(crate) cores: usize,
    /// Whether this is a release build; otherwise the figures are meaningless.
    pub(crate) optimised: bool,
    pub(crate) calls: Calls,
    pub(crate) idle: Idle,
    pub(crate) reconnect: Reconnect,
    pub(crate) league: Leagues,
}

/// The same call, one after another, each way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Calls {
    pub(crate) direct: Quantiles,
    pub(crate) relayed: Quantiles,
}

/// Streams on which nothing happens, at one manager.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Idle {
    /// That were open at the end.
    pub(crate) streams: usize,
    /// Of the manager without a stream. `None` where the system does not tell it, as below.
    pub(crate) before_bytes: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpu_percent: Option<f64>,
}

/// From a cut to the next stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Reconnect {
    pub(crate) cuts: usize,
    pub(crate) median_s: f64,
    pub(crate) most_s: f64,
}

/// A league with players that are called directly, and one with players that dial out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Leagues {
    pub(crate) players: u16,
    pub(crate) referees: u16,
    pub(crate) direct_matches_per_s: f64,
    pub(crate) relayed_matches_per_s: f64,
    pub(crate) technical_losses: usize,
}

pub(crate) fn targets(figures: &RelayFigures) -> Vec<Target> {
    let RelayFigures { calls, idle, reconnect, league, .. } = figures;
    let added = calls.relayed.p99_ms - calls.direct.p99_ms;
    let megabytes = idle.memory_bytes.map(|bytes| bytes as f64 / MEGABYTE);
    let ratio = league.relayed_matches_per_s / league.direct_matches_per_s;
    [
        at_most("p99 that the relay adds to a call", 2.0, 2, " ms", Some(added)),
        at_most("memory with idle streams", 200.0, 0, " MB", megabytes),
        at_most("CPU with idle streams", 1.0, 2, " %", idle.cpu_percent),
        at_most("reconnect after a cut, slowest", 2.0, 2, " s", Some(reconnect.most_s)),
        at_least("matches/s of players that dial out, to direct ones", 0.5, 2, "", Some(ratio)),
        at_most("technical losses", 0.0, 0, "", Some(league.technical_losses as f64)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn for_people(figures: &RelayFigures, paint: Paint) -> String {
    let RelayFigures { calls, idle, reconnect, league, cores, .. } = figures;
    let mut parts = Vec::new();
    if !figures.optimised {
        parts.push(paint.colour(
            Colour::Yellow,
            "Not built for speed: these figures say nothing about a release build (cargo run --release -- bench --relay).",
        ));
    }
    let row = |way: &str, times: &Quantiles| {
        let ms = |time: f64| format!("{time:.2}");
        vec![way.to_owned(), ms(times.p50_ms), ms(times.p99_ms), ms(times.p999_ms)]
    };
    let title = format!("{} calls each way on {cores} cores, in milliseconds", calls.direct.count);
    let rows = [row("direct", &calls.direct), row("through the relay", &calls.relayed)];
    parts.push(headed(&title, "call|p50|p99|p99.9", &rows, paint));

    let megabytes =
        |bytes: Option<u64>| bytes.map(|bytes| format!("{:.0}", bytes as f64 / MEGABYTE)).unwrap_or_default();
    let row = vec![
        idle.streams.to_string(),
        megabytes(idle.before_bytes),
        megabytes(idle.memory_bytes),
        idle.cpu_percent.map(|percent| format!("{percent:.2}")).unwrap_or_default(),
    ];
    parts.push(headed("Streams at rest", "streams|memory without, MB|memory, MB|CPU, %", &[row], paint));

    let row = vec![
        reconnect.cuts.to_string(),
        format!("{:.2}", reconnect.median_s),
        format!("{:.2}", reconnect.most_s),
    ];
    parts.push(headed("From a cut to the next stream, in seconds", "cuts|median|slowest", &[row], paint));

    let rows = [("direct", league.direct_matches_per_s), ("dial out", league.relayed_matches_per_s)]
        .map(|(way, rate)| vec![way.to_owned(), format!("{rate:.0}")]);
    let title = format!(
        "A league of {} players and {} referees; {} technical losses",
        league.players, league.referees, league.technical_losses
    );
    parts.push(headed(&title, "players|matches/s", &rows, paint));
    parts.push(targets_met(&targets(figures), paint));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> RelayFigures {
        let times = |p50_ms, p99_ms| Quantiles { count: 5_000, p50_ms, p99_ms, p999_ms: 2.0 * p99_ms };
        RelayFigures {
            made_by: "matchday 0.1.0".to_owned(),
            cores: 2,
            optimised: true,
            calls: Calls { direct: times(0.1, 0.3), relayed: times(0.4, 1.2) },
            idle: Idle {
                streams: 5_000,
                before_bytes: Some(20 << 20),
                memory_bytes: Some(120 << 20),
                cpu_percent: Some(0.7),
            },
            reconnect: Reconnect { cuts: 20, median_s: 0.8, most_s: 1.6 },
            league: Leagues {
                players: 50,
                referees: 10,
                direct_matches_per_s: 400.0,
                relayed_matches_per_s: 240.0,
                technical_losses: 0,
            },
        }
    }

    #[test]
    fn every_figure_stands_beside_its_aim() {
        insta::assert_snapshot!(for_people(&figures(), Paint::Plain));
    }

    #[test]
    fn what_misses_its_aim_says_so() {
        let mut figures = figures();
        figures.calls.relayed.p99_ms = 2.4;
        figures.league.technical_losses = 1;
        figures.idle.cpu_percent = None;
        let targets = targets(&figures);
        assert_eq!(targets.len(), 5, "what was not measured has no aim: {targets:?}");
        let missed: Vec<&str> =
            targets.iter().filter(|target| !target.met).map(|target| target.what).collect();
        assert_eq!(missed, ["p99 that the relay adds to a call", "technical losses"]);
    }
}
