//! The check of `Host` and `Origin`, before anything else of a request: against DNS rebinding and cross-site requests.
//!
//! A web page can make a browser call any address that the browser's machine reaches, but cannot choose these two headers.

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{Request, StatusCode, Version};
use std::net::{IpAddr, SocketAddr};

const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What is accepted beyond what follows from the listening address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowlist {
    pub hosts: Vec<HostRule>,
    pub origins: Vec<OriginRule>,
}

/// An accepted `Host` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRule {
    Any,
    /// On this port, or on any.
    Named(String, Option<u16>),
}

/// An accepted `Origin` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginRule {
    Any,
    /// `null`, which browsers send for pages from files.
    Null,
    /// On this port, or on any.
    Site {
        scheme: String,
        host: String,
        port: Option<u16>,
    },
}

impl HostRule {
    /// `example.org`, `example.org:8000`, `[::1]`, `*`
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => Some(Self::Any),
            _ => parse_host(text).map(|(host, port)| Self::Named(host, port)),
        }
    }

    fn matches(&self, host: &str, port: Option<u16>) -> bool {
        match self {
            Self::Any => true,
            Self::Named(own, own_port) => {
                own == host && own_port.is_none_or(|own| Some(own) == port)
            }
        }
    }
}

impl OriginRule {
    /// `https://example.org`, `http://example.org:8000`, `http://example.org:*`, `null`, `*`
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => return Some(Self::Any),
            "null" => return Some(Self::Null),
            _ => {}
        }
        if let Some(site) = text.strip_suffix(":*") {
            let (scheme, host, _) = parse_origin(site)?;
            return Some(Self::Site {
                scheme,
                host,
                port: None,
            });
        }
        let (scheme, host, port) = parse_origin(text)?;
        Some(Self::Site {
            scheme,
            host,
            port: Some(port),
        })
    }

    fn matches(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Null => origin == "null",
            Self::Site { scheme, host, port } => {
                parse_origin(origin).is_some_and(|(its, name, at)| {
                    its == *scheme && name == *host && port.is_none_or(|port| port == at)
                })
            }
        }
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    #[error("the request must say in one Host header whom it is for")]
    MissingHost,
    #[error(
        "this agent does not accept the host name {0:?}: to allow it, start the agent with --allowed-hosts {0}"
    )]
    HostNotAllowed(String),
    #[error(
        "pages of {0:?} may not call this agent: to allow them, start the agent with --allowed-origins {0}"
    )]
    OriginNotAllowed(String),
}

impl OriginError {
    pub fn status(&self) -> StatusCode {
        match self {
            Self::MissingHost => StatusCode::BAD_REQUEST,
            Self::HostNotAllowed(_) | Self::OriginNotAllowed(_) => StatusCode::FORBIDDEN,
        }
    }
}

/// In the extensions of a request that another process of the same service has checked, and forwards.
#[derive(Debug, Clone, Copy)]
pub struct OriginChecked;

/// Checks requests to one listening address.
#[derive(Debug)]
pub struct OriginCheck {
    listen: SocketAddr,
    allowlist: Allowlist,
}

impl OriginCheck {
    pub fn new(listen: SocketAddr, allowlist: Allowlist) -> Self {
        Self { listen, allowlist }
    }

    /// By `Host`, `Origin` and the authority of the URI, so before anyone replaces the URI by another.
    pub fn check_request<B>(&self, request: &Request<B>) -> Result<(), OriginError> {
        if let Some(OriginChecked) = request.extensions().get::<OriginChecked>() {
            return Ok(());
        }
        let host = self.host(request)?;
        let mut origins = request.headers().get_all(ORIGIN).iter();
        match origins.next() {
            None => Ok(()),
            Some(origin) => match origin.to_str() {
                Ok(origin)
                    if origins.next().is_none() && self.allows_origin(origin, host.as_ref()) =>
                {
                    Ok(())
                }
                _ => Err(OriginError::OriginNotAllowed(shown(origin))),
            },
        }
    }

