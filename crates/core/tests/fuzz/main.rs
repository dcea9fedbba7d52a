//! Fuzz targets for everything in the core that reads what others wrote. As ordinary tests each replays its corpus
//! (`__fuzz__/TARGET/corpus`) and takes some random inputs; `./fuzz` lets coverage guide them for longer.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

mod decode;
mod log;
mod tree;
mod wire;
mod words;

/// How many random inputs an ordinary test takes, beside its corpus: about a second of them.
const RUNS: usize = 20_000;
