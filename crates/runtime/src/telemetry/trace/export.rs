//! The way of spans to a collector: a bounded queue that drops rather than waits, and a task that sends what is in it. A
//! collector that is down, or takes its time, harms nobody; what it does not get is counted.

use super::super::metrics::{Metrics, SpanOutcome};
use super::otlp;
use super::span::Span;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use matchday_net::client::Client;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

/// Enough for some hundred matches; then spans are dropped.
const QUEUE_LEN: usize = 8 * 1024;
/// How many go in one request, and how long the first of them waits for others.
const BATCH_LEN: usize = 512;
const BATCH_WAIT: Duration = Duration::from_millis(500);
/// How long a collector may take.
const SEND_MAX: Duration = Duration::from_secs(5);
/// How long the end of a process waits for what is still in the queue.
const FLUSH_MAX: Duration = Duration::from_secs(2);
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Copies share the queue.
#[derive(Debug, Clone)]
pub struct Exporter {
    queue: mpsc::Sender<Queued>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
enum Queued {
    Span(Box<Span>),
    /// Everything before this is to be sent now.
    Flush(oneshot::Sender<()>),
}

impl Exporter {
    /// Sends to the collector at `url`, from now on.
    pub fn start(url: &str, client: Client, metrics: Arc<Metrics>) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE_LEN);
        let sending = Sending {
            url: traces(url),
            client,
            metrics: Arc::clone(&metrics),
        };
        tokio::spawn(sending.run(queued));
        Self { queue, metrics }
    }

    pub(super) fn put(&self, span: Span) {
        if self.queue.try_send(Queued::Span(Box::new(span))).is_err() {
            self.metrics.spans_finished(SpanOutcome::Dropped, 1);
        }
    }

    /// Sends what is still waiting, within a moment.
    pub async fn flush(&self) {
        let (tell, told) = oneshot::channel();
        let flushing = async {
            if self.queue.send(Queued::Flush(tell)).await.is_ok() {
                let _ = told.await;
            }
        };
        let _in_time = timeout(FLUSH_MAX, flushing).await;
    }
}

/// Where a collector takes traces.
fn traces(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if url.ends_with("/v1/traces") {
        url.to_owned()
    } else {
        format!("{url}/v1/traces")
    }
}

struct Sending {
    url: String,
    client: Client,
    metrics: Arc<Metrics>,
}

impl Sending {
    async fn run(self, mut queued: mpsc::Receiver<Queued>) {
        while let Some(first) = queued.recv().await {
            let mut batch = Vec::new();
            let mut flushed = None;
            let mut next = Some(first);
            let deadline = Instant::now() + BATCH_WAIT;
            while let Some(one) = next {
                match one {
                    Queued::Span(span) => batch.push(*span),
                    Queued::Flush(tell) => flushed = Some(tell),
                }
                if flushed.is_some() || batch.len() >= BATCH_LEN {
                    break;
                }
                next = timeout_at(deadline, queued.recv()).await.ok().flatten();
            }
            self.send(&batch).await;
            if let Some(tell) = flushed {
                let _ = tell.send(());
            }
        }
    }

    async fn send(&self, batch: &[Span]) {
        if batch.is_empty() {
            return;
        }
        let body = otlp::request(batch).to_string().into();
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let deadline = Instant::now() + SEND_MAX;
        let received = self
            .client
            .post_with(&self.url, headers, body, deadline, ANSWER_BYTES_MAX)
            .await;
        let taken = received.is_ok_and(|received| (200..300).contains(&received.status));
        self.metrics.spans_finished(
            if taken {
                SpanOutcome::Exported
            } else {
                SpanOutcome::Failed
            },
            batch.len(),
        );
    }
}

#[cfg(test)]
impl Exporter {
    /// One that sends nothing: what is put into it is taken out by the other half.
    pub(super) fn caught(len: usize) -> (Self, impl FnMut() -> Vec<Span>) {
        let (queue, mut queued) = mpsc::channel(len);
        let caught = move || {
            let all = std::iter::from_fn(|| queued.try_recv().ok());
            all.filter_map(|one| {
                if let Queued::Span(span) = one {
                    Some(*span)
                } else {
                    None
                }
            })
            .collect()
        };
        (
            Self {
                queue,
                metrics: Metrics::new(),
            },
            caught,
        )
    }

    pub(super) fn dropped(&self) -> u64 {
        self.metrics.spans(SpanOutcome::Dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::traces;

    #[test]
    fn the_address_of_a_collector_may_be_given_with_or_without_its_path() {
        for url in [
            "http://127.0.0.1:4318",
            "http://127.0.0.1:4318/",
            "http://127.0.0.1:4318/v1/traces",
        ] {
            assert_eq!(traces(url), "http://127.0.0.1:4318/v1/traces");
        }
    }
}
