//! An agent of this process that dials out: its calls come out of a listener that is no socket.

use super::calls::{AgentEndpoint, Dialled};
use super::relay_client::RelayError;
use super::saved_mailbox::SavedMailbox;
use super::status::Status;
use matchday_net::client::Client;
use matchday_net::memory::{self, MemoryListener};
use matchday_runtime::{NoEntropy, entropy_from_system};
use std::sync::Arc;

/// Where the calls of a mailbox come out, and the connection to the relay: it lasts for as long as that is polled.
pub fn dial(
    client: Client,
    saved: &SavedMailbox,
    status: Status,
) -> Result<(MemoryListener, impl Future<Output = RelayError> + Send + use<>), NoEntropy> {
    let relay = saved.relay_client(client);
    let (listener, dialer) = memory::pair();
    let agent = AgentEndpoint::new(Client::with_dialer(Arc::new(dialer)), Some(memory::URL.to_owned()));
    Ok((listener, Dialled::new(relay, agent, status, false).run(entropy_from_system()?)))
}
