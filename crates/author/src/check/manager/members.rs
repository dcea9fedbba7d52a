//! The players and referees that the check registers with the manager: each acknowledges every message and records
//! it.

use crate::check::ack_server;
use crate::check::exchange::Exchange;
use crate::check::fake_agent::FakeServer;
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
    /// Among those of its role, from 1.
    number: usize,
    pub(super) endpoint: Endpoint,
    /// Empty before registration.
    pub(super) id: String,
    /// Without one where the manager gives none.
    pub(super) token: Option<Token>,
    server: FakeServer,
    /// Every league message received, with its exchange.
    pub(super) received: Vec<(Value, Exchange)>,
}

impl Member {
    pub(super) async fn open(role: Role, number: usize, name: String) -> anyhow::Result<Self> {
        let (server, endpoint) = ack_server::open().await?;
        Ok(Self {
            role,
            name,
            number,
            endpoint,
            id: String::new(),
            token: None,
            server,
            received: Vec::new(),
        })
    }

    /// Moves newly received messages into `received`.
    pub(super) async fn drain(&mut self) {
        while let Some(exchange) = self.server.next(Duration::ZERO).await {
            if let Some(message) = ack_server::message_in(&exchange.request) {
                self.received.push((message, exchange));
            }
        }
    }

    pub(super) fn is_accepted(&self) -> bool {
        !self.id.is_empty()
    }

    /// As whom it registers: as agents do that have their id from their own configuration, which every manager reads.
    pub(super) fn sender_before_registration(&self) -> String {
        let number = self.number;
        match self.role {
            Role::Player => format!("player:P{number:02}"),
            Role::Referee => format!("referee:REF{number:02}"),
        }
    }

    pub(super) fn sender(&self) -> String {
        let id = &self.id;
        match self.role {
            Role::Player => format!("player:{id}"),
            Role::Referee => format!("referee:{id}"),
        }
    }

    pub(super) fn token_json(&self) -> Value {
        json!(self.token.as_ref().map(Token::reveal))
    }

    pub(super) fn of_type<'a>(
        &'a self,
        message_type: &'a str,
    ) -> impl Iterator<Item = &'a (Value, Exchange)> {
        self.received
            .iter()
            .filter(move |(message, _)| is_type(message, message_type))
    }
}

pub(super) fn is_type(message: &Value, message_type: &str) -> bool {
    message.get("message_type").and_then(Value::as_str) == Some(message_type)
}
