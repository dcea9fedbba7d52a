//! The tool behind `matchday experiment`: a tournament of strategies by a plan, whose results anybody can reproduce to the
//! byte.
//!
//! # Layout
//! In reading order:
//! - [`plan`]: what is played, from TOML; a *cell* is one game in one format with one seed
//! - `row`: a match as a line of `matches.csv`
//! - [`folder`]: the folder of results. `matches.csv` is the log: after a crash it is read back, and what follows its last
//!   whole repetition is played again
//! - [`run`]: plays what is missing
//! - [`results`]: a fold over the rows; `cycles`: who beats whom in a circle
//! - [`page`]: the results as an HTML page; pure
//!
//! Nothing here reads the clock but the progress bar: the same plan and version give the same bytes.

mod cycles;
pub mod folder;
pub mod page;
pub mod plan;
pub mod results;
mod row;
pub mod run;
