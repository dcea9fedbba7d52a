//! Connections that may be used again, by the origin they lead to: scheme, host and port.

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Shorter than what most servers allow, so that they seldom close a connection while we begin to use it.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// How many idle connections are kept to one host, and how many hosts there may be before the idle ones are cleared.
const PER_HOST_MAX: usize = 64;
const HOSTS_MAX: usize = 1024;

pub(super) type Line = SendRequest<Full<Bytes>>;

#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<HashMap<String, Vec<Idle>>>);

#[derive(Debug)]
struct Idle {
    line: Line,
    since: Instant,
}

impl Pool {
    /// The connection to `host` that was used last, if one is still open.
    pub(super) fn take(&self, host: &str) -> Option<Line> {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = hosts.get_mut(host)?;
        while let Some(Idle { line, since }) = idle.pop() {
            if since.elapsed() > IDLE_MAX {
                // The others have been idle for longer still.
                idle.clear();
            } else if !line.is_closed() {
                return Some(line);
            }
        }
        hosts.remove(host);
        None
    }

    pub(super) fn give_back(&self, host: &str, line: Line) {
        if line.is_closed() {
            return;
        }
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= HOSTS_MAX && !hosts.contains_key(host) {
            hosts.retain(|_, idle| idle.last().is_some_and(|last| last.since.elapsed() <= IDLE_MAX));
        }
        if hosts.len() < HOSTS_MAX || hosts.contains_key(host) {
            let idle = hosts.entry(host.to_owned()).or_default();
            if idle.len() < PER_HOST_MAX {
                idle.push(Idle { line, since: Instant::now() });
            }
        }
    }
}
