//! What the models of a match were told and said, turn by turn, as text. Pure.

use crate::model_calls::{ModelCallView, model_calls};
use matchday_core::protocol::untrusted::escape_line;
use matchday_store::exchange::Exchange;

/// Wide enough for the longest label.
const LABEL: usize = 10;

/// Nothing if no model was asked.
pub(super) fn of(exchanges: &[Exchange]) -> String {
    let calls = model_calls(exchanges);
    if calls.is_empty() {
        return String::new();
    }
    let told: String = calls.iter().map(one).collect();
    format!("\nWhat the players were told, and what they said\n{told}")
}

fn one(call: &ModelCallView) -> String {
    let turn = call
        .turn
        .map_or_else(String::new, |turn| format!(", turn {turn}"));
    let figures = call.figures();
    let colon = if figures.is_empty() { "" } else { ": " };
    let title = format!("{}{turn}{colon}{figures}", call.player);
    let mut text = format!("\n{}\n", escape_line(&title));
    for message in &call.prompt {
        text.push_str(&labelled(message.role.name(), &message.content));
    }
    let said = [("thinking", &call.thinking), ("reply", &call.reply)];
    for (label, content) in said {
        if let Some(content) = content {
            text.push_str(&labelled(label, content));
        }
    }
    text
}

fn labelled(label: &str, content: &str) -> String {
    let mut text = String::new();
    for (number, line) in content.lines().enumerate() {
        let label = if number == 0 { label } else { "" };
        let line = format!("  {label:LABEL$}{}", escape_line(line));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
