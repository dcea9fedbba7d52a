//! Reverse proxies that the operator trusts to say for which client they call. Nobody else is believed.

use crate::ip_network::IpNetwork;
use crate::proxy_protocol::ProxiedFor;
use hyper::header::{HeaderMap, HeaderName};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Clones share the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Arc<[IpNetwork]>);

impl From<Vec<IpNetwork>> for TrustedProxies {
    fn from(networks: Vec<IpNetwork>) -> Self {
        Self(networks.into())
    }
}

impl TrustedProxies {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, ip: IpAddr) -> bool {
        self.0
            .iter()
            .any(|network| network.contains(ip.to_canonical()))
    }

    /// The client of a request over a connection from `peer`, if a trusted proxy passes it on: the last address of
    /// `X-Forwarded-For` that is no trusted proxy's. What stands before it may be anybody's invention.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<SocketAddr> {
        if !self.contains(peer) || !headers.contains_key(X_FORWARDED_FOR) {
            return None;
        }
        let values = headers.get_all(X_FORWARDED_FOR).iter();
        let texts: Vec<&str> = values
            .map(|value| value.to_str().unwrap_or_default())
            .collect();
        let mut client = None;
        for text in texts.iter().rev().flat_map(|text| text.rsplit(',')) {
            client = parse(text.trim());
            if !client.is_some_and(|ip| self.contains(ip)) {
                break;
            }
        }
        Some(proxied(client))
    }
}

/// The client of a connection that began with a header of the PROXY protocol; `None` if it is the proxy itself.
pub(crate) fn client_of(proxied_for: ProxiedFor) -> Option<SocketAddr> {
    match proxied_for {
        ProxiedFor::Client(ip) => Some(proxied(Some(ip))),
        ProxiedFor::Unknown => Some(proxied(None)),
        ProxiedFor::Itself => None,
    }
}

/// A client behind a proxy is never this machine, whatever its address is called, and no socket of this process: it has no port.
fn proxied(ip: Option<IpAddr>) -> SocketAddr {
    let ip = ip
        .map(|ip| ip.to_canonical())
        .filter(|ip| !ip.is_loopback());
    SocketAddr::new(ip.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), 0)
}

/// Some proxies add the port: `192.0.2.1:4000`, `[2001:db8::1]:4000`.
fn parse(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    bare.parse()
        .ok()
        .or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusting(networks: &[&str]) -> TrustedProxies {
        networks
            .iter()
            .map(|text| IpNetwork::parse(text).unwrap())
            .collect::<Vec<_>>()
            .into()
    }

    fn client(networks: &[&str], peer: &str, values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(X_FORWARDED_FOR, value.parse().unwrap());
        }
        let client = trusting(networks).client(peer.parse().unwrap(), &headers)?;
        assert_eq!(client.port(), 0);
        Some(client.ip().to_string())
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        let said = ["203.0.113.9"];
        assert_eq!(client(&[], "127.0.0.1", &said), None);
        assert_eq!(client(&["10.0.0.7"], "10.0.0.8", &said), None);
        for peer in ["10.0.0.7", "::ffff:10.0.0.7"] {
            assert_eq!(
                client(&["10.0.0.7"], peer, &said).as_deref(),
                Some("203.0.113.9")
            );
            assert_eq!(
                client(&["10.0.0.7"], peer, &[]),
                None,
                "it calls for itself"
            );
        }
    }

    #[test]
    fn what_the_client_put_before_the_proxys_own_words_changes_nothing() {
        for values in [
            &["198.51.100.1, 203.0.113.9"][..],
            &["198.51.100.1", "203.0.113.9"],
            &["127.0.0.1,10.0.0.7", "203.0.113.9,10.0.0.7"],
            &["nonsense,,203.0.113.9 , 10.0.0.7"],
            &["203.0.113.9:4711"],
            &["::ffff:203.0.113.9"],
        ] {
            let client = client(&["10.0.0.0/8"], "10.0.0.7", values);
            assert_eq!(client.as_deref(), Some("203.0.113.9"), "{values:?}");
        }
        assert_eq!(
            client(&["::1"], "::1", &["[2001:db8::1]:443"]).as_deref(),
            Some("2001:db8::1")
        );
        assert_eq!(
            client(&["10.0.0.0/8"], "10.0.0.7", &["10.0.0.9,10.0.0.8"]).as_deref(),
            Some("10.0.0.9")
        );
    }

    #[test]
    fn a_client_behind_a_proxy_is_never_of_this_machine() {
        for said in [
            "127.0.0.1",
            "::1",
            "::ffff:127.0.0.1",
            "127.0.0.1:8000",
            "unknown",
            "",
            "10.0.0.7,x",
        ] {
            let client = client(&["127.0.0.0/30", "10.0.0.7"], "127.0.0.1", &[said]);
            assert_eq!(client.as_deref(), Some("0.0.0.0"), "{said}");
        }
        let of = |proxied_for| client_of(proxied_for).map(|client| client.to_string());
        assert_eq!(
            of(ProxiedFor::Client([127, 0, 0, 1].into())).as_deref(),
            Some("0.0.0.0:0")
        );
        assert_eq!(
            of(ProxiedFor::Client([192, 0, 2, 1].into())).as_deref(),
            Some("192.0.2.1:0")
        );
        assert_eq!(of(ProxiedFor::Unknown).as_deref(), Some("0.0.0.0:0"));
        assert_eq!(of(ProxiedFor::Itself), None);
    }
}
