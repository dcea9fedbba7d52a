//! Where a call goes, read once from its URL and used for every call there.

use super::client::{CallError, Sending};
use super::policy::Target;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Uri};

#[derive(Debug)]
pub(super) struct Address {
    pub(super) target: Target,
    pub(super) secure: bool,
    /// What a connection can be used again for: scheme, host and port.
    pub(super) origin: Box<str>,
    host: HeaderValue,
    path: Uri,
}

impl Address {
    pub(super) fn of(url: &str) -> Result<Self, CallError> {
        let unusable = |_| CallError::Unusable("the endpoint is not a URL we can call");
        let uri: Uri = url.parse().map_err(|_| ()).map_err(unusable)?;
        let secure = uri.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        let authority = uri.authority().ok_or(CallError::Unusable("the endpoint names no host"))?;
        let target =
            Target::of_uri(&uri).ok_or(CallError::Unusable("the endpoint is neither http nor https"))?;
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| ()).map_err(unusable)?;
        let origin = format!("{}{authority}", if secure { "https://" } else { "http://" }).into();
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).parse().unwrap_or_default();
        Ok(Self { target, secure, origin, host, path })
    }

    pub(super) fn request(&self, sending: Sending) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(sending.body));
        *request.method_mut() = sending.method;
        *request.uri_mut() = self.path.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.extend(sending.headers);
        request
    }
}
