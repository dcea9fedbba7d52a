//! Plays very many leagues in simulated worlds, each decided by its seed, and stops at nothing but a broken rule.

use matchday_core::entropy::Entropy;
use matchday_sim::{Options, Report, Scenario, Stats};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const HELP: &str = "\
Plays leagues in simulated worlds with a hostile network and crashing agents, and checks every step.

Usage: cargo run --release -p matchday-sim --example soak -- [OPTIONS]

  --seeds N    how many seeds to run (default 1000)
  --from N     the first seed (default 0)
  --jobs N     how many at once (default: as many as there are cores)
  --seed N     run this one seed alone
  --trace      with --seed: print all that happens
  --shared-store   every league on several machines that share its store, with leases and epochs
  --help       this text

Example: cargo run --release -p matchday-sim --example soak -- --seeds 20000
A seed that breaks a rule is named with the command that shows it again; the exit code is then 1.";

struct Arguments {
    seeds: u64,
    from: u64,
    jobs: usize,
    only: Option<u64>,
    trace: bool,
    shared_store: bool,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => match arguments.only {
            Some(seed) => show(seed, &arguments),
            None => soak(&arguments),
        },
        Ok(None) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("{what}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut arguments = Arguments {
        seeds: 1_000,
        from: 0,
        jobs: cores,
        only: None,
        trace: false,
        shared_store: false,
    };
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64, String> {
            let text = words.next().ok_or(format!("{word} needs a number"))?;
            text.parse()
                .map_err(|_| format!("{word} needs a number, not {text:?}"))
        };
        match word.as_str() {
            "--seeds" => arguments.seeds = number()?,
            "--from" => arguments.from = number()?,
            "--jobs" => arguments.jobs = usize::try_from(number()?).unwrap_or(1).max(1),
            "--seed" => arguments.only = Some(number()?),
            "--trace" => arguments.trace = true,
            "--shared-store" => arguments.shared_store = true,
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("there is no option {word:?}")),
        }
    }
    Ok(Some(arguments))
}

fn run(seed: u64, arguments: &Arguments) -> Report {
    let scenario = arguments
        .shared_store
        .then(|| Scenario::drawn_with_shared_store(&mut Entropy::numbered(seed)));
    matchday_sim::run(
        seed,
        &Options {
            keep_trace: arguments.trace,
            scenario,
            ..Options::default()
        },
    )
}

/// Runs one seed and prints what came of it.
fn show(seed: u64, arguments: &Arguments) -> ExitCode {
    let report = run(seed, arguments);
    for line in &report.trace {
        println!("{line}");
    }
    println!(
        "seed {seed}: trace {:016x}, {:?}",
        report.trace_hash, report.stats
    );
    match report.failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            println!("FAILED: {failure}");
            ExitCode::from(1)
        }
    }
}

fn soak(arguments: &Arguments) -> ExitCode {
    let begun = Instant::now();
    let next = AtomicU64::new(0);
    let total = Mutex::new(Total::default());
    let running = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= arguments.seeds {
                        break;
                    }
                    let seed = arguments.from + index;
                    lock(&running).insert(seed, Instant::now());
                    let report = run(seed, arguments);
                    lock(&running).remove(&seed);
                    if let Some(failure) = &report.failure {
                        eprintln!("seed {seed} FAILED: {failure}");
                    }
                    lock(&total).take(&report);
                }
            });
        }
        scope.spawn(|| progress(&total, &running, arguments.seeds, begun));
    });
    let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    total.print(arguments.seeds, arguments.shared_store, begun.elapsed());
    if total.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says how far the run is, and which seeds take long.
