//! The boards that the front page features: of the matches being played those between the best, then those decided last. Pure.

use super::Versioned;
use super::one_match::match_line;
use super::positions::{self, LastMove, LivePosition};
use super::stakes;
use super::ticker::{self, TickerLine};
use crate::dashboard::access::Access;
use crate::dashboard::projection::Snapshot;
use matchday_audit::league_view::MatchView;
use matchday_core::game::analysis::Outlook;
use matchday_core::game::replay::views;
use matchday_core::game::view::View;
use matchday_core::league::League;
use matchday_core::league::fixture::Match;
use matchday_core::protocol::{MatchId, PlayerId};
use matchday_store::Exchange;
use matchday_store::redact::EndpointRedactor;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct FeaturedBoards {
    boards: Vec<Board>,
    /// Latest events, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ticker: Vec<TickerLine>,
}

#[derive(Debug, Serialize)]
struct Board {
    #[serde(flatten)]
    line: MatchView,
    /// The newest position that everyone may see.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<View>,
    /// The number of turns that led to it.
    ply: usize,
    /// Who is to move; both in a game of simultaneous choices.
    to_move: Vec<PlayerId>,
    /// The newest move of a match that is being played.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_move: Option<LastMove>,
    /// Who would win from there, where a solver may say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    outlook: Option<Outlook>,
    /// What a win would change at the top of the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stakes: Vec<String>,
}

/// The matches to feature, most important first. The one that the viewer picked comes before all, then one of `followed`.
pub(crate) fn choose(
    league: &League,
    picked: Option<&MatchId>,
    followed: Option<&PlayerId>,
    limit: usize,
) -> Vec<MatchId> {
    let rows = league.rows();
    let ranks: BTreeMap<&PlayerId, u32> = rows
        .iter()
        .map(|row| (&row.player_id, row.shown_rank()))
        .collect();
    let rank = |id: &PlayerId| ranks.get(id).copied().unwrap_or(u32::MAX / 4);
    let is_followed = |game: &Match| followed.is_some_and(|id| game.has(id));
    let mut playing: Vec<(&MatchId, &Match)> = league
        .matches
        .iter()
        .filter(|(_, game)| game.in_play)
        .collect();
    playing.sort_by_key(|(_, game)| (!is_followed(game), rank(&game.a) + rank(&game.b)));
    let mut decided: Vec<(&MatchId, &Match)> = league
        .matches
        .iter()
        .filter(|(_, game)| game.decision.is_some())
        .collect();
    decided.sort_by_key(|(_, game)| {
        let at = game.decision.as_ref().map(|decision| decision.at);
        (std::cmp::Reverse(is_followed(game)), std::cmp::Reverse(at))
    });
    let begun = || playing.iter().chain(&decided).map(|(id, _)| *id);
    begun()
        .filter(|id| Some(*id) == picked)
        .chain(begun().filter(|id| Some(*id) != picked))
        .take(limit)
        .cloned()
        .collect()
}

/// `exchanges` are those of the matches that are being played.
pub(crate) fn page(
    snapshot: &Snapshot,
    chosen: &[MatchId],
    exchanges: &BTreeMap<MatchId, Vec<Exchange>>,
    access: Access,
) -> Versioned<FeaturedBoards> {
    let projection = &*snapshot.projection;
    let league = &projection.league;
    let redactor = EndpointRedactor::of(league);
    let game_type = &league.settings.game_type;
    let board = |id: &MatchId| {
        let game = league.matches.get(id)?;
        let players = [&game.a, &game.b];
        let LivePosition {
            mut views,
            to_move,
            last,
            outlook,
        } = match &game.decision {
            Some(decision) => LivePosition {
                views: views(game_type, players, &decision.result.details),
                ..LivePosition::default()
            },
            None => positions::live(
                game_type,
                game,
                exchanges.get(id).map_or(&[], Vec::as_slice),
                access,
            ),
        };
        Some(Board {
            line: match_line(projection, id, game, &redactor, access),
            ply: views.len().saturating_sub(1),
            view: views.pop(),
            to_move: to_move
                .into_iter()
                .map(|seat| (*seat.of(&players)).clone())
                .collect(),
            last_move: last,
            outlook,
            stakes: stakes::of(league, game),
        })
    };
    let boards = chosen.iter().filter_map(board).collect();
    Versioned {
        version: snapshot.version(),
        page: FeaturedBoards {
            boards,
            ticker: ticker::of(league),
        },
    }
}
