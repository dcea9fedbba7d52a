//! Benchmarks of leagues in PostgreSQL, beside the same leagues in SQLite files: alternately, in one run, with the database on the
//! same cores.
//!
//! # Layout
//! - `cluster`: a PostgreSQL server of the bench's own; `figures`: what is measured, with the goals and tables

mod cluster;
pub(crate) mod figures;

use crate::benchmark::{Benchmark, Tell, temporary_folder};
use crate::league::one_process;
use crate::quantiles::median;
use crate::service::at_once::play_many;
use crate::size::Size;
use anyhow::{Context, Result};
use cluster::Cluster;
use figures::{PostgresFigures, StoreFigures};
use matchday_store::StoreUrl;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub(crate) struct PostgresPlan {
    /// Of the league that is played in one process.
    pub(crate) size: Size,
    /// Played at once in one service, and how many players each has.
    pub(crate) at_once: usize,
    pub(crate) players: u16,
    pub(crate) runs: usize,
    /// Where files and database are: the disk matters.
    pub(crate) folder: PathBuf,
}

impl PostgresPlan {
    pub(crate) fn new(folder: PathBuf, quick: bool) -> Self {
        if quick {
            Self {
                size: Size::new(4, 2),
                at_once: 3,
                players: 4,
                runs: 1,
                folder,
            }
        } else {
            Self {
                size: Size::new(50, 10),
                at_once: 100,
                players: 8,
                runs: 5,
                folder,
            }
        }
    }
}

/// What was measured of one store, run by run.
#[derive(Debug, Default)]
struct Runs {
    matches_per_s: Vec<f64>,
    bytes_per_match: Vec<f64>,
    at_once_per_s: Vec<f64>,
    commit_p99_ms: Vec<f64>,
    technical_losses: usize,
}

impl Benchmark for PostgresPlan {
    type Figures = PostgresFigures;

    async fn measure(&self, tell: Tell<'_>) -> Result<PostgresFigures> {
        tell("a PostgreSQL server");
        let cluster = Cluster::start(&self.folder).await?;
        let mut files = Runs::default();
        let mut database = Runs::default();
        // The first is not counted.
        for number in 0..=self.runs {
            for in_database in [false, true] {
                let name = if in_database { "PostgreSQL" } else { "SQLite" };
                tell(&format!(
                    "{} in {name}, {number} of {}",
                    self.size, self.runs
                ));
                let runs = if in_database {
                    &mut database
                } else {
                    &mut files
                };
                let folder = temporary_folder(&self.folder)?;
                let store = location(&cluster, in_database, folder.path(), "league.db").await?;
                let played = one_process::play(self.size, folder.path(), &store)
                    .await?
                    .statistics;
                if number > 0 {
                    let matches = played.matches.max(1) as f64;
                    runs.matches_per_s
                        .push(matches / played.took().as_secs_f64());
                    runs.bytes_per_match
                        .push(played.store_bytes as f64 / matches);
                    runs.technical_losses += played.technical_losses;
                }
            }
        }
        let mut two_services_per_s = Vec::new();
        for number in 1..=self.runs.div_ceil(2) {
            for (in_database, services, name) in [
                (false, 1, "SQLite"),
                (true, 1, "PostgreSQL"),
                (true, 2, "PostgreSQL by two services"),
            ] {
                tell(&format!(
                    "{} leagues at once in {name}, {number}",
                    self.at_once
                ));
                let runs = if in_database {
                    &mut database
                } else {
                    &mut files
                };
                let folder = temporary_folder(&self.folder)?;
                let store = location(&cluster, in_database, folder.path(), "service.db").await?;
                let played =
                    play_many(folder.path(), &store, services, self.at_once, self.players).await?;
                runs.technical_losses += played.technical_losses;
                match services {
                    1 => {
                        runs.at_once_per_s.push(played.matches_per_s);
                        runs.commit_p99_ms.extend(played.commit_p99_ms);
                    }
                    _ => two_services_per_s.push(played.matches_per_s),
                }
            }
        }
        let version = cluster.version().to_owned();
        cluster.stop().await?;
        Ok(PostgresFigures {
            server: version,
            size: self.size,
            at_once: self.at_once,
            players: self.players,
            sqlite: files.figures()?,
            postgres: database.figures()?,
            two_services_per_s: median(two_services_per_s)
                .context("leagues were played by two services")?,
        })
    }
}

impl Runs {
    fn figures(self) -> Result<StoreFigures> {
        Ok(StoreFigures {
            matches_per_s: median(self.matches_per_s).context("leagues were played")?,
            bytes_per_match: median(self.bytes_per_match).context("leagues were played")?,
            at_once_per_s: median(self.at_once_per_s).context("leagues were played at once")?,
            commit_p99_ms: median(self.commit_p99_ms),
            technical_losses: self.technical_losses,
        })
    }
}

/// A store that is empty.
async fn location(
    cluster: &Cluster,
    in_database: bool,
    folder: &Path,
    file: &str,
) -> Result<StoreUrl> {
    if in_database {
        Ok(cluster.database().await?.into())
    } else {
        Ok(folder.join(file).into())
    }
}
