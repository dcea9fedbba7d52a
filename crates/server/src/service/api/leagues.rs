//! `/api/leagues`: what it shows of leagues, and what it takes to create them.

use super::types::{
    CreateLeagues, CreatedLeague, CreatedLeagues, ImportLeague, Joining, Leader, LeagueAddress,
    LeagueDetails, LeagueList, LeagueState, LeagueSummary, ListedLeague, Progress, Secrets,
};
use super::{ApiError, admit};
use crate::dashboard::{Access, Query};
use crate::league::{LeaguePlan, NewLeague};
use crate::service::registry::Registered;
use crate::service::{Service, ServiceError, lock};
use hyper::header::HeaderMap;
use hyper::{StatusCode, Uri};
use matchday_audit::league_view::PlayerName;
use matchday_core::league::{Format, League};
use matchday_core::protocol::messages::{AgentRole, Phase};
use matchday_core::protocol::{LeagueId, PlayerId, Timestamp, Token};
use matchday_net::bearer::bearer;
use std::sync::Arc;

/// Whether the holder of these headers may see a league.
fn may_see(service: &Service, league: &Registered, headers: &HeaderMap) -> bool {
    league.plan.league.public_reads || is_operator(service, league, headers)
}

/// Whether these headers hold the token of the league's operator, or that of the service.
fn is_operator(service: &Service, league: &Registered, headers: &HeaderMap) -> bool {
    let shown = bearer(headers).map(Token::new);
    is_of_operator(league, shown.as_ref()) || admit(service, headers).is_ok()
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

    /// A page of the leagues that the holder of these headers may see, in the order of their names.
    pub(in crate::service) fn visible_leagues(
        &self,
        headers: &HeaderMap,
        wanted: &Wanted,
    ) -> VisibleLeagues {
        let sees_all = admit(self, headers).is_ok();
        let shown = bearer(headers).map(Token::new);
        let registry = lock(&self.registry);
        let matching = registry
            .leagues()
            .map(|(_, league)| league)
            .filter(|league| {
                let may_see = sees_all
                    || league.plan.league.public_reads
                    || is_of_operator(league, shown.as_ref());
                may_see && wanted.matches(name(league))
            });
        let mut matching: Vec<&Registered> = matching.collect();
        matching.sort_by_key(|league| name(league));
        let total = matching.len();
        let after = |league: &&&Registered| {
            let after = wanted.after.as_deref();
            after.is_none_or(|after| name(league) > after)
        };
        let mut page: Vec<Registered> = (matching.iter().filter(after))
            .take(wanted.limit.saturating_add(1))
            .map(|league| (*league).clone())
            .collect();
        let more = page.len() > wanted.limit;
        page.truncate(wanted.limit);
        VisibleLeagues { page, total, more }
    }

    /// How far a league has come. Of one that sleeps it is remembered: its log does not change.
    async fn progress_of(&self, league: &Registered) -> Option<KnownProgress> {
        let number = league.number;
        let may_change = !self.owns(number) || self.is_loaded(number);
        if !may_change && let Some(known) = lock(&self.progress).get(&number) {
            return Some(known.clone());
        }
        let snapshot = self.source(number).snapshot().await.ok()?;
        let league = &snapshot.projection.league;
        let found = KnownProgress {
            progress: progress(league),
            round_starts_at: league.open_round().and_then(|round| round.starts_at),
        };
        if !may_change {
            lock(&self.progress).insert(number, found.clone());
        }
        Some(found)
    }

    /// Whether a league is loaded, or just being loaded or unloaded.
    fn is_loaded(&self, number: u32) -> bool {
        let slot = lock(&self.slots).get(&number).cloned();
        slot.is_some_and(|slot| {
            slot.try_lock()
                .map_or(true, |state| state.shown() == LeagueState::Awake)
        })
    }
}

/// How far a league was when it was last looked at.
#[derive(Debug, Clone)]
pub(in crate::service) struct KnownProgress {
    progress: Progress,
    round_starts_at: Option<Timestamp>,
}

/// How many leagues a page has.
const LIMIT_DEFAULT: u64 = 100;
const LIMIT_MAX: u64 = 500;

/// Which leagues of a list are asked for.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::service) struct Wanted {
    /// Those whose names come after this one.
    pub(in crate::service) after: Option<String>,
    pub(in crate::service) limit: usize,
    /// In small letters: those whose names contain it.
    pub(in crate::service) search: Option<String>,
}

