//! Idle connections for reuse, by origin, and a cache of parsed URLs. Idle connections are closed after a second: a peer that
//! serves one connection at a time hears nobody else while we keep ours open.

use crate::call::CallError;
use crate::parsed_url::ParsedUrl;
use crate::rx_time::RxTimes;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Long enough for a quick succession of calls, short enough for a peer's other clients to meet their deadlines.
const IDLE_MAX: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_millis(250);
const PER_ORIGIN_MAX: usize = 16;
const ORIGINS_MAX: usize = 1024;
const URLS_MAX: usize = 4096;

/// The client's end of a connection.
#[derive(Debug)]
pub(crate) struct PooledConnection {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    pub(crate) rx_times: Arc<RxTimes>,
}

#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    urls: HashMap<Box<str>, Arc<ParsedUrl>>,
    /// Ordered, so that connections are closed in a reproducible order under simulation.
    idle: BTreeMap<Box<str>, Vec<Idle>>,
    /// Whether the task that closes idle connections runs. It ends when there are none.
    has_sweeper: bool,
}

#[derive(Debug)]
struct Idle {
    connection: PooledConnection,
    since: Instant,
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn parse(&self, url: &str) -> Result<Arc<ParsedUrl>, CallError> {
        let mut state = self.state();
        if let Some(parsed) = state.urls.get(url) {
            return Ok(Arc::clone(parsed));
        }
        let parsed = Arc::new(ParsedUrl::parse(url)?);
        if state.urls.len() >= URLS_MAX {
            state.urls.clear();
        }
        state.urls.insert(url.into(), Arc::clone(&parsed));
        Ok(parsed)
    }

    /// The connection to `origin` that was used last, if one is still open.
    pub(crate) fn take(&self, origin: &str) -> Option<PooledConnection> {
        let mut state = self.state();
        let idle = state.idle.get_mut(origin)?;
        while let Some(Idle { connection, since }) = idle.pop() {
            if since.elapsed() > IDLE_MAX {
                // The others have been idle for longer still.
                idle.clear();
            } else if !connection.sender.is_closed() && connection.rx_times.is_idle() {
                return Some(connection);
            }
        }
        None
    }

    pub(crate) fn put(self: &Arc<Self>, origin: &str, connection: PooledConnection) {
        if connection.sender.is_closed() {
            return;
        }
        let mut state = self.state();
        let connection = Idle {
            connection,
            since: Instant::now(),
        };
        if let Some(idle) = state.idle.get_mut(origin) {
            if idle.len() < PER_ORIGIN_MAX {
                idle.push(connection);
            }
        } else {
            if state.idle.len() >= ORIGINS_MAX {
                state.close_idle();
            }
            if state.idle.len() < ORIGINS_MAX {
                state.idle.insert(origin.into(), vec![connection]);
            }
        }
        if !state.has_sweeper {
            state.has_sweeper = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }
}

impl State {
    fn close_idle(&mut self) {
        self.idle.retain(|_, idle| {
            idle.retain(|idle| idle.since.elapsed() <= IDLE_MAX);
            !idle.is_empty()
        });
    }
}

async fn sweep(pool: Weak<Pool>) {
    loop {
        sleep(SWEEP_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut state = pool.state();
        state.close_idle();
        if state.idle.is_empty() {
            state.has_sweeper = false;
            return;
        }
    }
}
