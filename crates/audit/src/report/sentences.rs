//! Sentences and numbers that several formats share. Pure.

use super::Report;
use crate::exploitability::Exploitability;
use crate::league_view::{PlayerView, Standing};
use crate::plural::count_of;
use matchday_core::protocol::{MatchId, Timestamp};
use matchday_stats::league::PlayerStatistics;
use std::collections::BTreeMap;

/// `even 3, odd 4`
pub(super) fn counted(counts: &BTreeMap<String, u32>) -> String {
    counts
        .iter()
        .map(|(what, count)| format!("{what} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `850 ms`, `12.5 s`.
pub(super) fn format_ms(ms: u64) -> String {
    if ms < 1000 {
        format!("{ms} ms")
    } else {
        format!("{} s", (ms as f64 / 100.0).round() / 10.0)
    }
}

/// `2026-03-02 09:00:00 UTC`
pub(super) fn format_time(at: &Timestamp) -> String {
    at.to_string().replace('T', " ").replace('Z', " UTC")
}

impl Report {
    pub(super) fn statistics_of(&self, player: &str) -> Option<&PlayerStatistics> {
        self.view
            .statistics
            .players
            .iter()
            .find(|statistics| statistics.player_id == player)
    }

    /// Remarks on the statistics, each with its heading.
    pub(super) fn remarks(&self) -> Vec<(&'static str, String)> {
        let statistics = &self.view.statistics;
        let mut remarks = vec![("Luck meter", statistics.luck.sentence.clone())];
        remarks.extend(statistics.luck.note.clone().map(|note| ("The game", note)));
        remarks.extend(
            statistics
                .top_two
                .as_ref()
                .map(|top| ("Top two", top.sentence.clone())),
        );
        remarks
    }

    /// Key facts of the league, each with its label.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Game", self.view.game.clone()),
            ("Format", self.view.format.replace('_', " ")),
        ];
        facts.push(("Players", self.view.players.len().to_string()));
        facts.push(("Rounds", self.view.rounds.len().to_string()));
        facts.push((
            "Matches",
            format!(
                "{} of {} decided",
                self.view.matches_decided, self.view.matches
            ),
        ));
        let technical = match self.view.technical_matches {
            0 => "none".to_owned(),
            some => count_of(
                some,
                "match was not played out",
                "matches were not played out",
            ),
        };
        facts.push(("Technical losses", technical));
        let unproven: Vec<&str> = self
            .verification
            .found
            .unproven
            .iter()
            .map(MatchId::as_str)
            .collect();
        if !unproven.is_empty() {
            let why = "reported by the referee alone, although a player had a key";
            facts.push((
                "Unproven results",
                format!("{} of {}: {why}", unproven.len(), unproven.join(", ")),
            ));
        }
        let lost = self
            .view
            .referees
            .iter()
            .filter(|referee| referee.attempts_lost > 0)
            .map(|referee| {
                format!(
                    "{} of {} by {}",
                    referee.attempts_lost, referee.attempts, referee.who.id
                )
            });
        let lost: Vec<String> = lost.collect();
        if !lost.is_empty() {
            facts.push(("Aborted attempts", lost.join(", ")));
        }
        facts.extend(self.view.started_at.map(|at| ("Began", format_time(&at))));
        facts.extend(self.view.completed_at.map(|at| ("Ended", format_time(&at))));
        facts.extend(self.view.sides.clone().map(|sides| ("Sides", sides)));
        facts.push((
            "Ties",
            format!(
                "points, then {}; level players share a place",
                self.view.tie_breaks.join(", ")
            ),
        ));
        facts
    }

    pub(super) fn answers_sentence(&self) -> String {
        let deadline = format_ms(self.view.deadline_ms);
        match self
            .view
            .players
            .iter()
            .filter_map(|player| player.answers.longest())
            .max()
        {
            None => {
                format!("No answer was measured. A player has {deadline} for each move.")
            }
            Some(longest) => {
                let longest = format_ms(u64::from(longest));
                format!(
                    "The longest answer took {longest}; the deadline for each move is {deadline}."
                )
            }
        }
    }
}

pub(super) fn record(row: &Standing, player: &PlayerView) -> String {
    let Standing {
        played,
        wins,
        draws,
        losses,
        technical_losses,
        points,
        ..
    } = row;
    let mut text = format!(
        "{} from {}: {wins} won, {draws} drawn, {losses} lost, {technical_losses} of them without play.",
        count_of(*points as usize, "point", "points"),
        count_of(*played as usize, "match", "matches"),
    );
    if player.wins_by_default > 0 {
        text.push_str(&format!(
            " {} of the wins because the opponent did not play.",
            player.wins_by_default
        ));
    }
    text
}

/// What else there is to tell of a player, each with its label.
pub(super) fn player_facts(row: &Standing, player: &PlayerView) -> Vec<(&'static str, String)> {
    let deviations = match counted(&player.deviations) {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    };
    let rating = row
        .rating
        .map(|rating| format!("{} ({} to {})", rating.value, rating.low, rating.high));
    let facts = [
        ("Rating (95 %)", rating),
        ("Place", row.reason.clone()),
        (
            "Choices",
            Some(counted(&player.choices)).filter(|choices| !choices.is_empty()),
        ),
        ("Deviations", Some(deviations)),
        (
            "Technical losses",
            Some(player.technical_causes()).filter(|causes| !causes.is_empty()),
        ),
        (
            "Strategy",
            player.fallbacks.as_ref().map(|failed| failed.sentence()),
        ),
        (
            "Model",
            player.llm_usage.as_ref().map(|used| used.sentence()),
        ),
        ("Agent version", Some(player.version.clone())),
    ];
    let exploitable = player.exploitability.as_ref();
    let exploitable = exploitable.map_or_else(Vec::new, Exploitability::facts);
    facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name, fact?)))
        .chain(exploitable)
        .collect()
}

pub(super) fn answers(player: &PlayerView, deadline_ms: u64) -> String {
    let answers = &player.answers;
    match (answers.median(), answers.quantile(0.95), answers.longest()) {
        (Some(median), Some(most), Some(longest)) => {
            let [median, most, longest] =
                [median, most, longest].map(|ms| format_ms(u64::from(ms)));
            format!(
                "Measured in {}: half within {median}, 95 % within {most}, the longest {longest}; the deadline is {}.",
                count_of(answers.ms.len(), "match", "matches"),
                format_ms(deadline_ms)
            )
        }
        _ => "No answer was measured.".to_owned(),
    }
}
