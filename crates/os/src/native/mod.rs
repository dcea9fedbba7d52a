//! Unix.

pub mod fd_limit;
pub mod file;
pub mod host;
pub mod process;
pub mod shortage;
pub mod signals;

#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod rx_time;
#[cfg(target_os = "linux")]
pub mod tcp;

#[cfg(not(target_os = "linux"))]
pub use crate::portable::{program, rx_time, tcp};
