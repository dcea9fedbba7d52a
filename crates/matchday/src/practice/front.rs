//! The manager's front, where the agent registers: passes everything on to the manager, and puts the gate in the place of
//! the agent's own address. One agent practises at a time.

use super::gate::{Gate, error_in};
use super::relay::{Asked, CONNECTIONS_MAX, MESSAGE_BYTES_MAX, Reply, cut, message_in, message_mut, reply};
use crate::net::client::Client;
use crate::net::server;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

const FORWARD_MAX: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Front {
    client: Client,
    manager: String,
    /// Where the gate listens.
    gate_url: String,
    gate: Arc<Gate>,
    seen: Mutex<Seen>,
}

/// What was seen at the front.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Who practises: its name.
    guest: Option<String>,
    /// Errors that the manager has told the agent: of what, the code, the text.
    pub(crate) errors: Vec<(String, String, String)>,
}

impl Front {
    pub(crate) fn new(client: Client, manager: String, gate_url: String, gate: Arc<Gate>) -> Arc<Self> {
        Arc::new(Self { client, manager, gate_url, gate, seen: Mutex::default() })
    }

    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener, closing: watch::Receiver<bool>) {
        let handler = move |request, _| {
            let front = Arc::clone(&self);
            async move {
                match Asked::read(request).await {
                    Some(asked) => front.answer(asked).await,
                    None => cut(),
                }
            }
        };
        server::serve(listener, CONNECTIONS_MAX, handler, closing).await;
    }

    pub(crate) fn seen(&self) -> Seen {
        self.with(|seen| seen.clone())
    }

    async fn answer(&self, asked: Asked) -> Reply {
        match asked.message_type.as_str() {
            "LEAGUE_REGISTER_REQUEST" => self.register(asked).await,
            "REFEREE_REGISTER_REQUEST" => {
                refused(&asked, "this is a practice of one player: it brings its own referee")
            }
            _ => self.forward(&asked, asked.json.clone()).await.0,
        }
    }

    async fn register(&self, asked: Asked) -> Reply {
        let mut json = asked.json.clone();
        let meta = message_mut(&mut json).and_then(|message| message.get_mut("player_meta"));
        let text = |meta: &Value, key: &str| meta.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = meta.as_ref().and_then(|meta| text(meta, "display_name")).unwrap_or_default();
        if let Some(guest) = self.with(|seen| seen.guest.clone()).filter(|guest| *guest != name) {
            return refused(&asked, &format!("{guest:?} practises here; wait until it has finished"));
        }
        // A contact endpoint that is no address is the manager's to refuse, word for word.
        if let Some(meta) = meta
            && let Some(url) = text(meta, "contact_endpoint")
            && crate::check::reach::target(&url).is_ok()
        {
            self.gate.lead_to(&url);
            if let Some(own) = meta.get_mut("contact_endpoint") {
                *own = self.gate_url.as_str().into();
            }
        }
        let (reply, answer) = self.forward(&asked, json).await;
        let said = |key: &str| message_in(&answer).and_then(|message| message.get(key)?.as_str());
        match said("status") {
            Some("ACCEPTED") => self.with(|seen| seen.guest = Some(name)),
            Some("REJECTED") if error_in(&answer).is_none() => {
                let error = ("REJECTED".to_owned(), said("reason").unwrap_or_default().to_owned());
                self.with(|seen| seen.errors.push((asked.message_type.clone(), error.0, error.1)));
            }
            _ => {}
        }
        reply
    }

    async fn forward(&self, asked: &Asked, json: Value) -> (Reply, Value) {
        let body = if json == asked.json { asked.body.clone() } else { json.to_string().into() };
        let deadline = Instant::now() + FORWARD_MAX;
        match self.client.post(&self.manager, body, deadline, MESSAGE_BYTES_MAX).await {
            Ok(received) => {
                let answer: Value = serde_json::from_slice(&received.body).unwrap_or_default();
                if let Some((code, text)) = error_in(&answer) {
                    self.with(|seen| seen.errors.push((asked.message_type.clone(), code, text)));
                }
                (reply(received.status, received.body), answer)
            }
            Err(_) => (cut(), Value::Null),
        }
    }

    fn with<R>(&self, look: impl FnOnce(&mut Seen) -> R) -> R {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn refused(asked: &Asked, why: &str) -> Reply {
    let id = asked.json.get("id").cloned().unwrap_or_default();
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": why}});
    reply(200, error.to_string())
}
