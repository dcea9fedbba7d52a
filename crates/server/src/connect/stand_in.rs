//! Stands in for the manager on localhost: what the agent sends there goes to the league, and nowhere else. A registration names
//! the mailbox instead of the agent's own address.

use super::calls::AgentEndpoint;
use super::rewrite::{contact_of, is_registration, with_contact};
use super::status::{Change, Status};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use matchday_core::protocol::jsonrpc::Fault;
use matchday_net::body;
use matchday_net::client::Client;
use matchday_net::origin_check::{Allowlist, OriginCheck};
use matchday_net::response::{empty, json, unanswered, with_close};
use matchday_net::server::{self, HttpResponse, ServerOptions};
use matchday_runtime::routes::{AgentRoute, Part, RouteTable, Target};
use matchday_runtime::{refuse_origin, rpc_error};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

const BODY_BYTES_MAX: usize = 1 << 20;
const BODY_MAX: Duration = Duration::from_secs(10);
const FORWARD_MAX: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct StandIn {
    pub client: Client,
    /// Where the league takes registrations, with the join code in the path if there is one.
    pub league: String,
    /// The endpoint of the mailbox.
    pub contact: String,
    pub agent: AgentEndpoint,
    pub status: Status,
}

impl StandIn {
    /// Serves until `closing` turns true.
    pub async fn serve(
        self,
        listener: TcpListener,
        closing: watch::Receiver<bool>,
    ) -> std::io::Result<()> {
        let origin_check = Arc::new(OriginCheck::new(
            listener.local_addr()?,
            Allowlist::default(),
        ));
        let stand_in = Arc::new(self);
        let handler = move |request: Request<Incoming>, _: SocketAddr| {
            let stand_in = Arc::clone(&stand_in);
            let origin_check = Arc::clone(&origin_check);
            async move {
                match origin_check.check_request(&request) {
                    Ok(()) => stand_in.answer(request).await,
                    Err(stranger) => refuse_origin(request, &stranger, BODY_MAX).await,
                }
            }
        };
        server::serve(listener, ServerOptions::default(), handler, closing).await;
        Ok(())
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpResponse {
        let has = |part: Part| part == Part::Agent;
        let located = RouteTable::of_agents().locate(request.method(), request.uri().path(), has);
        match located.found() {
            Ok(matched) if matched.route.target == Target::Agent(AgentRoute::Message) => {}
            Ok(_) => return empty(StatusCode::NOT_FOUND),
            Err(refusal) => return refusal,
        }
        let mut incoming = request.into_body();
        let Ok(Ok(body)) = timeout(BODY_MAX, body::read(&mut incoming, BODY_BYTES_MAX)).await
        else {
            let why =
                format!("the request may have {BODY_BYTES_MAX} bytes at most, and has 10 seconds");
            return with_close(json(
                StatusCode::BAD_REQUEST,
                rpc_error(Fault::InvalidRequest, &why),
            ));
        };
        let deadline = Instant::now() + FORWARD_MAX;
        match self
            .client
            .post(&self.league, self.forwarded(body), deadline, BODY_BYTES_MAX)
            .await
        {
            Ok(answer) => {
                let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
                json(status, answer.body.to_vec())
            }
            // As if the manager itself could not be reached.
            Err(why) => {
                self.status.tell(Change::Trouble(format!(
                    "a message of the agent did not reach the league: {why}"
                )));
                unanswered()
            }
        }
    }

    fn forwarded(&self, body: Bytes) -> Bytes {
        let Ok(text) = std::str::from_utf8(&body) else {
            return body;
        };
        let json: Value = serde_json::from_str(text).unwrap_or_default();
        if !is_registration(&json) {
            return body;
        }
        if let Some(own) = contact_of(&json) {
            self.agent.learn(own);
        }
        with_contact(text, &self.contact).into()
    }
}
