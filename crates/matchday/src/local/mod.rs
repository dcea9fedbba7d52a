//! A whole league in one process: manager, referees and players, each on a port of its own, speaking over real HTTP.
//! Starts them, watches the manager, stops them. One clock, one client and one store serve all.
//!
//! - [`ports`]: every port is bound before anything else begins
//! - `cast`: the agents, from what was asked for

pub(crate) mod cast;
pub(crate) mod ports;

use crate::dashboard::Dashboard;
use crate::mind::chooser::Chooser;
use crate::mind::game_program::GameProgram;
use crate::net::client::Client;
use crate::net::names::Names;
use crate::net::policy::{Policy, Scopes};
use crate::net::strangers::Strangers;
use crate::observe::Observed;
use crate::shell::{
    self, Clock, Handle, Kin, Mind, NoEntropy, Options, Rules, entropy_from_system, entropy_numbered,
};
use crate::store::checkpoint_keys::CheckpointKeys;
use crate::store::{Store, Stream};
use anyhow::{Context, Result, anyhow, bail};
use cast::Cast;
use matchday_core::agent::Agent;
use matchday_core::enrol::Identity;
use matchday_core::entropy::Entropy;
use matchday_core::league::{self, League, Manager};
use matchday_core::player::Player;
use matchday_core::player::durable::Fallbacks;
use matchday_core::protocol::messages::StartLeague;
use matchday_core::protocol::{
    ConversationId, Endpoint, Envelope, Message, MessageType, PlayerId, RoundId, Sender,
};
use matchday_core::referee::Referee;
use ports::Others;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

const LOOK_EVERY: Duration = Duration::from_millis(1);
const REGISTRATION_MAX: Duration = Duration::from_secs(30);
const FAREWELL_MAX: Duration = Duration::from_secs(5);
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What is to be played.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Referees keep its deadlines and its reading of the rules.
    pub(crate) league: league::Settings,
    /// One for each player of ours, in order.
    pub(crate) seats: Vec<Seat>,
    pub(crate) referees: usize,
    pub(crate) seed: Option<u64>,
    pub(crate) record_exchanges: bool,
    /// Whether the league can be seen in a browser at the manager's address.
    pub(crate) dashboard: bool,
    /// Who knows the rules, if the game is not one of ours.
    pub(crate) rules: Option<GameProgram>,
    /// What can be seen of it.
    pub(crate) observed: Observed,
}

/// A player of ours.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) name: String,
    pub(crate) chooser: Chooser,
    /// Where it says that it is reached, if not at its own port.
    pub(crate) reached_at: Option<Endpoint>,
}

impl Plan {
    /// How many matches a referee has to hold so that a round can be played at once; at most ten.
    fn matches_each(&self) -> u32 {
        let at_once = (self.seats.len() / 2).div_ceil(self.referees.max(1));
        u32::try_from(at_once).unwrap_or(u32::MAX).clamp(1, 10)
    }
}

/// The league, running.
pub(crate) struct LocalLeague {
    plan: Plan,
    kin: Kin,
    clock: Clock,
    store: Store,
    manager: Handle<Manager>,
    referees: Vec<Handle<Referee>>,
    players: Vec<Handle<Player>>,
    /// How many players there are that are not ours.
    guests: usize,
}

impl LocalLeague {
    /// Starts the manager, and then the others one after the other, so that P01 is the player with the first port.
    pub(crate) fn begin(plan: Plan, store: Store, manager: TcpListener) -> Result<Self> {
        let (kin, clock) = (Kin::of(&store, on_this_machine()), Clock::start());
        let agent = Manager::new(plan.league.clone());
        let mut options = options(&plan, &kin, clock, "manager")?;
        if let Some(path) = store.path().filter(|_| plan.dashboard) {
            let home = format!("http://{}/mcp", manager.local_addr()?);
            options.dashboard = Some(Dashboard::live(path.to_owned(), Vec::new(), home, clock));
        }
        options.checkpoint_keys = Some(CheckpointKeys::of(&store, &mut entropy_from_system()?)?);
        let manager = shell::run(agent, manager, store.clone(), Stream::league(), options)?;
        let (referees, players) = (Vec::new(), Vec::new());
        Ok(Self { plan, kin, clock, store, manager, referees, players, guests: 0 })
    }

