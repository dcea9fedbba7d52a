//! How many matches a second are simulated here: even/odd the quick way, beside the core's own rules and strategies for the
//! same matches; and every other game. `cargo run --release -p matchday-simulate --example pace`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example that cannot go on has failed")]

use matchday_core::game::{self, GameEntry};
use matchday_core::league::format::{Competition, Format};
use matchday_core::player::strategy;
use matchday_core::protocol::GameType;
use matchday_core::sim::bare::BareLeague;
use matchday_simulate::{Duels, Entrant, Leagues, Run};
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

fn duels(game: &'static GameEntry, entrants: &[Entrant], matches: u64, threads: usize) -> f64 {
    let series = NonZeroU32::new(100).unwrap();
    let duels = Duels { game, entrants, matches, series, seed: 1, closely: false };
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let pairs = duels.play(&Run { threads: NonZeroUsize::new(threads).unwrap(), stop: &stop }, |_| {
        ControlFlow::Continue(())
    });
    let played: u64 = pairs.iter().map(|pair| pair.tally.matches()).sum();
    played as f64 / began.elapsed().as_secs_f64()
}

fn main() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let even_odd = game::find(&GameType::new("even_odd")).unwrap();
    let entrants =
        |game: &'static GameEntry| -> Vec<Entrant> { strategy::of(game).map(Entrant::built_in).collect() };
    let began = Instant::now();
    let played: u32 = (0..3).map(|_| BareLeague::gather(50, 2).unwrap().play()).sum();
    let machines = f64::from(played) / began.elapsed().as_secs_f64();
    println!("even_odd, real machines, 1 thread: {machines:.0} matches/s");
    for threads in 1..=cores {
        let quick = duels(even_odd, &entrants(even_odd), 2_000_000, threads);
        println!(
            "even_odd, every pair, {threads} thread(s): {quick:.0} matches/s, {:.0} times the machines",
            quick / machines
        );
    }
    for entry in strategy::of(even_odd) {
        let pair = [entry, entry].map(Entrant::built_in);
        println!(
            "  {} against itself, {cores} threads: {:.0} matches/s",
            entry.name,
            duels(even_odd, &pair, 20_000_000, cores)
        );
    }
    let stop = AtomicBool::new(false);
    let run = Run { threads: NonZeroUsize::new(cores).unwrap(), stop: &stop };
    for format in Format::ALL {
        let competition = Competition::of(format);
        let entrants = entrants(even_odd);
        let leagues = Leagues {
            game: even_odd,
            entrants: &entrants,
            competition: &competition,
            leagues: 10_000,
            seed: 1,
        };
        let began = Instant::now();
        let seasons = leagues.play(&run, |_| ControlFlow::Continue(())).unwrap();
        let pace = seasons.matches as f64 / began.elapsed().as_secs_f64();
        println!("even_odd, {format} of 8, {cores} threads: {pace:.0} matches/s");
    }
    for game in game::GAMES.iter().filter(|game| game.name != "even_odd") {
        let matches = if game.name == "connect_four" { 200 } else { 5_000 };
        println!(
            "{}, {cores} threads: {:.0} matches/s",
            game.name,
            duels(game, &entrants(game), matches, cores)
        );
    }
}
