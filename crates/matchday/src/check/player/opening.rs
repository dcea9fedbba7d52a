//! The first words with a player: does it talk to us, in which dialect, and under which name?

use super::rules;
use super::suite::Suite;
use crate::check::heard::Heard;
use crate::check::reach;
use crate::check::rule::{Category, Rule};
use matchday_core::protocol::PlayerId;
use serde_json::Value;

/// How the rest of the check can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Terms {
    Open,
    /// What is there is no agent; why.
    Nowhere(String),
    /// It refuses whoever is not of its own league; why.
    Closed(String),
}

/// What an agent says that cannot know us: no token, a false one, a match or a league it has not heard of, or that it is
/// not registered anywhere yet.
const STRANGER: [&str; 6] = ["E005", "E006", "E007", "E008", "E011", "E012"];

impl Suite {
    /// Announces and invites once, without judging anything but the form: in whose name the player answers must be known
    /// before its answers can be judged.
    pub(super) async fn open(&mut self, own_name: bool) -> Terms {
        let fixture = self.announce().await;
        let message = self.stage.invitation(self.probe.clock.now(), &fixture);
        let reply = self.tell(&message, self.timing.join).await;
        let answered = reply.exchange.answered();
        if let Some(why) = answered.and_then(|answered| reach::refusal(&self.probe.url, answered)) {
            self.sheet.broken(&rules::REACHABLE, why.clone(), &reply.exchange);
            return Terms::Nowhere(why);
        }
        if self.stage.is_known() {
            return Terms::Open;
        }
        match Heard::of(&reply) {
            Heard::Refused { code, words } if STRANGER.contains(&code.as_str()) => {
                if matches!(code.as_str(), "E011" | "E012") {
                    self.sheet.pass(&rules::FALSE_TOKEN, format!("it refuses our made-up token with {code}"));
                }
                Terms::Closed(format!("{code}: {words}"))
            }
            Heard::Message(message) => {
                if let Some(id) = own_id(&message).filter(|_| own_name) {
                    self.stage.identity.player_id = PlayerId::new(id);
                }
                Terms::Open
            }
            _ => Terms::Open,
        }
    }

    /// Marks everything that only an agent of our own league would answer.
    pub(super) fn close(&mut self, why: &str) {
        let note = format!("the agent answers only to its own manager ({why}): check it with --wait");
        let needs_trust = |rule: &&&'static Rule| {
            use Category::*;
            matches!(rule.category, Envelope | Joining | Choosing | Notices | Timing | Trust)
                || rule.id.starts_with("retry.")
                || [&rules::UNKNOWN_FIELDS, &rules::TWO_MATCHES, &rules::FULL_TABLE].contains(&**rule)
        };
        for rule in rules::OWN.iter().filter(needs_trust) {
            self.sheet.skip(rule, note.clone());
        }
    }
}

/// The name that a player gives itself in an answer.
fn own_id(message: &Value) -> Option<&str> {
    let text = |key: &str| message.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("player_id").or_else(|| text("sender")?.strip_prefix("player:"))
}
