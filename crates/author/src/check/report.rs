//! Findings for each rule, and the report that summarises them. Pure.

use super::exchange::{Exchange, ExchangeExcerpt};
use super::rule::{Category, Rule};
use matchday_core::protocol::decode::Conformance;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// In ascending order: a later finding replaces an earlier one only if it is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    NotChecked,
    Pass,
    Warning,
    Fail,
}

#[derive(Debug, Clone)]
pub struct Finding {
    pub rule: &'static Rule,
    pub verdict: Verdict,
    /// An explanation that is understandable without the exchange.
    pub note: String,
    pub exchange: Option<ExchangeExcerpt>,
    /// How to fix it, where the cause is another than the rule's own.
    mend: Option<&'static str>,
}

impl Finding {
    pub fn mend(&self) -> &'static str {
        self.mend.unwrap_or(self.rule.fix)
    }

    /// Whether it is a mandatory rule that was not checked.
    fn is_unknown(&self) -> bool {
        self.rule.is_mandatory() && self.verdict == Verdict::NotChecked
    }
}

/// Collects the findings of a suite, at most one for each rule.
#[derive(Debug)]
pub struct Findings {
    rules: Vec<&'static Rule>,
    found: BTreeMap<&'static str, Finding>,
}

impl Findings {
    pub fn new(rules: Vec<&'static Rule>) -> Self {
        Self {
            rules,
            found: BTreeMap::new(),
        }
    }

    pub fn pass(&mut self, rule: &'static Rule, note: impl Into<String>) {
        self.note_down(rule, Verdict::Pass, note, None);
    }

    /// A violation fails a mandatory rule, and is a warning for an advisory one.
    pub fn violated(&mut self, rule: &'static Rule, note: impl Into<String>, exchange: &Exchange) {
        self.violated_because(rule, note, None, exchange);
    }

    /// A violation whose cause is not the one that the rule's own advice is about.
    pub fn violated_because(
        &mut self,
        rule: &'static Rule,
        note: impl Into<String>,
        mend: Option<&'static str>,
        exchange: &Exchange,
    ) {
        let exchange = Some(exchange.excerpt());
        self.record(Finding {
            rule,
            verdict: rule.violation(),
            note: note.into(),
            exchange,
            mend,
        });
    }

    /// A violation without evidence: the expected message did not come.
    pub fn violated_unseen(&mut self, rule: &'static Rule, note: impl Into<String>) {
        self.note_down(rule, rule.violation(), note, None);
    }

    /// Records a pass if the rule holds, and else a violation with this note.
    pub fn check(
        &mut self,
        rule: &'static Rule,
        holds: bool,
        note: impl Into<String>,
        exchange: &Exchange,
    ) {
        if holds {
            self.pass(rule, "")
        } else {
            self.violated(rule, note, exchange)
        }
    }

    pub fn result(&mut self, rule: &'static Rule, result: Result<(), String>, exchange: &Exchange) {
        self.check(
            rule,
            result.is_ok(),
            result.err().unwrap_or_default(),
            exchange,
        );
    }

    /// Records a deviation: a warning where the checked conformance tolerates it, and else a violation.
    pub fn deviation(
        &mut self,
        rule: &'static Rule,
        tolerated: bool,
        note: impl Into<String>,
        exchange: &Exchange,
    ) {
        if tolerated {
            self.warn(rule, note, exchange)
        } else {
            self.violated(rule, note, exchange)
        }
    }

    pub fn warn(&mut self, rule: &'static Rule, note: impl Into<String>, exchange: &Exchange) {
        self.note_down(rule, Verdict::Warning, note, Some(exchange.excerpt()));
    }

    /// A warning without evidence in a single exchange.
    pub fn warn_unseen(&mut self, rule: &'static Rule, note: impl Into<String>) {
        self.note_down(rule, Verdict::Warning, note, None);
    }

    pub fn skip(&mut self, rule: &'static Rule, why: impl Into<String>) {
        self.note_down(rule, Verdict::NotChecked, why, None);
    }

    pub fn is_undecided(&self, rule: &'static Rule) -> bool {
        self.verdict(rule).is_none()
    }

    pub fn verdict(&self, rule: &'static Rule) -> Option<Verdict> {
        self.found.get(rule.id).map(|found| found.verdict)
    }

    fn note_down(
        &mut self,
        rule: &'static Rule,
        verdict: Verdict,
        note: impl Into<String>,
        exchange: Option<ExchangeExcerpt>,
    ) {
        self.record(Finding {
            rule,
            verdict,
            note: note.into(),
            exchange,
            mend: None,
        });
    }

    fn record(&mut self, finding: Finding) {
        let id = finding.rule.id;
        if self
            .found
            .get(id)
            .is_none_or(|found| found.verdict < finding.verdict)
        {
            self.found.insert(id, finding);
        }
    }

