//! Players of a local league that dial out to its manager, each over a stream of its own.

use super::LeaguePlan;
use crate::connect::{self, RelayClient, SavedMailbox, Status};
use crate::mcp::agent_options;
use crate::relay::{Relay, RelayLimits, RelaySettings};
use anyhow::Result;
use matchday_core::protocol::Endpoint;
use matchday_net::client::Client;
use matchday_net::memory::MemoryListener;
use matchday_runtime::{Clock, Options, entropy_from_system};
use matchday_store::Store;
use std::net::SocketAddr;
use std::sync::Arc;

/// The relay of the manager at this address.
pub(super) fn relay(
    plan: &LeaguePlan,
    store: &Store,
    clock: Clock,
    manager: SocketAddr,
) -> Result<Arc<Relay>> {
    let mailboxes_max = plan.player_plans.len();
    let settings = RelaySettings {
        base_url: format!("http://{manager}"),
        limits: RelayLimits::new(mailboxes_max, mailboxes_max),
        message_bytes_max: plan.league.message_bytes_max,
    };
    let telemetry = plan.telemetry.clone();
    let options = Options { clock, telemetry, ..agent_options(entropy_from_system()?) };
    Ok(Relay::open(settings, store.clone(), &options)?)
}

/// Opens a mailbox: where its calls come out, and its endpoint.
pub(super) async fn out(manager: &str) -> Result<(MemoryListener, Endpoint)> {
    let client = Client::new();
    let opened = RelayClient::open(&client, manager, None).await?;
    let saved = SavedMailbox::of(manager, opened)?;
    let (listener, dialling) = connect::dial(client, &saved, Status::new(|_, _| {}))?;
    // It ends with the process, which runs for as long as the league.
    tokio::spawn(dialling);
    Ok((listener, Endpoint::parse(&saved.contact_endpoint)?))
}
