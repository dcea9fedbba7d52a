//! The HTTP server of a process that shows a stored league.

use super::Dashboard;
use hyper::Request;
use hyper::body::Incoming;
use matchday_net::origin_check::{Allowlist, OriginCheck};
use matchday_net::server::{self, HttpResponse, ServerOptions};
use matchday_runtime::refuse_origin;
use matchday_runtime::routes::{Part, RouteTable};
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
    allowed: Allowlist,
    mut closing: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let origin_check = Arc::new(OriginCheck::new(listener.local_addr()?, allowed));
    let shown = Arc::clone(&dashboard);
    let handler =
        move |request, peer| respond(Arc::clone(&shown), Arc::clone(&origin_check), request, peer);
    let serving = server::serve(listener, ServerOptions::default(), handler, closing.clone());
    let ending = async {
        let _ = closing.wait_for(|&closing| closing).await;
        Dashboard::close(&dashboard);
    };
    tokio::join!(serving, ending);
    Ok(())
}

async fn respond(
    dashboard: Arc<Dashboard>,
    origin_check: Arc<OriginCheck>,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> HttpResponse {
    if let Err(refused) = origin_check.check_request(&request) {
        return refuse_origin(request, &refused, BODY_TIMEOUT).await;
    }
    let located = RouteTable::of_agents().locate(request.method(), request.uri().path(), |part| {
        part == Part::Dashboard
    });
    match located.found() {
        Ok(matched) => dashboard.answer(&matched, request, peer, None).await,
        Err(refusal) => refusal,
    }
}
