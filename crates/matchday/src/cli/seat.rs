//! `matchday seat`: seats in a league for clients of the Model Context Protocol.

use super::serve::LogTo;
use super::settings::{self, Config, Declared, SeatFlags, Setting};
use super::{dial, network, notice, serve, telemetry};
use anyhow::{Result, anyhow};
use matchday_core::game::strategy::{self, StrategyEntry};
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::memory;
use matchday_os::signals::Termination;
use matchday_runtime::entropy_from_system;
use matchday_server::seat::{self, Authorization, SeatDial, Seats};
use matchday_store::Store;
use matchday_store::open::file_base;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(super) const EXAMPLE: &str = "\
Add the address that is shown to a client of the Model Context Protocol, such as that of a language model, and say:
\"join the league and play\". Its tools are join_league, wait_for_turn, make_move, standings and my_history.

A host that starts its servers by command runs `matchday seat --stdio`: docs/writing-an-agent.md has the snippets.

Example:
  matchday seat --manager http://localhost:8000/mcp
  matchday seat --stdio --manager http://localhost:8000/mcp
  matchday seat --stdio --dial --manager https://league.example/leagues/spring/mcp
  matchday seat --listen 127.0.0.1:8202 --fallback none --max-seats 4";

/// Turns the fallback off: a seat that does not choose in time forfeits.
const NO_FALLBACK: &str = "none";

pub(super) async fn execute(flags: SeatFlags) -> Result<ExitCode> {
    let mut stop = Termination::listen()?;
    let config = flags.resolve()?;
    let stdio = config.need(&settings::STDIO)?;
    let log = if stdio { LogTo::Stderr } else { LogTo::Stdout };
    let (mut options, _) = serve::options_and_log(&config, log)?;
    options.message_bytes_max = config.get(&settings::MESSAGE_BYTES_MAX)?;
    let (manager, join_code) = serve::manager(&config)?;
    let fallback = fallback(&config, &settings::FALLBACK)?;
    let (seats_max, seats_per_address) = max_seats(&config)?;
    let is_given = |setting: &Declared| config.given().any(|value| value.setting.id == setting.id);
    let dials = config.need(&settings::DIAL)?;
    // Its clients come by the standard input, and the league by the relay.
    let listener = match (dials && stdio, stdio && !is_given(&settings::LISTEN)) {
        (true, _) => None,
        (_, true) => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?),
        (_, false) => Some(serve::bind(&config).await?),
    };
    let address = listener.as_ref().map_or(Ok(memory::ADDRESS), TcpListener::local_addr)?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    let home = serve::contact(&config, address.port())?;
    let (path, store) = match stdio && !is_given(&settings::STORE) {
        true => (None, Store::in_memory()?),
        false => {
            let (path, store) = serve::open_store(&config, format!("seat-{}.db", address.port()))?;
            (Some(path), store)
        }
    };
    if !stdio {
        notice(&format!(
            "seats at {} - add this address to a client of the Model Context Protocol",
            home.escaped()
        ));
    }
    // A client at the standard input needs no code.
    let only_this_machine = listener.is_none() || serve::is_for_this_machine_alone(&config, address.ip())?;
    let authorization = shown_authorization(&config, only_this_machine, false)?;
    let settings = seat::SeatSettings {
        manager,
        home,
        seats_max,
        seats_per_address,
        fallback,
        authorization,
        join_code,
    };
    let (failed, mut failure) = watch::channel(None);
    let seats = match dials {
        true => {
            let client = dial::prepare(&mut options)?;
            let league = settings.manager.raw().to_owned();
            notice(&format!("seats are called through the relay of {league}"));
            let dial = SeatDial { client, league, store: path, notice, failed };
            Seats::open_dialled(settings, address, store.clone(), options, dial).await?
        }
        false => Seats::open(settings, address, store.clone(), options)?,
    };
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(serve_seats(Arc::clone(&seats), listener, closing));
    let client = async {
        if !stdio {
            return std::future::pending().await;
        }
        seat::serve_stdio(seats).await.map_err(|why| anyhow!("standard input and output: {why}"))
    };
    let ended = tokio::select! {
        _ = stop.recv() => Ok(()),
        ended = client => ended,
        // Only seats that dial out fail this way.
        Ok(Some(why)) = async { failure.wait_for(Option::is_some).await.map(|why| why.clone()) } => Err(why.into()),
    };
    let _ = close.send(true);
    serving.await?;
    store.close()?;
    telemetry.flush().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Serves the seats until `closing` turns true. Without a socket their only client is at the standard input.
