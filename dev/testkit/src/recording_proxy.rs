//! A proxy between agents that passes everything on unchanged and records it.

use crate::address::free_port;
use crate::schemas::{assert_fits, validator};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use matchday_core::protocol::methods::Method;
use matchday_core::protocol::schema;
use matchday_net::client::Client;
use matchday_net::server;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// A request, and its response unless the agent could not be reached.
type Heard = (Value, Option<Value>);

#[derive(Clone)]
pub struct RecordingProxy {
    heard: Arc<Mutex<Vec<Heard>>>,
    closing: watch::Receiver<bool>,
    _close: Arc<watch::Sender<bool>>,
}

impl RecordingProxy {
    pub fn new() -> Self {
        let (close, closing) = watch::channel(false);
        Self {
            heard: Arc::default(),
            closing,
            _close: Arc::new(close),
        }
    }

    /// An address that leads to `agent` through this proxy.
    pub async fn before(&self, agent: SocketAddr) -> SocketAddr {
        let listener = free_port().await;
        let address = listener.local_addr().unwrap();
        let heard = Arc::clone(&self.heard);
        let client = Client::new();
        let handler = move |request: hyper::Request<hyper::body::Incoming>, _| {
            let heard = Arc::clone(&heard);
            let client = client.clone();
            async move {
                let asked = request.into_body().collect().await.unwrap().to_bytes();
                let deadline = Instant::now() + Duration::from_secs(30);
                let url = format!("http://{agent}/mcp");
                let received = client
                    .post(&url, asked.clone(), deadline, 1 << 20)
                    .await
                    .ok();
                let read = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or_default();
                heard
                    .lock()
                    .unwrap()
                    .push((read(&asked), received.as_ref().map(|it| read(&it.body))));
                let (status, body) =
                    received.map_or((502, Bytes::new()), |it| (it.status, it.body));
                let mut response = Response::new(Full::new(body));
                *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap();
                response
            }
        };
        tokio::spawn(server::serve(listener, 100, handler, self.closing.clone()));
        address
    }

    /// Holds every exchange against the schema of its method, and gives back which methods were answered.
    pub fn assert_all_fit(&self) -> BTreeSet<String> {
        let judges: BTreeMap<_, _> = Method::all()
            .map(|method| (method.name, Judge::of(&method)))
            .collect();
        let mut methods = BTreeSet::new();
        for (request, response) in self.heard.lock().unwrap().iter() {
            let method = request["method"]
                .as_str()
                .unwrap_or_else(|| panic!("no method: {request}"));
            assert_fits(&judges[method].request, request);
            if let Some(response) = response {
                assert_fits(&judges[method].response, response);
                methods.insert(method.to_owned());
            }
        }
        methods
    }
}

/// The schemas of one method's request and response.
struct Judge {
    request: jsonschema::Validator,
    response: jsonschema::Validator,
}

impl Judge {
    fn of(method: &Method) -> Self {
        let half = |part: &str| {
            let mut document = schema::exchange(method);
            document.as_object_mut().unwrap().remove("anyOf");
            document["$ref"] = json!(format!("#/$defs/{part}"));
            validator(&document)
        };
        Self {
            request: half("request"),
            response: half("response"),
        }
    }
}
