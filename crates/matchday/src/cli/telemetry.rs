//! Metrics and traces as the settings say.

use super::daemon;
use super::settings::{self, Config};
use anyhow::Result;
use matchday_net::client::Client;
use matchday_runtime::telemetry::trace::Exporter;
use matchday_runtime::telemetry::{Metrics, Telemetry};
use std::net::IpAddr;
use std::sync::Arc;

/// For an agent that listens at this address. Traces are sent by `client`, which must be free to call any host.
pub(super) fn from_config(
    config: &Config,
    listening: IpAddr,
    client: &Client,
) -> Result<Telemetry> {
    let only_this_machine = daemon::is_for_this_machine_alone(config, listening)?;
    let shown = config.get(&settings::METRICS)?.unwrap_or(only_this_machine);
    let metrics = Metrics::new();
    let collector = config.get(&settings::OTLP)?;
    let traces = collector.map(|url| Exporter::start(&url, client.clone(), Arc::clone(&metrics)));
    Ok(Telemetry::new(metrics, shown, traces))
}

#[cfg(test)]
mod tests {
    use super::super::settings::RefereeFlags;
    use super::*;
    use std::net::SocketAddr;

    fn read(variable: &str, text: &str, listening: &str) -> Result<Telemetry> {
        let config = RefereeFlags::with_variables(&[(variable, text)]);
        from_config(
            &config,
            listening.parse::<SocketAddr>()?.ip(),
            &Client::new(),
        )
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
            let telemetry = read("MATCHDAY_METRICS", text, listening).unwrap();
            assert_eq!(telemetry.metrics_shown, shown, "{text:?} {listening}");
        }
    }

    #[test]
    fn figures_are_not_shown_to_those_who_come_through_a_proxy_on_this_machine() {
        let config = RefereeFlags::with_variables(&[("MATCHDAY_TRUSTED_PROXIES", "127.0.0.1")]);
        let telemetry = from_config(&config, [127, 0, 0, 1].into(), &Client::new()).unwrap();
        assert!(!telemetry.metrics_shown);
    }

    #[tokio::test]
    async fn traces_go_only_where_a_setting_says() {
        let traced = |text| {
            read("MATCHDAY_OTLP", text, "127.0.0.1:1").map(|telemetry| telemetry.traces.is_some())
        };
        assert!(!traced("").unwrap());
        assert!(traced("http://127.0.0.1:4318").unwrap());
        assert!(traced("the collector").is_err());
    }
}
