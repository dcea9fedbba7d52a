//! Where names lead: each is looked up once, and what was found then holds for as long as the process runs. A name that
//! leads elsewhere the second time moves nobody.

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

/// How many names are known at once. A league has some hundred agents.
pub(crate) const NAMES_MAX: usize = 4096;
/// How many names are looked up at once: each takes a thread, and strangers choose the names.
const LOOKUPS_MAX: usize = 16;
pub(crate) const LOOKUP_MAX: Duration = Duration::from_secs(5);

/// Asks for the addresses of a name.
pub type Lookup = Arc<dyn Fn(String) -> Found + Send + Sync>;
pub type Found = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

#[derive(Clone)]
pub struct Names {
    known: Arc<Mutex<HashMap<String, Known>>>,
    lookups: Arc<Semaphore>,
    lookup: Lookup,
}

#[derive(Debug)]
struct Known {
    addresses: Vec<IpAddr>,
    /// Whether a call has gone there. Otherwise it may be forgotten for want of room.
    called: bool,
}

impl Default for Names {
    fn default() -> Self {
        Self::by(Arc::new(|name| Box::pin(ask_system(name))))
    }
}

async fn ask_system(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
}

impl Names {
    /// Looked up by something other than the system.
    pub fn by(lookup: Lookup) -> Self {
        Self { known: Arc::default(), lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)), lookup }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known without asking anyone.
    pub(super) fn recall(&self, host: &str) -> Option<Vec<IpAddr>> {
        if let Ok(ip) = host.parse() {
            return Some(vec![ip]);
        }
        if host == "localhost" {
            return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        self.known().get(host).map(|known| known.addresses.clone())
    }

    /// Where `host` leads, now and from now on.
    pub(super) async fn find(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        if let Some(addresses) = self.recall(host) {
            return Ok(addresses);
        }
        let (lookup, lookups, name) = (Arc::clone(&self.lookup), Arc::clone(&self.lookups), host.to_owned());
        // The system goes on looking when nobody waits any more, so its place must outlast our patience.
        let looking = tokio::spawn(async move {
            let _place = lookups.acquire_owned().await;
            lookup(name).await
        });
        let found = match timeout(LOOKUP_MAX, looking).await {
            Ok(Ok(Ok(found))) => found,
            Ok(Ok(Err(error))) => return Err(format!("the name {host} cannot be found: {error}")),
            Ok(Err(_)) | Err(_) => return Err(format!("the name {host} was not found in time")),
        };
        if found.is_empty() {
            return Err(format!("the name {host} leads nowhere"));
        }
        self.keep(host, found)
    }

    fn keep(&self, host: &str, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, String> {
        let mut known = self.known();
        if known.len() >= NAMES_MAX && !known.contains_key(host) {
            known.retain(|_, known| known.called);
        }
        if known.len() >= NAMES_MAX && !known.contains_key(host) {
            return Err(format!("more than {NAMES_MAX} names have been called: restart the agent"));
        }
        // Of two who looked at once, the first is right.
        let kept = known.entry(host.to_owned()).or_insert(Known { addresses: found, called: false });
        Ok(kept.addresses.clone())
    }

    /// A call goes to `host`: from now on it is not forgotten.
    pub(super) fn note_called(&self, host: &str) {
        if let Some(known) = self.known().get_mut(host) {
            known.called = true;
        }
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("known", &self.known().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Leads one address further each time.
    fn wandering() -> Names {
        let asked = AtomicU8::new(0);
        Names::by(Arc::new(move |name| {
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
        let names = wandering();
        let first = names.find("a.example").await.unwrap();
        assert_ne!(names.find("b.example").await.unwrap(), first);
        assert_eq!(names.find("a.example").await.unwrap(), first);
        assert_eq!(names.recall("a.example"), Some(first));
    }

    #[tokio::test]
    async fn addresses_and_localhost_are_known_without_asking() {
        let names = Names::by(Arc::new(|_| Box::pin(async { Err(io::Error::other("asked")) })));
        for host in ["127.0.0.1", "::1", "localhost"] {
            assert!(names.find(host).await.unwrap().iter().all(IpAddr::is_loopback), "{host}");
        }
        assert!(names.find("a.example").await.unwrap_err().contains("the name a.example cannot be found"));
    }

    #[tokio::test]
    async fn what_was_called_is_not_forgotten_for_what_was_only_asked_for() {
        let names = wandering();
        let first = names.find("called.example").await.unwrap();
        names.note_called("called.example");
        for number in 0..NAMES_MAX + 10 {
            names.find(&format!("n{number}.example")).await.unwrap();
        }
        assert!(names.known().len() <= NAMES_MAX);
        assert_eq!(names.recall("called.example"), Some(first));
        assert!(names.find("nowhere").await.unwrap_err().contains("leads nowhere"));
    }
}