    pub(crate) fn manager_url(&self) -> String {
        format!("http://{}/mcp", self.manager.address())
    }

    /// Waits for a player that is not ours. False if none has registered in time.
    pub(crate) async fn admit_guest(&mut self, within: Duration) -> Result<bool> {
        let deadline = Instant::now() + within;
        let expected = self.players.len() + self.guests + 1;
        while !self.look(move |league| league.players.len() >= expected).await? {
            if Instant::now() > deadline {
                return Ok(false);
            }
            sleep(LOOK_EVERY).await;
        }
        self.guests += 1;
        Ok(true)
    }

    /// Lets everyone in, and comes back when all have registered.
    pub(crate) async fn gather(&mut self, others: Others) -> Result<()> {
        let plan = self.plan.clone();
        let cast = Cast::at(&plan, self.manager.address())?;
        for (number, listener) in (1..).zip(others.referees) {
            let settings = cast.referee(number, &listener)?;
            let referee = match &plan.rules {
                Some(rules) => {
                    let (game_type, time) = (plan.league.game_type.clone(), rules.patience());
                    Referee::with_rules_outside(settings, game_type, time)
                }
                None => Referee::new(settings),
            };
            let handle = self.run(referee, listener, "referee", number, None)?;
            self.referees.push(handle);
            self.until_registered().await?;
        }
        for ((number, listener), seat) in (1..).zip(others.players).zip(&plan.seats) {
            let player = seat.chooser.player(cast.player(seat, &listener)?);
            let handle = self.run(player, listener, "player", number, seat.chooser.mind())?;
            self.players.push(handle);
            self.until_registered().await?;
        }
        Ok(())
    }

    fn run<A>(
        &self,
        agent: A,
        listener: TcpListener,
        role: &str,
        number: u32,
        mind: Option<Arc<dyn Mind>>,
    ) -> Result<Handle<A>>
    where
        A: Agent + Send + 'static,
        A::Event: Send,
    {
        // Chance goes by number and not by port, so that a seed means the same on any ports.
        let name = format!("{role} {number}");
        let options = options(&self.plan, &self.kin, self.clock, &name)?;
        let rules = self.plan.rules.clone().map(|rules| Arc::new(rules) as Arc<dyn Rules>);
        let options = Options { mind, rules, ..options };
        let stream = Stream(format!("{role}/{}", listener.local_addr()?.port()).into());
        Ok(shell::run(agent, listener, self.store.clone(), stream, options)?)
    }

