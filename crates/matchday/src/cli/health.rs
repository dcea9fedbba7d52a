//! `matchday health`: whether an agent can do its work, for health checks of containers that have no other program in them.

use super::tls::TlsArgs;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use matchday_terminal::say;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday health
  matchday health https://localhost:8000 --tls-ca ca.pem

Exit code 0 if it answers that it is ready, 1 otherwise.";

const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);
const ANSWER_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    /// Where the agent is [default: port MATCHDAY_PORT, or 8000, of this machine]
    #[arg(value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
}

pub(super) async fn execute(args: HealthArgs) -> Result<ExitCode> {
    let url = args.url.unwrap_or_else(|| {
        format!(
            "http://127.0.0.1:{}",
            std::env::var("MATCHDAY_PORT").unwrap_or_else(|_| "8000".to_owned())
        )
    });
    let base = url.trim_end_matches('/').trim_end_matches("/mcp");
    let ready = format!("{base}/health/ready");
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let answer = args
        .tls
        .client()?
        .get_with(&ready, Vec::new(), deadline, ANSWER_BYTES_MAX)
        .await;
    let answer = answer.map_err(|error| anyhow!("{base} does not answer: {error}"))?;
    let data: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match (answer.status, data.get("why").and_then(Value::as_str)) {
        (200, _) => {
            say("ready");
            Ok(ExitCode::SUCCESS)
        }
        (_, Some(why)) => bail!("{base} is not ready: {why}"),
        (status, None) => bail!("{base} answers with HTTP {status} - is it an agent of Matchday?"),
    }
}
