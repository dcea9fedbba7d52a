//! Statistics of a league's results. Pure arithmetic: no I/O, no clock, randomness only from a seed.
//!
//! [`LeagueStatistics::of`] is the entry point: results in, data and sentences out. The modules can also be used
//! alone.
//!
//! # Layout
//! In reading order:
//! - [`results`]: the input
//! - [`normal`], [`estimate`], [`quantile`], [`rng`], [`cholesky`]: tools
//! - [`null_model`]: exact p-values of records under pure chance; [`luck`]: of the whole standings, by simulation
//! - [`bradley_terry`] with [`spread`] and [`posterior`]: the ratings that are shown, from all results, with intervals;
//!   [`glicko`]: the pairing ratings of ladders
//! - [`sample_size`]: how many more matches would tell two players apart
//! - [`elo`], [`pentanomial`], [`sprt`]: two players: their Elo difference, from matches and from pairs of them with
//!   swapped seats, and a sequential test
//! - [`head_to_head`]: two players of a league, which is better and how sure that is
//! - [`season`]: ratings across leagues; [`change`]: one player from league to league
//! - [`league`]: all statistics of one league; [`sentences`]: in plain words
//!
//! Formulas, sources and interpretation: `docs/statistics.md`.

pub mod bradley_terry;
pub mod change;
pub mod cholesky;
pub mod elo;
pub mod estimate;
pub mod glicko;
pub mod head_to_head;
pub mod league;
pub mod luck;
pub mod normal;
pub mod null_model;
pub mod pentanomial;
pub mod posterior;
pub mod quantile;
pub mod results;
pub mod rng;
pub mod sample_size;
pub mod season;
pub mod sentences;
pub mod spread;
pub mod sprt;
pub mod student;
pub mod title_chance;

pub use league::{LeagueStatistics, Resampling, ratings_by_round};
pub use luck::ChanceRounds;
pub use results::{Entrant, MatchOutcome, Played, Results};
