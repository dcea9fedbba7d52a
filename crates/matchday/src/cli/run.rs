//! `matchday run`: a whole league on this machine.

use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {}

pub(crate) async fn execute(_args: RunArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`run` is not part of this build - start the agents one by one")
}