    /// The accepted host of the request; `None` for HTTP/1.0 without one.
    fn host<B>(&self, request: &Request<B>) -> Result<Option<Host>, OriginError> {
        let target = request.uri().authority();
        let mut hosts = request.headers().get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host,
            // No browser speaks HTTP/1.0.
            (None, _) if request.version() < Version::HTTP_11 && target.is_none() => {
                return Ok(None);
            }
            _ => return Err(OriginError::MissingHost),
        };
        let allowed =
            |text: &str| parse_host(text).filter(|(host, port)| self.allows_host(host, *port));
        let error = || OriginError::HostNotAllowed(shown(host));
        if let Some(target) = target
            && allowed(target.as_str()).is_none()
        {
            return Err(OriginError::HostNotAllowed(target.to_string()));
        }
        host.to_str()
            .ok()
            .and_then(allowed)
            .map(Some)
            .ok_or_else(error)
    }

    fn allows_host(&self, host: &str, port: Option<u16>) -> bool {
        let ip = host.parse::<IpAddr>().ok();
        // DNS rebinding needs a name: an IP address is safe, and on the wildcard address each may be ours.
        let is_address = |ip: IpAddr| ip == self.listen.ip() || self.listen.ip().is_unspecified();
        LOOPBACK_NAMES.contains(&host)
            || ip.is_some_and(is_address)
            || self
                .allowlist
                .hosts
                .iter()
                .any(|rule| rule.matches(host, port))
    }

    /// Our own pages, those of this machine if we listen on loopback, and those of the allowlist.
    fn allows_origin(&self, origin: &str, host: Option<&Host>) -> bool {
        let is_ours = |(scheme, name, port): &(String, String, u16)| {
            let own =
                host.map(|(name, port)| (name.as_str(), port.unwrap_or(default_port(scheme))));
            let local = self.listen.ip().is_loopback() && LOOPBACK_NAMES.contains(&name.as_str());
            local || own == Some((name.as_str(), *port))
        };
        parse_origin(origin).as_ref().is_some_and(is_ours)
            || self
                .allowlist
                .origins
                .iter()
                .any(|rule| rule.matches(origin))
    }
}

type Host = (String, Option<u16>);

/// A host and its port, in lower case and without the brackets of an IPv6 address.
fn parse_host(text: &str) -> Option<Host> {
    let bare_v6 = text.parse::<std::net::Ipv6Addr>().is_ok();
    let authority = if bare_v6 {
        format!("[{text}]")
    } else {
        text.to_owned()
    };
    let authority: Authority = authority.parse().ok()?;
    let host = authority
        .host()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let written_port = authority
        .as_str()
        .rsplit_once(']')
        .map_or(authority.as_str(), |(_, rest)| rest);
    let port_fits = !written_port.contains(':') || authority.port_u16().is_some();
    let fits = !host.is_empty() && !authority.as_str().contains('@') && port_fits;
    fits.then(|| (host.to_ascii_lowercase(), authority.port_u16()))
}

fn parse_origin(origin: &str) -> Option<(String, String, u16)> {
    let (scheme, rest) = origin.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let (host, port) = parse_host(rest)?;
    let port = port.unwrap_or(default_port(&scheme));
    Some((scheme, host, port))
}

fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

