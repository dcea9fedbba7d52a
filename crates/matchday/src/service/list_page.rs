//! The list of leagues for a browser: those that the viewer may see. Plain HTML, without scripts.

use super::Service;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, X_CONTENT_TYPE_OPTIONS,
};
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;

/// How many are listed; the API lists all.
const LEAGUES_MAX: usize = 1000;

pub(super) fn page(service: &Service, headers: &HeaderMap) -> HttpResponse {
    let leagues = service.visible_leagues(headers);
    // Ids are plain letters and digits, and games are our own or checked: nothing has to be escaped, and is all the same.
    let rows: String = leagues
        .iter()
        .take(LEAGUES_MAX)
        .map(|league| {
            let settings = &league.plan.league;
            let (id, game) = (escape(settings.league_id.as_str()), escape(settings.game_type.as_str()));
            format!("<li><a href=\"leagues/{id}/\">{id}</a> <span>{game}</span></li>\n")
        })
        .collect();
    let list = match leagues.len() {
        0 => {
            "<p>There is no league to see here. Create one with <code>matchday league create NAME</code>.</p>"
                .to_owned()
        }
        many if many > LEAGUES_MAX => format!("<ul>\n{rows}</ul>\n<p>and {} more</p>", many - LEAGUES_MAX),
        _ => format!("<ul>\n{rows}</ul>"),
    };
    let seasons: String = super::season_api::visible(service, headers)
        .iter()
        .take(LEAGUES_MAX)
        .map(|(name, _)| escape(name.as_str()))
        .map(|name| format!("<li><a href=\"seasons/{name}\">{name}</a></li>\n"))
        .collect();
    let seasons = match seasons.is_empty() {
        true => String::new(),
        false => format!("<h2>Seasons</h2>\n<ul>\n{seasons}</ul>\n"),
    };
    html("Leagues", &format!("<h1>Leagues</h1>\n{list}\n{seasons}"))
}

/// A page without scripts.
pub(super) fn html(title: &str, body: &str) -> HttpResponse {
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{title}</title>\n{body}\n</html>\n"
    );
    let answer = HttpResponse::new(Full::new(Bytes::from(page)).boxed());
    let answer = with_header(answer, CONTENT_TYPE, "text/html; charset=utf-8");
    let answer = with_header(answer, CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    let answer = with_header(answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    with_header(answer, CACHE_CONTROL, "no-store")
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
