//! `matchday seat`: seats in a league for clients of the Model Context Protocol.

use super::config::{Config, Flags};
use super::settings::ForSeat;
use super::{Usage, network, notice, observing, serve};
use crate::seat::{self, Seats};
use crate::store::{Store, Stream};
use anyhow::{Context, Result};
use matchday_core::player::strategy::{self, StrategyEntry};
use matchday_core::protocol::Endpoint;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::watch;

pub(super) const EXAMPLE: &str = "\
Add the address that is shown to a client of the Model Context Protocol, such as that of a language model, and say:
\"join the league and play\". Its tools are join_league, wait_for_turn, make_move, standings and my_history.

Example:
  matchday seat --manager http://localhost:8000/mcp
  matchday seat --listen 127.0.0.1:8202 --fallback none --max-seats 4";

/// Without it, whoever does not choose forfeits.
const NO_FALLBACK: &str = "none";

pub(super) async fn execute(flags: Flags<ForSeat>) -> Result<ExitCode> {
    let mut stop = serve::Stop::listen()?;
    let config = flags.resolve()?;
    let mut options = serve::options(&config)?;
    options.message_bytes_max = network::message_bytes_max(&config)?;
    let manager = serve::endpoint(&config, "manager")?.context("name the manager with --manager URL")?;
    let fallback = fallback(&config, "fallback")?;
    let (seats_max, seats_per_address) = max_seats(&config)?;
    let listener = serve::bind(&config).await?;
    let address = listener.local_addr()?;
    let observed = observing::observed(&config, address, &options.client)?;
    options.observed = observed.clone();
    let home = serve::contact(&config, address.port())?;
    let (_, store) = serve::open_store(&config, format!("seat-{}.db", address.port()))?;
    notice(&format!(
        "seats at {} - add this address to a client of the Model Context Protocol",
        home.escaped()
    ));
    let settings = seat::Settings { manager, home, seats_max, seats_per_address, fallback };
    let seats = Seats::open(settings, address, store.clone(), options)?;
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(seat::serve(seats, listener, closing));
    stop.told().await;
    let _ = close.send(true);
    serving.await?;
    store.close()?;
    observed.flush().await;
    Ok(ExitCode::SUCCESS)
}

/// Seats at the address of a manager, and the store that they are kept in.
pub(super) struct Beside {
    pub(super) seats: Arc<Seats>,
    pub(super) path: PathBuf,
    store: Option<Store>,
}

impl Beside {
    /// When the seats have been closed.
    pub(super) fn close(self) -> Result<()> {
        drop(self.seats);
        self.store.map_or(Ok(()), |store| Ok(store.close()?))
    }
}

/// Seats at the address of a manager, if its settings ask for them. Its own players reach it at `manager`.
pub(super) fn beside(
    config: &Config,
    manager: &std::net::SocketAddr,
    path: &Path,
    store: &Store,
    options: crate::shell::Options,
) -> Result<Option<Beside>> {
    let fallback = fallback(config, "seat-fallback")?;
    let (seats_max, seats_per_address) = max_seats(config)?;
    if !config.switch("seats")?.unwrap_or(false) {
        return Ok(None);
    }
    let mut address = *manager;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let scheme = if options.terms.tls.is_some() { "https" } else { "http" };
    let settings = seat::Settings {
        manager: Endpoint::parse(&format!("{scheme}://{address}/mcp"))?,
        home: serve::contact(config, manager.port())?,
        seats_max,
        seats_per_address,
        fallback,
    };
    // The players in seats keep tokens and keys of their own, which the manager's store must not hold in clear. A store in
    // which an earlier version has kept them goes on so.
    if !store.load(&Stream("seats".into()))?.is_empty() {
        let seats = Seats::open(settings, *manager, store.clone(), options)?;
        return Ok(Some(Beside { seats, path: path.to_owned(), store: None }));
    }
    let path = store_beside(path);
    let store = Store::open(&path)?;
    let seats = Seats::open(settings, *manager, store.clone(), options)?;
    Ok(Some(Beside { seats, path, store: Some(store) }))
}

/// `matchday.db` becomes `matchday-seats.db`.
fn store_beside(path: &Path) -> PathBuf {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}-seats.db"))
}

/// How many seats there may be, and how many of them from one address.
fn max_seats(config: &Config) -> Result<(usize, Option<usize>)> {
    let most = network::within(config, "max-seats", 1, 10_000)?.unwrap_or(1);
    Ok((most, network::within(config, "seats-per-address", 1, 10_000)?))
}

fn fallback(config: &Config, name: &str) -> Result<Option<&'static StrategyEntry>> {
    match config.text(name) {
        None | Some(NO_FALLBACK) => Ok(None),
        Some(text) => {
            let entry = strategy::named(text)
                .map_err(|error| Usage(format!("--{name}: {error}, or {NO_FALLBACK}")))?;
            Ok(Some(entry))
        }
    }
}
