//! The first messages to a player: does it accept messages from us, in which dialect, and what is its player id?

use super::rules;
use super::suite::Suite;
use crate::check::preflight;
use crate::check::probe::Reply;
use crate::check::reply::ReplyKind;
use crate::check::role::{self, AgentRole};
use crate::check::rule::{Category, Rule};
use matchday_core::protocol::PlayerId;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Handshake {
    Open,
    /// The URL is not an agent's; with the reason.
    NotAnAgent(String),
    /// It refuses messages from outside its own league; with the reason.
    Closed(String),
}

/// Refusals by an agent that cannot authenticate us: missing or invalid token, unknown match or league, not
/// registered.
const CANNOT_AUTHENTICATE: [&str; 6] = ["E005", "E006", "E007", "E008", "E011", "E012"];

/// Rules about robustness that only a member of its league can check.
static NEEDS_TRUST: [&Rule; 7] = [
    &rules::UNKNOWN_FIELDS,
    &rules::TWO_MATCHES,
    &rules::FULL_TABLE,
    &rules::UTF8,
    &rules::TECHNICAL_LOSS,
    &rules::GAME_OVER_TWICE,
    &rules::SHORT_LEAGUE,
];

impl Suite {
    /// Announces and invites once, and keeps the answer: it can be judged only when the player's id is known.
    pub(super) async fn handshake(&mut self) -> Handshake {
        let fixture = self.league.next();
        let message = self
            .league
            .announcement(self.probe.clock.now(), &[&fixture]);
        let noticed = self.send_notice(&message, self.timing.other).await;
        let message = self.league.invitation(self.probe.clock.now(), &fixture);
        let reply = self.probe.find_dialect(&message, self.timing.join).await;
        let reply = self
            .await_separate_answer(reply, &fixture, self.timing.join)
            .await;
        self.check_response_format(&reply);
        let answered = reply.exchange.answered();
        if let Some(why) =
            answered.and_then(|answered| preflight::not_an_agent(&self.probe.url, answered))
        {
            self.findings
                .violated(&rules::REACHABLE, why.clone(), &reply.exchange);
            return Handshake::NotAnAgent(why);
        }
        if let Some(why) = self.wrong_path(&noticed, &reply).await {
            self.findings
                .violated(&rules::REACHABLE, why.clone(), &reply.exchange);
            return Handshake::NotAnAgent(why);
        }
        self.first = Some((fixture, reply.clone()));
        if self.league.is_known() {
            return Handshake::Open;
        }
        let kind = ReplyKind::of(&reply);
        let is_join = matches!(&kind, ReplyKind::Message(message) if is_join(message));
        if !is_join
            && let Some(role) = role::of(&self.probe, &reply)
                .await
                .filter(|role| *role != AgentRole::Player)
        {
            return Handshake::NotAnAgent(role.instead_of(AgentRole::Player, &self.probe.url));
        }
        match kind {
            ReplyKind::Refused { code, text } if CANNOT_AUTHENTICATE.contains(&code.as_str()) => {
                if matches!(code.as_str(), "E011" | "E012") {
                    self.findings.pass(
                        &rules::FALSE_TOKEN,
                        format!("it refuses our made-up token with {code}"),
                    );
                }
                Handshake::Closed(format!("{code}: {text}"))
            }
            ReplyKind::Message(message) => {
                self.learn_id(&message);
                Handshake::Open
            }
            _ => Handshake::Open,
        }
    }

    /// Why nothing is served at the URL: no message is found there, whatever it is and in whatever dialect.
    async fn wrong_path(&self, noticed: &Reply, invited: &Reply) -> Option<String> {
        let status = |reply: &Reply| Some(reply.exchange.answered()?.status);
        let is_lost = |reply: &Reply| matches!(status(reply), Some(404 | 405));
        if !is_lost(noticed) || !is_lost(invited) {
            return None;
        }
        let url = &self.probe.url;
        let status = status(invited).unwrap_or_default();
        let hint = match preflight::served_at(&self.probe).await {
            Some(other) => format!("an agent answers at {other}"),
            None => "an agent's address is like http://localhost:8101/mcp".to_owned(),
        };
        let registered = if self.league.is_known() {
            ", which it has registered as its contact_endpoint"
        } else {
            ""
        };
        Some(format!(
            "nothing is served at {url}{registered}: every message gets HTTP {status} - check the path; {hint}"
        ))
    }

    /// By URL the player's id is the one that it first answers with.
    pub(super) fn learn_id(&mut self, message: &Value) {
        if let Some(id) =
            own_id(message).filter(|_| self.learns_id && !self.id_learnt && !self.league.is_known())
        {
            self.league.identity.player_id = PlayerId::new(id);
            self.id_learnt = true;
        }
    }

    /// Skips every rule that only a member of the agent's own league can check.
    pub(super) fn close(&mut self, why: &str) {
        let note =
            format!("the agent answers only to its own manager ({why}): check it with --wait");
        let needs_trust = |rule: &&&'static Rule| {
            use Category::*;
            matches!(
                rule.category,
                Envelope | Joining | Choosing | Notices | Timing | Trust
            ) || rule.id.starts_with("retry.")
                || NEEDS_TRUST.contains(rule)
        };
        for rule in rules::OWN.iter().filter(needs_trust) {
            self.findings.skip(rule, note.clone());
        }
    }
}

fn is_join(message: &Value) -> bool {
    message
        .get("message_type")
        .is_none_or(|kind| kind == "GAME_JOIN_ACK")
}

fn own_id(message: &Value) -> Option<&str> {
    let text = |key: &str| {
        message
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    text("player_id").or_else(|| text("sender")?.strip_prefix("player:"))
}
