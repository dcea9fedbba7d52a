//! `matchday cluster`: the services that share a store, by the HTTP API of one of them.

use super::league::{ServiceArg, print};
use super::service_api::{Api, Promised, SOON};
use anyhow::Result;
use clap::Args;
use hyper::Method;
use matchday_terminal::{headed, table};
use serde_json::Value;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday cluster
  matchday cluster --service https://leagues.example --json

Services that are started with the same --store postgres://... share its leagues: docs/operating.md.";

#[derive(Debug, Args)]
pub(super) struct ClusterArgs {
    #[command(flatten)]
    service: ServiceArg,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(args: ClusterArgs) -> Result<ExitCode> {
    let api = Api { args: &args.service, base: "cluster" };
    let data = api.call(Method::GET, "", None, Promised::Rows("processes", "name"), SOON).await?;
    print(args.json, &data, shown)
}

fn shown(data: &Value) -> String {
    let processes = data.get("processes").and_then(Value::as_array).cloned().unwrap_or_default();
    if processes.is_empty() {
        return "this service has its store to itself: a file is not shared".to_owned();
    }
    let number = |value: &Value, key: &str| value.get(key).map(Value::to_string).unwrap_or_default();
    let row = |process: &Value| {
        let text = |key: &str| process.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
        let mut row = vec![text("name"), text("version")];
        row.extend(["lease_left_s", "leagues", "weight", "takeovers"].map(|key| number(process, key)));
        row.push(text("started_at"));
        row.push(text("url"));
        row
    };
    let rows: Vec<Vec<String>> = processes.iter().map(row).collect();
    let head = ["PROCESS", "VERSION", "LEASE LEFT", "LEAGUES", "WEIGHT", "TAKEN OVER", "STARTED", "URL"];
    let this = data.get("this_process").cloned().unwrap_or_default();
    format!(
        "{}\nof the service that was asked: {} forwarded, {} of them unanswered; {} held; {} leagues lost; clock {}",
        headed(&table(&head, &rows)),
        number(&this, "forwards"),
        number(&this, "forwards_failed"),
        number(&this, "held_requests"),
        number(&this, "lost_leagues"),
        clock(this.get("clock_offset_us").and_then(Value::as_i64).unwrap_or_default()),
    )
}

fn clock(offset_us: i64) -> String {
    let way = if offset_us < 0 { "behind" } else { "ahead of" };
    format!("{} us {way} the database's", offset_us.unsigned_abs())
}
