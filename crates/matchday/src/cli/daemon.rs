//! What the commands that keep running have in common: an address, a store, a log, and an end in good order.

use super::dial::{self, Dial, DialLink};
use super::settings::{self, Config};
use super::{network, notice, roster, tls};
use anyhow::{Context, Result, anyhow};
use matchday_core::game::GAMES;
use matchday_core::protocol::messages::Timeouts;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Token};
use matchday_core::registration::{Application, RegistrationState, own_word};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_net::egress::Target;
use matchday_net::origin_check::{Allowlist, HostRule};
use matchday_os::fd_limit;
use matchday_os::signals::Termination;
use matchday_runtime::deciders::command;
use matchday_runtime::deciders::game_program::{GameProgram, ResourceLimits};
use matchday_runtime::log::{self, Entry, Format, LogWriter};
use matchday_runtime::{Handle, Options, entropy_from_system};
use matchday_server::connect::AgentListener;
use matchday_server::mcp::agent_options;
use matchday_store::{Store, StoreUrl, Stored, Stream};
use std::io::{ErrorKind, Write};
use std::mem::discriminant;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tracing::Level;

/// How often a running agent is looked at. Each look wakes a process that may have nothing else to do.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// At most this often the log says that the manager cannot be reached.
const WARN_EVERY: Duration = Duration::from_secs(4);

pub(super) async fn bind(config: &Config) -> Result<TcpListener> {
    let address = config.text(&settings::LISTEN).unwrap_or_default();
    if let Some(listener) = bind_next(config, address).await {
        return Ok(listener);
    }
    let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            anyhow!("{address} is in use by another program - choose another address with --listen HOST:PORT")
        }
        ErrorKind::InvalidInput => {
            let why = format!("expected HOST:PORT, such as 127.0.0.1:8000, got {address:?}");
            config.wrong(&settings::LISTEN, why)
        }
        _ => anyhow!("cannot listen on {address}: {error} - choose another address with --listen HOST:PORT"),
    })?;
    if let Some(warning) = warning(config, listener.local_addr()?) {
        notice(&warning);
    }
    Ok(listener)
}

/// An agent that was not told where to listen: on the port of its own store, if there is one under its name here, else on the
/// next free one of those that the system's documents give to its kind. `None` if an address was given, or all are taken.
async fn bind_next(config: &Config, address: &str) -> Option<TcpListener> {
    let is_given = config
        .given()
        .any(|value| value.setting.id == settings::LISTEN.id);
    let (kind, many) = match (
        config.has(&settings::STRATEGY),
        config.has(&settings::MAX_MATCHES) && config.has(&settings::AUTH_TOKEN),
    ) {
        (true, _) => ("player", 100),
        (_, true) => ("referee", 10),
        _ => return None,
    };
    if is_given {
        return None;
    }
    let (host, first) = address.rsplit_once(':')?;
    let first: u16 = first.parse().ok()?;
    let ports = first..first.saturating_add(many);
    let own = port_of_own_store(config, kind, ports.clone());
    for port in own.into_iter().chain(ports) {
        if let Ok(listener) = TcpListener::bind((host, port)).await {
            if port != first {
                notice(&format!(
                    "listening on {host}:{port}, as no --listen says otherwise"
                ));
            }
            return Some(listener);
        }
    }
    None
}

/// The port of the store in this directory whose agent has the name that the settings give.
fn port_of_own_store(config: &Config, kind: &'static str, mut ports: Range<u16>) -> Option<u16> {
    let name = config.get(&settings::NAME).ok()??;
    let conversation = Application::prefix(&own_word(&name, kind));
    let is_own = |events: Vec<Stored>| {
        events
            .iter()
            .any(|event| event.line.contains(&conversation))
    };
    ports.find(|port| {
        let file = PathBuf::from(format!("{kind}-{port}.db"));
        let events = file.exists().then(|| {
            Store::open_read_only(StoreUrl::Sqlite(file))
                .and_then(|reader| reader.load(&Stream(kind.into())))
        });
        events.is_some_and(|events| events.is_ok_and(is_own))
    })
}

