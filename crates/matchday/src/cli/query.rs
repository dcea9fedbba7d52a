//! What `status`, `standings`, `schedule` and `stats` share: they ask a manager, and print for people or programs.

use super::manager_arg::ManagerArg;
use crate::manager_client::ManagerClient;
use anyhow::Result;
use matchday_core::protocol::Untrusted;
use matchday_terminal::say;
use matchday_terminal::screen::Size;
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct QueryArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// Print the data as JSON
    #[arg(long)]
    json: bool,
}

/// Asks and prints.
pub(super) async fn show(
    args: &QueryArgs,
    ask: impl AsyncFn(&ManagerClient) -> Result<Value>,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<ExitCode> {
    let data = ask(&args.at.client()?).await?;
    say(shown(args, &data, for_people)?);
    Ok(ExitCode::SUCCESS)
}

/// Data as it is printed: for programs or for people.
pub(super) fn shown(
    args: &QueryArgs,
    data: &Value,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<String> {
    if args.json {
        Ok(serde_json::to_string_pretty(data)?)
    } else {
        for_people(data)
    }
}

/// How many columns a table may have: as many as the terminal, any number elsewhere.
pub(super) fn columns() -> usize {
    Size::of_terminal().map_or(usize::MAX, |size| size.columns)
}

/// A field as it is shown, empty if it is missing.
pub(super) fn cell(object: &Value, key: &str) -> String {
    match object.get(key) {
        Some(Value::String(text)) => Untrusted::new(text).escaped().to_string(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
