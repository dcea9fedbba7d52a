//! A network of IP addresses in CIDR notation, or one address.

use std::net::IpAddr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpNetwork {
    address: IpAddr,
    /// The length of the prefix.
    bits: u8,
}

impl IpNetwork {
    /// `10.0.0.0/8`, `fd12::/16`, `10.0.0.7`, `::1`
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.split_once('/') {
            None => text.parse::<IpAddr>().ok().map(Self::from),
            Some((address, bits)) => {
                let Self {
                    address,
                    bits: width,
                } = Self::from(address.parse::<IpAddr>().ok()?);
                let bits = bits.parse().ok().filter(|bits| *bits <= width)?;
                Some(Self { address, bits })
            }
        }
    }

    pub fn contains(&self, ip: IpAddr) -> bool {
        let differ = match (self.address, ip) {
            (IpAddr::V4(address), IpAddr::V4(ip)) => {
                u128::from(u32::from(address) ^ u32::from(ip)) << 96
            }
            (IpAddr::V6(address), IpAddr::V6(ip)) => u128::from(address) ^ u128::from(ip),
            _ => return false,
        };
        differ.leading_zeros() >= u32::from(self.bits)
    }
}

impl From<IpAddr> for IpNetwork {
    /// The address alone.
    fn from(address: IpAddr) -> Self {
        Self {
            address,
            bits: if address.is_ipv4() { 32 } else { 128 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_the_addresses_with_its_prefix_and_no_others() {
        let has = |network: &str, ip: &str| {
            IpNetwork::parse(network)
                .unwrap()
                .contains(ip.parse().unwrap())
        };
        for (network, ip) in [
            ("10.0.0.0/8", "10.255.0.1"),
            ("10.0.0.7", "10.0.0.7"),
            (" 10.0.0.6/31 ", "10.0.0.7"),
            ("0.0.0.0/0", "192.0.2.1"),
            ("fd12::/16", "fd12:1::1"),
            ("::1", "::1"),
        ] {
            assert!(has(network, ip), "{network} {ip}");
        }
        for (network, ip) in [
            ("10.0.0.0/8", "11.0.0.1"),
            ("10.0.0.7", "10.0.0.6"),
            ("0.0.0.0/0", "::1"),
            ("fd12::/16", "fd13::1"),
        ] {
            assert!(!has(network, ip), "{network} {ip}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "",
            "10.0.0.0/33",
            "::/129",
            "10.0.0/8",
            "10.0.0.1:80",
            "proxy.example",
            "10.0.0.1/",
            "/8",
        ] {
            assert_eq!(IpNetwork::parse(text), None, "{text}");
        }
    }
}
