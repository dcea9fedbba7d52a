//! Events and messages in brief, for people. Pure.

mod agent_event;
mod league_event;
mod message;
mod order;

pub(crate) use agent_event::{game_outcome, player_event, referee_event};
pub(crate) use league_event::{league_event, status_of};
pub use order::carried_out;

pub use message::{MessageSummary, league_message, summarize};

use matchday_core::protocol::Timestamp;

/// A point in time to the millisecond, `2025-01-15T10:30:00.049Z`.
pub fn time(at: Timestamp) -> String {
    at.with_millis()
}

/// Without control characters, which could move the cursor of the terminal that it is shown on.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
