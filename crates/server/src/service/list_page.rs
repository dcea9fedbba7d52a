//! The list of leagues for a browser: those that the viewer may see. A template, without scripts.

use super::Service;
use super::api::Wanted;
use super::api_types::Progress;
use super::registry::Registered;
use askama::Template;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Uri;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, X_CONTENT_TYPE_OPTIONS,
};
use matchday_audit::template::rendered;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{GameType, LeagueId};
use matchday_net::percent;
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;

/// How many seasons are listed; the API lists all.
const SEASONS_MAX: usize = 1000;

#[derive(Template)]
#[template(path = "leagues.html")]
struct LeaguesPage {
    leagues: Vec<ListedLeague>,
    /// How many match, on all pages.
    total: usize,
    search: String,
    /// The link to those that follow.
    next: Option<String>,
    seasons: Vec<LeagueId>,
}

struct ListedLeague {
    id: LeagueId,
    game: GameType,
    phase: &'static str,
    players: String,
    matches: String,
    leaders: String,
    created: String,
}

impl ListedLeague {
    fn new(league: &Registered, progress: Option<&Progress>) -> Self {
        let settings = &league.plan.league;
        let known = |text: fn(&Progress) -> String| progress.map_or_else(String::new, text);
        Self {
            id: settings.league_id.clone(),
            game: settings.game_type.clone(),
            phase: progress.map_or("cannot be read", |progress| words(progress.phase)),
            players: known(|progress| progress.players.to_string()),
            matches: known(|progress| match progress.matches {
                0 => String::new(),
                all => format!("{} of {all}", progress.matches_decided),
            }),
            leaders: known(|progress| {
                let names = progress.leaders.iter();
                let names: Vec<&str> = names.map(|leader| leader.display_name.as_str()).collect();
                names.join(", ")
            }),
            created: league.created_at.to_string().chars().take(10).collect(),
        }
    }
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Registration => "open for registration",
        Phase::Running => "being played",
        Phase::Paused => "paused",
        Phase::Completed => "over",
    }
}

pub(super) async fn page(service: &Service, uri: &Uri, headers: &HeaderMap) -> HttpResponse {
    let wanted = match Wanted::of(uri) {
        Ok(wanted) => wanted,
        Err(refused) => return refused.response(),
    };
    let visible = service.visible_leagues(headers, &wanted);
    let mut leagues = Vec::new();
    for league in &visible.page {
        let progress = service.progress_of(league).await;
        leagues.push(ListedLeague::new(league, progress.as_ref()));
    }
    let seasons = super::api::visible_seasons(service, headers)
        .into_iter()
        .take(SEASONS_MAX);
    let search = wanted.search.unwrap_or_default();
    html(&LeaguesPage {
        next: visible.next().map(|last| {
            let search = percent::encode(&search);
            format!("?search={search}&after={last}&limit={}", wanted.limit)
        }),
        leagues,
        total: visible.total,
        search,
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
