//! `matchday serve`: many leagues in one process; and how the settings of one of them become its plan.

use super::daemon::LogTo;
use super::manager::league_settings;
use super::roster::{self, RosterEntry};
use super::settings::{self, Config, LeagueFlags, ServeFlags};
use super::{competition, daemon, manager, network, notice, peers, telemetry};
use anyhow::{Context, Result, bail};
use matchday_core::entropy::Entropy;
use matchday_core::league::{Invitation, LeagueSettings};
use matchday_core::protocol::messages::AgentRole;
use matchday_core::protocol::{DisplayName, LeagueId, Token};
use matchday_os::signals::Termination;
use matchday_runtime::{Options, entropy_from_system, log};
use matchday_server::league::{JoinCodeRow, LeaguePlan, NewLeague, ProgramPlan, built_in_name};
use matchday_server::service::{
    self, LeagueHost, LeagueSpec, Planner, Quota, Service, ServiceSettings,
};
use matchday_store::Store;
use matchday_store::checkpoint_keys::CheckpointKeys;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::watch;
use tracing::{Dispatch, Level};

pub(super) const EXAMPLE: &str = "\
Example:
  matchday serve --store course.db
  matchday league create section-01 --lead 5 --start-when players=4     # with MATCHDAY_SERVICE_TOKEN set
  matchday player --manager http://localhost:8000/leagues/section-01/mcp

The leagues are at /leagues/ID/ of its address, and a list of them at /. GET /api/openapi.json describes its HTTP API.";

/// Settings of a league that must not be stored, or are stored in another form.
const NOT_KEPT: [&str; 3] = ["operator-token", "referee-code", "seat-code"];

pub(super) async fn execute(flags: ServeFlags) -> Result<ExitCode> {
    let mut stop = Termination::listen()?;
    let config = flags.resolve()?;
    let (mut options, log_sink) = daemon::options_and_log(&config, LogTo::Stdout)?;
    let quota = quota(&config)?;
    let sleep_after = config.need(&settings::SLEEP_AFTER)?;
    let listener = daemon::bind(&config).await?;
    let address = listener.local_addr()?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    // A proxy or a forwarder on this machine would make everybody the operator.
    options.trusts_loopback = false;
    let url = config.need(&settings::STORE)?;
    let mut entropy = entropy_from_system()?;
    let (store, peers) = peers::open_store(&config, url, address, &mut entropy).await?;
    telemetry
        .metrics
        .cluster
        .shared
        .store(peers.is_some(), Ordering::Relaxed);
    // Leagues of a shared store have theirs in it.
    let checkpoint_keys = match &peers {
        None => CheckpointKeys::of(&store, &mut entropy)?,
        Some(_) => CheckpointKeys::of(&Store::in_memory()?, &mut entropy)?,
    };
    let token = config.get(&settings::SERVICE_TOKEN)?;
    let mut host = host(&config, options, address, checkpoint_keys, quota, log_sink)?;
    host.shared = peers.as_ref().map(|peers| Arc::clone(&peers.ownership));
    let public_url = host.public_url.clone();
    let only_this_machine = daemon::is_for_this_machine_alone(&config, address.ip())?;
    let planner: Planner = Box::new(move |spec| plan(spec, only_this_machine));
    let service_settings = ServiceSettings {
        host,
        quota,
        planner,
        sleep_after,
        notice: log_notice,
    };
    let (service, made) =
        Service::open(store, token, &mut entropy, service_settings, peers).await?;
    if let Some(made) = made {
        notice(&format!(
            "service token, shown only once - keep it as MATCHDAY_SERVICE_TOKEN for `matchday league`: {}",
            made.reveal()
        ));
    }
    if let Some(text) = peers::notice_of_public_url(&config, &public_url) {
        notice(&text);
    }
    notice(&format!("leagues are served at {public_url}/"));
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(service::serve(service.clone(), listener, closing));
    tokio::select! {
        () = stop.recv() => {}
        // It ends with the reason as it closes its store.
        () = service.store_failed() => {}
    }
    let _ = close.send(true);
    serving.await?;
    service.close()?;
    telemetry.flush().await;
    Ok(ExitCode::SUCCESS)
}

