//! `/api/leagues`: what it shows of leagues, and what it takes to create them.

use super::types::{
    CreateLeagues, CreatedLeague, CreatedLeagues, ImportLeague, LeagueAddress, LeagueDetails,
    LeagueList, LeagueState, LeagueSummary, Progress, Secrets,
};
use super::{ApiError, admit};
use crate::dashboard::Access;
use crate::league::NewLeague;
use crate::service::registry::Registered;
use crate::service::{Service, ServiceError, lock};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use matchday_core::league::League;
use matchday_core::protocol::{LeagueId, Token};
use matchday_net::bearer::bearer;
use std::sync::Arc;

/// Whether the holder of these headers may see a league.
fn may_see(service: &Service, league: &Registered, headers: &HeaderMap) -> bool {
    league.plan.league.public_reads || is_operator(service, league, headers)
}

/// Whether these headers hold the token of the league's operator, or that of the service.
fn is_operator(service: &Service, league: &Registered, headers: &HeaderMap) -> bool {
    let shown = bearer(headers).map(Token::new);
    let is_of_league = league
        .plan
        .league
        .operator_token
        .zip(shown)
        .is_some_and(|(token, shown)| token.admits(&shown));
    is_of_league || admit(service, headers).is_ok()
}

impl Service {
    /// The leagues that anyone may see.
    pub(in crate::service) fn public_leagues(&self) -> Vec<LeagueId> {
        let registry = lock(&self.registry);
        let public = registry
            .leagues()
            .filter(|(_, league)| league.plan.league.public_reads);
        public.map(|(id, _)| id.clone()).collect()
    }

    /// The leagues that the holder of these headers may see, in alphabetical order.
    pub(in crate::service) fn visible_leagues(&self, headers: &HeaderMap) -> Vec<Registered> {
        let all: Vec<Registered> = lock(&self.registry)
            .leagues()
            .map(|(_, league)| league.clone())
            .collect();
        let mut visible: Vec<Registered> = all
            .into_iter()
            .filter(|league| may_see(self, league, headers))
            .collect();
        visible.sort_by(|one, other| name(one).cmp(name(other)));
        visible
    }
}

fn name(league: &Registered) -> &str {
    league.plan.league.league_id.as_str()
}

fn address(service: &Service, id: &LeagueId) -> LeagueAddress {
    let url = service.settings.host.league_url(id);
    LeagueAddress {
        league_id: id.clone(),
        url: format!("{url}/mcp"),
        page: format!("{url}/"),
    }
}

fn summary(service: &Service, league: &Registered) -> LeagueSummary {
    let settings = &league.plan.league;
    let slot = lock(&service.slots).get(&league.number).cloned();
    let state = if service.owns(league.number) {
        slot.and_then(|slot| slot.try_lock().ok().map(|state| state.shown()))
            .unwrap_or(LeagueState::Asleep)
    } else {
        LeagueState::Elsewhere
    };
    LeagueSummary {
        address: address(service, &settings.league_id),
        game_type: settings.game_type.clone(),
        state,
        created_at: league.created_at,
        exchange_bytes: service.store.in_league(league.number).exchange_bytes(),
    }
}

pub(super) fn list(service: &Service, headers: &HeaderMap) -> LeagueList {
    let leagues = service.visible_leagues(headers);
    LeagueList {
        leagues: leagues
            .iter()
            .map(|league| summary(service, league))
            .collect(),
    }
}

/// From the projection that all readers of the league share: a league that sleeps stays so.
pub(super) async fn show(
    service: &Arc<Service>,
    id: &LeagueId,
    headers: &HeaderMap,
) -> Result<LeagueDetails, ApiError> {
    let not_found = || ServiceError::NotFound(id.clone());
    let league = service
        .registered(id)
        .filter(|league| may_see(service, league, headers))
        .ok_or_else(not_found)?;
    let (progress, fault) = match service.source(league.number).snapshot().await {
        Ok(snapshot) => (Some(progress(&snapshot.projection.league)), None),
        Err(error) => {
            let is_operator = is_operator(service, &league, headers);
            match error.describe(if is_operator {
                Access::OPERATOR
            } else {
                Access::PUBLIC
            }) {
                (StatusCode::SERVICE_UNAVAILABLE, why) => return Err(ApiError::Unavailable(why)),
                (_, why) => (None, Some(why)),
            }
        }
    };
    let summary = summary(service, &league);
    Ok(LeagueDetails {
        summary,
        progress,
        fault,
        settings: league.plan.given,
    })
}

fn progress(league: &League) -> Progress {
    Progress {
        phase: league.phase,
        players: league.players.len(),
        referees: league.referees.len(),
        matches: league.matches.len(),
        matches_decided: league.matches_decided,
        champion: league.champion.clone(),
    }
}

pub(super) async fn create(
    service: &Service,
    request: CreateLeagues,
) -> Result<CreatedLeagues, ApiError> {
    if request.leagues.is_empty() {
        return Err(ApiError::BadRequest(
            "leagues: expected at least one".to_owned(),
        ));
    }
    let made = service.create(request.leagues).await?;
    let leagues = made.into_iter().map(|league| CreatedLeague {
        address: address(service, &league.plan.league.league_id),
        secrets: secrets(service, league),
    });
    Ok(CreatedLeagues {
        leagues: leagues.collect(),
    })
}

pub(super) fn secrets(service: &Service, league: NewLeague) -> Secrets {
    let NewLeague {
        plan,
        operator_token,
        mut join_codes,
        referee_code,
        seat_code,
    } = league;
    let url = service.settings.host.league_url(&plan.league.league_id);
    for row in &mut join_codes {
        row.url = format!("{url}/join/{}/mcp", row.join_code);
    }
    Secrets {
        operator_token,
        referee_code,
        seat_code,
        join_codes,
    }
}

pub(super) async fn import(
    service: &Service,
    request: ImportLeague,
) -> Result<LeagueAddress, ApiError> {
    let id = service
        .import(request.file, request.league_id.map(LeagueId::new))
        .await?;
    Ok(address(service, &id))
}
