//! Calls to the manager and to registered agents. Any HTTP answer means that an agent can be reached.

use super::stored::RegisteredAgent;
use super::{Finding, Subject};
use hyper::header::DATE;
use matchday_core::protocol::Timestamp;
use matchday_net::client::{CallError, CallResponse, Client};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Each is a line.
const AGENTS_MAX: usize = 200;

pub(super) async fn get(client: &Client, url: &str) -> Result<CallResponse, CallError> {
    client
        .get_with(
            url,
            Vec::new(),
            Instant::now() + ANSWER_TIMEOUT,
            ANSWER_BYTES_MAX,
        )
        .await
}

/// The manager that the agent registers with, and what its clock says.
pub(super) async fn manager(subject: &Subject) -> Option<(Finding, Option<Timestamp>)> {
    let url = subject.manager.as_ref()?;
    let base = url.trim_end_matches("/mcp");
    let base = base.split("/join/").next().unwrap_or(base);
    Some(
        match get(&subject.client, &format!("{base}/health/ready")).await {
            Ok(answer) => {
                let date = answer
                    .headers
                    .get(DATE)
                    .and_then(|date| date.to_str().ok())
                    .and_then(http_date);
                let finding = match answer.status {
                    503 => {
                        let why = format!("{base} answers that it is not ready");
                        Finding::warning("manager", why, "look into the log of the manager")
                    }
                    _ => Finding::ok("manager", format!("{base} answers")),
                };
                (finding, date)
            }
            Err(error) => {
                let advice =
                    "start it, or name it with --manager; behind a firewall, let its port through";
                (
                    Finding::failed(
                        "manager",
                        format!("{base} cannot be reached: {error}"),
                        advice,
                    ),
                    None,
                )
            }
        },
    )
}

/// A line for each agent that cannot be reached, and one for all others.
pub(super) async fn agents(client: &Client, agents: Vec<RegisteredAgent>) -> Vec<Finding> {
    let all = agents.len();
    let mut calls = JoinSet::new();
    for (place, RegisteredAgent { name, endpoint }) in
        agents.into_iter().take(AGENTS_MAX).enumerate()
    {
        let client = client.clone();
        calls.spawn(async move {
            let answer = get(
                &client,
                &format!("{}/health/live", endpoint.raw().trim_end_matches("/mcp")),
            )
            .await;
            (
                place,
                answer.err().map(|error| {
                    format!(
                        "{name} at {} cannot be reached: {error}",
                        endpoint.escaped()
                    )
                }),
            )
        });
    }
    let mut reached = 0_usize;
    let mut missing = Vec::new();
    while let Some(answer) = calls.join_next().await {
        match answer {
            Ok((place, Some(why))) => missing.push((place, why)),
            _ => reached += 1,
        }
    }
    missing.sort();
    let advice = "ask its owner to start it, to let its port through, or to name its address with --advertise";
    let mut findings: Vec<Finding> = missing
        .into_iter()
        .map(|(_, why)| Finding::warning("agents", why, advice))
        .collect();
    if all > AGENTS_MAX {
        findings.push(Finding::ok(
            "agents",
            format!("{} more agents were not called", all - AGENTS_MAX),
        ));
    }
    if reached > 0 {
        findings.push(Finding::ok(
            "agents",
            format!("registered agents that can be reached: {reached}"),
        ));
    }
    findings
}

/// `Mon, 02 Mar 2026 09:00:00 GMT` (RFC 9110).
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day = parts.next()?;
    let month = parts.next()?;
    let year = parts.next()?;
    let time = parts.next()?;
    let month = MONTHS
        .find(month)
        .filter(|place| place % 3 == 0 && month.len() == 3)?
        / 3
        + 1;
    Some(Timestamp::parse(&format!("{year}-{month:02}-{day}T{time}Z"))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_an_answer_is_read() {
        let at = |text: &str| http_date(text).map(|at| at.to_string());
        assert_eq!(
            at("Mon, 02 Mar 2026 09:00:00 GMT").as_deref(),
            Some("2026-03-02T09:00:00Z")
        );
        assert_eq!(
            at("Tue, 31 Dec 2030 23:59:59 GMT").as_deref(),
            Some("2030-12-31T23:59:59Z")
        );
        for none in [
            "",
            "yesterday",
            "Mon, 02 Foo 2026 09:00:00 GMT",
            "Mon, 02 anF 2026 09:00:00 GMT",
        ] {
            assert_eq!(at(none), None, "{none}");
        }
    }
}
