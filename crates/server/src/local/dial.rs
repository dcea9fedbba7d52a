//! Players of a local league that dial out to its manager, each over a stream of its own.

use crate::connect::{self, AgentListener, RelayClient, SavedMailbox, Status};
use anyhow::Result;
use matchday_core::protocol::Endpoint;
use matchday_net::client::Client;

/// Opens a mailbox: what is to answer its calls, and its endpoint.
pub(super) async fn out(manager: &str) -> Result<(AgentListener, Endpoint)> {
    let client = Client::new();
    let opened = RelayClient::open(&client, manager, None).await?;
    let saved = SavedMailbox::of(manager, opened)?;
    let (agent, dialling) = connect::dial(client, &saved, Status::new(|_, _| {}))?;
    // It ends with the process, which runs for as long as the league.
    tokio::spawn(dialling);
    let contact = Endpoint::parse(&saved.contact_endpoint)?;
    Ok((
        AgentListener::Dialled {
            contact: contact.clone(),
            agent,
        },
        contact,
    ))
}
