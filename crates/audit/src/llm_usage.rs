//! What the language models of players used, by the players' own events. Pure.

use crate::agent_log::AgentLog;
use matchday_core::agent::Usage;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::MatchId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a player's model used, in the league and in each match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmUsage {
    pub league: Usage,
    pub matches: BTreeMap<MatchId, Usage>,
}

impl LlmUsage {
    /// `its model was called 12 times in 6 matches: 5400 tokens read, 240 written, 0.0198 in money`
    pub fn sentence(&self) -> String {
        let Usage {
            calls,
            input_tokens,
            output_tokens,
            cost_micros,
        } = self.league;
        let most = self.matches.iter().max_by_key(|(_, usage)| usage.tokens());
        let most = most.map(|(id, usage)| format!(", most in {id} ({} tokens)", usage.tokens()));
        let money = format!("{}.{:06}", cost_micros / 1_000_000, cost_micros % 1_000_000);
        let money = money.trim_end_matches('0').trim_end_matches('.');
        let cost = if cost_micros > 0 {
            format!(", {money} in money")
        } else {
            String::new()
        };
        format!(
            "its model was called {calls} times in {} matches: {input_tokens} tokens read, {output_tokens} written{cost}{}",
            self.matches.len(),
            most.unwrap_or_default()
        )
    }
}

/// By player, of those whose own events are at hand.
pub fn of_players(players: &[AgentLog<PlayerEvent>]) -> BTreeMap<String, LlmUsage> {
    let mut all = BTreeMap::<String, LlmUsage>::new();
    for log in players {
        for entry in &log.entries {
            let PlayerEvent::Chosen {
                match_id,
                usage: Some(usage),
                ..
            } = &entry.event
            else {
                continue;
            };
            let known = all.entry(log.id().to_owned()).or_default();
            known.league = known.league.plus(*usage);
            let in_match = known.matches.entry(match_id.clone()).or_default();
            *in_match = in_match.plus(*usage);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_how_much_and_where_most() {
        let usage = |calls, input_tokens, output_tokens, cost_micros| Usage {
            calls,
            input_tokens,
            output_tokens,
            cost_micros,
        };
        let used = LlmUsage {
            league: usage(3, 900, 30, 19_800),
            matches: [
                ("R1M1", usage(1, 300, 10, 6600)),
                ("R2M1", usage(2, 600, 20, 13_200)),
            ]
            .map(|(id, usage)| (MatchId::new(id), usage))
            .into(),
        };
        assert_eq!(
            used.sentence(),
            "its model was called 3 times in 2 matches: 900 tokens read, 30 written, 0.0198 in money, most in R2M1 (620 \
             tokens)"
        );
    }
}
