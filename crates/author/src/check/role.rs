//! Tells players, referees and managers apart by what they answer, so that the wrong check says which is the right one.

use super::probe::{Probe, Reply};
use super::reply::ReplyKind;
use matchday_core::protocol::messages::query::LeagueQuery;
use matchday_core::protocol::{ConversationId, Envelope, LeagueId, Message, Sender};
use matchday_core::protocol::{Query, QueryParams};
use serde_json::{Value, json};
use std::time::Duration;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentRole {
    Player,
    Referee,
    Manager,
}

impl AgentRole {
    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Referee => "referee",
            Self::Manager => "manager",
        }
    }

    /// One line for people who check an agent of this role for another one.
    pub fn instead_of(self, checked: Self, url: &str) -> String {
        let is = self.name();
        let checked = checked.name();
        let how = match self {
            Self::Manager | Self::Player => format!("matchday check {is} {url}"),
            Self::Referee => "matchday check referee --wait".to_owned(),
        };
        format!("{url} is a {is}, not a {checked} - check it with `{how}`")
    }

    /// The same of an agent that registers with a check that waits for another one.
    pub fn registers_instead_of(self, checked: Self) -> String {
        let is = self.name();
        let checked = checked.name();
        format!(
            "what registers here is a {is}, not a {checked} - check it with `matchday check {is} --wait`"
        )
    }

    fn of_sender(sender: &str) -> Option<Self> {
        match sender.split_once(':').map_or(sender, |(kind, _)| kind) {
            "league_manager" => Some(Self::Manager),
            "referee" => Some(Self::Referee),
            "player" => Some(Self::Player),
            _ => None,
        }
    }
}

/// The role of the agent that gave this reply: as whom it answered, or else by what it can be asked. `None` if neither
/// tells.
pub async fn of(probe: &Probe, reply: &Reply) -> Option<AgentRole> {
    if let Some(role) = signed(reply) {
        return Some(role);
    }
    let standings = probe.send_message(&query(probe), ANSWER_TIMEOUT).await;
    let answers_queries = matches!(ReplyKind::of(&standings), ReplyKind::Message(message)
        if message.get("message_type").is_some_and(|kind| kind == "LEAGUE_QUERY_RESPONSE"));
    if answers_queries {
        return Some(AgentRole::Manager);
    }
    if let Some(role) = signed(&standings) {
        return Some(role);
    }
    let matches = knows(probe, "get_match_state").await;
    let player = knows(probe, "get_player_state").await;
    match (matches, player) {
        (true, false) => Some(AgentRole::Referee),
        (false, true) => Some(AgentRole::Player),
        _ => None,
    }
}

/// The role that the sender of an answer names, also of one that only acknowledges.
fn signed(reply: &Reply) -> Option<AgentRole> {
    let body = reply.exchange.json()?;
    let places = ["", "/result", "/error/data", "/result/structuredContent"];
    let senders = places
        .into_iter()
        .filter_map(|place| body.pointer(place)?.get("sender")?.as_str());
    senders.into_iter().find_map(AgentRole::of_sender)
}

/// Whether a method without a league message gets a result.
async fn knows(probe: &Probe, method: &str) -> bool {
    let request = json!({"jsonrpc": "2.0", "id": probe.fresh_id(), "method": method, "params": {}});
    let exchange = probe
        .send(method, request.to_string(), ANSWER_TIMEOUT)
        .await;
    exchange
        .json()
        .is_some_and(|answer| answer.get("result").is_some_and(Value::is_object))
}

fn query(probe: &Probe) -> Message {
    let conversation = ConversationId::new("conv-check-role");
    let envelope = Envelope::new(Sender::Launcher, probe.clock.now(), conversation);
    let query = LeagueQuery {
        league_id: LeagueId::new("league_check"),
        query_type: Query::Standings,
        query_params: QueryParams::default(),
    };
    Message::new(envelope, query)
}
