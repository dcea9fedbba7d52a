//! Practice: one agent plays every built-in strategy, a chaos partner in each of its modes, and correct partners
//! while faults are injected into its own requests. Runs a local league around the agent.
//!
//! # Layout
//! - [`plan`]: the sequence of matches
//! - [`proxy`]: proxies to the manager (registration) and to the player (timing, fault injection); [`chaos_partner`]: the
//!   chaos partner
//! - [`report`]: the results; [`render`]: for people

pub mod chaos_partner;
pub mod plan;
pub mod proxy;
pub mod render;
pub mod report;

use crate::check::preflight;
use crate::check::probe::Probe;
use anyhow::{Context, Result, anyhow, bail};
use chaos_partner::ChaosPartner;
use matchday_core::game::{GameEntry, strategy};
use matchday_core::league;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::{LeagueRegisterRequest, PlayerMeta};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, LeagueId, Message, PlayerId, Sender,
    Version,
};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_net::client::Client;
use matchday_runtime::deciders::game_program::GameProgram;
use matchday_runtime::deciders::player_strategy::PlayerStrategy;
use matchday_runtime::telemetry::Telemetry;
use matchday_runtime::{Clock, entropy_from_system};
use matchday_server::local::agent_settings::endpoint;
use matchday_server::local::ports::AgentListeners;
use matchday_server::local::{LeaguePlan, LocalLeague, PlayerPlan};
use matchday_store::Store;
use plan::{Partner, PracticePlan};
use proxy::manager::ManagerProxy;
use proxy::player::PlayerProxy;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// One retry shows whether an agent tolerates repeated requests.
const RETRIES: u32 = 1;
const RETRY_PAUSE: Duration = Duration::from_millis(250);
const REACH_MAX: Duration = Duration::from_secs(10);
const ANSWER_MAX: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// How the agent joins.
#[derive(Debug)]
pub enum AgentSource {
    /// It registers with us.
    Registers {
        listener: TcpListener,
        within: Duration,
    },
    /// We register it.
    Url { url: Endpoint, name: DisplayName },
}

#[derive(Debug, Clone)]
pub struct PracticeOptions {
    /// How often each strategy is met.
    pub rounds: u32,
    pub join: Duration,
    pub choice: Duration,
    pub conformance: Conformance,
    pub game: &'static GameEntry,
    /// The rules of the game, if they are a program of the author's.
    pub game_program: Option<GameProgram>,
    pub client: Client,
}

impl PracticeOptions {
    pub fn timing(&self) -> Timing {
        let retry = RetryPolicy {
            retries: RETRIES,
            backoff: Backoff::Fixed { delay: RETRY_PAUSE },
        };
        Timing {
            join: self.join,
            choice: self.choice,
            retry,
            ..Timing::default()
        }
    }
}

/// A league in which one player from outside meets ours, through proxies that watch it.
#[derive(Debug)]
pub struct Practice {
    pub local: LocalLeague,
    pub plan: PracticePlan,
    pub proxy: Arc<PlayerProxy>,
    manager_proxy: Option<Arc<ManagerProxy>>,
    player_proxy_url: Endpoint,
    listeners: AgentListeners,
    game: &'static GameEntry,
    client: Client,
    /// Closes the proxies when dropped.
    close: watch::Sender<bool>,
}

impl Practice {
    pub async fn open(options: &PracticeOptions, store: Store) -> Result<Self> {
        let plan = PracticePlan::new(options.game, options.rounds);
        let client = options.client.clone();
        let close = watch::Sender::new(false);
        let manager = bind().await?;
        let referee = bind().await?;
        let referee_url = endpoint(referee.local_addr()?)?;
        let mut player_plans = Vec::new();
        let mut players = Vec::new();
        for partner in &plan.partners {
            let listener = bind().await?;
            let player = endpoint(listener.local_addr()?)?;
            players.push(listener);
            let reached_at = match *partner {
                Partner::Sparring(_) => None,
                Partner::Chaos(mode) => {
                    let player = player.raw().to_owned();
                    let referee = referee_url.raw().to_owned();
                    let away = RETRY_PAUSE / 5;
                    let client = client.clone();
                    let port = bind().await?;
                    let url = endpoint(port.local_addr()?)?;
                    let chaos = ChaosPartner {
                        mode,
                        player,
                        referee,
                        away,
                        client,
                    };
                    tokio::spawn(chaos.serve(port, close.subscribe()));
                    Some(url)
                }
            };
            player_plans.push(PlayerPlan {
                name: partner.name().to_owned(),
                strategy: strategy_of(*partner),
                reached_at,
            });
        }
        let proxy = PlayerProxy::new(client.clone(), options.timing(), plan.faults());
        let port = bind().await?;
        let player_proxy_url = endpoint(port.local_addr()?)?;
        tokio::spawn(Arc::clone(&proxy).serve(port, close.subscribe()));
        let league_plan = league_plan(options, &plan, player_plans);
        let local = LocalLeague::begin(league_plan, store, manager)?;
        let listeners = AgentListeners {
            referees: vec![referee],
            players,
        };
        Ok(Self {
            local,
            plan,
            proxy,
            manager_proxy: None,
            player_proxy_url,
            listeners,
            game: options.game,
            client,
            close,
        })
    }

