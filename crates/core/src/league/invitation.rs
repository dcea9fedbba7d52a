//! Join codes and the slots that they are for.

use crate::protocol::Sender;
use crate::protocol::messages::AgentRole;
use crate::protocol::text::DisplayName;
use crate::protocol::token::TokenHash;
use serde::{Deserialize, Serialize};

/// The name of the referees' shared code in an order.
pub const REFEREES: &str = "referees";

/// A join code that the operator issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Whom the code admits: players or referees.
    pub role: AgentRole,
    /// The display name of its agent; `None` for a code shared by any number of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DisplayName>,
    /// Only the hash is stored: a log that leaks admits nobody.
    #[serde(rename = "join_code")]
    pub code: TokenHash,
}

/// A slot on the roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Who may take it, and with which code.
    pub invitation: Invitation,
    /// The registered agent of a named slot.
    pub holder: Option<Sender>,
    /// Whether its holder registered with the current code rather than a replaced one.
    pub used: bool,
}

impl Place {
    pub(super) fn is(&self, role: AgentRole, name: Option<&DisplayName>) -> bool {
        self.invitation.role == role && self.invitation.name.as_ref() == name
    }
}
