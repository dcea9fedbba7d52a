//! Pinned DNS: each name is resolved once, and its addresses are kept for as long as the process runs. A name that resolves to
//! another address later (DNS rebinding) has no effect.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How many names are cached.
pub const NAMES_MAX: usize = 4096;
/// How many lookups run at once: each takes a thread, and peers choose the names.
const LOOKUPS_MAX: usize = 16;
pub const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Resolves a name to addresses.
pub type Resolver = Arc<dyn Fn(String) -> ResolveFuture + Send + Sync>;
pub type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Why a name has no addresses.
#[derive(Debug, thiserror::Error)]
pub(super) enum LookupError {
    #[error("the name {0} cannot be found: {1}")]
    NotFound(String, io::Error),
    #[error("the name {0} was not found in time")]
    TimedOut(String),
    #[error("more than {NAMES_MAX} names have been called: restart the agent")]
    TooMany,
}

#[derive(Clone)]
pub struct PinnedDns {
    cache: Arc<Mutex<HashMap<String, Pinned>>>,
    lookups: Arc<Semaphore>,
    resolver: Resolver,
}

#[derive(Debug)]
struct Pinned {
    addresses: Vec<IpAddr>,
    /// Whether a call has used it. Otherwise it may be evicted.
    called: bool,
}

impl Default for PinnedDns {
    fn default() -> Self {
        Self::with_resolver(Arc::new(|name| Box::pin(system_resolver(name))))
    }
}

async fn system_resolver(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name, 0))
        .await?
        .map(|address| address.ip())
        .collect())
}

impl PinnedDns {
    pub fn with_resolver(resolver: Resolver) -> Self {
        Self {
            cache: Arc::default(),
            lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)),
            resolver,
        }
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<String, Pinned>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses of `host`, if no lookup is needed.
    pub(super) fn cached(&self, host: &str) -> Option<Vec<IpAddr>> {
        if let Ok(ip) = host.parse() {
            return Some(vec![ip]);
        }
        if host == "localhost" {
            return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        self.cache()
            .get(host)
            .map(|pinned| pinned.addresses.clone())
    }

    pub(super) async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, LookupError> {
        if let Some(addresses) = self.cached(host) {
            return Ok(addresses);
        }
        let (resolver, lookups, name) = (
            Arc::clone(&self.resolver),
            Arc::clone(&self.lookups),
            host.to_owned(),
        );
        // The system's lookup goes on after our timeout, so its permit must be held that long.
        let lookup = tokio::spawn(async move {
            let _permit = lookups.acquire_owned().await;
            resolver(name).await
        });
        let addresses = match timeout(LOOKUP_TIMEOUT, lookup).await {
            Ok(Ok(Ok(addresses))) => addresses,
            Ok(Ok(Err(error))) => return Err(LookupError::NotFound(host.to_owned(), error)),
            Ok(Err(_)) | Err(_) => return Err(LookupError::TimedOut(host.to_owned())),
        };
        if addresses.is_empty() {
            let error = io::Error::other("it has no address");
            return Err(LookupError::NotFound(host.to_owned(), error));
        }
        self.pin(host, addresses)
    }

    fn pin(&self, host: &str, addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, LookupError> {
        let mut cache = self.cache();
        if cache.len() >= NAMES_MAX && !cache.contains_key(host) {
            cache.retain(|_, pinned| pinned.called);
        }
        if cache.len() >= NAMES_MAX && !cache.contains_key(host) {
            return Err(LookupError::TooMany);
        }
        // Of two concurrent lookups the first one counts.
        let pinned = cache.entry(host.to_owned()).or_insert(Pinned {
            addresses,
            called: false,
        });
        Ok(pinned.addresses.clone())
    }

    /// Exempts `host` from eviction.
    pub(super) fn mark_called(&self, host: &str) {
        if let Some(pinned) = self.cache().get_mut(host) {
            pinned.called = true;
        }
    }
}

impl fmt::Debug for PinnedDns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedDns")
            .field("names", &self.cache().len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Resolves to another address each time.
    fn rebinding() -> PinnedDns {
        let asked = AtomicU8::new(0);
        PinnedDns::with_resolver(Arc::new(move |name| {
            let last = asked.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move {
                if name == "nowhere" {
                    Ok(Vec::new())
                } else {
                    Ok(vec![Ipv4Addr::new(10, 0, 0, last).into()])
                }
            })
        }))
    }

    #[tokio::test]
    async fn a_name_that_wanders_is_found_where_it_was_first() {
        let dns = rebinding();
        let first = dns.resolve("a.example").await.unwrap();
        assert_ne!(dns.resolve("b.example").await.unwrap(), first);
        assert_eq!(dns.resolve("a.example").await.unwrap(), first);
        assert_eq!(dns.cached("a.example"), Some(first));
    }

    #[tokio::test]
    async fn addresses_and_localhost_are_known_without_asking() {
        let dns = PinnedDns::with_resolver(Arc::new(|_| {
            Box::pin(async { Err(io::Error::other("asked")) })
        }));
        for host in ["127.0.0.1", "::1", "localhost"] {
            assert!(
                dns.resolve(host)
                    .await
                    .unwrap()
                    .iter()
                    .all(IpAddr::is_loopback),
                "{host}"
            );
        }
        assert!(
            dns.resolve("a.example")
                .await
                .unwrap_err()
                .to_string()
                .contains("the name a.example cannot be found")
        );
    }

    #[tokio::test]
    async fn what_was_called_is_not_forgotten_for_what_was_only_asked_for() {
        let dns = rebinding();
        let first = dns.resolve("called.example").await.unwrap();
        dns.mark_called("called.example");
        for number in 0..NAMES_MAX + 10 {
            dns.resolve(&format!("n{number}.example")).await.unwrap();
        }
        assert!(dns.cache().len() <= NAMES_MAX);
        assert_eq!(dns.cached("called.example"), Some(first));
        assert!(
            dns.resolve("nowhere")
                .await
                .unwrap_err()
                .to_string()
                .contains("it has no address")
        );
    }
}
