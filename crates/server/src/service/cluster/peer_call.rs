//! What one service asks of another for itself. Each call is narrow: none records an event of the caller's making.

use crate::league::LeaguePlan;
use crate::service::registry::ServiceEvent;
use crate::service::{Service, ServiceError, lock};
use anyhow::{Result, bail};
use matchday_core::protocol::LeagueId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PeerCall {
    /// There may be leagues to take.
    Look,
    StartLeague {
        league_id: LeagueId,
    },
    /// Whether a league is over, and has told everyone so.
    IsOver {
        league_id: LeagueId,
    },
    DeleteLeague {
        league_id: LeagueId,
    },
    /// The owner of a league has changed its settings: to be recorded by the owner of the service's log.
    RecordConfigured {
        number: u32,
        plan: Box<LeaguePlan>,
    },
    /// The owner of a league has written it to a file.
    RecordArchived {
        number: u32,
        file: String,
    },
    /// The owner of a league removes it.
    RecordDeleted {
        number: u32,
    },
}

impl PeerCall {
    /// The call that has the owner of the service's log record an event. Only what the owner of a league does to it is recorded
    /// by way of another service.
    pub(crate) fn to_record(event: &ServiceEvent) -> Result<Self> {
        Ok(match event.clone() {
            ServiceEvent::LeagueConfigured { number, plan } => {
                Self::RecordConfigured { number, plan }
            }
            ServiceEvent::LeagueArchived { number, file } => Self::RecordArchived { number, file },
            ServiceEvent::LeagueDeleted { number } => Self::RecordDeleted { number },
            ServiceEvent::ServiceTokenSet { .. }
            | ServiceEvent::PublicUrlSet { .. }
            | ServiceEvent::LeagueCreated { .. }
            | ServiceEvent::Season { .. } => {
                bail!("another service has the service's log now: try again")
            }
        })
    }
}

impl Service {
    /// Carries out what another service asks. `Look` is for the cluster, and asks nothing of the service.
    pub(super) async fn carry_out_call(&self, call: PeerCall) -> Result<Value, ServiceError> {
        match call {
            PeerCall::Look => Ok(Value::Null),
            PeerCall::StartLeague { league_id } => {
                self.start_league(&league_id)
                    .await
                    .map_err(ServiceError::Conflict)?;
                Ok(Value::Null)
            }
            PeerCall::IsOver { league_id } => Ok(json!(self.is_over(&league_id).await?)),
            PeerCall::DeleteLeague { league_id } => {
                self.delete(&league_id).await?;
                Ok(Value::Null)
            }
            PeerCall::RecordConfigured { number, plan } => {
                let id = self.known_league(number)?;
                if plan.league.league_id != id {
                    let why = format!("league {number} is {id}: it keeps its id");
                    return Err(ServiceError::Conflict(why));
                }
                self.check_quota(&id, &plan)?;
                self.record_here(ServiceEvent::LeagueConfigured { number, plan })
                    .await
            }
            PeerCall::RecordArchived { number, file } => {
                self.known_league(number)?;
                self.record_here(ServiceEvent::LeagueArchived { number, file })
                    .await
            }
            PeerCall::RecordDeleted { number } => {
                self.known_league(number)?;
                self.record_here(ServiceEvent::LeagueDeleted { number })
                    .await
            }
        }
    }

    fn known_league(&self, number: u32) -> Result<LeagueId, ServiceError> {
        let known = lock(&self.registry)
            .by_number(number)
            .map(|league| league.plan.league.league_id.clone());
        known.ok_or_else(|| {
            ServiceError::Conflict(format!("there is no league with the number {number}"))
        })
    }

    async fn record_here(&self, event: ServiceEvent) -> Result<Value, ServiceError> {
        self.record(&[event]).await?;
        Ok(Value::Null)
    }
}
