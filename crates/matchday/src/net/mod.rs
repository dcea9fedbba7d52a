//! HTTP, both sides of it: bytes go in and out in time and within bounds. Knows nothing of leagues.

mod address;
pub(crate) mod answer;
pub mod body;
pub mod client;
mod deadline;
mod fault;
pub mod guard;
mod head_timeout;
pub mod kinds;
mod lanes;
pub mod names;
mod own;
pub mod pem;
mod places;
pub mod policy;
mod pool;
pub(crate) mod room;
pub mod server;
pub mod socket;
pub(crate) mod stamps;
pub mod strangers;
pub mod tls;
pub mod tls_server;
pub mod wire;

pub(crate) use places::group as address_group;
