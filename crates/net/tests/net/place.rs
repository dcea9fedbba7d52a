//! A server that answers everything alike, and ways to speak to it.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::body::Incoming;
use matchday_net::server::{self, ServerOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// It serves for as long as it is kept.
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<AtomicUsize>,
    _close: watch::Sender<bool>,
}

impl Place {
    pub(crate) async fn open(options: impl Into<ServerOptions>) -> Self {
        Self::at("127.0.0.1:0", options).await
    }

    pub(crate) async fn at(address: &str, options: impl Into<ServerOptions>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let (close, closing) = watch::channel(false);
        let handler = move |_: hyper::Request<Incoming>, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            // Nobody keeps a connection, so that each call has to find its way anew.
            let mut response = Response::new(Full::new(Bytes::from_static(b"{}")));
            response
                .headers_mut()
                .insert("connection", "close".parse().unwrap());
            async move { response }
        };
        let options = options.into();
        tokio::spawn(async move { server::serve(listener, options, handler, closing).await });
        Self {
            address,
            requests,
            _close: close,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// What comes back for these bytes, until the other side ends it.
    pub(crate) async fn say(&self, bytes: impl Into<Vec<u8>>) -> String {
        let address = self.address;
        let bytes = bytes.into();
        let talk = move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(60)))
                .unwrap();
            let _ = stream.write_all(&bytes);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8_lossy(&answer).into_owned()
        };
        tokio::task::spawn_blocking(talk).await.unwrap()
    }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}
