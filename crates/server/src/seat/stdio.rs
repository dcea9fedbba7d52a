//! Seats for a host that starts its servers by command: MCP over standard input and output. The seats' players are still called
//! over HTTP.

use super::Seats;
use super::server::SeatServer;
use super::session::SeatSession;
use rmcp::ServiceExt;
use std::sync::Arc;

/// Serves one client until it closes the standard input.
pub async fn serve_stdio(seats: Arc<Seats>) -> Result<(), String> {
    seats.start_brief().await;
    let server = SeatServer(SeatSession::new(seats));
    let running = server
        .serve(rmcp::transport::stdio())
        .await
        .map_err(|error| error.to_string())?;
    running
        .waiting()
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}
