//! `matchday doctor`: looks for what would keep an agent from working, with the settings that the agent would have.

use super::settings::config::Flags;
use super::settings::{
    self, Config, ManagerFlags, PlayerFlags, RefereeFlags, SeatFlags, ServeFlags,
};
use super::{daemon, network, roster, tls};
use crate::doctor::{self, Severity, Subject};
use anyhow::Result;
use matchday_net::tls::ServerTlsFiles;
use matchday_runtime::Clock;
use matchday_store::StoreUrl;
use matchday_terminal::say;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday doctor                                      # of a manager with the settings in effect here
  matchday doctor serve --listen 0.0.0.0:8000 --store /var/lib/matchday/service.db
  matchday doctor player --manager https://league.example.org/mcp
  matchday doctor manager --json

Exit code 0 if it will work, also with warnings; 1 if something failed.";

#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<DoctorCommand>,
}

/// The command that is examined, with the flags that it would be started with.
#[derive(Debug, clap::Subcommand)]
enum DoctorCommand {
    /// Examine what `matchday manager` needs
    Manager(ManagerFlags),
    /// Examine what `matchday referee` needs
    Referee(RefereeFlags),
    /// Examine what `matchday player` needs
    Player(PlayerFlags),
    /// Examine what `matchday seat` needs
    Seat(SeatFlags),
    /// Examine what `matchday serve` needs
    Serve(ServeFlags),
}

pub(super) async fn execute(args: DoctorArgs) -> Result<ExitCode> {
    let subject = match args
        .command
        .unwrap_or_else(|| DoctorCommand::Manager(ManagerFlags::default()))
    {
        DoctorCommand::Manager(flags) => subject(&flags)?,
        DoctorCommand::Serve(flags) => subject(&flags)?,
        DoctorCommand::Referee(flags) => registering(&flags)?,
        DoctorCommand::Player(flags) => registering(&flags)?,
        DoctorCommand::Seat(flags) => registering(&flags)?,
    };
    let findings = doctor::examine(&subject).await;
    say(if args.json {
        serde_json::to_string_pretty(&findings)?
    } else {
        doctor::text(&findings)
    });
    let failed = findings
        .iter()
        .any(|finding| finding.severity == Severity::Failed);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// An agent that registers with a manager, and calls no endpoints of others on our behalf.
fn registering<const SECTION: usize>(flags: &Flags<SECTION>) -> Result<Subject> {
    let config = flags.resolve()?;
    let manager = config.need(&settings::MANAGER)?;
    let manager = Some(roster::split(manager.raw()).0);
    Ok(Subject {
        manager,
        agent_client: None,
        ..base(flags, &config)?
    })
}

fn subject<const SECTION: usize>(flags: &Flags<SECTION>) -> Result<Subject> {
    let config = &flags.resolve()?;
    let base = base(flags, config)?;
    let listening = base
        .listen
        .parse()
        .unwrap_or_else(|_| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let agent_client = Some(network::guarded(config, &base.client, listening)?);
    Ok(Subject {
        agent_client,
        ..base
    })
}

fn base<const SECTION: usize>(flags: &Flags<SECTION>, config: &Config) -> Result<Subject> {
    for token in [&settings::SERVICE_TOKEN, &settings::OPERATOR_TOKEN] {
        if config.has(token) {
            config.get(token)?;
        }
    }
    let listen = config
        .text(&settings::LISTEN)
        .unwrap_or_default()
        .to_owned();
    let port = listen.rsplit_once(':').map_or("", |(_, port)| port);
    let store = config.get(&settings::STORE)?;
    let section = Flags::<SECTION>::NAME;
    let store = store.unwrap_or_else(|| StoreUrl::Sqlite(format!("{section}-{port}.db").into()));
    let file = |setting| config.text(setting).map(PathBuf::from);
    let files = file(&settings::TLS_CERT).zip(file(&settings::TLS_KEY));
    let mut secret_files = flags.secret_files(config);
    secret_files.extend(file(&settings::TLS_KEY));
    let public = daemon::public(config)?;
    let is_public = public.is_some();
    let own_url = match (public, port.parse().unwrap_or_default()) {
        // The port is not known before it listens.
        (None, 0) => None,
        (Some(public), _) => Some(public),
        (None, port) => Some(daemon::contact(config, port)?),
    };
    let is_behind_proxy =
        config.has(&settings::TRUSTED_PROXIES) && config.text(&settings::TRUSTED_PROXIES).is_some();
    Ok(Subject {
        listen,
        store,
        tls: files.map(|(cert, key)| ServerTlsFiles {
            cert,
            key,
            client_ca: file(&settings::TLS_CLIENT_CA),
        }),
        secret_files,
        own_url: own_url.map(|url| url.raw().trim_end_matches("/mcp").to_owned()),
        is_public,
        is_behind_proxy,
        connections_max: config.need(&settings::CONNECTIONS_MAX)?,
        manager: None,
        client: tls::client(config)?,
        agent_client: None,
        now: Clock::start().now(),
    })
}
