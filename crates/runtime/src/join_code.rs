//! A join code in the path of a request, so that an agent can show it without being changed: `/join/CODE/mcp` is `/mcp`,
//! with the code attached to registrations.

use hyper::http::Extensions;
use hyper::{Request, Uri};
use matchday_core::protocol::Token;

const JOIN: &str = "/join/";

/// The join code of a request, once it is out of its path: paths may be logged, codes may not.
#[derive(Debug, Clone)]
pub struct JoinCode(Token);

impl JoinCode {
    pub(super) fn is_in(uri: &Uri) -> bool {
        uri.path().starts_with(JOIN)
    }

    /// Leaves the path as it is if it is not `/join/CODE/mcp`.
    pub(super) fn take_out_of<B>(request: &mut Request<B>) {
        let parts = request.uri().path().strip_prefix(JOIN).and_then(|rest| rest.split_once('/'));
        if let Some((code, "mcp")) = parts.filter(|(code, _)| !code.is_empty()) {
            let code = Self(Token::new(code));
            *request.uri_mut() = Uri::from_static("/mcp");
            request.extensions_mut().insert(code);
        }
    }

    pub fn of(extensions: &Extensions) -> Option<Token> {
        extensions.get::<Self>().map(|code| code.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(path: &str) -> (String, Option<String>) {
        let mut request = Request::builder().uri(path).body(()).unwrap();
        JoinCode::take_out_of(&mut request);
        let code = JoinCode::of(request.extensions()).map(|code| code.reveal().to_owned());
        (request.uri().path().to_owned(), code)
    }

    #[test]
    fn the_code_is_taken_out_of_the_path() {
        assert_eq!(taken("/join/tok_join_12/mcp"), ("/mcp".into(), Some("tok_join_12".into())));
        for other in ["/join/mcp", "/join//mcp", "/join/a/b/mcp", "/join/a/", "/mcp"] {
            assert_eq!(taken(other), (other.into(), None));
        }
    }
}
