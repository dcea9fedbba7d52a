//! Which endpoints of strangers may be called: a rule of whoever runs the agent. It judges addresses, not names: where a
//! name leads is for `names` to find out. Looks at the machine only to know its own addresses.

use super::kinds::Kind;
use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// The rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    pub scopes: Scopes,
    /// What may be called besides.
    pub listed: Vec<Listed>,
    /// Where we listen ourselves: nobody may have us call that.
    pub own: Option<SocketAddr>,
    /// Where others call us, if that is another address, such as that of a proxy.
    pub advertised: Option<Target>,
}

/// Which kinds of addresses may be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes {
    pub loopback: bool,
    pub private: bool,
    pub public: bool,
}

/// One entry of the list of what may be called besides: everything there, or one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    Name(String, Option<u16>),
    /// Addresses that begin with so many bits of this one.
    Network(IpAddr, u8, Option<u16>),
}

/// Where a call is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In lower case, without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    pub path: String,
}

/// Why an address is not called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    #[error(
        "{target} is {what}, which is never called: register the endpoint where the agent itself listens"
    )]
    Never { target: String, what: &'static str },
    #[error("{0} is the address of the one that would have to call it: register the endpoint of the agent")]
    Own(String),
    #[error(
        "{0} is no address that can be called: register http://HOST:PORT/PATH, as the agent itself is reached"
    )]
    Unusable(String),
    #[error(
        "{target} is {what}, and {scopes} may be called: register another endpoint, or ask whoever runs the league \
         for --endpoints {wanted} or --allow-endpoints {listing}"
    )]
    Outside { target: String, what: &'static str, scopes: Scopes, wanted: &'static str, listing: String },
}

impl Scopes {
    pub const LOOPBACK: Self = Self { loopback: true, private: false, public: false };
    pub const PRIVATE: Self = Self { loopback: false, private: true, public: false };
    pub const PUBLIC: Self = Self { loopback: false, private: false, public: true };
    pub const ANY: Self = Self { loopback: true, private: true, public: true };
    pub const NONE: Self = Self { loopback: false, private: false, public: false };

    /// `loopback`, `private`, `public`, several of them with commas; `any`; `listed` for none of them.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "any" => return Some(Self::ANY),
            "listed" => return Some(Self::NONE),
            _ => {}
        }
        text.split(',').try_fold(Self::NONE, |scopes, name| match name.trim() {
            "loopback" => Some(Self { loopback: true, ..scopes }),
            "private" => Some(Self { private: true, ..scopes }),
            "public" => Some(Self { public: true, ..scopes }),
            _ => None,
        })
    }

    /// What whoever listens there will want: those of the same network.
    pub fn around(listening: IpAddr) -> Self {
        match Kind::of(listening) {
            Kind::Loopback => Self::LOOPBACK,
            Kind::Public => Self::PUBLIC,
            Kind::Private | Kind::Never(_) => Self::PRIVATE,
        }
    }

    fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::Loopback => self.loopback,
            Kind::Private => self.private,
            Kind::Public => self.public,
            Kind::Never(_) => false,
        }
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [(self.loopback, "loopback"), (self.private, "private"), (self.public, "public")];
        let names: Vec<_> = named.iter().filter(|(is_in, _)| *is_in).map(|(_, name)| *name).collect();
        match names.as_slice() {
            [] => f.write_str("only what is listed"),
            names => write!(f, "only {} addresses", names.join(" and ")),
        }
    }
}

impl Listed {
    /// `example.org`, `example.org:8101`, `10.0.0.7`, `10.0.0.7:8101`, `10.0.0.0/8`, `[fd12::1]:8101`, `fd12::/16`
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((ip, bits)) = text.split_once('/') {
            let ip: IpAddr = ip.parse().ok()?;
            let bits = bits.parse().ok().filter(|bits| *bits <= width(ip))?;
            return Some(Self::Network(ip, bits, None));
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Some(Self::Network(ip, width(ip), None));
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Some(Self::Network(address.ip(), width(address.ip()), Some(address.port())));
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
            Self::Name(name, port) => *name == target.host && port.is_none_or(|port| port == target.port),
            Self::Network(network, bits, port) => {
                port.is_none_or(|port| port == target.port) && begins_alike(*network, ip, *bits)
            }
        }
    }
}

