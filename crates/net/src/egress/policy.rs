//! The operator's egress policy: which IP addresses may be called. It never resolves names.

use super::ip_class::IpClass;
use crate::ip_network::IpNetwork;
use hyper::Uri;
use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};

#[derive(Debug, Clone, Default)]
pub struct EgressPolicy {
    pub scopes: Scopes,
    /// What may be called beyond the scopes.
    pub allow: Vec<AllowRule>,
    /// Our own listening address, which must not be called.
    pub listen: Option<SocketAddr>,
    /// The address under which others call us, if it is another one, such as a proxy's.
    pub advertised: Option<Target>,
}

/// Which classes of addresses may be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes {
    pub loopback: bool,
    pub private: bool,
    pub public: bool,
}

/// A host or network that may be called, on every port or on one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowRule {
    Name(String, Option<u16>),
    Network(IpNetwork, Option<u16>),
}

/// The host, port and path of a URL to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In lower case, without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    pub path: String,
}

/// Why an address may not be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    #[error(
        "{target} is {what}, which is never called: register the endpoint where the agent itself listens"
    )]
    Blocked { target: String, what: &'static str },
    #[error(
        "{0} is the address of the one that would have to call it: register the endpoint of the agent"
    )]
    SelfCall(String),
    #[error(
        "{0} is no address that can be called: register http://HOST:PORT/PATH, as the agent itself is reached"
    )]
    InvalidUrl(String),
    #[error(
        "{0}: start the agent with --dial, which needs no address, or name one that can be called by --advertise"
    )]
    NotFound(String),
    #[error(
        "{target} is {what}, and {scopes} may be called: start the agent with --dial, which needs no address, or name one \
         that can be called by --advertise; an operator allows this one by --endpoints {wanted} or --allow-endpoints {listing}"
    )]
    OutOfScope {
        target: String,
        what: &'static str,
        scopes: Scopes,
        wanted: &'static str,
        listing: String,
    },
}

impl Scopes {
    pub const LOOPBACK: Self = Self {
        loopback: true,
        private: false,
        public: false,
    };
    pub const PRIVATE: Self = Self {
        loopback: false,
        private: true,
        public: false,
    };
    pub const PUBLIC: Self = Self {
        loopback: false,
        private: false,
        public: true,
    };
    pub const ANY: Self = Self {
        loopback: true,
        private: true,
        public: true,
    };
    pub const NONE: Self = Self {
        loopback: false,
        private: false,
        public: false,
    };

    /// `loopback`, `private`, `public`, several of them with commas; `any`; `listed` for none of them.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "any" => return Some(Self::ANY),
            "listed" => return Some(Self::NONE),
            _ => {}
        }
        text.split(',')
            .try_fold(Self::NONE, |scopes, name| match name.trim() {
                "loopback" => Some(Self {
                    loopback: true,
                    ..scopes
                }),
                "private" => Some(Self {
                    private: true,
                    ..scopes
                }),
                "public" => Some(Self {
                    public: true,
                    ..scopes
                }),
                _ => None,
            })
    }

    /// The default for an agent that listens there: addresses of the same class.
    pub fn for_listener(listen: IpAddr) -> Self {
        match IpClass::of(listen) {
            IpClass::Loopback => Self::LOOPBACK,
            IpClass::Public => Self::PUBLIC,
            IpClass::Private | IpClass::Blocked(_) => Self::PRIVATE,
        }
    }

    fn has(self, class: IpClass) -> bool {
        match class {
            IpClass::Loopback => self.loopback,
            IpClass::Private => self.private,
            IpClass::Public => self.public,
            IpClass::Blocked(_) => false,
        }
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (self.loopback, "loopback"),
            (self.private, "private"),
            (self.public, "public"),
        ];
        let names: Vec<_> = named
            .iter()
            .filter(|(is_in, _)| *is_in)
            .map(|(_, name)| *name)
            .collect();
        match names.as_slice() {
            [] => f.write_str("only what is listed"),
            names => write!(f, "only {} addresses", names.join(" and ")),
        }
    }
}

impl AllowRule {
    /// `example.org`, `example.org:8101`, `10.0.0.7`, `10.0.0.7:8101`, `10.0.0.0/8`, `[fd12::1]:8101`, `fd12::/16`
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(network) = IpNetwork::parse(text) {
            return Some(Self::Network(network, None));
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Some(Self::Network(address.ip().into(), Some(address.port())));
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let fits = !name.is_empty() && name.chars().all(is_name);
        fits.then(|| Self::Name(name.to_ascii_lowercase(), port))
    }

