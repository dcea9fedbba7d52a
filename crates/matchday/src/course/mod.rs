//! A course as seasons of a service, one for each section: its folder, hand-outs for students, and grades. Reads and writes the folder; the
//! service itself is called by `cli`.
//!
//! # Layout
//! - `plan`: `course.toml`; `roster`: the students; `folder`: both, with the join codes and operator tokens that were issued
//! - `handout`: a page for each student; `night_results`: a league as its students played it; `grades`: the grade sheet

pub(crate) mod folder;
pub(crate) mod grades;
pub(crate) mod handout;
pub(crate) mod night_results;
pub(crate) mod plan;
pub(crate) mod roster;
