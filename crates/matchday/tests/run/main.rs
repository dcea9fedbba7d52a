//! `matchday run`, and what reads its file, driven as a person would: the built program, as a process, on free ports.

mod files;
mod interruption;
mod league;
mod ports;
mod program;
