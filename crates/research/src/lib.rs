//! Monte Carlo simulation of strategies without a network: duels of every pair, and whole leagues. No I/O but
//! threads, no clock, entropy only from a seed: a seed gives the same results on any number of threads.
//!
//! # What is modelled
//! - Rules, strategies, schedules and standings are those of the core; there are no messages, deadlines or referees.
//! - A *duel* is divided into series. At the start of a series both players forget everything; then they play matches
//!   with alternating seats, and remember all of them, as in a league of two. After a series of odd length the other
//!   player begins.
//! - In a *league* everyone starts without memory, at a random position, and remembers every match until the league
//!   ends.
//! - External strategies are told of at most the last 1,000 games, as in a league; built-in ones count all since the
//!   players last forgot.
//! - An external strategy that does not decide in time, or on an illegal move, forfeits the match. A match that a model's
//!   server failed is played again, a few times at most.
//!
//! # Layout
//! In reading order:
//! - [`entrant`]: name and strategy; [`ending`], [`series_variance`]: results, and the variation between series
//! - `parallel`: blocks of work on many threads, folded in order; `seeds`: the entropy of each block
//! - `game_log`: what happened in a match; `match_row`: a match as a line of a table
//! - `engine`: plays matches, by the core's fast engine (`game::fast`) or by `any_game`, where something is outside
//! - [`openings`]: first moves that are given; [`distinct`]: games that repeat
//! - [`duels`], [`leagues`]: what can be simulated
//! - [`summary`]: estimates with confidence intervals

mod any_game;
pub mod distinct;
pub mod duels;
pub mod ending;
mod engine;
pub mod entrant;
pub mod experiment;
mod game_log;
pub mod leagues;
mod match_row;
pub mod openings;
pub mod parallel;
pub mod payoff_sums;
mod seeds;
pub mod series_variance;
pub mod simulate;
pub mod summary;

pub use duels::{Duels, Pair};
pub use ending::{Ending, Meeting, Played, Tally};
pub use entrant::{Entrant, ExternalRules, ExternalStrategy, Place, StrategySource};
pub use leagues::{Leagues, Seasons};
pub use match_row::Row;
pub use parallel::Run;
