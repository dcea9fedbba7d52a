//! Settings about the network: whom an agent may call, and how much it takes from whoever calls it. Each is a limit with
//! a safe default; `limits` shows them all in one table.

use super::Usage;
use super::config::Config;
use super::settings::{Setting, optional, setting};
use crate::net::client::{Client, Heads};
use crate::net::names::Names;
use crate::net::policy::{Listed, Policy, Scopes, Target};
use crate::net::server::Terms;
use crate::net::strangers::Strangers;
use crate::shell::Options;
use anyhow::Result;
use std::net::SocketAddr;

pub(super) const ENDPOINTS: Setting = optional(
    "endpoints",
    "KINDS",
    "Which endpoints of agents may be called: loopback, private, public, several with commas, any, or listed for \
     those of --allow-endpoints alone [default: those of the network it listens on]",
);
pub(super) const ALLOW_ENDPOINTS: Setting = optional(
    "allow-endpoints",
    "HOSTS",
    "Further hosts, addresses and networks whose endpoints may be called, as in agent.example:8101,10.0.0.0/8",
);
pub(super) const CONNECTIONS_MAX: Setting =
    setting("connections-max", "N", "4096", "How many connections it takes at once");
pub(super) const CONNECTIONS_PER_ADDRESS: Setting = optional(
    "connections-per-address",
    "N",
    "How many of them may come from one address [default: a quarter of them]",
);
pub(super) const HEADERS_MAX: Setting =
    setting("headers-max", "N", "64", "How many headers a request, or an answer to it, may have");
pub(super) const HEADER_BYTES_MAX: Setting =
    setting("header-bytes-max", "BYTES", "32768", "How long the head of a request or of an answer may be");
pub(super) const HEAD_TIMEOUT: Setting = setting(
    "head-timeout",
    "SECONDS",
    "5",
    "How long the head of a request may take, from its first byte or on a new connection from the start",
);
pub(super) const IDLE_TIMEOUT: Setting =
    setting("idle-timeout", "SECONDS", "60", "How long a connection may be idle between two requests");
pub(super) const BODY_TIMEOUT: Setting =
    setting("body-timeout", "SECONDS", "10", "How long the body of a request may take");
pub(super) const INBOX_MAX: Setting =
    setting("inbox-max", "N", "1024", "How many requests may wait for their reply at once");
pub(super) const MESSAGE_BYTES_MAX: Setting =
    setting("message-bytes-max", "BYTES", "1048576", "The longest request or answer that is read");
pub(super) const EXCHANGES_BYTES_MAX: Setting = setting(
    "exchanges-bytes-max",
    "BYTES",
    "1073741824",
    "Up to which size of the store messages and answers are kept; events always are",
);

/// hyper takes no smaller buffer, and a larger one would let each connection hold a megabyte for its head alone.
const HEADER_BYTES: std::ops::RangeInclusive<usize> = 8192..=1 << 20;

/// What the settings say about what is taken from whoever calls.
pub(super) fn terms(config: &Config) -> Result<Terms> {
    let usual = Terms::default();
    Ok(Terms {
        connections_max: within(config, "connections-max", 1, 1 << 20)?.unwrap_or(usual.connections_max),
        per_address_max: within(config, "connections-per-address", 1, 1 << 20)?,
        head_timeout: config.seconds_above_zero("head-timeout")?.unwrap_or(usual.head_timeout),
        idle_timeout: config.seconds_above_zero("idle-timeout")?.unwrap_or(usual.idle_timeout),
        headers_max: within(config, "headers-max", 8, 1024)?.unwrap_or(usual.headers_max),
        head_bytes_max: within(config, "header-bytes-max", *HEADER_BYTES.start(), *HEADER_BYTES.end())?
            .unwrap_or(usual.head_bytes_max),
        ..usual
    })
}

/// The same, and all that is limited besides.
pub(super) fn limit(config: &Config, options: &mut Options) -> Result<()> {
    options.terms = terms(config)?;
    options.body_timeout = config.seconds_above_zero("body-timeout")?.unwrap_or(options.body_timeout);
    options.inbox_len = within(config, "inbox-max", 1, 1 << 20)?.unwrap_or(options.inbox_len);
    let kept = within(config, "exchanges-bytes-max", 0, usize::MAX)?.map(|bytes| bytes as u64);
    options.exchanges_bytes_max = kept.unwrap_or(options.exchanges_bytes_max);
    Ok(())
}

/// A manager has its own among the rules of its league.
pub(super) fn message_bytes_max(config: &Config) -> Result<Option<usize>> {
    within(config, "message-bytes-max", 1024, 16 << 20)
}

pub(super) fn within(config: &Config, name: &str, least: usize, most: usize) -> Result<Option<usize>> {
    let expected = match most {
        usize::MAX => format!("a whole number from {least}"),
        most => format!("a whole number from {least} to {most}"),
    };
    config.read(name, &expected, |text| {
        text.trim().parse().ok().filter(|number| (least..=most).contains(number))
    })
}

/// How much is read of the heads of answers.
pub(super) fn heads(terms: &Terms) -> Heads {
    Heads { headers_max: terms.headers_max, bytes_max: terms.head_bytes_max }
}

/// `client`, calling only the endpoints that it may. Those that the settings name themselves are `familiar`.
pub(super) fn guarded(
    config: &Config,
    client: &Client,
    listening: SocketAddr,
    familiar: &[&str],
) -> Result<Client> {
    let kinds = "loopback, private, public, several of them with commas, any, or listed";
    let scopes = config.read("endpoints", kinds, Scopes::parse)?;
    let listed = "hosts such as agent.example:8101, 10.0.0.7 or 10.0.0.0/8, with commas between them";
    let listed = config.read("allow-endpoints", listed, |text| {
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        parts.map(Listed::parse).collect::<Option<Vec<_>>>()
    })?;
    let listed = listed.unwrap_or_default();
    if scopes == Some(Scopes::NONE) && listed.is_empty() {
        let why = "--endpoints listed: nothing is listed - name what may be called with --allow-endpoints";
        return Err(Usage(why.to_owned()).into());
    }
    let scopes = scopes.unwrap_or_else(|| Scopes::around(listening.ip()));
    let advertised = config.text("advertise").and_then(Target::of);
    let policy = Policy { scopes, listed, own: Some(listening), advertised };
    Ok(client.guarded(Strangers::new(policy, Names::default(), familiar.iter().copied())))
}
