//! The raw ceiling: the exchanges of a league, made by our HTTP client with our HTTP server, where each side reads the JSON
//! that it gets once and does nothing else. No league can be faster, unless client and server become so.

use super::mix::Mix;
use super::usage::Usage;
use crate::net::client::Client;
use crate::net::{body, server};
use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response};
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
/// Connections are opened and caches filled before anything counts.
const WARM_UP: Duration = Duration::from_millis(100);

/// What came of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ceiling {
    pub(super) exchanges_per_s: f64,
    pub(super) cpu_us_per_exchange: Option<f64>,
}

/// Makes the exchanges again and again for so long.
pub(super) async fn measure(mix: &Arc<Mix>, time: Duration) -> Result<Ceiling> {
    let (close, closing) = watch::channel(false);
    let mut urls = Vec::new();
    let mut servers = JoinSet::new();
    for _ in 0..mix.addresses {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no free port")?;
        urls.push(format!("http://{}/mcp", listener.local_addr()?));
        let mix = Arc::clone(mix);
        let handler = move |request, _| answer(Arc::clone(&mix), request);
        servers.spawn(server::serve(listener, CONNECTIONS_MAX, handler, closing.clone()));
    }
    let urls: Arc<[String]> = urls.into();
    let client = Client::new();
    drive(mix, &client, &urls, WARM_UP).await?;
    let before = Usage::of_this_process();
    let began = Instant::now();
    let made = drive(mix, &client, &urls, time).await?;
    let took = began.elapsed().as_secs_f64();
    let after = Usage::of_this_process();
    let _ = close.send(true);
    // Whatever connection is still open is let go of with the client.
    drop(client);
    while servers.join_next().await.is_some() {}
    let cpu = before.zip(after).map(|(before, after)| after.cpu.saturating_sub(before.cpu));
    Ok(Ceiling {
        exchanges_per_s: made as f64 / took,
        cpu_us_per_exchange: cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / made.max(1) as f64),
    })
}

/// As many callers as the league has at once, each with one exchange after the other. How many they made.
async fn drive(mix: &Arc<Mix>, client: &Client, urls: &Arc<[String]>, time: Duration) -> Result<usize> {
    let next = Arc::new(AtomicUsize::new(0));
    let until = Instant::now() + time;
    let mut callers = JoinSet::new();
    for _ in 0..mix.at_once {
        let (mix, client, urls, next) =
            (Arc::clone(mix), client.clone(), Arc::clone(urls), Arc::clone(&next));
        callers.spawn(async move {
            let mut made = 0;
            while Instant::now() < until {
                let number = next.fetch_add(1, Ordering::Relaxed);
                call(&mix, &client, &urls, number).await?;
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

async fn call(mix: &Mix, client: &Client, urls: &[String], number: usize) -> Result<()> {
    let gone = || anyhow!("an exchange of the mix is missing");
    let (address, sample) = *mix.order.get(number % mix.order.len().max(1)).ok_or_else(gone)?;
    let (url, sample) = urls.get(address).zip(mix.samples.get(sample)).ok_or_else(gone)?;
    let deadline = Instant::now() + ANSWER_MAX;
    let received = client.call(url, sample.request.clone(), deadline, BODY_BYTES_MAX).await.outcome?;
    let answer: Value = serde_json::from_slice(&received.body).context("the bare server's answer")?;
    std::hint::black_box(answer);
    Ok(())
}

async fn answer(mix: Arc<Mix>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = body::read(&mut request.into_body(), BODY_BYTES_MAX).await.unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = asked.get("id").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let sample = number.and_then(|number| mix.samples.get(number));
    // Without a body the caller finds nothing to read, and says so.
    let answer = sample.map(|sample| sample.answer.clone()).unwrap_or_default();
    let mut response = Response::new(Full::new(answer));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
