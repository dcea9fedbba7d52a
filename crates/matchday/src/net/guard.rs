//! Whom a request says it is for, and on whose page it was made: `Host` and `Origin`, checked before anything else.
//!
//! A page on the web can make a browser call any address that the browser's machine reaches, under a name of the page's
//! own choosing. It cannot choose what the browser then says in these two headers, so they give it away.

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri, Version};
use std::net::{IpAddr, SocketAddr};

const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What is let in beyond what follows from the listening address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    pub hosts: Vec<HostRule>,
    pub origins: Vec<OriginRule>,
}

/// A host as it may stand in `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRule {
    Any,
    /// On this port, or on any.
    Named(String, Option<u16>),
}

/// An origin as it may stand in `Origin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginRule {
    Any,
    /// The origin of pages that have none, such as files.
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
            _ => named(text).map(|(host, port)| Self::Named(host, port)),
        }
    }

    fn admits(&self, host: &str, port: Option<u16>) -> bool {
        match self {
            Self::Any => true,
            Self::Named(own, own_port) => own == host && own_port.is_none_or(|own| Some(own) == port),
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
            let (scheme, host, _) = site_of(site)?;
            return Some(Self::Site { scheme, host, port: None });
        }
        let (scheme, host, port) = site_of(text)?;
        Some(Self::Site { scheme, host, port: Some(port) })
    }

    fn admits(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Null => origin == "null",
            Self::Site { scheme, host, port } => site_of(origin).is_some_and(|(its, name, at)| {
                its == *scheme && name == *host && port.is_none_or(|port| port == at)
            }),
        }
    }
}

/// Why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stranger {
    #[error("the request must say in one Host header whom it is for")]
    NoHost,
    #[error("this agent does not go by the name {0:?}: if it should, start it with --allowed-hosts {0}")]
    Host(String),
    #[error("pages of {0:?} may not call this agent: if they should, start it with --allowed-origins {0}")]
    Origin(String),
}

impl Stranger {
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
        }
    }
}

/// Checks requests to one listening address.
#[derive(Debug)]
pub struct Guard {
    address: SocketAddr,
    allowed: Allowed,
}

impl Guard {
    pub fn new(address: SocketAddr, allowed: Allowed) -> Self {
        Self { address, allowed }
    }

    pub fn admit(&self, version: Version, uri: &Uri, headers: &HeaderMap) -> Result<(), Stranger> {
        let host = self.host(version, uri, headers)?;
        let mut origins = headers.get_all(ORIGIN).iter();
        match origins.next() {
            None => Ok(()),
            Some(origin) => match origin.to_str() {
                Ok(origin) if origins.next().is_none() && self.admits_origin(origin, host.as_ref()) => Ok(()),
                _ => Err(Stranger::Origin(shown(origin))),
            },
        }
    }

    /// The host that the request is for, if it says so and may.
    fn host(&self, version: Version, uri: &Uri, headers: &HeaderMap) -> Result<Option<Host>, Stranger> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host,
            // What has no browser's age cannot come from a browser.
            (None, _) if version < Version::HTTP_11 && uri.authority().is_none() => return Ok(None),
            _ => return Err(Stranger::NoHost),
        };
        let admitted = |text: &str| named(text).filter(|(host, port)| self.admits_host(host, *port));
        let stranger = || Stranger::Host(shown(host));
        if let Some(target) = uri.authority()
            && admitted(target.as_str()).is_none()
        {
            return Err(Stranger::Host(target.to_string()));
        }
        host.to_str().ok().and_then(admitted).map(Some).ok_or_else(stranger)
    }

    fn admits_host(&self, host: &str, port: Option<u16>) -> bool {
        let ip = host.parse::<IpAddr>().ok();
        // An address that is no name cannot be made to lead elsewhere, so where we listen on all, all are ours.
        let is_address = |ip: IpAddr| ip == self.address.ip() || self.address.ip().is_unspecified();
        LOOPBACK_NAMES.contains(&host)
            || ip.is_some_and(is_address)
            || self.allowed.hosts.iter().any(|rule| rule.admits(host, port))
    }

    /// Pages of our own, of this machine where we are for this machine alone, and those that were named.
    fn admits_origin(&self, origin: &str, host: Option<&Host>) -> bool {
        let is_ours = |(scheme, name, port): &(String, String, u16)| {
            let own = host.map(|(name, port)| (name.as_str(), port.unwrap_or(default_port(scheme))));
            let local = self.address.ip().is_loopback() && LOOPBACK_NAMES.contains(&name.as_str());
            local || own == Some((name.as_str(), *port))
        };
        site_of(origin).as_ref().is_some_and(is_ours)
            || self.allowed.origins.iter().any(|rule| rule.admits(origin))
    }
}

