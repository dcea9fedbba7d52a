//! Plays very many leagues at once in memory, to hold a capacity model against: what an agent, a league and a match cost without
//! network and disk.

use matchday_benchmark_league::BenchmarkLeague;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "\
Usage: cargo run --release -p matchday-core --example capacity -- [LEAGUES [PLAYERS]]

Gathers LEAGUES leagues (1000) of PLAYERS players (8) and a referee each, all in memory at the same time, plays them to the end
on one core, and says what they cost.";

fn main() -> ExitCode {
    let numbers: Result<Vec<u32>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (leagues, players) = match numbers.as_deref() {
        Ok([]) => (1000, 8),
        Ok([leagues]) => (*leagues, 8),
        Ok([leagues, players]) => (*leagues, *players),
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    let empty = resident_kb();
    let began = Instant::now();
    let gathered: Result<Vec<_>, _> = (0..leagues)
        .map(|_| BenchmarkLeague::gather(players, 1))
        .collect();
    let mut gathered = match gathered {
        Ok(gathered) => gathered,
        Err(broken) => {
            eprintln!("{broken:?}");
            return ExitCode::FAILURE;
        }
    };
    let registered_in = began.elapsed();
    let registered = resident_kb();
    let began = Instant::now();
    let matches: u64 = gathered
        .iter_mut()
        .map(|league| u64::from(league.play()))
        .sum();
    let took = began.elapsed();
    let played = resident_kb();
    let agents = u64::from(leagues) * u64::from(players + 2);
    println!("{agents} agents in {leagues} leagues of {players} players and a referee");
    println!(
        "registered in {:.1} s; {} KB an agent",
        registered_in.as_secs_f64(),
        (registered - empty) / agents
    );
    println!(
        "{matches} matches in {:.1} s: {:.0} a second on one core; {} bytes a match stay in memory",
        took.as_secs_f64(),
        matches as f64 / took.as_secs_f64(),
        played.saturating_sub(registered) * 1024 / matches.max(1),
    );
    ExitCode::SUCCESS
}

/// The memory of this process; 0 where the system does not say.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
