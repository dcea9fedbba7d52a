//! What peers send us, in every form in which they send it, and what we make of it.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::reply::HttpReply;
use matchday_core::protocol::dialect::request::{
    ReplyTo, Request, RequestContent, Requests, read_requests,
};
use matchday_core::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use matchday_core::protocol::message::MessageType;
use matchday_core::protocol::{Query, QueryParams, QueryRequest};
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 20,
};

fn read(body: &Value) -> Requests {
    // What is read borrows from the body; a test can afford to keep it for ever.
    read_requests(body.to_string().leak().as_bytes(), &LIMITS)
}

fn one(body: &Value) -> Request {
    match read(body) {
        Requests::One(request) => request,
        other => panic!("{body} should be one request, is {other:?}"),
    }
}

fn refused(body: &[u8]) -> (u16, Value) {
    match read_requests(body, &LIMITS) {
        Requests::Refused(HttpReply { status, body }) => {
            (status, serde_json::from_slice(&body).unwrap_or_default())
        }
        other => panic!(
            "{:?} should be refused, is {other:?}",
            body.escape_ascii().to_string()
        ),
    }
}

fn code_of(body: &Value) -> Value {
    refused(body.to_string().as_bytes()).1["error"]["code"].clone()
}

fn call(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn explicit(value: Value) -> RequestContent {
    RequestContent::Message {
        value: value.into(),
        type_implied: false,
    }
}

#[test]
fn the_message_is_found_and_the_dialect_named() {
    let invitation = json!({ "message_type": "GAME_INVITATION", "match_id": "R1M1" });
    let wrapped = json!({ "message": invitation });
    for (method, params, dialect) in [
        ("handle_game_invitation", &invitation, Dialect::Standard),
        ("GAME_INVITATION", &invitation, Dialect::TypeAsMethod),
        ("game_invitation", &invitation, Dialect::LowerTypeAsMethod),
        ("Game_Invitation", &invitation, Dialect::LowerTypeAsMethod),
        ("choose_parity", &invitation, Dialect::Standard),
        ("no/such.method at all", &invitation, Dialect::Standard),
        ("", &invitation, Dialect::Standard),
        ("ping", &invitation, Dialect::Standard),
        ("handle_message", &wrapped, Dialect::HandleMessage),
        ("mcp_message", &wrapped, Dialect::McpMessage),
        ("protocol/message", &wrapped, Dialect::ProtocolMessage),
        ("something_else", &wrapped, Dialect::HandleMessage),
        ("handle_message", &invitation, Dialect::HandleMessage),
    ] {
        let request = one(&call(method, params));
        assert_eq!(request.asked, explicit(invitation.clone()), "{method}");
        assert_eq!(request.dialect, dialect, "{method}");
        assert_eq!(request.reply_to, ReplyTo::Id(1.into()), "{method}");
    }
}

#[test]
fn a_bare_message_is_answered_bare_even_if_it_has_an_id_of_its_own() {
    for message in [
        json!({ "message_type": "LEAGUE_QUERY" }),
        json!({ "message_type": "LEAGUE_QUERY", "id": [1] }),
        json!({ "message_type": 7 }),
    ] {
        let expected = Request {
            reply_to: ReplyTo::Body,
            dialect: Dialect::Bare,
            asked: explicit(message.clone()),
        };
        assert_eq!(one(&message), expected);
    }
}

#[test]
fn a_league_message_excuses_a_slip_in_json_rpc() {
    let params = json!({ "message_type": "GAME_OVER" });
    for body in [
        json!({ "id": 1, "method": "notify_match_result", "params": params }),
        json!({ "id": 1, "jsonrpc": "1.0", "method": "notify_match_result", "params": params }),
        json!({ "id": 1, "jsonrpc": 2.0, "method": "notify_match_result", "params": params }),
        json!({ "id": 1, "jsonrpc": "2.0", "params": params }),
        json!({ "id": 1, "jsonrpc": "2.0", "method": null, "params": params }),
    ] {
        assert_eq!(one(&body).asked, explicit(params.clone()), "{body}");
    }
    let wrapped = json!({ "id": 1, "method": "handle_message", "params": { "message": params } });
    assert_eq!(one(&wrapped).asked, explicit(params));
}

#[test]
fn without_a_league_message_it_does_not() {
    for body in [
        json!({ "id": 1, "method": "ping" }),
        json!({ "id": 1, "jsonrpc": "1.0", "method": "ping" }),
        json!({ "id": 1, "method": "register_player", "params": { "player_meta": {} } }),
        json!({ "jsonrpc": "2.0", "id": 1 }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": ["ping"] }),
        json!({ "jsonrpc": "2.0", "id": 1, "message_type": "GAME_OVER" }),
        json!({}),
    ] {
        assert_eq!(code_of(&body), -32600, "{body}");
    }
}

#[test]
fn a_method_implies_the_type_that_a_message_leaves_out() {
    let aliases = [
        ("parity_choose", MessageType::ChooseParityCall),
        ("start_match", MessageType::MatchAssignment),
        ("assign_match", MessageType::MatchAssignment),
        ("GAME_INVITATION", MessageType::GameInvitation),
        ("game_invitation", MessageType::GameInvitation),
    ];
    let standard = MessageType::ALL.iter().map(|kind| (kind.method(), *kind));
    for (method, kind) in standard.chain(aliases) {
        for params in [
            json!({ "league_id": "L" }),
            json!({ "league_id": "L", "message_type": null }),
        ] {
            let expected = RequestContent::Message {
                value: json!({ "league_id": "L", "message_type": kind.name() }).into(),
                type_implied: true,
            };
            assert_eq!(one(&call(method, &params)).asked, expected, "{method}");
        }
    }
}

#[test]
fn a_wrapped_message_without_a_type_is_left_to_the_reader_of_messages() {
    let params = json!({ "message": { "match_id": "R1M1" } });
    let asked = one(&call("handle_message", &params)).asked;
    assert_eq!(asked, explicit(json!({ "match_id": "R1M1" })));
    assert_eq!(
        one(&call("handle_message", &json!({}))).asked,
        explicit(json!({}))
    );
}

#[test]
fn questions_that_are_no_messages_are_known() {
    let plain = QueryRequest::from;
    let with = |query, league_id, params| QueryRequest {
        query,
        params,
        league_id,
    };
    let none = QueryParams::default;
    for (method, params, asked) in [
        ("get_standings", json!({}), plain(Query::Standings)),
        (
            "get_standings",
            json!({ "league_id": "any", "detail": true }),
            with(
                Query::Standings,
                Some(LeagueId::new("any")),
                QueryParams {
                    detail: Some(true),
                    ..none()
                },
            ),
        ),
        ("get_schedule", json!({}), plain(Query::Schedule)),
        (
            "get_schedule",
            json!({ "round_id": 2 }),
            with(
                Query::Schedule,
                None,
                QueryParams {
                    round_id: Some(RoundId(2)),
                    ..none()
                },
            ),
        ),
        ("get_status", json!({}), plain(Query::Status)),
        ("get_referees", json!({}), plain(Query::Referees)),
        ("get_games", json!({}), plain(Query::Games)),
        (
            "get_games",
            json!({ "game_type": "nim" }),
            with(
                Query::Games,
                None,
                QueryParams {
                    game_type: Some(GameType::new("nim")),
                    ..none()
                },
            ),
        ),
        (
            "get_player_stats",
            json!({ "player_id": "P01" }),
            with(
                Query::PlayerStats,
                None,
                QueryParams {
                    player_id: Some(PlayerId::new("P01")),
                    ..none()
                },
            ),
        ),
        ("get_match_state", json!({}), plain(Query::MatchState)),
        (
            "get_match_state",
            json!({ "match_id": null }),
            plain(Query::MatchState),
        ),
        (
            "get_match_state",
            json!({ "match_id": "R1M1" }),
            with(
                Query::MatchState,
                None,
                QueryParams {
                    match_id: Some(MatchId::new("R1M1")),
                    ..none()
                },
            ),
        ),
        ("get_player_state", json!({}), plain(Query::PlayerState)),
        ("ping", json!({}), plain(Query::Ping)),
    ] {
        let asked = RequestContent::Query(asked);
        let request = one(&call(method, &params));
        assert_eq!(
            (request.dialect, request.asked),
            (Dialect::Standard, asked.clone()),
            "{method}"
        );

        let tool = json!({ "name": method, "arguments": params });
        let request = one(&call("tools/call", &tool));
        assert_eq!(
            (request.dialect, request.asked),
            (Dialect::ToolsCall, asked),
            "{method}"
        );
    }
    let without_params = json!({ "jsonrpc": "2.0", "id": 1, "method": "get_standings" });
    assert_eq!(
        one(&without_params).asked,
        RequestContent::Query(Query::Standings.into())
    );
    assert_eq!(
        code_of(&call("get_match_state", &json!({ "match_id": 5 }))),
        -32602
    );
}

#[test]
fn tools_call_is_ours_if_the_tool_or_the_message_is() {
    let message = json!({ "message_type": "GAME_OVER" });
    let implied = RequestContent::Message {
        value: json!({ "league_id": "L", "message_type": "LEAGUE_QUERY" }).into(),
        type_implied: true,
    };
    for (params, asked) in [
        (
            json!({ "name": "anything", "arguments": message }),
            explicit(message.clone()),
        ),
        (json!({ "arguments": message }), explicit(message.clone())),
        (
            json!({ "name": "league_query", "arguments": { "league_id": "L" } }),
            implied,
        ),
        (
            json!({ "name": "handle_message", "arguments": { "message": message } }),
            explicit(message.clone()),
        ),
    ] {
        let request = one(&call("tools/call", &params));
        assert_eq!(
            (request.dialect, request.asked),
            (Dialect::ToolsCall, asked),
            "{params}"
        );
    }
}

#[test]
fn the_rest_of_the_model_context_protocol_is_left_to_others() {
    for (method, params) in [
        ("initialize", json!({ "protocolVersion": "2025-11-25" })),
        ("tools/list", json!({})),
        ("tools/list", json!([])),
        ("resources/read", json!({ "uri": "x" })),
        ("tools/call", json!({ "name": "weather", "arguments": {} })),
        ("tools/call", json!({ "name": "weather" })),
        (
            "tools/call",
            json!({ "name": "tools/list", "arguments": [] }),
        ),
        ("notifications/initialized", json!({})),
    ] {
        let expected = RequestContent::Foreign {
            method: Some(method.to_owned()),
        };
        assert_eq!(
            one(&call(method, &params)).asked,
            expected,
            "{method} {params}"
        );
    }
    let response = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    assert_eq!(
        one(&response).asked,
        RequestContent::Foreign { method: None }
    );
}

#[test]
fn only_an_absent_id_makes_a_notification() {
    let silent = json!({ "jsonrpc": "2.0", "method": "notify_round", "params": { "message_type": "ROUND_ANNOUNCEMENT" } });
    assert_eq!(one(&silent).reply_to, ReplyTo::Nobody);
    let mut spoken = silent.clone();
    spoken["id"] = Value::Null;
    assert_eq!(
        one(&spoken).reply_to,
        ReplyTo::Id(matchday_core::protocol::jsonrpc::Id::Null)
    );
}

#[test]
fn params_are_named_or_nothing() {
    for params in [
        json!([]),
        json!([1]),
        json!("x"),
        json!(1),
        json!(true),
        json!(null),
    ] {
        assert_eq!(code_of(&call("league_query", &params)), -32602, "{params}");
    }
}

#[test]
fn a_batch_keeps_its_order_and_may_mix_dialects() {
    let bare = json!({ "message_type": "LEAGUE_QUERY" });
    let Requests::Batch(requests) = read(&json!([call("ping", &json!({})), 5, bare])) else {
        panic!("a batch was sent");
    };
    let dialects: Vec<_> = requests
        .iter()
        .map(|request| request.as_ref().ok().map(|request| request.dialect))
        .collect();
    assert_eq!(
        dialects,
        [Some(Dialect::Standard), None, Some(Dialect::Bare)]
    );
}

#[test]
fn a_batch_has_a_limit() {
    let requests = vec![call("ping", &json!({})); 21];
    assert_eq!(code_of(&json!(requests)), -32600);
    assert!(matches!(read(&json!(requests[..20])), Requests::Batch(_)));
}

#[test]
fn an_over_size_body_is_refused_as_e002_with_http_413() {
    let fits = format!(
        "{:<1$}",
        call("ping", &json!({})).to_string(),
        LIMITS.message_bytes_max
    );
    assert!(matches!(
        read_requests(fits.as_bytes(), &LIMITS),
        Requests::One(_)
    ));

    let (status, body) = refused(format!("{fits} ").as_bytes());
    assert_eq!(status, 413);
    assert_eq!(body["id"], Value::Null);
    assert_eq!(body["error"]["data"]["error_code"], "E002");
    assert_eq!(
        body["error"]["data"]["error_name"],
        "INVALID_MESSAGE_FORMAT"
    );
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    let bodies: [&[u8]; 9] = [
        b"",
        b"   ",
        b"hello",
        b"{\"a\":1",
        b"{'a':1}",
        b"{} {}",
        b"\xff\xfe",
        b"{\"method\":\"\xc3\x28\"}",
        b"[{\"id\":1e999}]",
    ];
    for body in bodies {
        let (status, reply) = refused(body);
        assert_eq!(
            (status, &reply["error"]["code"]),
            (200, &json!(-32700)),
            "{}",
            body.escape_ascii()
        );
        assert_eq!(reply["id"], Value::Null);
    }
}

#[test]
fn a_scalar_is_no_request() {
    for body in [json!(1), json!("ping"), json!(null), json!(true)] {
        assert_eq!(code_of(&body), -32600, "{body}");
    }
}

#[test]
fn nesting_however_deep_is_refused_and_not_followed() {
    const DEPTH: usize = 100_000;
    let roomy = Limits {
        message_bytes_max: usize::MAX,
        array_len_max: usize::MAX,
    };
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"id\":", "}]")] {
        let whole = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        let inside = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":{whole}}}");
        for body in [&whole, &inside, &open.repeat(DEPTH)] {
            let Requests::Refused(reply) = read_requests(body.as_bytes(), &roomy) else {
                panic!("nesting with {open} should be refused");
            };
            let reply: Value = serde_json::from_slice(&reply.body).unwrap();
            assert_eq!(reply["error"]["code"], -32700, "{open}");
        }
    }
}

#[test]
fn of_a_key_that_stands_twice_the_last_counts() {
    let body = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"ping"}"#;
    let Requests::One(request) = read_requests(body.as_bytes(), &LIMITS) else {
        panic!("one request was sent");
    };
    assert_eq!(
        (request.reply_to, request.asked),
        (
            ReplyTo::Id(2.into()),
            RequestContent::Query(Query::Ping.into())
        )
    );
}
