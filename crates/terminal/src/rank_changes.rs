//! How ranks have changed since the round began, as arrows. Pure.

use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::StandingRow;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct RankChanges {
    round: u32,
    /// At the end of the round before.
    before: BTreeMap<PlayerId, u32>,
    latest: BTreeMap<PlayerId, u32>,
}

impl RankChanges {
    /// Takes in the standings of a round. With a new round, the last ones are what others are compared with.
    pub fn take(&mut self, round: u32, standings: &[StandingRow]) {
        if self.round != round {
            self.before = std::mem::take(&mut self.latest);
            self.round = round;
        }
        let ranks = standings.iter().filter(|_| has_begun(standings));
        self.latest = ranks.map(|row| (row.player_id.clone(), row.rank)).collect();
    }

    /// `3`, `1 ▲2`, `4 ▼1`, and `-` before the first result.
    pub fn rank(&self, row: &StandingRow, standings: &[StandingRow]) -> String {
        if !has_begun(standings) {
            return "-".to_owned();
        }
        let rank = row.rank;
        match self.before.get(&row.player_id) {
            Some(before) if *before > rank => format!("{rank} ▲{}", before - rank),
            Some(before) if *before < rank => format!("{rank} ▼{}", rank - before),
            _ => rank.to_string(),
        }
    }
}

/// Whether any match counts: before that nobody has a rank.
pub fn has_begun(standings: &[StandingRow]) -> bool {
    standings.iter().any(|row| row.played > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::DisplayName;

    fn standings(ranks: [(u32, u32); 3], played: u32) -> Vec<StandingRow> {
        let row = |(number, rank): (u32, u32)| StandingRow {
            rating: None,
            rating_deviation: None,
            rank,
            player_id: PlayerId::numbered(number),
            display_name: DisplayName::parse("x").unwrap(),
            played,
            wins: 0,
            draws: played,
            losses: 0,
            points: played,
            technical_losses: None,
            rank_reason: None,
        };
        ranks.map(row).to_vec()
    }

    fn shown(changes: &RankChanges, standings: &[StandingRow]) -> Vec<String> {
        standings.iter().map(|row| changes.rank(row, standings)).collect()
    }

    #[test]
    fn ranks_are_compared_with_those_of_the_round_before() {
        let mut changes = RankChanges::default();
        let none = standings([(1, 1), (2, 1), (3, 1)], 0);
        changes.take(1, &none);
        assert_eq!(shown(&changes, &none), ["-", "-", "-"]);
        let first = standings([(1, 1), (2, 2), (3, 3)], 1);
        changes.take(1, &first);
        assert_eq!(shown(&changes, &first), ["1", "2", "3"], "there was no rank before");
        changes.take(2, &first);
        let second = standings([(3, 1), (1, 2), (2, 2)], 2);
        changes.take(2, &second);
        assert_eq!(shown(&changes, &second), ["1 ▲2", "2 ▼1", "2"]);
        changes.take(2, &first);
        assert_eq!(shown(&changes, &first), ["1", "2", "3"], "still against the round before");
    }
}
