//! One league that runs: its manager, its built-in referees, its seats, relay and dashboard. Every league is opened here: that of a
//! manager, that of `matchday run`, and each of a service.
//!
//! - `plan`: what a league is to be; `net`: where it is reached, and its stores; `built_in_referee`; `start`

mod built_in_referee;
mod net;
mod plan;
mod start;

pub use built_in_referee::{BUILT_IN_STREAM, built_in_name};
pub use net::{History, LeagueNet, LeagueStore};
pub use plan::{JoinCodeRow, LeaguePlan, NewLeague, ProgramPlan, SeatsPlan, StartCounts};
pub use start::Starter;

use crate::dashboard::Dashboard;
use crate::reach::Reach;
use crate::relay::{Inherited, Relay, RelaySettings};
use crate::seat::{self, SeatSettings, Seats};
use anyhow::Result;
use built_in_referee::referee_url;
use matchday_core::agent::Agent;
use matchday_core::league::Manager;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::Phase;
use matchday_core::referee::Referee;
use matchday_core::registration::RegistrationState;
use matchday_runtime::surface::Surface;
use matchday_runtime::{
    Hosted, HttpService, LocalRoutes, NoEntropy, Options, Runnable, Start, agent_telemetry, replay,
};
use matchday_store::Store;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a request waits for the built-in referees to register, when the league has just been opened.
const REGISTRATION_MAX: Duration = Duration::from_secs(2);

pub struct RunningLeague {
    pub manager: Hosted<Manager>,
    pub plan: LeaguePlan,
    /// What its agents begin with.
    options: Options,
    seed: Option<u64>,
    store: Store,
    referees: Vec<Hosted<Referee>>,
    /// Set once the built-in referees are registered, or were waited for.
    referees_registered: OnceCell<()>,
    seats: Option<Arc<Seats>>,
    relay: Option<Arc<Relay>>,
    dashboard: Option<Arc<Dashboard>>,
    /// What starts the league once it is complete.
    starting: JoinSet<()>,
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
    pub fn open(plan: LeaguePlan, store: LeagueStore, mut net: LeagueNet) -> Result<Self> {
        let LeagueStore {
            events,
            stream,
            seats,
            checkpoint_keys,
            source,
            history,
            carried_over,
            mailboxes,
        } = store;
        let endpoint = net.endpoint.raw().to_owned();
        let agents = Options {
            routes: LocalRoutes::default(),
            record_exchanges: plan.exchanges,
            exchanges_bytes_max: plan.exchanges_bytes_max,
            ..net.options.clone()
        };
        // Whoever of this process calls the manager before it runs waits for it.
        agents.routes.expect(&endpoint);
        let mut options = Options {
            entropy: net::entropy(net.seed, "manager")?,
            ..agents.clone()
        };
        let relay = open_relay(&plan, &net, &events, mailboxes, &mut options)?;
        let seats = match (&plan.seats, seats) {
            (Some(seats), Some(store)) => Some(open_seats(seats, &net, store, &agents)?),
            _ => None,
        };
        if let Some(seats) = &seats {
            seat::mount(&mut options, seats);
        }
        let dashboard = source.filter(|_| plan.dashboard);
        let dashboard = dashboard.map(|source| {
            Dashboard::of_league(
                source,
                endpoint.clone(),
                agents.clock,
                net.viewers_max,
                net.players_are_own,
                plan.league.registration,
            )
        });
        options.surfaces.extend(
            dashboard
                .iter()
                .map(|dashboard| Arc::clone(dashboard) as Arc<dyn Surface>),
        );
        options.checkpoint_keys = Some(checkpoint_keys);

        let mut manager = Manager::new(plan.league.clone()).with_carried_over(carried_over);
        let telemetry = agent_telemetry(&manager, &options);
        let last_at = replay(&mut manager, &events, &stream, &telemetry, history.is_new)?;
        let is_over = manager.league().phase == Phase::Completed;
        let codes = if is_over {
            Vec::new()
        } else {
            plan.built_in_codes.clone()
        };
        (1..=codes.len()).for_each(|number| agents.routes.expect(&referee_url(net.home(), number)));
        let wakes = history.had_work || !is_over;
        let start = Start {
            address: net.address,
            url: endpoint,
            wakes,
            last_at,
            telemetry,
        };
        let manager = match net.listener.take() {
            Some(listener) => matchday_runtime::host_at(
                manager,
                start,
                listener,
                events.clone(),
                stream,
                options,
            )?,
            None => matchday_runtime::host(manager, start, events.clone(), stream, options)?,
        };
        if let Some(dashboard) = &dashboard {
            dashboard.show_reach(Reach::new(agents.client.clone(), agents.routes.clone()));
        }
        if let Some(relay) = &relay {
            relay.serve_league_of(manager.handle.inspector());
            dashboard
                .iter()
                .for_each(|dashboard| dashboard.show_relay(Arc::clone(relay)));
        }
        let mut running = Self {
            manager,
            plan,
            options: agents,
            seed: net.seed,
            store: events,
            referees: Vec::new(),
            referees_registered: OnceCell::new(),
            seats,
            relay,
            dashboard,
            starting: JoinSet::new(),
        };
        for (number, code) in (1_usize..).zip(&codes) {
            let referee = running.built_in_referee(&net, number, code.as_deref(), history)?;
            running.referees.push(referee);
        }
        Ok(running)
    }

    /// What an agent of this process begins with that plays in this league.
    pub fn options(&self, agent: &str) -> Result<Options, NoEntropy> {
        Ok(Options {
            entropy: net::entropy(self.seed, agent)?,
            ..self.options.clone()
        })
    }

