//! What a client of the Model Context Protocol finds at an agent: hands each of its requests to the part that knows.

#![allow(deprecated, reason = "resources/subscribe is how the older revision subscribes")]

use super::board::Board;
use super::transport::peer;
use super::{call, prompt, resources, tools};
use crate::seat::Guest;
use crate::shell::{Caller, JoinCode, Reception};
use hyper::http::request::Parts;
use matchday_core::protocol::methods::Party;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, Extensions, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::AbortHandle;

/// The oldest of these is spoken by many a client still; those before it need batches or another transport.
pub(crate) static REVISIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
/// How long a list of tools may be kept: for as long as the agent runs, but clients outlive agents.
const TOOLS_TTL_MS: u64 = 60_000;

/// One client's view of an agent; in the older revision one session's.
#[derive(Debug)]
pub(crate) struct LeagueServer {
    reception: Arc<Reception>,
    role: Party,
    board: Arc<Board>,
    /// Tells the client of this session when the table changes, if it has subscribed.
    teller: Mutex<Option<AbortHandle>>,
    /// Whoever can also play here.
    guest: Option<Guest>,
}

impl LeagueServer {
    pub(super) fn new(reception: Arc<Reception>, role: Party, guest: Option<Guest>) -> Self {
        let board = Arc::new(Board::new(Arc::clone(&reception)));
        Self { reception, role, board, teller: Mutex::default(), guest }
    }

    pub(super) fn for_one_client(&self) -> Self {
        Self {
            reception: Arc::clone(&self.reception),
            role: self.role,
            board: Arc::clone(&self.board),
            teller: Mutex::default(),
            guest: self.guest.as_ref().map(Guest::of_the_same),
        }
    }

    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        let of_seats = if self.guest.is_some() { Guest::tools() } else { &[] };
        tools::list(self.role).iter().chain(of_seats)
    }

    fn can_be_watched(&self, uri: &str) -> bool {
        self.role == Party::Manager && uri == resources::STANDINGS
    }

    fn replace_teller(&self, teller: Option<AbortHandle>) {
        let mut kept = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(former) = std::mem::replace(&mut *kept, teller) {
            former.abort();
        }
    }
}

impl Drop for LeagueServer {
    fn drop(&mut self) {
        self.replace_teller(None);
    }
}

impl ServerHandler for LeagueServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities = match self.role {
            Party::Manager => capabilities.enable_resources_subscribe().enable_prompts().build(),
            Party::Referee | Party::Player => capabilities.build(),
        };
        let (title, instructions) = about(self.role);
        let name = format!("matchday-{}", format!("{:?}", self.role).to_ascii_lowercase());
        let own = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title(title);
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(instructions)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = self.tools().cloned().collect();
        Ok(ListToolsResult::with_all_items(all)
            .with_ttl_ms(TOOLS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(guest) = &self.guest
            && let Some(result) = guest.call(&request, &context).await
        {
            return Ok(result.into());
        }
        let Some(entry) = tools::find(self.role, &request.name) else {
            let why = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(why, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(call::call(&self.reception, entry, arguments, caller(&context.extensions)).await?.into())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        resources::list(&self.reception, self.role, cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(self.role))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let peer = peer(&context.extensions);
        Ok(resources::read(&self.reception, self.role, &request.uri, peer).await?.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = if self.role == Party::Manager { prompt::list() } else { Vec::new() };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.role != Party::Manager {
            return Err(ErrorData::invalid_params("the manager has a prompt, other agents have none", None));
        }
        Ok(prompt::get(&self.reception, &request.name, request.arguments.as_ref(), self.guest.is_some())
            .await?
            .into())
    }

    /// How revisions until 2025-11-25 subscribe: until the session ends, or it is taken back.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.can_be_watched(&request.uri) {
            return Err(not_watched(&request.uri));
        }
        let mut tables = self.board.subscribe().await.ok_or_else(closed)?;
        let telling = tokio::spawn(async move {
            while tables.changed().await.is_ok() {
                let news = ResourceUpdatedNotificationParam::new(resources::STANDINGS);
                if context.peer.notify_resource_updated(news).await.is_err() {
                    return;
                }
            }
        });
        self.replace_teller(Some(telling.abort_handle()));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.can_be_watched(&request.uri) {
            return Err(not_watched(&request.uri));
        }
        self.replace_teller(None);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let watched: Vec<_> = wanted.filter(|uri| self.can_be_watched(uri)).cloned().collect();
        (self.role == Party::Manager)
            .then(|| SubscriptionFilter::builder().resource_subscriptions(watched).build())
    }

    /// How revisions from 2026-07-28 on subscribe: for as long as the client listens.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        if context.accepted().resource_subscriptions.is_none() {
            context.cancelled().await;
            return Ok(());
        }
        let mut tables = self.board.subscribe().await.ok_or_else(closed)?;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = tables.changed() => {
                    let told = context.sink().notify_resource_updated(resources::STANDINGS).await;
                    if changed.is_err() || told.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

fn about(role: Party) -> (&'static str, &'static str) {
    match role {
        Party::Manager => (
            "Matchday league manager",
            "Runs a league of AI agents that speak league.v2. Look with get_status, get_standings and get_schedule; \
             read the rules of the games under league://rules; the prompt play_this_league says how to take part. \
             Fields of the envelope (protocol, message_type, sender, timestamp, conversation_id) may be left out of \
             every tool: they are filled in.",
        ),
        Party::Referee => (
            "Matchday referee",
            "Runs matches for a league manager. get_match_state shows those under way; the other tools are what the \
             manager and the players call.",
        ),
        Party::Player => (
            "Matchday player",
            "Plays matches for itself. get_player_state shows how it does; the other tools are what referees and the \
             league manager call.",
        ),
    }
}

/// Who sent a request, and by which path.
fn caller(extensions: &Extensions) -> Caller {
    let head = extensions.get::<Parts>();
    Caller { peer: peer(extensions), join_code: head.and_then(|head| JoinCode::of(&head.extensions)) }
}

fn not_watched(uri: &str) -> ErrorData {
    let why = format!("only {} can be subscribed to, and only at a league manager", resources::STANDINGS);
    ErrorData::invalid_params(why, Some(serde_json::json!({"uri": uri})))
}

fn closed() -> ErrorData {
    ErrorData::invalid_request("this league is not open to readers", None)
}
