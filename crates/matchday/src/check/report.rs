//! What was found: one finding for each rule, and what they come to. Pure.

use super::exchange::{Exchange, Shown};
use super::rule::{Category, Rule};
use matchday_core::protocol::decode::Conformance;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// From the least telling to the most: what is found of a rule last does not undo what was found worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    NotChecked,
    Pass,
    Warning,
    Fail,
}

#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) rule: &'static Rule,
    pub(crate) verdict: Verdict,
    /// What was seen, in words that need no exchange to be understood.
    pub(crate) note: String,
    pub(crate) exchange: Option<Shown>,
}

/// Where a suite writes down what it finds.
#[derive(Debug)]
pub(crate) struct Sheet {
    rules: Vec<&'static Rule>,
    found: BTreeMap<&'static str, Finding>,
}

impl Sheet {
    pub(crate) fn new(rules: Vec<&'static Rule>) -> Self {
        Self { rules, found: BTreeMap::new() }
    }

    pub(crate) fn pass(&mut self, rule: &'static Rule, note: impl Into<String>) {
        self.put(rule, Verdict::Pass, note, None);
    }

    /// The rule is broken: a failure if it is mandatory, a warning if it is advice.
    pub(crate) fn broken(&mut self, rule: &'static Rule, note: impl Into<String>, exchange: &Exchange) {
        let verdict = if rule.is_mandatory() { Verdict::Fail } else { Verdict::Warning };
        self.put(rule, verdict, note, Some(exchange.shown()));
    }

    /// The same where what should have come did not, so that there is no exchange to show.
    pub(crate) fn missing(&mut self, rule: &'static Rule, note: impl Into<String>) {
        let verdict = if rule.is_mandatory() { Verdict::Fail } else { Verdict::Warning };
        self.put(rule, verdict, note, None);
    }

    /// It will do, and should be better.
    pub(crate) fn warn(&mut self, rule: &'static Rule, note: impl Into<String>, exchange: &Exchange) {
        self.put(rule, Verdict::Warning, note, Some(exchange.shown()));
    }

    /// The same where no single exchange shows it.
    pub(crate) fn caution(&mut self, rule: &'static Rule, note: impl Into<String>) {
        self.put(rule, Verdict::Warning, note, None);
    }

    pub(crate) fn skip(&mut self, rule: &'static Rule, why: impl Into<String>) {
        self.put(rule, Verdict::NotChecked, why, None);
    }

    /// Whether nothing has been found about a rule.
    pub(crate) fn is_open(&self, rule: &'static Rule) -> bool {
        !self.found.contains_key(rule.id)
    }

    fn put(
        &mut self,
        rule: &'static Rule,
        verdict: Verdict,
        note: impl Into<String>,
        exchange: Option<Shown>,
    ) {
        if self.found.get(rule.id).is_some_and(|found| found.verdict >= verdict) {
            return;
        }
        self.found.insert(rule.id, Finding { rule, verdict, note: note.into(), exchange });
    }

    /// Closes the sheet: a rule that nothing was found about was not reached.
    pub(crate) fn into_report(mut self, subject: Subject, took: Duration, unreached: &str) -> Report {
        let findings = self
            .rules
            .iter()
            .map(|&rule| {
                self.found.remove(rule.id).unwrap_or_else(|| Finding {
                    rule,
                    verdict: Verdict::NotChecked,
                    note: unreached.to_owned(),
                    exchange: None,
                })
            })
            .collect();
        Report { subject, took, findings, stopped: None }
    }
}

/// What was checked, and how.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Subject {
    pub(crate) role: &'static str,
    pub(crate) target: String,
    pub(crate) conformance: &'static str,
    pub(crate) quick: bool,
}

impl Subject {
    pub(crate) fn new(role: &'static str, target: &str, conformance: Conformance, quick: bool) -> Self {
        let conformance = match conformance {
            Conformance::Strict => "strict",
            Conformance::Lenient => "lenient",
        };
        Self { role, target: target.to_owned(), conformance, quick }
    }
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) subject: Subject,
    pub(crate) took: Duration,
    pub(crate) findings: Vec<Finding>,
    /// Why it ended before it began, in one line for people: nothing that could be checked is there.
    pub(crate) stopped: Option<String>,
}

