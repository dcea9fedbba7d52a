//! Dials out: for an agent that nobody can call, behind NAT or a firewall. The league's relay keeps its calls in a mailbox; it
//! fetches them, and posts its answers. The wire format is in docs/protocol-relay.md of Matchday.

use crate::agent::Agent;
use crate::registration::client;
use crate::rpc;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The relay answers a poll after 25 s at the latest.
const TIMEOUT: Duration = Duration::from_secs(35);
static CLIENT: LazyLock<ureq::Agent> = LazyLock::new(|| client(TIMEOUT));
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_millis(1600);

#[derive(Clone)]
pub struct Mailbox {
    pub endpoint: String,
    url: String,
    token: String,
    client: String,
}

#[derive(Deserialize)]
struct Opened {
    mailbox: String,
    relay_token: String,
    contact_endpoint: String,
}

#[derive(Deserialize)]
struct Call {
    id: Option<u64>,
    #[serde(default)]
    left_ms: u64,
    #[serde(default)]
    body: String,
    #[serde(default)]
    closed: String,
}

impl Mailbox {
    /// Opens a mailbox at the league of this manager; a join code may be in its URL.
    pub async fn open(manager: &str) -> Result<Self, String> {
        let base = manager.strip_suffix("/mcp").unwrap_or(manager);
        let (base, code) = base.split_once("/join/").map_or((base, ""), |(base, code)| (base, code));
        let (status, body) = request(format!("{base}/relay"), code.to_owned(), Some(String::new())).await?;
        let opened: Opened = match serde_json::from_str(&body) {
            Ok(opened) if status == 201 => opened,
            _ => return Err(format!("HTTP {status} from {base}/relay: {body}")),
        };
        let client = hex::encode(rand::random::<[u8; 8]>());
        let url = format!("{base}/relay/{}", opened.mailbox);
        Ok(Self { endpoint: opened.contact_endpoint, url, token: opened.relay_token, client })
    }

    /// Has the agent answer every call. Returns why it cannot go on.
    pub async fn serve(self, agent: Arc<Agent>) -> String {
        let mut seen = 0;
        let mut pause = PAUSE_MIN;
        loop {
            let url = format!("{}/next?client={}&after={seen}", self.url, self.client);
            match request(url, self.token.clone(), None).await {
                Ok((200, lines)) => {
                    for call in lines.lines().filter_map(|line| serde_json::from_str::<Call>(line).ok()) {
                        if call.closed == "taken_over" {
                            return "another client has taken over this mailbox".to_owned();
                        }
                        if let Some(id) = call.id.filter(|id| *id > seen) {
                            seen = id;
                            tokio::spawn(self.clone().reply(id, call, Arc::clone(&agent)));
                        }
                    }
                    pause = PAUSE_MIN;
                    continue;
                }
                Ok((status @ (401 | 404 | 409), why)) => return format!("HTTP {status}: {why}"),
                Ok(_) => {}
                Err(why) => eprintln!("no connection to the league ({why}): trying again"),
            }
            sleep(pause.mul_f64(0.5 + rand::random::<f64>() / 2.0)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn reply(self, id: u64, call: Call, agent: Arc<Agent>) {
        let until = Instant::now() + Duration::from_millis(call.left_ms);
        let answer = rpc::answer(&agent, call.body.as_bytes()).await;
        let status = if answer.is_some() { 200 } else { 202 };
        let body = answer.map(|answer: Value| answer.to_string()).unwrap_or_default();
        while Instant::now() < until {
            let url = format!("{}/answers/{id}?status={status}", self.url);
            if request(url, self.token.clone(), Some(body.clone())).await.is_ok() {
                return;
            }
            sleep(PAUSE_MIN).await;
        }
    }
}

/// The status and the body of an answer; to a POST if there is a body.
async fn request(url: String, token: String, body: Option<String>) -> Result<(u16, String), String> {
    let asking = move || {
        let bearer = format!("Bearer {token}");
        let mut answer = match body {
            Some(body) => {
                let request = CLIENT.post(&url).header("Content-Type", "application/json");
                (if token.is_empty() { request } else { request.header("Authorization", &bearer) }).send(&body)?
            }
            None => CLIENT.get(&url).header("Authorization", &bearer).call()?,
        };
        Ok::<_, ureq::Error>((answer.status().as_u16(), answer.body_mut().read_to_string()?))
    };
    let asked = tokio::task::spawn_blocking(asking).await.map_err(|error| error.to_string())?;
    asked.map_err(|error| error.to_string())
}
