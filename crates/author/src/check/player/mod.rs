//! `check player`: plays manager and referee against a running player, and checks its behaviour against the rules.
//!
//! # Layout
//! - `rules`: the rules for players; `fake_league`: the messages of the fake manager and referee
//! - `registration`: `--wait`, the agent registers with us; `handshake`: dialect, player id, access
//! - `suite`: shared state and helpers; `answers`: checks the answers that a player owes
//! - `matches`, `short_league`, `whole_game`, `notices`, `authentication`, `response_times`: the test cases;
//!   `checked_game`: the game that is played in them

mod answers;
mod authentication;
mod checked_game;
mod fake_league;
mod handshake;
mod matches;
mod notices;
pub(super) mod registration;
mod response_times;
pub mod rules;
mod short_league;
mod suite;
mod whole_game;

use super::probe::Probe;
use super::report::{Findings, Report};
use super::role::AgentRole;
use super::rule::{Category, Rule};
use super::wire::WireState;
use super::{CheckOptions, Wait, ack_server, preflight};
use checked_game::CheckedGame;
use fake_league::{FakeLeague, Identity};
use handshake::Handshake;
use matchday_core::entropy::Entropy;
use matchday_core::game::{GameEntry, MoveMessage};
use matchday_core::protocol::{Endpoint, PlayerId, RoundId};
use matchday_core::timing::Timing;
use matchday_runtime::deciders::game_program::GameProgram;
use matchday_runtime::entropy_from_system;
use registration::Registered;
use std::collections::BTreeMap;
use std::time::Duration;
use suite::Suite;
use tokio::time::Instant;

const NOBODY_CAME: &str = "no agent registered here in time - start your agent with this address as its manager's, or name the agent's URL. If it was started, see what it printed: one that ended at once, by a syntax error or a missing module, says so there";
/// The time an agent has to start listening after it has registered.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);
const UNLIKELY_NUMBER: u32 = 58;
const QUICK_WAIT_MAX: Duration = Duration::from_millis(1500);

/// What a player is checked for besides the common options.
#[derive(Debug)]
pub struct PlayerOptions {
    /// Its player id in a league, if it is already registered in one.
    pub player_id: Option<PlayerId>,
    pub game: &'static GameEntry,
    /// The rules of the game, if they are a program of the author's.
    pub rules: Option<GameProgram>,
}

pub async fn check(mut options: CheckOptions, player: PlayerOptions) -> anyhow::Result<Report> {
    let mut entropy = entropy_from_system()?;
    let wait = options.wait.take();
    let waits = wait.is_some();
    let rules = rules::OWN
        .iter()
        .copied()
        .filter(|rule| applies(rule, options.quick, player.game, waits))
        .collect();
    let mut findings = Findings::new(rules);
    let registered = match wait {
        Some(Wait { listener, within }) => {
            registration::wait(&mut findings, listener, within, player.game, &mut entropy).await
        }
        None => Registered::default(),
    };
    if waits && findings.is_undecided(&rules::REGISTER_CAME) {
        findings.violated_unseen(&rules::REGISTER_CAME, "no registration came in time");
    }
    let began = Instant::now();
    let Some(url) = options.url.clone().or_else(|| registered.endpoint.clone()) else {
        let mut report = findings.into_report(
            options.subject(AgentRole::Player, "(unknown)"),
            Duration::ZERO,
            "nothing registered",
        );
        report.stopped = Some(match (registered.role, &registered.refused) {
            (Some(role), _) => role.registers_instead_of(AgentRole::Player),
            (None, Some(why)) => {
                format!(
                    "the agent's registration is refused, and names no endpoint to check it at: {why}"
                )
            }
            (None, None) => NOBODY_CAME.to_owned(),
        });
        return Ok(report);
    };
    if waits {
        preflight::wait_until_listening(url.raw(), LISTEN_TIMEOUT).await;
        check_endpoint(&mut findings, &registered, &url).await;
    }
    let probe = options.probe(&url, QUICK_WAIT_MAX);
    probe.set_dialect(registered.dialect);
    let mut stopped = preflight::record_reachable(&probe, &mut findings).await;
    if let (Some(unreachable), Some(why)) = (&mut stopped, &registered.refused) {
        *unreachable = format!(
            "the agent was refused and is gone: {why} - fix its registration first ({unreachable})"
        );
    }
    if stopped.is_none() {
        (findings, stopped) = examine(
            &options,
            &player,
            probe,
            findings,
            &registered,
            &mut entropy,
        )
        .await?;
    }
    let unreached = stopped
        .as_deref()
        .unwrap_or("not checked: an earlier step failed");
    let mut report = findings.into_report(
        options.subject(AgentRole::Player, url.raw()),
        began.elapsed(),
        unreached,
    );
    report.stopped = stopped;
    Ok(report)
}

