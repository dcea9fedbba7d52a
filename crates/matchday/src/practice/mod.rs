//! A league of one: a guest plays every built-in strategy, a chaos partner in each of its moods, and honest partners while
//! trouble is in its own way. Opens ports, runs a local league around the guest.
//!
//! # Layout
//! - [`programme`]: what the guest goes through
//! - [`front`]: where it registers; [`gate`]: where it is called, timed and troubled; [`partner`]: the chaos partner;
//!   `relay`: what those ports have in common
//! - [`report`]: what came of it; [`render`]: as people read it

pub(crate) mod front;
pub(crate) mod gate;
pub(crate) mod partner;
pub(crate) mod programme;
mod relay;
pub(crate) mod render;
pub(crate) mod report;

use crate::check::probe::Probe;
use crate::check::reach;
use crate::local::cast::endpoint;
use crate::local::ports::Others;
use crate::local::{LocalLeague, Plan, Seat};
use crate::mind::chooser::Chooser;
use crate::net::client::Client;
use crate::observe::Observed;
use crate::shell::{Clock, entropy_from_system};
use crate::store::Store;
use anyhow::{Context, Result, anyhow, bail};
use front::Front;
use gate::Gate;
use matchday_core::game::GameEntry;
use matchday_core::league;
use matchday_core::player::strategy;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::{LeagueRegisterRequest, PlayerMeta};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, LeagueId, Message, PlayerId, Sender, Version,
};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use programme::{Partner, Programme};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// One retry shows whether an agent bears being asked again, and a second would show no more.
const RETRIES: u32 = 1;
const RETRY_PAUSE: Duration = Duration::from_millis(250);
/// How long an agent has to show that someone is there.
const REACH_MAX: Duration = Duration::from_secs(10);
const ANSWER_MAX: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// How the guest comes in.
#[derive(Debug)]
pub(crate) enum Entrance {
    /// It registers by itself, here.
    Registers { listener: TcpListener, within: Duration },
    /// We register it.
    Fetched { url: Endpoint, name: DisplayName },
}

/// How practice goes.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// How often each sparring partner is met.
    pub(crate) rounds: u32,
    pub(crate) join: Duration,
    pub(crate) choice: Duration,
    pub(crate) conformance: Conformance,
    pub(crate) game: &'static GameEntry,
    /// What agents are called with.
    pub(crate) client: Client,
}

impl Terms {
    pub(crate) fn timing(&self) -> Timing {
        let retry = RetryPolicy { retries: RETRIES, backoff: Backoff::Fixed { delay: RETRY_PAUSE } };
        Timing { join: self.join, choice: self.choice, retry, ..Timing::default() }
    }
}

/// Everything is open, and nobody has registered yet.
pub(crate) struct Practice {
    pub(crate) local: LocalLeague,
    pub(crate) programme: Programme,
    pub(crate) gate: Arc<Gate>,
    front: Option<Arc<Front>>,
    gate_url: Endpoint,
    others: Others,
    client: Client,
    /// The ports close when it is dropped.
    close: watch::Sender<bool>,
}

impl Practice {
    pub(crate) async fn open(terms: &Terms, store: Store) -> Result<Self> {
        let programme = Programme::new(terms.game, terms.rounds);
        let (client, close) = (terms.client.clone(), watch::Sender::new(false));
        let (manager, referee) = (bind().await?, bind().await?);
        let referee_url = endpoint(referee.local_addr()?)?;
        let (mut seats, mut players) = (Vec::new(), Vec::new());
        for partner in &programme.partners {
            let listener = bind().await?;
            let player = endpoint(listener.local_addr()?)?;
            players.push(listener);
            let reached_at = match *partner {
                Partner::Sparring(_) => None,
                Partner::Chaos(mood) => {
                    let (player, referee) = (player.raw().to_owned(), referee_url.raw().to_owned());
                    let (away, client) = (RETRY_PAUSE / 5, client.clone());
                    let port = bind().await?;
                    let url = endpoint(port.local_addr()?)?;
                    let chaos = partner::Partner { mood, player, referee, away, client };
                    tokio::spawn(chaos.serve(port, close.subscribe()));
                    Some(url)
                }
            };
            seats.push(Seat { name: partner.name().to_owned(), chooser: chooser(*partner), reached_at });
        }
        let gate = Gate::new(client.clone(), terms.timing(), programme.troubles());
        let port = bind().await?;
        let gate_url = endpoint(port.local_addr()?)?;
        tokio::spawn(Arc::clone(&gate).serve(port, close.subscribe()));
        let plan = plan(terms, &programme, seats);
        let local = LocalLeague::begin(plan, store, manager)?;
        let others = Others { referees: vec![referee], players };
        Ok(Self { local, programme, gate, front: None, gate_url, others, client, close })
    }

