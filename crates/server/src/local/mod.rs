//! A league with all its agents in one process, one clock and one store. Each listens on a port of its own, for whoever else calls
//! it; among themselves they need no network.
//!
//! - [`ports`]: binds every port before anything starts
//! - `agent_settings`: the configuration of each agent; `dial`: players that dial out

pub mod agent_settings;
mod dial;
pub mod ports;

use crate::connect::AgentListener;
use crate::dashboard::{Source, VIEWERS_MAX};
use crate::league::{self, LeagueNet, LeagueStore, RunningLeague, SeatsPlan};
use crate::mcp::agent_options;
use crate::relay::RelayLimits;
use crate::seat::Seats;
use agent_settings::{AgentSettings, endpoint};
use anyhow::{Context, Result, anyhow, bail};
use matchday_core::agent::Agent;
use matchday_core::league::{League, LeagueSettings};
use matchday_core::player::Player;
use matchday_core::player::durable::Fallbacks;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{Endpoint, RoundId};
use matchday_core::referee::Referee;
use matchday_net::client::Client;
use matchday_net::egress::{Egress, EgressPolicy, PinnedDns, Scopes};
use matchday_runtime::deciders::game_program::GameProgram;
use matchday_runtime::deciders::player_strategy::PlayerStrategy;
use matchday_runtime::telemetry::Telemetry;
use matchday_runtime::{
    Decider, ExternalRules, Handle, Options, Runnable, Stopped, entropy_from_system,
};
use matchday_store::{Location, Store, Stream};
use ports::AgentListeners;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout, timeout_at};

const REGISTRATION_MAX: Duration = Duration::from_secs(30);
const FINISH_MAX: Duration = Duration::from_secs(5);
const LOOK_MAX: Duration = Duration::from_millis(100);
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct LeaguePlan {
    /// Referees use its timing and conformance.
    pub league: LeagueSettings,
    /// One for each of our players, in order.
    pub player_plans: Vec<PlayerPlan>,
    pub referees: usize,
    pub seed: Option<u64>,
    pub record_exchanges: bool,
    /// Whether the manager serves the dashboard.
    pub dashboard: bool,
    /// How long each of our players waits before a move.
    pub pace: Duration,
    /// The external rules, if the game is not built in.
    pub rules: Option<GameProgram>,
    pub telemetry: Telemetry,
    /// Whether the players dial out to a relay of the manager instead of listening.
    pub dial: bool,
    /// Seats at the manager's address, for players from outside.
    pub seats: Option<SeatsPlan>,
}

#[derive(Debug, Clone)]
pub struct PlayerPlan {
    pub name: String,
    pub strategy: PlayerStrategy,
    /// Its endpoint, if that is not its own port.
    pub reached_at: Option<Endpoint>,
}

/// Where the referee or player keeps its events that listens on this port.
pub fn agent_stream(role: &str, port: u16) -> Stream {
    Stream(format!("{role}/{port}").into())
}

impl LeaguePlan {
    /// The `max_concurrent_matches` of a referee, such that a round can be played at once; at most ten.
    fn matches_each(&self) -> u32 {
        let at_once = (self.player_plans.len() / 2).div_ceil(self.referees.max(1));
        u32::try_from(at_once).unwrap_or(u32::MAX).clamp(1, 10)
    }
}

/// A league with its own referees and players in this process.
#[derive(Debug)]
pub struct LocalLeague {
    plan: LeaguePlan,
    running: RunningLeague,
    store: Store,
    referees: Vec<Handle<Referee>>,
    players: Vec<Handle<Player>>,
    /// Players that registered from outside.
    external_players: usize,
}

impl LocalLeague {
    /// Starts the manager. The listeners follow one by one, so that P01 is the player with the first port.
    pub fn begin(plan: LeaguePlan, store: Store, manager: TcpListener) -> Result<Self> {
        let address = manager.local_addr()?;
        let source = Some(Source::alone(Location::latest(store.url()), Vec::new()));
        let mailboxes_max = plan.player_plans.len();
        let net = LeagueNet {
            address,
            listener: Some(manager),
            endpoint: endpoint(address)?,
            options: Options {
                client: loopback_client(),
                telemetry: plan.telemetry.clone(),
                ..agent_options(entropy_from_system()?)
            },
            relay_home: None,
            relay_limits: plan
                .dial
                .then(|| RelayLimits::new(mailboxes_max, mailboxes_max)),
            viewers_max: VIEWERS_MAX,
            matches_max: plan.matches_each(),
            players_are_own: plan.seats.is_none(),
            seed: plan.seed,
        };
        let league = league::LeaguePlan {
            dashboard: plan.dashboard,
            exchanges: plan.record_exchanges,
            seats: plan.seats.clone(),
            ..league::LeaguePlan::of(plan.league.clone())
        };
        // The store holds the secrets of all agents, and the keys are none that it could be given away without.
        let stores = LeagueStore {
            // The transcript of a seat belongs to the league.
            seats: Some(store.clone()),
            ..LeagueStore::alone(store.clone(), &store.private(), Stream::league(), source)?
        };
        let running = RunningLeague::open(league, stores, net)?;
        Ok(Self {
            plan,
            running,
            store,
            referees: Vec::new(),
            players: Vec::new(),
            external_players: 0,
        })
    }

