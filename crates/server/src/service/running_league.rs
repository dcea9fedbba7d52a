//! A league that is loaded: its manager, the referees of the house and the seats, behind the service's socket. Touches the
//! store by way of the runtime.

use super::league_host::{LeagueClients, LeagueHost};
use super::plan::LeaguePlan;
use crate::dashboard::{Dashboard, Source};
use crate::mcp::agent_options;
use crate::relay::Relay;
use crate::seat::{self, SeatSettings, Seats};
use anyhow::{Context, Result};
use hyper::body::Incoming;
use hyper::{Request, StatusCode, Uri};
use matchday_core::agent::Agent;
use matchday_core::game::GAMES;
use matchday_core::league::{CarriedOver, Manager};
use matchday_core::protocol::messages::{Phase, Timeouts};
use matchday_core::protocol::token::TokenHash;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, LeagueId, Timestamp, Token, Version};
use matchday_core::referee::{Referee, RefereeSettings};
use matchday_core::registration::RegistrationState;
use matchday_net::client::Client;
use matchday_net::rate_limit::TokenBucket;
use matchday_net::response::{empty, with_retry_after};
use matchday_net::server::HttpResponse;
use matchday_net::transport::InProcess;
use matchday_runtime::routes::{Matched, Target};
use matchday_runtime::surface::Surface;
use matchday_runtime::{
    Clock, Colocated, ExternalRules, Handle, Hosted, Options, Runnable, Start, agent_telemetry,
    entropy_from_system, replay,
};
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::{Store, Stream};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

const REFEREES: &str = "/referees/";

/// The streams of the referees of the house, which hold their tokens and keys, and the secrets of draws to come.
pub(super) const HOUSE_STREAM: &str = "referee/house-";

/// What happened to a league before it is loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct History {
    /// Whether something may be owed to others, so that a league that is over is woken too.
    pub(super) had_work: bool,
    /// Whether this process loads it for the first time.
    pub(super) is_new: bool,
}

/// What was before a league is loaded: here, and in its season.
#[derive(Debug)]
pub(super) struct BeforeLoading {
    pub(super) history: History,
    pub(super) carried_over: Vec<CarriedOver>,
    /// Where its readers saw it.
    pub(super) source: Arc<Source>,
}

pub(super) struct RunningLeague {
    pub(super) manager: Hosted<Manager>,
    referees: Vec<Hosted<Referee>>,
    /// Set once the referees are registered, or were waited for.
    pub(super) house_registered: OnceCell<()>,
    seats: Option<Arc<Seats>>,
    relay: Option<Arc<Relay>>,
    dashboard: Option<Arc<Dashboard>>,
    store: Store,
    pub(super) clock: Clock,
    pub(super) plan: LeaguePlan,
    colocated: Colocated,
    request_rate: TokenBucket,
    /// Requests that have no answer yet.
    in_flight: AtomicUsize,
    /// When the last request came, in microseconds of the clock.
    last_request: AtomicU64,
    /// The manager's changes when it was last looked at.
    changes_seen: AtomicU64,
}

impl fmt::Debug for RunningLeague {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningLeague")
            .field("league_id", &self.plan.league.league_id)
            .finish_non_exhaustive()
    }
}

