//! `matchday start`: closes registration and begins the league.

use super::operator::OperatorArgs;
use anyhow::Result;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(super) async fn execute(StartArgs { operator }: StartArgs) -> Result<ExitCode> {
    let client = operator.client()?;
    let league_id = client.league().await?;
    operator.print(&client.start(&league_id, operator.token()?.as_ref()).await?)
}
