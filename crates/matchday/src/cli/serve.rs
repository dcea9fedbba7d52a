//! What the commands that keep running have in common: an address, a store, a journal, and an end in good order.

use super::config::Config;
use super::log_file::{self, LogFile};
use super::{Usage, network, notice, roster, tls};
use crate::mind::game_program::{Allowance, GameProgram};
use crate::net::guard::{Allowed, HostRule, OriginRule};
use crate::net::room;
use crate::shell::journal::{Entry, Format, Journal, Level};
use crate::shell::{Handle, Options, entropy_from_system};
use crate::store::Store;
use anyhow::{Context, Result, anyhow};
use matchday_core::enrol::Enrolment;
use matchday_core::game::GAMES;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::Timeouts;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Token};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::mem::discriminant;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

/// How often a running agent is looked at. Each look wakes a process that may have nothing else to do.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often at most it is told that the manager cannot be reached.
const TELL_EVERY: Duration = Duration::from_secs(4);

pub(super) async fn bind(config: &Config) -> Result<TcpListener> {
    let address = config.text("listen").unwrap_or_default();
    let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            anyhow!("{address} is in use by another program - choose another address with --listen HOST:PORT")
        }
        ErrorKind::InvalidInput => {
            Usage(format!("--listen: expected HOST:PORT, such as 127.0.0.1:8000, got {address:?}")).into()
        }
        _ => anyhow!("cannot listen on {address}: {error} - choose another address with --listen HOST:PORT"),
    })?;
    if let Some(warning) = warning(config, listener.local_addr()?) {
        notice(&warning);
    }
    Ok(listener)
}

/// What whoever lets others see what is said should know.
fn warning(config: &Config, listening: SocketAddr) -> Option<String> {
    let others_hear = !serves_tls(config) && !listening.ip().is_loopback();
    others_hear.then(|| {
        format!(
            "{listening} is not for this machine alone, and without TLS whoever is on the way can read tokens: name a \
             certificate with --tls-cert and --tls-key, unless the network is trusted"
        )
    })
}

fn serves_tls(config: &Config) -> bool {
    config.text("tls-cert").is_some_and(|path| !path.is_empty())
}

/// Where others reach this agent.
pub(super) fn contact(config: &Config, port: u16) -> Result<Endpoint> {
    if let Some(advertised) = endpoint(config, "advertise")? {
        return Ok(advertised);
    }
    let host = config.text("listen").and_then(|text| text.rsplit_once(':')).map_or("", |(host, _)| host);
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") { "localhost" } else { host };
    let scheme = if serves_tls(config) { "https" } else { "http" };
    let url = format!("{scheme}://{host}:{port}/mcp");
    Endpoint::parse(&url).with_context(|| format!("{url} is no endpoint - name one with --advertise URL"))
}

pub(super) fn endpoint(config: &Config, name: &str) -> Result<Option<Endpoint>> {
    config.read(name, "a URL, such as http://localhost:8000/mcp", |text| Endpoint::parse(text).ok())
}

/// The manager, and the join code for it: that of `--code`, or the one in the manager's URL.
pub(super) fn manager(config: &Config) -> Result<(Endpoint, Option<Token>)> {
    let given = config.text("code").filter(|code| !code.is_empty()).map(Token::new);
    if given.as_ref().is_some_and(|code| !code.is_join_code()) {
        let what = "--code: expected what the operator gave out, tok_join_ and letters and digits (it is not shown here)";
        return Err(Usage(what.to_owned()).into());
    }
    let read = |text: &str| {
        let (url, code) = roster::split(text);
        Some((Endpoint::parse(&url).ok()?, code))
    };
    let manager = config.read("manager", "a URL, such as http://localhost:8000/mcp", read)?;
    let (manager, code) = manager.context("name the manager with --manager URL")?;
    Ok((manager, given.or(code)))
}

pub(super) fn display_name(config: &Config, otherwise: &str) -> Result<DisplayName> {
    let named =
        config.read("name", "a name of 1 to 50 characters, none of them a control or invisible", |text| {
            DisplayName::parse(text).ok()
        })?;
    Ok(named.map_or_else(|| DisplayName::parse(otherwise), Ok)?)
}

pub(super) fn conformance(config: &Config) -> Result<Option<Conformance>> {
    config.choice("conformance", &[("strict", Conformance::Strict), ("lenient", Conformance::Lenient)])
}

/// Every game that this program knows.
pub(super) fn games() -> Vec<GameType> {
    GAMES.iter().map(|game| GameType::new(game.name)).collect()
}

