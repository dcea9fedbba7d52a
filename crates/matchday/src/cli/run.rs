//! `matchday run`: a whole league on this machine, in one process. Binds ports, makes a store, prints.

use super::run_record::{Place, RunRecord};
use super::settings::config::Origin;
use super::settings::{self, Config, RunFlags};
use super::watch::LiveSource;
use super::{Usage, browser, competition, daemon, notice, run_players, telemetry};
use crate::manager_client::ManagerClient;
use anyhow::{Context, Result, bail};
use clap::Args;
use matchday_audit::league_log::LeagueLog;
use matchday_audit::plural::count_of;
use matchday_core::game::GameEntry;
use matchday_core::league::fixture::Round;
use matchday_core::league::{self, Competition, Format, League};
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{GameType, PlayerId, Timestamp};
use matchday_net::client::Client;
use matchday_os::signals::Termination;
use matchday_research::experiment::players::LeaguePlayer;
use matchday_runtime::Clock;
use matchday_runtime::deciders::game_program::GameProgram;
use matchday_server::local::ports::{AgentListeners, PortNumbers, Ports};
use matchday_server::local::{LeaguePlan, LocalLeague};
use matchday_store::Store;
use matchday_store::StoreUrl;
use matchday_terminal::live::View;
use matchday_terminal::progress::round_line;
use matchday_terminal::screen::Size;
use matchday_terminal::summary::Summary;
use matchday_terminal::{Paint, say, show};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;

const LOOK_EVERY: Duration = Duration::from_millis(20);
const DRAW_EVERY: Duration = Duration::from_millis(200);
/// A player that waited longer would lose its matches by the deadlines of the rules.
const PACE_MAX: Duration = Duration::from_secs(10);
/// The longest that nothing happens in a league that is watched.
const PACE_WATCHED_MAX: Duration = Duration::from_secs(4);
const MINUTE: Duration = Duration::from_secs(60);

/// Play a whole league on this machine.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  matchday run --players 8 --referees 2 --strategies random,pattern --port-base 0
  matchday run connect_four --strategies lookahead,random
  matchday run nim --plan models.toml
  matchday run --format swiss --players 16 --port-base 0"
)]
pub(crate) struct RunArgs {
    /// What is played, as `--game` says too
    #[arg(value_name = "GAME", conflicts_with = settings::GAME.id)]
    game: Option<String>,
    #[command(flatten)]
    flags: RunFlags,
    /// Print only how it ended
    #[arg(long, short)]
    quiet: bool,
    /// Print how it ended as JSON, and nothing else
    #[arg(long)]
    json: bool,
}

pub(super) fn in_seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

/// The program that knows the rules, if the game is one of the user's own.
fn rules(config: &Config) -> Result<Option<GameProgram>> {
    if let (Some(game), Some(program)) = (
        config.value(&settings::GAME),
        config.value(&settings::GAME_COMMAND),
    ) && game.origin == Origin::Flag
        && program.origin == Origin::Flag
    {
        return Err(Usage(
            "--game-command: takes the place of --game: give one of them".to_owned(),
        )
        .into());
    }
    daemon::game_program(config)
}

/// `is_watched` says whether somebody looks on, for whom the league takes its time.
fn plan(config: &Config, of_plan: &[LeaguePlayer], is_watched: bool) -> Result<LeaguePlan> {
    let game = config.need(&settings::GAME)?;
    let player_plans = run_players::player_plans(config, of_plan)?;
    let players = u16::try_from(player_plans.len())?;
    let competition = competition::configured(config, Competition::default())?;
    let pace = match config.get(&settings::PACE)? {
        Some(pace) => pace,
        // Models are slow enough.
        None if is_watched && of_plan.is_empty() => pace_to_watch(game, players, &competition),
        None => Duration::ZERO,
    };
    if pace > PACE_MAX {
        let why = format!(
            "expected at most {} seconds, got {}",
            PACE_MAX.as_secs(),
            pace.as_secs_f64()
        );
        return Err(config.wrong(&settings::PACE, why));
    }
    Ok(LeaguePlan {
        league: league::LeagueSettings {
            league_id: competition::league_id(&GameType::new(game.name)),
            game_type: GameType::new(game.name),
            announce_lead: config.need(&settings::LEAD)?.max(pace),
            competition,
            score: competition::score(config, &GameType::new(game.name))?,
            tie_breaks: config.need(&settings::TIE_BREAKS)?,
            proof: config.need(&settings::PROOF)?,
            tokens: config.need(&settings::TOKENS)?,
            ..league::LeagueSettings::default()
        },
        player_plans,
        referees: config.need(&settings::REFEREES)?.into(),
        seed: config.get(&settings::SEED)?,
        record_exchanges: config.need(&settings::EXCHANGES)?,
        dashboard: config.need(&settings::DASHBOARD)?,
        pace,
        rules: None,
        telemetry: telemetry::from_config(config, Ipv4Addr::LOCALHOST.into(), &Client::new())?,
        dial: config.need(&settings::DIAL)?,
        seats: None,
    })
}

