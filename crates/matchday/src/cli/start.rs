//! `matchday start`: closes registration and begins the league.

use super::notice;
use super::operator::OperatorArgs;
use crate::manager_client::StartAnswer;
use anyhow::Result;
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(super) async fn execute(StartArgs { operator }: StartArgs) -> Result<ExitCode> {
    let client = operator.client()?;
    let league_id = client.league().await?;
    let before = client.status().await.unwrap_or_default();
    let phase = before
        .get("status")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if matches!(phase, "running" | "paused" | "completed") {
        notice(&format!("{league_id} is already started: it is {phase}"));
        return operator.print(&before);
    }
    match client.start(&league_id, operator.token()?.as_ref()).await? {
        StartAnswer::Status(status) => operator.print(&status),
        StartAnswer::Taken(remark) => {
            notice(&remark);
            Ok(ExitCode::SUCCESS)
        }
    }
}
