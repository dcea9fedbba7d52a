//! Findings for each rule, and the report that summarises them. Pure.

use super::exchange::{Exchange, ExchangeExcerpt};
use super::role::AgentRole;
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
    /// It costs no match, and would be cleaner otherwise.
    Warning,
    /// A lenient league lets it pass, and a strict one refuses it.
    StrictOnly,
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
    fix: Option<&'static str>,
    /// Whether a lenient league lets pass what fails in the checked, strict one.
    is_tolerated: bool,
}

impl Finding {
    fn new(
        rule: &'static Rule,
        verdict: Verdict,
        note: impl Into<String>,
        exchange: Option<ExchangeExcerpt>,
    ) -> Self {
        Self {
            rule,
            verdict,
            note: note.into(),
            exchange,
            fix: None,
            is_tolerated: false,
        }
    }

    pub fn fix(&self) -> &'static str {
        self.fix.unwrap_or(self.rule.fix)
    }

    /// Whether it loses matches in every league.
    fn loses_anywhere(&self) -> bool {
        self.verdict == Verdict::Fail && !self.is_tolerated
    }

    /// Whether it loses matches in a strict league, and in no lenient one.
    fn loses_in_strict_only(&self) -> bool {
        self.verdict == Verdict::StrictOnly || self.verdict == Verdict::Fail && self.is_tolerated
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
        fix: Option<&'static str>,
        exchange: &Exchange,
    ) {
        let exchange = Some(exchange.excerpt());
        self.record(Finding {
            fix,
            ..Finding::new(rule, rule.violation(), note, exchange)
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

    /// Records what a strict league refuses and a lenient one lets pass.
    pub fn deviation(&mut self, rule: &'static Rule, note: impl Into<String>, exchange: &Exchange) {
        let verdict = rule.violation().min(Verdict::StrictOnly);
        self.note_down(rule, verdict, note, Some(exchange.excerpt()));
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
        self.record(Finding::new(rule, verdict, note, exchange));
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
        let is_strict = subject.conformance == Conformance::Strict;
        let judged = |finding: Finding| match finding.verdict {
            Verdict::StrictOnly if is_strict => Finding {
                verdict: Verdict::Fail,
                is_tolerated: true,
                ..finding
            },
            _ => finding,
        };
        let unknown = |rule| Finding::new(rule, Verdict::NotChecked, unreached, None);
        let findings = self
            .rules
            .iter()
            .map(|&rule| {
                self.found
                    .remove(rule.id)
                    .map_or_else(|| unknown(rule), judged)
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

#[derive(Debug, Clone)]
pub struct Subject {
    pub role: AgentRole,
    pub target: String,
    /// Of the league that it is to be ready for.
    pub conformance: Conformance,
    pub quick: bool,
}

/// In which leagues an agent plays without losing matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    AnyLeague,
    LenientLeagues,
    NoLeague,
    /// Rules that decide it were not checked.
    Unknown,
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
    pub strict_only: usize,
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
            Verdict::StrictOnly => self.strict_only += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::NotChecked => self.not_checked += 1,
        }
    }

    /// The percentage of rules that are known to hold, of those that were checked or had to be; a warning counts half, and
    /// so does what only a strict league refuses.
    pub fn percent(&self) -> Option<u32> {
        let half = self.warnings + self.strict_only;
        let counted = self.passed + half + self.failed + self.mandatory_not_checked;
        let points = 100 * (2 * self.passed + half);
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

    /// Whether every mandatory rule was checked, and holds in the league that it is to be ready for.
    pub fn holds(&self) -> bool {
        let is_open = |finding: &Finding| finding.verdict == Verdict::Fail || finding.is_unknown();
        !self.findings.iter().any(is_open)
    }

    pub fn readiness(&self) -> Readiness {
        if !self.loses_anywhere().is_empty() {
            Readiness::NoLeague
        } else if !self.unknown().is_empty() {
            Readiness::Unknown
        } else if !self.loses_in_strict_only().is_empty() {
            Readiness::LenientLeagues
        } else {
            Readiness::AnyLeague
        }
    }

    /// The rules whose violations lose matches in every league.
    pub fn loses_anywhere(&self) -> Vec<&'static str> {
        self.rules_where(Finding::loses_anywhere)
    }

    /// The rules whose violations lose matches in a strict league, and in no lenient one.
    pub fn loses_in_strict_only(&self) -> Vec<&'static str> {
        self.rules_where(Finding::loses_in_strict_only)
    }

    /// The rules whose violations lose no match.
    pub fn unclean(&self) -> Vec<&'static str> {
        self.rules_where(|finding| finding.verdict == Verdict::Warning)
    }

    /// The mandatory rules that were not checked.
    pub fn unknown(&self) -> Vec<&'static str> {
        self.rules_where(Finding::is_unknown)
    }

    fn rules_where(&self, which: impl Fn(&Finding) -> bool) -> Vec<&'static str> {
        let found = self.findings.iter().filter(|finding| which(finding));
        found.map(|finding| finding.rule.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::check::rule::rules! {
        MUST = Mandatory, "a.must", Transport, "It must", "transport", "Fix it.";
        SHOULD = Advisory, "a.should", Transport, "It should", "transport", "Do.";
    }

    fn report(fill: impl FnOnce(&mut Findings)) -> Report {
        report_for(Conformance::Lenient, fill)
    }

    fn report_for(conformance: Conformance, fill: impl FnOnce(&mut Findings)) -> Report {
        let mut findings = Findings::new(OWN.to_vec());
        fill(&mut findings);
        let subject = Subject {
            role: AgentRole::Player,
            target: "http://x/mcp".into(),
            conformance,
            quick: false,
        };
        findings.into_report(subject, Duration::ZERO, "not reached")
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
    fn what_only_a_strict_league_refuses_fails_where_a_strict_one_is_asked_for() {
        let found = |findings: &mut Findings| {
            findings.deviation(&MUST, "a strict league refuses it", &exchange());
            findings.deviation(&SHOULD, "nobody refuses it", &exchange());
        };
        for (conformance, verdict, holds) in [
            (Conformance::Lenient, Verdict::StrictOnly, true),
            (Conformance::Strict, Verdict::Fail, false),
        ] {
            let report = report_for(conformance, found);
            assert_eq!(report.findings[0].verdict, verdict);
            assert_eq!(report.holds(), holds);
            // Both verdicts are told, whichever league was asked about.
            assert_eq!(report.readiness(), Readiness::LenientLeagues);
            assert_eq!(report.loses_in_strict_only(), ["a.must"]);
            assert_eq!(report.unclean(), ["a.should"]);
        }
    }

    #[test]
    fn warnings_do_not_make_it_less_ready() {
        let report = report(|findings| {
            findings.pass(&MUST, "");
            findings.violated(&SHOULD, "no", &exchange());
        });
        assert_eq!(report.readiness(), Readiness::AnyLeague);
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
