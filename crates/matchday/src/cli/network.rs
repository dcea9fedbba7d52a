//! Limits and egress policy as the settings say: how much an agent takes from its callers, and whom it may call.

use super::serve;
use super::settings::{self, Config};
use crate::seat::is_seat_path;
use crate::service::is_hosted_path;
use anyhow::Result;
use matchday_net::client::{Client, HeadLimits};
use matchday_net::egress::{Egress, EgressPolicy, PinnedDns, Scopes, Target};
use matchday_net::server::ServerOptions;
use matchday_runtime::Options;
use std::net::SocketAddr;

/// The limits on connections and on the heads of requests.
fn server_options(config: &Config) -> Result<ServerOptions> {
    Ok(ServerOptions {
        connections_max: config.need(&settings::CONNECTIONS_MAX)?,
        per_address_max: config.get(&settings::CONNECTIONS_PER_ADDRESS)?,
        head_timeout: config.need(&settings::HEAD_TIMEOUT)?,
        idle_timeout: config.need(&settings::IDLE_TIMEOUT)?,
        write_timeout: config.need(&settings::WRITE_TIMEOUT)?,
        trusted_proxies: config.get(&settings::TRUSTED_PROXIES)?.unwrap_or_default().into(),
        headers_max: config.need(&settings::HEADERS_MAX)?,
        head_bytes_max: config.need(&settings::HEADER_BYTES_MAX)?,
        ..ServerOptions::default()
    })
}

/// Those, and the limits on bodies, on the inbox and on recorded exchanges.
pub(super) fn limit(config: &Config, options: &mut Options) -> Result<()> {
    options.server = server_options(config)?;
    options.body_timeout = config.need(&settings::BODY_TIMEOUT)?;
    options.inbox_len = config.need(&settings::INBOX_MAX)?;
    options.exchanges_bytes_max = config.need(&settings::EXCHANGES_BYTES_MAX)?;
    Ok(())
}

/// How much is read of the heads of answers.
pub(super) fn head_limits(options: &ServerOptions) -> HeadLimits {
    HeadLimits { headers_max: options.headers_max, bytes_max: options.head_bytes_max }
}

/// `client`, calling only the endpoints that it may. Those that the settings name themselves are `familiar`.
pub(super) fn guarded(
    config: &Config,
    client: &Client,
    listening: SocketAddr,
    familiar: &[&str],
) -> Result<Client> {
    let scopes = config.get(&settings::ENDPOINTS)?;
    let listed = config.get(&settings::ALLOW_ENDPOINTS)?.unwrap_or_default();
    if scopes == Some(Scopes::NONE) && listed.is_empty() {
        let why = "nothing is listed - name what may be called with --allow-endpoints";
        return Err(config.wrong(&settings::ENDPOINTS, why));
    }
    // Whoever comes through a proxy or a tunnel must not have this machine call itself.
    let is_reached_from_elsewhere =
        listening.ip().is_loopback() && !serve::is_for_this_machine_alone(config, listening.ip())?;
    let by_default = match is_reached_from_elsewhere {
        true => Scopes::PUBLIC,
        false => Scopes::for_listener(listening.ip()),
    };
    let scopes = scopes.unwrap_or(by_default);
    let advertised = serve::public(config)?.and_then(|url| Target::parse(url.raw()));
    let policy = EgressPolicy {
        scopes,
        allow: listed,
        listen: Some(listening),
        advertised,
        own_path_allowed: Some(|path| is_seat_path(path) || is_hosted_path(path)),
    };
    Ok(client.with_egress(Egress::new(policy, PinnedDns::default(), familiar.iter().copied())))
}
