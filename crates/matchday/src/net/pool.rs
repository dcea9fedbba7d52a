//! Addresses that have been read, and connections that may be used again, by the origin they lead to. One that is not used for a
//! moment is let go: a server that serves one connection at a time hears nobody else for as long as we keep ours.

use super::address::Address;
use super::client::CallError;
use super::stamps::Stamps;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Long enough for the exchanges of one match, short enough for whoever waits behind us to be heard in its window.
const IDLE_MAX: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_millis(250);
/// How many idle connections are kept to one host, and how many hosts there may be before the idle ones are cleared.
const PER_HOST_MAX: usize = 16;
const HOSTS_MAX: usize = 1024;
const ADDRESSES_MAX: usize = 4096;

/// A connection, as whoever sends something over it sees it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) sender: SendRequest<Full<Bytes>>,
    pub(super) stamps: Arc<Stamps>,
}

#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Idlers>);

#[derive(Debug, Default)]
struct Idlers {
    /// By their URL.
    addresses: HashMap<Box<str>, Arc<Address>>,
    /// In order, so that what is let go together is let go in the same order every time.
    hosts: BTreeMap<Box<str>, Vec<Idle>>,
    /// Whether a task lets go of what has been idle for too long. It ends when there is nothing left.
    swept: bool,
}

#[derive(Debug)]
struct Idle {
    line: Line,
    since: Instant,
}

impl Pool {
    fn idlers(&self) -> MutexGuard<'_, Idlers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where `url` leads.
    pub(super) fn address(&self, url: &str) -> Result<Arc<Address>, CallError> {
        let mut idlers = self.idlers();
        if let Some(address) = idlers.addresses.get(url) {
            return Ok(Arc::clone(address));
        }
        let address = Arc::new(Address::of(url)?);
        if idlers.addresses.len() >= ADDRESSES_MAX {
            idlers.addresses.clear();
        }
        idlers.addresses.insert(url.into(), Arc::clone(&address));
        Ok(address)
    }

    /// The connection to `host` that was used last, if one is still open.
    pub(super) fn take(&self, host: &str) -> Option<Line> {
        let mut idlers = self.idlers();
        let idle = idlers.hosts.get_mut(host)?;
        while let Some(Idle { line, since }) = idle.pop() {
            if since.elapsed() > IDLE_MAX {
                // The others have been idle for longer still.
                idle.clear();
            } else if !line.sender.is_closed() && line.stamps.is_idle() {
                return Some(line);
            }
        }
        None
    }

    pub(super) fn give_back(self: &Arc<Self>, host: &str, line: Line) {
        if line.sender.is_closed() {
            return;
        }
        let mut idlers = self.idlers();
        let line = Idle { line, since: Instant::now() };
        if let Some(idle) = idlers.hosts.get_mut(host) {
            if idle.len() < PER_HOST_MAX {
                idle.push(line);
            }
        } else {
            if idlers.hosts.len() >= HOSTS_MAX {
                idlers.let_go();
            }
            if idlers.hosts.len() < HOSTS_MAX {
                idlers.hosts.insert(host.into(), vec![line]);
            }
        }
        if !idlers.swept {
            idlers.swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }
}

impl Idlers {
    fn let_go(&mut self) {
        self.hosts.retain(|_, idle| {
            idle.retain(|idle| idle.since.elapsed() <= IDLE_MAX);
            !idle.is_empty()
        });
    }
}

async fn sweep(pool: Weak<Pool>) {
    loop {
        sleep(SWEEP_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idlers = pool.idlers();
        idlers.let_go();
        if idlers.hosts.is_empty() {
            idlers.swept = false;
            return;
        }
    }
}