    /// Registers the agent first, and then everyone else.
    pub async fn gather(&mut self, source: AgentSource) -> Result<()> {
        match source {
            AgentSource::Registers { listener, within } => self.wait(listener, within).await?,
            AgentSource::Url { url, name } => self.fetch(url, name).await?,
        }
        let listeners = AgentListeners {
            referees: Vec::new(),
            players: Vec::new(),
        };
        self.local
            .gather(std::mem::replace(&mut self.listeners, listeners))
            .await
    }

    async fn wait(&mut self, listener: TcpListener, within: Duration) -> Result<()> {
        let address = listener.local_addr()?;
        let manager = self.local.manager_url();
        let player_proxy_url = self.player_proxy_url.raw().to_owned();
        let manager_proxy = ManagerProxy::new(
            self.client.clone(),
            manager,
            player_proxy_url,
            Arc::clone(&self.proxy),
        );
        tokio::spawn(Arc::clone(&manager_proxy).serve(listener, self.close.subscribe()));
        self.manager_proxy = Some(Arc::clone(&manager_proxy));
        if self.local.admit_external_player(within).await? {
            return Ok(());
        }
        let seconds = within.as_secs_f64();
        match manager_proxy.log().errors.last() {
            Some((request, code, text)) => {
                bail!(
                    "no agent was accepted within {seconds} s; the last {request} was refused: {code} {text} - `matchday \
                     check player --wait` says how to fix it"
                )
            }
            None => bail!(
                "no agent registered within {seconds} s - start it with http://{address}/mcp as its manager, or name \
                 its URL with --against"
            ),
        }
    }

    async fn fetch(&mut self, url: Endpoint, name: DisplayName) -> Result<()> {
        let probe = Probe::new(
            self.client.clone(),
            url.raw(),
            Instant::now() + REACH_MAX,
            REACH_MAX,
        );
        preflight::check_reachable(&probe)
            .await
            .map_err(|(_, why)| anyhow!(why))?;
        self.proxy.set_agent_url(url.raw());
        let registration = registration(name, self.game, self.player_proxy_url.clone())?;
        let body = write_call(Dialect::Standard, 1, &registration).into();
        let deadline = Instant::now() + ANSWER_MAX;
        let answer = self
            .client
            .post(&self.local.manager_url(), body, deadline, ANSWER_BYTES_MAX)
            .await?;
        let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let text = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
        if text("/result/status") == Some("ACCEPTED")
            && self.local.admit_external_player(ANSWER_MAX).await?
        {
            if let (Some(id), Some(token)) = (text("/result/player_id"), text("/result/auth_token"))
            {
                self.proxy.set_identity(id, token);
            }
            return Ok(());
        }
        bail!(
            "the manager refuses it: {}",
            String::from_utf8_lossy(&answer.body)
        )
    }

    /// Errors in the manager's answers to the agent: request type, code, text.
    pub fn refusals(&self) -> Vec<(String, String, String)> {
        self.manager_proxy
            .as_ref()
            .map(|manager_proxy| manager_proxy.log().errors)
            .unwrap_or_default()
    }

    pub async fn shutdown(self) -> Result<()> {
        let _ = self.close.send(true);
        self.local.shutdown().await
    }
}

async fn bind() -> Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0")
        .await
        .context("no port of this machine is free")
}

fn strategy_of(partner: Partner) -> PlayerStrategy {
    PlayerStrategy::BuiltIn(match partner {
        Partner::Sparring(entry) => entry,
        Partner::Chaos(_) => &strategy::RANDOM,
    })
}

fn league_plan(
    options: &PracticeOptions,
    plan: &PracticePlan,
    player_plans: Vec<PlayerPlan>,
) -> LeaguePlan {
    let league = league::LeagueSettings {
        league_id: LeagueId::new("practice"),
        game_type: GameType::new(options.game.name),
        conformance: options.conformance,
        announce_lead: Duration::ZERO,
        timing: options.timing(),
        // TechnicalLoss losses must not end the practice.
        suspend_after: u32::MAX,
        fixtures: Some(plan.fixtures()),
        ..league::LeagueSettings::default()
    };
    LeaguePlan {
        league,
        player_plans,
        referees: 1,
        seed: None,
        record_exchanges: true,
        dashboard: false,
        pace: Duration::ZERO,
        rules: options.game_program.clone(),
        telemetry: Telemetry::default(),
        dial: false,
        seats: None,
    }
}

fn registration(
    name: DisplayName,
    game: &'static GameEntry,
    reached_at: Endpoint,
) -> Result<Message> {
    let conversation = format!(
        "conv-practice-{:032x}",
        u128::from_be_bytes(entropy_from_system()?.bytes())
    );
    let sender = Sender::Player(PlayerId::new("guest"));
    let envelope = Envelope::new(
        sender,
        Clock::start().now(),
        ConversationId::new(conversation),
    );
    let player_meta = PlayerMeta {
        display_name: name,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types: vec![GameType::new(game.name)],
        contact_endpoint: reached_at,
        protocol_version: None,
        public_key: None,
        strategy: None,
        capabilities: Vec::new(),
        max_matches_per_hour: None,
    };
    Ok(Message::new(
        envelope,
        LeagueRegisterRequest {
            player_meta,
            join_code: None,
        },
    ))
}
