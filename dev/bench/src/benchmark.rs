//! What a benchmark is: a plan that is measured, and says meanwhile what it does.

use crate::report::Figures;
use anyhow::{Context, Result};
use std::path::Path;
use tempfile::TempDir;

/// Reports progress.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&str);

/// A plan of measurements.
pub(crate) trait Benchmark {
    type Figures: Figures;

    async fn measure(&self, tell: Tell<'_>) -> Result<Self::Figures>;
}

/// A folder of its own for one measurement, on the disk that is measured.
pub(crate) fn temporary_folder(within: &Path) -> Result<TempDir> {
    TempDir::with_prefix_in("matchday-bench-", within)
        .with_context(|| format!("cannot make a folder in {}", within.display()))
}
