//! Dialects: the ways in which agents wrap a league message for HTTP. Each agent is answered in its own.
//!
//! Four directions, one file each:
//! - [`request`]: what peers send us, [`reply`]: what we send back
//! - [`call`]: what we send to peers, [`answer`]: what they send back
//!
//! The messages themselves are decoded by `decode`; [`decode_wire`] joins the two.

pub mod answer;
pub mod call;
pub mod decode_wire;
pub mod printed;
pub mod reply;
pub mod request;

mod error_text;
mod method;

pub use super::dialect_name::Dialect;
