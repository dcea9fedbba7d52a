//! The Model Context Protocol (MCP) on an agent's own address, by the official crate `rmcp`: the agent's methods as tools, its
//! public data as resources. Decides nothing: a tool call becomes the request that a peer would send.
//!
//! - `classify`: which requests are MCP
//! - `transport`: from HTTP to `rmcp`; `sessions`: limits on sessions; `on_sent`: when a reply has been written
//! - `server`: the handler of one session
//! - `tool_table`: the tools of each role; `tool`: how they are defined and shown; `schema`: their input and output; `call_tool`
//! - `extra_tools`: tools of another module; `resources`, `prompt`; `standings_watch`: subscriptions to the standings

mod call_tool;
mod classify;
mod extra_tools;
mod on_sent;
pub mod prompt;
mod resources;
pub mod schema;
mod server;
mod sessions;
mod standings_watch;
pub mod tool;
mod tool_table;
mod transport;

pub use classify::parse_request;
pub use extra_tools::{Calling, ExtraTools};
pub use on_sent::when_sent;
pub use server::REVISIONS;
pub use sessions::{SESSIONS_MAX, SESSIONS_PER_ADDRESS, UNUSED_MAX};
pub use transport::{Transport, peer};

pub use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::dialect::request::Requests;
use matchday_core::protocol::methods::Party;
use matchday_net::server::HttpResponse;
use matchday_runtime::Options;
use matchday_runtime::surface::{Closing, McpRequest, McpSurface, MountMcp, Responding};
use server::LeagueServer;
use std::net::SocketAddr;
use std::sync::Arc;

/// Options of an agent that speaks the Model Context Protocol as well.
pub fn agent_options(entropy: Entropy) -> Options {
    Options {
        mcp: Some(mount(|| None)),
        ..Options::new(entropy)
    }
}

/// Mounts the Model Context Protocol on an agent's address, with the tools of another module if there are any.
pub fn mount(extra: impl Fn() -> Option<Box<dyn ExtraTools>> + Send + Sync + 'static) -> MountMcp {
    MountMcp(Arc::new(move |intake| {
        let role = Party::of(&intake.name());
        let server = LeagueServer::new(intake, role, extra());
        let extra = extra();
        // A client that subscribes to the table needs a session in the older revisions. Other agents announce nothing.
        let transport = Transport::serving(role == Party::Manager, move || server.for_one_client());
        Box::new(AgentMcp { transport, extra })
    }))
}

/// The surface of an agent, which authorizes the calls of another module's tools.
struct AgentMcp {
    transport: Transport<LeagueServer>,
    extra: Option<Box<dyn ExtraTools>>,
}

impl AgentMcp {
    fn refusal(&self, head: &Parts, body: &[u8], request: &McpRequest) -> Option<HttpResponse> {
        let extra = self
            .extra
            .as_ref()
            .filter(|_| request.method == "tools/call")?;
        extra.refusal(&classify::tool_name(body)?, head)
    }
}

impl McpSurface for AgentMcp {
    fn classify(
        &self,
        requests: &Requests,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<McpRequest> {
        classify::classify(requests, headers, body)
    }

    fn post<'a>(
        &'a self,
        head: Parts,
        body: Bytes,
        request: &'a McpRequest,
        peer: SocketAddr,
    ) -> Responding<'a> {
        match self.refusal(&head, &body, request) {
            Some(refusal) => Box::pin(async { refusal }),
            None => Box::pin(self.transport.post(head, body, request, peer)),
        }
    }

    fn other(&self, request: Request<Incoming>, peer: SocketAddr) -> Responding<'_> {
        Box::pin(self.transport.other(request, peer))
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(self.transport.close())
    }
}
