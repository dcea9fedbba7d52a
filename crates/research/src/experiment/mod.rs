//! The tool behind `matchday experiment`: a tournament of strategies by a plan, whose results anybody can reproduce to the
//! byte.
//!
//! # Layout
//! In reading order:
//! - [`plan`]: what is played, from TOML (`keys`); a *cell* is one game in one format with one seed
//! - `players`: the language models and programs of the plan; [`models`]: a model as player; [`replies`]: the record of what it said
//! - [`folder`]: the folder of results. `matches.csv` is the log: after a crash it is read back, and what follows its last
//!   whole repetition is played again
//! - [`run`]: plays what is missing
//! - [`results`]: a fold over the rows; `player_table`: what is told of each player if models play, `player_text`: as CSV, Markdown
//!   and LaTeX; `blunders`: moves held against the game's solver; `cycles`: who beats whom in a circle
//! - [`page`]: the results as an HTML page; pure
//!
//! Nothing here reads the clock but the progress bar: the same plan and version give the same bytes.

mod blunders;
mod cycles;
pub mod folder;
mod keys;
pub mod models;
pub mod page;
pub mod plan;
mod player_table;
mod player_text;
pub mod players;
pub mod replies;
pub mod results;
pub mod run;
