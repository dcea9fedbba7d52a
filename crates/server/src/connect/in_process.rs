//! Agents of this process: where they are called, and how they dial out.

use super::calls::{AgentEndpoint, Dialled};
use super::relay_client::RelayError;
use super::saved_mailbox::SavedMailbox;
use super::status::Status;
use matchday_core::protocol::Endpoint;
use matchday_net::client::Client;
use matchday_runtime::{
    Handle, HttpService, NoEntropy, Options, Runnable, Start, StartError, agent_telemetry,
    entropy_from_system, host, replay,
};
use matchday_store::{Store, Stream};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::SetOnce;

/// The address of an agent without a socket: nothing listens there.
pub const NO_SOCKET: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);

/// The calls of a mailbox wait for the agent until it is set.
pub type DialledAgent = Arc<SetOnce<Arc<HttpService>>>;

/// Where the agent is to be set, and the connection to the relay: it lasts for as long as that is polled.
pub fn dial(
    client: Client,
    saved: &SavedMailbox,
    status: Status,
) -> Result<
    (
        DialledAgent,
        impl Future<Output = RelayError> + Send + use<>,
    ),
    NoEntropy,
> {
    let relay = saved.relay_client(client);
    let agent = DialledAgent::default();
    let endpoint = AgentEndpoint::InProcess(Arc::clone(&agent));
    Ok((
        agent,
        Dialled::new(relay, endpoint, status, false).run(entropy_from_system()?),
    ))
}

/// The same for an agent that listens at a URL of this machine.
pub fn dial_to(
    client: Client,
    saved: &SavedMailbox,
    status: Status,
    url: String,
) -> Result<impl Future<Output = RelayError> + Send + use<>, NoEntropy> {
    let endpoint = AgentEndpoint::at(Client::new(), Some(url));
    Ok(
        Dialled::new(saved.relay_client(client), endpoint, status, false)
            .run(entropy_from_system()?),
    )
}

/// Where an agent is called: at a socket of its own, or through the relay of its league.
#[derive(Debug)]
pub enum AgentListener {
    Socket(TcpListener),
    Dialled {
        contact: Endpoint,
        agent: DialledAgent,
    },
}

impl AgentListener {
    pub fn run<A>(
        self,
        mut agent: A,
        store: Store,
        stream: Stream,
        options: Options,
    ) -> Result<Handle<A>, StartError>
    where
        A: Runnable,
        A::Event: Send,
    {
        let (contact, dialled) = match self {
            Self::Socket(listener) => {
                return matchday_runtime::run(agent, listener, store, stream, options);
            }
            Self::Dialled { contact, agent } => (contact, agent),
        };
        let telemetry = agent_telemetry(&agent, &options);
        let last_at = replay(&mut agent, &store, &stream, &telemetry, true)?;
        let url = contact.raw().to_owned();
        let start = Start {
            address: NO_SOCKET,
            url,
            wakes: true,
            last_at,
            telemetry,
        };
        let hosted = host(agent, start, store, stream, options)?;
        let _ = dialled.set(hosted.service);
        Ok(hosted.handle)
    }
}
