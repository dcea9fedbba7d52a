//! Limits and egress policy as the settings say: how much an agent takes from its callers, and whom it may call.

use super::daemon;
use super::settings::{self, Config};
use anyhow::Result;
use matchday_net::client::{Client, HeadLimits};
use matchday_net::egress::{Egress, EgressPolicy, PinnedDns, Scopes, Target};
use matchday_net::server::ServerOptions;
use matchday_runtime::Options;
use std::net::SocketAddr;

/// The limits on connections.
fn server_options(config: &Config) -> Result<ServerOptions> {
    Ok(ServerOptions {
        connections_max: config.need(&settings::CONNECTIONS_MAX)?,
        trusted_proxies: config
            .get(&settings::TRUSTED_PROXIES)?
            .unwrap_or_default()
            .into(),
        ..ServerOptions::default()
    })
}

/// Those, and the limit on recorded exchanges.
pub(super) fn limit(config: &Config, options: &mut Options) -> Result<()> {
    options.server = server_options(config)?;
    options.exchanges_bytes_max = config.need(&settings::EXCHANGES_BYTES_MAX)?;
    Ok(())
}

/// How many agents may come from one address, if that is set.
pub(super) fn agents_per_address(config: &Config) -> Result<Option<usize>> {
    let most = config.get(&settings::AGENTS_PER_ADDRESS)?;
    Ok(most.map(|most| if most == 0 { usize::MAX } else { most as usize }))
}

/// How much is read of the heads of answers.
pub(super) fn head_limits(options: &ServerOptions) -> HeadLimits {
    HeadLimits {
        headers_max: options.headers_max,
        bytes_max: options.head_bytes_max,
    }
}

/// `client`, calling only the endpoints that it may.
pub(super) fn guarded(config: &Config, client: &Client, listening: SocketAddr) -> Result<Client> {
    guarded_but(config, client, listening, &[])
}

/// The same, which may also call those that the settings name themselves.
pub(super) fn guarded_but(
    config: &Config,
    client: &Client,
    listening: SocketAddr,
    familiar: &[&str],
) -> Result<Client> {
    let scopes = config.get(&settings::ENDPOINTS)?;
    let listed = config.get(&settings::ALLOW_ENDPOINTS)?.unwrap_or_default();
    if scopes == Some(Scopes::NONE) && listed.is_empty() {
        let why = "no endpoint is listed - list endpoints with --allow-endpoints";
        return Err(config.wrong(&settings::ENDPOINTS, why));
    }
    // Whoever comes through a proxy or a tunnel must not have this machine call itself.
    let is_reached_from_elsewhere =
        listening.ip().is_loopback() && !daemon::is_for_this_machine_alone(config, listening.ip())?;
    let by_default = if is_reached_from_elsewhere {
        Scopes::PUBLIC
    } else {
        Scopes::for_listener(listening.ip())
    };
    let scopes = scopes.unwrap_or(by_default);
    let advertised = daemon::public(config)?.and_then(|url| Target::parse(url.raw()));
    let policy = EgressPolicy {
        scopes,
        allow: listed,
        listen: Some(listening),
        advertised,
    };
    Ok(client.with_egress(Egress::new(
        policy,
        PinnedDns::default(),
        familiar.iter().copied(),
    )))
}
