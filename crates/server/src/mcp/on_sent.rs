//! Tells a tool when its reply has been written to the connection, so that nothing counts as delivered to a client that has gone.

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Frame, SizeHint};
use hyper::http::request::Parts;
use matchday_net::server::HttpResponse;
use rmcp::model::Extensions;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

type Callback = Box<dyn FnOnce() + Send>;

/// What runs once the response to a request has been written: an extension of the request.
#[derive(Clone, Default)]
pub(super) struct OnSent(Arc<Mutex<Vec<Callback>>>);

impl OnSent {
    fn all(&self) -> MutexGuard<'_, Vec<Callback>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let callbacks = std::mem::take(&mut *self.all());
        callbacks.into_iter().for_each(|callback| callback());
    }

    /// Watches the body of the response.
    pub(super) fn watch(self, response: HttpResponse) -> HttpResponse {
        response.map(|body| {
            SentBody {
                body,
                on_sent: self,
            }
            .boxed()
        })
    }
}

/// Runs `callback` when the reply to the request with these extensions has been written, and never if its client has gone
/// before. Other transports than HTTP end with their client: there it runs at once.
pub fn when_sent(extensions: &Extensions, callback: impl FnOnce() + Send + 'static) {
    match extensions
        .get::<Parts>()
        .and_then(|head| head.extensions.get::<OnSent>())
    {
        Some(on_sent) => on_sent.all().push(Box::new(callback)),
        None => callback(),
    }
}

struct SentBody {
    body: BoxBody<Bytes, Infallible>,
    on_sent: OnSent,
}

impl Body for SentBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.on_sent.run();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for OnSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnSent")
    }
}
