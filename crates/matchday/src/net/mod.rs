//! HTTP, both sides of it: bytes go in and out in time and within bounds. Knows nothing of leagues.

pub(crate) mod answer;
pub mod body;
pub mod client;
mod fault;
pub mod guard;
mod pool;
pub mod server;
pub mod tls;
