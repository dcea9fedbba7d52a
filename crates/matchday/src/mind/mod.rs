//! Minds that decide for a player from outside: a program of one's own, a language model. They know a turn and nothing
//! of leagues; the player asks them, and falls back on a strategy when nothing of use comes of it.
//!
//! - [`command`]: one process a turn; [`llm`]: one call a turn to a server of models
//! - [`chooser`]: a strategy by its name, of any kind
//! - `reading`: what a reply says about the move

pub mod chooser;
pub mod command;
pub mod game_program;
pub mod llm;
mod reading;
