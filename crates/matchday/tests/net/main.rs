//! The network by itself: TLS on both sides, endpoints of strangers, limits. Real sockets on this machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../certificates/mod.rs"]
mod certificates;
mod limits;
mod place;
mod strangers;
mod tls;
