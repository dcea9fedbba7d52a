//! `matchday serve`: many leagues in one process; and how the settings of one of them become its plan.

use super::manager::league_settings;
use super::roster::{self, RosterEntry};
use super::serve::LogTo;
use super::settings::{self, Config, LeagueFlags, ServeFlags};
use super::{competition, manager, network, notice, peers, serve, telemetry, tls};
use anyhow::{Context, Result, bail};
use matchday_core::entropy::Entropy;
use matchday_core::league::{Invitation, LeagueSettings};
use matchday_core::protocol::messages::AgentRole;
use matchday_core::protocol::{DisplayName, LeagueId, Token};
use matchday_os::signals::Termination;
use matchday_runtime::{Options, entropy_from_system, log};
use matchday_server::service::{
    self, JoinCodeRow, LeagueClients, LeagueHost, LeaguePlan, LeagueSpec, NewLeague, Planner, ProgramPlan,
    Quota, SeatsPlan, Service, ServiceSettings, StartCounts, house_name,
};
use matchday_store::Store;
use matchday_store::checkpoint_keys::CheckpointKeys;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::watch;
use tracing::Dispatch;

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
    let (mut options, log_sink) = serve::options_and_log(&config, LogTo::Stdout)?;
    let quota = quota(&config)?;
    let sleep_after = config.need(&settings::SLEEP_AFTER)?;
    let listener = serve::bind(&config).await?;
    let address = listener.local_addr()?;
    let own_client = tls::client_to_ourselves(&config, options.server.tls.as_ref())?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    // A proxy or a forwarder on this machine would make everybody the operator.
    options.trusts_loopback = false;
    let path = PathBuf::from(config.text(&settings::STORE).unwrap_or("service.db"));
    let mut entropy = entropy_from_system()?;
    let (store, peers) = peers::open_store(&config, &path, address, &mut entropy).await?;
    telemetry.metrics.cluster.shared.store(peers.is_some(), Ordering::Relaxed);
    // Leagues of a shared store have theirs in it.
    let checkpoint_keys = match &peers {
        None => CheckpointKeys::of(&store, &mut entropy)?,
        Some(_) => CheckpointKeys::of(&Store::in_memory()?, &mut entropy)?,
    };
    let token = config.get(&settings::SERVICE_TOKEN)?;
    let mut host = host(&config, options, address, own_client, checkpoint_keys, quota, log_sink)?;
    host.shared = peers.as_ref().map(|peers| Arc::clone(&peers.ownership));
    let public_url = host.public_url.clone();
    let only_this_machine = serve::is_for_this_machine_alone(&config, address.ip())?;
    let planner: Planner = Box::new(move |spec| plan(spec, only_this_machine));
    let service_settings = ServiceSettings { host, quota, planner, sleep_after, notice };
    let (service, made) = Service::open(&path, store, token, &mut entropy, service_settings, peers).await?;
    if let Some(made) = made {
        notice(&format!(
            "service token, shown this once - keep it as MATCHDAY_SERVICE_TOKEN for `matchday league`: {}",
            made.reveal()
        ));
    }
    if let Some(text) = peers::notice_of_public_url(&config, &public_url) {
        notice(&text);
    }
    notice(&format!("leagues are served at {public_url}/"));
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(service::serve(service.clone(), listener, closing));
    stop.recv().await;
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
        matches: config.need(&settings::QUOTA_MATCHES)?,
        requests_per_s: config.need(&settings::QUOTA_REQUESTS)?,
        bytes: config.need(&settings::EXCHANGES_BYTES_MAX)?,
        programs: config.need(&settings::QUOTA_PROGRAMS)?,
    })
}

