//! A report for people: a line for each rule, violations in full, the score by category, the verdict last.

use crate::check::exchange::{ExchangeExcerpt, format_duration};
use crate::check::report::{Finding, Report, Verdict};
use matchday_core::protocol::Untrusted;
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
        Verdict::Pass => (Colour::Green, "pass"),
        Verdict::Warning => (Colour::Yellow, "warn"),
        Verdict::Fail => (Colour::Red, "FAIL"),
        Verdict::NotChecked => (Colour::Grey, "-   "),
    };
    let _ = writeln!(
        text,
        "  {}  {id:width$}  {title}",
        paint.colour(colour, word)
    );
    let indent = " ".repeat(8);
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
    let _ = writeln!(text, "{indent}mend  {}", finding.mend());
    let _ = writeln!(text, "{indent}rule  {}", finding.rule.doc_link());
}

fn scores(report: &Report, paint: Paint) -> String {
    let scored = |name: &str, score: crate::check::report::Score| {
        let percent = score
            .percent()
            .map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"));
        let counts = [
            score.passed,
            score.warnings,
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
        &["CATEGORY", "SCORE", "PASS", "WARN", "FAIL", "NOT CHECKED"],
        &rows,
    );
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", paint.bold(head)),
        None => text,
    }
}

fn verdict(report: &Report, paint: Paint) -> String {
    let score = report.score();
    let took = format_duration(report.took);
    let role = report.subject.role;
    let target = &report.subject.target;
    let warnings = match score.warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        many => format!(", {many} warnings"),
    };
    let broken = report
        .findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Fail);
    let broken: Vec<_> = broken.map(|finding| finding.rule.id).collect();
    let unknown = match report.unknown() {
        none if none.is_empty() => None,
        ids => Some(format!(
            "{} mandatory rules could not be checked: {}",
            ids.len(),
            listed(&ids)
        )),
    };
    let league = report.subject.conformance;
    let (colour, text) = if !broken.is_empty() {
        let count = broken.len();
        let all = report.findings.len();
        let names = broken.join(", ");
        let unknown = unknown.map_or_else(String::new, |unknown| format!(" {unknown}."));
        (
            Colour::Red,
            format!(
                "{count} of {all} rules broken: {names}{warnings}.{unknown} Not ready for a {league} league"
            ),
        )
    } else if let Some(unknown) = unknown {
        (
            Colour::Yellow,
            format!("{unknown}{warnings}. See the lines marked -"),
        )
    } else {
        (
            Colour::Green,
            format!("every mandatory rule holds{warnings}: ready for a {league} league"),
        )
    };
    format!(
        "{} ({role} at {target}, {took})",
        paint.colour(colour, &text)
    )
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
        assert!(people(&report, Paint::Colours).contains("\u{1b}[31mFAIL\u{1b}[0m"));
    }
}
