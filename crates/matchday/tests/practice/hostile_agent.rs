//! An agent that drips its answers ends no practice, and holds none up.

use crate::report::{Practice, run};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

async fn speak(mut stream: TcpStream) {
    let mut heard = vec![0; 1 << 16];
    let bytes = stream.read(&mut heard).await.unwrap_or_default();
    let is_ping = String::from_utf8_lossy(&heard[..bytes]).contains("\"ping\"");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let mut said = match is_ping {
        true => stream.write_all(format!("{head}Content-Length: 2\r\n\r\n{{}}").as_bytes()).await,
        false => stream.write_all(format!("{head}Content-Length: 900000\r\n\r\n").as_bytes()).await,
    };
    while said.is_ok() && !is_ping {
        said = stream.write_all(b" ").await;
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_drips_loses_its_matches_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak(stream));
        }
    });
    let practice = Practice::new();
    let short = ["--against", &url, "--join-timeout", "0.1", "--choice-timeout", "0.1"];
    let playing = run(practice.practice(&short));
    let done = timeout(Duration::from_secs(120), playing).await.expect("the practice goes on");
    assert_eq!(done.code, 1, "{done:?}");
}
