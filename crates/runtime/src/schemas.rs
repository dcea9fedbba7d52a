//! What an agent says about the messages it speaks: the documents under `/schema`, and the answer to `rpc.discover`.
//! They are the same for as long as the program runs, and are made when they are first asked for.

use crate::inbox::Replied;
use hyper::StatusCode;
use matchday_core::agent::Content;
use matchday_core::protocol::Sender;
use matchday_core::protocol::methods::Party;
use matchday_core::protocol::schema::Library;
use matchday_net::response::{empty, json};
use matchday_net::server::HttpResponse;
use std::sync::LazyLock;
use tokio::sync::oneshot;
use tokio::time::Instant;

static LIBRARY: LazyLock<Library> = LazyLock::new(Library::new);

/// The list of documents.
pub(super) fn index() -> HttpResponse {
    document(Library::INDEX)
}

/// The document of this name.
pub(super) fn document(name: &str) -> HttpResponse {
    match LIBRARY.get(name) {
        Some(document) => json(StatusCode::OK, format!("{document:#}\n").into_bytes()),
        None => empty(StatusCode::NOT_FOUND),
    }
}

/// The reply to `rpc.discover`, on its way like any other though no agent has to think about it.
pub(super) fn discovery(agent: &Sender) -> oneshot::Receiver<Replied> {
    let document = LIBRARY
        .get(&Library::openrpc_path(Party::of(agent)))
        .cloned()
        .unwrap_or_default();
    let (sender, receiver) = oneshot::channel();
    let _ = sender.send(Replied {
        content: Content::Data(document),
        at: Instant::now(),
    });
    receiver
}
