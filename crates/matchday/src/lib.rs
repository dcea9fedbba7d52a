//! The program around the core: HTTP, durable stores, commands. All I/O of Matchday is here.

pub mod store;
