//! What an agent says about the messages it speaks: the documents under `/schema`, and the answer to `rpc.discover`.
//! They are the same for as long as the program runs, and are made when they are first asked for.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use matchday_core::agent::Content;
use matchday_core::protocol::Sender;
use matchday_core::protocol::methods::Party;
use matchday_core::protocol::schema::Library;
use matchday_net::server::HttpResponse;
use std::sync::LazyLock;
use tokio::sync::oneshot;

static LIBRARY: LazyLock<Library> = LazyLock::new(Library::new);

/// The answer to a request for something under `/schema`; `None` if it is for anything else.
pub(super) fn answer<B>(request: &Request<B>) -> Option<HttpResponse> {
    let path = match request.uri().path().strip_prefix("/schema")? {
        "" | "/" => Library::INDEX,
        path => path.strip_prefix('/')?,
    };
    let found = LIBRARY.get(path).map(|document| Bytes::from(format!("{document:#}\n")));
    Some(match found {
        None => plain(StatusCode::NOT_FOUND),
        Some(_) if request.method() != Method::GET => {
            let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED);
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
            refusal
        }
        Some(document) => {
            let mut answer = Response::new(Full::new(document).boxed());
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            answer
        }
    })
}

fn plain(status: StatusCode) -> HttpResponse {
    let mut answer = Response::new(Full::new(Bytes::new()).boxed());
    *answer.status_mut() = status;
    answer
}

/// The reply to `rpc.discover`, on its way like any other though no agent has to think about it.
pub(super) fn discovery(agent: &Sender) -> oneshot::Receiver<Content> {
    let document = LIBRARY.get(&Library::openrpc_path(Party::of(agent))).cloned().unwrap_or_default();
    let (sender, receiver) = oneshot::channel();
    let _ = sender.send(Content::Data(document));
    receiver
}
