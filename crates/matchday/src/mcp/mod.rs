//! The Model Context Protocol on an agent's own address, by the official crate: everything that can be asked of the agent
//! as a tool, what it shows as resources. Nothing is decided here: a tool is one more way to ask what peers ask anyway.
//!
//! - `dispatch`: which requests are this protocol's
//! - `transport`: between HTTP and the official crate; `sessions`: which are open, and which go; `server`: what it finds behind
//! - `catalogue`: the tools of each role; `tools`: how they are shown; `schema`: what goes in and comes out; `call`: how a tool is called
//! - `resources`, `prompt`: what can be read; `board`: who is told when the table changes

mod board;
mod call;
mod catalogue;
mod dispatch;
mod prompt;
mod resources;
pub(crate) mod schema;
mod server;
mod sessions;
mod tools;
mod transport;

pub(crate) use dispatch::{Meant, meant};
pub(crate) use server::REVISIONS;
#[cfg(test)]
pub(crate) use sessions::{SESSIONS_MAX, SESSIONS_PER_ADDRESS, UNUSED_MAX};
pub(crate) use transport::{Transport, peer};

use crate::seat::{Guest, Seats};
use crate::shell::Reception;
use matchday_core::protocol::methods::Party;
use server::LeagueServer;
use std::sync::Arc;

/// The Model Context Protocol for one agent.
pub(crate) type Mcp = Transport<LeagueServer>;

impl Mcp {
    pub(crate) fn new(reception: Arc<Reception>, seats: Option<Arc<Seats>>) -> Self {
        let role = Party::of(&reception.name());
        let server = LeagueServer::new(reception, role, seats.map(Guest::new));
        // Whoever subscribes to the table needs a session in the older revisions. The others have nothing to announce.
        Self::serving(role == Party::Manager, move || server.for_one_client())
    }
}
