//! A league that a service has loaded: the requests for it, and whether it may be unloaded.

use super::league_host::LeagueHost;
use crate::league::{LeaguePlan, LeagueStore, RunningLeague};
use anyhow::Result;
use hyper::body::Incoming;
use hyper::{Request, StatusCode, Uri};
use matchday_core::league::Manager;
use matchday_core::protocol::token::TokenHash;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_net::rate_limit::TokenBucket;
use matchday_net::response::{empty, with_retry_after};
use matchday_net::server::HttpResponse;
use matchday_runtime::Clock;
use matchday_runtime::routes::{Matched, Target};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct HostedLeague {
    pub(super) running: RunningLeague,
    clock: Clock,
    request_rate: TokenBucket,
    /// Requests that have no answer yet.
    in_flight: AtomicUsize,
    /// When the last request came, in microseconds of the clock.
    last_request: AtomicU64,
    /// The manager's changes when it was last looked at.
    changes_seen: AtomicU64,
}

impl HostedLeague {
    /// Blocks; to be called within a runtime.
    pub(super) fn load(
        host: &LeagueHost,
        plan: LeaguePlan,
        season: Option<&LeagueId>,
        store: LeagueStore,
        notice: fn(&str),
    ) -> Result<Self> {
        let id = plan.league.league_id.clone();
        let net = host.net_of(&id, season)?;
        let clock = net.options.clock;
        let mut running = RunningLeague::open(plan, store, net)?;
        running.start_when_complete(move |why| {
            notice(&format!("league {id} could not be started: {why}"))
        });
        Ok(Self {
            running,
            clock,
            request_rate: TokenBucket::new(host.requests_per_s, host.requests_per_s),
            in_flight: AtomicUsize::new(0),
            last_request: AtomicU64::new(micros(clock.now())),
            changes_seen: AtomicU64::new(u64::MAX),
        })
    }

    /// Answers a request whose path is beneath the league's address. The guard counts it until then.
    pub(super) async fn answer(
        self: Arc<Self>,
        matched: &Matched,
        mut request: Request<Incoming>,
        peer: SocketAddr,
        _guard: InFlight,
    ) -> HttpResponse {
        let manager = &self.running.manager.service;
        if !self.request_rate.admits(1, Instant::now()) {
            manager
                .intake()
                .refused_unread(peer, "too many requests for this league");
            return with_retry_after(empty(StatusCode::TOO_MANY_REQUESTS), 1);
        }
        if matched.route.target != Target::Referee {
            self.running.referees_are_registered().await;
            return Arc::clone(manager).answer(request, peer).await;
        }
        let number = matched.value(0).parse().ok();
        let Some(referee) = number.and_then(|number| self.running.referee(number)) else {
            return empty(StatusCode::NOT_FOUND);
        };
        *request.uri_mut() = Uri::from_static("/mcp");
        Arc::clone(referee).answer(request, peer).await
    }

    pub(super) fn begin_request(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        InFlight(Arc::clone(self))
    }

    pub(super) fn id(&self) -> &LeagueId {
        &self.running.plan.league.league_id
    }

    /// Whether it has failed, may have another operator token, or may be unloaded. Asks no agent, so that a league at rest costs nothing.
    pub(super) fn needs_a_look(&self, sleep_after: Duration) -> bool {
        let has_changed =
            *self.running.manager.changes.borrow() != self.changes_seen.load(Ordering::Acquire);
        // Anyone may see a league that is open to readers, whatever the operator token is.
        let asks_on_change = !self.running.plan.league.public_reads;
        self.running.failure().is_some()
            || asks_on_change && has_changed
            || self.is_unasked(self.clock.now(), sleep_after)
    }

    pub(super) fn note_changes(&self) {
        self.changes_seen
            .store(*self.running.manager.changes.borrow(), Ordering::Release);
    }

    /// The operator token by the league's own log. `None` if it has stopped.
    pub(super) async fn operator_token(&self) -> Option<Option<TokenHash>> {
        let look = |manager: &Manager| manager.league().settings.operator_token;
        self.running.manager.handle.inspect(look).await
    }

    /// Whether nobody has asked it anything for so long.
    fn is_unasked(&self, now: Timestamp, sleep_after: Duration) -> bool {
        let last = Timestamp::from_micros(self.last_request.load(Ordering::Acquire).cast_signed());
        !self.running.is_watched()
            && self.in_flight.load(Ordering::Acquire) == 0
            && now.since(last) >= sleep_after
    }

    /// If the league has had nothing to do for so long, and will have nothing for as long: when it next has, if ever.
    pub(super) async fn idle(&self, sleep_after: Duration) -> Option<Option<Timestamp>> {
        let now = self.clock.now();
        if !self.is_unasked(now, sleep_after) {
            return None;
        }
        let next = self.running.next_deadline().await?;
        next.is_none_or(|at| at.since(now) >= sleep_after)
            .then_some(next)
    }

    /// Takes no more requests, stores what is not stored yet, and ends.
    pub(super) async fn shutdown(self: Arc<Self>) {
        self.running.close_streams().await;
        // Requests that have no answer yet hold it, and nobody else does.
        let mut shared = self;
        let hosted = loop {
            match Arc::try_unwrap(shared) {
                Ok(hosted) => break hosted,
                Err(held) => shared = held,
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        // A failure is in its log already.
        let _ = hosted.running.shutdown().await;
    }
}

/// A request that a league has not answered yet.
#[derive(Debug)]
pub(super) struct InFlight(Arc<HostedLeague>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0
            .last_request
            .store(micros(self.0.clock.now()), Ordering::Release);
        self.0.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

fn micros(at: Timestamp) -> u64 {
    at.as_micros().cast_unsigned()
}