/// How many rules of a category came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Score {
    pub(crate) passed: usize,
    pub(crate) warnings: usize,
    pub(crate) failed: usize,
    pub(crate) not_checked: usize,
}

impl Score {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Warning => self.warnings += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::NotChecked => self.not_checked += 1,
        }
    }

    /// Of the rules that were looked at, how many of a hundred hold; a warning is half of one.
    pub(crate) fn percent(&self) -> Option<u32> {
        let checked = self.passed + self.warnings + self.failed;
        let points = 100 * (2 * self.passed + self.warnings);
        u32::try_from(points.checked_div(2 * checked)?).ok()
    }
}

impl Report {
    pub(crate) fn score(&self) -> Score {
        self.count(|_| true)
    }

    /// By category, in the order of the rules.
    pub(crate) fn scores(&self) -> Vec<(Category, Score)> {
        let mut categories: Vec<Category> = Vec::new();
        for finding in &self.findings {
            if !categories.contains(&finding.rule.category) {
                categories.push(finding.rule.category);
            }
        }
        let score = |category| self.count(|finding| finding.rule.category == category);
        categories.into_iter().map(|category| (category, score(category))).collect()
    }

    fn count(&self, which: impl Fn(&Finding) -> bool) -> Score {
        let mut score = Score::default();
        self.findings
            .iter()
            .filter(|finding| which(finding))
            .for_each(|finding| score.count(finding.verdict));
        score
    }

    /// Whether every mandatory rule is known to hold.
    pub(crate) fn holds(&self) -> bool {
        self.findings
            .iter()
            .filter(|finding| finding.rule.is_mandatory())
            .all(|finding| matches!(finding.verdict, Verdict::Pass | Verdict::Warning))
    }

    /// Mandatory rules that could not be looked at.
    pub(crate) fn unknown(&self) -> usize {
        let unknown =
            |finding: &&Finding| finding.rule.is_mandatory() && finding.verdict == Verdict::NotChecked;
        self.findings.iter().filter(unknown).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MUST: Rule = Rule::mandatory("a.must", Category::Transport, "It must", "transport", "Mend it.");
    static SHOULD: Rule = Rule::advisory("a.should", Category::Transport, "It should", "transport", "Do.");

    fn subject() -> Subject {
        Subject { role: "player", target: "http://x/mcp".into(), conformance: "strict", quick: false }
    }

    fn report(fill: impl FnOnce(&mut Sheet)) -> Report {
        let mut sheet = Sheet::new(vec![&MUST, &SHOULD]);
        fill(&mut sheet);
        sheet.into_report(subject(), Duration::ZERO, "not reached")
    }

    fn exchange() -> Exchange {
        Exchange {
            subject: "ping".into(),
            request: bytes::Bytes::new(),
            outcome: super::super::exchange::Outcome::Unknown("no".into()),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn the_worst_that_was_found_of_a_rule_stands() {
        let report = report(|sheet| {
            sheet.broken(&MUST, "once it failed", &exchange());
            sheet.pass(&MUST, "and then it held");
        });
        assert_eq!(report.findings[0].verdict, Verdict::Fail);
        assert_eq!(report.findings[0].note, "once it failed");
    }

    #[test]
    fn advice_that_is_not_taken_is_no_failure() {
        let report = report(|sheet| {
            sheet.pass(&MUST, "");
            sheet.broken(&SHOULD, "no", &exchange());
        });
        assert!(report.holds());
        assert_eq!(report.score(), Score { passed: 1, warnings: 1, ..Score::default() });
        assert_eq!(report.score().percent(), Some(75));
    }

    #[test]
    fn what_was_not_looked_at_is_not_known_to_hold() {
        let report = report(|sheet| sheet.pass(&SHOULD, ""));
        assert!(!report.holds());
        assert_eq!(report.unknown(), 1);
    }
}
