//! The API of a service: `/api/leagues`, `/api/seasons`, `/api/cluster`. A league or season that is not open to readers is shown to
//! its operator and to the service's.
//!
//! - `types`: what is sent and answered; `openapi`: its description
//! - `leagues`, `seasons`: what they show and change

mod leagues;
mod openapi;
mod seasons;
pub mod types;

pub(super) use leagues::KnownProgress;
pub(super) use openapi::document;

use super::database_away::{DATABASE_AWAY, is_unreachable};
use super::{Service, ServiceError, lock};
use crate::dashboard::{RETRY_SECONDS, percent_decode};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderMap, WWW_AUTHENTICATE};
use hyper::{Request, StatusCode};
use matchday_core::protocol::{LeagueId, Token};
use matchday_net::bearer::bearer;
use matchday_net::body::{self, BodyError};
use matchday_net::response::{empty, json, with_header, with_retry_after};
use matchday_net::server::HttpResponse;
use matchday_os::host;
use matchday_runtime::routes::{Matched, ServiceRoute};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tokio::time::timeout;
use types::{ClusterStatus, ConfiguredLeague, DeletedLeague, Refusal, StartedLeague};

/// Answers a row of the table of routes that is of the API. Its caller has been admitted.
pub(super) async fn answer(
    service: &Arc<Service>,
    target: ServiceRoute,
    matched: &Matched,
    request: Request<Incoming>,
) -> HttpResponse {
    let answered = call(service, target, matched, request).await;
    answered.unwrap_or_else(|error| error.response())
}

async fn call(
    service: &Arc<Service>,
    target: ServiceRoute,
    matched: &Matched,
    request: Request<Incoming>,
) -> Result<HttpResponse, ApiError> {
    let id = LeagueId::new(matched.value(0));
    let bytes_max = matched.route.body.bytes(0);
    match target {
        ServiceRoute::OpenApi => done(&document()),
        ServiceRoute::Cluster => match &service.cluster {
            None => done(&ClusterStatus::default()),
            Some(cluster) => done(&cluster.status().await.map_err(ServiceError::from)?),
        },
        ServiceRoute::ListLeagues => {
            done(&leagues::list(service, request.uri(), request.headers()).await?)
        }
        ServiceRoute::ShowLeague => done(&leagues::show(service, &id, request.headers()).await?),
        ServiceRoute::CreateLeagues => {
            created(&leagues::create(service, read_json(service, request, bytes_max).await?).await?)
        }
        ServiceRoute::ImportLeague => {
            created(&leagues::import(service, read_json(service, request, bytes_max).await?).await?)
        }
        ServiceRoute::ConfigureLeague => {
            let types::ConfigureLeague { settings } =
                read_json(service, request, bytes_max).await?;
            let seat_code = service.configure(&id, settings).await?;
            done(&ConfiguredLeague {
                league_id: id,
                seat_code,
            })
        }
        ServiceRoute::DeleteLeague => {
            service.delete(&id).await?;
            done(&DeletedLeague { league_id: id })
        }
        ServiceRoute::ArchiveLeague => {
            let file = service.archive(&id).await?.display().to_string();
            done(&types::ArchivedLeague {
                league_id: id,
                file,
                machine: service.cluster.as_ref().and_then(|_| host::name()),
            })
        }
        ServiceRoute::ListSeasons => done(&seasons::list(service, request.headers())),
        ServiceRoute::ShowSeason => done(&seasons::show(service, &id, request.headers())?),
        ServiceRoute::CreateSeason => {
            created(&seasons::create(service, read_json(service, request, bytes_max).await?).await?)
        }
        ServiceRoute::RunSeason => {
            let (league_id, scheduled_at) = service.run_season(&id).await?;
            done(&StartedLeague {
                name: id,
                league_id,
                scheduled_at,
            })
        }
        ServiceRoute::ConfigureSeason => {
            let change = read_json(service, request, bytes_max).await?;
            service.configure_season(&id, change).await?;
            done(&seasons::summary_of(service, &id)?)
        }
        ServiceRoute::PauseSeason => {
            service.pause_season(&id, true).await?;
            done(&seasons::summary_of(service, &id)?)
        }
        ServiceRoute::ResumeSeason => {
            service.pause_season(&id, false).await?;
            done(&seasons::summary_of(service, &id)?)
        }
        ServiceRoute::EndSeason => {
            service.end_season(&id).await?;
            done(&seasons::summary_of(service, &id)?)
        }
        ServiceRoute::SeasonPlayer => {
            let player = percent_decode(matched.value(1));
            done(&seasons::player(service, &id, &player, request.headers())?)
        }
        ServiceRoute::SeasonPage
        | ServiceRoute::LeagueList
        | ServiceRoute::Asset
        | ServiceRoute::Live
        | ServiceRoute::Ready
        | ServiceRoute::Metrics
        | ServiceRoute::LeagueRedirect => Ok(empty(StatusCode::NOT_FOUND)),
    }
}

