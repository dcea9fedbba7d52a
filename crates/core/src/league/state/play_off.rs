//! The play-off: those who are level for the first place meet each other once more, and again while they stay level. Its
//! results tell only them apart, and count for nothing else.

use super::League;
use crate::league::fixture::Round;
use crate::league::format::{DrawnRound, legs};
use crate::league::schedule::{Pairings, round_robin};
use crate::protocol::PlayerId;

impl League {
    /// Those who share the first place of the table; none before the first result.
    pub fn leaders(&self) -> Vec<PlayerId> {
        let table = self.standings();
        let begun = table.iter().any(|place| place.tally.played() > 0);
        table
            .into_iter()
            .filter(|place| begun && place.rank == 1)
            .map(|place| place.player)
            .collect()
    }

    /// The champions of a league that is over, if there is more than one; otherwise none.
    pub fn joint_champions(&self) -> Vec<PlayerId> {
        let leaders = if self.champion.is_some() {
            self.leaders()
        } else {
            Vec::new()
        };
        if leaders.len() > 1 {
            leaders
        } else {
            Vec::new()
        }
    }

    /// The rounds of the play-off that are drawn; the leg of a round is the number of its series.
    pub(crate) fn play_off_rounds(&self) -> impl Iterator<Item = (&Round, &DrawnRound)> {
        let drawn = self
            .rounds
            .iter()
            .filter_map(|round| Some((round, round.drawn.as_deref()?)));
        drawn.filter(|(_, drawn)| drawn.play_off)
    }

    /// The next series of the play-off, when all other rounds are played; none if the first place is decided.
    pub(crate) fn next_play_off(&self) -> Vec<DrawnRound> {
        let competition = &self.settings.competition;
        let series = 1 + self
            .play_off_rounds()
            .map(|(_, drawn)| drawn.leg)
            .max()
            .unwrap_or(0);
        if !competition.play_off || series > competition.replays.saturating_add(1) {
            return Vec::new();
        }
        let withdrawn = |id: &PlayerId| self.players.get(id).is_none_or(|player| player.withdrawn);
        let level: Vec<PlayerId> = self
            .leaders()
            .into_iter()
            .filter(|id| !withdrawn(id))
            .collect();
        let rounds = round_robin(&level);
        let count = rounds.len();
        let first = self.rounds.len() + 1;
        let drawn = rounds
            .into_iter()
            .enumerate()
            .map(|(number, Pairings { pairs, bye })| DrawnRound {
                title: title(series, number + 1, count),
                stage: u32::try_from(first + number).unwrap_or(u32::MAX),
                leg: series,
                pairs: pairs
                    .iter()
                    .map(|pair| legs::seated(pair, series))
                    .collect(),
                byes: bye.into_iter().collect(),
                fixed: number > 0,
                play_off: true,
            });
        drawn.collect()
    }
}

fn title(series: u32, round: usize, rounds: usize) -> String {
    let again = if series > 1 {
        format!(" {series}")
    } else {
        String::new()
    };
    let part = if rounds > 1 {
        format!(", round {round} of {rounds}")
    } else {
        String::new()
    };
    format!("Play-off{again}{part}")
}
