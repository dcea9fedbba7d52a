//! `check manager`: registers referees and players of its own with a running manager, plays a whole league there by
//! reporting made-up results, and holds what the manager does against the rules.
//!
//! # Layout
//! - `rules`: what a manager is held against; `members`: those whom the check registers; `suite`: what the parts share
//! - `registering`, `queries`, `rounds`, `results`: the parts

mod members;
mod queries;
mod registering;
mod results;
mod rounds;
pub(crate) mod rules;
mod suite;

use super::player::rules as form;
use super::probe::Probe;
use super::reach;
use super::report::{Report, Sheet, Subject};
use crate::net::client::Client;
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::decode::Conformance;
use members::{Member, Role};
use std::time::Duration;
use suite::Suite;
use tokio::time::Instant;

const WHOLE_MAX: Duration = Duration::from_secs(110);
const QUICK_MAX: Duration = Duration::from_millis(4500);
const QUICK_PATIENCE: Duration = Duration::from_millis(1500);
/// Four players, whose table is fixed, and a second referee to forge results.
const PLAYERS: [&str; 4] = ["Check Ada", "Check Ben", "Check Cleo", "Check Dan"];
const REFEREES: [&str; 2] = ["Check Whistle", "Check Flag"];

/// How a manager is to be checked.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) url: Endpoint,
    pub(crate) operator_token: Option<String>,
    pub(crate) quick: bool,
    pub(crate) conformance: Conformance,
    /// What it is called with.
    pub(crate) client: Client,
}

pub(crate) async fn check(order: Order) -> anyhow::Result<Report> {
    let began = Instant::now();
    let rules = rules::all().filter(|rule| rule.quick || !order.quick).collect();
    let mut sheet = Sheet::new(rules);
    let (longest, patience) = if order.quick { (QUICK_MAX, QUICK_PATIENCE) } else { (WHOLE_MAX, WHOLE_MAX) };
    let url = order.url.raw();
    let probe = Probe::new(order.client.clone(), url, Instant::now() + longest, patience);
    let stopped;
    match reach::reach(&probe).await {
        Ok(_) => {
            sheet.pass(&form::REACHABLE, "");
            (sheet, stopped) = examine(&order, probe, sheet).await?;
        }
        Err((exchange, why)) => {
            sheet.broken(&form::REACHABLE, why.clone(), &exchange);
            stopped = Some(why);
        }
    }
    let subject = Subject::new("manager", url, order.conformance, order.quick);
    let mut report = sheet.into_report(subject, began.elapsed(), "the check did not come to it");
    report.stopped = stopped;
    Ok(report)
}

async fn examine(order: &Order, probe: Probe, sheet: Sheet) -> anyhow::Result<(Sheet, Option<String>)> {
    let (mut players, mut referees) = (Vec::new(), Vec::new());
    for name in PLAYERS {
        players.push(Member::open(Role::Player, name.to_owned()).await?);
    }
    for name in REFEREES {
        referees.push(Member::open(Role::Referee, name.to_owned()).await?);
    }
    let mut suite = Suite {
        probe,
        sheet,
        gone: false,
        answers_otherwise: false,
        conformance: order.conformance,
        players,
        referees,
        league_id: String::new(),
        makes_tokens: false,
        operator_token: order.operator_token.clone(),
        counts: Vec::new(),
    };
    let stopped = suite.run(order.quick).await?;
    Ok((suite.sheet, stopped))
}

impl Suite {
    /// A league from its first registration to its end.
    async fn run(&mut self, quick: bool) -> anyhow::Result<Option<String>> {
        if let Some(why) = self.register_all().await {
            return Ok(Some(why));
        }
        let complete = self.members().all(|member| member.token.is_some());
        self.register_again().await;
        self.refusals().await;
        self.queries().await;
        self.bad_queries().await;
        if !quick && complete && self.start().await {
            self.late().await?;
            self.play().await;
            self.queries().await;
        }
        self.wire().broken_json().await;
        self.wire().ids().await;
        self.wire().odd_requests().await;
        self.too_large().await;
        if !quick {
            self.wire().slow_drip().await;
            self.wire().closed_connections().await;
        }
        self.wire().at_the_end().await;
        self.wire().settle_form();
        Ok(None)
    }
}
