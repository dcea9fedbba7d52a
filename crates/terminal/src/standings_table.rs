//! The standings as a table of a terminal. Pure.

use super::Colour;
use super::badge::badge;
use super::table::{Cell, Table};
use matchday_audit::league_view::columns::told;
use matchday_audit::league_view::standings::has_begun;
use matchday_audit::league_view::{Kind, STANDINGS, Standing, Tone};
use std::cmp::Ordering;

/// The first rows of the standings. Before the first result nobody has a rank, nor a reason for it.
pub fn standings_table(standings: &[Standing], shown: usize) -> Table {
    let begun = has_begun(standings);
    let rows = standings.get(..shown).unwrap_or(standings);
    let mut table = Table::default();
    for column in told(&STANDINGS, standings) {
        let cell = |row: &Standing| {
            let text = (column.cell)(row).unwrap_or_default();
            match (column.key, column.kind) {
                ("rank", _) if begun => risen(text, row.rise).into(),
                ("rank", _) => "-".to_owned().into(),
                (_, Kind::Name) => {
                    let (mark, colour) = badge(&row.who.id);
                    Cell::coloured(format!("{mark} {text}"), colour)
                }
                ("why", _) if !begun => String::new().into(),
                (_, Kind::Count(tone)) if text != "0" => Cell::coloured(text, colour(tone)),
                _ => text.into(),
            }
        };
        table.add_column(
            &column.title.to_uppercase(),
            column.priority,
            rows.iter().map(cell).collect(),
        );
    }
    table
}

/// `3`, `1 ▲2`, `4 ▼1`.
fn risen(rank: String, rise: Option<i64>) -> String {
    let rise = rise.unwrap_or(0);
    match rise.cmp(&0) {
        Ordering::Greater => format!("{rank} ▲{rise}"),
        Ordering::Less => format!("{rank} ▼{}", rise.unsigned_abs()),
        Ordering::Equal => rank,
    }
}

pub fn colour(tone: Tone) -> Colour {
    match tone {
        Tone::Won => Colour::Green,
        Tone::Drawn => Colour::Yellow,
        Tone::Lost => Colour::Red,
        Tone::Technical => Colour::Magenta,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paint;
    use matchday_audit::league_view::PlayerName;
    use matchday_audit::league_view::standings::Rating;

    fn standing(number: u32, played: u32, technical_losses: u32) -> Standing {
        let who = PlayerName {
            id: format!("P0{number}"),
            name: "Ada".to_owned(),
            ..PlayerName::default()
        };
        let reason = Some("level with P02".to_owned());
        Standing {
            rank: 1,
            who,
            played,
            losses: played,
            technical_losses,
            reason,
            ..Standing::default()
        }
    }

    fn shown(rows: [Standing; 2]) -> String {
        standings_table(&rows, 2).text(Paint::Plain)
    }

    #[test]
    fn technical_losses_are_shown_and_ranks_only_after_a_match() {
        insta::assert_snapshot!(shown([standing(1, 2, 1), standing(2, 2, 0)]));
        insta::assert_snapshot!(shown([standing(1, 0, 0), standing(2, 0, 0)]));
    }

    #[test]
    fn a_rating_and_a_change_of_rank_are_shown_where_they_are_known() {
        let rating = Some(Rating {
            value: 1500,
            low: 1400,
            high: 1600,
        });
        let risen = Standing {
            rise: Some(2),
            rating,
            ..standing(1, 2, 0)
        };
        let fallen = Standing {
            rank: 2,
            rise: Some(-1),
            ..standing(2, 2, 0)
        };
        insta::assert_snapshot!(shown([risen, fallen]));
    }
}
