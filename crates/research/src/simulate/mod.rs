//! The tool behind `matchday simulate`: external programs as strategies, progress, reports, plots.

pub mod best_responses;
pub mod entrants;
pub mod plots;
pub mod program_strategy;
pub mod progress;
pub mod render;
pub mod report;
pub mod rules_program;