    pub fn manager_url(&self) -> String {
        format!("http://{}/mcp", self.running.manager.handle.address())
    }

    /// The seats at the manager's address, if there are any.
    pub fn seats(&self) -> Option<Arc<Seats>> {
        self.running.seats().cloned()
    }

    /// Waits for one more player to register from outside. Returns false on timeout.
    pub async fn admit_external_player(&mut self, within: Duration) -> Result<bool> {
        let expected = self.players.len() + self.external_players + 1;
        let registered = self
            .wait_for(within, move |league| league.players.len() >= expected)
            .await?;
        self.external_players += usize::from(registered);
        Ok(registered)
    }

    /// Starts all other agents, and returns when they have registered; those of a league that goes on are registered already.
    pub async fn gather(&mut self, listeners: AgentListeners) -> Result<()> {
        let plan = self.plan.clone();
        let settings_of = AgentSettings::at(&plan, self.running.manager.handle.address())?;
        for (number, listener) in (1..).zip(listeners.referees) {
            let settings = settings_of.referee(number, &listener)?;
            let referee = match &plan.rules {
                Some(rules) => {
                    let game_type = plan.league.game_type.clone();
                    let time = rules.answer_timeout();
                    Referee::with_external_rules(settings, game_type, time)
                }
                None => Referee::new(settings),
            };
            let at = listener.local_addr()?.port();
            let handle = self.run(
                referee,
                AgentListener::Socket(listener),
                "referee",
                (number, at),
                None,
            )?;
            self.referees.push(handle);
            self.until_registered().await?;
        }
        for ((number, listener), player_plan) in
            (1..).zip(listeners.players).zip(&plan.player_plans)
        {
            let mut settings = settings_of.player(player_plan, &listener)?;
            let at = listener.local_addr()?.port();
            let decider = player_plan.strategy.decider();
            let mut listener = AgentListener::Socket(listener);
            if plan.dial {
                let (dialled, contact) =
                    dial::out(&self.manager_url(), &self.store, number).await?;
                settings.contact_endpoint = contact;
                listener = dialled;
            }
            let player = player_plan.strategy.player(settings);
            let handle = self.run(player, listener, "player", (number, at), decider)?;
            self.players.push(handle);
            self.until_registered().await?;
        }
        Ok(())
    }

    fn run<A>(
        &self,
        agent: A,
        listener: AgentListener,
        role: &str,
        (number, port): (u32, u16),
        decider: Option<Arc<dyn Decider>>,
    ) -> Result<Handle<A>>
    where
        A: Runnable,
        A::Event: Send,
    {
        // Entropy depends on the number and not on the port, so that a seed gives the same league on any ports.
        let name = format!("{role} {number}");
        let rules = self
            .plan
            .rules
            .clone()
            .map(|rules| Arc::new(rules) as Arc<dyn ExternalRules>);
        let options = Options {
            decider,
            rules,
            pace: self.plan.pace,
            ..self.running.options(&name)?
        };
        let stream = agent_stream(role, port);
        Ok(listener.run(agent, self.store.clone(), stream, options)?)
    }

    async fn until_registered(&mut self) -> Result<()> {
        let referees = self.referees.len();
        let players = self.players.len() + self.external_players;
        let all = move |league: &League| {
            league.referees.len() >= referees && league.players.len() >= players
        };
        if !self.wait_for(REGISTRATION_MAX, all).await? {
            bail!(
                "the last agent has not registered in {} s",
                REGISTRATION_MAX.as_secs()
            );
        }
        Ok(())
    }

    /// Gives the operator's order to start, unless the league has begun before.
    pub async fn start(&mut self) -> Result<()> {
        let begun = self.look(|league| league.phase != Phase::Registration);
        if begun.await? {
            return Ok(());
        }
        let started = self.running.starter().start().await;
        started.map_err(|why| anyhow!("the manager does not start the league: {why}"))
    }

