//! The bare exchange: the same client and server, the same bytes, and nothing in between. Nothing can be faster here.

use crate::figures::Figures;
use crate::ground::{Ground, free_port};
use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::Incoming;
use matchday_net::server;
use std::net::SocketAddr;
use std::time::Instant;
use tokio::sync::watch;

const WARM_UP: usize = 300;

/// A server that reads what it is sent and answers the same bytes always, for as long as it is kept.
pub(crate) struct Floor {
    address: SocketAddr,
    _close: watch::Sender<bool>,
}

impl Floor {
    pub(crate) async fn answering(answer: Bytes) -> Result<Self> {
        let listener = free_port().await?;
        let address = listener.local_addr()?;
        let (close, closing) = watch::channel(false);
        let handler = move |request: hyper::Request<Incoming>, _| {
            let answer = answer.clone();
            async move {
                let _ = request.into_body().collect().await;
                Response::new(Full::new(answer))
            }
        };
        tokio::spawn(server::serve(listener, 100, handler, closing));
        Ok(Self {
            address,
            _close: close,
        })
    }
}

/// Asks `to` and the floor by turns, so that whatever else the machine does slows down both alike.
pub(crate) async fn beside(
    ground: &Ground,
    to: SocketAddr,
    floor: &Floor,
    question: &Bytes,
    tries: usize,
) -> Result<(Figures, Figures)> {
    let mut taken = Figures::default();
    let mut least = Figures::default();
    for number in 0..WARM_UP + tries {
        for (address, figures) in [(to, &mut taken), (floor.address, &mut least)] {
            let began = Instant::now();
            ground.post(address, question.clone()).await?;
            if number >= WARM_UP {
                figures.add(began.elapsed());
            }
        }
    }
    Ok((taken, least))
}

/// How long the bare exchange of these bytes takes.
pub(crate) async fn bare(
    ground: &Ground,
    question: Bytes,
    answer: Bytes,
    tries: usize,
) -> Result<Figures> {
    let floor = Floor::answering(answer).await?;
    let (_, least) = beside(ground, floor.address, &floor, &question, tries).await?;
    Ok(least)
}
