//! Reading a body to its end, but never more of it than allowed.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// With the bytes it has, as far as known.
    #[error("the body has {0} bytes or more")]
    TooLarge(usize),
    #[error("the connection was closed in the middle of the body")]
    Broken,
}

/// The whole body, if it has at most `most` bytes. One that comes in a single piece is not copied.
pub async fn read(body: &mut Incoming, most: usize) -> Result<Bytes, BodyError> {
    if let Some(announced) = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok())
        && announced > most
    {
        return Err(BodyError::TooLarge(announced));
    }
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        let bytes = first.len() + rest.len() + data.len();
        if bytes > most {
            return Err(BodyError::TooLarge(bytes));
        }
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
    }
    if rest.is_empty() {
        return Ok(first);
    }
    Ok([first, rest.freeze()].concat().into())
}

/// Reads on without keeping anything, so that a peer that is still sending gets to see its answer.
pub async fn discard(body: &mut Incoming, most: usize) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > most {
            return;
        }
    }
}