fn quota(config: &Config) -> Result<Quota> {
    Ok(Quota {
        leagues: config.need(&settings::QUOTA_LEAGUES)?,
        players: config.need(&settings::QUOTA_PLAYERS)?,
        matches: config.need(&settings::MAX_MATCHES)?,
        requests_per_s: config.need(&settings::QUOTA_REQUESTS)?,
        bytes: config.need(&settings::EXCHANGES_BYTES_MAX)?,
        programs: config.need(&settings::QUOTA_PROGRAMS)?,
    })
}

fn host(
    config: &Config,
    options: Options,
    address: std::net::SocketAddr,
    checkpoint_keys: CheckpointKeys,
    quota: Quota,
    log_sink: daemon::LogSink,
) -> Result<LeagueHost> {
    let contact = daemon::contact(config, address.port())?;
    let public_url = contact
        .raw()
        .strip_suffix("/mcp")
        .unwrap_or(contact.raw())
        .trim_end_matches('/')
        .to_owned();
    let relay_limits = super::relay::limits(config)?;
    let config = config.clone();
    let client = options.client.clone();
    let viewers_max = config.need(&settings::VIEWERS_MAX)?;
    let least = config.need(&settings::LOG_LEVEL)?;
    network::guarded(&config, &client, address)?;
    Ok(LeagueHost {
        address,
        public_url,
        shared: None,
        options,
        league_client: Box::new(move || network::guarded(&config, &client, address)),
        league_log: league_log(least, log_sink),
        checkpoint_keys,
        viewers_max,
        matches_max: quota.matches,
        relay_limits,
        requests_per_s: quota.requests_per_s,
    })
}

/// What a service has to say while it runs goes to its log, where it is kept with all else.
fn log_notice(text: &str) {
    tracing::warn!(target: log::SERVICE_TARGET, event_type = "notice", "{text}");
}

/// Logs of leagues, whose entries name their league.
fn league_log(
    least: Level,
    sink: daemon::LogSink,
) -> Box<dyn Fn(&LeagueId) -> Dispatch + Send + Sync> {
    Box::new(move |id| {
        let sink = Arc::clone(&sink);
        let id = id.to_string();
        log::dispatch(least, move |entry| {
            let mut entry = entry.clone();
            entry.details.insert("league".to_owned(), id.clone().into());
            sink(&entry);
        })
    })
}

