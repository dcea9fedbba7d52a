//! Strategies against each other without a network: duels of every pair, and whole leagues, as often as one likes. No I/O
//! but threads, no clock, and chance only from a seed: the same seed gives the same results on any number of threads.
//!
//! # What is modelled
//! - Rules, strategies, schedules and tables are those of the core; there are no messages, no deadlines and no referees.
//!   For even/odd the rules and the built-in strategies are written a second time, for speed; tests hold them against the
//!   core's own, match by match.
//! - A *duel* is cut into series. At the beginning of a series both players remember nothing; then they play so many
//!   matches one after the other, with the seats changed after each, and remember all of them, as they would in a league
//!   that holds nobody else.
//! - In a *league* everyone begins without memory, in places that are drawn anew for every league, and remembers every
//!   match until the league ends, with each opponent and altogether.
//! - As in a league, at most the last 1,000 games are remembered one by one.
//! - A mind outside that does not decide in time, or decides on no legal move, forfeits the match. There is no strategy to
//!   fall back on, as a player in a league would have.
//!
//! # Layout
//! In reading order:
//! - [`entrant`]: who plays; [`ending`], [`spread`]: how matches end, counted, and how much series differ
//! - `blocks`: work in numbered blocks on many threads, folded in order; `seeds`: where the chance of each comes from
//! - `draws`, `even_odd`: the quick way for even/odd; `any_game`: the way for all others; `pitch`: one or the other
//! - [`duels`], [`leagues`]: what can be simulated
//! - [`summary`]: what came of it, with intervals

mod any_game;
pub mod blocks;
mod draws;
pub mod duels;
pub mod ending;
pub mod entrant;
mod even_odd;
pub mod leagues;
mod pitch;
mod seeds;
pub mod spread;
pub mod summary;

#[cfg(test)]
mod agreement;

pub use blocks::Run;
pub use duels::{Duels, Pair};
pub use ending::{Ending, Tally};
pub use entrant::{Chooser, Entrant, Oracle};
pub use leagues::{Leagues, Seasons};