    fn has(&self, target: &Target, ip: IpAddr) -> bool {
        match self {
            Self::Name(name, port) => {
                *name == target.host && port.is_none_or(|port| port == target.port)
            }
            Self::Network(network, port) => {
                port.is_none_or(|port| port == target.port) && network.contains(ip)
            }
        }
    }
}

impl EgressPolicy {
    /// Whether `target`, which resolves to `ip`, may be called.
    pub fn check(&self, target: &Target, ip: IpAddr) -> Result<(), EgressError> {
        let shown = || shown(&target.host, ip);
        let class = IpClass::of(ip);
        if let IpClass::Blocked(what) = class {
            return Err(EgressError::Blocked {
                target: shown(),
                what,
            });
        }
        if self.is_own(target, ip) {
            return Err(EgressError::SelfCall(format!(
                "{}:{}",
                shown(),
                target.port
            )));
        }
        if self.scopes.has(class) || self.allow.iter().any(|rule| rule.has(target, ip)) {
            return Ok(());
        }
        let wanted = match class {
            IpClass::Loopback => "loopback",
            IpClass::Private => "private",
            IpClass::Public | IpClass::Blocked(_) => "public",
        };
        let what = class.description();
        let host = if target.host.contains(':') {
            format!("[{}]", target.host)
        } else {
            target.host.clone()
        };
        let listing = format!("{host}:{}", target.port);
        Err(EgressError::OutOfScope {
            target: shown(),
            what,
            scopes: self.scopes,
            wanted,
            listing,
        })
    }

    fn is_own(&self, target: &Target, ip: IpAddr) -> bool {
        let listens_there = self.listen.is_some_and(|listen| {
            let same_machine =
                listen.ip() == ip || (listen.ip().is_unspecified() && is_local_address(ip));
            listen.port() == target.port && same_machine
        });
        let is_called_there = self.advertised.as_ref().is_some_and(|own| {
            // A proxy may serve other agents under other paths.
            let same_path = own.path == target.path || !is_normalized(&target.path);
            own.host == target.host && own.port == target.port && same_path
        });
        listens_there || is_called_there
    }
}

impl Target {
    /// `None` for what is not an http or https URL.
    pub fn parse(url: &str) -> Option<Self> {
        Self::from_uri(&url.parse().ok()?)
    }

    pub(crate) fn from_uri(uri: &Uri) -> Option<Self> {
        let port = match uri.scheme_str()? {
            scheme if scheme.eq_ignore_ascii_case("http") => 80,
            scheme if scheme.eq_ignore_ascii_case("https") => 443,
            _ => return None,
        };
        let authority = uri.authority()?;
        Some(Self {
            host: authority
                .host()
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_ascii_lowercase(),
            port: authority.port_u16().unwrap_or(port),
            path: uri.path().to_owned(),
        })
    }
}

/// No empty segment, no `.` or `..`, no percent-encoding: such a path is equal to another only if it is written alike.
fn is_normalized(path: &str) -> bool {
    !path.contains('%')
        && !path
            .split('/')
            .skip(1)
            .any(|part| matches!(part, "" | "." | ".."))
}

