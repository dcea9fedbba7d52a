//! The tool behind `matchday simulate`: external programs as strategies, progress, reports, tables of matches, plots.

pub mod entrants;
pub mod match_table;
pub mod plots;
pub mod program_strategy;
pub mod progress;
pub mod render;
pub mod report;
pub mod rules_program;
