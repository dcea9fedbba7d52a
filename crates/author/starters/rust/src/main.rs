//! A player of league.v2: registers with a manager, and answers referees on POST /mcp. What you will want to change is
//! in `strategy.rs`.

mod agent;
mod board;
mod dial;
mod registration;
mod rpc;
mod strategy;
#[cfg(test)]
mod tests;
mod tokens;

use agent::Agent;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

const NAME: &str = "{{NAME}}";
const BODY_BYTES_MAX: usize = 1024 * 1024;

const USAGE: &str = "\
A player of league.v2. Each option can be set as MATCHDAY_LISTEN and so on, too.
  --listen HOST:PORT  where to listen [default: 127.0.0.1:8101]
  --manager URL       where the league manager listens [default: http://localhost:8000/mcp]
  --name NAME         what the player is called
  --advertise URL     where others reach it [default: http://HOST:PORT/mcp]
  --dial              dial out to the league instead of listening [MATCHDAY_DIAL=on]
  --store FILE        keeps the token for a restart [default: agent.json]";

pub fn router(agent: Arc<Agent>) -> Router {
    Router::new().route("/mcp", post(mcp)).layer(DefaultBodyLimit::max(BODY_BYTES_MAX)).with_state(agent)
}

async fn mcp(State(agent): State<Arc<Agent>>, body: Result<Bytes, BytesRejection>) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(error) => {
            return send(error.status(), rpc::failure(Value::Null, -32600, error.body_text()));
        }
    };
    match rpc::answer(&agent, &body).await {
        Some(answer) => send(StatusCode::OK, answer),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

fn send(status: StatusCode, answer: Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

struct Options {
    listen: String,
    manager: String,
    name: String,
    advertise: Option<String>,
    store: PathBuf,
    dial: bool,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let set = |name: &str| env::var(format!("MATCHDAY_{name}")).ok();
        let mut options = Self {
            listen: set("LISTEN").unwrap_or("127.0.0.1:8101".into()),
            manager: set("MANAGER").unwrap_or("http://localhost:8000/mcp".into()),
            name: set("NAME").unwrap_or(NAME.into()),
            advertise: set("ADVERTISE"),
            store: set("STORE").unwrap_or("agent.json".into()).into(),
            dial: set("DIAL").as_deref() == Some("on"),
        };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or(format!("{flag} needs a value\n\n{USAGE}"));
            match flag.as_str() {
                "--listen" => options.listen = value()?,
                "--manager" => options.manager = value()?,
                "--name" => options.name = value()?,
                "--advertise" => options.advertise = Some(value()?),
                "--dial" => options.dial = true,
                "--store" => options.store = value()?.into(),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}

#[tokio::main]
async fn main() {
    tokio::select! {
        result = run() => if let Err(why) = result {
            eprintln!("{why}");
            std::process::exit(1);
        },
        () = stopped() => {
            eprintln!("stopped");
            // Whatever still waits for a manager or thinks about a choice is left behind.
            std::process::exit(0);
        }
    }
}

async fn run() -> Result<(), String> {
    let options = Options::read(env::args().skip(1))?;
    if options.dial {
        let mailbox = dial::Mailbox::open(&options.manager).await?;
        eprintln!("called through the relay of the league");
        let agent = Arc::new(Agent::new(strategy::choose));
        let endpoint = mailbox.endpoint.clone();
        let serving = tokio::spawn(mailbox.serve(Arc::clone(&agent)));
        register(&agent, options, endpoint).await?;
        return Err(format!("cannot go on: {}", serving.await.map_err(|error| error.to_string())?));
    }
    let cannot = |error: std::io::Error| format!("cannot listen on {}: {error}", options.listen);
    let listener = TcpListener::bind(&options.listen).await.map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let host = match options.listen.rsplit_once(':') {
        Some(("0.0.0.0" | "[::]", _)) | None => "localhost",
        Some((host, _)) => host,
    };
    eprintln!("listening on {host}:{port}");
    let endpoint = options.advertise.clone().unwrap_or(format!("http://{host}:{port}/mcp"));
    let agent = Arc::new(Agent::new(strategy::choose));
    // The server listens before the player registers: the manager looks whether it is there.
    let server = tokio::spawn(axum::serve(listener, router(Arc::clone(&agent))).into_future());
    register(&agent, options, endpoint).await?;
    server.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

async fn register(agent: &Agent, options: Options, endpoint: String) -> Result<(), String> {
    let registering = tokio::task::spawn_blocking(move || {
        registration::register(&options.manager, &options.name, &endpoint, &options.store)
    });
    let identity = registering.await.map_err(|error| error.to_string())??;
    let player_id = identity.player_id.clone();
    agent.registered(identity);
    eprintln!("registered as {player_id}");
    Ok(())
}

async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminated) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = interrupted => {}
            _ = terminated.recv() => {}
        }
        return;
    }
    let _ = interrupted.await;
}
