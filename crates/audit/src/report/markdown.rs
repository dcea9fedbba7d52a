//! A report as Markdown. Names are escaped. Pure.

use super::sentences::{self, TABLE_HEADS, table_row};
use super::{Player, Report, grades};
use matchday_core::protocol::Untrusted;
use std::fmt::Write;

pub fn markdown(report: &Report) -> String {
    let mut text = format!("# League {}\n\n", plain(&report.league_id));
    match (&report.unfinished, &report.champion) {
        (Some(unfinished), _) => {
            let as_of =
                report.as_of.map(|at| format!(" As of {}.", sentences::format_time(at))).unwrap_or_default();
            let _ = writeln!(text, "**{unfinished}**{as_of}\n");
        }
        (None, Some(_)) if !report.joint_champions.is_empty() => {
            let names = report.joint_champions.iter();
            let names: Vec<_> =
                names.map(|who| format!("**{}** ({})", plain(&who.name), plain(&who.id))).collect();
            let _ = writeln!(text, "Joint champions: {}\n", names.join(", "));
        }
        (None, Some(champion)) => {
            let _ = writeln!(text, "Champion: **{}** ({})\n", plain(&champion.name), plain(&champion.id));
        }
        (None, None) => {}
    }
    for (name, fact) in report.facts() {
        let _ = writeln!(text, "- {name}: {}", plain(&fact));
    }
    text.push_str("\n## Table\n\n");
    if report.players.is_empty() {
        text.push_str("No player has registered yet.\n");
    } else {
        let rows = report.players.iter().map(|player| table_row(report, player).to_vec());
        text.push_str(&table(&TABLE_HEADS, rows));
    }
    text.push_str("\n## What it means\n\n");
    for (name, remark) in report.remarks() {
        let _ = writeln!(text, "- **{name}.** {}", plain(&remark));
    }
    verification(&mut text, report);
    faults(&mut text, report);
    text.push_str("\n## Players\n");
    for player in &report.players {
        of_player(&mut text, report, player);
    }
    rounds(&mut text, report);
    text
}

fn verification(text: &mut String, report: &Report) {
    let verified = &report.verification;
    let verdict = if verified.passed { "Passed" } else { "FAILED" };
    let _ = writeln!(text, "\n## Verification\n\n**{verdict}.** {}\n", plain(&verified.sentence));
    if let Some(head) = &verified.head {
        let _ = writeln!(text, "The chain of events ends in `{head}`.");
    }
    for what in verified.found.not_checked.iter().chain(&verified.found.unconfirmed) {
        let _ = writeln!(text, "\nNot checked: {}.", plain(what));
    }
}

fn faults(text: &mut String, report: &Report) {
    if report.faults.is_empty() {
        return;
    }
    text.push_str("\n## What went wrong\n\n");
    let rows = report
        .faults
        .iter()
        .map(|fault| vec![fault.group.to_owned(), fault.kind.clone(), fault.count.to_string()]);
    text.push_str(&table(&["What", "Kind", "How often"], rows));
}

fn of_player(text: &mut String, report: &Report, player: &Player) {
    let _ =
        writeln!(text, "\n### {}. {} ({})\n", player.rank, plain(&player.who.name), plain(&player.who.id));
    let mut lines = vec![sentences::record(player)];
    if player.state != "active" {
        lines.push(format!("At the end: {}.", player.state));
    }
    lines.extend(report.statistics_of(&player.who.id).map(|statistics| statistics.sentence.clone()));
    lines.push(sentences::answers(player, report.deadline_ms));
    if !player.choices.is_empty() {
        lines.push(format!("Choices: {}.", sentences::counted(&player.choices)));
    }
    if !player.deviations.is_empty() {
        lines.push(format!("Departures from the rules: {}.", sentences::counted(&player.deviations)));
    }
    if !player.technical.is_empty() {
        lines.push(format!("Lost without play: {}.", grades::causes(player)));
    }
    lines
        .extend(player.fallbacks.as_ref().map(|failed| format!("{}: {}.", player.who.id, failed.sentence())));
    lines.extend(player.llm_usage.as_ref().map(|used| format!("{}: {}.", player.who.id, used.sentence())));
    for line in lines {
        let _ = writeln!(text, "- {}", plain(&line));
    }
    for lost in &player.technical {
        let evidence = lost.evidence.as_ref().map(|seen| format!(" (seen: {seen})")).unwrap_or_default();
        let (id, opponent) = (&lost.match_id, &lost.opponent.id);
        let _ =
            writeln!(text, "  - {}", plain(&format!("{id} against {opponent}: {}{evidence}", lost.account)));
    }
}

fn rounds(text: &mut String, report: &Report) {
    text.push_str("\n## Rounds\n");
    if report.rounds.is_empty() {
        text.push_str("\nThe rounds are drawn up when the league starts.\n");
    }
    for round in &report.rounds {
        let _ = writeln!(text, "\n### {} ({})\n", plain(&round.name()), round.state);
        let rows = round.matches.iter().map(|game| {
            let score = game.score.map_or_else(|| game.state.to_owned(), |(a, b)| format!("{a}:{b}"));
            let how =
                if game.technical { format!("technical: {}", game.reason) } else { game.reason.clone() };
            vec![game.id.clone(), game.a.id.clone(), game.b.id.clone(), score, how]
        });
        text.push_str(&table(&["Match", "A", "B", "Score", "Why"], rows));
        for bye in &round.byes {
            let _ = writeln!(text, "\n{} sat out.", plain(&bye.id));
        }
    }
}

fn table<const N: usize>(heads: &[&str; N], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", heads.join(" | "), " --- |".repeat(N));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn plain(text: &str) -> String {
    Untrusted::new(text).markdown()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_league_that_is_over() {
        insta::assert_snapshot!(markdown(&sample::league()));
    }

    #[test]
    fn a_league_before_its_first_player() {
        insta::assert_snapshot!(markdown(&sample::before_the_first_player()));
    }

    #[test]
    fn a_name_stays_a_name() {
        let hostile = "<img src=x onerror=alert(1)> | [click](javascript:alert(1)) `x` **bold**\n# head";
        let escaped = plain(hostile);
        assert!(!escaped.contains('<') && escaped.contains("\\](") && !escaped.contains('\n'), "{escaped}");
        assert!(escaped.contains("\\|"), "{escaped}");
    }
}
