//! Endpoints that strangers have named: whether they may be called, and where they are. The one place where names and
//! the policy meet, so that what was judged is what is called.

use super::client::CallError;
use super::names::Names;
use super::policy::{Forbidden, Policy, Target};
use hyper::Uri;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Shared by all copies of a client.
#[derive(Debug, Clone)]
pub struct Strangers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    policy: Policy,
    names: Names,
    /// Hosts and ports that whoever runs the agent has named: they are no strangers, and may move.
    familiar: Vec<(String, u16)>,
    /// Places for those whose name is being looked up before they are let in.
    judging: Semaphore,
}

/// Whoever waits to be judged takes up the agent's room for requests, so that there must not be many of them.
const JUDGING_MAX: usize = 64;

impl Strangers {
    /// `familiar`: URLs that whoever runs the agent has named.
    pub fn new<'a>(policy: Policy, names: Names, familiar: impl IntoIterator<Item = &'a str>) -> Self {
        let familiar = familiar.into_iter().filter_map(Target::of).map(|target| (target.host, target.port));
        let judging = Semaphore::new(JUDGING_MAX);
        Self(Arc::new(Inner { policy, names, familiar: familiar.collect(), judging }))
    }

    /// Whether an endpoint may be called, as far as that is known at once; `None` if its name has to be looked up.
    pub(crate) fn judge_known(&self, url: &str) -> Option<Result<(), Forbidden>> {
        let Some(target) = Target::of(url).filter(|target| !target.host.is_empty() && target.port != 0)
        else {
            return Some(Err(Forbidden::Unusable(url.to_owned())));
        };
        if self.is_familiar(&target) {
            return Some(Ok(()));
        }
        let addresses = self.0.names.recall(&target.host)?;
        Some(self.allowed(&target, &addresses).map(|_| ()))
    }

    /// Whether an endpoint may be called. A name that leads nowhere, or cannot be looked up for the many who wait, is
    /// judged when it is called.
    pub(crate) async fn judge(&self, url: &str) -> Result<(), Forbidden> {
        if let Some(verdict) = self.judge_known(url) {
            return verdict;
        }
        let (Some(target), Ok(_place)) = (Target::of(url), self.0.judging.try_acquire()) else {
            return Ok(());
        };
        match self.0.names.find(&target.host).await {
            Ok(addresses) => self.allowed(&target, &addresses).map(|_| ()),
            Err(_) => Ok(()),
        }
    }

    /// Where to connect to, for a call that goes there now; `None` if it goes to no stranger.
    pub(super) async fn addresses(&self, target: &Target) -> Result<Option<Vec<SocketAddr>>, CallError> {
        if self.is_familiar(target) {
            return Ok(None);
        }
        let found = self.0.names.find(&target.host).await.map_err(CallError::NoConnection)?;
        let allowed = self.allowed(target, &found).map_err(|why| CallError::Forbidden(why.to_string()))?;
        self.0.names.note_called(&target.host);
        Ok(Some(allowed))
    }

    fn is_familiar(&self, target: &Target) -> bool {
        self.0.familiar.iter().any(|(host, port)| *host == target.host && *port == target.port)
    }

    /// Those of `found` that may be called; if there are none, or one of them is ourselves, why not.
    fn allowed(&self, target: &Target, found: &[IpAddr]) -> Result<Vec<SocketAddr>, Forbidden> {
        let mut allowed = Vec::new();
        let mut first_objection = None;
        for ip in found {
            match self.0.policy.judge(target, *ip) {
                Ok(()) => allowed.push(SocketAddr::new(*ip, target.port)),
                // A name that leads to us leads to nobody else.
                Err(objection @ Forbidden::Own(_)) => return Err(objection),
                Err(objection) => {
                    first_objection.get_or_insert(objection);
                }
            }
        }
        match first_objection {
            Some(objection) if allowed.is_empty() => Err(objection),
            _ => Ok(allowed),
        }
    }
}

impl Target {
    /// Where a URL leads, if it is one that we can call.
    pub fn of(url: &str) -> Option<Self> {
        Self::of_uri(&url.parse().ok()?)
    }

    pub(super) fn of_uri(uri: &Uri) -> Option<Self> {
        let port = match uri.scheme_str()? {
            scheme if scheme.eq_ignore_ascii_case("http") => 80,
            scheme if scheme.eq_ignore_ascii_case("https") => 443,
            _ => return None,
        };
        let authority = uri.authority()?;
        Some(Self {
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase(),
            port: authority.port_u16().unwrap_or(port),
            path: uri.path().to_owned(),
        })
    }
}