    pub fn starter(&self) -> Starter {
        Starter {
            league_id: self.plan.league.league_id.clone(),
            manager: self.manager.handle.inspector(),
            intake: Arc::clone(self.manager.service.intake()),
        }
    }

    pub fn seats(&self) -> Option<&Arc<Seats>> {
        self.seats.as_ref()
    }

    /// Has the league start by itself, if that is its plan; `refused` hears why it does not.
    pub fn start_when_complete(&mut self, refused: impl Fn(&str) + Send + 'static) {
        if let Some(wanted) = self.plan.start_when {
            self.starting
                .spawn(self.starter().start_when(wanted, refused));
        }
    }

    /// Waits until the built-in referees are registered: the league could not be started before.
    pub async fn referees_are_registered(&self) {
        let built_in = self.plan.built_in_codes.len();
        let registered = self.manager.handle.wait_for(move |manager: &Manager| {
            let league = manager.league();
            (league.phase != Phase::Registration || league.referees.len() >= built_in).then_some(())
        });
        let waiting = async { drop(timeout(REGISTRATION_MAX, registered).await) };
        self.referees_registered.get_or_init(|| waiting).await;
    }

    /// The service of a built-in referee.
    pub fn referee(&self, number: usize) -> Option<&Arc<HttpService>> {
        self.referees
            .get(number.checked_sub(1)?)
            .map(|referee| &referee.service)
    }

    /// Whether the league is over, and nothing is left to be said to anyone.
    pub async fn is_over_and_told(&self) -> bool {
        let look = |manager: &Manager| {
            manager.league().phase == Phase::Completed && manager.deadline().is_none()
        };
        self.manager.handle.inspect(look).await.unwrap_or(false)
    }

    /// Whether anyone follows it, or is connected to its relay.
    pub fn is_watched(&self) -> bool {
        self.dashboard
            .as_ref()
            .is_some_and(|dashboard| dashboard.has_listeners())
            || self.relay.as_ref().is_some_and(|relay| relay.has_streams())
    }

    /// Whether an agent is connected to its relay.
    pub fn has_dialled_agents(&self) -> bool {
        self.relay.as_ref().is_some_and(|relay| relay.has_streams())
    }

    /// Ends the streams of agents that dial out: at their season's address the next league has their mailboxes.
    pub async fn release_dialled_agents(&self) {
        if let Some(relay) = &self.relay {
            relay.close().await;
        }
    }

    /// Waits, up to a limit, until open pages show how the league ended.
    pub async fn wait_for_viewers(&self) {
        if let Some(dashboard) = &self.dashboard {
            dashboard.wait_for_viewers().await;
        }
    }

    /// Why it runs no more though nobody stopped it: its log cannot be written.
    pub fn failure(&self) -> Option<String> {
        let referees = self
            .referees
            .iter()
            .any(|referee| referee.handle.has_stopped());
        (referees || self.manager.handle.has_stopped()).then(|| {
            let failure = self.store.failure();
            failure.unwrap_or_else(|| "an agent of the league has stopped".to_owned())
        })
    }

    /// When its agents next have something to do, if ever. `None` if one has stopped, or is not registered yet.
    pub async fn next_deadline(&self) -> Option<Option<Timestamp>> {
        let mut next = self.manager.handle.inspect(Agent::deadline).await?;
        for referee in &self.referees {
            let look = |referee: &Referee| {
                let state = referee.registration_state();
                let settled = matches!(
                    state,
                    RegistrationState::Done | RegistrationState::Refused { .. }
                );
                settled.then(|| referee.deadline())
            };
            let deadline = referee.handle.inspect(look).await??;
            next = next.into_iter().chain(deadline).min();
        }
        Some(next)
    }

    /// Takes no more requests, stores what is not stored yet, and ends.
    pub async fn shutdown(mut self) -> Result<()> {
        self.starting.shutdown().await;
        self.close_streams().await;
        let mut ended = Ok(());
        for referee in self.referees {
            ended = ended.and(close(referee).await);
        }
        close(self.manager).await.and(ended)
    }

    /// Ends what would wait for its clients.
    pub async fn close_streams(&self) {
        if let Some(seats) = &self.seats {
            seats.close().await;
        }
        if let Some(relay) = &self.relay {
            relay.close().await;
        }
    }
}

async fn close<A: Runnable>(agent: Hosted<A>) -> Result<()> {
    Ok(agent.handle.shutdown().await?)
}

fn open_relay(
    plan: &LeaguePlan,
    net: &LeagueNet,
    store: &Store,
    inherited: Inherited,
    options: &mut Options,
) -> Result<Option<Arc<Relay>>> {
    let Some(limits) = net.relay_limits.clone() else {
        return Ok(None);
    };
    let message_bytes_max = plan.league.message_bytes_max;
    let settings = RelaySettings {
        base_url: net.relay_home.as_deref().unwrap_or(net.home()).to_owned(),
        limits,
        message_bytes_max,
    };
    let relay = Relay::open(settings, store.clone(), inherited, options)?;
    relay.mount(options);
    Ok(Some(relay))
}

fn open_seats(
    plan: &SeatsPlan,
    net: &LeagueNet,
    store: Store,
    options: &Options,
) -> Result<Arc<Seats>> {
    let settings = SeatSettings {
        home: net.endpoint.clone(),
        manager: net.endpoint.clone(),
        seats_max: plan.seats_max,
        seats_per_address: plan.seats_per_address,
        fallback: plan.fallback()?,
        observation: plan.observation,
        authorization: plan.authorization.clone(),
        join_code: None,
    };
    let options = Options {
        entropy: net::entropy(net.seed, "seats")?,
        ..options.clone()
    };
    Ok(Seats::open(settings, net.address, store, options)?)
}
