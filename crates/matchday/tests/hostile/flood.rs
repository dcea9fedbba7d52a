//! More connections than anyone needs: some that begin a request and never end it, others that come and go.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// How many connections are held open to each address.
pub(crate) const HELD: usize = 100;
const COMING_AND_GOING: usize = 10;

/// Goes on until it is dropped.
pub(crate) async fn flood(addresses: &[SocketAddr]) -> JoinSet<()> {
    let mut waves = JoinSet::new();
    for &address in addresses {
        let mut held = Vec::new();
        for _ in 0..HELD {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream
                .write_all(b"POST /mcp HTTP/1.1\r\nhost: loc")
                .await
                .unwrap();
            held.push(stream);
        }
        waves.spawn(async move {
            loop {
                for _ in 0..COMING_AND_GOING {
                    drop(TcpStream::connect(address).await);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                // A held one that was closed by the peer is still ours.
                held.iter().for_each(|stream| drop(stream.peer_addr()));
            }
        });
    }
    waves
}