    /// Lets the guest in, and everyone else after it.
    pub(crate) async fn gather(&mut self, entrance: Entrance) -> Result<()> {
        match entrance {
            Entrance::Registers { listener, within } => self.wait(listener, within).await?,
            Entrance::Fetched { url, name } => self.fetch(url, name).await?,
        }
        let others = Others { referees: Vec::new(), players: Vec::new() };
        self.local.gather(std::mem::replace(&mut self.others, others)).await
    }

    async fn wait(&mut self, listener: TcpListener, within: Duration) -> Result<()> {
        let address = listener.local_addr()?;
        let (manager, gate_url) = (self.local.manager_url(), self.gate_url.raw().to_owned());
        let front = Front::new(self.client.clone(), manager, gate_url, Arc::clone(&self.gate));
        tokio::spawn(Arc::clone(&front).serve(listener, self.close.subscribe()));
        self.front = Some(Arc::clone(&front));
        if self.local.admit_guest(within).await? {
            return Ok(());
        }
        let seconds = within.as_secs_f64();
        match front.seen().errors.last() {
            Some((asked, code, text)) => {
                bail!(
                    "no agent was let in within {seconds} s; the last {asked} was refused: {code} {text} - `matchday \
                     check player --wait` says how to mend it"
                )
            }
            None => bail!(
                "no agent registered within {seconds} s - start it with http://{address}/mcp as its manager, or name \
                 its URL with --against"
            ),
        }
    }

    async fn fetch(&mut self, url: Endpoint, name: DisplayName) -> Result<()> {
        let probe = Probe::new(self.client.clone(), url.raw(), Instant::now() + REACH_MAX, REACH_MAX);
        reach::reach(&probe).await.map_err(|(_, why)| anyhow!(why))?;
        self.gate.lead_to(url.raw());
        let registration = registration(name, self.gate_url.clone())?;
        let body = write_call(Dialect::Standard, 1, &registration).into();
        let deadline = Instant::now() + ANSWER_MAX;
        let answer = self.client.post(&self.local.manager_url(), body, deadline, ANSWER_BYTES_MAX).await?;
        if self.local.admit_guest(Duration::ZERO).await? {
            let accepted: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            if let Some(token) = accepted.pointer("/result/auth_token").and_then(Value::as_str) {
                self.gate.show_token(token);
            }
            return Ok(());
        }
        bail!("the manager does not let it in: {}", String::from_utf8_lossy(&answer.body))
    }

    /// Errors that the manager told the guest when it asked: of what, the code, the text.
    pub(crate) fn refusals(&self) -> Vec<(String, String, String)> {
        self.front.as_ref().map(|front| front.seen().errors).unwrap_or_default()
    }

    /// Ends everything; what is decided is in the store.
    pub(crate) async fn shutdown(self) -> Result<()> {
        let _ = self.close.send(true);
        self.local.shutdown().await
    }
}

async fn bind() -> Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0").await.context("no port of this machine is free")
}

fn chooser(partner: Partner) -> Chooser {
    Chooser::BuiltIn(match partner {
        Partner::Sparring(entry) => entry,
        Partner::Chaos(_) => &strategy::RANDOM,
    })
}

fn plan(terms: &Terms, programme: &Programme, seats: Vec<Seat>) -> Plan {
    let league = league::Settings {
        league_id: LeagueId::new("practice"),
        game_type: GameType::new(terms.game.name),
        conformance: terms.conformance,
        announce_lead: Duration::ZERO,
        timing: terms.timing(),
        // Practice goes on, however often anyone fails.
        suspend_after: u32::MAX,
        fixtures: Some(programme.fixtures()),
        ..league::Settings::default()
    };
    Plan {
        league,
        seats,
        referees: 1,
        seed: None,
        record_exchanges: true,
        dashboard: false,
        rules: None,
        observed: Observed::default(),
    }
}

/// What an agent would say for itself.
fn registration(name: DisplayName, reached_at: Endpoint) -> Result<Message> {
    let conversation = format!("conv-practice-{:032x}", u128::from_be_bytes(entropy_from_system()?.bytes()));
    let sender = Sender::Player(PlayerId::new("guest"));
    let envelope = Envelope::new(sender, Clock::start().now(), ConversationId::new(conversation));
    let player_meta = PlayerMeta {
        display_name: name,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types: matchday_core::game::GAMES.iter().map(|game| GameType::new(game.name)).collect(),
        contact_endpoint: reached_at,
        protocol_version: None,
        public_key: None,
    };
    Ok(Message::new(envelope, LeagueRegisterRequest { player_meta, join_code: None }))
}
