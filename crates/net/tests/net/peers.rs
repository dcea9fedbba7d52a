//! Mutual TLS between processes that know each other's certificates, and requests that one forwards to another.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use hyper::header::{CONNECTION, HeaderMap, HeaderValue};
use hyper::{Method, Response, Uri};
use matchday_net::client::Client;
use matchday_net::forward::{ForwardRequest, end_to_end};
use matchday_net::server::{ServerOptions, serve};
use matchday_net::tls::{PeerIdentity, TrustedPeers};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// A body whose pieces come when the test says so.
struct Pieces(mpsc::Receiver<&'static str>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(cx)
            .map(|piece| piece.map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))))
    }
}

/// A server that answers each request with the next of these bodies.
async fn peer(identity: &PeerIdentity, trusted: &TrustedPeers, bodies: Vec<Pieces>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let bodies = Arc::new(Mutex::new(bodies));
    let handler = move |_, _| {
        let body = bodies.lock().unwrap().pop().unwrap();
        async move { Response::new(body) }
    };
    let options = ServerOptions {
        tls: Some(identity.server(trusted).unwrap()),
        ..ServerOptions::from(16)
    };
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        let _until_the_test_ends = stop;
        serve(listener, options, handler, stopped).await;
    });
    url
}

fn request() -> ForwardRequest {
    let headers = HeaderMap::new();
    let body = Bytes::from_static(b"hello");
    ForwardRequest {
        method: Method::POST,
        uri: Uri::from_static("/leagues/spring/mcp"),
        headers,
        body,
    }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn trusting(identities: &[&PeerIdentity]) -> TrustedPeers {
    let trusted = TrustedPeers::default();
    trusted.set(
        identities
            .iter()
            .map(|identity| identity.certificate().to_vec()),
    );
    trusted
}

#[tokio::test]
async fn peers_that_know_each_other_talk_and_a_response_comes_piece_by_piece() {
    let one = PeerIdentity::generate().unwrap();
    let other = PeerIdentity::generate().unwrap();
    let trusted = trusting(&[&one, &other]);
    let (pieces, body) = mpsc::channel(4);
    let url = peer(&one, &trusted, vec![Pieces(body)]).await;
    let client = Client::with_tls(other.client(&trusted).unwrap());
    let mut response = client
        .forward(&url, request(), deadline())
        .await
        .unwrap()
        .into_body();
    for piece in ["first", "second"] {
        pieces.send(piece).await.unwrap();
        let frame = response.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), piece);
    }
    drop(pieces);
    assert!(response.frame().await.is_none());
}

#[tokio::test]
async fn a_stranger_is_refused_on_both_sides() {
    let one = PeerIdentity::generate().unwrap();
    let other = PeerIdentity::generate().unwrap();
    let both = trusting(&[&one, &other]);
    let url = peer(&one, &trusting(&[&one]), Vec::new()).await;
    let unknown_client = Client::with_tls(other.client(&both).unwrap());
    let refused = unknown_client
        .forward(&url, request(), deadline())
        .await
        .unwrap_err();
    assert!(
        !refused.sent,
        "the server does not know the client, and reads nothing: {refused}"
    );
    let url = peer(&one, &both, Vec::new()).await;
    let unknown_server = Client::with_tls(other.client(&trusting(&[&other])).unwrap());
    let refused = unknown_server
        .forward(&url, request(), deadline())
        .await
        .unwrap_err();
    assert!(
        !refused.sent,
        "the client does not know the server, and sends nothing: {refused}"
    );
}

#[tokio::test]
async fn a_certificate_that_is_trusted_no_more_opens_no_new_connection() {
    let one = PeerIdentity::generate().unwrap();
    let other = PeerIdentity::generate().unwrap();
    let trusted = trusting(&[&one, &other]);
    let bodies = vec![Pieces(mpsc::channel(1).1), Pieces(mpsc::channel(1).1)];
    let url = peer(&one, &trusted, bodies).await;
    let client = || Client::with_tls(other.client(&trusting(&[&one])).unwrap());
    assert!(client().forward(&url, request(), deadline()).await.is_ok());
    trusted.set([one.certificate().to_vec()]);
    assert!(client().forward(&url, request(), deadline()).await.is_err());
}

#[test]
fn headers_of_one_connection_are_not_passed_on() {
    let mut headers = HeaderMap::new();
    headers.insert(CONNECTION, HeaderValue::from_static("keep-alive, X-Hop"));
    headers.insert("x-hop", HeaderValue::from_static("1"));
    headers.insert("transfer-encoding", HeaderValue::from_static("chunked"));
    headers.insert("x-end", HeaderValue::from_static("1"));
    let passed = end_to_end(&headers);
    assert_eq!(
        passed.keys().map(|name| name.as_str()).collect::<Vec<_>>(),
        ["x-end"]
    );
}
