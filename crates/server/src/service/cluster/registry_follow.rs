//! Follows the service's log, which the owner of number 0 appends to, so that every service knows every league.

use crate::service::registry::ServiceEvent;
use crate::service::{Service, lock};
use anyhow::{Context, Result};
use matchday_core::event_codec;
use matchday_core::protocol::LeagueId;
use matchday_store::leagues::NO_LEAGUE;
use matchday_store::{Stored, Stream};
use std::time::Instant;

impl Service {
    /// Reads what others have recorded since the last look.
    pub async fn follow_registry(&self) -> Result<()> {
        let asked_at = Instant::now();
        let mut last_look = self.last_registry_look.lock().await;
        // Requests for leagues that nobody knows look together, not each by itself.
        if last_look.is_some_and(|at| at >= asked_at) {
            return Ok(());
        }
        let began = Instant::now();
        let after = lock(&self.registry).applied;
        let store = self.store.in_league(NO_LEAGUE);
        let read = tokio::task::spawn_blocking(move || {
            store.reader()?.load_after(&Stream::service(), after)
        });
        self.apply_stored(
            &read
                .await
                .context("the service's log could not be read")??,
        )?;
        *last_look = Some(began);
        Ok(())
    }

    fn apply_stored(&self, events: &[Stored]) -> Result<()> {
        let mut registry = lock(&self.registry);
        for stored in events {
            // Another look may have been faster.
            if stored.seq == registry.applied + 1 {
                let (at, event) =
                    event_codec::decode::<ServiceEvent>(&stored.line).with_context(|| {
                        format!("event {} of the service cannot be understood", stored.seq)
                    })?;
                registry.apply(at, &event);
            }
        }
        Ok(())
    }

    /// The number of a league; one that is not known may have been created by another service a moment ago.
    pub async fn number_of(&self, id: &LeagueId) -> Result<Option<u32>> {
        let known = |service: &Self| {
            let id = service.league_at(id);
            lock(&service.registry).get(&id).map(|league| league.number)
        };
        if let Some(number) = known(self) {
            return Ok(Some(number));
        }
        self.follow_registry().await?;
        Ok(known(self))
    }

    /// Whether the league with this number is known, now that another service asks for it.
    pub(super) async fn knows(&self, number: u32) -> bool {
        let known = |service: &Self| {
            number == NO_LEAGUE || lock(&service.registry).by_number(number).is_some()
        };
        known(self) || self.follow_registry().await.is_ok() && known(self)
    }
}
