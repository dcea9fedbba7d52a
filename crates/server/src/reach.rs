//! Whether agents can be reached just now: by a connection alone, as the manager finds it when they register.

use matchday_net::client::{CallError, Client};
use matchday_runtime::LocalRoutes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// How long an agent is looked for, and how long what was found counts for all who ask.
const WITHIN: Duration = Duration::from_secs(2);
const COUNTS_FOR: Duration = Duration::from_secs(15);
/// How many agents are looked for at once.
const AT_ONCE: usize = 16;

/// Whether a connection to the agent at this URL can be made.
pub(crate) async fn is_reached(
    client: &Client,
    routes: &LocalRoutes,
    url: &str,
    until: Instant,
) -> bool {
    if let Ok(Some(_)) = timeout_at(until, routes.agent(url)).await {
        return true;
    }
    let call = client.reach(url, until, None).await;
    call.result.is_ok() || matches!(call.result, Err(CallError::Local(_)))
}

/// Looks for the agents of a league, for its viewers: each at most once in a while, however many ask.
#[derive(Debug)]
pub(crate) struct Reach {
    client: Client,
    routes: LocalRoutes,
    found: Mutex<BTreeMap<String, (Instant, bool)>>,
}

impl Reach {
    pub(crate) fn new(client: Client, routes: LocalRoutes) -> Self {
        Self {
            client,
            routes,
            found: Mutex::default(),
        }
    }

    /// Which of these URLs a connection can be made to.
    pub(crate) async fn of(&self, urls: BTreeSet<String>) -> BTreeMap<String, bool> {
        let mut found = self.found.lock().await;
        found.retain(|url, (at, _)| urls.contains(url) && at.elapsed() < COUNTS_FOR);
        let mut wanted: Vec<String> = urls.into_iter().collect();
        wanted.retain(|url| !found.contains_key(url));
        let mut looking = JoinSet::new();
        while !wanted.is_empty() || !looking.is_empty() {
            while looking.len() < AT_ONCE
                && let Some(url) = wanted.pop()
            {
                let (client, routes) = (self.client.clone(), self.routes.clone());
                looking.spawn(async move {
                    let is_there =
                        is_reached(&client, &routes, &url, Instant::now() + WITHIN).await;
                    (url, is_there)
                });
            }
            if let Some(Ok((url, is_there))) = looking.join_next().await {
                found.insert(url, (Instant::now(), is_there));
            }
        }
        let known = found.iter();
        known
            .map(|(url, (_, is_there))| (url.clone(), *is_there))
            .collect()
    }
}
