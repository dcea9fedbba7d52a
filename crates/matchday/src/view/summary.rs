//! How a league ended, for people and as data. Pure.

use super::live::seconds;
use super::screen::width;
use super::table;
use crate::statistics;
use matchday_core::league::League;
use matchday_core::protocol::messages::StandingRow;
use matchday_core::protocol::{LeagueId, PlayerId};
use matchday_core::signed_note::Checkpoint;
use matchday_stats::{LeagueStatistics, Settings};
use serde::Serialize;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) league_id: LeagueId,
    /// Whether every match was played; not if the run was broken off.
    pub(crate) completed: bool,
    pub(crate) champion: Option<PlayerId>,
    pub(crate) matches_decided: u32,
    pub(crate) matches: usize,
    pub(crate) rounds: usize,
    pub(crate) technical_losses: u32,
    pub(crate) seconds: f64,
    pub(crate) matches_per_second: f64,
    /// How much of the table is luck, in a sentence.
    pub(crate) luck: String,
    pub(crate) standings: Vec<Standing>,
    pub(crate) store: PathBuf,
    /// The last checkpoint, a signed note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint: Option<Arc<str>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Standing {
    #[serde(flatten)]
    pub(crate) row: StandingRow,
    pub(crate) strategy: SmolStr,
}

impl Summary {
    /// `took` is the time from the start of the league to its last result.
    pub(crate) fn of(
        league: &League,
        strategies: &BTreeMap<PlayerId, SmolStr>,
        took: Duration,
        store: PathBuf,
    ) -> Self {
        let strategy = |player: &PlayerId| strategies.get(player).cloned().unwrap_or_default();
        let rows = league.rows().to_vec();
        let seconds = took.as_secs_f64();
        Self {
            league_id: league.settings.league_id.clone(),
            completed: league.champion.is_some(),
            champion: league.champion.clone(),
            matches_decided: league.matches_decided,
            matches: league.matches.len(),
            rounds: league.rounds.len(),
            technical_losses: rows.iter().filter_map(|row| row.technical_losses).sum(),
            seconds,
            matches_per_second: if seconds > 0.0 { f64::from(league.matches_decided) / seconds } else { 0.0 },
            luck: luck(league),
            standings: rows
                .into_iter()
                .map(|row| Standing { strategy: strategy(&row.player_id), row })
                .collect(),
            store,
            checkpoint: league.checkpoints.latest.clone(),
        }
    }

    /// `bold` makes the champion stand out, where that is possible; `columns` is the room that there is, if it is limited.
    pub(crate) fn for_people(&self, bold: impl Fn(&str) -> String, columns: Option<usize>) -> String {
        let mut text = format!("\n{}\n\n", self.table(columns));
        let took = Duration::from_secs_f64(self.seconds.max(0.0));
        if let Some(winner) = self.standings.first().filter(|_| self.completed) {
            let StandingRow { player_id, display_name, points, .. } = &winner.row;
            let champion = format!("{player_id} ({}, {})", display_name.escaped(), winner.strategy);
            text.push_str(&format!("Champion  {} with {points} points\n", bold(&champion)));
        }
        text.push_str(&format!(
            "Matches   {} of {} in {} ({:.0} a second), {} technical losses\n",
            self.matches_decided,
            self.matches,
            seconds(took),
            self.matches_per_second,
            self.technical_losses
        ));
        text.push_str(&format!("Luck      {}\n", self.luck));
        if let Some(checkpoint) =
            self.checkpoint.as_deref().and_then(|note| Checkpoint::parse_note(note).ok())
        {
            text.push_str(&format!(
                "Signed    {} events, which end in {}\n",
                checkpoint.size,
                hex::encode(checkpoint.root)
            ));
        }
        let file = self.store.display();
        text.push_str(&format!("Data      {file}\n\n"));
        text.push_str(&format!(
            "  matchday verify {file}               recompute every draw and the table\n"
        ));
        text.push_str(&format!(
            "  matchday report {file}               a page of it all, with plots and grades\n"
        ));
        text.push_str(&format!("  matchday replay {file} --match R1M1  a match, message by message\n"));
        text.push_str(&format!("  matchday dashboard {file}            all of it, in a browser"));
        text
    }

    /// Without the reasons where there is no room for them.
    fn table(&self, columns: Option<usize>) -> String {
        let headers =
            ["#", "player", "strategy", "played", "won", "drawn", "lost", "points", "technical", "why"];
        let mut rows: Vec<Vec<String>> = self.standings.iter().map(Standing::cells).collect();
        let whole = table(&headers, &rows);
        let [without @ .., _] = &headers;
        match columns {
            Some(columns) if whole.lines().any(|line| width(line) > columns) => {
                rows.iter_mut().for_each(|row| row.truncate(without.len()));
                table(without, &rows)
            }
            _ => whole,
        }
    }
}

impl Standing {
    fn cells(&self) -> Vec<String> {
        let row = &self.row;
        let technical = row.technical_losses.unwrap_or(0);
        let mut cells = vec![row.rank.to_string(), row.player_id.to_string(), self.strategy.to_string()];
        let numbers = [row.played, row.wins, row.draws, row.losses, row.points, technical];
        cells.extend(numbers.iter().map(ToString::to_string));
        cells.push(tie_break(row).unwrap_or_default());
        cells
    }
}

/// The luck meter. The intervals of ratings, which take longest, are not shown here.
fn luck(league: &League) -> String {
    let settings = Settings { resamples: 1, ..Settings::default() };
    LeagueStatistics::of(&statistics::of_league(league), &settings).luck.sentence
}

/// What put a player ahead of the next, unless it was points, as everyone can see.
fn tie_break(row: &StandingRow) -> Option<String> {
    let reason = row.rank_reason.as_ref().filter(|reason| !reason.raw().ends_with("on points"))?;
    Some(reason.escaped().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::DisplayName;

    fn summary(completed: bool) -> Summary {
        let row = |place: u32, points: u32, reason: Option<&str>| StandingRow {
            rank: place,
            player_id: PlayerId::new(format!("P{place:02}")),
            display_name: DisplayName::parse(&format!("Player {place}")).unwrap(),
            played: 3,
            wins: points / 3,
            draws: points % 3,
            losses: 3 - points / 3 - points % 3,
            points,
            technical_losses: Some(u32::from(place == 3)),
            rank_reason: reason.map(Into::into),
        };
        let rows = [
            (row(1, 7, Some("ahead on points")), "random"),
            (row(2, 4, Some("ahead by head-to-head")), "win_stay_lose_shift"),
            (row(3, 4, None), "pattern"),
        ];
        let standings = rows.into_iter().map(|(row, strategy)| Standing { row, strategy: strategy.into() });
        Summary {
            league_id: LeagueId::new("league"),
            completed,
            champion: completed.then(|| PlayerId::new("P01")),
            matches_decided: if completed { 6 } else { 4 },
            matches: 6,
            rounds: 3,
            technical_losses: 1,
            seconds: 0.5,
            matches_per_second: 12.0,
            luck: "This table says little: players who move at random do as much.".into(),
            standings: standings.collect(),
            store: "league.db".into(),
            checkpoint: None,
        }
    }

    #[test]
    fn a_league_that_is_over_has_a_champion_and_a_narrow_terminal_no_reasons() {
        let marked = |text: &str| format!("<{text}>");
        insta::assert_snapshot!("completed", summary(true).for_people(marked, None));
        insta::assert_snapshot!("broken_off", summary(false).for_people(marked, Some(80)));
    }
}
