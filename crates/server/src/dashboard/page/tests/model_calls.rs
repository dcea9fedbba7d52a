//! What models were told and said is not read by their opponents before the league is over.

use super::*;
use crate::dashboard::page::one_match::MatchRecords;
use matchday_audit::log_set::LogSet;
use matchday_core::protocol::{ConversationId, UntrustedText};
use matchday_store::Exchange;
use matchday_store::llm_call::{CallPlace, LlmCall, Message, Role};
use std::time::Duration;

const SECRETS: [&str; 3] = ["Play to win.", "I will take two.", "It is free."];

fn call(match_id: &MatchId) -> Exchange {
    let call = LlmCall {
        prompt: vec![Message::new(Role::System, SECRETS[0])],
        thinking: Some(SECRETS[1].to_owned()),
        reply: Some("{\"move\": \"odd\"}".to_owned()),
        began_after: Duration::from_millis(2),
        ..LlmCall::default()
    };
    call.into_exchange(&CallPlace {
        player: "P01".into(),
        match_id: match_id.clone(),
        conversation_id: ConversationId::new("conv-r1m1-001"),
        turn: Some(1),
        asked_at: Timestamp::from_micros(1),
    })
}

fn records(match_id: &MatchId) -> MatchRecords {
    let call = call(match_id);
    let of_seat = Exchange {
        agent: "P02".into(),
        message_type: UntrustedText::new_static("make_move"),
        request: r#"{"tool":"make_move","arguments":{"choice":"even","reasoning":"It is free."}}"#
            .into(),
        ..call.clone()
    };
    MatchRecords {
        logs: LogSet::of(Vec::new()).unwrap(),
        exchanges: vec![call, of_seat],
        errors: Vec::new(),
    }
}

fn shown(snapshot: &Snapshot, access: Access) -> Value {
    let matches = &snapshot.projection.league.matches;
    let decided = matches.iter().find(|(_, game)| game.decision.is_some());
    let (id, _) = decided.unwrap();
    value(one_match::page(
        snapshot,
        id,
        Some(&records(id)),
        access,
        "league.db",
    ))
}

#[test]
fn an_opponent_reads_what_a_model_thinks_when_the_league_is_over() {
    let running = when(|league| {
        let decided = league.matches.values().any(|game| game.decision.is_some());
        league.phase == Phase::Running && decided
    });
    let page = shown(&running, Access::PUBLIC);
    for secret in SECRETS {
        assert!(!page.to_string().contains(secret), "{page}");
    }
    assert!(page["model_calls_withheld"].is_string(), "{page}");
    for page in [
        shown(&running, Access::OPERATOR),
        shown(&whole(), Access::PUBLIC),
    ] {
        for secret in SECRETS {
            assert!(page.to_string().contains(secret), "{page}");
        }
        assert!(page.get("model_calls_withheld").is_none(), "{page}");
        assert_eq!(page["model_calls"].as_array().unwrap().len(), 2, "{page}");
        assert_eq!(page["messages"].as_array().unwrap().len(), 2, "{page}");
    }
}
