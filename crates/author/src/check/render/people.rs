//! A report for people: a line for each rule, violations in full, the score by category, the verdict last.

use crate::check::exchange::{ExchangeExcerpt, format_duration};
use crate::check::report::{Finding, Readiness, Report, Verdict};
use crate::check::role::AgentRole;
use matchday_core::protocol::Untrusted;
use matchday_core::protocol::decode::Conformance;
use matchday_terminal::{Colour, Paint, table};
use std::fmt::Write;

const LISTED_MAX: usize = 10;

pub fn people(report: &Report, paint: Paint) -> String {
    let mut text = String::new();
    let width = report
        .findings
        .iter()
        .map(|finding| finding.rule.id.len())
        .max()
        .unwrap_or(0);
    let mut category = None;
    for finding in &report.findings {
        if category != Some(finding.rule.category) {
            category = Some(finding.rule.category);
            let _ = writeln!(text, "{}", paint.bold(finding.rule.category.name()));
        }
        line(&mut text, finding, width, paint);
    }
    let _ = write!(text, "\n{}\n\n", scores(report, paint));
    for remark in &report.remarks {
        let _ = writeln!(text, "{}", Untrusted::new(remark).escaped());
    }
    text.push_str(&verdict(report, paint));
    text
}

fn line(text: &mut String, finding: &Finding, width: usize, paint: Paint) {
    let id = finding.rule.id;
    let title = finding.rule.title;
    let (colour, word) = match finding.verdict {
        Verdict::Pass => (Colour::Green, "pass  "),
        Verdict::Warning => (Colour::Yellow, "warn  "),
        Verdict::StrictOnly => (Colour::Yellow, "strict"),
        Verdict::Fail => (Colour::Red, "FAIL  "),
        Verdict::NotChecked => (Colour::Grey, "-     "),
    };
    let _ = writeln!(
        text,
        "  {}  {id:width$}  {title}",
        paint.colour(colour, word)
    );
    let indent = " ".repeat(10);
    if !finding.note.is_empty() {
        let _ = writeln!(text, "{indent}{}", paint.colour(colour, &finding.note));
    }
    if matches!(finding.verdict, Verdict::Pass | Verdict::NotChecked) {
        return;
    }
    // Warnings are shown without evidence; the JSON report has it.
    let is_seen =
        |exchange: &&ExchangeExcerpt| finding.rule.is_mandatory() && !exchange.request.is_empty();
    let proof = finding.exchange.as_ref().filter(is_seen);
    if let Some(exchange) = proof {
        let _ = writeln!(
            text,
            "{indent}sent  {}",
            Untrusted::new(&exchange.request).escaped()
        );
        let _ = writeln!(
            text,
            "{indent}came  {} ({} ms)",
            Untrusted::new(&exchange.answer).escaped(),
            exchange.ms
        );
    }
    let _ = writeln!(text, "{indent}fix   {}", finding.fix());
    let _ = writeln!(text, "{indent}rule  {}", finding.rule.explaining_command());
}

fn scores(report: &Report, paint: Paint) -> String {
    let scored = |name: &str, score: crate::check::report::Score| {
        let percent = score
            .percent()
            .map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"));
        let counts = [
            score.passed,
            score.warnings,
            score.strict_only,
            score.failed,
            score.not_checked,
        ];
        let mut cells = vec![name.to_owned(), percent];
        cells.extend(counts.iter().map(|count| {
            if *count == 0 {
                String::new()
            } else {
                count.to_string()
            }
        }));
        cells
    };
    let mut rows: Vec<_> = report
        .scores()
        .into_iter()
        .map(|(category, score)| scored(category.name(), score))
        .collect();
    rows.push(scored("all", report.score()));
    let text = table(
        &[
            "CATEGORY",
            "SCORE",
            "PASS",
            "WARN",
            "STRICT",
            "FAIL",
            "NOT CHECKED",
        ],
        &rows,
    );
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", paint.bold(head)),
        None => text,
    }
}

/// Two verdicts: whether it is ready, and what would be cleaner.
fn verdict(report: &Report, paint: Paint) -> String {
    let took = format_duration(report.took);
    let role = report.subject.role;
    let target = &report.subject.target;
    let (colour, ready) = readiness(report);
    let ready = paint.colour(colour, &ready);
    let unclean = report.unclean();
    let cleaner = match unclean.as_slice() {
        [] => String::new(),
        [one] => format!("\n1 warning, which loses no match: {one}"),
        many => format!(
            "\n{} warnings, which lose no match: {}",
            many.len(),
            listed(many)
        ),
    };
    format!("{ready} ({} at {target}, {took}){cleaner}", role.name())
}

/// How an agent of a role is said to do well, and badly.
struct Words {
    any: &'static str,
    lenient: &'static str,
    strict_only: &'static str,
    nowhere: &'static str,
}

fn words(role: AgentRole) -> Words {
    match role {
        AgentRole::Player => Words {
            any: "it plays in any league, also in a strict one",
            lenient: "it plays in any lenient league, as leagues are by default",
            strict_only: "It would lose matches in a strict one",
            nowhere: "it would lose matches in any league",
        },
        AgentRole::Referee => Words {
            any: "it referees in any league, also in a strict one",
            lenient: "it referees in any lenient league, as leagues are by default",
            strict_only: "Its matches would be lost in a strict one",
            nowhere: "it would spoil matches in any league",
        },
        AgentRole::Manager => Words {
            any: "agents of any make can play under it, also strict ones",
            lenient: "lenient agents can play under it, as agents are by default",
            strict_only: "Strict agents would refuse it",
            nowhere: "it would spoil its league",
        },
    }
}

fn readiness(report: &Report) -> (Colour, String) {
    let words = words(report.subject.role);
    let because = |ids: &[&str]| {
        let rules = if ids.len() == 1 { "rule" } else { "rules" };
        format!("because of {} {rules}: {}", ids.len(), listed(ids))
    };
    let unknown = match report.unknown() {
        none if none.is_empty() => String::new(),
        ids => format!(
            ". {} mandatory rules could not be checked: {}",
            ids.len(),
            listed(&ids)
        ),
    };
    let in_strict = match report.loses_in_strict_only() {
        none if none.is_empty() => String::new(),
        ids => format!(". {}, {}", words.strict_only, because(&ids)),
    };
    let is_strict = report.subject.conformance == Conformance::Strict;
    match report.readiness() {
        Readiness::NoLeague => (
            Colour::Red,
            format!(
                "Not ready: {}, {}{unknown}{in_strict}",
                words.nowhere,
                because(&report.loses_anywhere())
            ),
        ),
        Readiness::Unknown => (
            Colour::Yellow,
            format!("Not known{unknown}. See the lines marked -{in_strict}"),
        ),
        Readiness::LenientLeagues if is_strict => (
            Colour::Red,
            format!(
                "Not ready for a strict league: {}{in_strict}",
                words.lenient
            ),
        ),
        Readiness::LenientLeagues => (
            Colour::Green,
            format!("Ready: {}{in_strict}", words.lenient),
        ),
        Readiness::AnyLeague => (Colour::Green, format!("Ready: {}", words.any)),
    }
}

/// The first few of many.
fn listed(ids: &[&str]) -> String {
    let (first, rest) = ids.split_at(ids.len().min(LISTED_MAX));
    match rest.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_for_people() {
        insta::assert_snapshot!(people(&super::super::sample::report(), Paint::Plain));
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let report = super::super::sample::report();
        assert!(!people(&report, Paint::Plain).contains('\u{1b}'));
        assert!(people(&report, Paint::Colours).contains("\u{1b}[31mFAIL  \u{1b}[0m"));
    }
}
