//! The paths under which seats are called: `/seats/NUMBER/mcp`.

use matchday_core::protocol::Endpoint;

pub(super) const SEATS: &str = "/seats/";

/// The URL at which the player of a seat is called.
pub(super) fn contact(home: &Endpoint, number: u32) -> String {
    let home = home.raw();
    let base = home.strip_suffix("/mcp").unwrap_or(home).trim_end_matches('/');
    format!("{base}{SEATS}{number}/mcp")
}

/// Whether this is exactly the path of a seat. The egress policy lets an agent call these paths at its own address, and no other.
pub fn is_seat_path(path: &str) -> bool {
    let number = path.strip_prefix(SEATS).and_then(|rest| rest.strip_suffix("/mcp"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_net::egress::{EgressError, EgressPolicy, Scopes, Target};

    #[test]
    fn a_path_that_is_not_to_the_letter_that_of_a_seat_leads_to_ourselves() {
        let policy = EgressPolicy {
            scopes: Scopes::ANY,
            listen: Some("127.0.0.1:8000".parse().unwrap()),
            own_path_allowed: Some(is_seat_path),
            ..EgressPolicy::default()
        };
        let check = |path: &str| {
            let target = Target { host: "127.0.0.1".to_owned(), port: 8000, path: path.to_owned() };
            policy.check(&target, "127.0.0.1".parse().unwrap())
        };
        assert_eq!(check("/seats/1/mcp"), Ok(()));
        for path in [
            "/seats/../mcp",
            "/seats/1/../../mcp",
            "/seats//mcp",
            "/seats/1//mcp",
            "/seats/%2e%2e/mcp",
            "/seats/1/mcp/../../../mcp",
            "/seats/1%2f..%2f..%2fmcp",
            "/seats/1x/mcp",
            "/seats/",
            "//seats/1/mcp",
            "/x/../mcp",
        ] {
            let checked = check(path);
            assert!(matches!(checked, Err(EgressError::SelfCall(_))), "{path}: {checked:?}");
        }
    }
}
