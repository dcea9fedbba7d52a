//! Is there anything to check at this URL? If not, the one line that says why.

use super::exchange::{Answered, Exchange, Outcome};
use super::probe::Probe;
use super::raw::Place;
use crate::net::client::CallError;
use matchday_core::protocol::Endpoint;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A URL that an agent could have. The text says what is wrong with any other.
pub(crate) fn target(url: &str) -> Result<Endpoint, String> {
    Endpoint::parse(url).map_err(|rule| format!("{url:?} is no URL of an agent: {rule}"))
}

/// Waits until someone listens, for an agent that registers before its own server is up.
pub(crate) async fn until_listening(url: &str, within: Duration) {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline && connected(url).await.is_err() {
        sleep(LOOK_EVERY).await;
    }
}

/// Calls once, and tells what keeps a league from talking to what is there.
pub(crate) async fn reach(probe: &Probe) -> Result<Exchange, (Exchange, String)> {
    let url = &probe.url;
    let exchange = probe.ping().await;
    let why = match &exchange.outcome {
        Outcome::Answered(_) => None,
        Outcome::Failed(CallError::NoConnection(error) | CallError::NoRoute(error)) => {
            Some(match connected(url).await {
                Ok(()) if is_https(url) => format!(
                    "no TLS with what listens at {url} ({error}) - mend its certificate, or serve the agent over http for the check"
                ),
                Ok(()) => format!(
                    "what listens at {url} breaks off instead of answering HTTP ({error}) - is it an agent?"
                ),
                Err(error) => {
                    format!("nobody listens at {url} ({error}) - start the agent, or check host and port")
                }
            })
        }
        Outcome::Failed(CallError::Closed(error)) => Some(format!(
            "what listens at {url} breaks off instead of answering HTTP ({error}) - is it an agent?"
        )),
        Outcome::Failed(CallError::TimedOut) => Some(format!(
            "what listens at {url} gave no whole answer to HTTP within {} - is it an agent, and does it serve while it waits?",
            super::exchange::seconds(exchange.took)
        )),
        Outcome::Failed(CallError::TooLarge(bytes)) => {
            Some(format!("{url} answers with {bytes} bytes or more, which no league reads - is it an agent?"))
        }
        Outcome::Failed(error) => Some(format!("{url} cannot be called: {error}")),
        Outcome::Unknown(why) => Some(why.clone()),
    };
    match why {
        None => Ok(exchange),
        Some(why) => Err((exchange, why)),
    }
}

/// Why the answer to a league message shows that no agent is there. To be asked of a message, not of a ping: agents that
/// do not know `ping` answer it in many ways.
pub(crate) fn refusal(url: &str, answered: &Answered) -> Option<String> {
    let status = answered.status;
    if (300..400).contains(&status) {
        let to = answered.location.as_deref().unwrap_or("an address that it does not name");
        return Some(format!(
            "{url} redirects to {to} (HTTP {status}), and leagues follow no redirects - give the address where the agent answers itself"
        ));
    }
    let body = answered.body.trim_ascii_start();
    if body.starts_with(b"<") {
        return Some(format!(
            "{url} answers with a page for people (HTTP {status}), not with JSON - an agent's address is like http://localhost:8101/mcp"
        ));
    }
    if matches!(status, 404 | 405 | 501) && answered.json().is_none_or(|json| json.get("jsonrpc").is_none()) {
        return Some(format!(
            "{url} does not take POST (HTTP {status}) - an agent's address is like http://localhost:8101/mcp: check the path"
        ));
    }
    None
}

async fn connected(url: &str) -> Result<(), String> {
    let place = Place::of(url).ok_or("it names no host")?;
    place.connect().await.map(drop).map_err(|error| error.to_string())
}

fn is_https(url: &str) -> bool {
    url.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("https:"))
}
