//! `matchday dashboard`: a stored league in a browser; and the dashboard beside a manager that runs.

use super::browser;
use super::daemon;
use super::league_arg::LeagueArg;
use super::notice;
use super::settings::{self, Config};
use super::store_arg::StoreArgs;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use matchday_net::origin_check::Allowlist;
use matchday_os::signals::Termination;
use matchday_runtime::log;
use matchday_server::dashboard::{self, Dashboard, Source};
use matchday_store::{LeagueChoice, Location, Store, StoreUrl};
use matchday_terminal::say;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(super) const EXAMPLE: &str = "\
Nothing can be changed from there. A league that is being played is seen at the address of its manager.

Example:
  matchday dashboard league.db
  matchday dashboard weekend.db referee-8001.db referee-8002.db --listen 127.0.0.1:9000 --open";

#[derive(Debug, Args)]
pub(super) struct DashboardArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// Whether to open it in a browser of this machine
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_value = "off", default_missing_value = "on")]
    open: Open,
}

/// `yes` and `no` are what earlier versions took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Open {
    #[value(alias = "yes", alias = "true")]
    On,
    #[value(alias = "no", alias = "false")]
    Off,
}

pub(super) async fn execute(args: DashboardArgs) -> Result<ExitCode> {
    let mut stop = Termination::listen()?;
    // What viewers are not told of a store that cannot be read.
    log::collect_diagnostics(tracing::Level::WARN, |entry| notice(&entry.message));
    let urls = args.stores.urls();
    let (store, others) = urls.split_first().context("name the store of a league")?;
    // Opened to see whether they are what they are taken for.
    others
        .iter()
        .try_for_each(|url| Store::open_read_only(url).map(drop))?;
    let league = args
        .league
        .id()
        .map_or(LeagueChoice::Latest, LeagueChoice::Named);
    let location = Location {
        store: store.clone(),
        league,
    };
    drop(location.open()?);
    let listener = TcpListener::bind(&args.listen).await;
    let listener = listener.with_context(|| {
        format!(
            "cannot listen on {} - choose another address with --listen HOST:PORT",
            args.listen
        )
    })?;
    let address = listener.local_addr()?;
    let dashboard = Dashboard::stored(location, others.to_vec(), address.ip().is_loopback())?;
    let page = format!("http://{}/", reached(address));
    say(format!("{store} can be seen at {page} until Ctrl-C"));
    if args.open == Open::On {
        browser::open(&page);
    }
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(dashboard::serve(
        dashboard,
        listener,
        Allowlist::default(),
        closing,
    ));
    stop.recv().await;
    let _ = close.send(true);
    serving.await??;
    Ok(ExitCode::SUCCESS)
}

/// Where viewers of a manager's league read it, if its settings ask for a dashboard or only this machine can reach it.
pub(super) fn source_of_manager(
    config: &Config,
    listening: SocketAddr,
    store: &StoreUrl,
    seats: Option<StoreUrl>,
    scheme: &str,
) -> Result<Option<Arc<Source>>> {
    let mut others = config.get(&settings::DASHBOARD_STORES)?.unwrap_or_default();
    if let Some(folder) = others
        .iter()
        .find(|url| url.file().is_some_and(Path::is_dir))
    {
        let why = format!("{folder} is a folder, not a store");
        return Err(config.wrong(&settings::DASHBOARD_STORES, why));
    }
    let only_this_machine = daemon::is_for_this_machine_alone(config, listening.ip())?;
    if !config
        .get(&settings::DASHBOARD)?
        .unwrap_or(only_this_machine)
    {
        return Ok(None);
    }
    others.extend(seats);
    notice(&format!(
        "the league can be seen at {scheme}://{}/",
        reached(listening)
    ));
    Ok(Some(Source::alone(Location::latest(store), others)))
}

/// Where a browser of this machine finds what listens there.
fn reached(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    address
}
