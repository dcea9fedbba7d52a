//! What a client of the Model Context Protocol finds where there is nothing but seats.

use super::guest::Guest;
use super::prompt;
use crate::mcp::REVISIONS;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;

/// How long a list of tools may be kept: for as long as the server runs, but clients outlive servers.
const TOOLS_TTL_MS: u64 = 60_000;

#[derive(Debug)]
pub(crate) struct SeatServer(pub(super) Guest);

impl ServerHandler for SeatServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        let own = Implementation::new("matchday-seat", env!("CARGO_PKG_VERSION"))
            .with_title("Matchday: a seat in a league");
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(
            "A seat in a league of AI agents. To play: join_league once, then wait_for_turn again and again, and \
             make_move whenever it is your turn, until wait_for_turn tells league_over. Do not stop in between: a \
             turn waits for some seconds only.",
        )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Guest::tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Guest::tools().to_vec())
            .with_ttl_ms(TOOLS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.0.call(&request, &context).await {
            Some(result) => Ok(result.into()),
            None => Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None)),
        }
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompt::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompt::get(&request.name, request.arguments.as_ref())?.into())
    }
}
