//! `matchday cluster`: the services that share a store, by the HTTP API of one of them.

use super::service_api::{ServiceArg, print};
use anyhow::Result;
use clap::Args;
use matchday_runtime::routes::ServiceRoute;
use matchday_server::service::api_types::{ClusterProcess, ClusterStatus};
use matchday_terminal::{headed, table};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday cluster
  matchday cluster --service https://leagues.example --json

Services that are started with the same --store postgres://... share its leagues: docs/cluster.md.";

#[derive(Debug, Args)]
pub(super) struct ClusterArgs {
    #[command(flatten)]
    service: ServiceArg,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(args: ClusterArgs) -> Result<ExitCode> {
    let status: ClusterStatus = args.service.call(ServiceRoute::Cluster, "").await?;
    print(args.json, &status, text)
}

fn text(status: &ClusterStatus) -> String {
    let Some(this) = &status.this_process else {
        return "this service has its store to itself: a file is not shared".to_owned();
    };
    let row = |process: &ClusterProcess| {
        vec![
            process.name.clone(),
            process.version.clone(),
            process.lease_left_s.to_string(),
            process.leagues.to_string(),
            process.weight.to_string(),
            process.takeovers.to_string(),
            process.started_at.to_string(),
            process.url.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = status.processes.iter().map(row).collect();
    let head = [
        "PROCESS",
        "VERSION",
        "LEASE LEFT",
        "LEAGUES",
        "WEIGHT",
        "TAKEN OVER",
        "STARTED",
        "URL",
    ];
    format!(
        "{}\nof the service that was asked: {} forwarded, {} of them unanswered; {} held; {} leagues lost; clock {}",
        headed(&table(&head, &rows)),
        this.forwards,
        this.forwards_failed,
        this.held_requests,
        this.lost_leagues,
        clock(this.clock_offset_us),
    )
}

fn clock(offset_us: i64) -> String {
    let way = if offset_us < 0 { "behind" } else { "ahead of" };
    format!("{} us {way} the database's", offset_us.unsigned_abs())
}
