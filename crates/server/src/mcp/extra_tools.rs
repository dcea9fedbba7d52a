//! The interface by which another module offers its tools beside those of an agent.

use hyper::http::request::Parts;
use matchday_net::server::HttpResponse;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, Tool};
use rmcp::service::RequestContext;
use std::fmt;
use std::pin::Pin;

pub type Calling<'a> = Pin<Box<dyn Future<Output = Option<CallToolResult>> + Send + 'a>>;

/// Tools of another module, as one session sees them.
pub trait ExtraTools: fmt::Debug + Send + Sync {
    /// The same tools for another session.
    fn new_session(&self) -> Box<dyn ExtraTools>;

    fn tools(&self) -> &'static [Tool];

    /// The response that refuses a call of this tool, if the client is not authorized for it.
    fn refusal(&self, tool: &str, head: &Parts) -> Option<HttpResponse>;

    /// The instructions of a server with these tools.
    fn instructions(&self) -> String;

    /// How a client takes part in the league by these tools, and the rules of its game, for the prompt.
    fn how_to_play(&self) -> (&'static str, String);

    /// `None` if no tool has the name that the request gives.
    fn call<'a>(
        &'a self,
        request: &'a CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> Calling<'a>;
}
