//! A league whose agents are hosts of a simulated network, each with a clock, a store and an HTTP stack of its own.

use crate::dial;
use crate::wire::{Port, SimDialer};
use matchday_core::agent::Agent;
use matchday_core::game::strategy;
use matchday_core::league::{self, League, Manager};
use matchday_core::player::{self, Player};
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, Message, Sender, Timestamp, Token,
    Version,
};
use matchday_core::referee::{self, Referee};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_net::client::Client;
use matchday_runtime::{Clock, Handle, Options, Runnable, entropy_numbered, log};
use matchday_store::{Store, Stored, Stream};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use tokio::time::{Instant, sleep};
use turmoil::Sim;

pub(crate) const MANAGER: &str = "manager";
const LAUNCHER: &str = "launcher";
const PORT: u16 = 8000;
/// When the simulated world begins, in seconds since 1970.
const BEGIN: Duration = Duration::from_secs(1_736_937_000);
const LATENCY_MIN: Duration = Duration::from_millis(1);
pub(crate) const LATENCY_MAX: Duration = Duration::from_millis(25);
const LOOK_EVERY: Duration = Duration::from_millis(20);
const STRATEGIES: [&str; 3] = ["random", "always_even", "always_odd"];

type Ran = turmoil::Result<()>;

/// What outlives every host of the network.
pub(crate) struct SimNetwork {
    seed: u64,
    pub(crate) players: Vec<String>,
    pub(crate) referees: Vec<String>,
    stores: BTreeMap<String, Store>,
    /// How often each host has been started.
    lives: RefCell<BTreeMap<String, u32>>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    /// The league as it was when last looked at.
    league: RefCell<Option<League>>,
    started: Cell<bool>,
    /// Whether the players dial out to a relay at the manager.
    dials: bool,
}

fn timing() -> Timing {
    Timing {
        join: Duration::from_millis(300),
        choice: Duration::from_millis(300),
        game_over: Duration::from_millis(300),
        report: Duration::from_secs(1),
        other: Duration::from_secs(1),
        retry: RetryPolicy {
            retries: 1,
            backoff: Backoff::Fixed {
                delay: Duration::from_millis(50),
            },
        },
    }
}

fn settings() -> league::LeagueSettings {
    league::LeagueSettings {
        announce_lead: Duration::ZERO,
        timing: timing(),
        probe_every: Duration::from_secs(1),
        probe_timeout: Duration::from_millis(500),
        operator_token: Some(operator().hash()),
        ..league::LeagueSettings::default()
    }
}

fn operator() -> Token {
    Token::new("an-operator-of-simulated-leagues")
}

fn stream_of(name: &str) -> Stream {
    Stream(if name == MANAGER {
        "league".into()
    } else {
        name.replace('-', "/").into()
    })
}

fn endpoint_of(name: &str) -> Endpoint {
    Endpoint::parse(&format!("http://{}:{PORT}/mcp", turmoil::lookup(name))).unwrap()
}

impl SimNetwork {
    pub(crate) fn new(seed: u64, players: usize, referees: usize) -> Self {
        let named = |kind: &str, count| {
            (1..=count)
                .map(|n| format!("{kind}-{n}"))
                .collect::<Vec<_>>()
        };
        let players = named("player", players);
        let referees = named("referee", referees);
        let agents = players
            .iter()
            .chain(&referees)
            .cloned()
            .chain([MANAGER.to_owned()]);
        Self {
            seed,
            stores: agents
                .map(|name| (name, Store::in_memory().unwrap()))
                .collect(),
            players,
            referees,
            lives: RefCell::default(),
            log: Arc::default(),
            league: RefCell::default(),
            started: Cell::new(false),
            dials: false,
        }
    }

    /// The same, with players that nobody can call.
    pub(crate) fn dialling(self) -> Self {
        Self {
            dials: true,
            ..self
        }
    }

