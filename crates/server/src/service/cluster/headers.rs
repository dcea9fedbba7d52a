//! What a forwarded request carries besides what its client sent: whom it is for, and its own method and path, since its path at
//! the peer socket is always [`FORWARD`](super::peer_http::FORWARD). Read at the peer socket alone, where callers show the
//! certificate of a live service; a client that sends such headers to the public socket changes nothing.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use std::net::IpAddr;
use std::time::Duration;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("matchday-forwarded-for");
const ELAPSED: HeaderName = HeaderName::from_static("matchday-forwarded-elapsed-us");
const METHOD: HeaderName = HeaderName::from_static("matchday-forwarded-method");
const TARGET: HeaderName = HeaderName::from_static("matchday-forwarded-target");
const LEAGUE: HeaderName = HeaderName::from_static("matchday-forwarded-league");
/// On a response of the peer socket: the league has another owner, and nothing was done.
const NOT_OWNER: HeaderName = HeaderName::from_static("matchday-not-owner");

/// How a request came to the service that forwards it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Forwarded {
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: Uri,
    /// The number of the league that it is for; 0 for the service itself.
    pub(super) number: u32,
    /// The client's address, which is never taken for one of the owner's own sockets: it has no port.
    pub(super) from: IpAddr,
    /// How long ago its last byte had been received.
    pub(super) elapsed: Duration,
}

impl Forwarded {
    /// Replaces what a client may have sent under these names.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        let elapsed = u64::try_from(self.elapsed.as_micros()).unwrap_or(u64::MAX);
        headers.insert(LEAGUE, HeaderValue::from(self.number));
        headers.insert(ELAPSED, HeaderValue::from(elapsed));
        let texts = [
            (METHOD, self.method.to_string()),
            (TARGET, self.target.to_string()),
            (FORWARDED_FOR, self.from.to_string()),
        ];
        for (name, text) in texts {
            headers.remove(&name);
            if let Ok(value) = HeaderValue::from_str(&text) {
                headers.insert(name, value);
            }
        }
    }

    /// Takes them out; `None` if one is missing.
    pub(super) fn take(headers: &mut HeaderMap) -> Option<Self> {
        let mut text = |name: HeaderName| Some(headers.remove(name)?.to_str().ok()?.to_owned());
        let number = text(LEAGUE);
        let from = text(FORWARDED_FOR);
        let elapsed = text(ELAPSED);
        let method = text(METHOD);
        let target = text(TARGET);
        Some(Self {
            method: method?.parse().ok()?,
            target: target?.parse().ok()?,
            number: number?.parse().ok()?,
            from: from?.parse().ok()?,
            elapsed: Duration::from_micros(elapsed?.parse().ok()?),
        })
    }
}

/// On a response of the peer socket: the client is to find its connection closed, as where an agent is absent.
const UNANSWERED: HeaderName = HeaderName::from_static("matchday-unanswered");

pub(super) fn mark_unanswered(headers: &mut HeaderMap) {
    headers.insert(UNANSWERED, HeaderValue::from_static("1"));
}

pub(super) fn is_unanswered(headers: &HeaderMap) -> bool {
    headers.contains_key(UNANSWERED)
}

pub(super) fn mark_not_owner(headers: &mut HeaderMap) {
    headers.insert(NOT_OWNER, HeaderValue::from_static("1"));
}

pub(super) fn is_not_owner(headers: &HeaderMap) -> bool {
    headers.contains_key(NOT_OWNER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_sends_under_these_names_is_replaced() {
        let mut headers = HeaderMap::new();
        headers.append(FORWARDED_FOR, HeaderValue::from_static("10.0.0.1"));
        headers.append(FORWARDED_FOR, HeaderValue::from_static("10.0.0.2"));
        headers.append(ELAPSED, HeaderValue::from_static("99999999"));
        headers.append(TARGET, HeaderValue::from_static("/call"));
        headers.append(METHOD, HeaderValue::from_static("DELETE"));
        let told = Forwarded {
            method: Method::POST,
            target: Uri::from_static("/leagues/spring/mcp?x=1"),
            number: 7,
            from: IpAddr::from([192, 0, 2, 1]),
            elapsed: Duration::from_micros(1_250),
        };
        told.write(&mut headers);
        assert_eq!(headers.len(), 5);
        assert_eq!(Forwarded::take(&mut headers), Some(told));
        assert_eq!((headers.len(), Forwarded::take(&mut headers)), (0, None));
    }
}
