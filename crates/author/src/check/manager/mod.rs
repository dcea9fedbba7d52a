//! `check manager`: registers fake referees and players with a running manager, reports invented results of a whole
//! league, and checks the manager's behaviour against the rules.
//!
//! # Layout
//! - `rules`: the rules for managers; `members`: the registered fake agents; `suite`: shared state and helpers
//! - `registration`, `queries`, `rounds`, `results`: the test cases

mod members;
mod queries;
mod registration;
mod results;
mod rounds;
pub mod rules;
mod suite;

use super::probe::Probe;
use super::report::{Findings, Report};
use super::role::AgentRole;
use super::wire::WireState;
use super::{CheckOptions, preflight};
use anyhow::Context;
use matchday_core::league::LeagueSettings;
use matchday_runtime::entropy_from_system;
use members::{Member, Role};
use std::time::Duration;
use suite::{NOTICE_TIMEOUT, Suite};
use tokio::time::Instant;

const QUICK_WAIT_MAX: Duration = Duration::from_millis(1500);
const ENDED: &str =
    "the manager ended with its league: check its refusals with --quick, on a new league";

/// What a manager is checked with besides the common options.
#[derive(Debug)]
pub struct ManagerOptions {
    pub operator_token: Option<String>,
    pub players: usize,
    pub referees: usize,
}

pub async fn check(options: CheckOptions, manager: ManagerOptions) -> anyhow::Result<Report> {
    let began = Instant::now();
    let url = options
        .url
        .clone()
        .context("a manager is checked at its URL")?;
    let rules = rules::all()
        .filter(|rule| rule.quick || !options.quick)
        .collect();
    let mut findings = Findings::new(rules);
    let probe = options.probe(&url, QUICK_WAIT_MAX);
    let mut stopped = preflight::record_reachable(&probe, &mut findings).await;
    let mut unreached = None;
    let mut left_behind = Vec::new();
    if stopped.is_none() {
        let mut suite = open(manager, probe, findings).await?;
        stopped = suite.run(options.quick).await?;
        (findings, unreached, left_behind) = (suite.findings, suite.unreached, suite.left_behind);
    }
    let unreached = unreached
        .or(stopped.clone())
        .unwrap_or_else(|| "not checked: an earlier step failed".to_owned());
    let subject = options.subject(AgentRole::Manager, url.raw());
    let mut report = findings.into_report(subject, began.elapsed(), &unreached);
    report.stopped = stopped;
    report.remarks.extend(left_behind);
    Ok(report)
}

async fn open(manager: ManagerOptions, probe: Probe, findings: Findings) -> anyhow::Result<Suite> {
    // So that another check of the same manager meets none of these agents again.
    let run: String = entropy_from_system()?
        .bytes::<3>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut players = Vec::new();
    let mut referees = Vec::new();
    for number in 1..=manager.players {
        players.push(
            Member::open(Role::Player, number, format!("Check Player {number} {run}")).await?,
        );
    }
    for number in 1..=manager.referees {
        referees.push(
            Member::open(
                Role::Referee,
                number,
                format!("Check Referee {number} {run}"),
            )
            .await?,
        );
    }
    Ok(Suite {
        probe,
        findings,
        wire_state: WireState::default(),
        players,
        referees,
        league_id: LeagueSettings::default().league_id.as_str().to_owned(),
        makes_tokens: false,
        has_begun: false,
        is_tampered: false,
        operator_token: manager.operator_token,
        reported: Vec::new(),
        run,
        probes: 0,
        left_behind: Vec::new(),
        unreached: None,
        notice_timeout: NOTICE_TIMEOUT,
    })
}

impl Suite {
    async fn run(&mut self, quick: bool) -> anyhow::Result<Option<String>> {
        if let Some(why) = self.register_all().await {
            return Ok(Some(why));
        }
        self.queries().await;
        if !quick && self.start().await {
            self.play().await;
            self.queries().await;
            if self.probe.ping().await.answered().is_none() {
                self.unreached.get_or_insert_with(|| ENDED.to_owned());
                return Ok(None);
            }
            self.late().await?;
        }
        // What must be refused comes last: who takes it has the league of another.
        self.register_again().await;
        self.refusals().await;
        self.bad_queries().await;
        self.wire().broken_json().await;
        self.wire().ids().await;
        self.wire().odd_requests().await;
        self.too_large().await;
        if !quick {
            self.wire().slow_drip().await;
            self.wire().closed_connections().await;
        }
        self.wire().alive_at_end().await;
        self.wire().finish_format_rules();
        Ok(None)
    }
}
