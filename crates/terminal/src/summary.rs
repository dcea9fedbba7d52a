//! The summary of a finished run, for people and as JSON. Pure.

use super::Paint;
use super::live::seconds;
use super::screen::Size;
use super::standings_table::standings_table;
use matchday_audit::league_view::{PlayerName, Standing};
use matchday_audit::plural::count_of;
use matchday_audit::sides;
use matchday_audit::statistics;
use matchday_core::league::standings::{POINTS, Place};
use matchday_core::league::{DecidedBy, League};
use matchday_core::protocol::messages::{GameStatus, StandingRow};
use matchday_core::protocol::{LeagueId, MatchId, PlayerId};
use matchday_core::signed_note::Checkpoint;
use matchday_stats::Resampling;

use serde::Serialize;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

#[derive(Debug, Serialize)]
pub struct Summary {
    pub league_id: LeagueId,
    /// False if the run was interrupted.
    pub completed: bool,
    pub champion: Option<PlayerId>,
    /// All who share the title, if more than one does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joint_champions: Vec<PlayerId>,
    /// Whether a title that is shared after all rounds was played for.
    #[serde(skip)]
    pub play_off: bool,
    pub matches_decided: u32,
    pub matches: usize,
    pub rounds: usize,
    pub technical_losses: u32,
    /// The matches whose points were shared because no referee could play them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unplayed: Vec<Unplayed>,
    pub seconds: f64,
    pub matches_per_second: f64,
    /// The luck meter, as a sentence.
    pub luck: String,
    /// Who is on one side in all matches, where that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    pub standings: Vec<Standing>,
    pub store: String,
    /// The game to see next.
    #[serde(skip)]
    pub next_game: &'static str,
    /// The latest checkpoint, a signed note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Arc<str>>,
}

#[derive(Debug, Serialize)]
pub struct Unplayed {
    pub match_id: MatchId,
    pub reason: String,
}

impl Unplayed {
    fn all_of(league: &League) -> Vec<Self> {
        let unplayed = league.matches.iter().filter_map(|(match_id, game)| {
            let decision = game.decision.as_ref()?;
            let is_shared =
                decision.by == DecidedBy::Manager && decision.status == GameStatus::Draw;
            let reason = decision.result.reason.as_ref().filter(|_| is_shared)?;
            Some(Self {
                match_id: match_id.clone(),
                reason: reason.escaped().to_string(),
            })
        });
        unplayed.collect()
    }
}

/// The rows of the last screen that are not places of the table, the line on the page and the prompt included.
const ROWS_BESIDE_TABLE: usize = 17;
/// How many places are shown however small the screen is.
const PLACES_MIN: usize = 3;
/// How many matches that were not played are listed.
const UNPLAYED_LISTED_MAX: usize = 3;
/// How many of those who share the title are named.
const CHAMPIONS_LISTED_MAX: usize = 4;

impl Summary {
    /// `took` is the time from the start of the league to its last result.
    pub fn of(
        league: &League,
        strategies: &BTreeMap<PlayerId, SmolStr>,
        took: Duration,
        store: String,
    ) -> Self {
        let payoffs = league.payoff_totals();
        let standing = |(row, place): (&StandingRow, Place)| Standing {
            who: PlayerName {
                strategy: strategies.get(&row.player_id).map(ToString::to_string),
                ..PlayerName::of(league, &row.player_id)
            },
            payoff: payoffs
                .as_ref()
                .and_then(|payoffs| payoffs.get(&row.player_id).copied()),
            reason: place
                .ahead
                .filter(|ahead| ahead.on != POINTS)
                .map(|ahead| ahead.to_string()),
            ..row.into()
        };
        let standings: Vec<Standing> = league
            .rows()
            .iter()
            .zip(league.standings())
            .map(standing)
            .collect();
        let seconds = took.as_secs_f64();
        Self {
            league_id: league.settings.league_id.clone(),
            completed: league.champion.is_some(),
            champion: league.champion.clone(),
            joint_champions: league.joint_champions(),
            play_off: league.settings.competition.play_off,
            matches_decided: league.matches_decided,
            matches: league.matches.len(),
            rounds: league.rounds.len(),
            technical_losses: standings.iter().map(|row| row.technical_losses).sum(),
            unplayed: Unplayed::all_of(league),
            seconds,
            matches_per_second: if seconds > 0.0 {
                f64::from(league.matches_decided) / seconds
            } else {
                0.0
            },
            luck: luck(league),
            sides: sides::note(league),
            standings,
            store,
            next_game: next_game(league.settings.game_type.as_str()),
            checkpoint: league.checkpoints.latest.clone(),
        }
    }

