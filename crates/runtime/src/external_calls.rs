//! Calls of an agent's external decider and of external rules. Each is a task of its own; the result is put into the inbox and
//! logged.

use crate::context::Context;
use crate::decider::Decided;
use crate::inbox::Arrived;
use crate::log::{Header, emit, millis};
use crate::message_meta::MessageMeta;
use matchday_core::agent::{DecisionRequest, Input, RulesRequest};
use matchday_core::game::turn::TurnSheet;
use matchday_core::protocol::Timestamp;
use matchday_store::llm_call::CallPlace;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout_at;
use tracing::Level;

pub(super) async fn request_decision(context: Arc<Context>, request: DecisionRequest) {
    let began = context.clock.now();
    let DecisionRequest {
        id,
        turn,
        until,
        conversation_id,
        turn_number,
    } = request;
    let meta = MessageMeta::of_match(&turn.match_id);
    let place = CallPlace {
        player: context.sender().id().into(),
        match_id: turn.match_id.clone(),
        conversation_id,
        turn: turn_number,
        asked_at: began,
    };
    let decided = tokio::select! {
        biased;
        () = context.inbox.closed() => return,
        decided = decide(&context, turn, until) => decided,
    };
    let at = context.clock.now();
    log_decision(&context, &meta, began, at, &decided);
    for call in decided.calls {
        context.record(|| call.into_exchange(&place));
    }
    context.inbox.put(Arrived::Input(
        at,
        Input::External {
            id,
            result: decided.decision,
            usage: decided.usage,
        },
    ));
}

async fn decide(context: &Context, turn: TurnSheet, until: Timestamp) -> Decided {
    let Some(decider) = &context.decider else {
        return Err("no program or model is there to decide".to_owned()).into();
    };
    let time = Duration::from_millis(turn.time_left_ms).as_secs_f64();
    match timeout_at(context.clock.instant(until), decider.decide(turn.clone())).await {
        Ok(decided) => Decided {
            decision: decided.decision.and_then(|value| turn.check(value)),
            ..decided
        },
        Err(_) => Err(format!("no decision within {time:.1} s")).into(),
    }
}

fn log_decision(
    context: &Context,
    meta: &MessageMeta,
    began: Timestamp,
    at: Timestamp,
    decided: &Decided,
) {
    context.log(|| {
        let decided_ms = millis(began, at);
        let about = meta.match_id.as_deref().unwrap_or_default();
        let Decided {
            decision, remark, ..
        } = decided;
        let (level, mut message) = match decision {
            Ok(value) => (
                Level::DEBUG,
                format!("decided on {value} in {about} ({decided_ms:.1} ms)"),
            ),
            Err(why) => (Level::WARN, format!("no decision in {about}: {why}")),
        };
        if let Some(remark) = remark {
            message = format!("{message}; it says {remark}");
        }
        let sender = context.sender();
        let fallback = decision.as_ref().err();
        let header = Header::new(at, &sender, "decided").about(meta);
        emit!(level, header, decided_ms, fallback, remark, "{message}");
    });
}

pub(super) async fn request_position(context: Arc<Context>, request: RulesRequest) {
    let id = request.id;
    let until = context.clock.instant(request.until);
    let match_id = request.match_id.clone();
    let ruling = async {
        match &context.rules {
            None => Err("no program is there that knows the rules".to_owned()),
            Some(rules) => timeout_at(until, rules.position(request))
                .await
                .unwrap_or_else(|_| {
                    Err("too many questions for the rules of the game at once".to_owned())
                }),
        }
    };
    let result = tokio::select! {
        biased;
        () = context.inbox.closed() => return,
        result = ruling => result,
    };
    let at = context.clock.now();
    if let Err(why) = &result {
        context.log(|| {
            let meta = MessageMeta::of_match(&match_id);
            let sender = context.sender();
            let header = Header::new(at, &sender, "rules_failed").about(&meta);
            emit!(Level::WARN, header, "{match_id} will start over: {why}");
        });
    }
    context.inbox.put(Arrived::Input(
        at,
        Input::External {
            id,
            result,
            usage: None,
        },
    ));
}
