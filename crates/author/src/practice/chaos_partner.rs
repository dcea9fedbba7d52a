//! The chaos partner: a proxy to one of our players that breaks its answers.

use super::proxy::{
    ProxiedRequest, Reply, forward, is_choice, is_invitation, message_in, message_mut, reply, serve,
};
use matchday_net::client::Client;
use serde_json::Value;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

/// The port is free again at once, unless another process has taken it.
const REBIND_TRIES: u32 = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChaosMode {
    SilentAtJoin,
    SilentAtChoice,
    Garbage,
    WrongMatch,
    Repeats,
    Restarts,
}

impl ChaosMode {
    pub const ALL: [Self; 6] = [
        Self::SilentAtJoin,
        Self::SilentAtChoice,
        Self::Garbage,
        Self::WrongMatch,
        Self::Repeats,
        Self::Restarts,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::SilentAtJoin => "silent when invited",
            Self::SilentAtChoice => "silent when asked",
            Self::Garbage => "garbage",
            Self::WrongMatch => "another match",
            Self::Repeats => "repeats itself",
            Self::Restarts => "restarts",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::SilentAtJoin => "never answers an invitation",
            Self::SilentAtChoice => "joins and never chooses",
            Self::Garbage => "answers with invalid JSON",
            Self::WrongMatch => "answers for a match that does not exist",
            Self::Repeats => "sends every answer twice, the second time with the other choice",
            Self::Restarts => "stops when asked to choose, and starts again",
        }
    }
}

#[derive(Debug)]
pub struct ChaosPartner {
    pub mode: ChaosMode,
    pub player: String,
    /// Where repeated answers are sent.
    pub referee: String,
    /// The duration of a restart.
    pub away: Duration,
    pub client: Client,
}

impl ChaosPartner {
    pub async fn serve(self, listener: TcpListener, closing: watch::Receiver<bool>) {
        let partner = Arc::new(self);
        let listener = match partner.mode {
            ChaosMode::Restarts => match partner.until_restarted(listener, closing.clone()).await {
                Some(listener) => listener,
                None => return,
            },
            _ => listener,
        };
        serve(listener, closing, move |request| {
            Arc::clone(&partner).answer(request)
        })
        .await;
    }

    /// Serves until the first choice is requested, drops all connections, and listens again after a pause.
    async fn until_restarted(
        self: &Arc<Self>,
        listener: TcpListener,
        mut closing: watch::Receiver<bool>,
    ) -> Option<TcpListener> {
        let address = listener.local_addr().ok()?;
        let crash = Arc::new(Notify::new());
        let partner = Arc::clone(self);
        let crashing = Arc::clone(&crash);
        let answer = move |request: ProxiedRequest| {
            let partner = Arc::clone(&partner);
            let crash = Arc::clone(&crashing);
            async move {
                if is_choice(&request.message_type) {
                    crash.notify_one();
                    pending::<()>().await;
                }
                partner.forward(&request).await.0
            }
        };
        tokio::select! {
            // Dropping the future closes the port and its connections.
            () = serve(listener, closing.clone(), answer) => return None,
            () = crash.notified() => {}
        }
        for _ in 0..REBIND_TRIES {
            tokio::select! {
                () = sleep(self.away) => {}
                _ = closing.wait_for(|&closing| closing) => return None,
            }
            if let Ok(listener) = TcpListener::bind(address).await {
                return Some(listener);
            }
        }
        None
    }

    async fn answer(self: Arc<Self>, request: ProxiedRequest) -> Reply {
        let joins = is_invitation(&request.message_type);
        let chooses = is_choice(&request.message_type);
        match self.mode {
            ChaosMode::SilentAtJoin if joins => pending().await,
            ChaosMode::SilentAtChoice if chooses => pending().await,
            ChaosMode::Garbage if chooses => reply(200, "}{ the dog ate my choice"),
            ChaosMode::WrongMatch if chooses => {
                let (_, mut answer) = self.forward(&request).await;
                if let Some(message) = message_mut(&mut answer) {
                    message.insert("match_id".into(), "R999M9".into());
                }
                reply(200, answer.to_string())
            }
            ChaosMode::Repeats if joins || chooses => {
                let (reply, answer) = self.forward(&request).await;
                tokio::spawn(async move { self.repeat(&answer).await });
                reply
            }
            _ => self.forward(&request).await.0,
        }
    }

    /// Forwards the request and returns the player's answer.
    async fn forward(&self, request: &ProxiedRequest) -> (Reply, Value) {
        forward(&self.client, &self.player, request.body.clone()).await
    }

    /// Sends an answer to the referee again as separate requests: unchanged, and with the other choice.
    async fn repeat(&self, answer: &Value) {
        let Some(message) = message_in(answer) else {
            return;
        };
        let mut other = message.clone();
        if let Some(choice) = other.get_mut("parity_choice") {
            *choice = if *choice == "even" {
                "odd".into()
            } else {
                "even".into()
            };
        }
        if let Some(choice) = other
            .get_mut("move_data")
            .and_then(|data| data.get_mut("choice"))
        {
            *choice = "another".into();
        }
        for again in [message.clone(), other] {
            // The response does not matter.
            let _ = forward(
                &self.client,
                &self.referee,
                Value::Object(again).to_string().into(),
            )
            .await;
        }
    }
}
