//! Players of a local league that dial out to its manager, each over a stream of its own.

use super::LeaguePlan;
use crate::connect::{AgentEndpoint, Dialled, RelayClient, Status};
use crate::mcp::agent_options;
use crate::relay::{Relay, RelaySettings};
use anyhow::Result;
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::client::Client;
use matchday_net::memory::{self, MemoryListener};
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
        mailboxes_max,
        per_address_max: mailboxes_max,
    };
    let telemetry = plan.telemetry.clone();
    let options = Options { clock, telemetry, ..agent_options(entropy_from_system()?) };
    Ok(Relay::open(settings, store.clone(), &options)?)
}

/// Opens a mailbox: where its calls come out, and its endpoint.
pub(super) async fn out(manager: &str) -> Result<(MemoryListener, Endpoint)> {
    let client = Client::new();
    let opened = RelayClient::open(&client, manager, None).await?;
    let mut entropy = entropy_from_system()?;
    let name = hex::encode(entropy.bytes::<8>());
    let relay = RelayClient::new(client, manager, &opened.mailbox, Token::new(&*opened.relay_token), name);
    let (listener, dialer) = memory::pair();
    let agent = AgentEndpoint::new(Client::with_dialer(Arc::new(dialer)), Some(memory::URL.to_owned()));
    let dialled = Dialled::new(relay, agent, Status::new(|_, _| {}), false);
    // It ends with the process, which runs for as long as the league.
    tokio::spawn(dialled.run(entropy));
    Ok((listener, Endpoint::parse(&opened.contact_endpoint)?))
}
