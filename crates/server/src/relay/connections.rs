//! Who is connected how, and since when: an agent is called directly, or has a mailbox at the relay.

use super::Relay;
use matchday_core::league::League;
use matchday_core::mailbox::Transport;
use matchday_core::protocol::{Endpoint, Timestamp};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How the league reaches an agent. Without its address.
#[derive(Debug, Clone, Serialize)]
pub struct AgentConnection {
    agent_id: String,
    via: Via,
    /// Of an agent that is connected to the relay.
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'static str>,
    /// Whether it is. Of an agent that is called directly: whether a connection can be made, while that is looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    connected: Option<bool>,
    /// Since when it is connected or is not; of an agent that is called directly, when it registered.
    since: Timestamp,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Via {
    Direct,
    Relay,
}

/// The URLs at which agents are called directly.
pub fn direct_endpoints(league: &League, relay: Option<&Relay>) -> BTreeSet<String> {
    let players = league.players.values().map(|it| &it.meta.contact_endpoint);
    let referees = league.referees.values().map(|it| &it.meta.contact_endpoint);
    let endpoints = players.chain(referees).map(|endpoint| endpoint.raw());
    endpoints
        .filter(|url| relay.is_none_or(|relay| relay.mailbox_at(url).is_none()))
        .map(str::to_owned)
        .collect()
}

/// The connections of all agents of a league, players first.
/// `reached`: which endpoints can be reached directly, as far as that was looked for.
pub fn connections(
    league: &League,
    relay: Option<&Relay>,
    reached: &BTreeMap<String, bool>,
) -> Vec<AgentConnection> {
    let players = league.players.iter().map(|(id, player)| {
        of_agent(
            id.to_string(),
            &player.meta.contact_endpoint,
            player.registered_at,
            relay,
            reached,
        )
    });
    let referees = league.referees.iter().map(|(id, referee)| {
        of_agent(
            id.to_string(),
            &referee.meta.contact_endpoint,
            referee.registered_at,
            relay,
            reached,
        )
    });
    players.chain(referees).collect()
}

fn of_agent(
    agent_id: String,
    endpoint: &Endpoint,
    registered_at: Timestamp,
    relay: Option<&Relay>,
    reached: &BTreeMap<String, bool>,
) -> AgentConnection {
    let Some(mailbox) = relay.and_then(|relay| relay.mailbox_at(endpoint.raw())) else {
        return AgentConnection {
            agent_id,
            via: Via::Direct,
            transport: None,
            connected: reached.get(endpoint.raw()).copied(),
            since: registered_at,
        };
    };
    let connection = mailbox.connection();
    let transport = connection.ok().map(|(transport, _)| match transport {
        Transport::Stream => "stream",
        Transport::LongPoll => "long_poll",
    });
    let since = connection.map_or_else(|since| since, |(_, since)| since);
    AgentConnection {
        agent_id,
        via: Via::Relay,
        transport,
        connected: Some(connection.is_ok()),
        since,
    }
}