/// The plan of a league, from the settings that its creator gives.
fn plan(spec: LeagueSpec, only_this_machine: bool) -> Result<NewLeague> {
    let texts = spec.settings;
    if texts.keys().any(|key| key.replace('_', "-") == "roster") {
        bail!(
            "roster: expected beside the settings, as the text of a CSV file with name, role, mail"
        );
    }
    let config = LeagueFlags::of_texts(&texts)?.resolve_alone();
    let base = LeagueSettings {
        league_id: LeagueId::new(spec.league_id),
        ..LeagueSettings::default()
    };
    let mut league = league_settings(&config, base)?;
    let start_when = manager::start_when(&config)?;
    competition::check(
        &config,
        &league,
        start_when.as_ref().map(|wanted| wanted.players),
    )?;
    let program = program(&config)?;
    let mut entropy = entropy_from_system()?;
    let operator_token = match league.operator_token {
        Some(_) => None,
        None => {
            let made = Token::issue("operator", &mut entropy);
            league.operator_token = Some(made.hash());
            Some(made.reveal().to_owned())
        }
    };
    let entries = match spec.roster {
        Some(text) => roster::parse("roster", &text, &mut entropy)?,
        None => Vec::new(),
    };
    let built_in = config.need(&settings::LEAGUE_REFEREES)?;
    let codes = issue_codes(&config, &entries, built_in, &mut entropy)?;
    league.roster = codes.invitations;
    let has_roster = entries.iter().any(|entry| entry.role == AgentRole::Player);
    let (seats, seat_code) = super::seat::plan(&config, only_this_machine, has_roster)?.unzip();
    let given = texts
        .into_iter()
        .map(|(key, text)| (key.replace('_', "-"), text))
        .filter(|(key, _)| !NOT_KEPT.contains(&key.as_str()))
        .collect::<BTreeMap<_, _>>();
    Ok(NewLeague {
        plan: LeaguePlan {
            given,
            start_when,
            built_in_codes: codes.built_in,
            seats,
            dashboard: config.need(&settings::DASHBOARD)?,
            exchanges: config.need(&settings::EXCHANGES)?,
            exchanges_bytes_max: config.need(&settings::EXCHANGES_BYTES_MAX)?,
            program,
            league,
        },
        operator_token,
        join_codes: entries.iter().map(row).collect(),
        referee_code: codes.referees,
        seat_code: seat_code.flatten().map(|code| code.reveal().to_owned()),
    })
}

fn row(entry: &RosterEntry) -> JoinCodeRow {
    JoinCodeRow {
        name: entry.name.raw().to_owned(),
        role: entry.role.name().to_owned(),
        mail: entry.mail.clone(),
        join_code: entry.code.reveal().to_owned(),
        url: String::new(),
    }
}

fn program(config: &Config) -> Result<Option<ProgramPlan>> {
    let Some(command) = config.text(&settings::GAME_COMMAND) else {
        return Ok(None);
    };
    Ok(Some(ProgramPlan {
        command: command.to_owned(),
        time: config.need(&settings::GAME_TIME)?,
        memory_bytes: config.need(&settings::GAME_MEMORY)? << 20,
    }))
}

/// The join codes of a new league.
struct Codes {
    invitations: Vec<Invitation>,
    /// One for each built-in referee; none where referees need no code.
    built_in: Vec<Option<String>>,
    /// The code that referees of others share, if one was made.
    referees: Option<String>,
}

fn issue_codes(
    config: &Config,
    entries: &[RosterEntry],
    built_in: u16,
    entropy: &mut Entropy,
) -> Result<Codes> {
    let named = |entry: &RosterEntry| Invitation {
        role: entry.role,
        name: Some(entry.name.clone()),
        code: entry.code.hash(),
    };
    let mut invitations: Vec<Invitation> = entries.iter().map(named).collect();
    let shared = |code: &Token| Invitation {
        role: AgentRole::Referee,
        name: None,
        code: code.hash(),
    };
    let mut referees = None;
    match config.text(&settings::REFEREE_CODE) {
        Some("off") => {
            return Ok(Codes {
                invitations,
                built_in: vec![None; built_in.into()],
                referees,
            });
        }
        Some(text) => {
            let code = roster::referee_code(config, text)?;
            invitations.push(shared(&code));
        }
        None if built_in == 0 && !entries.iter().any(|entry| entry.role == AgentRole::Referee) => {
            let code = Token::new_join_code(entropy);
            invitations.push(shared(&code));
            referees = Some(code.reveal().to_owned());
        }
        None => {}
    }
    let mut built_in_codes = Vec::new();
    for number in 1..=usize::from(built_in) {
        let code = Token::new_join_code(entropy);
        let name =
            DisplayName::parse(&built_in_name(number)).context("the name of a built-in referee")?;
        invitations.push(Invitation {
            role: AgentRole::Referee,
            name: Some(name),
            code: code.hash(),
        });
        built_in_codes.push(Some(code.reveal().to_owned()));
    }
    Ok(Codes {
        invitations,
        built_in: built_in_codes,
        referees,
    })
}
