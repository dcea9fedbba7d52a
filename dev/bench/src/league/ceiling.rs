//! The raw HTTP ceiling: the exchanges of a league between our HTTP client and server, where each side parses the
//! JSON it receives and does nothing else. An upper bound for the league's throughput.

use super::workload::Workload;
use crate::usage::Usage;
use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response};
use matchday_net::client::Client;
use matchday_net::{body, server};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

const BODY_BYTES_MAX: usize = 1 << 20;
const ANSWER_MAX: Duration = Duration::from_secs(30);
const CONNECTIONS_MAX: usize = 4096;
/// Connections are opened and caches filled before anything is counted.
const WARM_UP: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ceiling {
    pub(crate) exchanges_per_s: f64,
    pub(crate) cpu_us_per_exchange: Option<f64>,
}

pub(crate) async fn measure(workload: &Arc<Workload>, time: Duration) -> Result<Ceiling> {
    let (close, closing) = watch::channel(false);
    let mut urls = Vec::new();
    let mut servers = JoinSet::new();
    for _ in 0..workload.addresses {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("no free port")?;
        urls.push(format!("http://{}/mcp", listener.local_addr()?));
        let workload = Arc::clone(workload);
        let handler = move |request, _| answer(Arc::clone(&workload), request);
        servers.spawn(server::serve(
            listener,
            CONNECTIONS_MAX,
            handler,
            closing.clone(),
        ));
    }
    let urls: Arc<[String]> = urls.into();
    let client = Client::new();
    drive(workload, &client, &urls, WARM_UP).await?;
    let before = Usage::of_this_process();
    let began = Instant::now();
    let made = drive(workload, &client, &urls, time).await?;
    let took = began.elapsed().as_secs_f64();
    let after = Usage::of_this_process();
    let _ = close.send(true);
    // Closes idle connections.
    drop(client);
    while servers.join_next().await.is_some() {}
    let cpu = before
        .zip(after)
        .map(|(before, after)| after.cpu.saturating_sub(before.cpu));
    Ok(Ceiling {
        exchanges_per_s: made as f64 / took,
        cpu_us_per_exchange: cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / made.max(1) as f64),
    })
}

/// Runs as many callers as the league has concurrent exchanges, each sequential. Returns the number of exchanges.
async fn drive(
    workload: &Arc<Workload>,
    client: &Client,
    urls: &Arc<[String]>,
    time: Duration,
) -> Result<usize> {
    let next = Arc::new(AtomicUsize::new(0));
    let until = Instant::now() + time;
    let mut callers = JoinSet::new();
    for _ in 0..workload.at_once {
        let (workload, client, urls, next) = (
            Arc::clone(workload),
            client.clone(),
            Arc::clone(urls),
            Arc::clone(&next),
        );
        callers.spawn(async move {
            let mut made = 0;
            while Instant::now() < until {
                let number = next.fetch_add(1, Ordering::Relaxed);
                call(&workload, &client, &urls, number).await?;
                made += 1;
            }
            anyhow::Ok(made)
        });
    }
    let mut made = 0;
    while let Some(caller) = callers.join_next().await {
        made += caller??;
    }
    Ok(made)
}

async fn call(workload: &Workload, client: &Client, urls: &[String], number: usize) -> Result<()> {
    let gone = || anyhow!("an exchange of the workload is missing");
    let (address, sample) = *workload
        .order
        .get(number % workload.order.len().max(1))
        .ok_or_else(gone)?;
    let (url, sample) = urls
        .get(address)
        .zip(workload.samples.get(sample))
        .ok_or_else(gone)?;
    let deadline = Instant::now() + ANSWER_MAX;
    let received = client
        .call(url, sample.request.clone(), deadline, BODY_BYTES_MAX)
        .await
        .result?;
    let answer: Value =
        serde_json::from_slice(&received.body).context("the bare server's answer")?;
    std::hint::black_box(answer);
    Ok(())
}

async fn answer(workload: Arc<Workload>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = body::read(&mut request.into_body(), BODY_BYTES_MAX)
        .await
        .unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = asked
        .get("id")
        .and_then(Value::as_u64)
        .and_then(|number| usize::try_from(number).ok());
    let sample = number.and_then(|number| workload.samples.get(number));
    // An empty body makes the caller fail to parse it.
    let answer = sample
        .map(|sample| sample.answer.clone())
        .unwrap_or_default();
    let mut response = Response::new(Full::new(answer));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
