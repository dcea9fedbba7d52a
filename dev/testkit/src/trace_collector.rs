//! A collector of traces, as small as may be: takes what is posted to `/v1/traces`, or holds it up for ever.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manners {
    Takes,
    /// Reads, and never answers.
    Hangs,
}

pub struct Collector {
    pub url: String,
    spans: Arc<Mutex<Vec<CollectedSpan>>>,
}

/// A span as it was told.
#[derive(Debug, Clone)]
pub struct CollectedSpan {
    pub service: String,
    pub instance: String,
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub name: String,
    pub kind: i64,
    pub attributes: BTreeMap<String, String>,
    pub status: i64,
}

impl Collector {
    pub fn start(manners: Manners) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&spans);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let taken = Arc::clone(&taken);
                thread::spawn(move || serve(stream, manners, &taken));
            }
        });
        Self { url, spans }
    }

    pub fn spans(&self) -> Vec<CollectedSpan> {
        self.spans.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, manners: Manners, taken: &Mutex<Vec<CollectedSpan>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
        assert!(
            head.to_ascii_lowercase()
                .contains("content-type: application/json"),
            "{head}"
        );
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if manners == Manners::Hangs {
            continue;
        }
        taken
            .lock()
            .unwrap()
            .extend(read(&serde_json::from_slice(&body).unwrap()));
        let answer =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

fn attributes(of: &Value) -> BTreeMap<String, String> {
    let all = of["attributes"].as_array().unwrap().iter();
    all.map(|one| {
        let value = one["value"]["stringValue"]
            .as_str()
            .or(one["value"]["intValue"].as_str());
        (
            one["key"].as_str().unwrap().to_owned(),
            value.unwrap().to_owned(),
        )
    })
    .collect()
}

fn read(request: &Value) -> Vec<CollectedSpan> {
    let mut told = Vec::new();
    for resource in request["resourceSpans"].as_array().unwrap() {
        let of = attributes(&resource["resource"]);
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            let text = |key: &str| span[key].as_str().unwrap().to_owned();
            let nanos = |key: &str| text(key).parse::<u64>().unwrap();
            assert!(
                nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"),
                "{span}"
            );
            told.push(CollectedSpan {
                service: of["service.name"].clone(),
                instance: of["service.instance.id"].clone(),
                trace: text("traceId"),
                id: text("spanId"),
                parent: text("parentSpanId"),
                name: text("name"),
                kind: span["kind"].as_i64().unwrap(),
                attributes: attributes(span),
                status: span["status"]["code"].as_i64().unwrap(),
            });
        }
    }
    told
}