type Host = (String, Option<u16>);

/// A host and its port, in lower case and without the brackets of an IPv6 address.
fn named(text: &str) -> Option<Host> {
    let bare_v6 = text.parse::<std::net::Ipv6Addr>().is_ok();
    let authority = if bare_v6 { format!("[{text}]") } else { text.to_owned() };
    let authority: Authority = authority.parse().ok()?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let written_port = authority.as_str().rsplit_once(']').map_or(authority.as_str(), |(_, rest)| rest);
    let port_fits = !written_port.contains(':') || authority.port_u16().is_some();
    let fits = !host.is_empty() && !authority.as_str().contains('@') && port_fits;
    fits.then(|| (host.to_ascii_lowercase(), authority.port_u16()))
}

fn site_of(origin: &str) -> Option<(String, String, u16)> {
    let (scheme, rest) = origin.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let (host, port) = named(rest)?;
    let port = port.unwrap_or(default_port(&scheme));
    Some((scheme, host, port))
}

fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

fn shown(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, hosts: &[&str], origins: &[&str]) -> Guard {
        let hosts = hosts.iter().map(|text| HostRule::parse(text).unwrap()).collect();
        let origins = origins.iter().map(|text| OriginRule::parse(text).unwrap()).collect();
        Guard::new(address.parse().unwrap(), Allowed { hosts, origins })
    }

    fn asks(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.admit(Version::HTTP_11, &Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn on_loopback_only_its_own_names_are_answered_to() {
        let guard = guard("127.0.0.1:8000", &[], &[]);
        for host in ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LocalHost", "127.0.0.1:1"] {
            assert!(asks(&guard, host, None), "{host}");
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
            assert!(!asks(&guard, host, None), "{host}");
        }
    }

    #[test]
    fn elsewhere_the_own_address_and_what_was_named_are_answered_to() {
        let own = guard("10.0.0.5:8000", &["league.example", "other.example:9000"], &[]);
        for host in ["10.0.0.5:8000", "localhost:8000", "league.example:1", "OTHER.example:9000"] {
            assert!(asks(&own, host, None), "{host}");
        }
        for host in ["10.0.0.6:8000", "other.example:9001", "other.example"] {
            assert!(!asks(&own, host, None), "{host}");
        }
        let all = guard("0.0.0.0:8000", &[], &[]);
        assert!(asks(&all, "10.0.0.6:8000", None) && asks(&all, "[2001:db8::1]:8000", None));
        assert!(!asks(&all, "league.example:8000", None));
        assert!(asks(&guard("127.0.0.1:8000", &["*"], &[]), "anything.example", None));
    }

    #[test]
    fn pages_of_others_are_kept_out() {
        let local = guard("127.0.0.1:8000", &[], &["https://app.example", "http://dev.example:*"]);
        for origin in [
            "http://localhost:6274",
            "http://127.0.0.1:8000",
            "https://app.example",
            "https://app.example:443",
            "http://dev.example:3000",
        ] {
            assert!(asks(&local, "localhost:8000", Some(origin)), "{origin}");
        }
        for origin in
            ["http://evil.example", "http://app.example", "https://app.example:8443", "null", "", "localhost"]
        {
            assert!(!asks(&local, "localhost:8000", Some(origin)), "{origin}");
        }
        assert!(asks(&guard("127.0.0.1:8000", &[], &["null"]), "localhost", Some("null")));
    }

    #[test]
    fn on_a_network_only_pages_of_the_own_address_may_call() {
        let all = guard("0.0.0.0:8000", &[], &[]);
        assert!(asks(&all, "10.0.0.5:8000", Some("http://10.0.0.5:8000")));
        for origin in ["http://10.0.0.6:8000", "http://10.0.0.5", "http://localhost:3000"] {
            assert!(!asks(&all, "10.0.0.5:8000", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn a_request_for_nobody_or_for_two_is_refused() {
        let guard = guard("127.0.0.1:8000", &[], &[]);
        let (uri, mut headers) = (Uri::from_static("/mcp"), HeaderMap::new());
        assert_eq!(guard.admit(Version::HTTP_11, &uri, &headers), Err(Stranger::NoHost));
        assert_eq!(guard.admit(Version::HTTP_10, &uri, &headers), Ok(()));
        headers.append(HOST, "localhost".parse().unwrap());
        let elsewhere = Uri::from_static("http://evil.example/mcp");
        assert!(guard.admit(Version::HTTP_11, &elsewhere, &headers).is_err());
        headers.append(HOST, "evil.example".parse().unwrap());
        assert_eq!(guard.admit(Version::HTTP_11, &uri, &headers), Err(Stranger::NoHost));
    }
}
