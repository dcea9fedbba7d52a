//! Who looks, and how much that one may see. Pure.

use hyper::header::{AUTHORIZATION, HeaderMap};
use matchday_core::league::Settings;
use matchday_core::protocol::Token;

/// How much is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sees {
    /// Whether by the operator's token.
    pub(crate) operator: bool,
    /// Whether matches that are not decided are told of beyond their state.
    pub(crate) undecided: bool,
}

impl Sees {
    pub(crate) const PUBLIC: Self = Self { operator: false, undecided: false };
    pub(crate) const OPERATOR: Self = Self { operator: true, undecided: true };

    /// Whether addresses of agents are shown.
    pub(crate) fn endpoints(self) -> bool {
        self.operator
    }
}

/// What a request shows of the one who makes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// No token.
    Nothing,
    Right,
    Wrong(Token),
}

pub(super) fn shown(headers: &HeaderMap, settings: &Settings) -> Shown {
    match bearer(headers) {
        None => Shown::Nothing,
        Some(token) if settings.operator_token.is_some_and(|kept| kept.admits(&token)) => Shown::Right,
        Some(token) => Shown::Wrong(token),
    }
}

/// The token of `Authorization: Bearer TOKEN`. Whatever else stands there is no token.
pub(super) fn bearer(headers: &HeaderMap) -> Option<Token> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| Token::new(token))
}
