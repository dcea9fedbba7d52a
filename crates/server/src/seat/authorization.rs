//! Who may use the seats: a bearer token, and the metadata by which clients of the Model Context Protocol learn that (RFC 9728).

use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use matchday_core::protocol::jsonrpc::Fault;
use matchday_core::protocol::token::TokenHash;
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::bearer::bearer;
use matchday_net::response::json;
use matchday_net::server::HttpResponse;
use matchday_runtime::rpc_error;
use serde::{Deserialize, Serialize};
use serde_json::json;

const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The bearer token that a client must show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authorization {
    /// None.
    #[default]
    Off,
    /// This one.
    Code(TokenHash),
    /// A join code of the league. The manager verifies it when its holder registers; without that there is no seat.
    JoinCode,
}

impl Authorization {
    /// The refusal of a request, if it must be refused. `resource`: the URL of the seats.
    pub(super) fn refusal(&self, headers: &HeaderMap, resource: &Endpoint) -> Option<HttpResponse> {
        let token = bearer(headers).map(Token::new);
        let admitted = match (self, &token) {
            (Self::Off, _) => true,
            (Self::Code(code), Some(token)) => code.admits(token),
            (Self::JoinCode, Some(token)) => token.is_join_code(),
            (_, None) => false,
        };
        if admitted {
            return None;
        }
        let metadata = format!("{}{METADATA}/mcp", base(resource));
        let (error, why) = match token {
            None => (
                "",
                "show the join code that the operator gave you as Authorization: Bearer CODE",
            ),
            Some(_) => (
                ", error=\"invalid_token\"",
                "this is not the code that the operator gave out for seats",
            ),
        };
        let mut response = json(
            StatusCode::UNAUTHORIZED,
            rpc_error(Fault::InvalidRequest, why),
        );
        if let Ok(challenge) =
            HeaderValue::from_str(&format!("Bearer resource_metadata=\"{metadata}\"{error}"))
        {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        Some(response)
    }

    /// The join code in the headers of a request, if it is one of the league.
    pub(super) fn join_code(&self, headers: &HeaderMap) -> Option<Token> {
        bearer(headers)
            .map(Token::new)
            .filter(|token| *self == Self::JoinCode && token.is_join_code())
    }

    /// The metadata of the protected resource; `None` if no token is asked for.
    pub(super) fn metadata(&self, resource: &Endpoint) -> Option<HttpResponse> {
        let metadata = json!({
            "resource": resource.raw(),
            "resource_name": "Matchday: seats in a league",
            "bearer_methods_supported": ["header"],
        });
        (*self != Self::Off).then(|| json(StatusCode::OK, metadata.to_string().into_bytes()))
    }
}

fn base(resource: &Endpoint) -> &str {
    resource
        .raw()
        .strip_suffix("/mcp")
        .unwrap_or(resource.raw())
        .trim_end_matches('/')
}