    /// A network with everyone on it.
    pub(crate) fn settle(self: &Rc<Self>) -> Sim<'static> {
        let mut sim = turmoil::Builder::new()
            .rng_seed(self.seed)
            .epoch(UNIX_EPOCH + BEGIN)
            .min_message_latency(LATENCY_MIN)
            .max_message_latency(LATENCY_MAX)
            .tcp_capacity(1024)
            .enable_random_order()
            .build();
        let network = Rc::clone(self);
        sim.host(MANAGER, move || Rc::clone(&network).manage());
        for (number, name) in self.referees.iter().enumerate() {
            let network = Rc::clone(self);
            let name = name.clone();
            sim.host(name.clone(), move || {
                Rc::clone(&network).referee(name.clone(), number)
            });
        }
        for (number, name) in self.players.iter().enumerate() {
            let network = Rc::clone(self);
            let name = name.clone();
            sim.host(name.clone(), move || {
                Rc::clone(&network).play(name.clone(), number)
            });
        }
        let network = Rc::clone(self);
        sim.host(LAUNCHER, move || Rc::clone(&network).launch());
        sim
    }

    /// The longest that a league can take once nothing goes wrong any more: in every round, each match may be overdue with
    /// every referee in turn and once more.
    pub(crate) fn bound(&self) -> Duration {
        let settings = settings();
        let once = settings.overdue_after(&settings.timing)
            + settings.probe_every
            + settings.probe_timeout;
        let tries = u32::try_from(self.referees.len() + 1).unwrap();
        let rounds = u32::try_from(self.players.len()).unwrap();
        let registering = Duration::from_secs(30);
        registering + once * tries * rounds
    }

    /// The league, once it is over.
    pub(crate) fn completed(&self) -> Option<League> {
        self.league
            .borrow()
            .clone()
            .filter(|league| league.phase == Phase::Completed)
    }

    pub(crate) fn phase(&self) -> Option<Phase> {
        self.league.borrow().as_ref().map(|league| league.phase)
    }

    /// How often hosts were started after their first time.
    pub(crate) fn restarts(&self) -> u32 {
        self.lives.borrow().values().map(|lives| lives - 1).sum()
    }

    /// What everyone has stored.
    pub(crate) fn stored(&self) -> Vec<(Stream, Vec<Stored>)> {
        let stored = self.stores.iter();
        stored
            .map(|(name, store)| (stream_of(name), store.load(&stream_of(name)).unwrap()))
            .collect()
    }

    /// What the manager's stored events make of a fresh one.
    pub(crate) fn replayed(&self) -> League {
        let mut manager = Manager::new(settings());
        for stored in self.stores[MANAGER].load(&Stream::league()).unwrap() {
            let (at, event) = matchday_core::event_codec::decode(&stored.line).unwrap();
            manager.apply(at, &event);
        }
        manager.league().clone()
    }

    async fn run<A>(&self, name: &str, agent: A) -> turmoil::Result<Handle<A>>
    where
        A: Runnable,
        A::Event: Send,
    {
        let options = self.options(name)?;
        let store = self.stores[name].clone();
        Ok(matchday_runtime::run(
            agent,
            Port::open(PORT).await?,
            store,
            stream_of(name),
            options,
        )?)
    }

    fn options(&self, name: &str) -> turmoil::Result<Options> {
        let life = {
            let mut lives = self.lives.borrow_mut();
            let life = lives.entry(name.to_owned()).or_default();
            *life += 1;
            *life
        };
        let lines = Arc::clone(&self.log);
        let host = name.to_owned();
        let options = Options {
            client: Client::with_dialer(Arc::new(SimDialer)),
            clock: clock(),
            log: log::dispatch(tracing::Level::DEBUG, move |entry| {
                lines
                    .lock()
                    .unwrap()
                    .push(format!("{host} {}", entry.as_json()));
            }),
            ..matchday_server::agent_options(entropy_numbered(self.seed, &format!("{name}/{life}")))
        };
        Ok(options)
    }

    async fn manage(self: Rc<Self>) -> Ran {
        let mut options = self.options(MANAGER)?;
        let store = self.stores[MANAGER].clone();
        let relay = self.dials.then(|| dial::mount(&store, &mut options));
        let agent = Manager::new(settings());
        let port = Port::open(PORT).await?;
        let manager = matchday_runtime::run(agent, port, store, stream_of(MANAGER), options)?;
        if let Some(relay) = relay {
            relay.serve_league_of(manager.inspector());
        }
        loop {
            let league = manager.inspect(|manager| manager.league().clone()).await;
            *self.league.borrow_mut() = Some(league.ok_or("the manager has stopped")?);
            sleep(LOOK_EVERY).await;
        }
    }

    async fn referee(self: Rc<Self>, name: String, number: usize) -> Ran {
        let settings = referee::RefereeSettings {
            manager: endpoint_of(MANAGER),
            contact_endpoint: endpoint_of(&name),
            display_name: DisplayName::parse(&name)?,
            version: Version::parse("1.0.0")?,
            game_types: vec![GameType::new("even_odd")],
            max_concurrent_matches: 1 + u32::try_from(number)?,
            timing: timing(),
            bounds: Default::default(),
            conformance: Default::default(),
        };
        Ok(self
            .run(&name, Referee::new(settings))
            .await?
            .stopped()
            .await?)
    }

    async fn play(self: Rc<Self>, name: String, number: usize) -> Ran {
        let strategy = STRATEGIES[number % STRATEGIES.len()];
        let dialled = if self.dials {
            Some(
                dial::out(
                    endpoint_of(MANAGER).raw(),
                    entropy_numbered(self.seed, &name),
                )
                .await?,
            )
        } else {
            None
        };
        let contact = dialled.as_ref().map(|(_, contact)| contact.clone());
        let settings = player::PlayerSettings {
            manager: endpoint_of(MANAGER),
            contact_endpoint: contact.unwrap_or_else(|| endpoint_of(&name)),
            display_name: DisplayName::parse(&name)?,
            version: Version::parse("1.0.0")?,
            game_types: vec![GameType::new("even_odd")],
            strategy: strategy.into(),
        };
        let player = Player::new(settings, strategy::find(strategy).unwrap().build());
        if let Some((listener, _)) = dialled {
            let options = self.options(&name)?;
            let store = self.stores[&name].clone();
            return Ok(listener
                .run(player, store, stream_of(&name), options)?
                .stopped()
                .await?);
        }
        Ok(self.run(&name, player).await?.stopped().await?)
    }

    /// Starts the league, over the network, as soon as everyone has registered.
    async fn launch(self: Rc<Self>) -> Ran {
        let client = Client::with_dialer(Arc::new(SimDialer));
        loop {
            sleep(LOOK_EVERY).await;
            let all_here = self.league.borrow().as_ref().is_some_and(|league| {
                league.players.len() == self.players.len()
                    && league.referees.len() == self.referees.len()
            });
            if !all_here || self.started.get() {
                continue;
            }
            let conversation = ConversationId::new("conv-start");
            let envelope = Envelope::new(Sender::Launcher, clock().now(), conversation)
                .with_token(Some(operator()));
            let start = Message::new(
                envelope,
                StartLeague {
                    league_id: settings().league_id,
                },
            );
            let body = serde_json::to_vec(&start)?;
            let deadline = Instant::now() + timing().other;
            let answer = client
                .post(endpoint_of(MANAGER).raw(), body.into(), deadline, 1 << 20)
                .await;
            if let Ok(answer) = answer {
                let answer: serde_json::Value = serde_json::from_slice(&answer.body)?;
                assert_eq!(answer["message_type"], "LEAGUE_STATUS", "{answer}");
                self.started.set(true);
            }
        }
    }
}

/// Shows the time of the simulated world.
fn clock() -> Clock {
    Clock::starting_at(Timestamp::EPOCH + turmoil::since_epoch().unwrap())
}
