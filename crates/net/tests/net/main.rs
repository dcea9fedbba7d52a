//! Server and client over real sockets on this machine: TLS on both sides, egress policy, limits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod egress;
mod limits;
mod peers;
mod place;
mod proxies;
mod streams;
mod tls;
mod unread;
