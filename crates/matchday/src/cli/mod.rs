//! Stand-in for the commands, until they are merged.

mod files;
mod run;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "matchday")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    Verify(files::VerifyArgs),
    Replay(files::ReplayArgs),
    Export(files::ExportArgs),
}

pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    let done = match command {
        Command::Run(args) => {
            tokio::runtime::Runtime::new().map_err(Into::into).and_then(|rt| rt.block_on(run::execute(args)))
        }
        Command::Verify(args) => files::verify(args),
        Command::Replay(args) => files::replay(args),
        Command::Export(args) => files::export(args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("matchday: {error:#}");
        ExitCode::FAILURE
    })
}
