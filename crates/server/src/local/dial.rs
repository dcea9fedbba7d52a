//! Players of a local league that dial out to its manager, each over a stream of its own. Their mailboxes are kept in private
//! streams of the league, so that a league that goes on finds them again.

use crate::connect::{self, AgentListener, RelayClient, SavedMailbox, Status};
use anyhow::Result;
use matchday_core::event_codec;
use matchday_core::protocol::{Endpoint, Timestamp};
use matchday_net::client::Client;
use matchday_store::{Store, Stream};

/// Opens the mailbox of a player, or takes the one that it has: what is to answer its calls, and its endpoint.
pub(super) async fn out(
    manager: &str,
    store: &Store,
    player: u32,
) -> Result<(AgentListener, Endpoint)> {
    let client = Client::new();
    let stream = Stream(format!("mailbox/{player}").into());
    let saved = match saved(store, &stream)? {
        Some(saved) => saved,
        None => {
            let opened = RelayClient::open(&client, manager, None).await?;
            let saved = SavedMailbox::of(manager, opened)?;
            // Nobody asks when it was opened.
            let line = event_codec::encode(Timestamp::EPOCH, &saved)?;
            store
                .private()
                .append_blocking(Timestamp::EPOCH, stream, line)?;
            saved
        }
    };
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

fn saved(store: &Store, stream: &Stream) -> Result<Option<SavedMailbox>> {
    let stored = store.private().load(stream)?;
    let saved = stored.last().map(|last| event_codec::decode(&last.line));
    Ok(saved.transpose()?.map(|(_, saved)| saved))
}
