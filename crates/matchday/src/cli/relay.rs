//! The relay of a manager or a service, as the settings say.

use super::network;
use super::settings::{self, Config};
use anyhow::Result;
use matchday_server::relay::RelayLimits;

/// How many mailboxes may be opened from one address, if the settings do not say.
pub(super) const MAILBOXES_PER_ADDRESS: usize = 64;

/// What the relays of this process may grow to, if there is to be one.
pub(super) fn limits(config: &Config) -> Result<Option<RelayLimits>> {
    let mailboxes_max = config.need(&settings::RELAY_MAILBOXES)?;
    let per_address_max = network::agents_per_address(config)?.unwrap_or(MAILBOXES_PER_ADDRESS);
    let limits = RelayLimits::new(mailboxes_max, per_address_max);
    Ok(config.need(&settings::RELAY)?.then_some(limits))
}
