//! Reading HTTP bodies with a limit on their size.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// With its size, as far as known.
    #[error("the body has {0} bytes or more")]
    TooLarge(usize),
    #[error("the connection was closed in the middle of the body")]
    Broken,
}

/// The whole body, if it has at most `bytes_max`. A body in a single frame is not copied.
pub async fn read(body: &mut Incoming, bytes_max: usize) -> Result<Bytes, BodyError> {
    if let Some(announced) = body
        .size_hint()
        .exact()
        .and_then(|bytes| usize::try_from(bytes).ok())
        && announced > bytes_max
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
        if bytes > bytes_max {
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

/// Reads and drops up to `bytes_max`: a peer that is still sending would get a reset instead of its response.
pub async fn discard(body: &mut Incoming, bytes_max: usize) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > bytes_max {
            return;
        }
    }
}