    /// `size` is the room that there is, if it is limited: the last screen of a run fits into it.
    pub fn for_people(&self, paint: Paint, size: Option<Size>) -> String {
        let room = size.map_or(usize::MAX, |size| {
            size.rows.saturating_sub(ROWS_BESIDE_TABLE)
        });
        let shown = match self.standings.len() {
            all if all <= room => all,
            _ => room.saturating_sub(1).max(PLACES_MIN),
        };
        let table = standings_table(&self.standings, shown)
            .fitted(size.map_or(usize::MAX, |size| size.columns));
        let mut text = format!("\n{}\n", table.text(paint));
        if let Some(hidden @ 1..) = self.standings.len().checked_sub(shown) {
            text.push_str(&format!(
                "... and {hidden} more: `matchday report` shows all\n"
            ));
        }
        text.push('\n');
        let took = Duration::from_secs_f64(self.seconds.max(0.0));
        text.push_str(&self.champions(paint));
        let rate = match self.matches_per_second {
            slow if slow < 1.0 => String::new(),
            rate => format!(" ({rate:.0} a second)"),
        };
        text.push_str(&format!(
            "Matches   {} of {} in {}{rate}, {}\n",
            self.matches_decided,
            self.matches,
            seconds(took),
            count_of(
                self.technical_losses as usize,
                "technical loss",
                "technical losses"
            )
        ));
        for Unplayed { match_id, reason } in self.unplayed.iter().take(UNPLAYED_LISTED_MAX) {
            text.push_str(&format!("Unplayed  {match_id}: {reason}\n"));
        }
        if let Some(more) = self
            .unplayed
            .len()
            .checked_sub(UNPLAYED_LISTED_MAX)
            .filter(|more| *more > 0)
        {
            text.push_str(&format!("          and {more} more\n"));
        }
        text.push_str(&format!("Luck      {}\n", self.luck));
        if let Some(sides) = &self.sides {
            text.push_str(&format!("Sides     {sides}\n"));
        }
        if let Some(checkpoint) = self
            .checkpoint
            .as_deref()
            .and_then(|note| Checkpoint::parse_note(note).ok())
        {
            let head = hex::encode(checkpoint.root);
            let head = match size {
                Some(_) => head.get(..16).map(|first| format!("{first}...")),
                None => None,
            }
            .unwrap_or(head);
            text.push_str(&format!(
                "Log       {} events, signed, hash {head}\n",
                checkpoint.size
            ));
        }
        let file = &self.store;
        text.push_str(&format!("Data      {file}\n\n"));
        let next = if self.completed {
            (
                format!("matchday run {}", self.next_game),
                "a board game, about a minute on a terminal",
            )
        } else {
            (
                format!("matchday run --store {file}"),
                "continue the league",
            )
        };
        let commands = [
            next,
            (
                format!("matchday report {file}"),
                "a page with results, plots and grades",
            ),
            (
                format!("matchday verify {file}"),
                "recompute every number and the standings",
            ),
        ];
        let width = commands.iter().map(|(command, _)| command.width()).max();
        for (command, what) in commands {
            let gap = " ".repeat(width.unwrap_or(0).saturating_sub(command.width()));
            text.push_str(&format!("  {command}{gap}  {what}\n"));
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Whose title it is: nobody's before the end, and everyone's who is level for the first place.
    fn champions(&self, paint: Paint) -> String {
        let first = self
            .standings
            .iter()
            .filter(|standing| self.completed && standing.rank == 1);
        let first: Vec<&Standing> = first.collect();
        let named = |standing: &&Standing| {
            let PlayerName { id, name, strategy } = &standing.who;
            let strategy = strategy
                .as_ref()
                .map(|name| format!(", {name}"))
                .unwrap_or_default();
            paint.bold(&format!("{id} ({name}{strategy})"))
        };
        let won = |standing: &Standing| match standing.payoff {
            Some(payoff) => format!("a payoff of {payoff}"),
            None => count_of(standing.points as usize, "point", "points"),
        };
        match first.as_slice() {
            [] => String::new(),
            [winner] => format!("Champion  {} with {}\n", named(winner), won(winner)),
            [one, ..] => {
                let names: Vec<String> =
                    first.iter().take(CHAMPIONS_LISTED_MAX).map(named).collect();
                let more = first.len().saturating_sub(CHAMPIONS_LISTED_MAX);
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                let names = names.join(", ");
                let advice = if self.play_off {
                    ""
                } else {
                    "; --play-off plays it out"
                };
                format!(
                    "Champions {names}{more} share the title with {} each{advice}\n",
                    won(one)
                )
            }
        }
    }
}

fn next_game(played: &str) -> &'static str {
    if played == "connect_four" {
        "tic_tac_toe"
    } else {
        "connect_four"
    }
}

/// Without rating intervals, which are slow to compute and not shown here.
fn luck(league: &League) -> String {
    let settings = Resampling {
        posterior_draws: 1,
        ..Resampling::default()
    };
    statistics::statistics(league, &settings).luck.sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(completed: bool) -> Summary {
        let standing = |rank: u32, points: u32, strategy: &str, reason: Option<&str>| Standing {
            rank,
            who: PlayerName {
                id: format!("P{rank:02}"),
                name: ["Ada", "Blaise", "Carl"][rank as usize - 1].to_owned(),
                strategy: Some(strategy.to_owned()),
            },
            played: 3,
            wins: points / 3,
            draws: points % 3,
            losses: 3 - points / 3 - points % 3,
            points,
            technical_losses: u32::from(rank == 3),
            reason: reason.map(str::to_owned),
            ..Standing::default()
        };
        let standings = vec![
            standing(1, 7, "random", None),
            standing(
                2,
                4,
                "win_stay_lose_shift",
                Some("ahead of P03 on head-to-head"),
            ),
            standing(3, 4, "pattern", None),
        ];
        Summary {
            league_id: LeagueId::new("league"),
            completed,
            champion: completed.then(|| PlayerId::new("P01")),
            joint_champions: Vec::new(),
            play_off: false,
            matches_decided: if completed { 6 } else { 4 },
            matches: 6,
            rounds: 3,
            technical_losses: 1,
            unplayed: Vec::new(),
            seconds: 0.5,
            matches_per_second: 12.0,
            luck: "Mostly luck: random players produce a table like this 45 % of the time.".into(),
            sides: None,
            standings,
            store: "league.db".into(),
            next_game: next_game("even_odd"),
            checkpoint: None,
        }
    }

    #[test]
    fn a_league_that_is_over_has_a_champion_and_a_narrow_terminal_no_reasons() {
        insta::assert_snapshot!("completed", summary(true).for_people(Paint::Plain, None));
        insta::assert_snapshot!(
            "broken_off",
            summary(false).for_people(
                Paint::Plain,
                Some(Size {
                    columns: 80,
                    rows: 24
                })
            )
        );
    }

    #[test]
    fn level_players_share_the_title_by_name() {
        let mut summary = summary(true);
        for standing in &mut summary.standings {
            standing.rank = 1;
            standing.points = 1;
        }
        let text = summary.for_people(Paint::Plain, None);
        let champions = text
            .lines()
            .find(|line| line.starts_with("Champions"))
            .unwrap();
        insta::assert_snapshot!(champions, @"Champions P01 (Ada, random), P02 (Blaise, win_stay_lose_shift), P03 (Carl, pattern) share the title with 1 point each; --play-off plays it out");
        summary.play_off = true;
        let text = summary.for_people(Paint::Plain, None);
        assert!(
            text.contains("share the title with 1 point each\n"),
            "a play-off that was level too: {text}"
        );
    }

    #[test]
    fn nobody_has_a_rank_before_the_first_match() {
        let mut summary = summary(false);
        summary
            .standings
            .iter_mut()
            .for_each(|standing| standing.played = 0);
        let text = summary.for_people(Paint::Plain, None);
        assert!(
            text.lines()
                .any(|line| line.trim_start().starts_with("-  ") && line.contains("P01")),
            "{text}"
        );
    }
}
