//! The ways in which agents wrap a league message for HTTP. All are understood; each agent is answered in its own.

use serde::{Deserialize, Serialize};

/// How an agent wraps the messages it sends, and wants those it is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
