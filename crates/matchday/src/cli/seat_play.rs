//! `matchday seat --play GAME`: a league of this process alone, in which the client of a seat meets built-in players.

use super::run::{fresh_file, watch};
use super::run_players::numbered;
use super::settings::{self, Config};
use super::{competition, daemon, games, notice, seat};
use anyhow::{Context, Result, anyhow, bail};
use matchday_core::game::GameEntry;
use matchday_core::league::{Competition, Format, LeagueSettings, Score};
use matchday_core::protocol::GameType;
use matchday_core::timing::Timing;
use matchday_os::signals::Termination;
use matchday_runtime::deciders::player_strategy;
use matchday_runtime::telemetry::Telemetry;
use matchday_server::local::ports::{AgentListeners, PortNumbers, Ports};
use matchday_server::local::{LeaguePlan, LocalLeague, PlayerPlan};
use matchday_server::seat::serve_stdio;
use matchday_store::Store;
use matchday_terminal::live::View;
use matchday_terminal::progress::round_line;
use std::future::pending;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;

/// How long the holder of the seat has for a move: hosts ask people before each call, and nobody else waits.
const CHOICE_MAX: Duration = Duration::from_secs(120);
/// How long the league waits for somebody to take the seat.
const SEAT_TAKEN_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(super) async fn execute(
    config: &Config,
    game: &'static GameEntry,
    stdio: bool,
    mut stop: Termination,
) -> Result<ExitCode> {
    let is_free = stdio && !config.is_given(&settings::LISTEN);
    let listener = match is_free {
        true => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?,
        false => daemon::bind(config).await?,
    };
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let why =
            "--play is a league of this machine alone: expected an address such as 127.0.0.1:8201";
        return Err(config.wrong(&settings::LISTEN, why));
    }
    let store = store(config, stdio)?;
    let kept = store.name().clone();
    let plan = plan(config, game, !stdio)?;
    let against = config.text(&settings::AGAINST).unwrap_or_default();
    let opponents = u16::try_from(plan.player_plans.len())?;
    let Ports { listeners, .. } = Ports::bind(&PortNumbers::from_base(0, 1, opponents)?).await?;
    let mut local = LocalLeague::begin(plan, store, listener)?;
    let seats = local.seats().context("the league has no seats")?;
    if !stdio {
        notice(&format!(
            "{} against {against}: add http://{address}/mcp to a client of the Model Context Protocol and say \"join \
             the league and play\"; see it at http://{address}/; it is kept in {kept}",
            game.name
        ));
    }
    let client = async {
        if !stdio {
            return pending().await;
        }
        serve_stdio(seats)
            .await
            .map_err(|why| anyhow!("standard input and output: {why}"))
    };
    let ended = tokio::select! {
        () = stop.recv() => Ok(()),
        ended = client => ended,
        ended = play(&mut local, listeners, stdio) => ended,
    };
    local.shutdown().await?;
    ended.map(|()| ExitCode::SUCCESS)
}

/// The league, from the first registration to its end; then it waits, since the client may ask how it ended.
async fn play(local: &mut LocalLeague, listeners: AgentListeners, is_quiet: bool) -> Result<()> {
    local.gather(listeners).await?;
    if !local.admit_external_player(SEAT_TAKEN_MAX).await? {
        bail!("nobody has taken the seat");
    }
    local.start().await?;
    let mut view = View::new(is_quiet);
    watch(local, &mut view, round_line).await?;
    view.finish();
    if !is_quiet {
        notice("the league is over; its table stays until Ctrl-C, and a new start plays again");
    }
    pending().await
}

fn plan(config: &Config, game: &'static GameEntry, dashboard: bool) -> Result<LeaguePlan> {
    let names = config.text(&settings::AGAINST).unwrap_or_default();
    let strategy = |name: &str| {
        games::knows(game, name)?;
        player_strategy::named(name)
    };
    let strategies: Result<Vec<_>, String> = names.split(',').map(strategy).collect();
    let strategies = strategies.map_err(|why| config.wrong(&settings::AGAINST, why))?;
    let game_type = GameType::new(game.name);
    let player_plans: Vec<PlayerPlan> = (1..)
        .zip(strategies)
        .map(|(number, strategy)| numbered(number, strategy))
        .collect();
    Ok(LeaguePlan {
        league: LeagueSettings {
            league_id: competition::league_id(&game_type),
            score: Score::default_of(&game_type),
            game_type,
            // Everyone begins once.
            competition: Competition {
                format: Format::DoubleRoundRobin,
                ..Competition::default()
            },
            announce_lead: Duration::ZERO,
            timing: Timing {
                choice: CHOICE_MAX,
                ..Timing::default()
            },
            ..LeagueSettings::default()
        },
        player_plans,
        referees: 1,
        seed: None,
        record_exchanges: true,
        dashboard,
        pace: Duration::ZERO,
        rules: None,
        telemetry: Telemetry::default(),
        dial: false,
        seats: Some(seat::plan_of_one(config)?),
    })
}

/// A new store: its league is that of this process.
fn store(config: &Config, stdio: bool) -> Result<Store> {
    match config.get(&settings::STORE)? {
        Some(url) if config.is_given(&settings::STORE) => {
            let store = Store::open(&url)?;
            if !store.leagues()?.is_empty() {
                let why = format!(
                    "{url} holds a league already: a game against built-in players begins in a new file"
                );
                return Err(config.wrong(&settings::STORE, why));
            }
            Ok(store)
        }
        _ if stdio => Ok(Store::in_memory()?),
        _ => Ok(Store::open(fresh_file("seat", SystemTime::now()))?),
    }
}
