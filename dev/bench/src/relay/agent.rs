//! An agent that answers at once: what is measured is the way to it.

use anyhow::Result;
use hyper::StatusCode;
use matchday_net::client::Client;
use matchday_net::response::json;
use matchday_net::server;
use matchday_server::connect::{self, RelayClient, RelayError, SavedMailbox, Status};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

const CONNECTIONS_MAX: usize = 256;

/// Serves until the tasks are dropped.
pub(crate) fn serve(listener: TcpListener, tasks: &mut JoinSet<()>) {
    tasks.spawn(async move {
        let (_never, closing) = watch::channel(false);
        let handler = |_, _| async {
            json(
                StatusCode::OK,
                br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec(),
            )
        };
        server::serve(listener, CONNECTIONS_MAX, handler, closing).await;
    });
}

/// The same, dialled out to the relay of a manager; its endpoint there. `relay`: where the manager is reached.
pub(crate) async fn dial(relay: &str, status: Status, tasks: &mut JoinSet<()>) -> Result<String> {
    let client = Client::new();
    let opened = RelayClient::open(&client, relay, None).await?;
    let saved = SavedMailbox::of(relay, opened)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let dialling = connect::dial_to(
        client,
        &saved,
        status,
        format!("http://{}/mcp", listener.local_addr()?),
    )?;
    serve(listener, tasks);
    tasks.spawn(async move {
        let _ended: RelayError = dialling.await;
    });
    Ok(saved.contact_endpoint)
}
