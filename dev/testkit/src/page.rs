//! Asks a process for a page by HTTP, and reads a figure out of its metrics.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What came back.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    pub head: String,
    pub body: String,
}

pub fn get(address: &str, path: &str) -> Page {
    ask(address, "GET", path, "")
}

pub fn ask(address: &str, method: &str, path: &str, body: &str) -> Page {
    try_ask(address, method, path, body).unwrap()
}

/// The same of a process that may not be there.
pub fn try_ask(address: &str, method: &str, path: &str, body: &str) -> io::Result<Page> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Ok(Page {
        status,
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    })
}

/// The value of exactly this series.
pub fn value(page: &str, series: &str) -> f64 {
    let found = page
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    found
        .unwrap_or_else(|| panic!("no {series} in:\n{page}"))
        .parse()
        .unwrap()
}