fn done(data: &impl Serialize) -> Result<HttpResponse, ApiError> {
    answer_with(StatusCode::OK, data)
}

fn created(data: &impl Serialize) -> Result<HttpResponse, ApiError> {
    answer_with(StatusCode::CREATED, data)
}

fn answer_with(status: StatusCode, data: &impl Serialize) -> Result<HttpResponse, ApiError> {
    let data = serde_json::to_vec(data).map_err(|error| ServiceError::Failed(error.into()))?;
    Ok(with_header(json(status, data), CACHE_CONTROL, "no-store"))
}

#[derive(Debug)]
pub(super) enum ApiError {
    Unauthorized,
    BadRequest(String),
    /// How long the body may be.
    TooLarge(usize),
    /// The same request may be made again.
    Unavailable(String),
    Service(ServiceError),
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

impl ApiError {
    pub(super) fn response(&self) -> HttpResponse {
        let (status, why) = match self {
            Self::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "this needs the service token: send it as Authorization: Bearer TOKEN".to_owned(),
            ),
            Self::BadRequest(why) => (StatusCode::BAD_REQUEST, why.clone()),
            Self::TooLarge(bytes_max) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body may have {bytes_max} bytes at most"),
            ),
            Self::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, why.clone()),
            Self::Service(error) => {
                let status = match error {
                    ServiceError::Failed(error) if is_unreachable(error) => {
                        return Self::Unavailable(DATABASE_AWAY.to_owned()).response();
                    }
                    ServiceError::Invalid(_) => StatusCode::BAD_REQUEST,
                    ServiceError::Conflict(_) => StatusCode::CONFLICT,
                    ServiceError::NotFound(_)
                    | ServiceError::NoSeason(_)
                    | ServiceError::NoPlayer(_) => StatusCode::NOT_FOUND,
                    ServiceError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
                };
                (status, error.to_string())
            }
        };
        let answer = json(
            status,
            serde_json::to_vec(&Refusal { error: why }).unwrap_or_default(),
        );
        match status {
            StatusCode::UNAUTHORIZED => with_header(answer, WWW_AUTHENTICATE, "Bearer"),
            StatusCode::SERVICE_UNAVAILABLE => with_retry_after(answer, RETRY_SECONDS),
            _ => answer,
        }
    }
}

pub(super) fn admit(service: &Service, headers: &HeaderMap) -> Result<(), ApiError> {
    let token = lock(&service.registry).service_token;
    let shown = bearer(headers).map(Token::new);
    match (token, shown) {
        (Some(token), Some(shown)) if token.admits(&shown) => Ok(()),
        _ => Err(ApiError::Unauthorized),
    }
}

async fn read_json<T: DeserializeOwned>(
    service: &Service,
    request: Request<Incoming>,
    bytes_max: usize,
) -> Result<T, ApiError> {
    let mut incoming = request.into_body();
    let reading = body::read(&mut incoming, bytes_max);
    let body = match timeout(service.settings.host.options.body_timeout, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(BodyError::TooLarge(_))) => return Err(ApiError::TooLarge(bytes_max)),
        _ => {
            return Err(ApiError::BadRequest(
                "the request did not come whole, or not in time".to_owned(),
            ));
        }
    };
    serde_json::from_slice(&body).map_err(|error| {
        ApiError::BadRequest(format!(
            "{error}; GET /api/openapi.json describes the request"
        ))
    })
}
