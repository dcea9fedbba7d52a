//! Benchmarks of `matchday serve`: a store of very many leagues, many leagues played at once, and a league that is flooded.
//!
//! # Layout
//! - `figures`: what is measured, as values, with the goals and tables
//! - `process`: a service in a child process, and requests to it; `played`: leagues of it that are played, read from its store
//! - `at_rest`, `at_once`, `flood`: the three measurements

pub(crate) mod at_once;
mod at_rest;
pub(crate) mod figures;
mod flood;
mod played;
mod process;

use crate::benchmark::{Benchmark, Tell, temporary_folder};
use anyhow::Result;
use figures::ServiceFigures;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct ServicePlan {
    /// In one store.
    pub(crate) leagues: usize,
    /// Of them, loaded.
    pub(crate) active: usize,
    /// Played at once.
    pub(crate) at_once: usize,
    pub(crate) players: u16,
    /// How long CPU time is measured while nothing happens.
    pub(crate) rest: Duration,
    /// How often each league that is compared is played.
    pub(crate) runs: usize,
    /// Leagues beside the one that is flooded.
    pub(crate) others: usize,
    pub(crate) flood_per_s: u32,
    /// Where the stores are: the disk matters.
    pub(crate) folder: PathBuf,
}

impl ServicePlan {
    pub(crate) fn new(folder: PathBuf, quick: bool) -> Self {
        let plan = Self {
            leagues: 10_000,
            active: 100,
            at_once: 100,
            players: 8,
            rest: Duration::from_secs(20),
            runs: 5,
            others: 10,
            flood_per_s: 2_000,
            folder,
        };
        if !quick {
            return plan;
        }
        let rest = Duration::from_secs(2);
        Self {
            leagues: 100,
            active: 5,
            at_once: 5,
            rest,
            runs: 1,
            others: 2,
            ..plan
        }
    }
}

impl Benchmark for ServicePlan {
    type Figures = ServiceFigures;

    async fn measure(&self, tell: Tell<'_>) -> Result<ServiceFigures> {
        Ok(ServiceFigures {
            at_rest: at_rest::measure(self, temporary_folder(&self.folder)?.path(), tell).await?,
            at_once: at_once::measure(self, temporary_folder(&self.folder)?.path(), tell).await?,
            flood: flood::measure(self, temporary_folder(&self.folder)?.path(), tell).await?,
        })
    }
}
