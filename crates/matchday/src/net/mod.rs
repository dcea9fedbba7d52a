//! HTTP, both sides of it: bytes go in and out in time and within bounds. Knows nothing of leagues.

mod address;
pub(crate) mod answer;
pub mod body;
pub mod client;
mod fault;
pub mod guard;
mod own;
mod pool;
pub mod server;
pub mod tls;
