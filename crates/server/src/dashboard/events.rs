//! Server-sent events that say which topics have changed; the client then asks for the pages. A slow client gets fewer events,
//! each with all the topics that it has missed.

use super::Dashboard;
use super::projection::Snapshot;
use super::response::{self, with_security_headers};
use super::source::REFRESH_EVERY;
use super::topics::{TOPICS, Topic};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Response, StatusCode};
use matchday_net::address_quota::{AddressPlace, AddressQuota, QuotaReached};
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;
use serde_json::json;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, interval, sleep, sleep_until};

/// How many may listen at once, a quarter of them from one address.
pub(super) fn listeners(viewers_max: usize) -> AddressQuota {
    AddressQuota {
        all_max: viewers_max,
        per_address_max: (viewers_max / 4).max(1),
    }
}
/// Keeps proxies from closing an idle stream.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Other processes write to the store without notice, so it is polled.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// A response body that ends when its sender is dropped.
struct EventBody(mpsc::Receiver<Bytes>);

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The versions that a listener has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Versions {
    marks: [u64; TOPICS.len()],
    statistics: u64,
}

impl Dashboard {
    /// A stream of changes; 503 if too many listen already, in all or from this address.
    pub(super) fn listen(
        self: &Arc<Self>,
        peer: IpAddr,
        changes: Option<watch::Receiver<u64>>,
    ) -> HttpResponse {
        let place = match self.listeners.try_acquire(peer) {
            Ok(place) => place,
            Err(reached) => {
                let (listening, whose) = match reached {
                    QuotaReached::Address(listening) => (listening, " of your address"),
                    QuotaReached::All(listening) => (listening, ""),
                };
                let why = format!(
                    "{listening} pages{whose} listen already: close one, or reload from time to time"
                );
                return response::error(StatusCode::SERVICE_UNAVAILABLE, &why);
            }
        };
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(Arc::clone(self).stream_events(sender, changes, place));
        let answer = with_header(
            Response::new(EventBody(receiver).boxed()),
            CONTENT_TYPE,
            "text/event-stream",
        );
        with_security_headers(with_header(answer, CACHE_CONTROL, "no-store"))
    }

    async fn stream_events(
        self: Arc<Self>,
        to: mpsc::Sender<Bytes>,
        changes: Option<watch::Receiver<u64>>,
        _place: AddressPlace,
    ) {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            () = self.send_changes(&to, changes) => {}
            () = to.closed() => {}
            _ = closing.wait_for(|closing| *closing) => {
                // Tells a page that this end is meant: it need not say how to start a manager that has crashed.
                let _ = to.try_send(Bytes::from_static(b"event: end\ndata: {}\n\n"));
            }
        }
    }

    async fn send_changes(&self, to: &mpsc::Sender<Bytes>, changes: Option<watch::Receiver<u64>>) {
        let (_never, silent) = watch::channel(0);
        let mut changes = changes.unwrap_or(silent);
        let mut statistics = self.statistics.computed();
        let mut poll = interval(POLL_EVERY);
        let mut sent: Option<Versions> = None;
        let mut sent_at = Instant::now();
        loop {
            // A read error shows up in the next request for a page.
            if let Ok(snapshot) = self.source.snapshot().await {
                let now = Versions::of(&snapshot, self.statistics.generation());
                if sent != Some(now) {
                    if to
                        .send(change(&snapshot, sent.as_ref(), &now))
                        .await
                        .is_err()
                    {
                        return;
                    }
                    (sent, sent_at) = (Some(now), Instant::now());
                }
            }
            let is_heartbeat = tokio::select! {
                Ok(()) = changes.changed() => false,
                Ok(()) = statistics.changed() => false,
                _ = poll.tick() => false,
                () = sleep_until(sent_at + HEARTBEAT) => true,
            };
            if is_heartbeat {
                if to
                    .send(Bytes::from_static(b": still here\n\n"))
                    .await
                    .is_err()
                {
                    return;
                }
                sent_at = Instant::now();
            }
            // By then the cached snapshot is older than the change, and is read again.
            sleep(REFRESH_EVERY).await;
        }
    }
}

impl Versions {
    fn of(snapshot: &Snapshot, statistics: u64) -> Self {
        Self {
            marks: TOPICS.map(|topic| snapshot.mark(topic)),
            statistics,
        }
    }
}

/// The event for all topics that have changed since `before`; for every topic, if nothing was sent before.
fn change(snapshot: &Snapshot, before: Option<&Versions>, now: &Versions) -> Bytes {
    let changed = |place: usize, topic: Topic| {
        before.is_none_or(|before| {
            let rated = matches!(topic, Topic::League | Topic::Standings | Topic::Players);
            before.marks.get(place) != now.marks.get(place)
                || rated && before.statistics != now.statistics
        })
    };
    let topics = TOPICS
        .iter()
        .enumerate()
        .filter(|(place, topic)| changed(*place, **topic));
    let topics: Vec<&str> = topics.map(|(_, topic)| topic.name()).collect();
    let data = json!({ "version": snapshot.version(), "topics": topics });
    format!("event: change\ndata: {data}\n\n").into()
}
