//! The name of each dialect.

use serde::{Deserialize, Serialize};

/// How an agent wraps the messages it sends, and wants those it is sent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// In the order of attempts with an unknown agent: the likeliest first, each unlike the one before.
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

    /// The dialect to try after this one failed. The sequence is a ring through all dialects.
    #[must_use]
    pub fn next(self) -> Self {
        let mut ring = Self::ALL
            .into_iter()
            .cycle()
            .skip_while(|&dialect| dialect != self);
        ring.nth(1).unwrap_or_default()
    }

    /// The method of a dialect that has only one.
    pub(super) fn wrapping_method(self) -> Option<&'static str> {
        match self {
            Self::HandleMessage => Some("handle_message"),
            Self::McpMessage => Some("mcp_message"),
            Self::ProtocolMessage => Some("protocol/message"),
            _ => None,
        }
    }
}