/// A pace by which the league lasts as long as people like to look on.
fn pace_to_watch(game: &GameEntry, players: u16, competition: &Competition) -> Duration {
    let players = u32::from(players);
    let rounds = match competition.format {
        Format::RoundRobin => players - 1,
        Format::DoubleRoundRobin => 2 * (players - 1),
        _ => players.ilog2() + 1,
    };
    // Boards are seldom played to the last field.
    let turns = (game.turns_max * 3).div_ceil(5).max(1);
    let lasts = if game.turns_max > 1 {
        MINUTE
    } else {
        MINUTE / 2
    };
    let steps = rounds
        .max(1)
        .saturating_mul(competition.matches_per_pairing.max(1))
        .saturating_mul(turns.saturating_add(1));
    (lasts / steps).min(PACE_WATCHED_MAX)
}

/// `matchday-run-20250115-103000.db`, or the next that is free.
pub(super) fn fresh_file(what: &str, now: SystemTime) -> PathBuf {
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let stamp = (Timestamp::EPOCH + since_epoch).to_string();
    let digits: String = stamp
        .chars()
        .take(19)
        .filter(char::is_ascii_digit)
        .collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, "0"));
    let names = (1_u32..).map(|number| match number {
        1 => format!("matchday-{what}-{day}-{time}.db"),
        more => format!("matchday-{what}-{day}-{time}-{more}.db"),
    });
    let mut free = names.map(PathBuf::from).filter(|file| !file.exists());
    free.next()
        .unwrap_or_else(|| PathBuf::from(format!("matchday-{what}.db")))
}

