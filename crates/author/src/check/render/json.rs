//! A report as JSON. Its keys and values are an interface: programs depend on them.

use crate::check::report::{Finding, Report, Score};
use serde_json::{Value, json};

pub fn json(report: &Report) -> Value {
    let scores = report.scores().into_iter().map(|(category, score)| {
        let mut fields = score_fields(score);
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("category".to_owned(), json!(category));
        }
        fields
    });
    json!({
        "role": report.subject.role.name(),
        "target": report.subject.target,
        "conformance": super::league(report.subject.conformance),
        "quick": report.subject.quick,
        "holds": report.holds(),
        "readiness": report.readiness(),
        "loses_anywhere": report.loses_anywhere(),
        "loses_in_strict_only": report.loses_in_strict_only(),
        "stopped": report.stopped,
        "remarks": report.remarks,
        "seconds": (report.took.as_secs_f64() * 1000.0).round() / 1000.0,
        "score": score_fields(report.score()),
        "categories": scores.collect::<Vec<_>>(),
        "rules": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn score_fields(score: Score) -> Value {
    json!({
        "percent": score.percent(),
        "passed": score.passed,
        "warnings": score.warnings,
        "strict_only": score.strict_only,
        "failed": score.failed,
        "not_checked": score.not_checked,
        "mandatory_not_checked": score.mandatory_not_checked,
    })
}

fn finding(finding: &Finding) -> Value {
    let Finding {
        rule,
        verdict,
        note,
        exchange,
        ..
    } = finding;
    json!({
        "id": rule.id,
        "category": rule.category,
        "weight": rule.weight,
        "title": rule.title,
        "verdict": verdict,
        "note": note,
        "place": rule.doc_link(),
        "explain": rule.explaining_command(),
        "fix": finding.fix(),
        "exchange": exchange,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_report_as_data() {
        insta::assert_json_snapshot!(super::json(&super::super::sample::report()));
    }
}
