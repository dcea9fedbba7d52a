//! Finds the row of a request. A path is matched as it was sent: nothing is decoded, and no segment may be empty.

use super::{Part, ROUTES, Route};
use hyper::header::{ALLOW, HeaderValue};
use hyper::{Method, StatusCode};
use matchday_net::response::json;
use matchday_net::server::HttpResponse;
use std::sync::LazyLock;

/// A row, with what its path names.
#[derive(Debug, Clone)]
pub struct Matched {
    pub route: &'static Route,
    values: Vec<String>,
}

impl Matched {
    /// What stands for a placeholder of the path, in the order of the path; empty if there is none.
    pub fn value(&self, place: usize) -> &str {
        self.values.get(place).map_or("", String::as_str)
    }
}

/// What the table says of a method and a path.
#[derive(Debug, Clone)]
pub enum Located {
    Found(Matched),
    /// The path takes these methods.
    OtherMethods(String),
    Unknown,
}

impl Located {
    /// The row, or the refusal of a request that has none.
    pub fn found(self) -> Result<Matched, HttpResponse> {
        match self {
            Self::Found(matched) => Ok(matched),
            Self::OtherMethods(methods) => {
                let why = format!("this address accepts only {methods}");
                let mut answer = refusal(StatusCode::METHOD_NOT_ALLOWED, &why);
                if let Ok(methods) = HeaderValue::from_str(&methods) {
                    answer.headers_mut().insert(ALLOW, methods);
                }
                Err(answer)
            }
            Self::Unknown => Err(refusal(
                StatusCode::NOT_FOUND,
                "there is nothing at this address",
            )),
        }
    }
}

fn refusal(status: StatusCode, why: &str) -> HttpResponse {
    json(
        status,
        serde_json::json!({ "error": why }).to_string().into_bytes(),
    )
}

/// The rows of some parts of the program.
pub struct RouteTable(matchit::Router<Vec<&'static Route>>);

impl std::fmt::Debug for RouteTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RouteTable")
    }
}

static OF_AGENTS: LazyLock<RouteTable> = LazyLock::new(|| {
    RouteTable::of(|route| !matches!(route.target.part(), Part::Service | Part::Root))
});
static OF_SERVICES: LazyLock<RouteTable> =
    LazyLock::new(|| RouteTable::of(|route| route.target.part() == Part::Service));
static OF_ROOT: LazyLock<RouteTable> =
    LazyLock::new(|| RouteTable::of(|route| route.target.part() == Part::Root));

