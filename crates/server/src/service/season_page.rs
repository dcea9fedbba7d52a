//! `/seasons/NAME`: the page of a season, without scripts.

use super::Service;
use super::api::{find_season, season_table_of};
use super::list_page::{escape, html};
use super::season::SeasonState;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use matchday_core::protocol::LeagueId;
use matchday_net::response::empty;
use matchday_net::server::HttpResponse;

/// `/seasons/NAME`: the table of a season and its leagues, without scripts.
pub(super) fn page(service: &Service, name: &LeagueId, headers: &HeaderMap) -> HttpResponse {
    let Ok(season) = find_season(service, name, headers) else { return empty(StatusCode::NOT_FOUND) };
    let title = escape(name.as_str());
    let when = match (&season.starts_at, season.started, season.state) {
        (_, _, SeasonState::Ended) => "The season has ended.".to_owned(),
        (_, true, _) => "A league is being played.".to_owned(),
        (Some(at), ..) => format!("The next league starts at {at}."),
        (None, ..) => "The next league starts when the operator says so.".to_owned(),
    };
    let cells = |tag: &str, texts: &[String]| -> String {
        texts.iter().map(|text| format!("<{tag}>{}</{tag}>", escape(text))).collect()
    };
    let head = ["#", "player", "leagues", "played", "won", "drawn", "lost", "points", "rating", "95 %"]
        .map(str::to_owned);
    let rows: String = (1..)
        .zip(season_table_of(&season))
        .map(|(rank, row)| row.cells(rank))
        .map(|texts| format!("<tr>{}</tr>\n", cells("td", &texts)))
        .collect();
    let table = match rows.is_empty() {
        true => "<p>No league of the season is over yet.</p>".to_owned(),
        false => format!("<table>\n<tr>{}</tr>\n{rows}</table>", cells("th", &head)),
    };
    let leagues: String = season
        .leagues
        .iter()
        .rev()
        .map(|league| {
            let id = escape(league.league_id.as_str());
            let state = if league.results.is_some() { "over" } else { "current" };
            format!("<li><a href=\"../leagues/{id}/\">{id}</a> <span>{state}</span></li>\n")
        })
        .collect();
    html(&title, &format!("<h1>{title}</h1>\n<p>{when}</p>\n{table}\n<h2>Leagues</h2>\n<ul>\n{leagues}</ul>"))
}
