//! What hostile agents do on the wire once they have been asked something.

use crate::wire::{pour, response};
use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Trick {
    Silent,
    Drip,
    EndlessBody,
    HugeBody,
    GzipBomb,
    RedirectLoop,
    RedirectToManager,
    ServerError,
    WebPage,
    HalfBody,
    HalfClosed,
    ClosedAtOnce,
    TlsGarbage,
}

static PIECE: [u8; 64 * 1024] = [b' '; 64 * 1024];
const HUNDRED_MB: usize = 100 * 1024 * 1024;
/// Far more than anyone reads; the hostile agent ends even if someone does.
const ENDLESS: usize = 1 << 20;
/// A fatal alert, as a server sends it that expected TLS.
pub(crate) const TLS_ALERT: &[u8] = &[0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a];

impl Trick {
    /// Plays it. False: the connection is to be closed.
    pub(crate) async fn play(
        self,
        stream: &mut TcpStream,
        own: SocketAddr,
        manager: SocketAddr,
    ) -> bool {
        let answer = match self {
            Self::Silent => std::future::pending().await,
            Self::Drip => return drip(stream).await,
            Self::EndlessBody => {
                let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
                let chunk = [b"10000\r\n".as_slice(), &PIECE, b"\r\n"].concat();
                return pour(stream, head, 1).await && pour(stream, &chunk, ENDLESS).await;
            }
            Self::HugeBody => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {HUNDRED_MB}\r\n\r\n");
                return pour(stream, head.as_bytes(), 1).await
                    && pour(stream, &PIECE, HUNDRED_MB / PIECE.len()).await;
            }
            Self::GzipBomb => response("200 OK", "content-encoding: gzip\r\n", &GZIP_BOMB),
            Self::RedirectLoop => redirect("302 Found", own),
            Self::RedirectToManager => redirect("307 Temporary Redirect", manager),
            Self::ServerError => {
                response("500 Internal Server Error", "", b"{\"detail\": \"oops\"}")
            }
            Self::WebPage => response(
                "200 OK",
                "content-type: text/html\r\n",
                b"<!doctype html><title>It works</title>",
            ),
            Self::HalfBody => {
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"jsonrpc\":")
                    .await;
                return false;
            }
            Self::HalfClosed => {
                let _ = stream.shutdown().await;
                // The other direction stays open for as long as the peer wants it.
                let _ = tokio::io::copy(stream, &mut tokio::io::sink()).await;
                return false;
            }
            Self::ClosedAtOnce => return false,
            Self::TlsGarbage => {
                let _ = stream.write_all(TLS_ALERT).await;
                return false;
            }
        };
        stream.write_all(&answer).await.is_ok()
    }
}

/// A byte a second, of an answer that would be a good one.
async fn drip(stream: &mut TcpStream) -> bool {
    for byte in response("200 OK", "", b"{\"status\": \"received\"}") {
        if stream.write_all(&[byte]).await.is_err() {
            return false;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    true
}

fn redirect(status: &str, to: SocketAddr) -> Vec<u8> {
    response(status, &format!("location: http://{to}/mcp\r\n"), b"")
}

/// 4 MB of zeros in 26 KB: a zero, and then again and again the longest repetition that deflate has, which takes 13 bits.
/// Made once, since its making takes longer than anything else that a hostile agent does.
pub(crate) static GZIP_BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    const REPETITIONS: usize = 16_000;
    // The last block, in the fixed code; then the byte 0.
    let code = format!(
        "110{}{}0000000",
        "00110000",
        "1100010100000".repeat(REPETITIONS)
    );
    let packed = code.as_bytes().chunks(8).map(|bits| {
        bits.iter()
            .rev()
            .fold(0, |byte, bit| byte << 1 | u8::from(*bit == b'1'))
    });
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // A program that unpacks it has the zeros long before the checksum, which is wrong.
    header.into_iter().chain(packed).chain([0; 8]).collect()
});
