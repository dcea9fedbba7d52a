//! Measures simulated matches per second on all cores: pairs of strategies of every game, and leagues of even/odd.
//! `cargo run --release -p matchday-research --example pace`, or with the name of one game behind ` -- `.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "an example that cannot go on has failed"
)]

use matchday_core::game::{self, strategy};
use matchday_core::league::format::{Competition, Format};
use matchday_core::protocol::GameType;
use matchday_research::{Duels, Entrant, Leagues, Run};
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long each measurement takes.
const TIME: Duration = Duration::from_secs(1);

fn main() {
    let cores = std::thread::available_parallelism().unwrap();
    let stop = AtomicBool::new(false);
    let run = Run {
        threads: cores,
        stop: &stop,
    };
    let only = std::env::args().nth(1);
    for game in game::GAMES
        .iter()
        .filter(|game| only.as_ref().is_none_or(|only| only == game.name))
    {
        for first in strategy::of(game) {
            for second in strategy::of(game).skip_while(|entry| entry.name != first.name) {
                let entrants = [first, second].map(Entrant::built_in);
                let series = NonZeroU32::new(100).unwrap();
                let duels = Duels {
                    game,
                    entrants: &entrants,
                    rules: None,
                    matches: u64::MAX >> 8,
                    series,
                    openings: &[],
                    seed: 1,
                    every_unit: false,
                    records: false,
                };
                let began = Instant::now();
                let pairs = duels.play(&run, |_, _| {
                    if began.elapsed() > TIME {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                let played: u64 = pairs.iter().map(|pair| pair.tally.matches()).sum();
                let pace = played as f64 / began.elapsed().as_secs_f64();
                println!(
                    "{}, {} against {}: {pace:.0} matches/s",
                    game.name, first.name, second.name
                );
            }
        }
    }
    if only.is_some() {
        return;
    }
    let even_odd = game::find(&GameType::new("even_odd")).unwrap();
    let entrants: Vec<Entrant> = strategy::of(even_odd).map(Entrant::built_in).collect();
    for format in Format::ENDING {
        let competition = Competition::of(format);
        let leagues = Leagues {
            game: even_odd,
            entrants: &entrants,
            rules: None,
            competition: &competition,
            leagues: 10_000,
            seed: 1,
            records: false,
        };
        let began = Instant::now();
        let seasons = leagues
            .play(&run, |_, _| ControlFlow::Continue(()))
            .unwrap();
        let pace = seasons.matches as f64 / began.elapsed().as_secs_f64();
        println!("even_odd, {format} of 8: {pace:.0} matches/s");
    }
}
