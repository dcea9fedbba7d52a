//! The address of a manager, as people give it: `host:port`, the URL of its dashboard, or that of its `/mcp`. Pure.

/// The URL to call. What is neither is left as it is, for the caller to complain about.
pub(crate) fn manager_url(given: &str) -> String {
    let given = given.trim();
    let with_scheme = match (given.contains("://"), given.contains(':')) {
        (true, _) => given.to_owned(),
        (false, true) => format!("http://{given}"),
        // A host without a port is nobody's address.
        (false, false) => return given.to_owned(),
    };
    // The dashboard keeps its page in the fragment.
    let url = with_scheme.split('#').next().unwrap_or_default();
    let (origin, path) = match url.split_once("://").and_then(|(_, rest)| rest.find('/')) {
        Some(slash) => url.split_at(url.find("://").map_or(0, |at| at + 3) + slash),
        None => (url, ""),
    };
    let path = path.trim_end_matches('/');
    let is_league = path
        .strip_prefix("/leagues/")
        .is_some_and(|id| !id.is_empty() && !id.contains('/'));
    match path {
        "" => format!("{origin}/mcp"),
        path if is_league => format!("{origin}{path}/mcp"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_the_dashboard_and_the_endpoint_are_the_same_manager() {
        for given in [
            "localhost:8000",
            "http://localhost:8000",
            "http://localhost:8000/",
            "http://localhost:8000/#/players/P01",
            "http://localhost:8000/mcp",
        ] {
            assert_eq!(manager_url(given), "http://localhost:8000/mcp", "{given}");
        }
        assert_eq!(
            manager_url("https://a.org/leagues/spring/"),
            "https://a.org/leagues/spring/mcp"
        );
        assert_eq!(
            manager_url("https://a.org/leagues/spring/#/rounds/2"),
            "https://a.org/leagues/spring/mcp"
        );
        assert_eq!(
            manager_url("http://a.org/other/endpoint"),
            "http://a.org/other/endpoint"
        );
    }
}
