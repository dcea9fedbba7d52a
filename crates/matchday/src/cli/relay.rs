//! The relay of a manager or a service, as the settings say.

use super::serve;
use super::settings::{self, Config};
use crate::relay::{Relay, RelaySettings};
use anyhow::Result;
use matchday_runtime::Options;
use matchday_store::Store;
use std::sync::Arc;

/// How many mailboxes there may be in all and for one address, if there is a relay.
pub(super) fn limits(config: &Config) -> Result<Option<(usize, usize)>> {
    let limits =
        (config.need(&settings::RELAY_MAILBOXES)?, config.need(&settings::RELAY_MAILBOXES_PER_ADDRESS)?);
    Ok(config.need(&settings::RELAY)?.then_some(limits))
}

/// The relay at the address of a manager, if its settings ask for it.
pub(super) fn for_manager(
    config: &Config,
    port: u16,
    store: &Store,
    options: &mut Options,
) -> Result<Option<Arc<Relay>>> {
    let Some((mailboxes_max, per_address_max)) = limits(config)? else { return Ok(None) };
    let contact = serve::contact(config, port)?;
    let base_url =
        contact.raw().strip_suffix("/mcp").unwrap_or(contact.raw()).trim_end_matches('/').to_owned();
    let settings = RelaySettings { base_url, mailboxes_max, per_address_max };
    let relay = Relay::open(settings, store.clone(), options)?;
    relay.mount(options);
    Ok(Some(relay))
}
