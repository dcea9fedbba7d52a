//! Monte Carlo simulation of strategies without a network: duels of every pair, and whole leagues. No I/O but
//! threads, no clock, entropy only from a seed: a seed gives the same results on any number of threads.
//!
//! # What is modelled
//! - Rules, strategies, schedules and standings are those of the core; there are no messages, deadlines or referees.
//!   Games and their built-in strategies are implemented a second time, for speed; tests compare both match by match.
//! - A *duel* is divided into series. At the start of a series both players forget everything; then they play matches
//!   with alternating seats, and remember all of them, as in a league of two. After a series of odd length the other
//!   player begins.
//! - In a *league* everyone starts without memory, at a random position, and remembers every match until the league
//!   ends.
//! - As in a league, at most the last 1,000 games are remembered.
//! - An external strategy that does not decide in time, or on an illegal move, forfeits the match. There is no
//!   fallback strategy, which a player in a league would have.
//!
//! # Layout
//! In reading order:
//! - [`entrant`]: name and strategy; [`ending`], [`series_variance`]: results, and the variation between series
//! - `parallel`: blocks of work on many threads, folded in order; `seeds`: the entropy of each block
//! - `draws`, `even_odd`: the fast engine for even/odd, whose strategies remember earlier matches; other games have theirs
//!   in the core (`game::fast`); `any_game`: the engine for all games; `engine`: one of them
//! - [`openings`]: first moves that are given; [`distinct`]: games that repeat
//! - [`duels`], [`leagues`]: what can be simulated
//! - [`summary`]: estimates with confidence intervals

mod any_game;
pub mod distinct;
mod draws;
pub mod duels;
pub mod ending;
mod engine;
pub mod entrant;
mod even_odd;
pub mod experiment;
pub mod leagues;
pub mod openings;
pub mod parallel;
mod seeds;
pub mod series_variance;
pub mod simulate;
pub mod summary;

#[cfg(test)]
mod equivalence;

pub use duels::{Duels, Pair};
pub use ending::{Ending, Meeting, Played, Tally};
pub use entrant::{Entrant, ExternalRules, ExternalStrategy, StrategySource};
pub use leagues::{Leagues, Seasons};
pub use parallel::Run;
