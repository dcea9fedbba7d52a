//! The body of an answer, with what is held until it has been sent.

use crate::ref_counts::RefGuard;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The server's own, or a handler's with the place that its request takes among those of its client.
#[derive(Debug)]
pub(crate) enum AnswerBody<B> {
    Own(Full<Bytes>),
    OfHandler {
        body: B,
        _place: Option<RefGuard<IpAddr>>,
    },
}

impl<B> AnswerBody<B> {
    pub(crate) fn of_handler(body: B, place: Option<RefGuard<IpAddr>>) -> Self {
        Self::OfHandler {
            body,
            _place: place,
        }
    }
}

impl<B> Body for AnswerBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Own(body) => Pin::new(body)
                .poll_frame(cx)
                .map(|frame| frame.map(|frame| frame.map_err(|never| match never {}))),
            Self::OfHandler { body, .. } => Pin::new(body)
                .poll_frame(cx)
                .map(|frame| frame.map(|frame| frame.map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_end_stream(),
            Self::OfHandler { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => body.size_hint(),
            Self::OfHandler { body, .. } => body.size_hint(),
        }
    }
}
