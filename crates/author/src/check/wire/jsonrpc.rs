//! JSON-RPC: parse errors, invalid requests, unknown methods, ids of every type, notifications, batches.

use super::{ANSWER_TIMEOUT, Wire};
use crate::check::exchange::{CallOutcome, Exchange};
use crate::check::player::rules;
use crate::check::response_format;
use crate::check::rule::Rule;
use serde_json::{Value, json};

const BROKEN: &str =
    "{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"choose_parity\", \"params\": {";

impl Wire<'_> {
    pub(crate) async fn broken_json(&mut self) {
        let exchange = self.probe.send("broken JSON", BROKEN, ANSWER_TIMEOUT).await;
        let rule = &rules::PARSE_ERROR;
        if let CallOutcome::Unknown(why) = &exchange.outcome {
            return self.findings.skip(rule, why.clone());
        }
        if !self.still_alive(rule, "a body that is not JSON").await {
            return;
        }
        match exchange
            .json()
            .as_ref()
            .and_then(response_format::error_code)
        {
            Some(-32700) => self.findings.pass(rule, ""),
            Some(code) => {
                let note = format!("expected error code -32700, got {code}");
                self.findings.warn(rule, note, &exchange);
            }
            None => {
                let note = format!("expected a JSON-RPC error, got {}", exchange.outcome_text());
                self.findings.violated(rule, note, &exchange);
            }
        }
    }

    /// An id must be echoed with its JSON type.
    pub(crate) async fn ids(&mut self) {
        for id in [
            json!("check-7"),
            json!("7"),
            json!(0),
            json!(9_007_199_254_740_993_i64),
        ] {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {}});
            let exchange = self
                .probe
                .send("ping", request.to_string(), ANSWER_TIMEOUT)
                .await;
            match (exchange.json(), &exchange.outcome) {
                (Some(answer), _)
                    if response_format::of(&answer)
                        == response_format::ResponseFormat::Standard =>
                {
                    self.findings
                        .result(&rules::ID, response_format::id(&answer, &id), &exchange);
                }
                (_, CallOutcome::Failed(_)) => {
                    let note = format!(
                        "a request with the id {id} got no answer: {}",
                        exchange.outcome_text()
                    );
                    self.findings.warn(&rules::ID, note, &exchange);
                }
                _ => {}
            }
        }
    }

    pub(crate) async fn odd_requests(&mut self) {
        let no_method = json!({"jsonrpc": "2.0", "id": 71, "params": {}});
        self.refuses(&rules::INVALID_REQUEST, &no_method, &[-32600])
            .await;
        let list = json!({"jsonrpc": "2.0", "id": 72, "method": "choose_parity", "params": [1, 2]});
        self.refuses(&rules::INVALID_PARAMS, &list, &[-32602]).await;
        self.unknown_method().await;
        self.notification().await;
        self.batch().await;
    }

    async fn refuses(&mut self, rule: &'static Rule, request: &Value, codes: &[i64]) {
        let exchange = self
            .probe
            .send(rule.id, request.to_string(), ANSWER_TIMEOUT)
            .await;
        if let CallOutcome::Unknown(why) = &exchange.outcome {
            return self.findings.skip(rule, why.clone());
        }
        match exchange
            .json()
            .as_ref()
            .and_then(response_format::error_code)
        {
            Some(code) if codes.contains(&code) => self.findings.pass(rule, ""),
            code => {
                let came =
                    code.map_or_else(|| exchange.outcome_text(), |code| format!("error {code}"));
                let note = format!(
                    "expected error {}, got {came}",
                    codes.first().copied().unwrap_or_default()
                );
                self.findings.violated(rule, note, &exchange);
            }
        }
    }

    async fn unknown_method(&mut self) {
        let rule = &rules::UNKNOWN_METHOD;
        let request = json!({"jsonrpc": "2.0", "id": 73, "method": "dance", "params": {}});
        let exchange = self
            .probe
            .send("an unknown method", request.to_string(), ANSWER_TIMEOUT)
            .await;
        if let CallOutcome::Unknown(why) = &exchange.outcome {
            return self.findings.skip(rule, why.clone());
        }
        let answer = exchange.json();
        let is_plain =
            |answer: &Value| answer.is_object() && answer.get("error").is_none_or(Value::is_null);
        let is_success = exchange
            .answered()
            .is_some_and(|answered| answered.status == 200);
        let is_taken = is_success && answer.as_ref().is_some_and(is_plain);
        match answer.as_ref().and_then(response_format::error_code) {
            Some(-32601) => self.findings.pass(rule, ""),
            None if is_taken => self
                .findings
                .pass(rule, "it acknowledges what it does not know"),
            _ => {
                let note = format!(
                    "expected error -32601 or any result, got {}",
                    exchange.outcome_text()
                );
                self.findings.violated(rule, note, &exchange);
            }
        }
    }

    async fn notification(&mut self) {
        let rule = &rules::NOTIFICATION;
        let request = json!({"jsonrpc": "2.0", "method": "ping", "params": {}});
        let exchange = self
            .probe
            .send("a notification", request.to_string(), ANSWER_TIMEOUT)
            .await;
        match &exchange.outcome {
            CallOutcome::Unknown(why) => self.findings.skip(rule, why.clone()),
            CallOutcome::Answered(answered)
                if answered.body.is_empty() && (200..300).contains(&answered.status) =>
            {
                self.findings.pass(rule, "");
            }
            _ => {
                let note = format!("expected HTTP 202 and no body, got {}", came(&exchange));
                self.findings.violated(rule, note, &exchange);
            }
        }
    }

    async fn batch(&mut self) {
        let rule = &rules::BATCH;
        let ping = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {}});
        let request = json!([ping(74), ping(75)]);
        let exchange = self
            .probe
            .send("a batch", request.to_string(), ANSWER_TIMEOUT)
            .await;
        if let CallOutcome::Unknown(why) = &exchange.outcome {
            return self.findings.skip(rule, why.clone());
        }
        let answer = exchange.json();
        let mut ids: Vec<i64> = answer
            .as_ref()
            .and_then(Value::as_array)
            .map(|responses| {
                responses
                    .iter()
                    .filter_map(|response| response.get("id")?.as_i64())
                    .collect()
            })
            .unwrap_or_default();
        ids.sort_unstable();
        if ids == [74, 75] {
            self.findings.pass(rule, "");
        } else {
            let note = format!("expected a list of two responses, got {}", came(&exchange));
            self.findings.violated(rule, note, &exchange);
        }
    }
}

fn came(exchange: &Exchange) -> String {
    match exchange.answered() {
        Some(answered) if answered.body.is_empty() => {
            format!("HTTP {} and no body", answered.status)
        }
        Some(answered) => format!("HTTP {} and a body", answered.status),
        None => exchange.outcome_text(),
    }
}