async fn serve_seats(seats: Arc<Seats>, listener: Option<TcpListener>, mut closing: watch::Receiver<bool>) {
    match listener {
        Some(listener) => seat::serve(seats, listener, closing).await,
        None => {
            let _ = closing.wait_for(|closing| *closing).await;
            seats.close().await;
        }
    }
}

/// What clients must show; a code that is made is shown to the operator.
fn shown_authorization(config: &Config, only_this_machine: bool, has_roster: bool) -> Result<Authorization> {
    let (authorization, made) = authorization(config, only_this_machine, has_roster)?;
    if let Some(code) = made {
        notice(&format!(
            "code for seats, made anew at each start unless --seat-code names one - clients show it as their bearer token: {}",
            code.reveal()
        ));
    }
    Ok(authorization)
}

/// What clients must show, and the code if one was made. `has_roster`: whether the league has join codes for players, which
/// then do.
pub(super) fn authorization(
    config: &Config,
    only_this_machine: bool,
    has_roster: bool,
) -> Result<(Authorization, Option<Token>)> {
    let authorization = match config.text(&settings::SEAT_CODE).map(Token::new) {
        Some(text) if text.reveal() == "off" => Authorization::Off,
        Some(code) if code.is_join_code() => Authorization::Code(code.hash()),
        Some(_) => {
            let why = "expected off, or tok_join_ and at least 16 letters and digits that nobody can guess (it is not \
                       shown here)";
            return Err(config.wrong(&settings::SEAT_CODE, why));
        }
        None if only_this_machine => Authorization::Off,
        None if has_roster => Authorization::JoinCode,
        None => {
            let code = Token::new_join_code(&mut entropy_from_system()?);
            return Ok((Authorization::Code(code.hash()), Some(code)));
        }
    };
    Ok((authorization, None))
}

/// Seats at the address of a manager, and their store.
pub(super) struct ManagerSeats {
    pub(super) seats: Arc<Seats>,
    pub(super) path: PathBuf,
    store: Store,
}

impl ManagerSeats {
    /// Closes the store, after the seats have been closed.
    pub(super) fn close(self) -> Result<()> {
        drop(self.seats);
        Ok(self.store.close()?)
    }
}

/// Seats at the address of a manager, if its settings ask for them. Its own players reach it at `manager`.
pub(super) fn for_manager(
    config: &Config,
    manager: &std::net::SocketAddr,
    path: &Path,
    has_roster: bool,
    options: matchday_runtime::Options,
) -> Result<Option<ManagerSeats>> {
    let fallback = fallback(config, &settings::SEAT_FALLBACK)?;
    let (seats_max, seats_per_address) = max_seats(config)?;
    if !config.need(&settings::SEATS)? {
        return Ok(None);
    }
    let mut address = *manager;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let scheme = if options.server.tls.is_some() { "https" } else { "http" };
    let settings = seat::SeatSettings {
        manager: Endpoint::parse(&format!("{scheme}://{address}/mcp"))?,
        home: serve::contact(config, manager.port())?,
        seats_max,
        seats_per_address,
        fallback,
        authorization: shown_authorization(
            config,
            serve::is_for_this_machine_alone(config, manager.ip())?,
            has_roster,
        )?,
        join_code: None,
    };
    // The players in seats store their tokens and keys in clear, which the manager's store must not hold.
    let path = seats_store(path);
    let store = Store::open(&path)?;
    let seats = Seats::open(settings, *manager, store.clone(), options)?;
    Ok(Some(ManagerSeats { seats, path, store }))
}

/// `matchday.db` becomes `matchday-seats.db`.
fn seats_store(path: &Path) -> PathBuf {
    let path = file_base(path);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}-seats.db"))
}

/// How many seats there may be, and how many of them from one address.
pub(super) fn max_seats(config: &Config) -> Result<(usize, Option<usize>)> {
    Ok((config.need(&settings::MAX_SEATS)?, network::agents_per_address(config)?))
}

pub(super) fn fallback(config: &Config, setting: &Setting<String>) -> Result<Option<&'static StrategyEntry>> {
    match config.text(setting) {
        None | Some(NO_FALLBACK) => Ok(None),
        Some(text) => match strategy::named(text) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) => Err(config.wrong(setting, format!("{error}, or {NO_FALLBACK}"))),
        },
    }
}
