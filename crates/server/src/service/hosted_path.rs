//! The paths of agents that a service hosts beneath a league's address.

/// Whether this is exactly the path of an agent that a service hosts beneath a league's address.
pub fn is_hosted_path(path: &str) -> bool {
    let beneath = path.strip_prefix("/leagues/").and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
    let number = beneath.and_then(|rest| {
        let rest = rest.strip_prefix("referees/").or_else(|| rest.strip_prefix("seats/"))?;
        rest.strip_suffix("/mcp")
    });
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_hosted_path;

    #[test]
    fn only_agents_that_the_service_hosts_may_be_called_at_its_own_address() {
        for path in ["/leagues/spring/referees/1/mcp", "/leagues/spring/seats/12/mcp"] {
            assert!(is_hosted_path(path), "{path}");
        }
        for path in [
            "/leagues/spring/mcp",
            "/leagues/spring/referees/1/../../mcp",
            "/leagues/spring/referees//mcp",
            "/leagues/spring/referees/1x/mcp",
            "/leagues/../referees/1/mcp/..",
            "/api/leagues",
            "/referees/1/mcp",
        ] {
            assert!(!is_hosted_path(path), "{path}");
        }
    }
}
