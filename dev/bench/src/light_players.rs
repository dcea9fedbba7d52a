//! Players that cost next to nothing, all in this process: each accepts every invitation and chooses at once, keeps nothing
//! and signs nothing. So the manager and the referees are what is measured.

use crate::size::Size;
use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use matchday_net::client::Client;
use matchday_net::{body, server};
use matchday_server::connect::{self, RelayClient, RelayError, SavedMailbox, Status};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const BODY_BYTES_MAX: usize = 1 << 20;
const ANSWER_MAX: Duration = Duration::from_secs(30);
const CONNECTIONS_MAX: usize = 256;
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// They serve until this is closed.
#[derive(Debug)]
pub(crate) struct LightPlayers {
    close: watch::Sender<bool>,
    servers: JoinSet<()>,
    /// The connections to the relay, of players that dial out. They end with it.
    dialled: JoinSet<RelayError>,
    /// Of each, in the order of their registration.
    pub(crate) identities: Vec<Identity>,
}

/// The id and the token that the manager gave a player.
pub(crate) type Identity = (String, String);

impl LightPlayers {
    /// Returns when all have registered.
    pub(crate) async fn register(size: Size, manager: &str) -> Result<Self> {
        let mut players = Self::none();
        for number in 1..=size.players {
            let listener = TcpListener::bind("127.0.0.1:0")
                .await
                .context("no free port")?;
            let endpoint = format!("http://{}/mcp", listener.local_addr()?);
            players.enter(listener, manager, number, &endpoint).await?;
        }
        Ok(players)
    }

    /// The same, of players that dial out to the relay of the manager.
    pub(crate) async fn register_dialled(size: Size, manager: &str) -> Result<Self> {
        let mut players = Self::none();
        for number in 1..=size.players {
            let client = Client::new();
            let opened = RelayClient::open(&client, manager, None).await?;
            let saved = SavedMailbox::of(manager, opened)?;
            let listener = TcpListener::bind("127.0.0.1:0")
                .await
                .context("no free port")?;
            let url = format!("http://{}/mcp", listener.local_addr()?);
            players.dialled.spawn(connect::dial_to(
                client,
                &saved,
                Status::new(|_, _| {}),
                url,
            )?);
            players
                .enter(listener, manager, number, &saved.contact_endpoint)
                .await?;
        }
        Ok(players)
    }

    fn none() -> Self {
        Self {
            close: watch::Sender::new(false),
            servers: JoinSet::new(),
            dialled: JoinSet::new(),
            identities: Vec::new(),
        }
    }

    async fn enter(
        &mut self,
        listener: TcpListener,
        manager: &str,
        number: u16,
        endpoint: &str,
    ) -> Result<()> {
        let identity = Arc::new(OnceLock::new());
        let of_server = Arc::clone(&identity);
        let handler = move |request, _| respond(Arc::clone(&of_server), request);
        self.servers.spawn(server::serve(
            listener,
            CONNECTIONS_MAX,
            handler,
            self.close.subscribe(),
        ));
        let registered = register(&Client::new(), manager, number, endpoint).await?;
        self.identities.push(registered.clone());
        let _ = identity.set(registered);
        Ok(())
    }

    pub(crate) async fn close(mut self) {
        let _ = self.close.send(true);
        while self.servers.join_next().await.is_some() {}
    }
}

async fn register(client: &Client, manager: &str, number: u16, endpoint: &str) -> Result<Identity> {
    let request = json!({
        "jsonrpc": "2.0",
        "method": "register_player",
        "id": 1,
        "params": {
            "protocol": "league.v2",
            "message_type": "LEAGUE_REGISTER_REQUEST",
            "sender": format!("player:light-{number}"),
            "timestamp": "2026-01-01T00:00:00Z",
            "conversation_id": format!("conv-light-{number}"),
            "player_meta": {
                "display_name": format!("Light {number}"),
                "version": "1.0.0",
                "game_types": ["even_odd"],
                "contact_endpoint": endpoint,
            },
        },
    });
    let request = Bytes::from(request.to_string());
    let deadline = Instant::now() + ANSWER_MAX;
    let received = loop {
        let received = client
            .post(manager, request.clone(), deadline, BODY_BYTES_MAX)
            .await?;
        // A league that changes hands among services answers 503 for a moment.
        if received.status != StatusCode::SERVICE_UNAVAILABLE || Instant::now() >= deadline {
            break received;
        }
        sleep(RETRY_PAUSE).await;
    };
    let answer: Value =
        serde_json::from_slice(&received.body).context("the answer to a registration")?;
    let field = |name: &str| {
        answer
            .pointer(&format!("/result/{name}"))
            .and_then(Value::as_str)
    };
    let identity = field("player_id").zip(field("auth_token"));
    let (id, token) = identity.ok_or_else(|| anyhow!("the manager refuses a player: {answer}"))?;
    Ok((id.to_owned(), token.to_owned()))
}

async fn respond(
    identity: Arc<OnceLock<Identity>>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let body = body::read(&mut request.into_body(), BODY_BYTES_MAX)
        .await
        .unwrap_or_default();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = result(
        identity.get(),
        request.get("params").unwrap_or(&Value::Null),
    );
    let reply = json!({ "jsonrpc": "2.0", "id": request.get("id"), "result": result });
    let mut response = Response::new(Full::new(Bytes::from(reply.to_string())));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn result(identity: Option<&Identity>, message: &Value) -> Value {
    let message_type = message
        .get("message_type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some((id, token)) = identity else {
        return json!({ "status": "received" });
    };
    let mut answer = json!({
        "protocol": "league.v2",
        "sender": format!("player:{id}"),
        "timestamp": message.get("timestamp"),
        "conversation_id": message.get("conversation_id"),
        "auth_token": token,
        "match_id": message.get("match_id"),
        "player_id": id,
    });
    let own = match message_type {
        "GAME_INVITATION" => json!({
            "message_type": "GAME_JOIN_ACK",
            "arrival_timestamp": message.get("timestamp"),
            "accept": true,
        }),
        "CHOOSE_PARITY_CALL" => json!({
            "message_type": "CHOOSE_PARITY_RESPONSE",
            "parity_choice": if token.len() % 2 == 0 { "even" } else { "odd" },
        }),
        _ => return json!({ "status": "received" }),
    };
    if let (Some(answer), Value::Object(own)) = (answer.as_object_mut(), own) {
        answer.extend(own);
    }
    answer
}
