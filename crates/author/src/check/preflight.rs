//! Preflight: is an agent listening at the URL? If not, one line that explains why.

use super::exchange::{CallOutcome, Exchange, HttpAnswer};
use super::player::rules;
use super::probe::Probe;
use super::raw_http::RawTarget;
use super::report::Findings;
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::dialect::call::write_probe;
use matchday_net::client::CallError;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the head of an answer is waited for before another request is tried.
const LENGTH_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub fn parse_target(url: &str) -> Result<Endpoint, String> {
    Endpoint::parse(url).map_err(|rule| format!("{url:?} is no URL of an agent: {rule}"))
}

/// For an agent that registers before its own server listens.
pub async fn wait_until_listening(url: &str, within: Duration) {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline && connected(url).await.is_err() {
        sleep(POLL_INTERVAL).await;
    }
}

/// Sends one ping, and explains what would keep a league from calling the agent.
pub async fn check_reachable(probe: &Probe) -> Result<Exchange, (Exchange, String)> {
    let url = &probe.url;
    let exchange = probe.ping().await;
    let why = match &exchange.outcome {
        CallOutcome::Answered(_) => None,
        CallOutcome::Failed(CallError::NoConnection(error) | CallError::NoRoute(error)) => {
            Some(match connected(url).await {
                Ok(()) if is_https(url) => format!(
                    "TLS with {url} failed ({error}) - fix its certificate, or serve the agent over http for the check"
                ),
                Ok(()) => format!(
                    "{url} closes the connection instead of answering HTTP ({error}) - is it an agent?"
                ),
                Err(error) => {
                    format!(
                        "nothing listens at {url} ({error}) - start the agent, or check host and port"
                    )
                }
            })
        }
        CallOutcome::Failed(CallError::Closed(error)) => Some(format!(
            "{url} closes the connection instead of answering HTTP ({error}) - is it an agent?"
        )),
        CallOutcome::Failed(CallError::TimedOut) => Some(format!(
            "{url} gave no complete HTTP answer within {} - is it an agent, and does it serve while it waits?",
            super::exchange::format_duration(exchange.took)
        )),
        CallOutcome::Failed(CallError::TooLarge(bytes)) => Some(format!(
            "{url} answers with {bytes} bytes or more, which no league reads - is it an agent?"
        )),
        CallOutcome::Failed(error) => Some(format!("{url} cannot be called: {error}")),
        CallOutcome::Unknown(why) => Some(why.clone()),
    };
    match why {
        None => Ok(exchange),
        Some(why) => Err((exchange, why)),
    }
}

/// Records whether the agent is reachable, and its answers whole. Returns why the check must stop, if not.
pub async fn record_reachable(probe: &Probe, findings: &mut Findings) -> Option<String> {
    if let Some(wrong) = wrong_length(probe).await {
        findings.pass(&rules::REACHABLE, "");
        findings.violated_unseen(&rules::LENGTH, wrong.clone());
        return Some(format!(
            "{} cannot be read: {wrong} - {}",
            probe.url,
            rules::LENGTH.fix
        ));
    }
    match check_reachable(probe).await {
        Ok(_) => {
            findings.pass(&rules::REACHABLE, "");
            findings.pass(&rules::LENGTH, "");
            None
        }
        Err((exchange, why)) => {
            findings.violated(&rules::REACHABLE, why.clone(), &exchange);
            Some(why)
        }
    }
}

/// What is wrong with the length of its answers. Without TLS only, where raw requests can be sent.
async fn wrong_length(probe: &Probe) -> Option<String> {
    let target = RawTarget::of(&probe.url).filter(|target| !target.secure)?;
    target
        .check_length(&write_probe(probe.fresh_id()), LENGTH_TIMEOUT)
        .await
        .ok()?
        .err()
}

/// Explains why a response shows that the URL is not an agent's. For responses to league messages only: agents that
/// do not know `ping` answer it in many ways.
pub fn not_an_agent(url: &str, answered: &HttpAnswer) -> Option<String> {
    let status = answered.status;
    if (300..400).contains(&status) {
        let to = answered
            .location
            .as_deref()
            .unwrap_or("an address that it does not name");
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
    if matches!(status, 404 | 405 | 501)
        && answered
            .json()
            .is_none_or(|json| json.get("jsonrpc").is_none())
    {
        return Some(format!(
            "{url} does not take POST (HTTP {status}) - an agent's address is like http://localhost:8101/mcp: check the path"
        ));
    }
    None
}

/// The address of an agent at the usual path of the same host and port, if the URL has another path.
pub async fn served_at(probe: &Probe) -> Option<String> {
    let origin = probe.url.split('/').take(3).collect::<Vec<_>>().join("/");
    let usual = format!("{origin}/mcp");
    if usual == probe.url {
        return None;
    }
    let ping = probe.ping_at(&usual).await;
    let status = ping.answered()?.status;
    (!matches!(status, 404 | 405)).then_some(usual)
}

/// Whether somebody listens at the URL; if not, why.
pub async fn connected(url: &str) -> Result<(), String> {
    let target = RawTarget::of(url).ok_or("it names no host")?;
    target
        .connect()
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}

fn is_https(url: &str) -> bool {
    url.get(..6)
        .is_some_and(|head| head.eq_ignore_ascii_case("https:"))
}
