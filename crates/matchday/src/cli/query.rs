//! What `status`, `standings`, `schedule` and `stats` share: they ask a manager once, or again and again with `--watch`.

use super::manager_arg::ManagerArg;
use super::refresh::Refresh;
use crate::manager_client::ManagerClient;
use anyhow::Result;
use matchday_core::protocol::Untrusted;
use matchday_os::signals::Termination;
use matchday_terminal::{headed, say};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

const REFRESH_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, clap::Args)]
pub(super) struct QueryArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// Print the data as JSON
    #[arg(long)]
    json: bool,
    /// Refresh every second until the league is completed, or Ctrl-C
    #[arg(long)]
    watch: bool,
}

impl QueryArgs {
    pub(super) fn watch(&self) -> bool {
        self.watch
    }
}

/// Asks and prints, once or until there is nothing more to come.
pub(super) async fn show(
    args: &QueryArgs,
    ask: impl AsyncFn(&ManagerClient) -> Result<Value>,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<ExitCode> {
    let client = args.at.client()?;
    let render = async || {
        let data = ask(&client).await?;
        shown(args, &data, &for_people)
    };
    if !args.watch {
        say(render().await?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut stop = Termination::listen()?;
    let mut watch = Refresh::new(args.json);
    watch.show(render().await?);
    let watching = async {
        loop {
            // Asked first, so that what is shown last is how it ended.
            let completed = is_completed(&client).await;
            match render().await {
                Ok(frame) => watch.show(frame),
                // A manager that is being started again is worth waiting for.
                Err(error) => watch.show_error(format!("{error:#}")),
            }
            if completed {
                return;
            }
            sleep(REFRESH_EVERY).await;
        }
    };
    tokio::select! {
        () = stop.recv() => watch.interrupted(),
        () = watching => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Data as it is printed: for programs or for people.
pub(super) fn shown(
    args: &QueryArgs,
    data: &Value,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<String> {
    match args.json {
        true if args.watch => Ok(data.to_string()),
        true => Ok(serde_json::to_string_pretty(data)?),
        false => for_people(data).map(|text| headed(&text)),
    }
}

async fn is_completed(client: &ManagerClient) -> bool {
    client.status().await.is_ok_and(|status| status.get("status").is_some_and(|phase| phase == "completed"))
}

/// A field as it is shown, empty if it is missing.
pub(super) fn cell(object: &Value, key: &str) -> String {
    match object.get(key) {
        Some(Value::String(text)) => Untrusted::new(text).escaped().to_string(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
