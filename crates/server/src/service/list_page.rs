//! The list of leagues for a browser: those that the viewer may see. Plain HTML, without scripts.

use super::Service;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, X_CONTENT_TYPE_OPTIONS,
};
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;

/// The style of the dashboards that it leads to.
const STYLE: &str = include_str!("../../assets/dashboard/style.css");
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
            let created = escape(&league.created_at.whole_second().to_string());
            format!(
                "<tr><th scope=\"row\"><a href=\"leagues/{id}/\">{id}</a></th><td>{game}</td>\
                 <td class=\"n\"><time datetime=\"{created}\">{created}</time></td></tr>\n"
            )
        })
        .collect();
    let heads = "<thead><tr><th scope=\"col\">League</th><th scope=\"col\">Game</th>\
                 <th scope=\"col\" class=\"n\">Created</th></tr></thead>";
    let table = || format!("<div class=\"card flush\"><table>{heads}\n<tbody>\n{rows}</tbody></table></div>");
    let list = match leagues.len() {
        0 => "<p class=\"card\">There is no league to see here. Create one with <code>matchday league create NAME</code>.</p>"
            .to_owned(),
        many if many > LEAGUES_MAX => format!("{}\n<p class=\"muted\">and {} more</p>", table(), many - LEAGUES_MAX),
        _ => table(),
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
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title} – Matchday</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<header class=\"top\"><div class=\"inside\"><span class=\"brand\">Matchday</span></div></header>\n\
         <main>\n{body}\n</main>\n</body>\n</html>\n"
    );
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

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
