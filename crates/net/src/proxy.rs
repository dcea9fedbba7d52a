//! HTTP proxies on the way out: which proxy a call takes, as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say, and the tunnel
//! through it (CONNECT). Loopback addresses are called directly.

use crate::call::CallError;
use crate::egress::Target;
use crate::transport::Connection;
use std::net::IpAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The head of a proxy's answer is short.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// One proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub host: String,
    pub port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

impl std::fmt::Debug for Proxy {
    /// Without its password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The proxies of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    /// Hosts that are called directly: names, with everything beneath them, or addresses. `*` for all.
    direct: Vec<String>,
}

/// A variable that names no proxy that we can use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: expected http://HOST:PORT, the address of an HTTP proxy")]
pub struct ProxyError(pub String);

impl Proxies {
    /// From the environment variables, in upper or lower case.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let either = |name: &str| {
            let value = variable(name).or_else(|| variable(&name.to_ascii_lowercase()));
            value.filter(|value| !value.is_empty())
        };
        let proxy = |name: &str| {
            let read =
                |value: String| Proxy::parse(&value).ok_or_else(|| ProxyError(name.to_owned()));
            either(name)
                .or_else(|| either("ALL_PROXY"))
                .map(read)
                .transpose()
        };
        let direct = either("NO_PROXY").unwrap_or_default();
        let direct = direct
            .split(',')
            .map(|host| host.trim().trim_start_matches('.').to_ascii_lowercase());
        Ok(Self {
            http: proxy("HTTP_PROXY")?,
            https: proxy("HTTPS_PROXY")?,
            direct: direct.filter(|host| !host.is_empty()).collect(),
        })
    }

    /// The proxy for a target, if it is not called directly.
    pub(crate) fn proxy_for(&self, target: &Target, is_https: bool) -> Option<&Proxy> {
        let host = target.host.as_str();
        let is_loopback =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let is_direct = self.direct.iter().any(|direct| {
            direct == "*"
                || direct == host
                || host
                    .strip_suffix(direct)
                    .is_some_and(|rest| rest.ends_with('.'))
        });
        if is_loopback || is_direct {
            return None;
        }
        if is_https {
            self.https.as_ref()
        } else {
            self.http.as_ref()
        }
    }
}

impl Proxy {
    fn parse(text: &str) -> Option<Self> {
        let rest = text
            .strip_prefix("http://")
            .unwrap_or(text)
            .trim_end_matches('/');
        if rest.contains("://") {
            return None;
        }
        let (credentials, address) = match rest.rsplit_once('@') {
            Some((credentials, address)) => (Some(credentials), address),
            None => (None, rest),
        };
        let target = Target::parse(&format!("http://{address}/"))?;
        if target.host.is_empty() {
            return None;
        }
        let authorization = credentials.map(|text| format!("Basic {}", base64(text.as_bytes())));
        Some(Self {
            host: target.host,
            port: target.port,
            authorization,
        })
    }

    /// Has the proxy connect to `target`; what follows on `stream` is between us and the target.
    pub(crate) async fn tunnel(
        &self,
        stream: &mut impl Connection,
        target: &Target,
    ) -> Result<(), CallError> {
        let failed = |why: String| CallError::NoConnection(format!("the proxy {self:?} {why}"));
        let host = if target.host.contains(':') {
            format!("[{}]", target.host)
        } else {
            target.host.clone()
        };
        let at = format!("{host}:{}", target.port);
        let authorization = self.authorization.as_ref();
        let authorization = authorization
            .map(|value| format!("Proxy-Authorization: {value}\r\n"))
            .unwrap_or_default();
        let request = format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n{authorization}\r\n");
        stream
            .write_all(request.as_bytes())
            .await
            .map_err(|error| failed(format!("went away: {error}")))?;
        let mut head = Vec::new();
        // Byte by byte: what comes after the head belongs to the target.
        while !head.ends_with(b"\r\n\r\n") {
            let byte = stream
                .read_u8()
                .await
                .map_err(|error| failed(format!("went away: {error}")))?;
            head.push(byte);
            if head.len() > HEAD_BYTES_MAX {
                return Err(failed("answers with too long a head".to_owned()));
            }
        }
        let status = String::from_utf8_lossy(&head)
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        match status.as_str() {
            "200" => Ok(()),
            "407" => Err(failed(
                "wants a user and a password: http://USER:PASSWORD@HOST:PORT".to_owned(),
            )),
            status => Err(failed(format!(
                "does not connect to {at}: HTTP {}",
                status.escape_debug()
            ))),
        }
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS.get((bits & 63) as usize).copied().unwrap_or(b'='));
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4_usize {
            text.push(if place <= chunk.len() {
                digit(bits >> (18 - 6 * place))
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, ProxyError> {
        Proxies::from_variables(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn target(host: &str) -> Target {
        Target {
            host: host.to_owned(),
            port: 443,
            path: "/mcp".to_owned(),
        }
    }

    #[test]
    fn the_proxy_follows_from_the_scheme_and_from_the_host() {
        let set = [
            ("HTTPS_PROXY", "http://proxy.example:3128"),
            ("no_proxy", "intern.example, 10.0.0.7"),
        ];
        let proxies = proxies(&set).unwrap();
        let port = |host: &str, is_https| {
            proxies
                .proxy_for(&target(host), is_https)
                .map(|proxy| proxy.port)
        };
        assert_eq!(port("league.example", true), Some(3128));
        assert_eq!(port("league.example", false), None);
        for direct in [
            "intern.example",
            "a.intern.example",
            "10.0.0.7",
            "localhost",
            "127.0.0.1",
        ] {
            assert_eq!(port(direct, true), None, "{direct}");
        }
        assert_eq!(port("notintern.example", true), Some(3128));
    }

    #[test]
    fn a_password_is_sent_and_not_shown() {
        let proxy = Proxy::parse("http://user:secret@proxy:8080/").unwrap();
        assert_eq!(
            proxy.authorization.as_deref(),
            Some("Basic dXNlcjpzZWNyZXQ=")
        );
        assert_eq!(format!("{proxy:?}"), "proxy:8080");
        assert!(proxies(&[("HTTP_PROXY", "socks5://x:1")]).is_err());
    }

    #[tokio::test]
    async fn a_proxy_that_refuses_says_so() {
        let proxy = Proxy::parse("proxy:3128").unwrap();
        for (answer, expected) in [
            ("HTTP/1.1 200 OK\r\n\r\n", Ok(())),
            (
                "HTTP/1.1 403 Forbidden\r\nX: y\r\n\r\n",
                Err("does not connect to league.example:443: HTTP 403"),
            ),
            (
                "HTTP/1.1 407 Who\r\n\r\n",
                Err("wants a user and a password"),
            ),
        ] {
            let (mut near, mut far) = tokio::io::duplex(1024);
            far.write_all(answer.as_bytes()).await.unwrap();
            let result = proxy.tunnel(&mut near, &target("league.example")).await;
            match expected {
                Ok(()) => assert_eq!(result, Ok(())),
                Err(words) => assert!(result.unwrap_err().to_string().contains(words)),
            }
            drop(near);
            let mut sent = String::new();
            far.read_to_string(&mut sent).await.unwrap();
            assert!(
                sent.starts_with("CONNECT league.example:443 HTTP/1.1\r\n"),
                "{sent}"
            );
        }
    }
}
