//! Who may use the seats: those who show a token, as a bearer or in the path. The others get 403: at a 401 clients of the Model
//! Context Protocol look for an authorization server, of which there is none, and do not show what the refusal says.

use hyper::StatusCode;
use hyper::header::HeaderMap;
use hyper::http::Extensions;
use hyper::http::request::Parts;
use matchday_core::protocol::Token;
use matchday_core::protocol::jsonrpc::Fault;
use matchday_core::protocol::token::TokenHash;
use matchday_net::bearer::bearer;
use matchday_net::response::json;
use matchday_net::server::HttpResponse;
use matchday_runtime::{JoinCode, rpc_error};
use serde::{Deserialize, Serialize};

/// The token that a client must show.
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
    /// The refusal of a request, if it must be refused.
    pub(super) fn refusal(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Option<HttpResponse> {
        let token = shown(headers, extensions);
        let admitted = match (self, &token) {
            (Self::Off, _) => true,
            (Self::Code(code), Some(token)) => code.admits(token),
            (Self::JoinCode, Some(token)) => token.is_join_code(),
            (_, None) => false,
        };
        if admitted {
            return None;
        }
        let why = match token {
            None => {
                "show the join code that the operator gave you as Authorization: Bearer CODE, or in the address: \
                 /join/CODE/mcp"
            }
            Some(_) => "this is not the code that the operator gave out for seats",
        };
        let refusal = rpc_error(Fault::InvalidRequest, why);
        Some(json(StatusCode::FORBIDDEN, refusal))
    }

    /// The join code of the league that a request shows. The code of the seats is none.
    pub(super) fn join_code(&self, head: &Parts) -> Option<Token> {
        match self {
            Self::Off => JoinCode::of(&head.extensions),
            Self::Code(_) => None,
            Self::JoinCode => shown(&head.headers, &head.extensions).filter(Token::is_join_code),
        }
    }
}

/// The code in the path of a request, or its bearer token.
fn shown(headers: &HeaderMap, extensions: &Extensions) -> Option<Token> {
    JoinCode::of(extensions).or_else(|| bearer(headers).map(Token::new))
}
