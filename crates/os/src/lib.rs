//! What Matchday needs of the operating system. Nothing else in the workspace knows which one it runs on.
//!
//! Two implementations have the same modules: `native` for Unix (with parts for Linux alone), and `portable`, which is built
//! on Windows, and everywhere without the feature `native`. What `portable` does less is said in its functions.
//!
//! - [`environment`]: which variables are handed on to programs of others
//! - [`fd_limit`]: the limit on open file descriptors
//! - [`file`](mod@file): private files, executable files, fsync of a directory, hard links
//! - [`host`]: the name of this machine
//! - [`process`]: process groups, termination, CPU time and memory of a process
//! - [`program`]: programs of others, which cannot read this process and end with it
//! - [`rx_time`]: reads from a socket with the kernel's receive timestamp
//! - [`shortage`]: errors that tell of a shortage on this machine
//! - [`signals`]: termination and reload
//! - [`tcp`]: options of TCP sockets

pub mod environment;

#[cfg(all(unix, feature = "native"))]
mod native;
#[cfg(all(unix, feature = "native"))]
pub use native::{fd_limit, file, host, process, program, rx_time, shortage, signals, tcp};

// On Unix without Linux's kernel timestamps, `native` uses a part of it.
#[cfg_attr(
    all(unix, feature = "native"),
    expect(dead_code, unreachable_pub, reason = "the native half is in use")
)]
mod portable;
#[cfg(not(all(unix, feature = "native")))]
pub use portable::{fd_limit, file, host, process, program, rx_time, shortage, signals, tcp};
