//! `GET /api/cluster`: the services that share the store, for the holder of the service token.

use super::Cluster;
use anyhow::Result;
use matchday_store::ownership::Member;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn seconds(duration: Duration) -> Value {
    json!((duration.as_secs_f64() * 1000.0).round() / 1000.0)
}

impl Cluster {
    pub async fn status(&self) -> Result<Value> {
        let members = self.ask(|ownership| ownership.members()).await?;
        let own = self.process();
        let member = |member: &Member| {
            json!({
                "id": member.process.id,
                "name": member.process.name,
                "url": member.process.url,
                "version": member.process.version,
                "event_form": member.process.event_form,
                "started_at": member.started_at,
                "lease_left_s": seconds(member.lease_left),
                "leagues": member.leagues,
                "weight": member.weight,
                "takeovers": member.takeovers,
                "answers": member.process.id == own.id,
            })
        };
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        Ok(json!({
            "processes": members.iter().map(member).collect::<Vec<_>>(),
            "this_process": {
                "id": own.id,
                "forwards": count(&self.metrics.forwards),
                "forwards_failed": count(&self.metrics.forwards_failed),
                "held_requests": count(&self.metrics.held),
                "takeovers": count(&self.metrics.takeovers),
                "lost_leagues": count(&self.metrics.fenced),
                "clock_offset_us": self.ownership.clock_offset_us(),
                "lease_left_s": seconds(self.ownership.lease_left()),
            },
        }))
    }
}
