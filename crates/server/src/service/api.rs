//! `/api/leagues`: creates, lists, shows, changes, archives, deletes and imports leagues. Everything but reading needs the
//! service token; a league that is not open to readers is shown to its operator and to the service's.

use super::plan::{LeagueSpec, NewLeague};
use super::registry::Registered;
use super::{Service, ServiceError, lock};
use crate::dashboard::{Access, RETRY_SECONDS};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderMap, WWW_AUTHENTICATE};
use hyper::{Request, StatusCode};
use matchday_core::league::League;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{LeagueId, Token};
use matchday_net::bearer::bearer;
use matchday_net::body::{self, BodyError};
use matchday_net::response::{empty, json, with_header, with_retry_after};
use matchday_net::server::HttpResponse;
use matchday_runtime::routes::{Matched, ServiceRoute};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::timeout;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateRequest {
    leagues: Vec<LeagueSpec>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigureRequest {
    settings: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportRequest {
    /// A file of the machine that the service runs on.
    file: PathBuf,
    league_id: Option<String>,
}

/// `target` is a row of the table of routes that is about leagues. Its caller has been admitted.
pub(super) async fn answer(
    service: &Arc<Service>,
    target: ServiceRoute,
    matched: &Matched,
    request: Request<Incoming>,
) -> HttpResponse {
    let id = LeagueId::new(matched.value(0));
    let bytes_max = matched.route.body.bytes(0);
    response(match target {
        ServiceRoute::ListLeagues => Ok((StatusCode::OK, list(service, request.headers()))),
        ServiceRoute::ShowLeague => show(service, &id, request.headers()).await,
        ServiceRoute::CreateLeagues => create(service, request, bytes_max).await,
        ServiceRoute::ImportLeague => import(service, request, bytes_max).await,
        ServiceRoute::ConfigureLeague => configure(service, &id, request, bytes_max).await,
        ServiceRoute::DeleteLeague => delete(service, &id).await,
        ServiceRoute::ArchiveLeague => archive(service, &id).await,
        _ => return empty(StatusCode::NOT_FOUND),
    })
}

/// The services that share the store.
pub(super) async fn cluster(service: &Service) -> HttpResponse {
    let status = async {
        match &service.cluster {
            None => Ok((StatusCode::OK, json!({ "processes": [] }))),
            Some(cluster) => Ok((StatusCode::OK, cluster.status().await.map_err(ServiceError::from)?)),
        }
    };
    response(status.await)
}

pub(super) fn response(outcome: Outcome) -> HttpResponse {
    match outcome {
        Ok((status, data)) => {
            with_header(json(status, data.to_string().into_bytes()), CACHE_CONTROL, "no-store")
        }
        Err(error) => error.response(),
    }
}

pub(super) type Outcome = Result<(StatusCode, Value), ApiError>;

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
            Self::TooLarge(bytes_max) => {
                (StatusCode::PAYLOAD_TOO_LARGE, format!("the body may have {bytes_max} bytes at most"))
            }
            Self::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, why.clone()),
            Self::Service(error) => {
                let status = match error {
                    ServiceError::Invalid(_) => StatusCode::BAD_REQUEST,
                    ServiceError::Conflict(_) => StatusCode::CONFLICT,
                    ServiceError::NotFound(_) | ServiceError::NoSeason(_) => StatusCode::NOT_FOUND,
                    ServiceError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
                };
                (status, error.to_string())
            }
        };
        let answer = json(status, json!({ "error": why }).to_string().into_bytes());
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

/// Whether the holder of these headers may see a league.
fn may_see(service: &Service, league: &Registered, headers: &HeaderMap) -> bool {
    league.plan.league.public_reads || is_operator(service, league, headers)
}

/// Whether these headers hold the token of the league's operator, or that of the service.
fn is_operator(service: &Service, league: &Registered, headers: &HeaderMap) -> bool {
    let shown = bearer(headers).map(Token::new);
    let is_of_league =
        league.plan.league.operator_token.zip(shown).is_some_and(|(token, shown)| token.admits(&shown));
    is_of_league || admit(service, headers).is_ok()
}

impl Service {
    /// The leagues that anyone may see.
    pub(super) fn public_leagues(&self) -> Vec<LeagueId> {
        let registry = lock(&self.registry);
        let public = registry.leagues().filter(|(_, league)| league.plan.league.public_reads);
        public.map(|(id, _)| id.clone()).collect()
    }

    /// The leagues that the holder of these headers may see, in alphabetical order.
    pub(super) fn visible_leagues(&self, headers: &HeaderMap) -> Vec<Registered> {
        let all: Vec<Registered> = lock(&self.registry).leagues().map(|(_, league)| league.clone()).collect();
        let mut visible: Vec<Registered> =
            all.into_iter().filter(|league| may_see(self, league, headers)).collect();
        visible.sort_by(|one, other| name(one).cmp(name(other)));
        visible
    }
}

fn name(league: &Registered) -> &str {
    league.plan.league.league_id.as_str()
}

