//! What a match costs in the pure machines: whole leagues, typed messages, no JSON, no network, no waiting.
//!
//! A manager, referees and players of the real make play every round to the end, with all that is told to everyone on
//! the way (announcements, tables, ends of rounds). Their events are made and dropped. Registration is not counted.
//!
//! `cargo bench -p matchday-core` shows matches a second; the reciprocal is the cost of one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on has failed"
)]

mod world;

use divan::Bencher;
use divan::counter::ItemsCount;
use world::World;

fn main() {
    divan::main();
}

/// One referee that takes as many matches at once as a round has: manager, referee and players, the three agents.
#[divan::bench(args = [4, 16, 50, 99])]
fn one_referee(bencher: Bencher, players: u32) {
    bench(bencher, 1, 50, players);
}

/// Two referees of ten matches at once, as a league is run: in a large one, matches wait for room.
#[divan::bench(args = [4, 16, 50, 99])]
fn two_referees(bencher: Bencher, players: u32) {
    bench(bencher, 2, 10, players);
}

fn bench(bencher: Bencher, referees: u32, capacity: u32, players: u32) {
    bencher
        .counter(ItemsCount::new(players * (players - 1) / 2))
        .with_inputs(|| World::new(referees, capacity, players))
        .bench_values(World::play);
}