pub(crate) async fn execute(mut args: RunArgs) -> Result<ExitCode> {
    let mut stop = Termination::listen()?;
    if let Some(game) = args.game.take() {
        args.flags.give(&settings::GAME, game);
    }
    let given = args.flags.resolve()?;
    let place = Place::find(&given)?;
    let config = match &place {
        Place::Unfinished { config, .. } => config.clone(),
        Place::NewStore | Place::NewLeague(_) => given,
    };
    daemon::hand_on_to_programs(&config)?;
    let mut view = View::new(args.quiet || args.json);
    let is_live = matches!(view, View::Live(_));
    let of_plan = run_players::of_plan(&config)?;
    let mut plan = plan(&config, &of_plan, is_live)?;
    if plan.league.competition.format == Format::Ladder {
        let why = "a ladder has no end: run it with `matchday manager` or `matchday serve`";
        return Err(config.wrong(&settings::FORMAT, why));
    }
    if !plan.league.tokens.is_required() {
        notice(competition::TOKENS_OPTIONAL);
    }
    let opens = config.need(&settings::OPEN)?;
    if opens && !plan.dashboard {
        return Err(config.wrong(
            &settings::OPEN,
            "there is no page to open with --dashboard off",
        ));
    }
    competition::check(&config, &plan.league, Some(plan.player_plans.len()))?;
    if let Some(rules) = rules(&config)? {
        let game = tokio::select! {
            game = rules.describe() => game.map_err(anyhow::Error::msg)?,
            // The program that knows the rules ends with this.
            () = stop.recv() => bail!("stopped before the league began"),
        };
        plan.league.league_id = competition::league_id(&game.game_type);
        plan.league.game_type = game.game_type.clone();
        plan.league.external_game = Some(game);
        plan.rules = Some(rules);
    }
    let (store, ports) = prepare(place, &config, &mut plan, &mut view).await?;
    run_players::count_usage(&store, &ports, &of_plan)?;
    let url = store.name().clone();
    let is_paced = is_live && config.text(&settings::PACE).is_none() && !plan.pace.is_zero();
    view.say(&opening(&plan, &ports, &url, is_paced)?);
    let strategies = strategies(&plan);
    let telemetry = plan.telemetry.clone();

    let page = plan
        .dashboard
        .then(|| ports.manager.local_addr())
        .transpose()?;
    let page = page.map(|address| format!("http://{address}/"));
    let stays = config.get(&settings::STAY)?.unwrap_or(opens || is_live);
    let Ports { manager, listeners } = ports;
    let mut local = LocalLeague::begin(plan, store, manager)?;
    if let Some(page) = page.as_ref().filter(|_| opens) {
        browser::open(page);
    }
    let mut began = Instant::now();
    let played = tokio::select! {
        played = play(&mut local, listeners, &mut view, &mut began) => Some(played),
        () = stop.recv() => None,
    };
    let took = began.elapsed();
    view.finish();
    let how_it_ended = || -> Result<Summary> {
        // Read from the file: matches may have been decided since the last look, and the file is authoritative.
        let league = LeagueLog::load(&Store::open_read_only(&url)?)?.league;
        let summary = Summary::of(&league, &strategies, took, url.to_string());
        let people = || summary.for_people(Paint::of_stdout(), Size::of_terminal());
        say(if args.json {
            serde_json::to_string_pretty(&summary)?
        } else {
            people()
        });
        Ok(summary)
    };
    let stays = stays && page.is_some() && matches!(played, Some(Ok(())));
    if let Some(page) = page.filter(|_| stays) {
        local.stored().await?;
        how_it_ended()?;
        say(format!(
            "\nDashboard: {page} (press Ctrl-C to quit; --no-stay ends the next run at once)"
        ));
        stop.recv().await;
    } else if matches!(played, Some(Ok(()))) {
        local.wait_for_viewers().await;
    }
    let closed = local.shutdown().await;
    telemetry.flush().await;
    let interrupted = played.is_none();
    let lies = || format!("the league was interrupted; its results so far are in {url}");
    // A store that has failed is the cause of whatever else went wrong.
    closed.and(played.unwrap_or(Ok(()))).with_context(lies)?;
    if stays {
        return Ok(ExitCode::SUCCESS);
    }
    let Summary {
        matches_decided,
        matches,
        ..
    } = how_it_ended()?;
    if interrupted {
        notice(&format!(
            "stopped before the end: {matches_decided} of {matches} matches are decided and stored; `matchday run --store {url}` continues"
        ));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The store and the ports of a new league, or those of one that goes on.
async fn prepare(
    place: Place,
    config: &Config,
    plan: &mut LeaguePlan,
    view: &mut View,
) -> Result<(Store, Ports)> {
    let store = match place {
        Place::Unfinished {
            store,
            record,
            league,
            ..
        } => {
            let ports = Ports::bind(&record.ports).await?;
            if ports.listeners.players.len() != plan.player_plans.len() {
                let why = format!(
                    "the league in {} began with {}, and there are {} now",
                    store.name(),
                    count_of(ports.listeners.players.len(), "player", "players"),
                    plan.player_plans.len()
                );
                return Err(config.wrong(&settings::PLAN, why));
            }
            let events = store.head(&store.manager_stream()?)?.0;
            // With chance from the same number again, tokens and draws of the first time would come back.
            plan.seed = plan.seed.map(|seed| seed.wrapping_add(events));
            let decided = league.as_ref().map_or(0, |league| league.matches_decided);
            let matches = league.as_ref().map_or(0, |league| league.matches.len());
            view.say(&format!(
                "the league in {} continues: {decided} of {matches} matches are decided",
                store.name()
            ));
            return Ok((store, ports));
        }
        Place::NewLeague(store) => Some(store),
        Place::NewStore => None,
    };
    let referees = config.need(&settings::REFEREES)?;
    let players = u16::try_from(plan.player_plans.len())?;
    let numbers = PortNumbers::from_base(config.need(&settings::PORT_BASE)?, referees, players)?;
    let ports = Ports::bind(&numbers).await?;
    let store = match (store, config.get(&settings::STORE)?) {
        (Some(store), _) => store,
        (None, Some(url)) => Store::open(&url)?,
        (None, None) => Store::open(fresh_file("run", SystemTime::now()))?,
    };
    RunRecord::of(config, ports.numbers()?).write(&store, Clock::start().now())?;
    Ok((store, ports))
}

/// Everyone registers in order, so a player's number is its place.
fn strategies(plan: &LeaguePlan) -> BTreeMap<PlayerId, SmolStr> {
    let numbered = (1_u32..).zip(&plan.player_plans);
    numbered
        .map(|(number, player_plan)| (PlayerId::numbered(number), player_plan.strategy.name()))
        .collect()
}

/// What is played, and where to see it.
fn opening(plan: &LeaguePlan, ports: &Ports, url: &StoreUrl, is_paced: bool) -> Result<String> {
    let address = ports.manager.local_addr()?;
    let play = format!(
        "{} and {} play {}{}",
        count_of(plan.player_plans.len(), "player", "players"),
        count_of(plan.referees, "referee", "referees"),
        plan.league.game_type,
        course(&plan.league.competition),
    );
    let seen = |words: &str| match plan.dashboard {
        true => format!("{words} http://{address}/"),
        false => String::new(),
    };
    if is_paced {
        let seen = seen("\nSee it at");
        return Ok(format!(
            "{play}, slowly enough to watch; --pace 0 does not wait{seen}"
        ));
    }
    let seen = seen("; see it at");
    Ok(format!(
        "{play}, the manager at http://{address}/mcp; the league is kept in {url}{seen}"
    ))
}

/// `, format swiss`, where it is not what everyone expects.
fn course(competition: &Competition) -> String {
    match competition.format {
        Format::RoundRobin => String::new(),
        other => format!(", format {other}"),
    }
}

/// From the first registration until every agent knows that the league is over.
async fn play(
    local: &mut LocalLeague,
    listeners: AgentListeners,
    view: &mut View,
    began: &mut Instant,
) -> Result<()> {
    local.gather(listeners).await?;
    *began = Instant::now();
    local.start().await?;
    watch(local, view, round_line).await?;
    let unfinished = local.wait_for_agents_to_finish().await;
    if unfinished > 0 {
        let agents = count_of(unfinished, "agent has", "agents have");
        view.say(&format!("{agents} not confirmed the end of the league"));
    }
    for fallback in local.fallbacks().await {
        view.say(&fallback);
    }
    Ok(())
}

/// Shows the progress of the league until it is over; `line` describes a round.
pub(super) async fn watch(
    local: &mut LocalLeague,
    view: &mut View,
    line: impl Fn(&League, &Round) -> String + Clone + Send + 'static,
) -> Result<()> {
    let mut source = LiveSource::new(ManagerClient::at(&local.manager_url(), Client::new()));
    let mut rounds_shown = 0;
    loop {
        let is_over = local
            .look(|league| league.phase == Phase::Completed)
            .await?;
        match &mut *view {
            View::Live(live) => match source.ask().await {
                Ok(seen) => live.draw(seen),
                Err(error) => live.draw_error(format!("{error:#}")),
            },
            View::Lines => {
                let line = line.clone();
                let lines = local.look(move |league| {
                    let over = league
                        .rounds
                        .iter()
                        .filter(|round| round.completed)
                        .skip(rounds_shown);
                    over.map(|round| line(league, round)).collect::<Vec<_>>()
                });
                let lines = lines.await?;
                if !lines.is_empty() {
                    local.stored().await?;
                }
                rounds_shown += lines.len();
                lines.iter().for_each(|line| show(format!("{line}\n")));
            }
            View::Silent => {}
        }
        if is_over {
            return Ok(());
        }
        sleep(if matches!(view, View::Live(_)) {
            DRAW_EVERY
        } else {
            LOOK_EVERY
        })
        .await;
    }
}
