//! Classifies requests to the shared path as MCP or league messages, by their headers and content.

use hyper::header::HeaderMap;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::request::{
    ReplyTo, Request, RequestContent, Requests, read_requests,
};
use matchday_core::protocol::jsonrpc::Id;
use matchday_runtime::surface::McpRequest;
use serde::Deserialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// The headers that only clients of the Model Context Protocol send.
const HEADERS: [&str; 4] = [
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
];
/// Where a request of the newer revisions names its revision.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The tool that a `tools/call` names.
pub(super) fn tool_name(body: &[u8]) -> Option<String> {
    let call: Peek = serde_json::from_slice(body).ok()?;
    call.params?.name
}

/// The request in a body at an address that speaks only MCP; `None` if it is not one message.
pub fn parse_request(body: &[u8]) -> Option<McpRequest> {
    #[derive(Deserialize)]
    struct Any {
        #[serde(default)]
        method: SmolStr,
    }
    let Any { method } = serde_json::from_slice(body).ok()?;
    let reply_to = match read_requests(body, &Limits::MANAGER) {
        Requests::One(request) => request.reply_to,
        Requests::Refused(_) => ReplyTo::Id(Id::Null),
        Requests::Batch(_) => return None,
    };
    Some(McpRequest { method, reply_to })
}

/// The MCP request in `body`, which was decoded as `requests`; `None` if it is a league message.
pub(super) fn classify(
    requests: &Requests,
    headers: &HeaderMap,
    body: &[u8],
) -> Option<McpRequest> {
    let by_header = HEADERS.iter().any(|name| headers.contains_key(*name));
    let reply_to = match requests {
        Requests::Batch(_) => return None,
        Requests::One(request) => match mcp_method(request) {
            Some(method) => {
                return Some(McpRequest {
                    method,
                    reply_to: request.reply_to.clone(),
                });
            }
            None => request.reply_to.clone(),
        },
        Requests::Refused(_) => ReplyTo::Id(Id::Null),
    };
    // `tools/call` and `ping` without these headers are league messages.
    let is_tools_call = matches!(
        requests,
        Requests::One(Request {
            dialect: Dialect::ToolsCall,
            ..
        })
    );
    if !by_header && !is_tools_call {
        return None;
    }
    let peek: Peek = serde_json::from_slice(body).ok()?;
    let is_modern = peek
        .params
        .is_some_and(|params| params.meta.contains_key(VERSION));
    let is_mcp = match peek.method.as_str() {
        "tools/call" => by_header || is_modern,
        "ping" => by_header,
        // An unknown method is refused in the protocol that it came in.
        _ => is_modern && matches!(requests, Requests::Refused(_)),
    };

    is_mcp.then(|| McpRequest {
        method: peek.method.into(),
        reply_to,
    })
}

/// The method, if the league does not have it. A `tools/call` may belong to either.
fn mcp_method(request: &Request) -> Option<SmolStr> {
    match &request.asked {
        RequestContent::Foreign { method } if request.dialect != Dialect::ToolsCall => {
            Some(method.as_deref().unwrap_or_default().into())
        }
        _ => None,
    }
}

#[derive(Deserialize)]
struct Peek {
    method: String,
    #[serde(default)]
    params: Option<PeekParams>,
}

#[derive(Deserialize)]
struct PeekParams {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn method(body: &Value, header: Option<&'static str>) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(name) = header {
            headers.insert(name, "x".parse().unwrap());
        }
        let body = body.to_string();
        let requests = read_requests(body.as_bytes(), &Limits::MANAGER);
        classify(&requests, &headers, body.as_bytes()).map(|meant| meant.method.to_string())
    }

    #[test]
    fn what_only_the_model_context_protocol_knows_is_its() {
        for name in [
            "initialize",
            "tools/list",
            "notifications/initialized",
            "server/discover",
            "no/such",
        ] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": {}});
            assert_eq!(method(&request, None).as_deref(), Some(name));
        }
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        assert_eq!(method(&response, None).as_deref(), Some(""));
    }

    #[test]
    fn what_the_league_knows_is_the_leagues_whatever_the_headers() {
        for request in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "get_standings"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "protocol/message", "params": {"message": {}}}),
            json!({"message_type": "LEAGUE_QUERY"}),
            json!([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]),
            json!({"jsonrpc": "2.0", "id": 1, "method": "nothing"}),
            json!(7),
        ] {
            for header in [None, Some("mcp-session-id")] {
                assert_eq!(method(&request, header), None, "{request}");
            }
        }
    }

    #[test]
    fn tools_and_pings_are_told_apart_by_their_headers() {
        let call = |params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let known = call(json!({"name": "get_standings", "arguments": {}}));
        let unfit = call(json!({"name": "get_player_stats", "arguments": {}}));
        let unknown = call(json!({"name": "nothing"}));
        for request in [&known, &unfit, &unknown, &ping] {
            assert_eq!(method(request, None), None, "{request}");
            for name in HEADERS {
                assert!(method(request, Some(name)).is_some(), "{request}");
            }
        }
        let says_so = call(
            json!({"name": "get_standings", "arguments": {}, "_meta": {VERSION: "2026-07-28"}}),
        );
        assert!(method(&says_so, None).is_some());
    }
}
