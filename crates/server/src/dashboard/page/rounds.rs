//! The rounds, and one of them with its matches. Pure.

use super::Versioned;
use super::one_match::match_line;
use crate::dashboard::access::Access;
use crate::dashboard::projection::Snapshot;
use matchday_audit::league_view::RoundView;
use matchday_store::redact::EndpointRedactor;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct RoundsPage {
    rounds: Vec<RoundView>,
}

/// Without their matches.
pub(crate) fn all(snapshot: &Snapshot) -> Versioned<RoundsPage> {
    let league = &snapshot.projection.league;
    let rounds = league
        .rounds
        .iter()
        .map(|round| RoundView::of(league, round))
        .collect();
    Versioned {
        version: snapshot.version(),
        page: RoundsPage { rounds },
    }
}

/// `None` if there is no such round.
pub(crate) fn one(
    snapshot: &Snapshot,
    number: u32,
    (offset, limit): (usize, usize),
    access: Access,
) -> Option<Versioned<RoundView>> {
    let projection = &*snapshot.projection;
    let league = &projection.league;
    let round = league
        .rounds
        .iter()
        .find(|round| round.round_id.0 == number)?;
    let redactor = EndpointRedactor::of(league);
    let matches = league.matches_of(round).skip(offset).take(limit);
    let matches = matches
        .map(|(id, game)| match_line(projection, id, game, &redactor, access))
        .collect();
    let page = RoundView {
        matches,
        ..RoundView::of(league, round)
    };
    Some(Versioned {
        version: snapshot.version(),
        page,
    })
}
