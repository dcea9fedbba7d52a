//! How soon an agent can be called again after all its connections were cut.

use super::agent;
use super::figures::Reconnect;
use crate::processes::LeagueProcesses;
use crate::quantiles::median;
use anyhow::{Context, Result};
use matchday_server::connect::{Change, Status};
use std::path::Path;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const CONNECT_MAX: Duration = Duration::from_secs(60);

pub(crate) async fn measure(cuts: usize, folder: &Path) -> Result<Reconnect> {
    let processes = LeagueProcesses::manager(folder, &["--relay", "on"]).await?;
    let mut tasks = JoinSet::new();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let cut = watch::Sender::new(0_u64);
    let cable = format!("http://{}/mcp", listener.local_addr()?);
    let to = processes
        .manager
        .trim_start_matches("http://")
        .trim_end_matches("/mcp")
        .to_owned();
    tasks.spawn(forward(listener, to, cut.clone()));
    let (connected, mut connections) = mpsc::unbounded_channel();
    let status = Status::new(move |change, _| {
        if *change == Change::Connected {
            let _ = connected.send(Instant::now());
        }
    });
    agent::dial(&cable, status, &mut tasks).await?;
    let mut next = async || {
        timeout(CONNECT_MAX, connections.recv())
            .await
            .ok()
            .flatten()
            .context("not connected")
    };
    next().await?;
    let mut seconds = Vec::new();
    for _ in 0..cuts {
        let began = Instant::now();
        cut.send_modify(|cuts| *cuts += 1);
        seconds.push(next().await?.duration_since(began).as_secs_f64());
    }
    drop(tasks);
    processes.stop().await?;
    let most_s = seconds.iter().copied().fold(0.0, f64::max);
    Ok(Reconnect {
        cuts,
        median_s: median(seconds).context("nothing was cut")?,
        most_s,
    })
}

/// A cable: what comes to it goes to the manager, until it is cut.
async fn forward(listener: TcpListener, to: String, cut: watch::Sender<u64>) {
    while let Ok((mut near, _)) = listener.accept().await {
        let to = to.clone();
        let mut cut = cut.subscribe();
        tokio::spawn(async move {
            let Ok(mut far) = TcpStream::connect(to).await else {
                return;
            };
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                _ = cut.changed() => {}
            }
        });
    }
}
