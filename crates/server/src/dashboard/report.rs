//! The report of the league as one page, as `matchday report` writes it. Reads the stores.

use super::Dashboard;
use super::access::Access;
use super::cache::{CachedPage, Version};
use super::page_error::PageError;
use super::projection::Snapshot;
use super::readers::LastReport;
use super::response;
use super::shared_computation::Cost;
use bytes::Bytes;
use matchday_audit::report;
use matchday_core::protocol::messages::Phase;
use matchday_net::server::HttpResponse;
use matchday_store::StoreUrl;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How old a report may be for messages that were recorded since: anyone can have messages recorded.
const MESSAGES_AGE_MAX: Duration = Duration::from_secs(60);

impl Dashboard {
    pub(super) async fn report(self: &Arc<Self>, access: Access) -> HttpResponse {
        match self.report_page(access).await {
            Ok((name, page)) => response::download(&name, "text/html; charset=utf-8", page),
            Err(error) => error.response(access),
        }
    }

    async fn report_page(self: &Arc<Self>, access: Access) -> Result<(String, Bytes), PageError> {
        let snapshot = self.source.snapshot().await?;
        let league = &snapshot.projection.league;
        if league.phase != Phase::Completed && !access.operator {
            return Err(PageError::Withheld(
                "the report can be read when the league is over",
            ));
        }
        let id = league.settings.league_id.clone();
        let name = format!("{id}.html");
        let stores: Vec<StoreUrl> = self
            .source
            .stores()
            .iter()
            .map(|store| store.store.clone())
            .collect();
        // It holds nothing that only the operator may see.
        let page = CachedPage {
            name: "report".to_owned(),
            access: Access::PUBLIC,
            version: self.report_version(&snapshot, Instant::now()),
        };
        let make = move |dashboard: &Self| {
            let page = report::html_page(&stores, &id).map(Bytes::from);
            page.map_err(|error| PageError::Read(dashboard.source.failed(error)))
        };
        Ok((
            name,
            self.compute_page(page, Cost::Expensive, true, make).await?,
        ))
    }

    /// The version that is given out: the last one, unless the log has changed since, or it is old and messages have come.
    fn report_version(&self, snapshot: &Snapshot, now: Instant) -> Version {
        let mut last = self
            .source
            .readers()
            .report
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = *last
            && made.of_log == snapshot.log_version()
            && now.saturating_duration_since(made.at) < MESSAGES_AGE_MAX
        {
            return made.version;
        }
        let version = (snapshot.version(), 0);
        *last = Some(LastReport {
            of_log: snapshot.log_version(),
            at: now,
            version,
        });
        version
    }
}