/// Whether `ip` is one of this machine's: then the kernel chooses it as the source address as well. Nothing is sent.
fn is_local_address(ip: IpAddr) -> bool {
    let any: SocketAddr = match ip {
        IpAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        IpAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let from = UdpSocket::bind(any).and_then(|socket| {
        socket.connect((ip, 9))?;
        socket.local_addr()
    });
    ip.is_loopback() || from.is_ok_and(|from| from.ip() == ip)
}

/// `host (ip)`, or `ip` alone.
fn shown(host: &str, ip: IpAddr) -> String {
    let address = ip.to_string();
    if host == address {
        address
    } else {
        format!("{host} ({address})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16, path: &str) -> Target {
        Target {
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        }
    }

    fn allows(policy: &EgressPolicy, host: &str, ip: &str, port: u16) -> bool {
        policy
            .check(&target(host, port, "/mcp"), ip.parse().unwrap())
            .is_ok()
    }

    #[test]
    fn each_scope_lets_its_own_kind_through_and_no_other() {
        let addresses = ["127.0.0.1", "10.0.0.1", "8.8.8.8", "169.254.169.254"];
        for (text, expected) in [
            ("loopback", [true, false, false, false]),
            ("private", [false, true, false, false]),
            ("public", [false, false, true, false]),
            ("loopback, private", [true, true, false, false]),
            ("any", [true, true, true, false]),
            ("listed", [false, false, false, false]),
        ] {
            let policy = EgressPolicy {
                scopes: Scopes::parse(text).unwrap(),
                ..EgressPolicy::default()
            };
            assert_eq!(
                addresses.map(|ip| allows(&policy, ip, ip, 1)),
                expected,
                "{text}"
            );
        }
        for bad in ["", "local", "loopback,", "any,private"] {
            assert_eq!(Scopes::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_listed_may_be_called_besides_but_never_what_is_never_called() {
        let listed = [
            "agent.example:8101",
            "10.1.0.0/16",
            "192.168.1.7:80",
            "fd12::/16",
            "169.254.0.0/16",
        ];
        let allow = listed.map(|text| AllowRule::parse(text).unwrap()).to_vec();
        let policy = EgressPolicy {
            allow,
            ..EgressPolicy::default()
        };
        for (host, ip, port, expected) in [
            ("agent.example", "10.9.9.9", 8101, true),
            ("agent.example", "10.9.9.9", 8102, false),
            ("agent.example", "169.254.169.254", 8101, false),
            ("evil.example", "10.9.9.9", 8101, false),
            ("evil.example", "10.1.2.3", 1, true),
            ("10.2.0.1", "10.2.0.1", 1, false),
            ("192.168.1.7", "192.168.1.7", 80, true),
            ("192.168.1.7", "192.168.1.7", 81, false),
            ("fd12::9", "fd12::9", 1, true),
            ("fd13::9", "fd13::9", 1, false),
            ("169.254.1.1", "169.254.1.1", 1, false),
        ] {
            assert_eq!(
                allows(&policy, host, ip, port),
                expected,
                "{host} {ip} {port}"
            );
        }
        for bad in [
            "",
            "http://agent.example",
            "10.0.0.0/33",
            "agent.example:x",
            "a b",
            "10.0.0.0/8:80",
        ] {
            assert_eq!(AllowRule::parse(bad), None, "{bad}");
        }
    }

    fn any_but_ourselves() -> EgressPolicy {
        EgressPolicy {
            scopes: Scopes::ANY,
            ..EgressPolicy::default()
        }
    }

    #[test]
    fn nobody_has_us_call_ourselves() {
        for listen in ["127.0.0.1:8000", "0.0.0.0:8000"] {
            let policy = EgressPolicy {
                listen: Some(listen.parse().unwrap()),
                ..any_but_ourselves()
            };
            assert!(!allows(&policy, "localhost", "127.0.0.1", 8000), "{listen}");
            assert!(allows(&policy, "localhost", "127.0.0.1", 8001), "{listen}");
            let seat = target("localhost", 8000, "/seats/1/mcp");
            assert!(
                policy.check(&seat, "127.0.0.1".parse().unwrap()).is_err(),
                "{listen}"
            );
        }
    }

    #[test]
    fn the_address_by_which_others_call_us_is_our_own_too() {
        let advertised = Some(target("league.example", 443, "/mcp"));
        let policy = EgressPolicy {
            advertised,
            ..any_but_ourselves()
        };
        for (path, is_own) in [
            ("/mcp", true),
            ("/x/../mcp", true),
            ("//mcp", true),
            ("/%6dcp", true),
            ("/seats/1/mcp", false),
            ("/player-1/mcp", false),
        ] {
            let judged = policy.check(
                &target("league.example", 443, path),
                "8.8.8.8".parse().unwrap(),
            );
            assert_eq!(
                matches!(judged, Err(EgressError::SelfCall(_))),
                is_own,
                "{path}: {judged:?}"
            );
        }
    }

    #[test]
    fn a_refusal_names_the_rule_and_what_to_do() {
        let policy = EgressPolicy {
            scopes: Scopes::LOOPBACK,
            ..EgressPolicy::default()
        };
        let why = policy
            .check(
                &target("agent.example", 80, "/"),
                "10.0.0.5".parse().unwrap(),
            )
            .unwrap_err();
        assert_eq!(
            why.to_string(),
            "agent.example (10.0.0.5) is a private address, and only loopback addresses may be called: start \
             the agent with --dial, which needs no address, or name one that can be called by --advertise; an operator \
             allows this one by --endpoints private or --allow-endpoints agent.example:80"
        );
        let why = policy.check(
            &target("169.254.169.254", 80, "/"),
            "169.254.169.254".parse().unwrap(),
        );
        let why = why.unwrap_err().to_string();
        assert!(
            why.starts_with("169.254.169.254 is the metadata service of a cloud, which is never"),
            "{why}"
        );
    }

    #[test]
    fn by_default_those_of_the_same_network_may_be_called() {
        for (listening, scopes) in [
            ("127.0.0.1", Scopes::LOOPBACK),
            ("::1", Scopes::LOOPBACK),
            ("0.0.0.0", Scopes::PRIVATE),
            ("10.0.0.5", Scopes::PRIVATE),
            ("8.8.8.8", Scopes::PUBLIC),
        ] {
            assert_eq!(
                Scopes::for_listener(listening.parse().unwrap()),
                scopes,
                "{listening}"
            );
        }
    }
}
