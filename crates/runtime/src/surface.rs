//! What is mounted at an agent's address besides its league messages. The runtime routes requests to a surface, and knows no
//! more of it.

use crate::Intake;
use crate::routes::{Matched, Part};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request};
use matchday_core::protocol::dialect::request::{ReplyTo, Requests};
use matchday_core::protocol::jsonrpc::Id;
use matchday_net::server::HttpResponse;
use smol_str::SmolStr;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

pub type Responding<'a> = Pin<Box<dyn Future<Output = HttpResponse> + Send + 'a>>;
pub type Closing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A surface with rows of its own in the table of routes.
pub trait Surface: fmt::Debug + Send + Sync {
    /// The rows of the table of routes that it answers.
    fn part(&self) -> Part;

    /// `matched` is one of these rows.
    fn respond<'a>(
        self: Arc<Self>,
        matched: Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
        intake: &'a Arc<Intake>,
    ) -> Responding<'a>;

    /// Ends its streams, which would be waited for otherwise.
    fn close(&self) -> Closing<'_>;
}

/// The Model Context Protocol, which shares the path `/mcp` with league messages.
pub trait McpSurface: Send + Sync {
    /// If the request in `body`, decoded as `requests`, is of this protocol: which.
    fn classify(&self, requests: &Requests, headers: &HeaderMap, body: &[u8])
    -> Option<McpRequest>;

    fn post<'a>(
        &'a self,
        head: Parts,
        body: Bytes,
        request: &'a McpRequest,
        peer: SocketAddr,
    ) -> Responding<'a>;

    /// A request with another method than POST.
    fn other(&self, request: Request<Incoming>, peer: SocketAddr) -> Responding<'_>;

    fn close(&self) -> Closing<'_>;
}

/// Makes the MCP surface of an agent, which asks the agent through its intake.
#[derive(Clone)]
pub struct MountMcp(pub Arc<dyn Fn(Arc<Intake>) -> Box<dyn McpSurface> + Send + Sync>);

impl fmt::Debug for MountMcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MountMcp")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpRequest {
    /// Empty for a response.
    pub method: SmolStr,
    pub reply_to: ReplyTo,
}

impl McpRequest {
    /// A request without a readable message.
    pub const UNREAD: Self = Self {
        method: SmolStr::new_static(""),
        reply_to: ReplyTo::Id(Id::Null),
    };

    /// Whether what it asks of the agent is logged when it is asked.
    pub(super) fn is_logged_by_intake(&self) -> bool {
        self.method == "tools/call"
    }
}