/// The program that knows the rules, if the game is one of somebody's own.
pub(super) fn game_program(config: &Config) -> Result<Option<GameProgram>> {
    let Some(command) = config.text("game-command").filter(|command| !command.trim().is_empty()) else {
        return Ok(None);
    };
    let usual = Allowance::default();
    let megabytes = config.count("game-memory")?.map(|count| u64::from(count) << 20);
    let allowance = Allowance {
        time: config.seconds_above_zero("game-time")?.unwrap_or(usual.time),
        memory_bytes: megabytes.unwrap_or(usual.memory_bytes),
    };
    let program = GameProgram::named(command, allowance);
    Ok(Some(program.map_err(|error| Usage(format!("--game-command: {error}")))?))
}

/// `base` with what the settings say about timeouts and retries.
pub(super) fn timing(config: &Config, base: Timing) -> Result<Timing> {
    let kinds = [("fixed", RetryPolicy::FIXED.backoff), ("exponential", RetryPolicy::EXPONENTIAL.backoff)];
    let same_kind = |backoff: &Backoff| discriminant(backoff) == discriminant(&base.retry.backoff);
    let backoff =
        config.choice("retry", &kinds)?.filter(|kind| !same_kind(kind)).unwrap_or(base.retry.backoff);
    let delay = config.seconds("retry-delay")?;
    let backoff = match (backoff, delay) {
        (backoff, None) => backoff,
        (Backoff::Fixed { .. }, Some(delay)) => Backoff::Fixed { delay },
        (Backoff::Exponential { max, .. }, Some(initial)) => {
            Backoff::Exponential { initial, max: max.max(initial) }
        }
    };
    let retries = config.count("retries")?.unwrap_or(base.retry.retries);
    Ok(Timing {
        join: config.seconds_above_zero("join-timeout")?.unwrap_or(base.join),
        choice: config.seconds_above_zero("choice-timeout")?.unwrap_or(base.choice),
        game_over: config.seconds_above_zero("game-over-timeout")?.unwrap_or(base.game_over),
        report: config.seconds_above_zero("report-timeout")?.unwrap_or(base.report),
        other: config.seconds_above_zero("other-timeout")?.unwrap_or(base.other),
        retry: RetryPolicy { retries, backoff },
    })
}

/// The bounds that a referee's settings put on what its manager hands over: those that were set.
pub(super) fn timeout_bounds(config: &Config, own: &Timing) -> Timeouts {
    let Timeouts { join_ms, choice_ms, retries, retry_delay_ms, .. } = own.timeouts();
    let is_set = |name: &str| config.text(name).is_some();
    Timeouts {
        join_ms: join_ms.filter(|_| is_set("join-timeout")),
        choice_ms: choice_ms.filter(|_| is_set("choice-timeout")),
        retries: retries.filter(|_| is_set("retries")),
        retry_delay_ms: retry_delay_ms.filter(|_| is_set("retry-delay")),
        retry_delay_max_ms: None,
    }
}

/// The agent's own file, named after its port unless the settings name one.
pub(super) fn open_store(config: &Config, otherwise: String) -> Result<(PathBuf, Store)> {
    let path = PathBuf::from(config.text("store").map_or(otherwise, str::to_owned));
    let store = Store::open(&path)?;
    Ok((path, store))
}

pub(super) fn options(config: &Config) -> Result<Options> {
    let mut options = Options::new(entropy_from_system()?);
    let format = config.choice("log", &[("people", Format::People), ("json", Format::Json)])?;
    options.journal = journal(format.unwrap_or(Format::People), log_file::open(config)?)?;
    options.record_exchanges = config.switch("exchanges")?.unwrap_or(true);
    options.allowed = allowed(config)?;
    options.requests_per_address = config.count("address-rate")?;
    network::limit(config, &mut options)?;
    options.terms = options.terms.within(room::descriptors_max());
    options.terms.tls = tls::serving(config)?;
    options.client = tls::client(config)?.reading(network::heads(&options.terms));
    Ok(options)
}

/// Who may call this agent: those that the settings name, and whoever uses the names that it goes by itself.
fn allowed(config: &Config) -> Result<Allowed> {
    let hosts = "names such as example.org or example.org:8000, with commas between them";
    let hosts = config.read("allowed-hosts", hosts, |text| each(text, HostRule::parse))?;
    let origins = "origins such as https://example.org or http://localhost:*, with commas between them";
    let origins = config.read("allowed-origins", origins, |text| each(text, OriginRule::parse))?;
    let listening = config.text("listen").and_then(|text| text.rsplit_once(':')).map(|(host, _)| host);
    let advertised = endpoint(config, "advertise")?;
    let advertised = advertised.as_ref().and_then(|url| url.raw().split("://").nth(1)?.split('/').next());
    let own = listening.into_iter().chain(advertised).filter_map(HostRule::parse);
    Ok(Allowed {
        hosts: own.chain(hosts.unwrap_or_default()).collect(),
        origins: origins.unwrap_or_default(),
    })
}

