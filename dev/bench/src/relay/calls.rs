//! What the relay adds to a call: the same call to the same agent, by turns directly and through the relay.

use super::agent;
use super::figures::Calls;
use crate::processes::LeagueProcesses;
use crate::quantiles::Quantiles;
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use matchday_net::client::Client;
use matchday_server::connect::{Change, Status};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const BODY: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"message_type":"PING","timestamp":"2026-01-01T00:00:00Z"}}"#;
const ANSWER_MAX: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: usize = 1 << 16;
/// Connections are made and pools are filled by then.
const WARM_UP: usize = 50;

pub(crate) async fn measure(calls: usize, folder: &Path) -> Result<Calls> {
    let processes = LeagueProcesses::manager(folder, &["--relay", "on"]).await?;
    let mut tasks = JoinSet::new();
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .context("no free port")?;
    let direct = format!("http://{}/mcp", listener.local_addr()?);
    agent::serve(listener, &mut tasks);
    let (connected, mut is_connected) = watch::channel(false);
    let status = Status::new(move |change, _| {
        connected.send_if_modified(|known| !std::mem::replace(known, *change == Change::Connected));
    });
    let relayed = agent::dial(&processes.manager, status, &mut tasks).await?;
    timeout(ANSWER_MAX, is_connected.wait_for(|connected| *connected))
        .await
        .context("not connected")??;
    let client = Client::new();
    let mut direct_us = Vec::new();
    let mut relayed_us = Vec::new();
    for call in 0..WARM_UP + calls {
        for (url, times) in [(&direct, &mut direct_us), (&relayed, &mut relayed_us)] {
            let began = Instant::now();
            let answer = client
                .post(
                    url,
                    Bytes::from_static(BODY),
                    began + ANSWER_MAX,
                    ANSWER_BYTES_MAX,
                )
                .await?;
            if answer.status != 200 {
                bail!("{url} answers HTTP {}", answer.status);
            }
            if call >= WARM_UP {
                times.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
            }
        }
    }
    drop(tasks);
    processes.stop().await?;
    let quantiles = |times| Quantiles::of(times).context("nothing was measured");
    Ok(Calls {
        direct: quantiles(direct_us)?,
        relayed: quantiles(relayed_us)?,
    })
}
