//! Why a page cannot be rendered, and what its reader is told.

use super::access::Access;
use super::response;
use super::source::ReadError;
use hyper::StatusCode;
use matchday_net::server::HttpResponse;

/// Why a page cannot be rendered.
#[derive(Debug, Clone)]
pub(super) enum PageError {
    NotFound(String),
    /// Not yet, or not to this request.
    Withheld(&'static str),
    Read(ReadError),
}

impl From<ReadError> for PageError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl PageError {
    pub(super) fn response(&self, access: Access) -> HttpResponse {
        match self {
            Self::NotFound(why) => response::error(StatusCode::NOT_FOUND, why),
            Self::Withheld(why) => response::error(StatusCode::FORBIDDEN, why),
            Self::Read(error) => {
                let (status, why) = error.describe(access);
                response::error(status, &why)
            }
        }
    }
}
