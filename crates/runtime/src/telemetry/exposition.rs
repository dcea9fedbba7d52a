//! The text format of Prometheus, version 0.0.4: the one that `promtool check metrics` and every scraper reads. (The crate `prometheus-client` writes OpenMetrics alone, and its histograms take a lock for each value.)

use matchday_store::histogram::HistogramSnapshot;
use std::fmt::{Display, Write};

pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) type Labels<'a> = &'a [(&'static str, &'a str)];

#[derive(Debug, Default)]
pub(super) struct Exposition {
    text: String,
}

/// One metric with all its labels. Its heading is written with the first value, so that one without values is not there.
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    begun: bool,
}

impl Exposition {
    pub(super) fn counter(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    pub(super) fn histogram(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, "histogram", help)
    }

    fn family(&mut self, name: &'static str, kind: &'static str, help: &'static str) -> Family<'_> {
        Family {
            text: &mut self.text,
            name,
            kind,
            help,
            begun: false,
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl Family<'_> {
    pub(super) fn value(&mut self, labels: Labels<'_>, value: impl Display) {
        self.line("", labels, None, &value);
    }

    pub(super) fn histogram(&mut self, labels: Labels<'_>, snapshot: &HistogramSnapshot) {
        for (bound, count) in &snapshot.up_to {
            self.line("_bucket", labels, Some(&bound.to_string()), count);
        }
        self.line("_bucket", labels, Some("+Inf"), &snapshot.count);
        self.line("_sum", labels, None, &snapshot.sum);
        self.line("_count", labels, None, &snapshot.count);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: &dyn Display) {
        let Self {
            text,
            name,
            kind,
            help,
            ..
        } = self;
        if !std::mem::replace(&mut self.begun, true) {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        }
        let _ = write!(text, "{name}{suffix}");
        let bound = bound.map(|bound| ("le", bound));
        let mut before = '{';
        for (label, value) in labels.iter().copied().chain(bound) {
            let _ = write!(text, "{before}{label}=\"{}\"", escaped(value));
            before = ',';
        }
        let _ = writeln!(text, "{} {value}", if before == ',' { "}" } else { "" });
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_store::histogram::Histogram;

    #[test]
    fn metrics_are_written_as_prometheus_reads_them() {
        let mut exposition = Exposition::default();
        exposition.gauge("open", "What is open.").value(&[], 3);
        exposition
            .counter("seen_total", "What was seen.")
            .value(&[("by", "a\"b\\c\n")], 1);
        exposition.counter("never_total", "What nobody has seen.");
        let histogram = Histogram::new(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024], 1.0);
        histogram.observe(3);
        exposition
            .histogram("parts", "How many parts.")
            .histogram(&[("of", "x")], &histogram.snapshot());
        insta::assert_snapshot!(exposition.into_text());
    }
}