fn progress(
    total: &Mutex<Total>,
    running: &Mutex<BTreeMap<u64, Instant>>,
    seeds: u64,
    begun: Instant,
) {
    let mut shown = Instant::now();
    loop {
        let done = lock(total).seeds;
        if done >= seeds {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
        if shown.elapsed() >= Duration::from_secs(2) {
            shown = Instant::now();
            eprintln!("{done} of {seeds} seeds, {:.0?}", begun.elapsed());
            for (seed, since) in lock(running)
                .iter()
                .filter(|(_, since)| since.elapsed() >= SLOW)
            {
                eprintln!("seed {seed} has run for {:.0?}", since.elapsed());
            }
        }
    }
}

/// From when on a seed that has not ended is named.
const SLOW: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Total {
    seeds: u64,
    stats: Stats,
    steps: u64,
    shared_stores: u64,
    failures: Vec<(u64, String)>,
}

/// So many failures are enough to begin with.
const FAILURES_SHOWN: usize = 20;

impl Total {
    fn take(&mut self, report: &Report) {
        let Stats {
            messages,
            lost,
            refused,
            duplicated,
            crashes,
            steps_lost,
            forgeries,
            lies,
            takeovers,
            tenures,
            pauses,
            cuts,
            handovers,
            unknown_commits,
            fenced,
            matches,
            technical_losses,
            reassigned,
            virtual_time,
            completed_under_fault,
            bound_used_percent,
            ..
        } = &report.stats;
        self.seeds += 1;
        let sum = &mut self.stats;
        sum.messages += messages;
        sum.lost += lost;
        sum.refused += refused;
        sum.duplicated += duplicated;
        sum.crashes += crashes;
        sum.steps_lost += steps_lost;
        sum.forgeries += forgeries;
        sum.lies += lies;
        sum.takeovers += takeovers;
        sum.tenures += tenures;
        sum.pauses += pauses;
        sum.cuts += cuts;
        sum.handovers += handovers;
        sum.unknown_commits += unknown_commits;
        sum.fenced += fenced;
        self.shared_stores += u64::from(*tenures > 0);
        sum.matches += matches;
        sum.technical_losses += technical_losses;
        sum.reassigned += reassigned;
        sum.virtual_time += *virtual_time;
        sum.completed_under_fault += completed_under_fault;
        sum.bound_used_percent = sum.bound_used_percent.max(*bound_used_percent);
        self.steps += report.stats.all_steps();
        if let Some(failure) = &report.failure {
            self.failures.push((report.seed, failure.to_string()));
        }
    }

    fn print(&self, seeds: u64, shared_store: bool, wall: Duration) {
        let Stats {
            messages,
            lost,
            refused,
            duplicated,
            crashes,
            steps_lost,
            forgeries,
            lies,
            ..
        } = &self.stats;
        let Stats {
            matches,
            technical_losses,
            reassigned,
            virtual_time,
            takeovers,
            ..
        } = &self.stats;
        let Stats {
            completed_under_fault,
            bound_used_percent,
            ..
        } = &self.stats;
        println!(
            "{seeds} seeds in {wall:.1?}, {} failed",
            self.failures.len()
        );
        println!(
            "  {matches} matches, {technical_losses} of them technical losses, {reassigned} reassigned"
        );
        println!(
            "  {} steps, {messages} messages: {lost} lost, {duplicated} duplicated, {refused} refused",
            self.steps
        );
        println!(
            "  {crashes} crashes losing {steps_lost} steps, {forgeries} forged reports, {lies} lies of referees, \
             {takeovers} attempts at a takeover"
        );
        let Stats {
            tenures,
            pauses,
            cuts,
            handovers,
            unknown_commits,
            fenced,
            ..
        } = &self.stats;
        println!(
            "  {} leagues on a shared store: {} changes of owner, {handovers} of them handed over, {pauses} pauses, {cuts} cuts from the \
             store, {unknown_commits} commits of unknown outcome, {fenced} owners fenced",
            self.shared_stores,
            tenures.saturating_sub(self.shared_stores)
        );
        println!(
            "  {:.1} days of virtual time",
            virtual_time.as_secs_f64() / 86_400.0
        );
        println!(
            "  {completed_under_fault} leagues were over before the faults, the others after at most {bound_used_percent} % of their bound"
        );
        let mut failures = self.failures.clone();
        failures.sort();
        for (seed, what) in failures.iter().take(FAILURES_SHOWN) {
            let option = if shared_store { " --shared-store" } else { "" };
            println!("\nseed {seed} FAILED: {what}");
            println!(
                "  cargo run --release -p matchday-sim --example soak -- --seed {seed} --trace{option}"
            );
        }
    }
}
