//! `/seasons/NAME`: the standings of a season and its leagues, without scripts.

use super::Service;
use super::api::find_season;
use super::list_page::html;
use super::season::{Season, SeasonState};
use askama::Template;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use matchday_core::protocol::LeagueId;
use matchday_net::response::empty;
use matchday_net::server::HttpResponse;
use matchday_stats::season::SeasonRow;

#[derive(Template)]
#[template(path = "season.html")]
struct SeasonPage<'a> {
    name: &'a LeagueId,
    when: String,
    season: &'a Season,
    standings: &'a [SeasonRow],
}

pub(super) fn page(service: &Service, name: &LeagueId, headers: &HeaderMap) -> HttpResponse {
    let Ok(season) = find_season(service, name, headers) else {
        return empty(StatusCode::NOT_FOUND);
    };
    let when = match (&season.starts_at, season.started, season.state) {
        (_, _, SeasonState::Ended) => "The season has ended.".to_owned(),
        (_, true, _) if season.current().is_some() => "A league is being played.".to_owned(),
        (Some(at), ..) => format!("The next league starts at {at}."),
        (None, ..) => "The next league starts when the operator says so.".to_owned(),
    };
    html(&SeasonPage {
        name,
        when,
        season: &season,
        standings: season.table(),
    })
}