    /// Inspects the league's state. Fails if an agent has stopped, because the league would then wait for ever.
    pub async fn look<R: Send + 'static>(
        &mut self,
        look: impl FnOnce(&League) -> R + Send + 'static,
    ) -> Result<R> {
        for referee in self
            .referees
            .iter_mut()
            .filter(|referee| referee.has_stopped())
        {
            referee.stopped().await.context("a referee has stopped")?;
        }
        for player in self
            .players
            .iter_mut()
            .filter(|player| player.has_stopped())
        {
            player.stopped().await.context("a player has stopped")?;
        }
        let manager = &mut self.running.manager.handle;
        match manager.inspect(move |manager| look(manager.league())).await {
            Some(seen) => Ok(seen),
            None => match manager.stopped().await {
                Err(stopped) => Err(anyhow!("the manager has stopped: {stopped}")),
                Ok(()) => Err(anyhow!("the manager has stopped")),
            },
        }
    }

    /// Waits until `holds` is true of the league. Returns false on timeout. Fails if an agent has stopped.
    async fn wait_for(
        &mut self,
        within: Duration,
        holds: impl Fn(&League) -> bool + Copy + Send + 'static,
    ) -> Result<bool> {
        let found = self
            .running
            .manager
            .handle
            .wait_for(move |manager| holds(manager.league()).then_some(()));
        let waited = tokio::select! {
            found = timeout(within, found) => found,
            stopped = any_failure(&mut self.referees) => return Err(stopped).context("a referee has stopped"),
            stopped = any_failure(&mut self.players) => return Err(stopped).context("a player has stopped"),
        };
        match waited {
            Ok(Some(())) => Ok(true),
            // The manager has stopped: a look says why.
            Ok(None) => self.look(holds).await,
            Err(_) => Ok(false),
        }
    }

    /// Waits until everything seen so far is durable; before that it must not be shown.
    pub async fn stored(&self) -> Result<()> {
        Ok(self.store.stored().await?)
    }

    /// Waits, up to a limit, until every agent knows that the league is over. Returns how many do not.
    pub async fn wait_for_agents_to_finish(&self) -> usize {
        let limit = Instant::now() + FINISH_MAX;
        // One that does not finish leaves the others time to say that they have.
        let limit = || limit.max(Instant::now() + LOOK_MAX);
        let mut unfinished = 0;
        for player in &self.players {
            let told = player.wait_for(|player| player.durable().league_closed().then_some(()));
            unfinished += usize::from(!matches!(timeout_at(limit(), told).await, Ok(Some(()))));
        }
        for referee in &self.referees {
            let is_over =
                |referee: &Referee| referee.durable().is_closed(RoundId(u32::MAX)).then_some(());
            let told = referee.wait_for(is_over);
            unfinished += usize::from(!matches!(timeout_at(limit(), told).await, Ok(Some(()))));
        }
        unfinished
    }

    /// Waits, up to a limit, until open pages show how the league ended.
    pub async fn wait_for_viewers(&self) {
        self.running.wait_for_viewers().await;
    }

    /// Players whose external decider did not decide every move: how often, and why the last time.
    pub async fn fallbacks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (player, player_plan) in self.players.iter().zip(&self.plan.player_plans) {
            let seen = player
                .inspect(|player| (player.sender(), player.durable().fallbacks().clone()))
                .await;
            if let Some((
                sender,
                Fallbacks {
                    count,
                    last: Some((match_id, why)),
                    ..
                },
            )) = seen
            {
                let id = sender.id();
                let name = player_plan.strategy.name();
                lines.push(format!(
                    "moves by the fallback of {id} ({name}): {count}, last in {match_id}: {why}"
                ));
            }
        }
        lines
    }

    /// Lets every agent finish its exchanges and steps, and closes the store.
    pub async fn shutdown(self) -> Result<()> {
        let Self {
            store,
            running,
            referees,
            players,
            ..
        } = self;
        let everyone = async {
            let players: Vec<_> = players
                .into_iter()
                .map(|player| tokio::spawn(player.shutdown()))
                .collect();
            let referees: Vec<_> = referees
                .into_iter()
                .map(|referee| tokio::spawn(referee.shutdown()))
                .collect();
            for leaving in players.into_iter().chain(referees) {
                leaving.await??;
            }
            running.shutdown().await
        };
        let left = timeout(SHUTDOWN_MAX, everyone).await;
        // Joins the writer thread, which has at most one commit to finish.
        tokio::task::spawn_blocking(move || store.close()).await??;
        left.map_err(|_| {
            anyhow!(
                "some agents had not come to an end after {} s",
                SHUTDOWN_MAX.as_secs()
            )
        })?
    }
}

/// Completes when one of the agents has failed.
async fn any_failure<A>(agents: &mut [Handle<A>]) -> Stopped {
    poll_fn(|context| {
        for agent in agents.iter_mut() {
            if let Poll::Ready(Err(stopped)) = pin!(agent.stopped()).poll(context) {
                return Poll::Ready(stopped);
            }
        }
        Poll::Pending
    })
    .await
}

/// A client that calls loopback addresses only, also if an external player registers another endpoint.
fn loopback_client() -> Client {
    let policy = EgressPolicy {
        scopes: Scopes::LOOPBACK,
        ..EgressPolicy::default()
    };
    Client::new().with_egress(Egress::new(policy, PinnedDns::default(), []))
}