fn each<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(',').map(|part| parse(part.trim())).collect()
}

/// To the file or the standard output. A manager that is not there yet is told of every few seconds only.
fn journal(format: Format, file: Option<LogFile>) -> Result<Journal> {
    let lines = match file {
        Some(mut file) => Journal::to_lines(format, move |line| file.write(line)),
        // If nobody reads any more, the league goes on all the same.
        None => Journal::to_lines(format, |line| drop(writeln!(std::io::stdout().lock(), "{line}"))),
    };
    let told = Mutex::new(None::<Instant>);
    let is_due = move || {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let due = told.is_none_or(|at| at.elapsed() >= TELL_EVERY);
        if due {
            *told = Some(Instant::now());
        }
        due
    };
    let lines = lines.context("the thread that writes the log cannot be started")?;
    Ok(lines.filtered(move |entry| match unanswered(entry) {
        None => Some(Cow::Borrowed(entry)),
        Some(message) => is_due().then(|| Cow::Owned(Entry { message, ..entry.clone() })),
    }))
}

/// If this is a registration that did not reach the manager: how to say so.
fn unanswered(entry: &Entry) -> Option<String> {
    let kind = entry.message_type.as_ref()?.raw();
    let failed = entry.level != Level::Info && entry.event_type == "message_sent";
    (failed && kind.ends_with("REGISTER_REQUEST")).then_some(())?;
    let text = |key| entry.details.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
    Some(format!(
        "cannot register with the manager at {} yet ({}): trying again",
        text("to"),
        text("outcome")
    ))
}

/// An agent that the manager has refused has nothing more to do.
pub(super) fn check_enrolment(enrolment: Enrolment) -> Result<()> {
    match enrolment {
        Enrolment::Refused { reason, .. } => Err(anyhow!(
            "the manager refuses the registration: {} - mend that, or wait for another league",
            reason.escaped()
        )),
        _ => Ok(()),
    }
}

/// Runs an agent until it is told to stop, fails, or `act` finds in what `look` sees that it cannot go on.
pub(super) async fn until_told<A: 'static, R: Send + 'static>(
    handle: Handle<A>,
    store: Store,
    mut stop: Stop,
    look: fn(&A) -> R,
    mut act: impl AsyncFnMut(R) -> Result<()>,
) -> Result<ExitCode> {
    let supervising = async {
        loop {
            match handle.inspect(look).await {
                Some(seen) => act(seen).await?,
                None => return Ok::<(), anyhow::Error>(()),
            }
            sleep(LOOK_EVERY).await;
        }
    };
    let outcome = tokio::select! {
        () = stop.told() => Ok(()),
        outcome = supervising => outcome,
    };
    handle.shutdown().await?;
    store.close()?;
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Ctrl-C and SIGTERM, from now on.
#[derive(Debug)]
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    pub(super) fn listen() -> Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Comes back when one of them has come.
    pub(super) async fn told(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Flags;
    use super::super::config_file::ConfigFile;
    use super::super::settings::ForPlayer;
    use super::*;

    fn config(variable: &str, text: &str) -> Config {
        let find = |name: &str| (name == variable).then(|| text.to_owned());
        Flags::<ForPlayer>::default().resolve_with(&ConfigFile::default(), find).unwrap()
    }

    #[test]
    fn plain_http_that_others_can_hear_is_warned_of() {
        let (plain, secure) = (config("", ""), config("MATCHDAY_TLS_CERT", "player.pem"));
        for (address, warns) in
            [("127.0.0.1:1", false), ("[::1]:1", false), ("0.0.0.0:1", true), ("10.0.0.5:1", true)]
        {
            let address = address.parse().unwrap();
            assert_eq!(warning(&plain, address).is_some(), warns, "{address}");
            assert_eq!(warning(&secure, address), None, "{address}");
        }
    }

    #[test]
    fn an_agent_that_serves_over_tls_says_so_in_its_endpoint() {
        for (variable, expected) in
            [("", "http://127.0.0.1:9/mcp"), ("MATCHDAY_TLS_CERT", "https://127.0.0.1:9/mcp")]
        {
            assert_eq!(contact(&config(variable, "player.pem"), 9).unwrap().raw(), expected);
        }
    }
}
