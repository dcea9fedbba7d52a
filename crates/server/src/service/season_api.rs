//! `/api/seasons`, and the page of a season. Everything but reading needs the service token.

use super::api::{self, ApiError, Outcome, admit, read_json};
use super::list_page::html;
use super::season::Season;
use super::seasons::SeasonSpec;
use super::{Service, ServiceError, lock};
use askama::Template;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode};
use matchday_core::protocol::LeagueId;
use matchday_net::response::empty;
use matchday_net::server::HttpResponse;
use matchday_runtime::routes::{Matched, ServiceRoute};
use matchday_stats::season::{KnownBy, SeasonRow, season_table};
use serde_json::{Value, json};
use std::sync::Arc;

/// `target` is a row of the table of routes that is about seasons. Its caller has been admitted.
pub(super) async fn answer(
    service: &Arc<Service>,
    target: ServiceRoute,
    matched: &Matched,
    request: Request<Incoming>,
) -> HttpResponse {
    let name = LeagueId::new(matched.value(0));
    api::response(match target {
        ServiceRoute::ListSeasons => Ok((StatusCode::OK, list(service, request.headers()))),
        ServiceRoute::ShowSeason => show(service, &name, request.headers()),
        ServiceRoute::CreateSeason => create(service, request, matched.route.body.bytes(0)).await,
        _ => carry_out(service, &name, target).await,
    })
}

/// The seasons that the holder of these headers may see.
pub(super) fn visible(service: &Service, headers: &HeaderMap) -> Vec<(LeagueId, Season)> {
    let is_admitted = admit(service, headers).is_ok();
    let registry = lock(&service.registry);
    let seasons =
        registry.seasons().filter(|(_, season)| is_admitted || season.plan.league.league.public_reads);
    seasons.map(|(name, season)| (name.clone(), season.clone())).collect()
}

fn find(service: &Service, name: &LeagueId, headers: &HeaderMap) -> Result<Season, ServiceError> {
    let found = visible(service, headers).into_iter().find(|(known, _)| known == name);
    found.map(|(_, season)| season).ok_or_else(|| ServiceError::NoSeason(name.clone()))
}

fn brief(service: &Service, name: &LeagueId, season: &Season) -> Value {
    let host = &service.settings.host;
    json!({
        "name": name,
        "game_type": season.plan.league.league.game_type,
        "state": season.state,
        "schedule": season.plan.schedule,
        "time_zone": season.plan.time_zone,
        "starts_at": season.starts_at,
        "skipped": season.skipped,
        "current_league": season.current().map(|league| &league.league_id),
        "leagues_played": season.ended().len(),
        "url": format!("{}/mcp", host.league_url(name)),
        "page": format!("{}/seasons/{name}", host.public_url),
    })
}

fn list(service: &Service, headers: &HeaderMap) -> Value {
    let seasons = visible(service, headers);
    json!({ "seasons": seasons.iter().map(|(name, season)| brief(service, name, season)).collect::<Vec<_>>() })
}

fn show(service: &Service, name: &LeagueId, headers: &HeaderMap) -> Outcome {
    let season = find(service, name, headers)?;
    let mut data = brief(service, name, &season);
    let league = |league: &super::season::SeasonLeague| {
        let url = service.settings.host.league_url(&league.league_id);
        json!({ "league_id": league.league_id, "page": format!("{url}/"), "ended": league.results.is_some() })
    };
    if let Some(data) = data.as_object_mut() {
        data.insert("leagues".to_owned(), season.leagues.iter().map(league).collect());
        data.insert("table".to_owned(), json!(table(&season)));
    }
    Ok((StatusCode::OK, data))
}

fn table(season: &Season) -> Vec<SeasonRow> {
    season_table(&season.ended(), KnownBy::Name)
}

async fn create(service: &Service, request: Request<Incoming>, bytes_max: usize) -> Outcome {
    let spec: SeasonSpec = read_json(service, request, bytes_max).await?;
    let made = service.create_season(spec).await?;
    let mut data = api::created(service, made);
    if let Some(data) = data.as_object_mut()
        && let Some(name) = data.remove("league_id")
    {
        data.insert(
            "page".to_owned(),
            json!(format!(
                "{}/seasons/{}",
                service.settings.host.public_url,
                name.as_str().unwrap_or_default()
            )),
        );
        data.insert("name".to_owned(), name);
    }
    Ok((StatusCode::CREATED, data))
}

async fn carry_out(service: &Arc<Service>, name: &LeagueId, order: ServiceRoute) -> Outcome {
    match order {
        ServiceRoute::RunSeason => {
            let league_id = service.run_season(name).await?;
            return Ok((StatusCode::OK, json!({ "name": name, "league_id": league_id })));
        }
        ServiceRoute::PauseSeason => service.pause_season(name, true).await?,
        ServiceRoute::ResumeSeason => service.pause_season(name, false).await?,
        ServiceRoute::EndSeason => service.end_season(name).await?,
        _ => return Err(ServiceError::NoSeason(name.clone()).into()),
    }
    let season = service.season(name).ok_or_else(|| ApiError::from(ServiceError::NoSeason(name.clone())))?;
    Ok((StatusCode::OK, brief(service, name, &season)))
}

#[derive(Template)]
#[template(path = "season.html")]
struct SeasonPage<'a> {
    name: &'a LeagueId,
    when: String,
    season: &'a Season,
    standings: Vec<SeasonRow>,
}

/// `/seasons/NAME`: the standings of a season and its leagues, without scripts.
pub(super) fn page(service: &Service, name: &LeagueId, headers: &HeaderMap) -> HttpResponse {
    let Ok(season) = find(service, name, headers) else { return empty(StatusCode::NOT_FOUND) };
    let when = match (&season.starts_at, season.started, season.state) {
        (_, _, super::season::SeasonState::Ended) => "The season has ended.".to_owned(),
        (_, true, _) => "A league is being played.".to_owned(),
        (Some(at), ..) => format!("The next league starts at {at}."),
        (None, ..) => "The next league starts when the operator says so.".to_owned(),
    };
    html(&SeasonPage { name, when, season: &season, standings: table(&season) })
}
