//! `GET /api/cluster`: the services that share the store, for the holder of the service token.

use super::Cluster;
use crate::service::api::types::{ClusterProcess, ClusterStatus, ProcessFigures};
use anyhow::Result;
use matchday_store::ownership::Member;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// To the millisecond.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1000.0).round() / 1000.0
}

impl Cluster {
    pub(crate) async fn status(&self) -> Result<ClusterStatus> {
        let members = self.ask(|ownership| ownership.members()).await?;
        let own = self.process();
        let process = |member: Member| ClusterProcess {
            answers: member.process.id == own.id,
            id: member.process.id,
            name: member.process.name,
            url: member.process.url,
            version: member.process.version,
            event_form: member.process.event_form,
            started_at: member.started_at,
            lease_left_s: seconds(member.lease_left),
            leagues: member.leagues,
            weight: member.weight,
            takeovers: member.takeovers,
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Ok(ClusterStatus {
            processes: members.into_iter().map(process).collect(),
            this_process: Some(ProcessFigures {
                id: own.id.clone(),
                forwards: count(&self.metrics.forwards),
                forwards_failed: count(&self.metrics.forwards_failed),
                held_requests: count(&self.metrics.held),
                takeovers: count(&self.metrics.takeovers),
                lost_leagues: count(&self.metrics.fenced),
                clock_offset_us: self.ownership.clock_offset_us(),
                lease_left_s: seconds(self.ownership.lease_left()),
            }),
        })
    }
}
