//! `matchday seat`: seats in a league for clients of the Model Context Protocol.

use super::daemon::LogTo;
use super::settings::{self, Config, SeatFlags};
use super::{daemon, dial, network, notice, seat_play, telemetry};
use anyhow::{Result, anyhow};
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::protocol::Token;
use matchday_os::signals::Termination;
use matchday_runtime::deciders::player_strategy::{self, NO_FALLBACK};
use matchday_runtime::entropy_from_system;
use matchday_server::connect::NO_SOCKET;
use matchday_server::league::SeatsPlan;
use matchday_server::seat::{self, Authorization, SeatDial, Seats};
use matchday_store::Store;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(super) const EXAMPLE: &str = "\
Add the address that is shown to a client of the Model Context Protocol, such as that of a language model, and say:
\"join the league and play\". Its tools are join_league, wait_for_turn, make_move, standings and my_history.

A host that starts its servers by command runs `matchday seat --stdio`: docs/seats.md has the snippets.

Example:
  matchday seat --play connect_four --against lookahead
  matchday seat --manager http://localhost:8000/mcp
  matchday seat --stdio --manager http://localhost:8000/mcp
  matchday seat --stdio --dial --manager https://league.example/leagues/spring/mcp
  matchday seat --listen 127.0.0.1:8202 --fallback none --max-seats 4";

pub(super) async fn execute(flags: SeatFlags) -> Result<ExitCode> {
    let mut stop = Termination::listen()?;
    let config = flags.resolve()?;
    let stdio = config.need(&settings::STDIO)?;
    let log = if stdio { LogTo::Stderr } else { LogTo::Stdout };
    let (mut options, _) = daemon::options_and_log(&config, log)?;
    let dials = config.need(&settings::DIAL)?;
    match config.get(&settings::PLAY)? {
        Some(_) if dials => {
            let why = "--play is a league of this machine alone: nothing dials out";
            return Err(config.wrong(&settings::DIAL, why));
        }
        Some(game) => return seat_play::execute(&config, game, stdio, stop).await,
        None if config.is_given(&settings::AGAINST) => {
            let why = "it says who plays against the seat in a game that --play names";
            return Err(config.wrong(&settings::AGAINST, why));
        }
        None => {}
    }
    options.message_bytes_max = config.get(&settings::MESSAGE_BYTES_MAX)?;
    let (manager, join_code) = daemon::manager(&config)?;
    let fallback = fallback(&config)?;
    let (seats_max, seats_per_address) = max_seats(&config)?;
    // Its clients come by the standard input, and the league by the relay.
    let listener = match (dials && stdio, stdio && !config.is_given(&settings::LISTEN)) {
        (true, _) => None,
        (_, true) => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?),
        (_, false) => Some(daemon::bind(&config).await?),
    };
    let address = listener
        .as_ref()
        .map_or(Ok(NO_SOCKET), TcpListener::local_addr)?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    let home = daemon::contact(&config, address.port())?;
    let store = if stdio && !config.is_given(&settings::STORE) {
        Store::in_memory()?
    } else {
        daemon::open_store(&config, format!("seat-{}.db", address.port()))?
    };
    if !stdio {
        notice(&format!(
            "seats at {} - add this address to a client of the Model Context Protocol",
            home.escaped()
        ));
    }
    // A client at the standard input needs no code.
    let only_this_machine =
        listener.is_none() || daemon::is_for_this_machine_alone(&config, address.ip())?;
    let (authorization, made) = authorization(&config, only_this_machine, false)?;
    show_code(made);
    let settings = seat::SeatSettings {
        manager,
        home,
        seats_max,
        seats_per_address,
        fallback,
        observation: config.need(&settings::OBSERVATION)?,
        authorization,
        join_code,
    };
    let (failed, mut failure) = watch::channel(None);
    let seats = if dials {
        let client = dial::prepare(&mut options)?;
        let league = settings.manager.raw().to_owned();
        notice(&format!("seats are called through the relay of {league}"));
        let dial = SeatDial {
            client,
            league,
            store: store.name().file_base(),
            notice,
            failed,
        };
        Seats::open_dialled(settings, address, store.clone(), options, dial).await?
    } else {
        Seats::open(settings, address, store.clone(), options)?
    };
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(serve_seats(Arc::clone(&seats), listener, closing));
    let client = async {
        if !stdio {
            return std::future::pending().await;
        }
        seat::serve_stdio(seats)
            .await
            .map_err(|why| anyhow!("standard input and output: {why}"))
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
async fn serve_seats(
    seats: Arc<Seats>,
    listener: Option<TcpListener>,
    mut closing: watch::Receiver<bool>,
) {
    match listener {
        Some(listener) => seat::serve(seats, listener, closing).await,
        None => {
            let _ = closing.wait_for(|closing| *closing).await;
            seats.close().await;
        }
    }
}

/// Shows the code of seats to the operator, if one was made.
pub(super) fn show_code(made: Option<Token>) {
    if let Some(code) = made {
        notice(&format!(
            "code for seats, new at each start unless --seat-code sets one - clients show it as their bearer token: {}",
            code.reveal()
        ));
    }
}

/// What clients must show, and the code if one was made. `has_roster`: whether the league has join codes for players, which
/// then do.
fn authorization(
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

/// The seats of a league, if its settings ask for them, and the code of their clients if one was made.
pub(super) fn plan(
    config: &Config,
    only_this_machine: bool,
    has_roster: bool,
) -> Result<Option<(SeatsPlan, Option<Token>)>> {
    let fallback = fallback(config)?.map(|entry| entry.name.to_owned());
    let (seats_max, seats_per_address) = max_seats(config)?;
    if !config.need(&settings::SEATS)? {
        return Ok(None);
    }
    let (authorization, made) = authorization(config, only_this_machine, has_roster)?;
    Ok(Some((
        SeatsPlan {
            seats_max,
            seats_per_address,
            fallback,
            observation: config.need(&settings::OBSERVATION)?,
            authorization,
        },
        made,
    )))
}

/// One seat, for whoever is on this machine.
pub(super) fn plan_of_one(config: &Config) -> Result<SeatsPlan> {
    Ok(SeatsPlan {
        seats_max: 1,
        seats_per_address: None,
        fallback: fallback(config)?.map(|entry| entry.name.to_owned()),
        observation: config.need(&settings::OBSERVATION)?,
        authorization: Authorization::Off,
    })
}

/// How many seats there may be, and how many of them from one address.
fn max_seats(config: &Config) -> Result<(usize, Option<usize>)> {
    Ok((
        config.need(&settings::MAX_SEATS)?,
        network::agents_per_address(config)?,
    ))
}

fn fallback(config: &Config) -> Result<Option<&'static StrategyEntry>> {
    let name = config.text(&settings::FALLBACK).unwrap_or(NO_FALLBACK);
    player_strategy::fallback(name).map_err(|error| config.wrong(&settings::FALLBACK, error))
}
