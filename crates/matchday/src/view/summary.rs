//! The summary of a finished run, for people and as JSON. Pure.

use super::live::seconds;
use super::screen::width;
use super::sides;
use super::table;
use crate::statistics;
use matchday_core::league::standings::{Ahead, POINTS};
use matchday_core::league::{DecidedBy, League};
use matchday_core::protocol::messages::{GameStatus, StandingRow};
use matchday_core::protocol::{LeagueId, MatchId, PlayerId};
use matchday_core::signed_note::Checkpoint;
use matchday_stats::{LeagueStatistics, Resampling};
use serde::Serialize;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) league_id: LeagueId,
    /// False if the run was interrupted.
    pub(crate) completed: bool,
    pub(crate) champion: Option<PlayerId>,
    pub(crate) matches_decided: u32,
    pub(crate) matches: usize,
    pub(crate) rounds: usize,
    pub(crate) technical_losses: u32,
    /// The matches whose points were shared because no referee could play them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unplayed: Vec<Unplayed>,
    pub(crate) seconds: f64,
    pub(crate) matches_per_second: f64,
    /// The luck meter, as a sentence.
    pub(crate) luck: String,
    /// Who is on one side in all matches, where that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sides: Option<String>,
    pub(crate) standings: Vec<Standing>,
    pub(crate) store: PathBuf,
    /// The latest checkpoint, a signed note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint: Option<Arc<str>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Unplayed {
    pub(crate) match_id: MatchId,
    pub(crate) reason: String,
}

impl Unplayed {
    fn all_of(league: &League) -> Vec<Self> {
        let unplayed = league.matches.iter().filter_map(|(match_id, game)| {
            let decision = game.decision.as_ref()?;
            let is_shared = decision.by == DecidedBy::Manager && decision.status == GameStatus::Draw;
            let reason = decision.result.reason.as_ref().filter(|_| is_shared)?;
            Some(Self { match_id: match_id.clone(), reason: reason.escaped().to_string() })
        });
        unplayed.collect()
    }
}

/// How many matches that were not played are listed.
const UNPLAYED_LISTED_MAX: usize = 3;

#[derive(Debug, Serialize)]
pub(crate) struct Standing {
    #[serde(flatten)]
    pub(crate) row: StandingRow,
    pub(crate) strategy: SmolStr,
    /// The total payoff, if the table goes by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) payoff: Option<i64>,
    /// What puts the player ahead of the next; `None` if it was points.
    #[serde(skip)]
    pub(crate) tie_break: Option<Ahead>,
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
        let payoffs = league.payoff_totals();
        let seconds = took.as_secs_f64();
        Self {
            league_id: league.settings.league_id.clone(),
            completed: league.champion.is_some(),
            champion: league.champion.clone(),
            matches_decided: league.matches_decided,
            matches: league.matches.len(),
            rounds: league.rounds.len(),
            technical_losses: rows.iter().filter_map(|row| row.technical_losses).sum(),
            unplayed: Unplayed::all_of(league),
            seconds,
            matches_per_second: if seconds > 0.0 { f64::from(league.matches_decided) / seconds } else { 0.0 },
            luck: luck(league),
            sides: sides::note(league),
            standings: rows
                .into_iter()
                .zip(league.table())
                .map(|(row, place)| Standing {
                    strategy: strategy(&row.player_id),
                    payoff: payoffs.as_ref().and_then(|payoffs| payoffs.get(&row.player_id).copied()),
                    row,
                    tie_break: place.ahead.filter(|ahead| ahead.on != POINTS),
                })
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
            let won = match winner.payoff {
                Some(payoff) => format!("a payoff of {payoff}"),
                None => format!("{points} points"),
            };
            text.push_str(&format!("Champion  {} with {won}\n", bold(&champion)));
        }
        text.push_str(&format!(
            "Matches   {} of {} in {} ({:.0} a second), {} technical losses\n",
            self.matches_decided,
            self.matches,
            seconds(took),
            self.matches_per_second,
            self.technical_losses
        ));
        for Unplayed { match_id, reason } in self.unplayed.iter().take(UNPLAYED_LISTED_MAX) {
            text.push_str(&format!("Unplayed  {match_id}: {reason}\n"));
        }
        if let Some(more) = self.unplayed.len().checked_sub(UNPLAYED_LISTED_MAX).filter(|more| *more > 0) {
            text.push_str(&format!("          and {more} more\n"));
        }
        text.push_str(&format!("Luck      {}\n", self.luck));
        if let Some(sides) = &self.sides {
            text.push_str(&format!("Sides     {sides}\n"));
        }
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

    /// Without the last column where it does not fit.
    fn table(&self, columns: Option<usize>) -> String {
        let mut headers = vec!["#", "player", "strategy", "played", "won", "drawn", "lost", "points"];
        headers.extend(self.standings.iter().any(|standing| standing.payoff.is_some()).then_some("payoff"));
        headers.extend(["technical", "why"]);
        let mut rows: Vec<Vec<String>> = self.standings.iter().map(Standing::cells).collect();
        let whole = table(&headers, &rows);
        match columns {
            Some(columns) if whole.lines().any(|line| width(line) > columns) => {
                headers.pop();
                rows.iter_mut().for_each(|row| row.truncate(headers.len()));
                table(&headers, &rows)
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
        let numbers = [row.played, row.wins, row.draws, row.losses, row.points];
        cells.extend(numbers.iter().map(ToString::to_string));
        cells.extend(self.payoff.map(|payoff| payoff.to_string()));
        cells.push(technical.to_string());
        cells.push(self.tie_break.as_ref().map(ToString::to_string).unwrap_or_default());
        cells
    }
}

/// Without rating intervals, which are slow to compute and not shown here.
fn luck(league: &League) -> String {
    let settings = Resampling { posterior_draws: 1, ..Resampling::default() };
    LeagueStatistics::of(&statistics::of_league(league), &settings).luck.sentence
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::DisplayName;

    fn summary(completed: bool) -> Summary {
        let row = |place: u32, points: u32| StandingRow {
            rank: place,
            player_id: PlayerId::new(format!("P{place:02}")),
            display_name: DisplayName::parse(&format!("Player {place}")).unwrap(),
            played: 3,
            wins: points / 3,
            draws: points % 3,
            losses: 3 - points / 3 - points % 3,
            points,
            technical_losses: Some(u32::from(place == 3)),
            rating: None,
            rating_deviation: None,
            rank_reason: None,
        };
        let rows = [
            (row(1, 7), "random", None),
            (row(2, 4), "win_stay_lose_shift", Some(Ahead { of: PlayerId::new("P03"), on: "head-to-head" })),
            (row(3, 4), "pattern", None),
        ];
        let standings = rows.into_iter().map(|(row, strategy, tie_break)| Standing {
            row,
            strategy: strategy.into(),
            payoff: None,
            tie_break,
        });
        Summary {
            league_id: LeagueId::new("league"),
            completed,
            champion: completed.then(|| PlayerId::new("P01")),
            matches_decided: if completed { 6 } else { 4 },
            matches: 6,
            rounds: 3,
            technical_losses: 1,
            unplayed: Vec::new(),
            seconds: 0.5,
            matches_per_second: 12.0,
            luck: "This table says little: players who move at random do as much.".into(),
            sides: None,
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
