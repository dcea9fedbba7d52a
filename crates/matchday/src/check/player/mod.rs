//! `check player`: plays manager and referee against a running player, and holds what it does against the rules.
//!
//! # Layout
//! - `rules`: what a player is held against
//! - `registration`: `--wait`, the agent's own registration; `opening`: the first words with it
//! - `suite`: what the parts share; `answers`: the two answers that a player owes
//! - `matches`, `games`, `notices`, `trust`, `times`: the parts

mod answers;
mod games;
mod matches;
mod notices;
mod opening;
mod registration;
pub(crate) mod rules;
mod suite;
pub(crate) mod times;
mod trust;

use super::probe::Probe;
use super::report::{Report, Sheet, Subject};
use super::rule::{Category, Rule};
use super::stage::{Identity, Stage};
use super::{reach, receiver};
use crate::net::client::Client;
use crate::shell::entropy_from_system;
use matchday_core::entropy::Entropy;
use matchday_core::game::{AskBy, GameEntry};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::{Endpoint, PlayerId, RoundId};
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
const NOBODY_CAME: &str = "no agent registered here in time - start your agent with this address as its manager's, or name the agent's URL";
/// How long an agent that has registered may take to listen.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);
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
    /// What it is to play.
    pub(crate) game: &'static GameEntry,
    /// What it is called with.
    pub(crate) client: Client,
}

/// A port on which the agent's registration is waited for.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) listener: TcpListener,
    pub(crate) within: Duration,
}

/// Checks a player from its registration, if that is waited for, to its last acknowledgement.
pub(crate) async fn check(mut order: Order) -> anyhow::Result<Report> {
    let mut entropy = entropy_from_system()?;
    let wait = order.wait.take();
    let waits = wait.is_some();
    let rules = rules::OWN.iter().copied().filter(|rule| applies(rule, &order, waits)).collect();
    let mut sheet = Sheet::new(rules);
    let enrolled = match wait {
        Some(Wait { listener, within }) => {
            registration::wait(&mut sheet, listener, within, &order, &mut entropy).await
        }
        None => Enrolled::default(),
    };
    if waits && sheet.is_open(&rules::REGISTER_CAME) {
        sheet.missing(&rules::REGISTER_CAME, "no registration came in time");
    }
    let began = Instant::now();
    let Some(url) = order.url.clone().or_else(|| enrolled.endpoint.clone()) else {
        let mut report = sheet.into_report(order.subject("(unknown)"), Duration::ZERO, "nothing registered");
        report.stopped = Some(NOBODY_CAME.to_owned());
        return Ok(report);
    };
    if waits {
        reach::until_listening(url.raw(), LISTENS_WITHIN).await;
        judge_endpoint(&mut sheet, &enrolled, &url);
    }
    let (longest, patience) = if order.quick { (QUICK_MAX, QUICK_PATIENCE) } else { (WHOLE_MAX, WHOLE_MAX) };
    let probe = Probe::new(order.client.clone(), url.raw(), Instant::now() + longest, patience);
    probe.speak(enrolled.dialect);
    let stopped;
    match reach::reach(&probe).await {
        Ok(_) => {
            sheet.pass(&rules::REACHABLE, "");
            (sheet, stopped) = examine(&order, probe, sheet, &enrolled, &mut entropy).await?;
        }
        Err((exchange, why)) => {
            sheet.broken(&rules::REACHABLE, why.clone(), &exchange);
            stopped = Some(why);
        }
    }
    let unreached = "the check did not come to it";
    let mut report = sheet.into_report(order.subject(url.raw()), began.elapsed(), unreached);
    report.stopped = stopped;
    Ok(report)
}

/// Runs the suite against what is there; why it was stopped, if it was no agent after all.
async fn examine(
    order: &Order,
    probe: Probe,
    sheet: Sheet,
    enrolled: &Enrolled,
    entropy: &mut Entropy,
) -> anyhow::Result<(Sheet, Option<String>)> {
    let (referee, endpoint) = receiver::open().await?;
    let player_id = order.player_id.clone().unwrap_or_else(|| PlayerId::numbered(1));
    let identity = enrolled.identity.clone().unwrap_or(Identity { player_id, token: None });
    let mut suite = Suite {
        probe,
        stage: Stage::new(registration::league_id(), identity, endpoint, order.game, entropy)?,
        sheet,
        referee,
        conformance: order.conformance,
        timing: Timing::default(),
        joined: false,
        chose: false,
        gone: false,
        answers_otherwise: false,
        apart: Vec::new(),
        joins: Vec::new(),
        choices: Vec::new(),
    };
    let stopped = suite.run(order.quick, order.player_id.is_none()).await;
    Ok((suite.sheet, stopped))
}

impl Order {
    fn subject(&self, target: &str) -> Subject {
        Subject::new("player", target, self.conformance, self.quick)
    }
}

fn applies(rule: &Rule, order: &Order, waits: bool) -> bool {
    let by_move = (order.game.new)().asks_by() == AskBy::Move;
    match rule.category {
        Category::Registration => waits,
        // How a choice is asked for and answered depends on the game.
        Category::Choosing if rules::of_moves(rule) != by_move => false,
        _ => rule.quick || !order.quick,
    }
}

fn judge_endpoint(sheet: &mut Sheet, enrolled: &Enrolled, url: &Endpoint) {
    match &enrolled.endpoint {
        Some(named) if named == url => sheet.pass(&rules::REGISTER_ENDPOINT, ""),
        Some(named) => {
            let note = format!(
                "it registered {} and is checked at {}: leagues will call the former",
                named.escaped(),
                url.escaped()
            );
            sheet.caution(&rules::REGISTER_ENDPOINT, note);
        }
        None => sheet.skip(&rules::REGISTER_ENDPOINT, "it has not registered an endpoint"),
    }
}

impl Suite {
    /// A league in small: plain matches first, then odd ones, then what no league would send, and its end last, since an
    /// agent may leave after that.
    async fn run(&mut self, quick: bool, learns_name: bool) -> Option<String> {
        let terms = self.open(learns_name).await;
        match &terms {
            Terms::Nowhere(why) => return Some(why.clone()),
            Terms::Closed(why) => self.close(why),
            Terms::Open => self.matches(quick).await,
        }
        self.wire().broken_json().await;
        self.wire().ids().await;
        if !quick {
            self.wire().odd_requests().await;
            let like = self.stage.round_completed(self.probe.clock.now(), RoundId(1));
            self.wire().unknown_message(&like).await;
            self.wire().slow_drip().await;
            self.wire().closed_connections().await;
        }
        self.wire().at_the_end().await;
        if terms == Terms::Open {
            self.end_league().await;
        }
        self.wire().settle_form();
        None
    }

    async fn matches(&mut self, quick: bool) {
        self.announce_round().await;
        let (fixture, chosen) = self.plain_match().await;
        if quick {
            return self.end_round(&fixture, chosen.as_ref()).await;
        }
        self.ask_again(&fixture, chosen.as_ref()).await;
        self.end_round(&fixture, chosen.as_ref()).await;
        if let Some((fixture, chosen)) = self.odd_match().await {
            self.end_match(&fixture, Some(&chosen)).await;
        }
        self.two_matches().await;
        if self.stage.asks_by_move() {
            self.whole_game().await;
        }
        self.rare_news().await;
        self.strangers().await;
        self.measure().await;
    }
}
