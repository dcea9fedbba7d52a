//! How a service takes its place among others that share its store: its certificate, the socket at which they call, and its row
//! in the store.

use super::daemon;
use super::settings::{self, Config};
use anyhow::{Context, Result, anyhow};
use matchday_core::entropy::Entropy;
use matchday_core::event_codec;
use matchday_net::egress::Target;
use matchday_net::tls::PeerIdentity;
use matchday_os::host;
use matchday_server::service::PeerSettings;
use matchday_store::ownership::Process;
use matchday_store::{Store, StoreUrl};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Opens the store of a service. A database is shared with other services, a file is not.
pub(super) async fn open_store(
    config: &Config,
    store: StoreUrl,
    address: SocketAddr,
    entropy: &mut Entropy,
) -> Result<(Store, Option<PeerSettings>)> {
    if !matches!(store, StoreUrl::Postgres(_)) {
        return Ok((Store::open(store)?, None));
    }
    let identity =
        PeerIdentity::generate().map_err(|why| anyhow!("no certificate could be made: {why}"))?;
    let (listener, url) = listen(config, address).await?;
    let process = Process {
        id: hex::encode(entropy.bytes::<16>()),
        name: name(),
        url,
        certificate: identity.certificate().to_vec(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        event_form: event_codec::VERSION,
    };
    let opened = tokio::task::spawn_blocking(move || Store::open_shared(store, process)).await;
    let (store, ownership) = opened.context("the store could not be opened")??;
    Ok((
        store,
        Some(PeerSettings {
            ownership,
            identity,
            listener,
        }),
    ))
}

/// The socket for the other services, and where they reach it.
async fn listen(config: &Config, address: SocketAddr) -> Result<(TcpListener, String)> {
    let advertised = config.get(&settings::ADVERTISE)?;
    let target = advertised.as_ref().and_then(|url| Target::parse(url.raw()));
    if let Some(url) = advertised
        .as_ref()
        .filter(|url| !url.raw().starts_with("https://"))
    {
        let why = format!(
            "expected https://HOST:PORT, since services call each other over TLS, got {}",
            url.raw()
        );
        return Err(config.wrong(&settings::ADVERTISE, why));
    }
    let port = target.as_ref().map_or(0, |target| target.port);
    let listen = match config.text(&settings::PEER_LISTEN) {
        Some(listen) => listen.to_owned(),
        None => SocketAddr::new(address.ip(), port).to_string(),
    };
    let listener = TcpListener::bind(&listen).await.with_context(|| {
        format!("cannot listen on {listen} for the other services - choose another address with --peer-listen HOST:PORT")
    })?;
    let bound = listener.local_addr()?;
    let url = match &advertised {
        Some(url) => url
            .raw()
            .strip_suffix("/mcp")
            .unwrap_or(url.raw())
            .to_owned(),
        None if bound.ip().is_unspecified() => format!("https://{}:{}", host(), bound.port()),
        None => format!("https://{bound}"),
    };
    Ok((listener, url))
}

fn host() -> String {
    host::name().unwrap_or_else(|| "localhost".to_owned())
}

fn name() -> String {
    format!("{}:{}", host(), std::process::id())
}

/// What is told to who names no public URL, though several services can answer for a league.
pub(super) fn notice_of_public_url(config: &Config, public_url: &str) -> Option<String> {
    let is_named = config.text(&settings::PUBLIC_URL).is_some();
    (daemon::is_shared(config) && config.text(&settings::ADVERTISE).is_some() && !is_named).then(|| {
        format!(
            "leagues are known by {public_url}: give all services that share this store the same --public-url, so that addresses of leagues stay valid without this service"
        )
    })
}