    async fn until_registered(&mut self) -> Result<()> {
        let (referees, players) = (self.referees.len(), self.players.len() + self.guests);
        let deadline = Instant::now() + REGISTRATION_MAX;
        let all = move |league: &League| league.referees.len() == referees && league.players.len() == players;
        while !self.look(all).await? {
            if Instant::now() > deadline {
                bail!("the last agent has not registered in {} s", REGISTRATION_MAX.as_secs());
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Sends START_LEAGUE, as anyone would.
    pub(crate) async fn start(&mut self) -> Result<()> {
        let envelope = Envelope::new(Sender::Launcher, self.clock.now(), ConversationId::new("conv-start"));
        let message = Message::new(envelope, StartLeague { league_id: self.plan.league.league_id.clone() });
        let url = self.manager_url();
        let body = serde_json::to_vec(&message)?.into();
        let deadline = Instant::now() + Duration::from_secs(30);
        // Not by the agents' own client: whoever launches a league is none of them.
        let received = on_this_machine().post(&url, body, deadline, ANSWER_BYTES_MAX).await?;
        let answer: serde_json::Value =
            serde_json::from_slice(&received.body).context("the manager's answer to START_LEAGUE")?;
        let kind = answer.get("message_type").and_then(|kind| kind.as_str());
        if kind != Some(MessageType::LeagueStatus.name()) {
            bail!("the manager does not start the league: {answer}");
        }
        Ok(())
    }

    /// Looks at the league as it stands, unless an agent has stopped: without it the league would wait for ever.
    pub(crate) async fn look<R: Send + 'static>(
        &mut self,
        look: impl FnOnce(&League) -> R + Send + 'static,
    ) -> Result<R> {
        for referee in self.referees.iter_mut().filter(|referee| referee.has_stopped()) {
            referee.stopped().await.context("a referee has stopped")?;
        }
        for player in self.players.iter_mut().filter(|player| player.has_stopped()) {
            player.stopped().await.context("a player has stopped")?;
        }
        match self.manager.inspect(move |manager| look(manager.league())).await {
            Some(seen) => Ok(seen),
            None => match self.manager.stopped().await {
                Err(stopped) => Err(anyhow!("the manager has stopped: {stopped}")),
                Ok(()) => Err(anyhow!("the manager has stopped")),
            },
        }
    }

    /// Comes back when all that anyone has seen here so far is durable: before that it is not to be shown.
    pub(crate) async fn settled(&self) -> Result<()> {
        Ok(self.store.settled().await?)
    }

    /// Waits until everyone has heard that the league is over, but not for ever. How many have not.
    pub(crate) async fn farewell(&self) -> usize {
        let deadline = Instant::now() + FAREWELL_MAX;
        loop {
            let deaf = self.deaf().await;
            if deaf == 0 || Instant::now() > deadline {
                return deaf;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Who the first player is, and by which token the manager knows it. The manager knows of a player a moment before
    /// the player does.
    pub(crate) async fn first_player(&self) -> Result<Identity<PlayerId>> {
        let first = self.players.first().context("the league has no player of ours")?;
        let deadline = Instant::now() + REGISTRATION_MAX;
        loop {
            let seen = first.inspect(|player| player.identity().cloned()).await;
            match seen.context("the first player has stopped")? {
                Some(identity) => return Ok(identity),
                None if Instant::now() > deadline => bail!("the first player does not hear who it is"),
                None => sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Who has not chosen all moves itself, though it has a mind that was to: how often, and why the last time.
    pub(crate) async fn fallbacks(&self) -> Vec<String> {
        let mut told = Vec::new();
        for (player, seat) in self.players.iter().zip(&self.plan.seats) {
            let seen = player.inspect(|player| (player.sender(), player.durable().fallbacks().clone())).await;
            if let Some((sender, Fallbacks { count, last: Some((match_id, why)), .. })) = seen {
                let (id, name) = (sender.id(), seat.chooser.name());
                told.push(format!(
                    "{id} ({name}) did not choose {count} of its moves itself, last in {match_id}: {why}"
                ));
            }
        }
        told
    }

    async fn deaf(&self) -> usize {
        let mut deaf = 0;
        for player in &self.players {
            let told = player.inspect(|player| player.durable().league_closed()).await;
            deaf += usize::from(told != Some(true));
        }
        for referee in &self.referees {
            let told = referee.inspect(|referee| referee.durable().is_closed(RoundId(u32::MAX))).await;
            deaf += usize::from(told != Some(true));
        }
        deaf
    }

    /// Lets everyone answer what they were asked and store what they know, and closes the store.
    pub(crate) async fn shutdown(self) -> Result<()> {
        let Self { store, manager, referees, players, .. } = self;
        let everyone = async {
            let players: Vec<_> = players.into_iter().map(|player| tokio::spawn(player.shutdown())).collect();
            let referees: Vec<_> =
                referees.into_iter().map(|referee| tokio::spawn(referee.shutdown())).collect();
            for leaving in players.into_iter().chain(referees) {
                leaving.await??;
            }
            manager.shutdown().await?;
            anyhow::Ok(())
        };
        let left = timeout(SHUTDOWN_MAX, everyone).await;
        // Joins the writer's thread, which has at most one commit to finish.
        tokio::task::spawn_blocking(move || store.close()).await??;
        left.map_err(|_| anyhow!("some agents had not come to an end after {} s", SHUTDOWN_MAX.as_secs()))?
    }
}

/// All agents are on this machine, and nobody else is called, whatever a guest says.
fn on_this_machine() -> Client {
    let policy = Policy { scopes: Scopes::LOOPBACK, ..Policy::default() };
    Client::new().guarded(Strangers::new(policy, Names::default(), []))
}

fn options(plan: &Plan, kin: &Kin, clock: Clock, agent: &str) -> Result<Options, NoEntropy> {
    let entropy: Entropy = match plan.seed {
        Some(seed) => entropy_numbered(seed, agent),
        None => entropy_from_system()?,
    };
    Ok(Options {
        kin: Some(kin.clone()),
        clock,
        record_exchanges: plan.record_exchanges,
        observed: plan.observed.clone(),
        ..Options::new(entropy)
    })
}
