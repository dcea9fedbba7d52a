//! How ranks have changed since the round began. Pure.

use matchday_audit::league_view::Standing;
use matchday_audit::league_view::standings::has_begun;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct RankChanges {
    round: u32,
    /// By player, at the end of the round before.
    before: BTreeMap<String, u32>,
    latest: BTreeMap<String, u32>,
}

impl RankChanges {
    /// Marks by how many places each player has risen. With a new round, the last standings are what others are compared with.
    pub fn mark(&mut self, round: u32, standings: &mut [Standing]) {
        if self.round != round {
            self.before = std::mem::take(&mut self.latest);
            self.round = round;
        }
        let ranks = standings.iter().filter(|_| has_begun(standings));
        self.latest = ranks.map(|row| (row.who.id.clone(), row.rank)).collect();
        for row in standings {
            row.rise = self
                .before
                .get(&row.who.id)
                .map(|before| i64::from(*before) - i64::from(row.rank));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_audit::league_view::PlayerName;

    fn marked(
        changes: &mut RankChanges,
        round: u32,
        ranks: [(u32, u32); 3],
        played: u32,
    ) -> Vec<i64> {
        let mut standings = ranks.map(|(number, rank)| Standing {
            rank,
            who: PlayerName {
                id: format!("P0{number}"),
                name: "x".to_owned(),
                ..PlayerName::default()
            },
            played,
            ..Standing::default()
        });
        changes.mark(round, &mut standings);
        standings.iter().map(|row| row.rise.unwrap_or(0)).collect()
    }

    #[test]
    fn ranks_are_compared_with_those_of_the_round_before() {
        let mut changes = RankChanges::default();
        assert_eq!(
            marked(&mut changes, 1, [(1, 1), (2, 1), (3, 1)], 0),
            [0, 0, 0]
        );
        let first = [(1, 1), (2, 2), (3, 3)];
        assert_eq!(
            marked(&mut changes, 1, first, 1),
            [0, 0, 0],
            "there was no rank before"
        );
        assert_eq!(marked(&mut changes, 2, first, 1), [0, 0, 0]);
        assert_eq!(
            marked(&mut changes, 2, [(3, 1), (1, 2), (2, 2)], 2),
            [2, -1, 0]
        );
        assert_eq!(
            marked(&mut changes, 2, first, 2),
            [0, 0, 0],
            "still against the round before"
        );
    }
}
