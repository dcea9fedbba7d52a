//! Egress control against SSRF: which endpoints that peers have named may be called. Policy and pinned DNS meet here, so that
//! the address that was checked is the address that is called.

mod dns;
mod ip_class;
mod policy;

pub use dns::{LOOKUP_TIMEOUT, NAMES_MAX, PinnedDns, ResolveFuture, Resolver};
pub use ip_class::IpClass;
pub use policy::{AllowRule, EgressError, EgressPolicy, Scopes, Target};

use crate::call::CallError;
use dns::LookupError;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Clones share the pinned DNS.
#[derive(Debug, Clone)]
pub struct Egress(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    policy: EgressPolicy,
    dns: PinnedDns,
    /// Hosts and ports from the operator's own configuration: they are not checked, and their names not pinned.
    trusted: Vec<(String, u16)>,
    /// Limits the requests that wait for a DNS lookup, since each takes up a place in the inbox.
    checks: Semaphore,
}

const CHECKS_MAX: usize = 64;

impl Egress {
    /// `trusted`: URLs from the operator's own configuration.
    pub fn new<'a>(
        policy: EgressPolicy,
        dns: PinnedDns,
        trusted: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let trusted = trusted
            .into_iter()
            .filter_map(Target::parse)
            .map(|target| (target.host, target.port));
        let checks = Semaphore::new(CHECKS_MAX);
        Self(Arc::new(Inner {
            policy,
            dns,
            trusted: trusted.collect(),
            checks,
        }))
    }

    /// [`Self::check`] without a DNS lookup; `None` if one is needed.
    pub fn check_cached(&self, url: &str) -> Option<Result<(), EgressError>> {
        let Some(target) =
            Target::parse(url).filter(|target| !target.host.is_empty() && target.port != 0)
        else {
            return Some(Err(EgressError::InvalidUrl(url.to_owned())));
        };
        if self.is_trusted(&target) {
            return Some(Ok(()));
        }
        let addresses = self.0.dns.cached(&target.host)?;
        Some(self.allowed(&target, &addresses).map(|_| ()))
    }

    /// Whether a URL may be called. A name that is not found in time, or not looked up because too many lookups wait, passes
    /// here and is checked when it is called.
    pub async fn check(&self, url: &str) -> Result<(), EgressError> {
        if let Some(result) = self.check_cached(url) {
            return result;
        }
        let (Some(target), Ok(_permit)) = (Target::parse(url), self.0.checks.try_acquire()) else {
            return Ok(());
        };
        match self.0.dns.resolve(&target.host).await {
            Ok(addresses) => self.allowed(&target, &addresses).map(|_| ()),
            Err(why @ LookupError::NotFound(..)) => Err(EgressError::NotFound(why.to_string())),
            Err(LookupError::TimedOut(_) | LookupError::TooMany) => Ok(()),
        }
    }

    /// The addresses to connect to; `None` for a trusted target, which is left to the system's resolver.
    pub(crate) async fn resolve(
        &self,
        target: &Target,
    ) -> Result<Option<Vec<SocketAddr>>, CallError> {
        if self.is_trusted(target) {
            return Ok(None);
        }
        let addresses = self
            .0
            .dns
            .resolve(&target.host)
            .await
            .map_err(|why| CallError::NoConnection(why.to_string()))?;
        let allowed = self
            .allowed(target, &addresses)
            .map_err(|why| CallError::Forbidden(why.to_string()))?;
        self.0.dns.mark_called(&target.host);
        Ok(Some(allowed))
    }

    fn is_trusted(&self, target: &Target) -> bool {
        self.0
            .trusted
            .iter()
            .any(|(host, port)| *host == target.host && *port == target.port)
    }

    /// Those of `addresses` that may be called. An error if there are none, or if one of them is our own.
    fn allowed(
        &self,
        target: &Target,
        addresses: &[IpAddr],
    ) -> Result<Vec<SocketAddr>, EgressError> {
        let mut allowed = Vec::new();
        let mut first_error = None;
        for ip in addresses {
            match self.0.policy.check(target, *ip) {
                Ok(()) => allowed.push(SocketAddr::new(*ip, target.port)),
                Err(error @ EgressError::SelfCall(_)) => return Err(error),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        match first_error {
            Some(error) if allowed.is_empty() => Err(error),
            _ => Ok(allowed),
        }
    }
}
