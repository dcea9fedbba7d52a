//! Conformance checks: plays the other roles against a running agent, and reports for each rule whether it holds, on
//! which evidence, and how to fix a violation.
//!
//! # Layout
//! - [`rule`]: the rules, [`explain`]: with what the protocol's description says ([`protocol_pages`]); [`report`]: findings; [`exchange`]: recorded HTTP exchanges
//! - [`probe`], [`raw_http`]: requests to the agent, well-formed and broken; [`preflight`]: is the URL an agent's?
//! - [`fake_agent`], [`ack_server`]: servers that the agent can call
//! - [`role`]: is it a player, a referee or a manager?
//! - [`reply`], [`response_format`], [`field_check`]: classify and validate replies with the decoder of the league
//! - [`wire`]: the checks that all roles share: HTTP, JSON-RPC, robustness
//! - [`player`], [`referee`], [`manager`]: the suite of each role
//! - [`own_player`]: a manager for one player, under whose id the requests of a match are played again
//! - [`render`]: reports for people, as JSON, as JUnit XML

mod ack_server;
pub mod exchange;
pub mod explain;
mod fake_agent;
mod field_check;
pub mod manager;
pub mod own_player;
pub mod player;
pub mod preflight;
pub mod probe;
mod protocol_pages;
mod raw_http;
pub mod referee;
pub mod relay_front;
pub mod render;
mod reply;
pub mod report;
mod response_format;
pub mod role;
pub mod rule;
mod wire;

use matchday_core::protocol::Endpoint;
use matchday_core::protocol::decode::Conformance;
use matchday_net::client::Client;
use probe::Probe;
use report::Subject;
use role::AgentRole;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;

const FULL_MAX: Duration = Duration::from_secs(110);
const QUICK_MAX: Duration = Duration::from_millis(4500);

/// The agent to check, and how thoroughly.
#[derive(Debug)]
pub struct CheckOptions {
    /// `None` if the agent is to register, which tells its endpoint.
    pub url: Option<Endpoint>,
    pub wait: Option<Wait>,
    pub quick: bool,
    /// Of the league that the agent is to be ready for.
    pub conformance: Conformance,
    pub client: Client,
}

/// Listens for the agent's registration.
#[derive(Debug)]
pub struct Wait {
    pub listener: TcpListener,
    pub within: Duration,
}

impl CheckOptions {
    /// A probe that ends with the check. `quick_wait_max` bounds each of its timeouts under `--quick`.
    fn probe(&self, url: &Endpoint, quick_wait_max: Duration) -> Probe {
        let (max, wait_max) = if self.quick {
            (QUICK_MAX, quick_wait_max)
        } else {
            (FULL_MAX, FULL_MAX)
        };
        Probe::new(
            self.client.clone(),
            url.raw(),
            Instant::now() + max,
            wait_max,
        )
    }

    fn subject(&self, role: AgentRole, target: &str) -> Subject {
        Subject {
            role,
            target: target.to_owned(),
            conformance: self.conformance,
            quick: self.quick,
        }
    }
}
