//! Looks for what would keep an agent from working on this machine with its settings. Each finding is one line with what to do.
//! Binds the agent's address for a moment, reads its store and its certificates, calls the manager and registered agents.
//!
//! # Layout
//! - here: findings, and how they are printed; `machine`: clock, disk, limits; `address`: the port and TLS; `stored`: the store and
//!   the agents in it; `reach`: calls to other agents

mod address;
mod machine;
mod reach;
mod stored;

use matchday_core::protocol::Timestamp;
use matchday_net::client::Client;
use matchday_net::tls::ServerTlsFiles;
use matchday_store::StoreUrl;
use matchday_terminal::table;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Ok,
    Warning,
    Failed,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "FAILED",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) severity: Severity,
    pub(crate) finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, finding: impl Into<String>) -> Self {
        Self {
            check,
            severity: Severity::Ok,
            finding: finding.into(),
            advice: None,
        }
    }

    fn warning(check: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            severity: Severity::Warning,
            finding: finding.into(),
            advice: Some(advice.into()),
        }
    }

    fn failed(check: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            severity: Severity::Failed,
            finding: finding.into(),
            advice: Some(advice.into()),
        }
    }
}

/// What is examined: an agent as its settings describe it.
#[derive(Debug)]
pub(crate) struct Subject {
    /// HOST:PORT
    pub(crate) listen: String,
    pub(crate) store: StoreUrl,
    pub(crate) tls: Option<ServerTlsFiles>,
    /// Where the agent says that it is reached, as far as that is known; and whether it was told so.
    pub(crate) own_url: Option<String>,
    pub(crate) is_public: bool,
    /// Whether others reach it through a proxy, which may have a certificate of its own.
    pub(crate) is_behind_proxy: bool,
    /// Files from which secrets are read.
    pub(crate) secret_files: Vec<PathBuf>,
    pub(crate) connections_max: usize,
    /// Of an agent that registers: its manager.
    pub(crate) manager: Option<String>,
    /// Calls the manager, and ourselves.
    pub(crate) client: Client,
    /// Calls the endpoints that registered agents name, as far as the egress policy lets it.
    pub(crate) agent_client: Option<Client>,
    pub(crate) now: Timestamp,
}

pub(crate) async fn examine(subject: &Subject) -> Vec<Finding> {
    let mut findings = vec![version()];
    findings.push(address::port(subject).await);
    findings.push(address::tls(subject));
    findings.extend(address::own_url(subject).await);
    findings.extend(machine::secrets(&subject.secret_files));
    findings.push(machine::limits(subject.connections_max));
    findings.push(machine::disk(&subject.store));
    let (store, agents, newest) = stored::store(&subject.store);
    findings.push(store);
    let manager = reach::manager(subject).await;
    let manager_clock = manager.as_ref().and_then(|(_, date)| *date);
    findings.push(machine::clock(subject.now, newest, manager_clock));
    findings.extend(manager.map(|(finding, _)| finding));
    if let Some(client) = &subject.agent_client {
        let own = subject.own_url.as_ref().map(|url| format!("{url}/"));
        // What is behind our own address runs when we do: referees of the house, and mailboxes of those who dial out.
        let others = agents.into_iter().filter(|agent| {
            !own.as_ref()
                .is_some_and(|own| agent.endpoint.raw().starts_with(own))
        });
        findings.extend(reach::agents(client, others.collect()).await);
    }
    findings
}

fn version() -> Finding {
    let system = std::env::consts::OS;
    let machine = std::env::consts::ARCH;
    Finding::ok(
        "version",
        format!(
            "matchday {} on {system} {machine}",
            env!("CARGO_PKG_VERSION")
        ),
    )
}

/// A line for each finding, and one that sums them up.
pub(crate) fn text(findings: &[Finding]) -> String {
    let row = |finding: &Finding| {
        let advice = finding
            .advice
            .as_ref()
            .map(|advice| format!(" - {advice}"))
            .unwrap_or_default();
        vec![
            finding.severity.name().to_owned(),
            finding.check.to_owned(),
            format!("{}{advice}", finding.finding),
        ]
    };
    let rows = table(&["", "", ""], &findings.iter().map(row).collect::<Vec<_>>());
    let rows = rows.split_once('\n').map_or("", |(_, rows)| rows);
    let count = |severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let sum = match (count(Severity::Failed), count(Severity::Warning)) {
        (0, 0) => "Everything is in order.".to_owned(),
        (0, warnings) => format!("It will work; warnings: {warnings}."),
        (failed, warnings) => {
            format!("It will not work; failed: {failed}, warnings: {warnings}.")
        }
    };
    format!("{rows}\n{sum}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_finding_with_what_to_do() {
        let findings = [
            Finding::ok("port", "127.0.0.1:8000 is free"),
            Finding::warning(
                "limits",
                "1024 files can be open",
                "raise it with `ulimit -n`",
            ),
            Finding::failed("disk", "there is no folder /nowhere", "make it"),
        ];
        insta::assert_snapshot!(text(&findings));
        assert!(text(&findings[..1]).ends_with("Everything is in order."));
        assert!(text(&findings[..2]).ends_with("It will work; warnings: 1."));
    }
}
