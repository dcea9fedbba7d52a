//! A report as JUnit XML, which most graders and CI servers read: a test case for each rule. A warning is a passed
//! test with output, and so is what only a strict league refuses, where a lenient one was asked about.

use crate::check::report::{Finding, Report, Verdict};
use matchday_core::protocol::Untrusted;
use std::fmt::Write;

pub fn junit(report: &Report) -> String {
    let score = report.score();
    let role = report.subject.role.name();
    let tests = report.findings.len();
    let failures = score.failed;
    let skipped = score.not_checked;
    let seconds = report.took.as_secs_f64();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{seconds:.3}\""
    );
    // Writing to a String does not fail.
    let _ = writeln!(xml, "<testsuites name=\"matchday check\" {counts}>");
    let _ = writeln!(xml, "  <testsuite name=\"matchday check {role}\" {counts}>");
    let target = escaped(&report.subject.target);
    let _ = writeln!(
        xml,
        "    <properties><property name=\"target\" value=\"{target}\"/></properties>"
    );
    for finding in &report.findings {
        case(&mut xml, role, finding);
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn case(xml: &mut String, role: &str, finding: &Finding) {
    let Finding {
        rule,
        verdict,
        note,
        ..
    } = finding;
    let class = format!("{role}.{}", rule.category.name());
    let time = finding
        .exchange
        .as_ref()
        .map_or(0.0, |exchange| exchange.ms / 1000.0);
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}: {}\" time=\"{time:.3}\"",
        escaped(&class),
        escaped(rule.id),
        escaped(rule.title)
    );
    let message = escaped(&on_one_line(note));
    let _ = match verdict {
        Verdict::Pass => writeln!(xml, "{head}/>"),
        Verdict::NotChecked => writeln!(xml, "{head}><skipped message=\"{message}\"/></testcase>"),
        Verdict::Warning | Verdict::StrictOnly => {
            writeln!(
                xml,
                "{head}><system-out>{}</system-out></testcase>",
                escaped(&story(finding))
            )
        }
        Verdict::Fail => writeln!(
            xml,
            "{head}><failure message=\"{message}\" type=\"mandatory\">{}</failure></testcase>",
            escaped(&story(finding))
        ),
    };
}

fn story(finding: &Finding) -> String {
    let mut story = on_one_line(&finding.note);
    if let Some(exchange) = &finding.exchange {
        let sent = on_one_line(&exchange.request);
        let came = on_one_line(&exchange.answer);
        story.push_str(&format!("\nsent: {sent}\ncame: {came}"));
    }
    story.push_str(&format!(
        "\nfix: {}\nrule: {}",
        finding.fix(),
        finding.rule.explaining_command()
    ));
    story
}

/// Escapes line breaks in text of the agent, so that it cannot imitate ours.
fn on_one_line(text: &str) -> String {
    Untrusted::new(text).escaped().to_string()
}

/// Escaped for XML 1.0, without the characters that XML cannot contain.
fn escaped(text: &str) -> String {
    Untrusted::new(text).html()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_report_as_junit() {
        insta::assert_snapshot!(super::junit(&super::super::sample::report()));
    }

    #[test]
    fn nothing_that_an_agent_says_breaks_the_xml() {
        assert_eq!(
            super::escaped("<a b=\"c\">&\u{0}\u{1b}'"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\\u0000\\u001b&#39;"
        );
    }
}
