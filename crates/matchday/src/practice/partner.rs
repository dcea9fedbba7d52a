//! The chaos partner: an honest player of ours behind a port of its own, where its answers are spoilt on their way out.

use super::relay::{
    Asked, CONNECTIONS_MAX, MESSAGE_BYTES_MAX, Reply, cut, is_choice, is_invitation, message_in,
};
use super::relay::{message_mut, reply};
use crate::net::client::Client;
use crate::net::server;
use serde_json::Value;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

const FORWARD_MAX: Duration = Duration::from_secs(30);
/// A port is free again at once, or it is somebody else's.
const REBIND_TRIES: u32 = 50;

/// What is wrong with a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    SilentAtJoin,
    SilentAtChoice,
    Garbage,
    WrongMatch,
    Repeats,
    Restarts,
}

impl Mood {
    pub(crate) const ALL: [Self; 6] = [
        Self::SilentAtJoin,
        Self::SilentAtChoice,
        Self::Garbage,
        Self::WrongMatch,
        Self::Repeats,
        Self::Restarts,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SilentAtJoin => "silent when invited",
            Self::SilentAtChoice => "silent when asked",
            Self::Garbage => "garbage",
            Self::WrongMatch => "another match",
            Self::Repeats => "repeats itself",
            Self::Restarts => "restarts",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::SilentAtJoin => "never answers an invitation",
            Self::SilentAtChoice => "joins, and never chooses",
            Self::Garbage => "chooses with what is no JSON",
            Self::WrongMatch => "chooses for a match that there is not",
            Self::Repeats => "sends every answer again, the choice turned round",
            Self::Restarts => "breaks off when asked to choose, and comes back",
        }
    }
}

/// Stands before a player.
#[derive(Debug)]
pub(crate) struct Partner {
    pub(crate) mood: Mood,
    /// Where the honest player listens.
    pub(crate) player: String,
    /// Where its answers are sent once more.
    pub(crate) referee: String,
    /// How long a restart takes.
    pub(crate) away: Duration,
    pub(crate) client: Client,
}

impl Partner {
    /// Serves until `closing` turns true.
    pub(crate) async fn serve(self, listener: TcpListener, closing: watch::Receiver<bool>) {
        let partner = Arc::new(self);
        let listener = match partner.mood {
            Mood::Restarts => match partner.until_restarted(listener, closing.clone()).await {
                Some(listener) => listener,
                None => return,
            },
            _ => listener,
        };
        let handler = move |request, _| {
            let partner = Arc::clone(&partner);
            async move {
                match Asked::read(request).await {
                    Some(asked) => partner.answer(asked).await,
                    None => cut(),
                }
            }
        };
        server::serve(listener, CONNECTIONS_MAX, handler, closing).await;
    }

    /// Serves until the first choice is due, breaks all connections off, and listens again a little later.
    async fn until_restarted(
        self: &Arc<Self>,
        listener: TcpListener,
        mut closing: watch::Receiver<bool>,
    ) -> Option<TcpListener> {
        let address = listener.local_addr().ok()?;
        let crash = Arc::new(Notify::new());
        let (partner, crashing) = (Arc::clone(self), Arc::clone(&crash));
        let handler = move |request, _| {
            let (partner, crash) = (Arc::clone(&partner), Arc::clone(&crashing));
            async move {
                match Asked::read(request).await {
                    Some(asked) if is_choice(&asked.message_type) => {
                        crash.notify_one();
                        pending().await
                    }
                    Some(asked) => partner.forward(&asked).await.0,
                    None => cut(),
                }
            }
        };
        tokio::select! {
            // What is not polled any more takes its port and its connections with it.
            () = server::serve(listener, CONNECTIONS_MAX, handler, closing.clone()) => return None,
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

    async fn answer(self: Arc<Self>, asked: Asked) -> Reply {
        let (joins, chooses) = (is_invitation(&asked.message_type), is_choice(&asked.message_type));
        match self.mood {
            Mood::SilentAtJoin if joins => pending().await,
            Mood::SilentAtChoice if chooses => pending().await,
            Mood::Garbage if chooses => reply(200, "}{ the dog ate my choice"),
            Mood::WrongMatch if chooses => {
                let (_, mut answer) = self.forward(&asked).await;
                if let Some(message) = message_mut(&mut answer) {
                    message.insert("match_id".into(), "R999M9".into());
                }
                reply(200, answer.to_string())
            }
            Mood::Repeats if joins || chooses => {
                let (reply, answer) = self.forward(&asked).await;
                tokio::spawn(async move { self.repeat(&answer).await });
                reply
            }
            _ => self.forward(&asked).await.0,
        }
    }

    /// The honest answer.
    async fn forward(&self, asked: &Asked) -> (Reply, Value) {
        let deadline = Instant::now() + FORWARD_MAX;
        match self.client.post(&self.player, asked.body.clone(), deadline, MESSAGE_BYTES_MAX).await {
            Ok(received) => {
                let answer = serde_json::from_slice(&received.body).unwrap_or_default();
                (reply(received.status, received.body), answer)
            }
            Err(_) => (cut(), Value::Null),
        }
    }

    /// Sends an answer to the referee as a message of its own: as it was, and with the other choice.
    async fn repeat(&self, answer: &Value) {
        let Some(message) = message_in(answer) else { return };
        let mut other = message.clone();
        if let Some(choice) = other.get_mut("parity_choice") {
            *choice = if *choice == "even" { "odd".into() } else { "even".into() };
        }
        if let Some(choice) = other.get_mut("move_data").and_then(|data| data.get_mut("choice")) {
            *choice = "another".into();
        }
        for again in [message.clone(), other] {
            let deadline = Instant::now() + FORWARD_MAX;
            let body = Value::Object(again).to_string().into();
            // Whatever is said to it: the partner does not care.
            let _ = self.client.post(&self.referee, body, deadline, MESSAGE_BYTES_MAX).await;
        }
    }
}