fn width(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn begins_alike(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differ = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(u32::from(one) ^ u32::from(other)) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => u128::from(one) ^ u128::from(other),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(bits)
}

impl Policy {
    /// Whether `target`, which is at `ip`, may be called.
    pub fn judge(&self, target: &Target, ip: IpAddr) -> Result<(), Forbidden> {
        let shown = || shown(&target.host, ip);
        let kind = Kind::of(ip);
        if let Kind::Never(what) = kind {
            return Err(Forbidden::Never { target: shown(), what });
        }
        if self.is_own(target, ip) {
            return Err(Forbidden::Own(format!("{}:{}", shown(), target.port)));
        }
        if self.scopes.has(kind) || self.listed.iter().any(|listed| listed.has(target, ip)) {
            return Ok(());
        }
        let wanted = match kind {
            Kind::Loopback => "loopback",
            Kind::Private => "private",
            Kind::Public | Kind::Never(_) => "public",
        };
        let what = kind.in_words();
        let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
        let listing = format!("{host}:{}", target.port);
        Err(Forbidden::Outside { target: shown(), what, scopes: self.scopes, wanted, listing })
    }

    /// Seats are called at the address of whoever has them, each under a path of its own.
    fn is_own(&self, target: &Target, ip: IpAddr) -> bool {
        let listens_there = self.own.is_some_and(|own| {
            let same_machine = own.ip() == ip || (own.ip().is_unspecified() && is_of_this_machine(ip));
            own.port() == target.port && same_machine
        });
        let is_called_there = self.advertised.as_ref().is_some_and(|own| {
            // A proxy may have other agents under other paths.
            let same_path = own.path == target.path || !is_plain(&target.path);
            own.host == target.host && own.port == target.port && same_path
        });
        (listens_there || is_called_there) && !is_seat(&target.path)
    }
}

/// `/seats/7/mcp`, to the letter: another way to write a path may lead elsewhere.
fn is_seat(path: &str) -> bool {
    let number = path.strip_prefix("/seats/").and_then(|rest| rest.strip_suffix("/mcp"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a path says where it leads: no `..`, nothing empty, nothing encoded.
fn is_plain(path: &str) -> bool {
    !path.contains('%') && !path.split('/').skip(1).any(|part| matches!(part, "" | "." | ".."))
}

/// Whoever would send to an address of its own would send from that very address. Nothing is sent.
fn is_of_this_machine(ip: IpAddr) -> bool {
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

/// The address, and the name that led there if there is one.
fn shown(host: &str, ip: IpAddr) -> String {
    let address = ip.to_string();
    if host == address { address } else { format!("{host} ({address})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16, path: &str) -> Target {
        Target { host: host.to_owned(), port, path: path.to_owned() }
    }

    fn allows(policy: &Policy, host: &str, ip: &str, port: u16) -> bool {
        policy.judge(&target(host, port, "/mcp"), ip.parse().unwrap()).is_ok()
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
            let policy = Policy { scopes: Scopes::parse(text).unwrap(), ..Policy::default() };
            assert_eq!(addresses.map(|ip| allows(&policy, ip, ip, 1)), expected, "{text}");
        }
        for bad in ["", "local", "loopback,", "any,private"] {
            assert_eq!(Scopes::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_listed_may_be_called_besides_but_never_what_is_never_called() {
        let listed = ["agent.example:8101", "10.1.0.0/16", "192.168.1.7:80", "fd12::/16", "169.254.0.0/16"];
        let listed = listed.map(|text| Listed::parse(text).unwrap()).to_vec();
        let policy = Policy { listed, ..Policy::default() };
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
            assert_eq!(allows(&policy, host, ip, port), expected, "{host} {ip} {port}");
        }
        for bad in ["", "http://agent.example", "10.0.0.0/33", "agent.example:x", "a b", "10.0.0.0/8:80"] {
            assert_eq!(Listed::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn nobody_has_us_call_ourselves_but_for_a_seat() {
        for own in ["127.0.0.1:8000", "0.0.0.0:8000"] {
            let policy = Policy { scopes: Scopes::ANY, own: Some(own.parse().unwrap()), ..Policy::default() };
            assert!(!allows(&policy, "localhost", "127.0.0.1", 8000), "{own}");
            assert!(allows(&policy, "localhost", "127.0.0.1", 8001), "{own}");
            let seat = target("localhost", 8000, "/seats/1/mcp");
            assert_eq!(policy.judge(&seat, "127.0.0.1".parse().unwrap()), Ok(()), "{own}");
        }
    }

    #[test]
    fn a_path_that_is_not_to_the_letter_that_of_a_seat_leads_to_ourselves() {
        let own = Some("127.0.0.1:8000".parse().unwrap());
        let policy = Policy { scopes: Scopes::ANY, own, ..Policy::default() };
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
            let judged = policy.judge(&target("127.0.0.1", 8000, path), "127.0.0.1".parse().unwrap());
            assert!(matches!(judged, Err(Forbidden::Own(_))), "{path}: {judged:?}");
        }
    }

    #[test]
    fn the_address_by_which_others_call_us_is_our_own_too() {
        let advertised = Some(target("league.example", 443, "/mcp"));
        let policy = Policy { scopes: Scopes::ANY, advertised, ..Policy::default() };
        for (path, is_own) in [
            ("/mcp", true),
            ("/x/../mcp", true),
            ("//mcp", true),
            ("/%6dcp", true),
            ("/seats/1/mcp", false),
            ("/player-1/mcp", false),
        ] {
            let judged = policy.judge(&target("league.example", 443, path), "8.8.8.8".parse().unwrap());
            assert_eq!(matches!(judged, Err(Forbidden::Own(_))), is_own, "{path}: {judged:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_rule_and_what_to_do() {
        let policy = Policy { scopes: Scopes::LOOPBACK, ..Policy::default() };
        let why = policy.judge(&target("agent.example", 80, "/"), "10.0.0.5".parse().unwrap()).unwrap_err();
        assert_eq!(
            why.to_string(),
            "agent.example (10.0.0.5) is a private address, and only loopback addresses may be called: register \
             another endpoint, or ask whoever runs the league for --endpoints private or --allow-endpoints \
             agent.example:80"
        );
        let why = policy.judge(&target("169.254.169.254", 80, "/"), "169.254.169.254".parse().unwrap());
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
            assert_eq!(Scopes::around(listening.parse().unwrap()), scopes, "{listening}");
        }
    }
}
