//! A process that has nothing but the dashboard of a stored league.

use super::Dashboard;
use crate::dashboard::answer;
use crate::net::answer::turned_away;
use crate::net::guard::{Allowed, Guard};
use crate::net::server::{self, Answer, Terms};
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Shows a stored league until `closing` turns true.
pub async fn serve(
    dashboard: Arc<Dashboard>,
    listener: TcpListener,
    allowed: Allowed,
    mut closing: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let guard = Arc::new(Guard::new(listener.local_addr()?, allowed));
    let shown = Arc::clone(&dashboard);
    let handler = move |request, peer| visit(Arc::clone(&shown), Arc::clone(&guard), request, peer);
    let serving = server::serve(listener, Terms::default(), handler, closing.clone());
    let ending = async {
        let _ = closing.wait_for(|&closing| closing).await;
        dashboard.close();
    };
    tokio::join!(serving, ending);
    Ok(())
}

async fn visit(
    dashboard: Arc<Dashboard>,
    guard: Arc<Guard>,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Answer {
    if let Err(stranger) = guard.admit(request.version(), request.uri(), request.headers()) {
        return turned_away(request, &stranger, BODY_TIMEOUT).await;
    }
    if Dashboard::is_its(request.uri()) {
        return dashboard.answer(request, peer, None).await;
    }
    answer::error(StatusCode::NOT_FOUND, "there is nothing here but the dashboard, at /")
}
