//! Fuzz targets for what the program reads: whole endpoints over sockets, the store's file, and what is kept of bodies.
//! As ordinary tests each replays its corpus (`__fuzz__/TARGET/corpus`) and takes some random inputs; `./fuzz`
//! lets coverage guide them for longer.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

mod endpoint;
mod redaction;
mod store;
