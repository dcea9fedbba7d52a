//! The PROXY protocol, versions 1 and 2: by a header at the start of a connection a proxy says for which client it connects.
//! <https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt>

use crate::io_hook::{Hooked, IoHook};
use bytes::{Buf, Bytes, BytesMut};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

const V1_START: &[u8] = b"PROXY ";
/// The longest header of version 1, with its end of line.
const V1_BYTES_MAX: usize = 107;
const V2_START: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Before the addresses of version 2.
const V2_FIXED_BYTES: usize = 16;
/// Beyond the addresses, a proxy may send what it knows of TLS.
const V2_BYTES_MAX: usize = 8 * 1024;

/// For whom a proxy connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxiedFor {
    Client(IpAddr),
    /// The proxy does not know, or it is not a client on the network.
    Unknown,
    /// The proxy itself, to see whether we are there.
    Itself,
}

/// What a connection begins with.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    /// No header.
    Other,
    /// More bytes are needed.
    Incomplete,
    Header {
        proxied_for: ProxiedFor,
        bytes: usize,
    },
    Malformed,
}

/// Reads the header at the start of a connection, if there is one. What was read beyond it is read again.
pub(crate) async fn read_header<T: AsyncRead + Unpin>(
    mut stream: T,
) -> io::Result<(Option<ProxiedFor>, Unread<T>)> {
    let mut received = BytesMut::with_capacity(1024);
    let proxied_for = loop {
        match parse(&received) {
            Start::Other => break None,
            Start::Header { proxied_for, bytes } => {
                received.advance(bytes);
                break Some(proxied_for);
            }
            Start::Malformed => return Err(io::ErrorKind::InvalidData.into()),
            Start::Incomplete => {}
        }
        // What has ended before it was a header is for others to judge.
        if stream.read_buf(&mut received).await? == 0 {
            break None;
        }
    };
    Ok((proxied_for, unread(stream, received.freeze())))
}

fn parse(bytes: &[u8]) -> Start {
    if let Some(rest) = bytes.strip_prefix(V1_START) {
        return parse_v1(rest);
    }
    if bytes.starts_with(V2_START) {
        return parse_v2(bytes);
    }
    if V1_START.starts_with(bytes) || V2_START.starts_with(bytes) {
        Start::Incomplete
    } else {
        Start::Other
    }
}

/// `PROXY TCP4 192.0.2.1 10.0.0.5 40000 8000`, without the first word.
fn parse_v1(rest: &[u8]) -> Start {
    let longest = V1_BYTES_MAX - V1_START.len();
    let Some(end) = rest
        .windows(2)
        .take(longest - 1)
        .position(|two| two == b"\r\n")
    else {
        return if rest.len() < longest {
            Start::Incomplete
        } else {
            Start::Malformed
        };
    };
    let line = rest
        .get(..end)
        .and_then(|line| str::from_utf8(line).ok())
        .unwrap_or_default();
    let bytes = V1_START.len() + end + 2;
    let words: Vec<&str> = line.split(' ').collect();
    let proxied_for = match words.as_slice() {
        ["UNKNOWN", ..] => Some(ProxiedFor::Unknown),
        [family, from, to, from_port, to_port] => {
            let addresses = from.parse::<IpAddr>().ok().zip(to.parse::<IpAddr>().ok());
            let has_ports = [from_port, to_port]
                .iter()
                .all(|port| port.parse::<u16>().is_ok());
            let fits = |(from, to): &(IpAddr, IpAddr)| match *family {
                "TCP4" => from.is_ipv4() && to.is_ipv4(),
                "TCP6" => from.is_ipv6() && to.is_ipv6(),
                _ => false,
            };
            addresses
                .filter(fits)
                .filter(|_| has_ports)
                .map(|(from, _)| ProxiedFor::Client(from))
        }
        _ => None,
    };
    proxied_for.map_or(Start::Malformed, |proxied_for| Start::Header {
        proxied_for,
        bytes,
    })
}

fn parse_v2(bytes: &[u8]) -> Start {
    let Some(&[version_and_command, family, high, low]) = bytes.get(V2_START.len()..V2_FIXED_BYTES)
    else {
        return Start::Incomplete;
    };
    let length = V2_FIXED_BYTES + usize::from(u16::from_be_bytes([high, low]));
    if length > V2_BYTES_MAX {
        return Start::Malformed;
    }
    let Some(addresses) = bytes.get(V2_FIXED_BYTES..length) else {
        return Start::Incomplete;
    };
    let v4 = || {
        addresses
            .first_chunk::<12>()
            .and_then(|all| all.first_chunk::<4>())
    };
    let v6 = || {
        addresses
            .first_chunk::<36>()
            .and_then(|all| all.first_chunk::<16>())
    };
    let proxied_for = match (version_and_command, family >> 4) {
        (0x20, _) => Some(ProxiedFor::Itself),
        (0x21, 0 | 3) => Some(ProxiedFor::Unknown),
        (0x21, 1) => v4().map(|ip| ProxiedFor::Client(Ipv4Addr::from(*ip).into())),
        (0x21, 2) => v6().map(|ip| ProxiedFor::Client(Ipv6Addr::from(*ip).into())),
        _ => None,
    };
    proxied_for.map_or(Start::Malformed, |proxied_for| Start::Header {
        proxied_for,
        bytes: length,
    })
}

/// A connection of which some bytes were read already, and are read again.
pub(crate) type Unread<T> = Hooked<T, UnreadBytes>;

#[derive(Debug)]
pub(crate) struct UnreadBytes(Bytes);

