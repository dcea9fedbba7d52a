//! Proxy to the manager, where the agent registers: forwards every request, and replaces the agent's endpoint by that
//! of the player proxy. One agent practises at a time.

use super::player::{PlayerProxy, error_in};
use super::{ProxiedRequest, Reply, forward, message_in, message_mut, reply, serve};
use matchday_net::client::Client;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How many errors are kept: the first, and the last.
const ERRORS_MAX: usize = 1000;

#[derive(Debug)]
pub struct ManagerProxy {
    client: Client,
    manager: String,
    player_proxy_url: String,
    proxy: Arc<PlayerProxy>,
    log: Mutex<ManagerProxyLog>,
}

#[derive(Debug, Clone, Default)]
pub struct ManagerProxyLog {
    /// The name of the agent that registered.
    agent: Option<String>,
    /// Errors in the manager's answers: request type, code, text.
    pub errors: Vec<(String, String, String)>,
}

impl ManagerProxy {
    pub fn new(
        client: Client,
        manager: String,
        player_proxy_url: String,
        proxy: Arc<PlayerProxy>,
    ) -> Arc<Self> {
        Arc::new(Self {
            client,
            manager,
            player_proxy_url,
            proxy,
            log: Mutex::default(),
        })
    }

    pub async fn serve(self: Arc<Self>, listener: TcpListener, closing: watch::Receiver<bool>) {
        serve(listener, closing, move |request| {
            let proxy = Arc::clone(&self);
            async move { proxy.answer(request).await }
        })
        .await;
    }

    pub fn log(&self) -> ManagerProxyLog {
        self.with(|log| log.clone())
    }

    async fn answer(&self, request: ProxiedRequest) -> Reply {
        match request.message_type.as_str() {
            "LEAGUE_REGISTER_REQUEST" => self.register(request).await,
            "REFEREE_REGISTER_REQUEST" => refused(
                &request,
                "a practice is for one player and has its own referee",
            ),
            _ => self.forward(&request, request.json.clone()).await.0,
        }
    }

    async fn register(&self, request: ProxiedRequest) -> Reply {
        let mut json = request.json.clone();
        let meta = message_mut(&mut json).and_then(|message| message.get_mut("player_meta"));
        let text =
            |meta: &Value, key: &str| meta.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = meta
            .as_ref()
            .and_then(|meta| text(meta, "display_name"))
            .unwrap_or_default();
        if let Some(agent) = self
            .with(|log| log.agent.clone())
            .filter(|agent| *agent != name)
        {
            return refused(
                &request,
                &format!("{agent:?} practises here; wait until it has finished"),
            );
        }
        // An invalid contact endpoint is forwarded as it is, so that the manager refuses it.
        if let Some(meta) = meta
            && let Some(url) = text(meta, "contact_endpoint")
            && crate::check::preflight::parse_target(&url).is_ok()
        {
            self.proxy.set_agent_url(&url);
            if let Some(own) = meta.get_mut("contact_endpoint") {
                *own = self.player_proxy_url.as_str().into();
            }
        }
        let (reply, answer) = self.forward(&request, json).await;
        let text = |key: &str| message_in(&answer).and_then(|message| message.get(key)?.as_str());
        match text("status") {
            Some("ACCEPTED") => self.with(|log| log.agent = Some(name)),
            Some("REJECTED") if error_in(&answer).is_none() => {
                self.note_error(
                    &request,
                    "REJECTED".to_owned(),
                    text("reason").unwrap_or_default().to_owned(),
                );
            }
            _ => {}
        }
        reply
    }

    async fn forward(&self, request: &ProxiedRequest, json: Value) -> (Reply, Value) {
        let body = if json == request.json {
            request.body.clone()
        } else {
            json.to_string().into()
        };
        let (reply, answer) = forward(&self.client, &self.manager, body).await;
        if let Some((code, text)) = error_in(&answer) {
            self.note_error(request, code, text);
        }
        (reply, answer)
    }

    fn note_error(&self, request: &ProxiedRequest, code: String, text: String) {
        self.with(|log| {
            log.errors.truncate(ERRORS_MAX - 1);
            log.errors.push((request.message_type.clone(), code, text));
        });
    }

    fn with<R>(&self, look: impl FnOnce(&mut ManagerProxyLog) -> R) -> R {
        look(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn refused(request: &ProxiedRequest, why: &str) -> Reply {
    let id = request.json.get("id").cloned().unwrap_or_default();
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": why}});
    reply(200, error.to_string())
}
