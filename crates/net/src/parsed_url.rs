//! A URL to call, parsed once and cached for every further call.

use crate::call::{CallError, CallRequest};
use crate::egress::Target;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Uri};

#[derive(Debug)]
pub(crate) struct ParsedUrl {
    pub(crate) target: Target,
    pub(crate) is_https: bool,
    /// The key of pooled connections: scheme, host and port.
    pub(crate) origin: Box<str>,
    host: HeaderValue,
    path: Uri,
}

impl ParsedUrl {
    pub(crate) fn parse(url: &str) -> Result<Self, CallError> {
        const INVALID: CallError = CallError::Unusable("the endpoint is not a URL we can call");
        let uri: Uri = url.parse().map_err(|_| INVALID)?;
        let is_https = uri
            .scheme_str()
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        let authority = uri
            .authority()
            .ok_or(CallError::Unusable("the endpoint names no host"))?;
        let target = Target::from_uri(&uri).ok_or(CallError::Unusable(
            "the endpoint is neither http nor https",
        ))?;
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| INVALID)?;
        let origin = format!(
            "{}{authority}",
            if is_https { "https://" } else { "http://" }
        )
        .into();
        let path = uri
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .parse()
            .unwrap_or_default();
        Ok(Self {
            target,
            is_https,
            origin,
            host,
            path,
        })
    }

    pub(crate) fn request(&self, call: CallRequest) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(call.body));
        *request.method_mut() = call.method;
        *request.uri_mut() = self.path.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.extend(call.headers);
        request
    }
}
