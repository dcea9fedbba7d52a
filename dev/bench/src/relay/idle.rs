//! Very many streams to one manager, and nothing happens: memory and CPU time.

use super::RelayPlan;
use super::figures::Idle;
use crate::processes::LeagueProcesses;
use crate::usage::Usage;
use anyhow::Result;
use matchday_net::client::Client;
use matchday_server::connect::{RelayClient, SavedMailbox};
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Nothing is left to do so long after the last request.
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) async fn measure(plan: &RelayPlan, folder: &Path) -> Result<Idle> {
    // As many connections as streams, and some for opening mailboxes: one address may have a quarter of them.
    let mailboxes = plan.streams.to_string();
    let connections = ((plan.streams + 64) * 4).to_string();
    let args = [
        "--relay",
        "on",
        "--relay-mailboxes",
        &mailboxes,
        "--connections-max",
        &connections,
    ];
    let processes = LeagueProcesses::manager(folder, &args).await?;
    let pids = processes.pids()?;
    let before = Usage::of(&pids);
    let client = Client::new();
    let mut streams = JoinSet::new();
    for _ in 0..plan.streams {
        let saved = SavedMailbox::of(
            &processes.manager,
            RelayClient::open(&client, &processes.manager, None).await?,
        )?;
        // Begun before the next, so that as many connect at once as were announced.
        let mut stream = saved
            .relay_client(client.clone())
            .stream(None, false)
            .await?;
        streams.spawn(async move { while let Some(Ok(_)) = stream.next().await {} });
    }
    sleep(SETTLE).await;
    let at_rest = Usage::of(&pids);
    let began = Instant::now();
    sleep(plan.rest).await;
    let after = Usage::of(&pids);
    let took = began.elapsed();
    let open = streams.len() - std::iter::from_fn(|| streams.try_join_next()).count();
    drop(streams);
    processes.stop().await?;
    let cpu = at_rest
        .zip(after)
        .map(|(before, after)| after.cpu.saturating_sub(before.cpu));
    Ok(Idle {
        streams: open,
        before_bytes: before.map(|before| before.rss_bytes),
        memory_bytes: after.map(|after| after.rss_bytes),
        cpu_percent: cpu.map(|cpu| cpu.as_secs_f64() / took.as_secs_f64() * 100.0),
    })
}
