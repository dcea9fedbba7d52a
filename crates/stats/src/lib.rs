//! What the results of a league mean. Pure arithmetic: no I/O, no clock, and chance only from a seed.
//!
//! [`LeagueStatistics::of`] is the one way in for whoever shows a league: results in, plain data and sentences out. The
//! rest can be used alone.
//!
//! # Layout
//! In reading order:
//! - [`results`]: what goes in
//! - [`normal`], [`sample`], [`dice`], [`cholesky`], [`hypergeometric`], [`holm`]: the tools
//! - [`chance`]: how good a record is by chance alone, exactly; [`luck`]: how much of a whole table chance explains
//! - [`glicko`]: ratings while a league goes on; [`bradley_terry`] with [`bootstrap`]: strengths from all its results
//! - [`settle`]: how many more matches would tell two players apart
//! - [`complementary`]: do two players choose as if they had agreed to?
//! - [`redraw`]: does a referee begin matches again to the advantage of one player?
//! - [`elo`], [`sprt`]: one player against another: the difference, and a test that stops as soon as it can
//! - [`season`]: ratings that go on from league to league; [`contrast`]: two leagues of the same players
//! - [`league`]: all of it about one league; [`words`]: in sentences
//!
//! The formulas, their sources and what they are good for: `docs/statistics.md`.

pub mod bootstrap;
pub mod bradley_terry;
pub mod chance;
pub mod cholesky;
pub mod complementary;
pub mod contrast;
pub mod dice;
pub mod elo;
pub mod glicko;
pub mod holm;
pub mod hypergeometric;
pub mod league;
pub mod luck;
pub mod normal;
pub mod redraw;
pub mod results;
pub mod sample;
pub mod season;
pub mod settle;
pub mod sprt;
pub mod words;

pub use league::{LeagueStatistics, Settings};
pub use results::{Calls, Entrant, Outcome, Played, Results};
