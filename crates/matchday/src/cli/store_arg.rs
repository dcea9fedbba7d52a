//! Stores as arguments: FILE, or `--store FILE` as other commands have it.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(super) struct StoreArgs {
    /// The store of the league; those of its referees and players may follow, and tell more
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The same as FILE
    #[arg(long = "store", value_name = "FILE", value_delimiter = ',')]
    stores: Vec<PathBuf>,
}

impl StoreArgs {
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.stores.iter().chain(&self.files).cloned().collect()
    }
}

/// For commands that take one store.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct StoreArg {
    /// The store
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same as FILE
    #[arg(long = "store", value_name = "FILE")]
    store: Option<PathBuf>,
}

impl StoreArg {
    pub(super) fn file(&self) -> PathBuf {
        self.file.clone().or_else(|| self.store.clone()).unwrap_or_default()
    }
}
