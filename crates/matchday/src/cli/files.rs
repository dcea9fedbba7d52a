//! `matchday verify`, `replay`, `export`: what can be made of a stored league.

use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {}

pub(crate) fn verify(_args: VerifyArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`verify` is not part of this build")
}

pub(crate) fn replay(_args: ReplayArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`replay` is not part of this build")
}

pub(crate) fn export(_args: ExportArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`export` is not part of this build")
}
