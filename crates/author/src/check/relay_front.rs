//! A relay before the fake manager of a check, for agents that dial out: what is for the relay stays here, everything else goes
//! on to the fake manager.

use anyhow::Result;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use matchday_net::body;
use matchday_net::client::Client;
use matchday_net::response::{empty, json, unanswered};
use matchday_net::server::{self, HttpResponse, ServerOptions};
use matchday_runtime::entropy_from_system;
use matchday_runtime::routes::{AgentRoute, Part, RouteTable, Target};
use matchday_server::mcp::agent_options;
use matchday_server::relay::{Inherited, Relay, RelayLimits, RelaySettings};
use matchday_store::Store;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

const BODY_BYTES_MAX: usize = 1 << 20;
const FORWARD_MAX: Duration = Duration::from_secs(30);
const MAILBOXES_MAX: usize = 64;

/// Serves for as long as the process runs.
pub fn start(listener: TcpListener, fake_manager: SocketAddr) -> Result<()> {
    let base_url = format!("http://{}", listener.local_addr()?);
    let limits = RelayLimits::new(MAILBOXES_MAX, MAILBOXES_MAX);
    let settings = RelaySettings {
        base_url,
        limits,
        message_bytes_max: BODY_BYTES_MAX,
    };
    let relay = Relay::open(
        settings,
        Store::in_memory()?,
        Inherited::default(),
        &agent_options(entropy_from_system()?),
    )?;
    relay.serve_anyone();
    let (client, to) = (Client::new(), format!("http://{fake_manager}/mcp"));
    let (close, closing) = watch::channel(false);
    let handler = move |request: Request<Incoming>, peer| {
        let relay = Arc::clone(&relay);
        let client = client.clone();
        let to = to.clone();
        async move {
            let has = |part: Part| matches!(part, Part::Agent | Part::Relay);
            let located =
                RouteTable::of_agents().locate(request.method(), request.uri().path(), has);
            match located.found() {
                Err(refusal) => refusal,
                Ok(matched) => match matched.route.target {
                    Target::Relay(_) => relay.answer(&matched, request, peer).await,
                    Target::Agent(AgentRoute::Message) => forward(request, &client, &to).await,
                    _ => empty(StatusCode::NOT_FOUND),
                },
            }
        }
    };
    tokio::spawn(async move {
        server::serve(listener, ServerOptions::default(), handler, closing).await;
        drop(close);
    });
    Ok(())
}

async fn forward(request: Request<Incoming>, client: &Client, to: &str) -> HttpResponse {
    let Ok(body) = body::read(&mut request.into_body(), BODY_BYTES_MAX).await else {
        return empty(StatusCode::BAD_REQUEST);
    };
    match client
        .post(to, body, Instant::now() + FORWARD_MAX, BODY_BYTES_MAX)
        .await
    {
        Ok(answer) => json(
            StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY),
            answer.body.to_vec(),
        ),
        Err(_) => unanswered(),
    }
}
