//! Tells those who listen that something has changed, as server-sent events; what it is they then ask for. A listener
//! that reads too slowly is told less often, and of all that it has missed at once.

use super::Dashboard;
use super::annals::Snapshot;
use super::answer::{self, dressed};
use super::source::LOOK_EVERY;
use super::topics::{TOPICS, Topic};
use crate::net::answer::with;
use crate::net::server::Answer;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Response, StatusCode};
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{Instant, interval, sleep, sleep_until};

/// How many may listen at once.
pub(super) const LISTENERS_MAX: usize = 64;
/// So that whoever is between us and the listener does not take the silence for the end.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What others write into the store is not announced to us.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// A body that goes on until whoever fills it stops.
struct Stream(mpsc::Receiver<Bytes>);

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// What a listener has been told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Told {
    marks: [u64; TOPICS.len()],
    reckoned: u64,
}

impl Dashboard {
    /// A stream of changes; 503 if too many listen already.
    pub(super) fn listen(self: &Arc<Self>, changes: Option<watch::Receiver<u64>>) -> Answer {
        let Ok(place) = Arc::clone(&self.listeners).try_acquire_owned() else {
            // A page that was closed is missed only when it is spoken to.
            self.roll_calls.send_modify(|calls| *calls += 1);
            let why = format!("{LISTENERS_MAX} pages listen already: close one, or reload from time to time");
            return answer::error(StatusCode::SERVICE_UNAVAILABLE, &why);
        };
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(Arc::clone(self).tell(sender, changes, place));
        let answer = with(Response::new(Stream(receiver).boxed()), CONTENT_TYPE, "text/event-stream");
        dressed(with(answer, CACHE_CONTROL, "no-store"))
    }

    async fn tell(
        self: Arc<Self>,
        to: mpsc::Sender<Bytes>,
        changes: Option<watch::Receiver<u64>>,
        _place: OwnedSemaphorePermit,
    ) {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            () = self.tell_all(&to, changes) => {}
            () = to.closed() => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    }

    async fn tell_all(&self, to: &mpsc::Sender<Bytes>, changes: Option<watch::Receiver<u64>>) {
        let (_never, silent) = watch::channel(0);
        let mut changes = changes.unwrap_or(silent);
        let (mut reckoned, mut roll_calls) = (self.luck.reckoned(), self.roll_calls.subscribe());
        let mut again = interval(LOOK_AGAIN);
        let mut told: Option<Told> = None;
        let mut spoke = Instant::now();
        loop {
            // A store that cannot be read now is told of by whatever is asked for next.
            if let Ok(snapshot) = self.source.look().await {
                let now = Told::of(&snapshot, self.luck.generation());
                if told != Some(now) {
                    if to.send(change(&snapshot, told.as_ref(), &now)).await.is_err() {
                        return;
                    }
                    (told, spoke) = (Some(now), Instant::now());
                }
            }
            let is_beat = tokio::select! {
                Ok(()) = changes.changed() => false,
                Ok(()) = reckoned.changed() => false,
                _ = again.tick() => false,
                Ok(()) = roll_calls.changed() => true,
                () = sleep_until(spoke + HEARTBEAT) => true,
            };
            if is_beat {
                if to.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                    return;
                }
                spoke = Instant::now();
            }
            // What was seen before the change is not shown to anyone any more after this.
            sleep(LOOK_EVERY).await;
        }
    }
}

impl Told {
    fn of(snapshot: &Snapshot, reckoned: u64) -> Self {
        Self { marks: TOPICS.map(|topic| snapshot.mark(topic)), reckoned }
    }
}

/// The event for all that has changed since `before`; for everything, if nothing was told before.
fn change(snapshot: &Snapshot, before: Option<&Told>, now: &Told) -> Bytes {
    let changed = |place: usize, topic: Topic| {
        before.is_none_or(|before| {
            let rated = matches!(topic, Topic::League | Topic::Standings | Topic::Players);
            before.marks.get(place) != now.marks.get(place) || rated && before.reckoned != now.reckoned
        })
    };
    let topics = TOPICS.iter().enumerate().filter(|(place, topic)| changed(*place, **topic));
    let topics: Vec<&str> = topics.map(|(_, topic)| topic.name()).collect();
    let data = json!({ "version": snapshot.version(), "topics": topics });
    format!("event: change\ndata: {data}\n\n").into()
}
