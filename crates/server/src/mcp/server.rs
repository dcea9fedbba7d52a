//! The MCP server of an agent: hands each request to the module that answers it.

#![allow(
    deprecated,
    reason = "resources/subscribe is how the older revision subscribes"
)]

use super::extra_tools::ExtraTools;
use super::standings_watch::StandingsWatch;
use super::transport::peer;
use super::{call_tool, prompt, resources, tool};
use hyper::http::request::Parts;
use matchday_core::protocol::methods::Party;
use matchday_runtime::{Caller, Intake, JoinCode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, Extensions, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ResourceUpdatedNotificationParam,
    ServerCapabilities, ServerConfig, SubscribeRequestMethod, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::AbortHandle;

/// The revisions of MCP that are supported. Older ones need batches or another transport.
pub static REVISIONS: [ProtocolVersion; 3] = [
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The server of one session; in the newer revisions of one request.
#[derive(Debug)]
pub(crate) struct LeagueServer {
    intake: Arc<Intake>,
    role: Party,
    standings: Arc<StandingsWatch>,
    /// The task that notifies the client of this session when the table changes, if it has subscribed.
    notifier: Mutex<Option<AbortHandle>>,
    extra: Option<Box<dyn ExtraTools>>,
}

impl LeagueServer {
    pub(super) fn new(
        intake: Arc<Intake>,
        role: Party,
        extra: Option<Box<dyn ExtraTools>>,
    ) -> Self {
        let standings = Arc::new(StandingsWatch::new(Arc::clone(&intake)));
        Self {
            intake,
            role,
            standings,
            notifier: Mutex::default(),
            extra,
        }
    }

    pub(super) fn for_one_client(&self) -> Self {
        Self {
            intake: Arc::clone(&self.intake),
            role: self.role,
            standings: Arc::clone(&self.standings),
            notifier: Mutex::default(),
            extra: self.extra.as_ref().map(|extra| extra.new_session()),
        }
    }

    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        let own: Vec<_> = match &self.extra {
            Some(extra) => tool::beside_seats().chain(extra.tools()).collect(),
            None => tool::list(self.role).iter().collect(),
        };
        own.into_iter()
    }

    fn can_be_subscribed(&self, uri: &str) -> bool {
        self.role == Party::Manager && uri == resources::STANDINGS
    }

    fn replace_notifier(&self, notifier: Option<AbortHandle>) {
        let mut current = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(former) = std::mem::replace(&mut *current, notifier) {
            former.abort();
        }
    }
}

impl Drop for LeagueServer {
    fn drop(&mut self) {
        self.replace_notifier(None);
    }
}

impl ServerHandler for LeagueServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources();
        let capabilities = match self.role {
            Party::Manager => capabilities
                .enable_resources_subscribe()
                .enable_prompts()
                .build(),
            Party::Referee | Party::Player => capabilities.build(),
        };
        let (title, instructions) = about(self.role);
        let instructions = self
            .extra
            .as_ref()
            .map_or_else(|| instructions.to_owned(), |extra| extra.instructions());
        let name = format!(
            "matchday-{}",
            format!("{:?}", self.role).to_ascii_lowercase()
        );
        let own = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title(title);
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(instructions)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let own = || tool::list(self.role).iter().find(|tool| tool.name == name);
        self.tools()
            .find(|tool| tool.name == name)
            .or_else(own)
            .cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(tool::list_result(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(extra) = &self.extra
            && let Some(result) = extra.call(&request, &context).await
        {
            return Ok(result.into());
        }
        let Some(entry) = tool::find(self.role, &request.name) else {
            return Err(tool::unknown(&request.name));
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(
            call_tool::call(&self.intake, &entry, arguments, caller(&context.extensions))
                .await?
                .into(),
        )
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        resources::list(&self.intake, self.role, cursor.as_deref()).await
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
        Ok(resources::read(&self.intake, self.role, &request.uri, peer)
            .await?
            .into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match self.role {
            Party::Manager => Ok(ListPromptsResult::with_all_items(prompt::list(
                prompt::ABOUT,
            ))),
            Party::Referee | Party::Player => {
                Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
            }
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.role != Party::Manager {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let name = prompt::display_name(&request)?;
        let how_to_play = self.extra.as_ref().map(|extra| extra.how_to_play());
        Ok(prompt::get(&self.intake, name, how_to_play).await.into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    /// Subscription in revisions until 2025-11-25: until the session ends, or `unsubscribe`.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.role != Party::Manager {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        if !self.can_be_subscribed(&request.uri) {
            return Err(not_subscribable(&request.uri));
        }
        let mut tables = self.standings.subscribe().await.ok_or_else(closed)?;
        let notifier = tokio::spawn(async move {
            while tables.changed().await.is_ok() {
                let update = ResourceUpdatedNotificationParam::new(resources::STANDINGS);
                if context.peer.notify_resource_updated(update).await.is_err() {
                    return;
                }
            }
        });
        self.replace_notifier(Some(notifier.abort_handle()));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.role != Party::Manager {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        if !self.can_be_subscribed(&request.uri) {
            return Err(not_subscribable(&request.uri));
        }
        self.replace_notifier(None);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let watched: Vec<_> = wanted
            .filter(|uri| self.can_be_subscribed(uri))
            .cloned()
            .collect();
        (self.role == Party::Manager).then(|| {
            SubscriptionFilter::builder()
                .resource_subscriptions(watched)
                .build()
        })
    }

    /// Subscription in revisions from 2026-07-28 on: while the client keeps the stream open.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        if context.accepted().resource_subscriptions.is_none() {
            context.cancelled().await;
            return Ok(());
        }
        let mut tables = self.standings.subscribe().await.ok_or_else(closed)?;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = tables.changed() => {
                    let sent = context.sink().notify_resource_updated(resources::STANDINGS).await;
                    if changed.is_err() || sent.is_err() {
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
            "Runs matches for a league manager. get_match_state shows the running ones; the other tools are what the \
             manager and the players call.",
        ),
        Party::Player => (
            "Matchday player",
            "Plays matches for itself. get_player_state shows how it does; the other tools are what referees and the \
             league manager call.",
        ),
    }
}

/// The sender of a request, with the join code of its path.
fn caller(extensions: &Extensions) -> Caller {
    let head = extensions.get::<Parts>();
    Caller::from(peer(extensions))
        .with_join_code(head.and_then(|head| JoinCode::of(&head.extensions)))
}

fn not_subscribable(uri: &str) -> ErrorData {
    let why = format!(
        "only {} can be subscribed to, and only at a league manager",
        resources::STANDINGS
    );
    ErrorData::invalid_params(why, Some(serde_json::json!({"uri": uri})))
}

fn closed() -> ErrorData {
    ErrorData::invalid_request("this league is not open to readers", None)
}