fn shown(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes())
        .chars()
        .take(100)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, hosts: &[&str], origins: &[&str]) -> OriginCheck {
        let hosts = hosts
            .iter()
            .map(|text| HostRule::parse(text).unwrap())
            .collect();
        let origins = origins
            .iter()
            .map(|text| OriginRule::parse(text).unwrap())
            .collect();
        OriginCheck::new(address.parse().unwrap(), Allowlist { hosts, origins })
    }

    fn asks(check: &OriginCheck, host: &str, origin: Option<&str>) -> bool {
        let mut request = Request::get("/mcp").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        check.check_request(&request.body(()).unwrap()).is_ok()
    }

    #[test]
    fn on_loopback_only_its_own_names_are_answered_to() {
        let check = check("127.0.0.1:8000", &[], &[]);
        for host in [
            "localhost:8000",
            "127.0.0.1:8000",
            "[::1]:8000",
            "LocalHost",
            "127.0.0.1:1",
        ] {
            assert!(asks(&check, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example",
            "10.0.0.5:8000",
            "a@localhost",
            "localhost:x",
            "",
        ] {
            assert!(!asks(&check, host, None), "{host}");
        }
    }

    #[test]
    fn elsewhere_the_own_address_and_what_was_named_are_answered_to() {
        let own = check(
            "10.0.0.5:8000",
            &["league.example", "other.example:9000"],
            &[],
        );
        for host in [
            "10.0.0.5:8000",
            "localhost:8000",
            "league.example:1",
            "OTHER.example:9000",
        ] {
            assert!(asks(&own, host, None), "{host}");
        }
        for host in ["10.0.0.6:8000", "other.example:9001", "other.example"] {
            assert!(!asks(&own, host, None), "{host}");
        }
        let all = check("0.0.0.0:8000", &[], &[]);
        assert!(asks(&all, "10.0.0.6:8000", None) && asks(&all, "[2001:db8::1]:8000", None));
        assert!(!asks(&all, "league.example:8000", None));
        assert!(asks(
            &check("127.0.0.1:8000", &["*"], &[]),
            "anything.example",
            None
        ));
    }

    #[test]
    fn pages_of_others_are_kept_out() {
        let local = check(
            "127.0.0.1:8000",
            &[],
            &["https://app.example", "http://dev.example:*"],
        );
        for origin in [
            "http://localhost:6274",
            "http://127.0.0.1:8000",
            "https://app.example",
            "https://app.example:443",
            "http://dev.example:3000",
        ] {
            assert!(asks(&local, "localhost:8000", Some(origin)), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "http://app.example",
            "https://app.example:8443",
            "null",
            "",
            "localhost",
        ] {
            assert!(!asks(&local, "localhost:8000", Some(origin)), "{origin}");
        }
        assert!(asks(
            &check("127.0.0.1:8000", &[], &["null"]),
            "localhost",
            Some("null")
        ));
    }

    #[test]
    fn on_a_network_only_pages_of_the_own_address_may_call() {
        let all = check("0.0.0.0:8000", &[], &[]);
        assert!(asks(&all, "10.0.0.5:8000", Some("http://10.0.0.5:8000")));
        for origin in [
            "http://10.0.0.6:8000",
            "http://10.0.0.5",
            "http://localhost:3000",
        ] {
            assert!(!asks(&all, "10.0.0.5:8000", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn a_request_for_nobody_or_for_two_is_refused() {
        let check = check("127.0.0.1:8000", &[], &[]);
        let request = |uri: &str, hosts: &[&str]| {
            let hosted =
                |request: hyper::http::request::Builder, host: &&str| request.header(HOST, *host);
            hosts
                .iter()
                .fold(Request::get(uri), hosted)
                .body(())
                .unwrap()
        };
        let mut nameless = request("/mcp", &[]);
        assert_eq!(
            check.check_request(&nameless),
            Err(OriginError::MissingHost)
        );
        *nameless.version_mut() = Version::HTTP_10;
        assert_eq!(check.check_request(&nameless), Ok(()));
        let two = check.check_request(&request("/mcp", &["localhost", "evil.example"]));
        assert_eq!(two, Err(OriginError::MissingHost));
        assert_eq!(
            check.check_request(&request("http://localhost:8000/mcp", &["localhost"])),
            Ok(())
        );
        for uri in ["http://evil.example/mcp", "http://a@localhost/mcp"] {
            assert!(
                check.check_request(&request(uri, &["localhost"])).is_err(),
                "{uri}"
            );
        }
    }
}
