//! What a match under way holds in memory, in all three machines together.
//!
//! The second round of 99 players, 49 matches, is brought from its announcement to the point where every choice is in and no
//! end has been told: `max alloc` of `cargo bench -p matchday-core` is what manager, referees and players hold then beyond
//! what they held before, the mail under way included.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use divan::{AllocProfiler, Bencher};
use matchday_benchmark_league::BenchmarkLeague;
use matchday_core::protocol::MessageType;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn round_of_49_live_matches(bencher: Bencher) {
    let before_second_round = || {
        let mut league = BenchmarkLeague::gather(99, 5).unwrap();
        league.play_keeping(1);
        league
    };
    bencher
        .with_inputs(before_second_round)
        .bench_values(|mut league| {
            league.play_until(MessageType::GameOver);
            league
        });
}
