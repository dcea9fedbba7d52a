//! Those whom the check registers in the league: stand-ins that say "received" to everything, and what came to them.

use crate::check::exchange::Exchange;
use crate::check::receiver;
use crate::check::stand_in::Booth;
use matchday_core::protocol::{Endpoint, Token};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Player,
    Referee,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) endpoint: Endpoint,
    /// Empty until it is registered.
    pub(super) id: String,
    pub(super) token: Option<Token>,
    booth: Booth,
    /// Every league message that came, with its exchange.
    pub(super) heard: Vec<(Value, Exchange)>,
}

impl Member {
    pub(super) async fn open(role: Role, name: String) -> anyhow::Result<Self> {
        let (booth, endpoint) = receiver::open().await?;
        Ok(Self { role, name, endpoint, id: String::new(), token: None, booth, heard: Vec::new() })
    }

    /// Takes in what has come since.
    pub(super) async fn listen(&mut self) {
        while let Some(exchange) = self.booth.next(Duration::ZERO).await {
            if let Some(message) = receiver::message_in(&exchange.request) {
                self.heard.push((message, exchange));
            }
        }
    }

    pub(super) fn sender(&self) -> String {
        let id = if self.id.is_empty() { &self.name } else { &self.id };
        match self.role {
            Role::Player => format!("player:{id}"),
            Role::Referee => format!("referee:{id}"),
        }
    }

    pub(super) fn shown_token(&self) -> Value {
        json!(self.token.as_ref().map(Token::reveal))
    }

    /// All of one kind that came.
    pub(super) fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a (Value, Exchange)> {
        self.heard.iter().filter(move |(message, _)| is_kind(message, kind))
    }
}

pub(super) fn is_kind(message: &Value, kind: &str) -> bool {
    message.get("message_type").and_then(Value::as_str) == Some(kind)
}
