//! Choices that a player's fallback made because its own strategy, a program or a model, crashed or did not decide. Pure.

use crate::agent_log::AgentLog;
use crate::describe::on_one_line;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::MatchId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often a player's fallback chose, and the last time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallbacks {
    pub count: u32,
    pub last_match: MatchId,
    /// With the last line that the program wrote to its standard error, if there is one.
    pub last_reason: String,
}

impl Fallbacks {
    /// `its own strategy failed 3 times, last in R2M1: the program failed: exit status: 1`
    pub fn sentence(&self) -> String {
        let Self {
            count,
            last_match,
            last_reason,
        } = self;
        let times = if *count == 1 {
            "once".to_owned()
        } else {
            format!("{count} times")
        };
        format!(
            "its own strategy failed {times}, and its fallback chose; last in {last_match}: {last_reason}"
        )
    }
}

/// Why the fallback of a player chose, by match, in the order of its moves.
pub fn in_matches(players: &[AgentLog<PlayerEvent>], id: &str) -> BTreeMap<MatchId, Vec<String>> {
    let mut all = BTreeMap::<MatchId, Vec<String>>::new();
    for entry in players
        .iter()
        .filter(|log| log.id() == id)
        .flat_map(|log| &log.entries)
    {
        if let PlayerEvent::Chosen {
            match_id,
            fallback: Some(why),
            turn,
            ..
        } = &entry.event
        {
            let turn = turn
                .map(|turn| format!("turn {turn}: "))
                .unwrap_or_default();
            all.entry(match_id.clone())
                .or_default()
                .push(format!("{turn}{}", on_one_line(why)));
        }
    }
    all
}

/// By player, of those whose own events are at hand.
pub fn of_players(players: &[AgentLog<PlayerEvent>]) -> BTreeMap<String, Fallbacks> {
    let mut all = BTreeMap::<String, Fallbacks>::new();
    for log in players {
        for entry in &log.entries {
            let PlayerEvent::Chosen {
                match_id,
                fallback: Some(why),
                ..
            } = &entry.event
            else {
                continue;
            };
            let known = all.entry(log.id().to_owned()).or_insert_with(|| Fallbacks {
                count: 0,
                last_match: match_id.clone(),
                last_reason: String::new(),
            });
            known.count += 1;
            (known.last_match, known.last_reason) = (match_id.clone(), on_one_line(why));
        }
    }
    all
}
