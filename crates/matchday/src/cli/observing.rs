//! Settings about what an operator can see of a running agent: whether its figures are shown, and where its traces go.

use super::config::Config;
use super::settings::{Setting, optional};
use crate::net::client::Client;
use crate::observe::trace::Exporter;
use crate::observe::{Metrics, Observed};
use anyhow::Result;
use matchday_core::protocol::Endpoint;
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) const METRICS: Setting = optional(
    "metrics",
    "on|off",
    "Whether /metrics shows figures for Prometheus [default: on if it listens on this machine alone]",
);
pub(super) const OTLP: Setting = optional(
    "otlp",
    "URL",
    "A collector of OpenTelemetry that traces are sent to, such as http://127.0.0.1:4318",
);

const EXPECTED: &str = "a URL, such as http://127.0.0.1:4318";

/// What the settings say, for an agent that listens there. Traces are sent by `client`, which must be free to call anyone.
pub(super) fn observed(config: &Config, listening: SocketAddr, client: &Client) -> Result<Observed> {
    let metrics_shown = config.switch("metrics")?.unwrap_or_else(|| listening.ip().is_loopback());
    let collector = config.read("otlp", EXPECTED, |text| match text.trim() {
        "" => Some(None),
        url => collector(url).ok().map(Some),
    })?;
    Ok(of(metrics_shown, collector.flatten(), client))
}

/// The same for a command that takes no settings.
pub(super) fn of(metrics_shown: bool, collector: Option<String>, client: &Client) -> Observed {
    let metrics = Metrics::new();
    let traces = collector.map(|url| Exporter::start(&url, client.clone(), Arc::clone(&metrics)));
    Observed { metrics, metrics_shown, traces }
}

pub(super) fn collector(text: &str) -> Result<String, String> {
    Endpoint::parse(text).map(|_| text.to_owned()).map_err(|_| format!("expected {EXPECTED}"))
}

#[cfg(test)]
mod tests {
    use super::super::config::Flags;
    use super::super::config_file::ConfigFile;
    use super::super::settings::ForReferee;
    use super::*;

    fn read(variable: &str, text: &str, listening: &str) -> Result<Observed> {
        let find = |name: &str| (name == variable).then(|| text.to_owned());
        let config = Flags::<ForReferee>::default().resolve_with(&ConfigFile::default(), find)?;
        observed(&config, listening.parse()?, &Client::new())
    }

    #[test]
    fn figures_are_shown_to_this_machine_and_to_others_only_if_asked_for() {
        for (text, listening, shown) in [
            ("", "127.0.0.1:1", true),
            ("", "[::1]:1", true),
            ("", "0.0.0.0:1", false),
            ("", "10.0.0.5:1", false),
            ("on", "0.0.0.0:1", true),
            ("off", "127.0.0.1:1", false),
        ] {
            let observed = read("MATCHDAY_METRICS", text, listening).unwrap();
            assert_eq!(observed.metrics_shown, shown, "{text:?} {listening}");
        }
    }

    #[tokio::test]
    async fn traces_go_only_where_a_setting_says() {
        let traced =
            |text| read("MATCHDAY_OTLP", text, "127.0.0.1:1").map(|observed| observed.traces.is_some());
        assert!(!traced("").unwrap());
        assert!(traced("http://127.0.0.1:4318").unwrap());
        assert!(traced("the collector").is_err());
    }
}
