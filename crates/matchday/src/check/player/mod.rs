//! `check player`: plays manager and referee against a running player, and holds what it does against the rules.
//!
//! # Layout
//! - `rules`: what a player is held against
//! - `registration`: `--wait`, the agent's own registration; `opening`: the first words with it
//! - `suite`: what the parts share; `answers`: the two answers that a player owes
//! - `matches`, `notices`, `rpc`, `endurance`, `trust`, `times`: the parts

mod answers;
mod endurance;
mod matches;
mod notices;
mod opening;
mod registration;
mod rpc;
pub(crate) mod rules;
mod suite;
mod times;
mod trust;

use super::probe::Probe;
use super::reach;
use super::report::{Report, Sheet, Subject};
use super::rule::{Category, Rule};
use super::stage::{Identity, Stage};
use crate::shell::entropy_from_system;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::{Endpoint, PlayerId};
use matchday_core::timing::Timing;
use opening::Terms;
use registration::Enrolled;
use std::time::Duration;
use suite::Suite;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// All is over by then, whatever the agent does.
const WHOLE_MAX: Duration = Duration::from_secs(110);
const QUICK_MAX: Duration = Duration::from_millis(4500);
/// How long `--quick` waits for anything.
const QUICK_PATIENCE: Duration = Duration::from_millis(1500);

/// How a player is to be checked.
#[derive(Debug)]
pub(crate) struct Order {
    /// Where it listens; not needed if it is to register first, and says so then.
    pub(crate) url: Option<Endpoint>,
    pub(crate) wait: Option<Wait>,
    pub(crate) quick: bool,
    pub(crate) conformance: Conformance,
    /// The id under which it is registered somewhere, if that is known.
    pub(crate) player_id: Option<PlayerId>,
}

/// A port on which the agent's registration is waited for.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) listener: TcpListener,
    pub(crate) within: Duration,
}

/// Checks a player from its registration, if that is waited for, to its last acknowledgement.
pub(crate) async fn check(order: Order) -> anyhow::Result<Report> {
    let mut entropy = entropy_from_system()?;
    let waits = order.wait.is_some();
    let rules = rules::ALL.iter().copied().filter(|rule| applies(rule, order.quick, waits)).collect();
    let mut sheet = Sheet::new(rules);
    let enrolled = match order.wait {
        Some(Wait { listener, within }) => {
            registration::wait(&mut sheet, listener, within, order.conformance, &mut entropy).await
        }
        None => Enrolled::default(),
    };
    let began = Instant::now();
    let subject = |target: &str| Subject {
        role: "player",
        target: target.to_owned(),
        conformance: if order.conformance == Conformance::Strict { "strict" } else { "lenient" },
        quick: order.quick,
    };
    let Some(url) = order.url.or_else(|| enrolled.endpoint.clone()) else {
        let mut report = sheet.into_report(subject("(unknown)"), Duration::ZERO, "nothing registered");
        report.stopped = Some(
            "no agent registered here in time - point your agent's manager URL here and start it".into(),
        );
        return Ok(report);
    };
    let (longest, patience) = if order.quick { (QUICK_MAX, QUICK_PATIENCE) } else { (WHOLE_MAX, WHOLE_MAX) };
    let probe = Probe::new(url.as_str(), began + longest, patience);
    probe.speak(enrolled.dialect);
    let reached = reach::reach(&probe).await;
    let mut stopped = None;
    match reached {
        Ok(_) => sheet.pass(&rules::REACHABLE, ""),
        Err((exchange, why)) => {
            sheet.broken(&rules::REACHABLE, why.clone(), &exchange);
            stopped = Some(why);
        }
    }
    if stopped.is_none() {
        judge_endpoint(&mut sheet, &enrolled, &url, waits);
        let stage = stage(&enrolled, order.player_id.clone(), &url, &mut entropy)?;
        let mut suite = Suite {
            probe,
            stage,
            sheet,
            conformance: order.conformance,
            timing: Timing::default(),
            joined: false,
            chose: false,
            joins: Vec::new(),
            choices: Vec::new(),
        };
        let learns_name = order.player_id.is_none();
        suite.run(order.quick, learns_name).await;
        sheet = suite.sheet;
    }
    let mut report =
        sheet.into_report(subject(url.as_str()), began.elapsed(), "the check did not come to it");
    report.stopped = stopped;
    Ok(report)
}

fn applies(rule: &Rule, quick: bool, waits: bool) -> bool {
    let needs_registration = rule.category == Category::Registration;
    if needs_registration { waits } else { rule.quick || !quick }
}

fn judge_endpoint(sheet: &mut Sheet, enrolled: &Enrolled, url: &Endpoint, waits: bool) {
    match &enrolled.endpoint {
        Some(named) if named == url => sheet.pass(&rules::REGISTER_ENDPOINT, ""),
        Some(named) => {
            let note = format!("it registered {named} and is checked at {url}: leagues will call the former");
            sheet.caution(&rules::REGISTER_ENDPOINT, note);
        }
        None if waits => sheet.skip(&rules::REGISTER_ENDPOINT, "it has not registered an endpoint"),
        None => {}
    }
}

fn stage(
    enrolled: &Enrolled,
    player_id: Option<PlayerId>,
    url: &Endpoint,
    entropy: &mut Entropy,
) -> anyhow::Result<Stage> {
    let stranger = Identity { player_id: player_id.unwrap_or_else(|| PlayerId::numbered(1)), token: None };
    let identity = enrolled.identity.clone().unwrap_or(stranger);
    Ok(Stage::new(registration::league_id(), identity, url.clone(), entropy)?)
}

impl Suite {
    async fn run(&mut self, quick: bool, learns_name: bool) {
        match self.open(learns_name).await {
            Terms::Closed(why) => self.close(&why),
            Terms::Open => self.league(quick).await,
        }
        self.broken_json().await;
        self.ids().await;
        if !quick {
            self.odd_requests().await;
            self.unknown_message().await;
            self.slow_drip().await;
            self.closed_connections().await;
        }
        self.at_the_end().await;
    }

    /// A league in small: plain matches first, then odd ones, then its end.
    async fn league(&mut self, quick: bool) {
        self.announce_round().await;
        let (fixture, chosen) = self.plain_match().await;
        if !quick {
            self.ask_again(&fixture, chosen.as_ref()).await;
        }
        self.end_round(&fixture, chosen.as_ref()).await;
        if !quick {
            let (fixture, chosen) = self.odd_match().await;
            self.end_match(&fixture, chosen.as_ref()).await;
            self.two_matches().await;
            self.rare_news().await;
            self.strangers().await;
            self.measure().await;
        }
        self.end_league().await;
    }
}