/// Where an agent is called: at a socket of its own, or through the relay of its league.
pub(super) struct Listening {
    pub(super) listener: AgentListener,
    /// That of the socket; without one that of the manager, with port 0.
    pub(super) address: SocketAddr,
    pub(super) contact: Endpoint,
    /// Tells agents of one machine apart: the port, if there is one.
    pub(super) short_name: String,
    /// The connection to the relay.
    pub(super) link: Option<DialLink>,
}

/// Binds the socket of an agent, or connects to the relay of its league.
pub(super) async fn listen_or_dial(
    config: &Config,
    options: &mut Options,
    manager: &Endpoint,
    code: Option<&Token>,
) -> Result<Listening> {
    if let Some(Dial {
        contact,
        agent,
        short_name,
        link,
    }) = dial::begin(config, options, manager, code).await?
    {
        let address = address_of(manager).await;
        let listener = AgentListener::Dialled {
            contact: contact.clone(),
            agent,
        };
        return Ok(Listening {
            listener,
            address,
            contact,
            short_name,
            link: Some(link),
        });
    }
    let listener = bind(config).await?;
    let address = listener.local_addr()?;
    let contact = contact(config, address.port())?;
    let short_name = address.port().to_string();
    Ok(Listening {
        listener: AgentListener::Socket(listener),
        address,
        contact,
        short_name,
        link: None,
    })
}

/// The address of a manager, without its port. An agent without a socket may call endpoints of the same class of addresses.
async fn address_of(manager: &Endpoint) -> SocketAddr {
    let target = Target::parse(manager.raw());
    let found = match &target {
        Some(target) => tokio::net::lookup_host((target.host.as_str(), target.port))
            .await
            .ok(),
        None => None,
    };
    let ip = found
        .and_then(|mut addresses| addresses.next())
        .map(|address| address.ip());
    SocketAddr::new(ip.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), 0)
}

/// The warning that tokens can be read on the network, if the agent serves plain HTTP beyond loopback.
fn warning(config: &Config, listening: SocketAddr) -> Option<String> {
    let others_hear = !serves_tls(config) && !listening.ip().is_loopback();
    others_hear.then(|| {
        format!(
            "other machines can reach {listening}, and without TLS anyone on the network path can read tokens: name a \
             certificate with --tls-cert and --tls-key, unless the network is trusted"
        )
    })
}

fn serves_tls(config: &Config) -> bool {
    config.text(&settings::TLS_CERT).is_some()
}

/// Whether other services may have a part of the store: `serve` shares a database, and no other command does.
pub(super) fn is_shared(config: &Config) -> bool {
    config.is_of_service()
        && matches!(
            config.get(&settings::STORE),
            Ok(Some(StoreUrl::Postgres(_)))
        )
}

/// The URL that the settings name for callers.
pub(super) fn public(config: &Config) -> Result<Option<Endpoint>> {
    let named = if config.is_of_service() {
        config.get(&settings::PUBLIC_URL)?
    } else {
        None
    };
    match named {
        Some(public) => Ok(Some(public)),
        // There it is where the other services call.
        None if is_shared(config) => Ok(None),
        None => config.get(&settings::ADVERTISE),
    }
}

/// Whether nobody can reach the agent but this machine: it listens on loopback, with no proxy before it, and is not advertised
/// elsewhere, as behind a tunnel: proxies and tunnels make everybody a caller on this machine.
pub(super) fn is_for_this_machine_alone(config: &Config, listening: IpAddr) -> Result<bool> {
    let is_behind_proxy =
        config.has(&settings::TRUSTED_PROXIES) && config.text(&settings::TRUSTED_PROXIES).is_some();
    Ok(listening.is_loopback() && !is_behind_proxy && !is_advertised_elsewhere(config)?)
}

