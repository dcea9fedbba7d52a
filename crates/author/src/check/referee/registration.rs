//! `--wait`: the fake manager, with which the referee registers and to which it reports.

use super::fake_league::{LEAGUE, REFEREE, ReportPolicy, ReportReply};
use super::rules;
use super::scripted_agents::{Log, ReceivedMessage, Script, ScriptedReply, kind_of};
use crate::check::report::Findings;
use crate::check::role::AgentRole;
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, decode};
use matchday_core::protocol::{Body, Endpoint, Token};
use matchday_runtime::Clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Registered {
    /// What it is, if not a referee.
    pub(super) role: Option<AgentRole>,
    pub(super) endpoint: Option<Endpoint>,
    /// Its `max_concurrent_matches`.
    pub(super) capacity: usize,
}

pub(super) type ReportPolicies = Arc<Mutex<BTreeMap<String, ReportPolicy>>>;

/// The fake manager: accepts the registration and answers reports by each match's policy.
pub(super) fn manager(token: &Token, report_policies: ReportPolicies, clock: Clock) -> Arc<Script> {
    let token = token.clone();
    let reports = Mutex::new(BTreeMap::<String, usize>::new());
    Arc::new(move |message: &Value, _| {
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
        let stamp = clock.now();
        let answer = |kind: &str, fields: Value| {
            let mut answer = json!({
                "protocol": "league.v2", "message_type": kind, "sender": "league_manager", "timestamp": stamp,
                "conversation_id": message.get("conversation_id"),
            });
            if let (Some(answer), Value::Object(fields)) = (answer.as_object_mut(), fields) {
                answer.extend(fields);
            }
            ScriptedReply::Say(answer)
        };
        match kind_of(message).as_str() {
            "REFEREE_REGISTER_REQUEST" => answer(
                "REFEREE_REGISTER_RESPONSE",
                json!({
                    "status": "ACCEPTED", "referee_id": REFEREE, "reason": null, "league_id": LEAGUE,
                    "auth_token": token.reveal(), "match_tokens": true,
                }),
            ),
            "MATCH_RESULT_REPORT" => {
                let id = text("match_id");
                let before = {
                    let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
                    let count = reports.entry(id.to_owned()).or_default();
                    *count += 1;
                    *count - 1
                };
                let report_policy = report_policies
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get(id)
                    .copied();
                match report_policy.map_or(ReportReply::Acknowledged, |report_policy| {
                    report_policy(before)
                }) {
                    ReportReply::Acknowledged => answer(
                        "MATCH_RESULT_ACK",
                        json!({"match_id": id, "status": "recorded"}),
                    ),
                    ReportReply::Failed => ScriptedReply::Fail,
                    ReportReply::Refused => answer(
                        "LEAGUE_ERROR",
                        json!({
                            "error_code": "E016", "error_name": "RESULT_CONFLICT",
                            "error_description": "RESULT_CONFLICT", "original_message_type": "MATCH_RESULT_REPORT",
                        }),
                    ),
                }
            }
            _ => ScriptedReply::Received,
        }
    })
}

/// Waits for the referee to register, and checks its registration.
pub(super) async fn wait(
    findings: &mut Findings,
    log: &Log,
    within: Duration,
    clock: Clock,
) -> Registered {
    let deadline = Instant::now() + within;
    let came = loop {
        let is_request =
            |received: &&ReceivedMessage| received.message_type() == "REFEREE_REGISTER_REQUEST";
        let came = log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .find(is_request)
            .cloned();
        let is_player = || {
            log.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .any(|received| received.message_type() == "LEAGUE_REGISTER_REQUEST")
        };
        match came {
            Some(received) => break received,
            None if is_player() => {
                return Registered {
                    role: Some(AgentRole::Player),
                    endpoint: None,
                    capacity: 1,
                };
            }
            None if Instant::now() >= deadline => {
                return Registered {
                    role: None,
                    endpoint: None,
                    capacity: 1,
                };
            }
            None => sleep(POLL_INTERVAL).await,
        }
    };
    // The exchange is recorded just after the message.
    sleep(POLL_INTERVAL).await;
    let now = clock.now();
    let read = |conformance| {
        decode(
            &came.message,
            &Reading {
                conformance,
                now,
                limits: Limits::MANAGER,
                exchange: None,
                about: None,
            },
        )
    };
    let fault = match read(Conformance::Strict) {
        Ok(Incoming { body: Ok(_), .. }) => None,
        Ok(Incoming {
            body: Err(fault), ..
        })
        | Err(fault) => Some(fault),
    };
    let lenient = read(Conformance::Lenient)
        .ok()
        .and_then(|incoming| incoming.body.ok());
    match fault {
        None => findings.pass(&rules::REGISTERED, ""),
        Some(fault) => {
            let note = format!("{} ({})", fault.sentence(), fault.code);
            if lenient.is_some() {
                findings.deviation(&rules::REGISTERED, note, &came.exchange);
            } else {
                findings.violated(&rules::REGISTERED, note, &came.exchange);
            }
        }
    }
    match lenient {
        Some(Body::RefereeRegisterRequest(body)) => Registered {
            role: None,
            endpoint: Some(body.referee_meta.contact_endpoint.clone()),
            capacity: usize::try_from(body.referee_meta.max_concurrent_matches)
                .unwrap_or(1)
                .max(1),
        },
        _ => Registered {
            role: None,
            endpoint: None,
            capacity: 1,
        },
    }
}
