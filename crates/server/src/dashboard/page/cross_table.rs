//! The cross table: who beat whom. Pure.

use super::Versioned;
use crate::dashboard::projection::Snapshot;
use matchday_audit::league_view::standings::letters;
use matchday_core::protocol::messages::GameStatus;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct CrossTable {
    players: Vec<Ranked>,
    /// Row, column, and how the row's player has done against the column's.
    cells: Vec<(usize, usize, Meetings)>,
}

#[derive(Debug, Serialize)]
struct Ranked {
    id: String,
    name: String,
    rank: u32,
}

/// Wins, draws, losses, and how many of the losses were technical.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Meetings {
    w: u32,
    d: u32,
    l: u32,
    t: u32,
    /// The match in which they met last.
    last: String,
}

impl Meetings {
    pub(super) fn add(&mut self, letter: char, match_id: &str) {
        match letter {
            'W' => self.w += 1,
            'D' => self.d += 1,
            'T' => (self.l, self.t) = (self.l + 1, self.t + 1),
            _ => self.l += 1,
        }
        match_id.clone_into(&mut self.last);
    }
}

pub(crate) fn page(snapshot: &Snapshot) -> Versioned<CrossTable> {
    let league = &snapshot.projection.league;
    let rows = league.rows();
    let places: BTreeMap<_, usize> = rows.iter().map(|row| &row.player_id).zip(0..).collect();
    let mut cells: BTreeMap<(usize, usize), Meetings> = BTreeMap::new();
    for (id, game) in league
        .rounds
        .iter()
        .flat_map(|round| league.matches_of(round))
    {
        let (Some(decision), Some(a), Some(b)) =
            (&game.decision, places.get(&game.a), places.get(&game.b))
        else {
            continue;
        };
        let technical = decision.status == GameStatus::TechnicalLoss;
        let [of_a, of_b] = letters(decision.verdict(game), technical);
        cells.entry((*a, *b)).or_default().add(of_a, id.as_str());
        cells.entry((*b, *a)).or_default().add(of_b, id.as_str());
    }
    let ranked = |row: &matchday_core::protocol::messages::StandingRow| Ranked {
        id: row.player_id.to_string(),
        name: row.display_name.escaped().to_string(),
        rank: row.shown_rank(),
    };
    let cells = cells
        .into_iter()
        .map(|((row, column), cell)| (row, column, cell));
    let page = CrossTable {
        players: rows.iter().map(ranked).collect(),
        cells: cells.collect(),
    };
    Versioned {
        version: snapshot.version(),
        page,
    }
}