impl Wanted {
    pub(in crate::service) fn of(uri: &Uri) -> Result<Self, ApiError> {
        let query = Query::of(uri);
        let limit = query.number("limit").map_err(ApiError::BadRequest)?;
        let limit = limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
        Ok(Self {
            after: query.text("after"),
            limit: usize::try_from(limit).unwrap_or(1),
            search: query.text("search").map(|text| text.to_lowercase()),
        })
    }

    fn matches(&self, name: &str) -> bool {
        let search = self.search.as_deref();
        search.is_none_or(|search| name.to_lowercase().contains(search))
    }
}

/// A page of a list.
#[derive(Debug)]
pub(in crate::service) struct VisibleLeagues {
    pub(in crate::service) page: Vec<Registered>,
    /// On all pages.
    pub(in crate::service) total: usize,
    /// Whether others follow.
    pub(in crate::service) more: bool,
}

impl VisibleLeagues {
    /// The last league of the page, if others follow.
    pub(in crate::service) fn next(&self) -> Option<&LeagueId> {
        let last = self.page.last().filter(|_| self.more)?;
        Some(&last.plan.league.league_id)
    }
}

fn name(league: &Registered) -> &str {
    league.plan.league.league_id.as_str()
}

/// Whether this is the token of the league's operator.
fn is_of_operator(league: &Registered, shown: Option<&Token>) -> bool {
    let token = league.plan.league.operator_token.zip(shown);
    token.is_some_and(|(token, shown)| token.admits(shown))
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

pub(super) async fn list(
    service: &Service,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<LeagueList, ApiError> {
    let visible = service.visible_leagues(headers, &Wanted::of(uri)?);
    let mut leagues = Vec::new();
    for league in &visible.page {
        leagues.push(listed(service, league).await);
    }
    Ok(LeagueList {
        leagues,
        total: visible.total,
        next: visible.next().cloned(),
    })
}

async fn listed(service: &Service, league: &Registered) -> ListedLeague {
    let known = service.progress_of(league).await;
    let settings = &league.plan.league;
    let summary = summary(service, league);
    let (season, _) = service.season_of(league.number);
    let of_season = season.as_ref().and_then(|name| service.season(name));
    let is_open = known
        .as_ref()
        .is_some_and(|known| match known.progress.phase {
            Phase::Registration => true,
            Phase::Running | Phase::Paused => known.progress.format == Format::Ladder,
            Phase::Completed => false,
        });
    let starts_at = match known.as_ref().map(|known| known.progress.phase) {
        Some(Phase::Registration) => of_season
            .filter(|season| {
                let current = season.current();
                current.is_some_and(|current| current.number == league.number)
            })
            .and_then(|season| season.starts_at),
        _ => known.as_ref().and_then(|known| known.round_starts_at),
    };
    ListedLeague {
        join: (is_open && settings.registration.is_open())
            .then(|| joining(service, summary.address.url.clone(), &league.plan)),
        progress: known.map(|known| known.progress),
        summary,
        season,
        starts_at,
    }
}

pub(super) fn joining(service: &Service, url: String, plan: &LeaguePlan) -> Joining {
    let mut invited = plan.league.roster.iter();
    Joining {
        url,
        dial: service.settings.host.relay_limits.is_some(),
        needs_code: invited.any(|invitation| invitation.role == AgentRole::Player),
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

/// The first of the table, all who are level, once a match is decided.
fn leaders(league: &League) -> Vec<Leader> {
    if league.matches_decided == 0 {
        return Vec::new();
    }
    let first = league.standings().into_iter();
    let first = first.take_while(|place| place.rank == 1);
    let leader = |player_id: PlayerId| Leader {
        display_name: PlayerName::of(league, &player_id).name,
        player_id,
    };
    first.map(|place| leader(place.player)).collect()
}

fn progress(league: &League) -> Progress {
    Progress {
        phase: league.phase,
        format: league.settings.competition.format,
        players: league.players.len(),
        referees: league.referees.len(),
        round: league.current_round,
        rounds: (!league.rounds.is_empty() && !league.is_ladder()).then(|| league.rounds_in_all()),
        matches: league.matches.len(),
        matches_playing: league.matches.values().filter(|game| game.in_play).count(),
        matches_decided: league.matches_decided,
        champion: league.champion.clone(),
        leaders: leaders(league),
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