impl RouteTable {
    /// What is at the address of an agent.
    pub fn of_agents() -> &'static Self {
        &OF_AGENTS
    }

    /// What is at the root of a service.
    pub fn of_services() -> &'static Self {
        &OF_SERVICES
    }

    /// What is at the root of a service that has not exactly one league, besides.
    pub fn of_root() -> &'static Self {
        &OF_ROOT
    }

    fn of(includes: impl Fn(&Route) -> bool) -> Self {
        let mut router = matchit::Router::<Vec<&'static Route>>::new();
        let mut paths: Vec<(&str, Vec<&'static Route>)> = Vec::new();
        for route in ROUTES.iter().filter(|route| includes(route)) {
            match paths.iter_mut().find(|(path, _)| *path == route.path) {
                Some((_, rows)) => rows.push(route),
                None => paths.push((route.path, vec![route])),
            }
        }
        for (path, rows) in paths {
            // Only a table that contradicts itself is refused, which a test of the table finds.
            if router.insert(path, rows).is_err() {
                debug_assert!(false, "{path} cannot be told from another path");
            }
        }
        Self(router)
    }

    /// The row of a request, among those of the parts that the listener `has`.
    pub fn locate(&self, method: &Method, path: &str, has: impl Fn(Part) -> bool) -> Located {
        let Ok(matchit::Match {
            value: rows,
            params,
        }) = self.0.at(path)
        else {
            return Located::Unknown;
        };
        let rows = || rows.iter().filter(|route| has(route.target.part()));
        let takes = |route: &Route| {
            route.method == *method || *method == Method::HEAD && route.method == Method::GET
        };
        match rows().find(|route| takes(route)) {
            Some(route) => Located::Found(Matched {
                route,
                values: params.iter().map(|(_, value)| value.to_owned()).collect(),
            }),
            None if rows().next().is_none() => Located::Unknown,
            None => {
                let methods: Vec<&str> = rows().map(|route| route.method.as_str()).collect();
                Located::OtherMethods(methods.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AgentRoute, DashboardRoute, RelayRoute, ServiceRoute, Target};
    use super::*;

    fn located(table: &RouteTable, method: Method, path: &str) -> Located {
        table.locate(&method, path, |_| true)
    }

    fn target(table: &RouteTable, path: &str) -> Option<Target> {
        match located(table, Method::GET, path) {
            Located::Found(matched) => Some(matched.route.target),
            _ => None,
        }
    }

    #[test]
    fn every_row_is_found_by_its_own_path() {
        for route in ROUTES {
            let table = match route.target.part() {
                Part::Service => RouteTable::of_services(),
                Part::Root => RouteTable::of_root(),
                _ => RouteTable::of_agents(),
            };
            let path = route.path.replace(['{', '}', '*'], "");
            let Located::Found(matched) = located(table, route.method.clone(), &path) else {
                panic!("{} {}", route.method, route.path);
            };
            assert_eq!(
                matched.route.target, route.target,
                "{} {}",
                route.method, route.path
            );
            assert_eq!(matched.values.len(), route.path.matches('{').count());
        }
    }

    #[test]
    fn a_path_that_differs_in_a_letter_leads_nowhere() {
        for path in [
            "",
            "//",
            "/mcp/",
            "//mcp",
            "/MCP",
            "/./mcp",
            "/x/../mcp",
            "/%6dcp",
            "/relay/",
            "/relay//mcp",
            "/relay/a",
            "/relay/a/metrics",
            "/relays/a/mcp",
            "/join//mcp",
            "/join/a/b/mcp",
            "/seats//mcp",
            "/cluster/record",
            "/cluster/leagues/a/delete",
            "/api",
            "/api/",
            "/api/players/",
            "/assets/a/b",
        ] {
            for table in [
                RouteTable::of_agents(),
                RouteTable::of_services(),
                RouteTable::of_root(),
            ] {
                assert!(
                    matches!(located(table, Method::POST, path), Located::Unknown),
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn what_a_listener_has_not_is_not_there() {
        let agents = RouteTable::of_agents();
        assert_eq!(
            target(agents, "/relay"),
            Some(Target::Relay(RelayRoute::List))
        );
        let located = agents.locate(&Method::GET, "/relay", |part| part == Part::Agent);
        assert!(matches!(located, Located::Unknown));
    }

    #[test]
    fn the_fixed_path_goes_before_the_placeholder() {
        let services = RouteTable::of_services();
        let import = located(services, Method::POST, "/api/leagues/import");
        let Located::Found(matched) = import else {
            panic!("{import:?}")
        };
        assert_eq!(
            matched.route.target,
            Target::Service(ServiceRoute::ImportLeague)
        );
    }

    #[test]
    fn another_method_is_told_the_right_ones() {
        let Located::OtherMethods(methods) = located(RouteTable::of_agents(), Method::PUT, "/mcp")
        else {
            panic!()
        };
        assert_eq!(methods, "POST, GET, DELETE");
    }

    #[test]
    fn head_is_taken_where_get_is() {
        let found = located(RouteTable::of_agents(), Method::HEAD, "/api/players/P01");
        let Located::Found(matched) = found else {
            panic!("{found:?}")
        };
        assert_eq!(
            matched.route.target,
            Target::Dashboard(DashboardRoute::Player)
        );
        assert_eq!(matched.value(0), "P01");
        let not_found = target(RouteTable::of_agents(), "/health/live");
        assert_eq!(not_found, Some(Target::Agent(AgentRoute::Live)));
    }
}
