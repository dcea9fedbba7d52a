//! Every system that Rust's standard library and tokio run on.

pub mod fd_limit;
pub mod file;
pub mod host;
pub mod process;
pub mod program;
pub mod rx_time;
pub mod shortage;
pub mod signals;
pub mod tcp;
