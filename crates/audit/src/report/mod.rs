//! A report on a stored league, for its organisers, its participants, and for grading: the read model of the league, with what
//! went wrong and whether its stores verify.
//!
//! # Layout
//! - here: the data of a report; [`gather`](Report::gather) reads it from stores; `faults`: what went wrong
//! - `page`: HTML and Markdown; `grades`: CSV. The JSON format is the data itself.
//! - `plots`, `sentences`: what several formats share
//!
//! Nothing here reads the clock: the same stores give the same report, byte for byte.

mod faults;
pub mod grades;
pub mod page;
mod plots;
#[cfg(test)]
pub mod sample;
mod sentences;

use crate::league_log::LeagueLog;
use crate::league_view::LeagueView;
use crate::log_set::LogSet;
use crate::verify::{Evidence, Verdict, Verification, verify_league};
use crate::{exploitability, fallbacks, llm_usage};
use matchday_core::protocol::LeagueId;
use matchday_stats::Resampling;
use matchday_store::StoreError;
use matchday_store::StoreUrl;
use serde::Serialize;

/// The report of a league as an HTML page. Reads the stores.
pub fn html_page(stores: &[StoreUrl], league_id: &LeagueId) -> Result<String, StoreError> {
    match Report::gather(stores, Some(league_id), &Resampling::default()) {
        Ok(report) => Ok(page::html(&report)),
        Err(ReportError::Store(error)) => Err(error),
        Err(ReportError::NoLeague(_)) => Err(StoreError::NoLeague(
            stores.first().map_or(StoreUrl::Memory, StoreUrl::clone),
        )),
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub view: LeagueView,
    pub faults: Vec<Fault>,
    pub verification: VerificationSummary,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// `technical loss`, `message`, `error`, `deviation`, `strategy`.
    pub group: &'static str,
    pub kind: String,
    pub count: u32,
}

#[derive(Debug, Clone, Serialize)]
pub struct VerificationSummary {
    pub passed: bool,
    pub sentence: String,
    /// The last hash of the league's hash chain: it identifies the state of the league.
    pub head: Option<String>,
    pub files: Vec<String>,
    pub found: Verification,
}

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: a report needs the manager's store - name that store too, or only that store")]
    NoLeague(String),
}

impl Report {
    /// Reads and verifies the stores.
    pub fn gather(
        stores: &[StoreUrl],
        league_id: Option<&LeagueId>,
        settings: &Resampling,
    ) -> Result<Self, ReportError> {
        let logs = LogSet::open_league(stores, league_id)?;
        let named: Vec<String> = logs.stores().map(ToString::to_string).collect();
        let Some(history) = &logs.league else {
            return Err(ReportError::NoLeague(named.join(", ")));
        };
        let stores: Vec<StoreUrl> = logs.stores().cloned().collect();
        let found = verify_league(&stores, league_id, &Evidence::default())?;
        let mut report = Self::of(history, found, settings);
        // Only file names: a report may be published, and should not tell paths of this machine.
        report.verification.files = stores.iter().map(StoreUrl::short_name).collect();
        let mut failed = fallbacks::of_players(&logs.players);
        let mut used = llm_usage::of_players(&logs.players);
        let mut exploitable = exploitability::of_players(&history.league);
        for player in &mut report.view.players {
            player.exploitability = exploitable.remove(&player.who.id);
            player.fallbacks = failed.remove(&player.who.id);
            player.llm_usage = used.remove(&player.who.id);
        }
        report.faults = faults::gather(&logs, &report)?;
        Ok(report)
    }

    /// The report without what needs recorded exchanges.
    pub fn of(history: &LeagueLog, found: Verification, settings: &Resampling) -> Self {
        Self {
            view: LeagueView::of(history, settings),
            faults: Vec::new(),
            verification: verified(found),
        }
    }
}

fn verified(found: Verification) -> VerificationSummary {
    let sentence = match (&found.fault, found.not_checked.is_empty()) {
        (None, _) if found.verdict() == Verdict::NotAllProven => {
            "No contradictions, but not everything is proven.".to_owned()
        }
        (Some(fault), _) => {
            format!("Verification failed: {fault}. Nothing after that can be relied on.")
        }
        (None, true) => {
            "Verified: the chain of events, every drawn number, every score and the standings."
                .to_owned()
        }
        (None, false) => "No contradictions, but some checks could not be made.".to_owned(),
    };
    VerificationSummary {
        passed: found.fault.is_none(),
        sentence,
        head: found.head.clone(),
        files: Vec::new(),
        found,
    }
}