/// Runs the suite. Returns why it stopped, if the URL turns out not to be an agent's.
async fn examine(
    options: &CheckOptions,
    player: &PlayerOptions,
    probe: Probe,
    findings: Findings,
    registered: &Registered,
    entropy: &mut Entropy,
) -> anyhow::Result<(Findings, Option<String>)> {
    let (referee, endpoint) = ack_server::open().await?;
    // By URL the agent's id is learnt from its answers; until then an id that an author is unlikely to have written down.
    let player_id = player
        .player_id
        .clone()
        .unwrap_or_else(|| PlayerId::numbered(UNLIKELY_NUMBER));
    let identity = registered.identity.clone().unwrap_or(Identity {
        player_id,
        token: None,
        has_key: false,
    });
    let game = CheckedGame::prepare(player.game, player.rules.clone(), entropy).await?;
    let mut suite = Suite {
        probe,
        league: FakeLeague::new(registration::league_id(), identity, endpoint, game, entropy)?,
        findings,
        referee,
        timing: Timing::default(),
        joined: false,
        chose: false,
        takes_game_over: false,
        wire_state: WireState::default(),
        learns_id: player.player_id.is_none(),
        id_learnt: false,
        times: Vec::new(),
        nonces: BTreeMap::new(),
        first: None,
        separate: Vec::new(),
        joins: Vec::new(),
        choices: Vec::new(),
    };
    let stopped = suite.run(options.quick).await;
    Ok((suite.findings, stopped))
}

fn applies(rule: &Rule, quick: bool, game: &GameEntry, waits: bool) -> bool {
    let by_move = (game.new)().move_message() == MoveMessage::GameMove;
    match rule.category {
        Category::Registration => waits,
        // The rules of choosing depend on how the game asks.
        Category::Choosing if rules::of_moves(rule) != by_move => false,
        _ => rule.quick || !quick,
    }
}

async fn check_endpoint(findings: &mut Findings, registered: &Registered, url: &Endpoint) {
    match &registered.endpoint {
        Some(named) if named == url => findings.pass(&rules::REGISTER_ENDPOINT, ""),
        Some(named) => {
            let note = format!(
                "it registered {} and is checked at {}: leagues will call the former",
                named.escaped(),
                url.escaped()
            );
            match preflight::connected(named.raw()).await {
                Ok(()) => findings.warn_unseen(&rules::REGISTER_ENDPOINT, note),
                Err(error) => {
                    let note = format!("{note}, where nobody listens ({error})");
                    findings.violated_unseen(&rules::REGISTER_ENDPOINT, note);
                }
            }
        }
        None => findings.skip(
            &rules::REGISTER_ENDPOINT,
            "it has not registered an endpoint",
        ),
    }
}

impl Suite {
    /// Plain matches first, then a short league of them, then faulty ones, then invalid requests. LEAGUE_COMPLETED comes last, because an agent
    /// may exit after it.
    async fn run(&mut self, quick: bool) -> Option<String> {
        let handshake = self.handshake().await;
        match &handshake {
            Handshake::NotAnAgent(why) => return Some(why.clone()),
            Handshake::Closed(why) => self.close(why),
            Handshake::Open => self.matches(quick).await,
        }
        self.wire().broken_json().await;
        self.wire().ids().await;
        if !quick {
            self.wire().odd_requests().await;
            let like = self
                .league
                .round_completed(self.probe.clock.now(), RoundId(1));
            self.wire().unknown_message(&like).await;
            self.wire().slow_drip().await;
            self.wire().closed_connections().await;
        }
        self.wire().alive_at_end().await;
        if handshake == Handshake::Open {
            self.late_match(quick).await;
            self.end_league().await;
        }
        self.wire().finish_format_rules();
        None
    }

    /// One more invitation, some time after the first, so that clocks can be compared.
    async fn late_match(&mut self, quick: bool) {
        if !quick && self.joined {
            self.let_time_pass().await;
            let fixture = self.announce().await;
            self.invite(&fixture).await;
        }
        self.check_clock();
    }

    async fn matches(&mut self, quick: bool) {
        self.announce_round().await;
        let Some(first) = self.first.take() else {
            return;
        };
        let (fixture, chosen) = self.plain_match(first).await;
        if quick {
            return self.end_round(&fixture, chosen.as_ref()).await;
        }
        self.ask_again(&fixture, chosen.as_ref()).await;
        self.end_round(&fixture, chosen.as_ref()).await;
        self.takes_game_over = self.is_acknowledged(&rules::GAME_OVER);
        self.short_league().await;
        if let Some((fixture, chosen)) = self.odd_match().await {
            self.end_match(&fixture, Some(&chosen)).await;
            self.end_again(&fixture, &chosen).await;
        }
        self.utf8_match().await;
        self.two_matches().await;
        if self.league.game.asks_by_move() {
            self.whole_game().await;
        }
        self.rare_notices().await;
        self.check_tokens().await;
        self.measure().await;
    }
}