fn brief(service: &Service, league: &Registered) -> Value {
    let settings = &league.plan.league;
    let url = service.settings.host.league_url(&settings.league_id);
    let slot = lock(&service.slots).get(&league.number).cloned();
    let state = match service.owns(league.number) {
        true => slot.and_then(|slot| slot.try_lock().ok().map(|state| state.name())).unwrap_or("asleep"),
        false => "elsewhere",
    };
    json!({
        "league_id": settings.league_id,
        "game_type": settings.game_type,
        "url": format!("{url}/mcp"),
        "page": format!("{url}/"),
        "state": state,
        "created_at": league.created_at,
        "exchange_bytes": service.store.in_league(league.number).exchange_bytes(),
    })
}

fn list(service: &Service, headers: &HeaderMap) -> Value {
    let leagues = service.visible_leagues(headers);
    json!({ "leagues": leagues.iter().map(|league| brief(service, league)).collect::<Vec<_>>() })
}

/// From the projection that all readers of the league share: a league that sleeps stays so.
async fn show(service: &Arc<Service>, id: &LeagueId, headers: &HeaderMap) -> Outcome {
    let not_found = || ServiceError::NotFound(id.clone());
    let league =
        service.registered(id).filter(|league| may_see(service, league, headers)).ok_or_else(not_found)?;
    let course = match service.source(league.number).snapshot().await {
        Ok(snapshot) => course(&snapshot.projection.league),
        Err(error) => {
            let access = match is_operator(service, &league, headers) {
                true => Access::OPERATOR,
                false => Access::PUBLIC,
            };
            match error.describe(access) {
                (StatusCode::SERVICE_UNAVAILABLE, why) => return Err(ApiError::Unavailable(why)),
                (_, why) => json!({ "fault": why }),
            }
        }
    };
    let mut data = brief(service, &league);
    if let (Some(data), Value::Object(course)) = (data.as_object_mut(), course) {
        data.extend(course);
        data.insert("settings".to_owned(), json!(league.plan.given));
    }
    Ok((StatusCode::OK, data))
}

/// How far a league is.
fn course(league: &League) -> Value {
    if !league.created {
        return json!({
            "phase": Phase::Registration, "players": 0, "referees": 0, "matches": 0, "matches_decided": 0,
        });
    }
    json!({
        "phase": league.phase,
        "players": league.players.len(),
        "referees": league.referees.len(),
        "matches": league.matches.len(),
        "matches_decided": league.matches_decided,
        "champion": league.champion,
    })
}

pub(super) async fn read_json<T: DeserializeOwned>(
    service: &Service,
    request: Request<Incoming>,
    bytes_max: usize,
) -> Result<T, ApiError> {
    let mut incoming = request.into_body();
    let reading = body::read(&mut incoming, bytes_max);
    let body: Bytes = match timeout(service.settings.host.options.body_timeout, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(BodyError::TooLarge(_))) => return Err(ApiError::TooLarge(bytes_max)),
        _ => return Err(ApiError::BadRequest("the request did not come whole, or not in time".to_owned())),
    };
    serde_json::from_slice(&body).map_err(|error| {
        ApiError::BadRequest(format!("{error}; GET /api/openapi.json describes the request"))
    })
}

async fn create(service: &Service, request: Request<Incoming>, bytes_max: usize) -> Outcome {
    let CreateRequest { leagues } = read_json(service, request, bytes_max).await?;
    if leagues.is_empty() {
        return Err(ApiError::BadRequest("leagues: expected at least one".to_owned()));
    }
    let made = service.create(leagues).await?;
    let made: Vec<Value> = made.into_iter().map(|league| created(service, league)).collect();
    Ok((StatusCode::CREATED, json!({ "leagues": made })))
}

/// The secrets of a new league, which are not shown again.
pub(super) fn created(service: &Service, league: NewLeague) -> Value {
    let NewLeague { plan, operator_token, mut join_codes, referee_code, seat_code } = league;
    let url = service.settings.host.league_url(&plan.league.league_id);
    for row in &mut join_codes {
        row.url = format!("{url}/join/{}/mcp", row.join_code);
    }
    json!({
        "league_id": plan.league.league_id,
        "url": format!("{url}/mcp"),
        "page": format!("{url}/"),
        "operator_token": operator_token,
        "referee_code": referee_code,
        "seat_code": seat_code,
        "join_codes": join_codes,
    })
}

async fn configure(
    service: &Service,
    id: &LeagueId,
    request: Request<Incoming>,
    bytes_max: usize,
) -> Outcome {
    let ConfigureRequest { settings } = read_json(service, request, bytes_max).await?;
    let seat_code = service.configure(id, settings).await?;
    Ok((StatusCode::OK, json!({ "league_id": id, "seat_code": seat_code })))
}

async fn delete(service: &Service, id: &LeagueId) -> Outcome {
    service.delete(id).await?;
    Ok((StatusCode::OK, json!({ "league_id": id })))
}

async fn archive(service: &Service, id: &LeagueId) -> Outcome {
    let file = service.archive(id).await?;
    Ok((StatusCode::OK, json!({ "league_id": id, "file": file })))
}

async fn import(service: &Service, request: Request<Incoming>, bytes_max: usize) -> Outcome {
    let ImportRequest { file, league_id } = read_json(service, request, bytes_max).await?;
    let id = service.import(file, league_id.map(LeagueId::new)).await?;
    let url = service.settings.host.league_url(&id);
    let data = json!({ "league_id": id, "url": format!("{url}/mcp"), "page": format!("{url}/") });
    Ok((StatusCode::CREATED, data))
}
