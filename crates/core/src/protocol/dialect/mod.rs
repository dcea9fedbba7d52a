//! The ways in which agents wrap a league message for HTTP. All are understood; each agent is answered in its own.
//!
//! Four directions, one file each, all of them bytes to values or back and nothing else:
//! - [`request`]: what peers send us, [`reply`]: what we send back
//! - [`call`]: what we send to peers, [`answer`]: what they send back
//!
//! What the messages themselves say is not judged here: that is the part of `decode`, and [`seam`] joins the two.

pub mod answer;
pub mod call;
pub mod reply;
pub mod request;
pub mod seam;

mod method;
mod told;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an agent wraps the messages it sends, and wants those it is sent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// JSON-RPC; the method is the tool's name, `params` is the message.
    #[default]
    Standard,
    /// JSON-RPC; the method is the message type, `GAME_INVITATION`.
    TypeAsMethod,
    /// JSON-RPC; the method is the message type in lower case, `game_invitation`.
    LowerTypeAsMethod,
    /// JSON-RPC; one method for everything, `handle_message`, and the message in `params.message`.
    HandleMessage,
    /// The same with `mcp_message`.
    McpMessage,
    /// The same with `protocol/message`.
    ProtocolMessage,
    /// The message itself, with no JSON-RPC around it.
    Bare,
    /// `tools/call` of the Model Context Protocol: `name` is the tool, `arguments` is the message.
    ToolsCall,
}

impl Dialect {
    /// In the order in which they are tried on an agent of which nothing is known: the likeliest first, and each as
    /// unlike the one before as can be.
    pub const ALL: [Self; 8] = [
        Self::Standard,
        Self::TypeAsMethod,
        Self::HandleMessage,
        Self::Bare,
        Self::LowerTypeAsMethod,
        Self::McpMessage,
        Self::ProtocolMessage,
        Self::ToolsCall,
    ];

    /// What to try on an agent that did not understand this one. From any dialect on, the ring comes past every other
    /// once before it comes back.
    #[must_use]
    pub fn next(self) -> Self {
        let mut ring = Self::ALL.into_iter().cycle().skip_while(|&dialect| dialect != self);
        ring.nth(1).unwrap_or_default()
    }

    /// The one method of a dialect that has but one.
    fn wrapping_method(self) -> Option<&'static str> {
        match self {
            Self::HandleMessage => Some("handle_message"),
            Self::McpMessage => Some("mcp_message"),
            Self::ProtocolMessage => Some("protocol/message"),
            _ => None,
        }
    }
}
