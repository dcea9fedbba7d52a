//! The findings, for people. Pure.

use super::Verification;
use matchday_core::protocol::messages::StandingRow;
use std::fmt;

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let league = self.league_id.as_ref().map_or("no league", |id| id.as_str());
        writeln!(f, "{league}: {} in {}", many(self.events, "event"), many(self.streams, "stream"))?;
        let early = if self.ended_early { "; the operator has ended the league early" } else { "" };
        writeln!(f, "matches  {} of {} decided{early}", self.matches, self.matches_scheduled)?;
        writeln!(f, "draws    {} recomputed, {} without proof", self.draws_proven, self.draws_unproven)?;
        if let Some(head) = &self.head {
            writeln!(f, "chain    ends in {head}")?;
        }
        if !self.table.is_empty() {
            writeln!(f, "\n{}", standings(&self.table))?;
        }
        if let (Some(champion), None) = (&self.champion, &self.fault) {
            writeln!(f, "champion {champion}")?;
        }
        match &self.fault {
            None => write!(f, "Everything fits."),
            Some(fault) => write!(f, "DOES NOT FIT: {fault}"),
        }
    }
}

fn many(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The table in aligned columns.
pub(super) fn standings(rows: &[StandingRow]) -> String {
    let width = rows.iter().map(|row| row.display_name.as_str().chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!("  #  id    {:width$}  played  won  drawn  lost  points\n", "name");
    for row in rows {
        let StandingRow { rank, player_id, played, wins, draws, losses, points, .. } = row;
        let (id, name) = (player_id.as_str(), row.display_name.as_str());
        text.push_str(&format!(
            "{rank:>3}  {id:<4}  {name:width$}  {played:>6}  {wins:>3}  {draws:>5}  {losses:>4}  {points:>6}"
        ));
        if let Some(reason) = &row.rank_reason {
            text.push_str("  ");
            text.push_str(reason);
        }
        text.push('\n');
    }
    text
}
