//! What a match under way holds in memory, in all three machines together.
//!
//! A round of 49 matches, all with one referee, is brought to the point where every choice has been asked for and none
//! is judged: `max alloc` of `cargo bench -p matchday-core --bench memory` is what manager, referee and players hold then
//! beyond what they held before the league began, the fixtures of all 99 rounds and the mail under way included.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on has failed"
)]

mod world;

use divan::{AllocProfiler, Bencher};
use world::World;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn round_of_49_live_matches(bencher: Bencher) {
    bencher.with_inputs(|| World::new(1, 50, 99)).bench_values(World::play_to_first_end);
}
