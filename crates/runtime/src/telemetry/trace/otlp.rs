//! Spans as a collector reads them: OTLP over HTTP, in JSON. Pure.
//!
//! Written by ourselves: this is all of it, while the official exporter would bring protobuf, gRPC types and a second HTTP
//! client into the binary for one POST.

use super::span::Span;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request of `/v1/traces`. Each agent is a resource of its own, also where several share a process.
pub(super) fn request(spans: &[Span]) -> Value {
    let mut agents = BTreeMap::<_, Vec<Value>>::new();
    for told in spans {
        agents
            .entry((told.role, told.agent.as_str()))
            .or_default()
            .push(span(told));
    }
    let resources: Vec<_> = agents
        .into_iter()
        .map(|((role, agent), spans)| {
            let resource = [
                text("service.name", &format!("matchday-{}", role.name())),
                text("service.instance.id", agent),
                text("service.version", env!("CARGO_PKG_VERSION")),
            ];
            let scope = json!({ "name": "matchday", "version": env!("CARGO_PKG_VERSION") });
            json!({
                "resource": { "attributes": resource },
                "scopeSpans": [{ "scope": scope, "spans": spans }],
            })
        })
        .collect();
    json!({ "resourceSpans": resources })
}

fn span(span: &Span) -> Value {
    let about = &span.about;
    let mut attributes = vec![
        text("league_id", &about.league_id),
        text("match_id", &about.match_id),
        text("outcome", span.end.word),
    ];
    attributes.extend(
        about
            .conversation_id
            .as_deref()
            .map(|id| text("conversation_id", id)),
    );
    attributes.extend(
        about
            .message_type
            .as_deref()
            .map(|kind| text("message_type", kind)),
    );
    attributes.extend(about.attempt.map(|attempt| number("attempt", attempt)));
    if span.end.is_error {
        attributes.push(text("error_code", span.end.word));
    }
    // 0 says nothing, 2 is an error; that all is well is for the operator to say.
    let status = if span.end.is_error {
        json!({ "code": 2, "message": span.end.word })
    } else {
        json!({ "code": 0 })
    };
    json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "parentSpanId": span.parent.map(|parent| parent.to_string()).unwrap_or_default(),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanos(span.began.as_micros()),
        "endTimeUnixNano": nanos(span.ended.as_micros()),
        "attributes": attributes,
        "status": status,
    })
}

/// 64 bits are more than JSON's numbers hold, so they are text.
fn nanos(micros: i64) -> String {
    micros.saturating_mul(1_000).to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: u32) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

#[cfg(test)]
mod tests {
    use super::super::super::labels::Role;
    use super::super::ids::{SpanId, TraceId};
    use super::super::span::{About, SpanKind, SpanStatus};
    use super::*;
    use matchday_core::protocol::Timestamp;

    #[test]
    fn spans_are_written_as_collectors_read_them() {
        let trace = TraceId::of_match("spring", "R1M1");
        let span = Span {
            role: Role::Referee,
            agent: "REF01".into(),
            trace,
            id: SpanId::of_refereeing(trace, 1),
            parent: Some(SpanId::of_assignment(trace, 1)),
            name: "GAME_INVITATION".into(),
            kind: SpanKind::Client,
            began: Timestamp::from_micros(1_736_937_000_000_000),
            ended: Timestamp::from_micros(1_736_937_000_250_000),
            about: About {
                league_id: "spring".into(),
                match_id: "R1M1".into(),
                attempt: Some(1),
                message_type: Some("GAME_INVITATION".into()),
                conversation_id: Some("conv-r1m1-001".into()),
            },
            end: SpanStatus {
                word: "timed_out",
                is_error: true,
            },
        };
        let text = serde_json::to_string_pretty(&request(&[span])).unwrap();
        insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "[version]"));
    }
}