fn is_advertised_elsewhere(config: &Config) -> Result<bool> {
    for setting in [&settings::PUBLIC_URL, &settings::ADVERTISE] {
        let url = if config.has(setting) {
            config.get(setting)?
        } else {
            None
        };
        if url.is_some_and(|url| {
            !Target::parse(url.raw()).is_some_and(|target| is_here(&target.host))
        }) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_here(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Where others reach this agent.
pub(super) fn contact(config: &Config, port: u16) -> Result<Endpoint> {
    if let Some(public) = public(config)? {
        return Ok(public);
    }
    let host = config
        .text(&settings::LISTEN)
        .and_then(|text| text.rsplit_once(':'))
        .map_or("", |(host, _)| host);
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") {
        "localhost"
    } else {
        host
    };
    let scheme = if serves_tls(config) { "https" } else { "http" };
    let url = format!("{scheme}://{host}:{port}/mcp");
    Endpoint::parse(&url)
        .with_context(|| format!("{url} is no endpoint - name one with --advertise URL"))
}

/// The manager, and the join code for it: that of `--code`, or the one in the manager's URL.
pub(super) fn manager(config: &Config) -> Result<(Endpoint, Option<Token>)> {
    let given = config.get(&settings::CODE)?;
    let manager = config.need(&settings::MANAGER)?;
    let (url, code) = roster::split(manager.raw());
    Ok((Endpoint::parse(&url)?, given.or(code)))
}

pub(super) fn display_name(config: &Config, otherwise: &str) -> Result<DisplayName> {
    Ok(config
        .get(&settings::NAME)?
        .map_or_else(|| DisplayName::parse(otherwise), Ok)?)
}

/// Every game that this program knows.
pub(super) fn games() -> Vec<GameType> {
    GAMES.iter().map(|game| GameType::new(game.name)).collect()
}

/// Has programs be given the variables that the settings name.
pub(super) fn hand_on_to_programs(config: &Config) -> Result<()> {
    if config.has(&settings::PROGRAM_ENV) {
        command::hand_on(config.get(&settings::PROGRAM_ENV)?.unwrap_or_default());
    }
    Ok(())
}

/// The external program that knows the rules, if the settings name one.
pub(super) fn game_program(config: &Config) -> Result<Option<GameProgram>> {
    let Some(command) = config.text(&settings::GAME_COMMAND) else {
        return Ok(None);
    };
    let limits = ResourceLimits {
        time: config.need(&settings::GAME_TIME)?,
        memory_bytes: config.need(&settings::GAME_MEMORY)? << 20,
    };
    let program = GameProgram::named(command, limits);
    Ok(Some(program.map_err(|error| {
        config.wrong(&settings::GAME_COMMAND, error)
    })?))
}

/// `base` with what the settings say about timeouts and retries.
pub(super) fn timing(config: &Config, base: Timing) -> Result<Timing> {
    let same_kind = |backoff: &Backoff| discriminant(backoff) == discriminant(&base.retry.backoff);
    let backoff = config
        .get(&settings::RETRY)?
        .filter(|kind| !same_kind(kind))
        .unwrap_or(base.retry.backoff);
    let delay = config.get(&settings::RETRY_DELAY)?;
    let backoff = match (backoff, delay) {
        (backoff, None) => backoff,
        (Backoff::Fixed { .. }, Some(delay)) => Backoff::Fixed { delay },
        (Backoff::Exponential { max, .. }, Some(initial)) => Backoff::Exponential {
            initial,
            max: max.max(initial),
        },
    };
    let retries = config
        .get(&settings::RETRIES)?
        .unwrap_or(base.retry.retries);
    let other = config.get(&settings::OTHER_TIMEOUT)?;
    Ok(Timing {
        join: config.get(&settings::JOIN_TIMEOUT)?.unwrap_or(base.join),
        choice: config
            .get(&settings::CHOICE_TIMEOUT)?
            .unwrap_or(base.choice),
        game_over: base.game_over,
        report: other.unwrap_or(base.report),
        other: other.unwrap_or(base.other),
        retry: RetryPolicy { retries, backoff },
    })
}

/// The bounds that a referee's settings put on what its manager hands over: those that were set.
pub(super) fn timeout_bounds(config: &Config, own: &Timing) -> Timeouts {
    let Timeouts {
        join_ms,
        choice_ms,
        retries,
        retry_delay_ms,
        ..
    } = own.timeouts();
    let is_set = |setting: &settings::Declared| config.text(setting).is_some();
    Timeouts {
        join_ms: join_ms.filter(|_| is_set(&settings::JOIN_TIMEOUT)),
        choice_ms: choice_ms.filter(|_| is_set(&settings::CHOICE_TIMEOUT)),
        retries: retries.filter(|_| is_set(&settings::RETRIES)),
        retry_delay_ms: retry_delay_ms.filter(|_| is_set(&settings::RETRY_DELAY)),
        retry_delay_max_ms: None,
    }
}

/// The agent's own file, named after its port unless the settings name one.
pub(super) fn open_store(config: &Config, otherwise: String) -> Result<Store> {
    let url = config.get(&settings::STORE)?;
    Ok(Store::open(
        url.unwrap_or_else(|| StoreUrl::Sqlite(otherwise.into())),
    )?)
}

/// Where the log goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum LogTo {
    Stdout,
    Stderr,
}

pub(super) fn options(config: &Config) -> Result<Options> {
    options_and_log(config, LogTo::Stdout).map(|(options, _)| options)
}

/// What takes the entries of a log.
pub(super) type LogSink = Arc<dyn Fn(&Entry) + Send + Sync>;

pub(super) fn options_and_log(config: &Config, to: LogTo) -> Result<(Options, LogSink)> {
    hand_on_to_programs(config)?;
    let mut options = agent_options(entropy_from_system()?);
    let least = config.need(&settings::LOG_LEVEL)?;
    let sink = log_sink(config.need(&settings::LOG)?, least, to);
    let log = Arc::clone(&sink);
    options.log = log::dispatch(least, move |entry| log(entry));
    options.record_exchanges = config.need(&settings::EXCHANGES)?;
    options.allowed = allowed(config)?;
    options.requests_per_address = config.get(&settings::ADDRESS_RATE)?;
    network::limit(config, &mut options)?;
    // Who comes through a proxy or a tunnel is a caller on this machine, too.
    options.trusts_loopback =
        options.server.trusted_proxies.is_empty() && !is_advertised_elsewhere(config)?;
    options.server = options.server.within_fd_limit(fd_limit::get());
    options.server.tls = tls::serving(config)?;
    options.client = tls::client(config)?.with_head_limits(network::head_limits(&options.server));
    Ok((options, sink))
}

/// The check of `Host` and `Origin`: the names and origins of the settings, and the agent's own names.
fn allowed(config: &Config) -> Result<Allowlist> {
    let hosts = config.get(&settings::ALLOWED_HOSTS)?;
    let origins = config.get(&settings::ALLOWED_ORIGINS)?;
    let listening = config
        .text(&settings::LISTEN)
        .and_then(|text| text.rsplit_once(':'))
        .map(|(host, _)| host);
    let advertised = public(config)?;
    let advertised = advertised
        .as_ref()
        .and_then(|url| url.raw().split("://").nth(1)?.split('/').next());
    let own = listening
        .into_iter()
        .chain(advertised)
        .filter_map(HostRule::parse);
    Ok(Allowlist {
        hosts: own.chain(hosts.unwrap_or_default()).collect(),
        origins: origins.unwrap_or_default(),
    })
}

/// The log on a standard stream, with the warnings of libraries. Failed registrations are rate limited, since
/// they are retried often.
fn log_sink(format: Format, least: Level, to: LogTo) -> LogSink {
    // A closed pipe must not end the league.
    let writer = match to {
        LogTo::Stdout => LogWriter::start(format, |line| {
            drop(writeln!(std::io::stdout().lock(), "{line}"))
        }),
        LogTo::Stderr => LogWriter::start(format, |line| {
            drop(writeln!(std::io::stderr().lock(), "{line}"))
        }),
    };
    let writer = Arc::new(writer);
    // The subscriber of the process is never dropped; the writer must be, to be flushed.
    let diagnostics = Arc::downgrade(&writer);
    log::collect_diagnostics(least, move |entry| {
        if let Some(writer) = diagnostics.upgrade() {
            writer.write(entry);
        }
    });
    let warned = Mutex::new(None::<Instant>);
    let is_due = move || {
        let mut warned = warned.lock().unwrap_or_else(PoisonError::into_inner);
        let due = warned.is_none_or(|at| at.elapsed() >= WARN_EVERY);
        if due {
            *warned = Some(Instant::now());
        }
        due
    };
    Arc::new(move |entry: &Entry| match unanswered(entry) {
        None => writer.write(entry),
        Some(message) if is_due() => writer.write(&Entry {
            message,
            ..entry.clone()
        }),
        Some(_) => {}
    })
}

/// If this is a registration that the manager did not accept: how to say so. Whether the agent asks again is not known here.
fn unanswered(entry: &Entry) -> Option<String> {
    let kind = entry.message_type.as_ref()?.raw();
    let text = |key| {
        entry
            .details
            .get(key)
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
    };
    let outcome = text("outcome");
    let undecided = entry.level <= Level::WARN || matches!(outcome, "received" | "data");
    let failed = undecided && entry.event_type == "message_sent";
    (failed && kind.ends_with("REGISTER_REQUEST")).then_some(())?;
    let why = match outcome {
        "received" | "data" => "it answered without saying whether it accepts",
        outcome => outcome,
    };
    Some(format!(
        "cannot register with the manager at {} yet: not registered ({why})",
        text("to")
    ))
}

/// An agent that the manager has refused has nothing more to do.
pub(super) fn check_registration(registration: RegistrationState) -> Result<()> {
    match registration {
        RegistrationState::Refused { reason, .. } => Err(anyhow!(
            "the manager refuses the registration: {} - fix that, or wait for another league",
            reason.escaped()
        )),
        _ => Ok(()),
    }
}

/// Runs an agent until a signal comes, it fails, or `act` finds in what `look` returns that it cannot go on.
pub(super) async fn run_until_shutdown<A: 'static, R: Send + 'static>(
    handle: Handle<A>,
    store: Store,
    termination: Termination,
    look: fn(&A) -> R,
    act: impl AsyncFnMut(R) -> Result<()>,
) -> Result<ExitCode> {
    let outcome = supervise(&handle, termination, look, act).await;
    handle.shutdown().await?;
    store.close()?;
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Comes back when a signal comes, the agent has stopped, or `act` fails.
pub(super) async fn supervise<A: 'static, R: Send + 'static>(
    handle: &Handle<A>,
    mut termination: Termination,
    look: fn(&A) -> R,
    mut act: impl AsyncFnMut(R) -> Result<()>,
) -> Result<()> {
    let supervising = async {
        while let Some(seen) = handle.inspect(look).await {
            act(seen).await?;
            sleep(LOOK_EVERY).await;
        }
        Ok::<(), anyhow::Error>(())
    };
    tokio::select! {
        () = termination.recv() => Ok(()),
        outcome = supervising => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::PlayerFlags;
    use super::*;

    fn config(variable: &str, text: &str) -> Config {
        PlayerFlags::with_variables(&[(variable, text)])
    }

    #[test]
    fn plain_http_that_others_can_hear_is_warned_of() {
        let plain = config("", "");
        let secure = config("MATCHDAY_TLS_CERT", "player.pem");
        for (address, warns) in [
            ("127.0.0.1:1", false),
            ("[::1]:1", false),
            ("0.0.0.0:1", true),
            ("10.0.0.5:1", true),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(warning(&plain, address).is_some(), warns, "{address}");
            assert_eq!(warning(&secure, address), None, "{address}");
        }
    }

    #[test]
    fn an_agent_that_serves_over_tls_says_so_in_its_endpoint() {
        for (variable, expected) in [
            ("", "http://127.0.0.1:9/mcp"),
            ("MATCHDAY_TLS_CERT", "https://127.0.0.1:9/mcp"),
        ] {
            assert_eq!(
                contact(&config(variable, "player.pem"), 9).unwrap().raw(),
                expected
            );
        }
    }
}
