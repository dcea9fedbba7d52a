//! A join code in the path of a request, so that an agent can show it without being changed: `/join/CODE/mcp` is `/mcp`,
//! with the code attached to registrations.

use hyper::http::Extensions;
use hyper::{Request, Uri};
use matchday_core::protocol::Token;

/// The join code of a request, once it is out of its path.
#[derive(Debug, Clone)]
pub struct JoinCode(Token);

impl JoinCode {
    /// The code in the path of a request.
    pub fn of_path(code: &str) -> Self {
        Self(Token::new(code))
    }

    /// Takes the code out of the path: paths may be logged, codes may not.
    pub fn attach_to<B>(self, request: &mut Request<B>) {
        *request.uri_mut() = Uri::from_static("/mcp");
        request.extensions_mut().insert(self);
    }

    pub fn of(extensions: &Extensions) -> Option<Token> {
        extensions.get::<Self>().map(|code| code.0.clone())
    }
}