impl RunningLeague {
    /// Replays the league's log and starts its agents. Blocks; to be called within a runtime.
    pub(super) fn load(
        host: &LeagueHost,
        plan: &LeaguePlan,
        store: Store,
        seats_store: Option<Store>,
        checkpoint_keys: CheckpointKeys,
        before: BeforeLoading,
    ) -> Result<Self> {
        let BeforeLoading { history, carried_over, source } = before;
        let clock = host.clock();
        let id = &plan.league.league_id;
        let (home, local_home) = (host.league_url(id), host.local_league_url(id));
        let relay = host.relay(&plan.league, &home, &store, clock)?;
        let with_relay = |client: Client| match &relay {
            Some(relay) => client.with_in_process(Arc::clone(relay) as Arc<dyn InProcess>),
            None => client,
        };
        let LeagueClients { manager, house } = (host.league_clients)()?;
        let (client, house) = (with_relay(manager), with_relay(house));
        let colocated = Colocated::within(&store, client.clone(), &home, &local_home, house.clone());
        let log = (host.league_log)(id);
        let telemetry = host.options.telemetry.of_league(id);
        let base = || -> Result<Options> {
            Ok(Options {
                client: client.clone(),
                colocated: Some(colocated.clone()),
                entropy: entropy_from_system()?,
                log: log.clone(),
                telemetry: telemetry.clone(),
                record_exchanges: plan.exchanges,
                exchanges_bytes_max: plan.exchanges_bytes_max,
                mcp: agent_options(entropy_from_system()?).mcp,
                clock,
                ..host.options.clone()
            })
        };
        let mut options = base()?;
        let seats = match (&plan.seats, seats_store) {
            (Some(seats), Some(seats_store)) => {
                let settings = SeatSettings {
                    manager: Endpoint::parse(&format!("{local_home}/mcp"))?,
                    home: Endpoint::parse(&format!("{home}/mcp"))?,
                    seats_max: seats.seats_max,
                    seats_per_address: seats.seats_per_address,
                    fallback: seats.fallback()?,
                    authorization: seats.authorization.clone(),
                    join_code: None,
                };
                let own = Options { client: host.own_client.clone(), colocated: None, ..base()? };
                let seats = Seats::open(settings, host.address, seats_store, own)?;
                seat::mount(&mut options, &seats);
                Some(seats)
            }
            _ => None,
        };
        let dashboard = plan.dashboard.then(|| Dashboard::of_source(source, format!("{home}/mcp"), clock));
        options.surfaces.extend(dashboard.iter().map(|dashboard| Arc::clone(dashboard) as Arc<dyn Surface>));
        options.surfaces.extend(relay.iter().map(|relay| Arc::clone(relay) as Arc<dyn Surface>));
        options.checkpoint_keys = Some(checkpoint_keys);

        let stream = store.manager_stream()?;
        let mut manager = Manager::new(plan.league.clone()).with_carried_over(carried_over);
        let telemetry = agent_telemetry(&manager, &options);
        let last_at = replay(&mut manager, &store, &stream, &telemetry, history.is_new)?;
        let over = manager.league().phase == Phase::Completed;
        if !over {
            // The manager may call its referees before they run: such a call waits here until the league is loaded.
            (1..=plan.house_codes.len()).for_each(|number| colocated.expect(&referee_url(&home, number)));
        }
        let wakes = history.had_work || !over;
        let start = Start { address: host.address, url: format!("{home}/mcp"), wakes, last_at, telemetry };
        let manager = matchday_runtime::host(manager, start, store.clone(), stream, options)?;
        if let Some(relay) = &relay {
            relay.serve_league_of(manager.handle.inspector());
            dashboard.iter().for_each(|dashboard| dashboard.show_relay(Arc::clone(relay)));
        }
        let colocated = colocated.calling_with(house);
        let mut running = Self {
            manager,
            referees: Vec::new(),
            house_registered: OnceCell::new(),
            seats,
            relay,
            dashboard,
            store,
            clock,
            plan: plan.clone(),
            colocated: colocated.clone(),
            request_rate: TokenBucket::new(host.requests_per_s, host.requests_per_s),
            in_flight: AtomicUsize::new(0),
            last_request: AtomicU64::new(micros(clock.now())),
            changes_seen: AtomicU64::new(u64::MAX),
        };
        if !over {
            for (number, secret) in (1_usize..).zip(&plan.house_codes) {
                let options = Options { colocated: Some(colocated.clone()), ..base()? };
                let referee = running.referee(host, number, secret.as_deref(), options, history)?;
                running.referees.push(referee);
            }
        }
        Ok(running)
    }

    /// A referee of the house, which registers with the manager as any other does.
    fn referee(
        &self,
        host: &LeagueHost,
        number: usize,
        secret: Option<&str>,
        mut options: Options,
        history: History,
    ) -> Result<Hosted<Referee>> {
        let id = &self.plan.league.league_id;
        let url = referee_url(&host.league_url(id), number);
        let program = self.plan.program.as_ref().map(|plan| plan.program()).transpose()?;
        let external = self.plan.league.external_game.as_ref().map(|game| game.game_type.clone());
        let settings = RefereeSettings {
            manager: Endpoint::parse(&format!("{}/mcp", host.local_league_url(id)))?,
            contact_endpoint: Endpoint::parse(&url)?,
            display_name: DisplayName::parse(&house_name(number))?,
            version: Version::parse(env!("CARGO_PKG_VERSION"))?,
            game_types: GAMES.iter().map(|game| GameType::new(game.name)).chain(external.clone()).collect(),
            max_concurrent_matches: host.matches_max,
            timing: self.plan.league.timing,
            bounds: Timeouts::default(),
            conformance: self.plan.league.conformance,
        };
        let referee = match (&program, external) {
            (Some(program), Some(game)) => {
                Referee::with_external_rules(settings, game, program.answer_timeout())
            }
            _ => Referee::new(settings),
        };
        let mut referee = match secret.map(Token::new) {
            Some(token) if !token.is_join_code() => referee.with_token(Some(token)),
            code => referee.with_join_code(code),
        };
        options.rules = program.map(|program| Arc::new(program) as Arc<dyn ExternalRules>);
        let stream = Stream(format!("{HOUSE_STREAM}{number}").into());
        let telemetry = agent_telemetry(&referee, &options);
        let last_at = replay(&mut referee, &self.store, &stream, &telemetry, history.is_new)?;
        let start = Start { address: host.address, url, wakes: true, last_at, telemetry };
        Ok(matchday_runtime::host(referee, start, self.store.clone(), stream, options)?)
    }

