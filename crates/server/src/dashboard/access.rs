//! The access level of a request, and the bearer token that grants it. Pure.

use hyper::header::HeaderMap;
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::Token;
use matchday_net::bearer::bearer;

/// What a request may see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Whether the request has the operator's token.
    pub operator: bool,
    /// Whether matches that are not decided are shown beyond their state.
    pub undecided: bool,
    /// Whether a solver speaks of matches that are being played: where every player is of this process. Any other would ask it too.
    pub solver: bool,
}

impl Access {
    pub const PUBLIC: Self = Self {
        operator: false,
        undecided: false,
        solver: false,
    };
    pub const OPERATOR: Self = Self {
        operator: true,
        undecided: true,
        solver: false,
    };

    /// Whether errors say where a store is: to the operator, and to a page that is served to its own machine only.
    pub fn knows_stores(self) -> bool {
        self.undecided
    }

    /// Whether addresses of agents are shown.
    pub fn endpoints(self) -> bool {
        self.operator
    }
}

/// The token of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Credential {
    Missing,
    /// The operator's token.
    Valid,
    Invalid(Token),
}

pub(super) fn credential(headers: &HeaderMap, settings: &LeagueSettings) -> Credential {
    match bearer(headers).map(Token::new) {
        None => Credential::Missing,
        Some(token)
            if settings
                .operator_token
                .is_some_and(|operator| operator.admits(&token)) =>
        {
            Credential::Valid
        }
        Some(token) => Credential::Invalid(token),
    }
}