    /// Rules without a finding are reported as not checked, for the reason `unreached`.
    pub fn into_report(mut self, subject: Subject, took: Duration, unreached: &str) -> Report {
        let findings = self
            .rules
            .iter()
            .map(|&rule| {
                self.found.remove(rule.id).unwrap_or_else(|| Finding {
                    rule,
                    verdict: Verdict::NotChecked,
                    note: unreached.to_owned(),
                    exchange: None,
                    mend: None,
                })
            })
            .collect();
        Report {
            subject,
            took,
            findings,
            stopped: None,
            remarks: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Subject {
    pub role: &'static str,
    pub target: String,
    pub conformance: &'static str,
    pub quick: bool,
}

impl Subject {
    pub fn new(role: &'static str, target: &str, conformance: Conformance, quick: bool) -> Self {
        let conformance = match conformance {
            Conformance::Strict => "strict",
            Conformance::Lenient => "lenient",
        };
        Self {
            role,
            target: target.to_owned(),
            conformance,
            quick,
        }
    }
}

#[derive(Debug)]
pub struct Report {
    pub subject: Subject,
    pub took: Duration,
    pub findings: Vec<Finding>,
    /// Why the check stopped before it began, in one line: there is no agent at the URL.
    pub stopped: Option<String>,
    /// What the check leaves behind, such as players in the manager's league.
    pub remarks: Vec<String>,
}

/// The number of rules for each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    pub passed: usize,
    pub warnings: usize,
    pub failed: usize,
    pub not_checked: usize,
    /// Those of `not_checked` that are mandatory.
    pub mandatory_not_checked: usize,
}

impl Score {
    fn count(&mut self, finding: &Finding) {
        if finding.is_unknown() {
            self.mandatory_not_checked += 1;
        }
        match finding.verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Warning => self.warnings += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::NotChecked => self.not_checked += 1,
        }
    }

    /// The percentage of rules that are known to hold, of those that were checked or had to be; a warning counts half.
    pub fn percent(&self) -> Option<u32> {
        let counted = self.passed + self.warnings + self.failed + self.mandatory_not_checked;
        let points = 100 * (2 * self.passed + self.warnings);
        u32::try_from(points.checked_div(2 * counted)?).ok()
    }
}

impl Rule {
    fn violation(&self) -> Verdict {
        if self.is_mandatory() {
            Verdict::Fail
        } else {
            Verdict::Warning
        }
    }
}

impl Report {
    pub fn score(&self) -> Score {
        self.count(|_| true)
    }

    /// In the order of the rules.
    pub fn scores(&self) -> Vec<(Category, Score)> {
        let mut categories: Vec<Category> = Vec::new();
        for finding in &self.findings {
            if !categories.contains(&finding.rule.category) {
                categories.push(finding.rule.category);
            }
        }
        let score = |category| self.count(|finding| finding.rule.category == category);
        categories
            .into_iter()
            .map(|category| (category, score(category)))
            .collect()
    }

    fn count(&self, which: impl Fn(&Finding) -> bool) -> Score {
        let mut score = Score::default();
        self.findings
            .iter()
            .filter(|finding| which(finding))
            .for_each(|finding| score.count(finding));
        score
    }

    /// Whether every mandatory rule was checked and holds.
    pub fn holds(&self) -> bool {
        self.findings
            .iter()
            .filter(|finding| finding.rule.is_mandatory())
            .all(|finding| matches!(finding.verdict, Verdict::Pass | Verdict::Warning))
    }

    /// The mandatory rules that were not checked.
    pub fn unknown(&self) -> Vec<&'static str> {
        self.findings
            .iter()
            .filter(|finding| finding.is_unknown())
            .map(|finding| finding.rule.id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::check::rule::rules! {
        MUST = Mandatory, "a.must", Transport, "It must", "transport", "Mend it.";
        SHOULD = Advisory, "a.should", Transport, "It should", "transport", "Do.";
    }

    fn subject() -> Subject {
        Subject {
            role: "player",
            target: "http://x/mcp".into(),
            conformance: "strict",
            quick: false,
        }
    }

    fn report(fill: impl FnOnce(&mut Findings)) -> Report {
        let mut findings = Findings::new(OWN.to_vec());
        fill(&mut findings);
        findings.into_report(subject(), Duration::ZERO, "not reached")
    }

    fn exchange() -> Exchange {
        Exchange {
            subject: "ping".into(),
            request: bytes::Bytes::new(),
            outcome: super::super::exchange::CallOutcome::Unknown("no".into()),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn the_worst_that_was_found_of_a_rule_stands() {
        let report = report(|findings| {
            findings.violated(&MUST, "once it failed", &exchange());
            findings.pass(&MUST, "and then it held");
        });
        assert_eq!(report.findings[0].verdict, Verdict::Fail);
        assert_eq!(report.findings[0].note, "once it failed");
    }

    #[test]
    fn advice_that_is_not_taken_is_no_failure() {
        let report = report(|findings| {
            findings.pass(&MUST, "");
            findings.violated(&SHOULD, "no", &exchange());
        });
        assert!(report.holds());
        assert_eq!(
            report.score(),
            Score {
                passed: 1,
                warnings: 1,
                ..Score::default()
            }
        );
        assert_eq!(report.score().percent(), Some(75));
    }

    #[test]
    fn what_was_not_looked_at_is_not_known_to_hold() {
        let report = report(|findings| findings.pass(&SHOULD, ""));
        assert!(!report.holds());
        assert_eq!(report.unknown(), ["a.must"]);
        assert_eq!(
            report.score().percent(),
            Some(50),
            "never 100 % where a mandatory rule was not checked"
        );
    }
}
