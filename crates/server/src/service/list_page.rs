//! The list of leagues for a browser: those that the viewer may see. A template, without scripts.

use super::Service;
use askama::Template;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, X_CONTENT_TYPE_OPTIONS,
};
use matchday_audit::template::rendered;
use matchday_core::protocol::{GameType, LeagueId, Timestamp};
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;

/// How many are listed; the API lists all.
const LEAGUES_MAX: usize = 1000;

#[derive(Template)]
#[template(path = "leagues.html")]
struct LeaguesPage {
    leagues: Vec<ListedLeague>,
    /// How many are not listed.
    more: usize,
    seasons: Vec<LeagueId>,
}

struct ListedLeague {
    id: LeagueId,
    game: GameType,
    created: Timestamp,
}

pub(super) fn page(service: &Service, headers: &HeaderMap) -> HttpResponse {
    let visible = service.visible_leagues(headers);
    let listed = visible.iter().take(LEAGUES_MAX).map(|league| ListedLeague {
        id: league.plan.league.league_id.clone(),
        game: league.plan.league.game_type.clone(),
        created: league.created_at.whole_second(),
    });
    let seasons = super::api::visible_seasons(service, headers)
        .into_iter()
        .take(LEAGUES_MAX);
    html(&LeaguesPage {
        leagues: listed.collect(),
        more: visible.len().saturating_sub(LEAGUES_MAX),
        seasons: seasons.map(|(name, _)| name).collect(),
    })
}

/// A page without scripts.
pub(super) fn html(page: &impl Template) -> HttpResponse {
    let page = rendered(page);
    let answer = HttpResponse::new(Full::new(Bytes::from(page)).boxed());
    let answer = with_header(answer, CONTENT_TYPE, "text/html; charset=utf-8");
    let answer = with_header(
        answer,
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    let answer = with_header(answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    with_header(answer, CACHE_CONTROL, "no-store")
}