    /// Answers a request whose path is beneath the league's address. The guard counts it until then.
    pub(super) async fn answer(
        self: Arc<Self>,
        matched: &Matched,
        mut request: Request<Incoming>,
        peer: SocketAddr,
        _guard: InFlight,
    ) -> HttpResponse {
        let is_own = self.colocated.is_caller(self.manager.handle.address().port(), peer);
        if !is_own && !self.request_rate.admits(1, Instant::now()) {
            self.manager.service.intake().refused_unread(peer, "the league is asked too much");
            return with_retry_after(empty(StatusCode::TOO_MANY_REQUESTS), 1);
        }
        if matched.route.target != Target::Referee {
            if !is_own {
                self.house_is_registered().await;
            }
            return Arc::clone(&self.manager.service).answer(request, peer).await;
        }
        let number = matched.value(0).parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(referee) = number.and_then(|place| self.referees.get(place)) else {
            return empty(StatusCode::NOT_FOUND);
        };
        *request.uri_mut() = Uri::from_static("/mcp");
        Arc::clone(&referee.service).answer(request, peer).await
    }

    pub(super) fn begin_request(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        InFlight(Arc::clone(self))
    }

    pub(super) fn id(&self) -> &LeagueId {
        &self.plan.league.league_id
    }

    /// Whether it has failed, may be complete, may have another operator token, or may be unloaded. Asks no agent, so that a league at rest costs nothing.
    pub(super) fn needs_a_look(&self, sleep_after: Duration) -> bool {
        let has_changed = *self.manager.changes.borrow() != self.changes_seen.load(Ordering::Acquire);
        // Anyone may see a league that is open to readers, whatever the operator token is.
        let asks_on_change = self.plan.start_when.is_some() || !self.plan.league.public_reads;
        self.failure().is_some()
            || asks_on_change && has_changed
            || self.is_unasked(self.clock.now(), sleep_after)
    }

    pub(super) fn note_changes(&self) {
        self.changes_seen.store(*self.manager.changes.borrow(), Ordering::Release);
    }

    /// The operator token by the league's own log. `None` if it has stopped.
    pub(super) async fn operator_token(&self) -> Option<Option<TokenHash>> {
        self.manager.handle.inspect(|manager: &Manager| manager.league().settings.operator_token).await
    }

    /// Whether nobody has asked it anything for so long.
    fn is_unasked(&self, now: Timestamp, sleep_after: Duration) -> bool {
        let last = Timestamp::from_micros(self.last_request.load(Ordering::Acquire).cast_signed());
        let watched = self.dashboard.as_ref().is_some_and(|dashboard| dashboard.has_listeners())
            || self.relay.as_ref().is_some_and(|relay| relay.has_streams());
        !watched && self.in_flight.load(Ordering::Acquire) == 0 && now.since(last) >= sleep_after
    }

    /// Why it runs no more though nobody stopped it: its log cannot be written.
    pub(super) fn failure(&self) -> Option<String> {
        let stopped = |stopped: bool| stopped.then(|| "an agent of the league has stopped".to_owned());
        let agents = stopped(self.manager.handle.has_stopped())
            .or_else(|| stopped(self.referees.iter().any(|referee| referee.handle.has_stopped())))?;
        Some(self.store.failure().unwrap_or(agents))
    }

    /// If the league has had nothing to do for so long, and will have nothing for as long: when it next has, if ever.
    pub(super) async fn idle(&self, sleep_after: Duration) -> Option<Option<Timestamp>> {
        let now = self.clock.now();
        if !self.is_unasked(now, sleep_after) {
            return None;
        }
        let mut deadlines = vec![self.manager.handle.inspect(Agent::deadline).await?];
        for referee in &self.referees {
            let look = |referee: &Referee| {
                let state = referee.registration_state();
                let settled = matches!(state, RegistrationState::Done | RegistrationState::Refused { .. });
                (settled, referee.deadline())
            };
            let (settled, deadline) = referee.handle.inspect(look).await?;
            if !settled {
                return None;
            }
            deadlines.push(deadline);
        }
        let next = deadlines.into_iter().flatten().min();
        next.is_none_or(|at| at.since(now) >= sleep_after).then_some(next)
    }

    /// Takes no more requests, stores what is not stored yet, and ends.
    pub(super) async fn shutdown(self: Arc<Self>) {
        if let Some(seats) = &self.seats {
            seats.close().await;
        }
        if let Some(relay) = &self.relay {
            relay.close().await;
        }
        // Requests that have no answer yet hold it, and nobody else does.
        let mut shared = self;
        let running = loop {
            match Arc::try_unwrap(shared) {
                Ok(running) => break running,
                Err(held) => shared = held,
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        // A failure is in its log already.
        for referee in running.referees {
            let _ = close(referee.handle).await;
        }
        let _ = close(running.manager.handle).await;
    }
}

async fn close<A: Runnable>(handle: Handle<A>) -> Result<()> {
    handle.shutdown().await.context("an agent has stopped")
}

/// A request that a league has not answered yet.
#[derive(Debug)]
pub(super) struct InFlight(Arc<RunningLeague>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.last_request.store(micros(self.0.clock.now()), Ordering::Release);
        self.0.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

fn micros(at: Timestamp) -> u64 {
    at.as_micros().cast_unsigned()
}

fn referee_url(home: &str, number: usize) -> String {
    format!("{home}{REFEREES}{number}/mcp")
}

/// What the referees of the house are called.
pub fn house_name(number: usize) -> String {
    format!("House referee {number}")
}
