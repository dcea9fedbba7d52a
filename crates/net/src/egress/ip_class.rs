//! Classes of IP addresses, after the registries of special-purpose addresses (RFC 6890 and its successors), plus the metadata
//! services of the large clouds, some of which have ordinary addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpClass {
    Loopback,
    Private,
    Public,
    /// Never called, whatever the operator allows; with a description.
    Blocked(&'static str),
}

const METADATA: &str = "the metadata service of a cloud";
const RESERVED: &str = "a reserved address";

impl IpClass {
    pub fn of(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => of_v4(ip),
            IpAddr::V6(ip) => of_v6(ip),
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Public => "a public address",
            Self::Blocked(what) => what,
        }
    }
}

fn of_v4(ip: Ipv4Addr) -> IpClass {
    match ip.octets() {
        [169, 254, 169, 254] | [100, 100, 100, 200] | [192, 0, 0, 192] | [168, 63, 129, 16] => {
            IpClass::Blocked(METADATA)
        }
        [0, ..] => IpClass::Blocked("an unspecified address"),
        [169, 254, ..] => IpClass::Blocked("a link-local address"),
        [224..=239, ..] => IpClass::Blocked("a multicast address"),
        [255, 255, 255, 255] => IpClass::Blocked("a broadcast address"),
        [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [198, 18 | 19, ..]
        | [240..=255, ..] => IpClass::Blocked(RESERVED),
        [127, ..] => IpClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => IpClass::Private,
        _ => IpClass::Public,
    }
}

fn of_v6(ip: Ipv6Addr) -> IpClass {
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => IpClass::Loopback,
        [0, 0, 0, 0, 0, 0, 0, 0] => IpClass::Blocked("an unspecified address"),
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254] => {
            IpClass::Blocked(METADATA)
        }
        // IPv4-mapped, NAT64, 6to4 and Teredo addresses could hide an IPv4 address of any class.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x0064, 0xff9b, ..]
        | [0x2002, ..]
        | [0x2001, 0, ..] => IpClass::Blocked("an IPv4 address written as IPv6"),
        [0xff00..=0xffff, ..] => IpClass::Blocked("a multicast address"),
        [0xfe80..=0xfebf, ..] => IpClass::Blocked("a link-local address"),
        [0xfc00..=0xfdff, ..] => IpClass::Private,
        [0x2001, 0x0db8, ..] | [0x3fff, ..=0x0fff, ..] => IpClass::Blocked(RESERVED),
        [0x2000..=0x3fff, ..] => IpClass::Public,
        _ => IpClass::Blocked(RESERVED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_of_its_kind() {
        for (kind, addresses) in [
            (
                IpClass::Loopback,
                &["127.0.0.1", "127.255.255.254", "::1"][..],
            ),
            (
                IpClass::Private,
                &[
                    "10.0.0.1",
                    "172.16.0.1",
                    "172.31.255.255",
                    "192.168.1.1",
                    "100.64.0.1",
                    "fd12::1",
                    "fc00::1",
                ],
            ),
            (
                IpClass::Public,
                &[
                    "8.8.8.8",
                    "172.15.0.1",
                    "172.32.0.1",
                    "100.128.0.1",
                    "2606:4700::1111",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(IpClass::of(address.parse().unwrap()), kind, "{address}");
            }
        }
    }

    #[test]
    fn what_is_never_called_is_told_what_it_is() {
        for (address, what) in [
            ("169.254.169.254", METADATA),
            ("100.100.100.200", METADATA),
            ("168.63.129.16", METADATA),
            ("fd00:ec2::254", METADATA),
            ("169.254.0.1", "a link-local address"),
            ("fe80::1", "a link-local address"),
            ("0.0.0.0", "an unspecified address"),
            ("0.1.2.3", "an unspecified address"),
            ("::", "an unspecified address"),
            ("224.0.0.1", "a multicast address"),
            ("ff02::1", "a multicast address"),
            ("255.255.255.255", "a broadcast address"),
            ("240.0.0.1", RESERVED),
            ("192.0.2.1", RESERVED),
            ("2001:db8::1", RESERVED),
            ("fec0::1", RESERVED),
            ("::ffff:127.0.0.1", "an IPv4 address written as IPv6"),
            ("::ffff:169.254.169.254", "an IPv4 address written as IPv6"),
            ("::127.0.0.1", "an IPv4 address written as IPv6"),
            ("64:ff9b::7f00:1", "an IPv4 address written as IPv6"),
            ("2002:7f00:1::", "an IPv4 address written as IPv6"),
        ] {
            assert_eq!(
                IpClass::of(address.parse().unwrap()),
                IpClass::Blocked(what),
                "{address}"
            );
        }
    }
}
