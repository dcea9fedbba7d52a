//! Whose requests a proxy passes on: by X-Forwarded-For and by the PROXY protocol, from those that are trusted, and from nobody
//! else.

use crate::place::soon;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response};
use matchday_net::client::Client;
use matchday_net::ip_network::IpNetwork;
use matchday_net::server::{self, ServerOptions};
use matchday_net::tls::{ClientTls, ClientTlsFiles, ServerTls, ServerTlsFiles};
use matchday_testkit::certificates::{Authority, Pair};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// A server that tells each caller by which address it goes; to `/wait` only when it is told to.
struct Mirror {
    address: SocketAddr,
    arrived: Arc<Notify>,
    answer: Arc<Notify>,
    _close: watch::Sender<bool>,
}

impl Mirror {
    async fn open(trusted: &[&str], options: ServerOptions) -> Self {
        let trusted: Vec<_> = trusted
            .iter()
            .map(|text| IpNetwork::parse(text).unwrap())
            .collect();
        let options = ServerOptions {
            trusted_proxies: trusted.into(),
            ..options
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let arrived = Arc::new(Notify::new());
        let answer = Arc::new(Notify::new());
        let (close, closing) = watch::channel(false);
        let notes = (Arc::clone(&arrived), Arc::clone(&answer));
        let handler = move |request: Request<Incoming>, peer: SocketAddr| {
            let (arrived, answer) = notes.clone();
            async move {
                if request.uri().path() == "/wait" {
                    arrived.notify_one();
                    answer.notified().await;
                }
                Response::new(Full::new(Bytes::from(peer.to_string())))
            }
        };
        tokio::spawn(async move { server::serve(listener, options, handler, closing).await });
        Self {
            address,
            arrived,
            answer,
            _close: close,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// What comes back for a request with these headers, over a connection that begins with these bytes.
    async fn ask(&self, beginning: &[u8], headers: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(beginning).await.unwrap();
        ask(&mut stream, "/", headers).await
    }
}

fn request(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

async fn ask(stream: &mut TcpStream, path: &str, headers: &str) -> String {
    // A server that has closed the connection is seen by what it says, or does not.
    let _ = stream.write_all(request(path, headers).as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

const V1: &[u8] = b"PROXY TCP4 203.0.113.9 10.0.0.5 40000 443\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x09\x0a\0\0\x05\x9c\x40\x01\xbb";
const FORWARDED: &str =
    "X-Forwarded-For: 127.0.0.1, 198.51.100.1\r\nX-Forwarded-For: 10.1.1.1, 203.0.113.9\r\n";

#[tokio::test]
async fn a_trusted_proxy_says_for_whom_it_calls_and_nobody_else_does() {
    let trusting = Mirror::open(&["127.0.0.1"], ServerOptions::default()).await;
    for (beginning, headers) in [
        (&b""[..], FORWARDED),
        (V1, ""),
        (V2, ""),
        (V1, "X-Forwarded-For: 10.9.9.9\r\n"),
    ] {
        let said = trusting.ask(beginning, headers).await;
        assert!(said.ends_with("\r\n203.0.113.9:0"), "{said}");
    }
    let said = trusting
        .ask(b"PROXY TCP4 127.0.0.1 127.0.0.1 40000 443\r\n", "")
        .await;
    assert!(
        said.ends_with("\r\n0.0.0.0:0"),
        "nobody behind it is of this machine: {said}"
    );
    let said = trusting.ask(b"", "").await;
    assert!(
        said.contains("\r\n127.0.0.1:") && !said.ends_with(":0"),
        "it calls for itself: {said}"
    );

    for trusted in [&[][..], &["10.0.0.0/8"]] {
        let wary = Mirror::open(trusted, ServerOptions::default()).await;
        let said = wary.ask(b"", FORWARDED).await;
        assert!(
            said.contains("\r\n127.0.0.1:") && !said.ends_with(":0"),
            "{said}"
        );
        for beginning in [V1, V2] {
            let said = wary.ask(beginning, "").await;
            assert!(
                !said.contains("203.0.113.9") && !said.contains(" 200 "),
                "{said}"
            );
        }
    }
}

#[tokio::test]
async fn a_malformed_header_of_a_proxy_closes_the_connection() {
    let mirror = Mirror::open(&["127.0.0.0/8"], ServerOptions::default()).await;
    for beginning in [
        "PROXY TCP4 nonsense\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.5 1 2 3\r\n",
        "PROXY /x HTTP/1.1\r\n",
    ] {
        assert_eq!(
            mirror.ask(beginning.as_bytes(), "").await,
            "",
            "{beginning:?}"
        );
    }
    assert!(mirror.ask(b"", "").await.contains(" 200 "));
}

/// A proxy that passes one connection on, with a header of the PROXY protocol before it.
async fn proxy_before(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = TcpStream::connect(server).await.unwrap();
        far.write_all(V2).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    });
    address
}

#[tokio::test]
async fn with_tls_the_header_comes_before_the_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("league");
    let Pair { cert, key } = authority.issue(folder.path(), "server", &["localhost"]);
    let tls = ServerTls::read(ServerTlsFiles {
        cert,
        key,
        client_ca: None,
    })
    .unwrap();
    let options = ServerOptions {
        tls: Some(tls),
        ..ServerOptions::default()
    };
    let mirror = Mirror::open(&["127.0.0.1"], options).await;
    let files = ClientTlsFiles {
        ca: Some(authority.file(folder.path(), "ca.pem")),
        identity: None,
    };
    let client = Client::with_tls(ClientTls::read(&files).unwrap());
    let url = format!(
        "https://localhost:{}/",
        proxy_before(mirror.address).await.port()
    );
    let answer = client.post(&url, "{}".into(), soon(), 100).await.unwrap();
    assert_eq!(answer.body, "203.0.113.9:0");
}

#[tokio::test]
async fn a_proxys_connections_are_counted_by_its_clients_and_not_by_its_own_address() {
    let options = ServerOptions {
        per_address_max: Some(1),
        ..ServerOptions::default()
    };
    let mirror = Mirror::open(&["127.0.0.1"], options).await;
    let forwarded = |last: u8| format!("X-Forwarded-For: 203.0.113.{last}\r\n");
    let mut waiting = Vec::new();
    for last in [1, 2] {
        let mut stream = mirror.connect().await;
        stream
            .write_all(request("/wait", &forwarded(last)).as_bytes())
            .await
            .unwrap();
        mirror.arrived.notified().await;
        waiting.push(stream);
    }
    let refused = mirror.ask(b"", &forwarded(1)).await;
    assert!(
        refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: 1"),
        "{refused}"
    );
    assert!(mirror.ask(b"", &forwarded(3)).await.contains(" 200 "));
    mirror.answer.notify_waiters();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
    }
    assert!(
        mirror.ask(b"", &forwarded(1)).await.contains(" 200 "),
        "its place was given back"
    );

    let mut held = mirror.connect().await;
    held.write_all(&[V1, request("/wait", "").as_bytes()].concat())
        .await
        .unwrap();
    mirror.arrived.notified().await;
    let refused = mirror.ask(V2, "").await;
    assert!(
        refused.starts_with("HTTP/1.1 503 "),
        "both are of one client: {refused}"
    );
    mirror.answer.notify_waiters();
}
