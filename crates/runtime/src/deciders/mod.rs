//! External deciders and external rules: programs and language models. A decider knows one turn and nothing of leagues; the
//! player falls back on a built-in strategy when it fails.
//!
//! - [`command`]: a program by its name; `launcher`: how it is started; [`one_shot`] and [`line_process`]: one process a turn, or one that stays alive
//! - [`program_decider`]: a program as decider; [`llm`]: a conversation with a server of models for each turn; `llm_api`: what servers speak;
//!   [`llm_gate`], [`llm_budget`]: limits
//! - [`game_program`]: a program that knows the rules of a game
//! - [`player_strategy`]: a strategy by its name, built in or external
//! - `parse_move`: the move in a reply

pub mod command;
pub mod game_program;
pub mod launcher;
mod line_process;
pub mod llm;
mod llm_api;
pub mod llm_budget;
pub mod llm_gate;
mod one_shot;
mod parse_move;
pub mod player_strategy;
pub mod program_decider;
mod stderr_tail;
