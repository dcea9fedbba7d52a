//! Sentences and numbers that several formats share. Pure.

use super::{Player, Report};
use matchday_core::protocol::{MatchId, Timestamp};
use matchday_stats::league::PlayerStatistics;
use matchday_stats::sentences::percent;
use std::collections::BTreeMap;

/// `1 match`, `3 matches`.
pub(super) use crate::plural::count_of;

/// `even 3, odd 4`
pub(super) fn counted(counts: &BTreeMap<String, u32>) -> String {
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

/// `850 ms`, `12.5 s`.
pub(super) fn format_ms(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{} s", (ms as f64 / 100.0).round() / 10.0) }
}

/// `2026-03-02 09:00:00 UTC`
pub(super) fn format_time(at: Timestamp) -> String {
    at.to_string().replace('T', " ").replace('Z', " UTC")
}

/// `1532 (1380 to 1690)`
pub(super) fn rating(player: &PlayerStatistics) -> Option<String> {
    player.bradley_terry.map(|of| format!("{:.0} ({:.0} to {:.0})", of.rating, of.low, of.high))
}

pub(super) fn by_chance(player: &PlayerStatistics) -> Option<String> {
    (player.record.total() > 0).then(|| percent(player.as_good_by_chance))
}

/// Column headers of the standings, and the cells of a row.
pub(super) const TABLE_HEADS: [&str; 12] = [
    "Rank",
    "Player",
    "Name",
    "Played",
    "Won",
    "Drawn",
    "Lost in play",
    "Technical losses",
    "Points",
    "Rating (95 %)",
    "As good by chance",
    "Why ahead of the next",
];

pub(super) fn table_row(report: &Report, player: &Player) -> [String; 12] {
    let statistics = report.statistics_of(&player.who.id);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        player.rank.to_string(),
        player.who.id.clone(),
        player.who.name.clone(),
        player.played.to_string(),
        player.wins.to_string(),
        player.draws.to_string(),
        player.losses_in_play.to_string(),
        player.technical_losses.to_string(),
        player.points.to_string(),
        or_dash(statistics.and_then(rating)),
        or_dash(statistics.and_then(by_chance)),
        player.reason.clone().unwrap_or_default(),
    ]
}

impl Report {
    pub(super) fn statistics_of(&self, player: &str) -> Option<&PlayerStatistics> {
        self.statistics.players.iter().find(|statistics| statistics.player_id == player)
    }

    /// Remarks on the statistics, each with its heading.
    pub(super) fn remarks(&self) -> Vec<(&'static str, String)> {
        let statistics = &self.statistics;
        let mut remarks = vec![("Luck meter", statistics.luck.sentence.clone())];
        remarks.extend(statistics.luck.note.clone().map(|note| ("The game", note)));
        remarks.extend(statistics.top_two.as_ref().map(|top| ("Top two", top.sentence.clone())));
        remarks
    }

    /// Key facts of the league, each with its label.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("Game", self.game.clone()), ("Format", self.format.replace('_', " "))];
        facts.push(("Players", self.players.len().to_string()));
        facts.push(("Rounds", self.rounds.len().to_string()));
        facts.push(("Matches", format!("{} of {} decided", self.matches_decided, self.matches)));
        let technical = match self.technical_matches {
            0 => "none".to_owned(),
            some => count_of(some as usize, "match was not played out", "matches were not played out"),
        };
        facts.push(("Technical losses", technical));
        let unproven: Vec<&str> = self.verification.found.unproven.iter().map(MatchId::as_str).collect();
        if !unproven.is_empty() {
            let why = "the word of their referee, although a player in them had a key";
            facts.push(("Unproven results", format!("{} of {}: {why}", unproven.len(), unproven.join(", "))));
        }
        let lost = self.referees.iter().filter(|referee| referee.attempts_lost > 0).map(|referee| {
            format!("{} of {} by {}", referee.attempts_lost, referee.attempts, referee.who.id)
        });
        let lost: Vec<String> = lost.collect();
        if !lost.is_empty() {
            facts.push(("Attempts that came to nothing", lost.join(", ")));
        }
        facts.extend(self.started_at.map(|at| ("Began", format_time(at))));
        facts.extend(self.completed_at.map(|at| ("Ended", format_time(at))));
        facts.extend(self.sides.clone().map(|sides| ("Sides", sides)));
        facts.push((
            "Ties",
            format!("points, then {}; level players share a place", self.tie_breaks.join(", ")),
        ));
        facts
    }

    pub(super) fn answers_sentence(&self) -> String {
        let deadline = format_ms(self.deadline_ms);
        match self.players.iter().filter_map(|player| player.answers.longest()).max() {
            None => format!("No answer was measured. A player has {deadline} for each choice or move."),
            Some(longest) => {
                let longest = format_ms(u64::from(longest));
                format!(
                    "The longest answer took {longest}; the deadline for each choice or move is {deadline}."
                )
            }
        }
    }
}

pub(super) fn record(player: &Player) -> String {
    let Player { played, wins, draws, losses_in_play, technical_losses, points, .. } = player;
    let mut text = format!(
        "{} from {}: {wins} won, {draws} drawn, {losses_in_play} lost in play, {technical_losses} lost without play.",
        count_of(*points as usize, "point", "points"),
        count_of(*played as usize, "match", "matches"),
    );
    if player.wins_by_default > 0 {
        text.push_str(&format!(" {} of the wins because the opponent did not play.", player.wins_by_default));
    }
    text
}

pub(super) fn answers(player: &Player, deadline_ms: u64) -> String {
    let answers = &player.answers;
    match (answers.median(), answers.quantile(0.95), answers.longest()) {
        (Some(median), Some(most), Some(longest)) => {
            let [median, most, longest] = [median, most, longest].map(|ms| format_ms(u64::from(ms)));
            format!(
                "Measured in {}: half within {median}, 95 % within {most}, the longest {longest}; the deadline is {}.",
                count_of(answers.ms.len(), "match", "matches"),
                format_ms(deadline_ms)
            )
        }
        _ => "No answer was measured.".to_owned(),
    }
}