pub(crate) fn unread<T>(inner: T, bytes: Bytes) -> Unread<T> {
    Hooked {
        inner,
        hook: UnreadBytes(bytes),
    }
}

impl<T: AsyncRead> IoHook<T> for UnreadBytes {
    fn poll_read(
        &mut self,
        inner: Pin<&mut T>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.0.is_empty() {
            return inner.poll_read(cx, buf);
        }
        let bytes = self.0.split_to(self.0.len().min(buf.remaining()));
        buf.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    fn v2(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [V2_START, &[command, family], &length, addresses].concat()
    }

    fn v2_from(ip: IpAddr) -> Vec<u8> {
        match ip {
            IpAddr::V4(ip) => v2(
                0x21,
                0x11,
                &[&ip.octets()[..], &[10, 0, 0, 5, 1, 1, 2, 2]].concat(),
            ),
            IpAddr::V6(ip) => v2(0x21, 0x21, &[&ip.octets()[..], &[0; 20]].concat()),
        }
    }

    #[test]
    fn both_versions_say_for_whom_the_proxy_connects() {
        let client = |text: &str| ProxiedFor::Client(text.parse().unwrap());
        for (bytes, expected) in [
            (
                b"PROXY TCP4 192.0.2.1 10.0.0.5 40000 8000\r\n".to_vec(),
                client("192.0.2.1"),
            ),
            (
                b"PROXY TCP6 2001:db8::1 fd00::5 40000 8000\r\n".to_vec(),
                client("2001:db8::1"),
            ),
            (b"PROXY UNKNOWN\r\n".to_vec(), ProxiedFor::Unknown),
            (
                b"PROXY UNKNOWN ffff:: ffff:: 65535 65535\r\n".to_vec(),
                ProxiedFor::Unknown,
            ),
            (v2_from("192.0.2.1".parse().unwrap()), client("192.0.2.1")),
            (
                v2_from("2001:db8::1".parse().unwrap()),
                client("2001:db8::1"),
            ),
            (v2(0x20, 0x00, b""), ProxiedFor::Itself),
            (v2(0x21, 0x00, b"more of it"), ProxiedFor::Unknown),
            (v2(0x21, 0x31, &[b'/'; 216]), ProxiedFor::Unknown),
        ] {
            let all = [&bytes[..], b"GET / HTTP/1.1"].concat();
            let expected = Start::Header {
                proxied_for: expected,
                bytes: bytes.len(),
            };
            assert_eq!(
                parse(&all),
                expected,
                "{:?}",
                String::from_utf8_lossy(&bytes)
            );
            for length in 0..bytes.len() {
                assert_eq!(
                    parse(&bytes[..length]),
                    Start::Incomplete,
                    "{length} of {bytes:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_header_is_left_alone_and_what_is_a_bad_one_is_refused() {
        for other in [
            "POST /mcp HTTP/1.1",
            "PUT",
            "GET / HTTP/1.1",
            "\x16\x03\x01",
            "\r\nGET",
            "PROXYS",
        ] {
            assert_eq!(parse(other.as_bytes()), Start::Other, "{other:?}");
        }
        let mut bad = vec![
            v2(0x22, 0x11, &[0; 12]),
            v2(0x11, 0x11, &[0; 12]),
            v2(0x21, 0x41, &[0; 12]),
            v2(0x21, 0x11, &[0; 11]),
            v2(0x21, 0x21, &[0; 35]),
            v2(0x21, 0x11, &[0; V2_BYTES_MAX]),
            [V1_START, &[b'x'; V1_BYTES_MAX]].concat(),
        ];
        bad.extend(
            [
                "PROXY /mcp HTTP/1.1\r\n",
                "PROXY TCP4 192.0.2.1 10.0.0.5 40000\r\n",
                "PROXY TCP4 192.0.2.1 10.0.0.5 40000 8000 HTTP/1.1\r\n",
                "PROXY TCP4 192.0.2.1  10.0.0.5 40000 8000\r\n",
                "PROXY TCP4 2001:db8::1 ::1 40000 8000\r\n",
                "PROXY TCP6 192.0.2.1 10.0.0.5 40000 8000\r\n",
                "PROXY TCP4 192.0.2.256 10.0.0.5 40000 8000\r\n",
                "PROXY TCP4 192.0.2.1 10.0.0.5 40000 70000\r\n",
                "PROXY UDP4 192.0.2.1 10.0.0.5 40000 8000\r\n",
                "PROXY \r\n",
            ]
            .map(|text| text.as_bytes().to_vec()),
        );
        for bytes in bad {
            assert_eq!(
                parse(&bytes),
                Start::Malformed,
                "{:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }

    #[tokio::test]
    async fn what_follows_the_header_is_read_as_if_there_had_been_none() {
        for (sent, expected) in [
            (
                "PROXY TCP4 192.0.2.1 10.0.0.5 1 2\r\nGET",
                Some(ProxiedFor::Client([192, 0, 2, 1].into())),
            ),
            ("GET", None),
            ("PRO", None),
        ] {
            let (mut far, near) = tokio::io::duplex(1);
            let sending = async {
                far.write_all(sent.as_bytes()).await.unwrap();
                drop(far);
            };
            let reading = async {
                let (proxied_for, mut rest) = read_header(near).await.unwrap();
                let mut text = String::new();
                rest.read_to_string(&mut text).await.unwrap();
                (proxied_for, text)
            };
            let ((), (proxied_for, text)) = tokio::join!(sending, reading);
            assert_eq!(proxied_for, expected);
            assert!(sent.ends_with(&text) && text.len() == 3, "{text}");
        }
    }
}