fn host(
    config: &Config,
    options: Options,
    address: std::net::SocketAddr,
    own_client: matchday_net::client::Client,
    checkpoint_keys: CheckpointKeys,
    quota: Quota,
    log_sink: serve::LogSink,
) -> Result<LeagueHost> {
    let contact = serve::contact(config, address.port())?;
    let public_url =
        contact.raw().strip_suffix("/mcp").unwrap_or(contact.raw()).trim_end_matches('/').to_owned();
    let mut local = address;
    if local.ip().is_unspecified() {
        local.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let scheme = if options.server.tls.is_some() { "https" } else { "http" };
    let local_url = format!("{scheme}://{local}");
    let own = format!("{local_url}/mcp");
    let relay_limits = super::relay::limits(config)?;
    let (config, client) = (config.clone(), options.client.clone());
    network::guarded(&config, &client, address, &[])?;
    Ok(LeagueHost {
        address,
        public_url,
        local_url,
        shared: None,
        options,
        league_clients: Box::new(move || {
            let client = client.with_own_sockets();
            let of = |trusted: &[&str]| network::guarded(&config, &client, address, trusted);
            Ok(LeagueClients { manager: of(&[])?, house: of(&[&own])? })
        }),
        league_log: league_log(log_sink),
        own_client,
        checkpoint_keys,
        matches_max: quota.matches,
        relay_limits,
        requests_per_s: quota.requests_per_s,
    })
}

/// Logs of leagues, whose entries name their league.
fn league_log(sink: serve::LogSink) -> Box<dyn Fn(&LeagueId) -> Dispatch + Send + Sync> {
    Box::new(move |id| {
        let (sink, id) = (Arc::clone(&sink), id.to_string());
        log::dispatch(move |entry| {
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
        bail!("roster: expected beside the settings, as the text of a CSV file with name, role, mail");
    }
    let config = LeagueFlags::of_texts(&texts)?.resolve_alone();
    let base = LeagueSettings { league_id: LeagueId::new(spec.league_id), ..LeagueSettings::default() };
    let mut league = league_settings(&config, base)?;
    let start_when = manager::start_when(&config)?;
    competition::check(&config, &league, start_when.as_ref().map(|wanted| wanted.players))?;
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
    let house = config.need(&settings::LEAGUE_REFEREES)?;
    let codes = issue_codes(&config, &entries, house, &mut entropy)?;
    league.roster = codes.invitations;
    let has_roster = entries.iter().any(|entry| entry.role == AgentRole::Player);
    let (seats, seat_code) = seats(&config, only_this_machine, has_roster)?.unzip();
    let given = texts
        .into_iter()
        .map(|(key, text)| (key.replace('_', "-"), text))
        .filter(|(key, _)| !NOT_KEPT.contains(&key.as_str()))
        .collect::<BTreeMap<_, _>>();
    Ok(NewLeague {
        plan: LeaguePlan {
            given,
            start_when: start_when
                .map(|wanted| StartCounts { players: wanted.players, referees: wanted.referees }),
            house_codes: codes.house,
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
        seat_code: seat_code.flatten(),
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
    let Some(command) = config.text(&settings::GAME_COMMAND) else { return Ok(None) };
    Ok(Some(ProgramPlan {
        command: command.to_owned(),
        time: config.need(&settings::GAME_TIME)?,
        memory_bytes: config.need(&settings::GAME_MEMORY)? << 20,
    }))
}

/// Seats, if the settings ask for them, and the code of their clients if one was made.
fn seats(
    config: &Config,
    only_this_machine: bool,
    has_roster: bool,
) -> Result<Option<(SeatsPlan, Option<String>)>> {
    let fallback = super::seat::fallback(config, &settings::SEAT_FALLBACK)?;
    let (seats_max, seats_per_address) = super::seat::max_seats(config)?;
    let (authorization, made) = super::seat::authorization(config, only_this_machine, has_roster)?;
    let fallback = fallback.map(|entry| entry.name.to_owned());
    let plan = SeatsPlan { seats_max, seats_per_address, fallback, authorization };
    Ok(config.need(&settings::SEATS)?.then(|| (plan, made.map(|code| code.reveal().to_owned()))))
}

/// The join codes of a new league.
struct Codes {
    invitations: Vec<Invitation>,
    /// One for each referee of the house; none where referees need no code.
    house: Vec<Option<String>>,
    /// The code that referees of others share, if one was made.
    referees: Option<String>,
}

fn issue_codes(config: &Config, entries: &[RosterEntry], house: u16, entropy: &mut Entropy) -> Result<Codes> {
    let named = |entry: &RosterEntry| Invitation {
        role: entry.role,
        name: Some(entry.name.clone()),
        code: entry.code.hash(),
    };
    let mut invitations: Vec<Invitation> = entries.iter().map(named).collect();
    let shared = |code: &Token| Invitation { role: AgentRole::Referee, name: None, code: code.hash() };
    let mut referees = None;
    match config.text(&settings::REFEREE_CODE) {
        Some("off") => return Ok(Codes { invitations, house: vec![None; house.into()], referees }),
        Some(text) => {
            let code = roster::referee_code(config, text)?;
            invitations.push(shared(&code));
        }
        None if house == 0 && !entries.iter().any(|entry| entry.role == AgentRole::Referee) => {
            let code = Token::new_join_code(entropy);
            invitations.push(shared(&code));
            referees = Some(code.reveal().to_owned());
        }
        None => {}
    }
    let mut house_codes = Vec::new();
    for number in 1..=usize::from(house) {
        let code = Token::new_join_code(entropy);
        let name = DisplayName::parse(&house_name(number)).context("the name of a referee of the house")?;
        invitations.push(Invitation { role: AgentRole::Referee, name: Some(name), code: code.hash() });
        house_codes.push(Some(code.reveal().to_owned()));
    }
    Ok(Codes { invitations, house: house_codes, referees })
}
