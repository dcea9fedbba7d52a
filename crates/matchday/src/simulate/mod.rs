//! The tool behind `matchday simulate`: external programs as strategies, progress, reports, plots.

pub(crate) mod entrants;
pub(crate) mod models;
pub(crate) mod plots;
pub(crate) mod program_strategy;
pub(crate) mod progress;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod rules_program;
