//! `/api/seasons`: what it shows of seasons, and what it takes to create them.

use super::leagues::{joining, secrets};
use super::types::{
    CreateSeason, CreatedSeason, LeagueOfSeason, SeasonAddress, SeasonDetails, SeasonList,
    SeasonPlayer, SeasonSummary,
};
use super::{ApiError, admit};
use crate::service::season::{Season, SeasonState};
use crate::service::{Service, ServiceError, lock};
use hyper::header::HeaderMap;
use matchday_core::protocol::LeagueId;
use matchday_stats::season::{KnownBy, career};

/// The seasons that the holder of these headers may see.
fn visible_seasons(service: &Service, headers: &HeaderMap) -> Vec<(LeagueId, Season)> {
    let is_admitted = admit(service, headers).is_ok();
    let registry = lock(&service.registry);
    let seasons = registry
        .seasons()
        .filter(|(_, season)| is_admitted || season.plan.league.league.public_reads);
    seasons
        .map(|(name, season)| (name.clone(), season.clone()))
        .collect()
}

fn find_season(
    service: &Service,
    name: &LeagueId,
    headers: &HeaderMap,
) -> Result<Season, ServiceError> {
    let found = visible_seasons(service, headers)
        .into_iter()
        .find(|(known, _)| known == name);
    found
        .map(|(_, season)| season)
        .ok_or_else(|| ServiceError::NoSeason(name.clone()))
}

fn address(service: &Service, name: &LeagueId) -> SeasonAddress {
    let host = &service.settings.host;
    SeasonAddress {
        name: name.clone(),
        url: format!("{}/mcp", host.league_url(name)),
        page: format!("{}/seasons/{name}", host.public_url),
    }
}

fn summary(service: &Service, name: &LeagueId, season: &Season) -> SeasonSummary {
    let table = season.table();
    SeasonSummary {
        address: address(service, name),
        game_type: season.plan.league.league.game_type.clone(),
        state: season.state,
        schedule: season.plan.schedule.clone(),
        time_zone: season.plan.time_zone.clone(),
        starts_at: season.starts_at,
        skipped: season.skipped.clone(),
        players: table.len(),
        leader: table.first().map(|row| row.player.clone()),
        join: (season.state != SeasonState::Ended)
            .then(|| joining(service, address(service, name).url, &season.plan.league)),
        current_league: season.current().map(|league| league.league_id.clone()),
        is_playing: season.current().is_some() && season.started,
        leagues_played: season.played(),
    }
}

pub(super) fn list(service: &Service, headers: &HeaderMap) -> SeasonList {
    let seasons = visible_seasons(service, headers);
    SeasonList {
        seasons: seasons
            .iter()
            .map(|(name, season)| summary(service, name, season))
            .collect(),
    }
}

pub(super) fn show(
    service: &Service,
    name: &LeagueId,
    headers: &HeaderMap,
) -> Result<SeasonDetails, ServiceError> {
    let season = find_season(service, name, headers)?;
    let leagues = season.leagues.iter().map(|league| LeagueOfSeason {
        league_id: league.league_id.clone(),
        page: format!("{}/", service.settings.host.league_url(&league.league_id)),
        ended: league.results.is_some(),
    });
    Ok(SeasonDetails {
        summary: summary(service, name, &season),
        leagues: leagues.collect(),
        table: season.table().to_vec(),
    })
}

/// What a player of this name has done in a season.
pub(super) fn player(
    service: &Service,
    name: &LeagueId,
    player: &str,
    headers: &HeaderMap,
) -> Result<SeasonPlayer, ServiceError> {
    let season = find_season(service, name, headers)?;
    let table = season.table();
    let place = table.iter().position(|row| row.player == player);
    let found = place.and_then(|place| Some((table.get(place)?.clone(), place + 1)));
    let (row, rank) = found.ok_or_else(|| ServiceError::NoPlayer(player.to_owned()))?;
    Ok(SeasonPlayer {
        career: career(&season.ended(), KnownBy::Name, player),
        row,
        rank,
    })
}

/// A season after a change of it.
pub(super) fn summary_of(
    service: &Service,
    name: &LeagueId,
) -> Result<SeasonSummary, ServiceError> {
    let season = service
        .season(name)
        .ok_or_else(|| ServiceError::NoSeason(name.clone()))?;
    Ok(summary(service, name, &season))
}

pub(super) async fn create(
    service: &Service,
    request: CreateSeason,
) -> Result<CreatedSeason, ApiError> {
    let made = service.create_season(request).await?;
    Ok(CreatedSeason {
        address: address(service, &made.plan.league.league_id),
        secrets: secrets(service, made),
    })
}
