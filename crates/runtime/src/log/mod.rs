//! The structured log: agents emit `tracing` events, and a subscriber writes each as one line.
//!
//! - here: how an agent emits an event; `milestone`: the events of an agent's own log that have a line
//! - `subscriber`: reads events, an agent's and those of libraries; `entry`: an event as a line for people or as JSON
//! - `writer`: lines to a file or a pipe, without waiting for it

mod entry;
mod milestone;
mod subscriber;
mod writer;

pub use entry::{Entry, Format};
pub use subscriber::{SERVICE_TARGET, collect_diagnostics, dispatch};
pub use writer::LogWriter;

pub(crate) use milestone::log_milestone;

use crate::message_meta::MessageMeta;
use matchday_core::protocol::{Sender, Timestamp};
use tracing::Dispatch;
use tracing::dispatcher::with_default;
use tracing::subscriber::NoSubscriber;

/// Runs `emit`, which emits events, for the subscriber of one agent; not at all if the agent has none.
pub(crate) fn with(log: &Dispatch, emit: impl FnOnce()) {
    if !log.is::<NoSubscriber>() {
        with_default(log, emit);
    }
}

/// The fields of every event of an agent. They hold types, ids and times, never a token.
pub(crate) struct Header<'a> {
    pub(crate) at: Timestamp,
    pub(crate) agent: &'a Sender,
    pub(crate) event_type: &'static str,
    pub(crate) meta: Option<&'a MessageMeta>,
}

impl<'a> Header<'a> {
    pub(crate) fn new(at: Timestamp, agent: &'a Sender, event_type: &'static str) -> Self {
        Self {
            at,
            agent,
            event_type,
            meta: None,
        }
    }

    pub(crate) fn about(self, meta: &'a MessageMeta) -> Self {
        Self {
            meta: Some(meta),
            ..self
        }
    }

    pub(crate) fn component(&self) -> &'static str {
        match self.agent {
            Sender::LeagueManager => "league_manager",
            Sender::Launcher => "launcher",
            Sender::Referee(_) => "referee",
            Sender::Player(_) => "player",
        }
    }

    pub(crate) fn message_type(&self) -> Option<&'a str> {
        self.meta
            .map(|meta| meta.message_type.raw())
            .filter(|message_type| !message_type.is_empty())
    }

    pub(crate) fn conversation_id(&self) -> Option<&'a str> {
        self.meta?.conversation_id.as_deref()
    }

    pub(crate) fn match_id(&self) -> Option<&'a str> {
        self.meta?.match_id.as_deref()
    }
}

/// Emits an event with the fields of `$header`, then its details, then its message. `tracing` needs the level as a constant.
macro_rules! emit {
    (@ $level:ident, $header:ident, $($fields:tt)+) => {
        tracing::event!(
            target: "matchday",
            tracing::Level::$level,
            timestamp = $header.at.as_micros(),
            component = $header.component(),
            agent_id = $header.agent.id(),
            event_type = $header.event_type,
            message_type = $header.message_type(),
            conversation_id = $header.conversation_id(),
            match_id = $header.match_id(),
            $($fields)+
        )
    };
    ($level:expr, $header:expr, $($fields:tt)+) => {{
        let header = $header;
        match $level {
            tracing::Level::ERROR => $crate::log::emit!(@ ERROR, header, $($fields)+),
            tracing::Level::WARN => $crate::log::emit!(@ WARN, header, $($fields)+),
            tracing::Level::DEBUG => $crate::log::emit!(@ DEBUG, header, $($fields)+),
            _ => $crate::log::emit!(@ INFO, header, $($fields)+),
        }
    }};
}
pub(crate) use emit;

/// How long something took, in milliseconds with one decimal.
pub(crate) fn millis(from: Timestamp, to: Timestamp) -> f64 {
    (to.since(from).as_secs_f64() * 10_000.0).round() / 10.0
}
