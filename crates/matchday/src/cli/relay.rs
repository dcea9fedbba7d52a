//! The relay of a manager or a service, as the settings say.

use super::settings::{self, Config};
use super::{network, serve};
use anyhow::Result;
use matchday_runtime::Options;
use matchday_server::relay::{Relay, RelayLimits, RelaySettings};
use matchday_store::Store;
use std::sync::Arc;

/// How many mailboxes may be opened from one address, if the settings do not say.
pub(super) const MAILBOXES_PER_ADDRESS: usize = 64;

/// What the relays of this process may grow to, if there is to be one.
pub(super) fn limits(config: &Config) -> Result<Option<RelayLimits>> {
    let mailboxes_max = config.need(&settings::RELAY_MAILBOXES)?;
    let per_address_max = network::agents_per_address(config)?.unwrap_or(MAILBOXES_PER_ADDRESS);
    let limits = RelayLimits::new(mailboxes_max, per_address_max);
    Ok(config.need(&settings::RELAY)?.then_some(limits))
}

/// The relay at the address of a manager, if its settings ask for it. `message_bytes_max`: of its league.
pub(super) fn for_manager(
    config: &Config,
    port: u16,
    message_bytes_max: usize,
    store: &Store,
    options: &mut Options,
) -> Result<Option<Arc<Relay>>> {
    let Some(limits) = limits(config)? else { return Ok(None) };
    let contact = serve::contact(config, port)?;
    let base_url =
        contact.raw().strip_suffix("/mcp").unwrap_or(contact.raw()).trim_end_matches('/').to_owned();
    let settings = RelaySettings { base_url, limits, message_bytes_max };
    let relay = Relay::open(settings, store.clone(), options)?;
    relay.mount(options);
    Ok(Some(relay))
}
