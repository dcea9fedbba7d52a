//! The columns of the standings, which every rendering goes by: one that is added here is everywhere. Pure.

use super::Standing;
use matchday_stats::sentences::percent;

/// A column of rows of this kind.
#[derive(Debug)]
pub struct Column<T> {
    /// Its name in a CSV file.
    pub key: &'static str,
    /// Its name for people.
    pub title: &'static str,
    pub kind: Kind,
    /// The columns with the lowest are left out first where there is no room for all.
    pub priority: u8,
    /// `None` where there is nothing to tell. A column that has nothing to tell of any row is not shown.
    pub cell: fn(&T) -> Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The id of a player, which pages link to.
    Id,
    /// A display name.
    Name,
    Words,
    Number,
    /// A number that has its colour unless it is 0.
    Count(Tone),
}

/// Good or bad news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Won,
    Drawn,
    Lost,
    Technical,
}

pub const STANDINGS: [Column<Standing>; 15] = [
    column("rank", "rank", Kind::Number, 9, |row| {
        Some(row.rank.to_string())
    }),
    column("player_id", "player", Kind::Id, 9, |row| {
        Some(row.who.id.clone())
    }),
    column("name", "name", Kind::Name, 6, |row| {
        Some(row.who.name.clone())
    }),
    column("strategy", "strategy", Kind::Words, 7, |row| {
        row.who.strategy.clone()
    }),
    column("played", "played", Kind::Number, 8, |row| {
        Some(row.played.to_string())
    }),
    column("won", "won", Kind::Count(Tone::Won), 7, |row| {
        Some(row.wins.to_string())
    }),
    column("drawn", "drawn", Kind::Count(Tone::Drawn), 7, |row| {
        Some(row.draws.to_string())
    }),
    column("lost", "lost", Kind::Count(Tone::Lost), 7, |row| {
        Some(row.losses.to_string())
    }),
    column(
        "technical_losses",
        "technical",
        Kind::Count(Tone::Technical),
        5,
        |row| Some(row.technical_losses.to_string()),
    ),
    column("points", "points", Kind::Number, 9, |row| {
        Some(row.points.to_string())
    }),
    column("payoff", "payoff", Kind::Number, 8, |row| {
        row.payoff.map(|payoff| payoff.to_string())
    }),
    column("pairing_rating", "pairing rating", Kind::Number, 6, |row| {
        row.pairing_rating.map(|rating| rating.to_string())
    }),
    column("rating", "rating (95 %)", Kind::Number, 4, |row| {
        row.rating
            .map(|rating| format!("{} ({} to {})", rating.value, rating.low, rating.high))
    }),
    column(
        "as_good_by_chance",
        "as good by chance",
        Kind::Number,
        2,
        |row| row.as_good_by_chance.map(percent),
    ),
    column("why", "why", Kind::Words, 3, |row| row.reason.clone()),
];

const fn column<T>(
    key: &'static str,
    title: &'static str,
    kind: Kind,
    priority: u8,
    cell: fn(&T) -> Option<String>,
) -> Column<T> {
    Column {
        key,
        title,
        kind,
        priority,
        cell,
    }
}

/// Empty where there is nothing to tell.
pub fn text_of<T>(column: &Column<T>, row: &T) -> String {
    (column.cell)(row).unwrap_or_default()
}

/// The classes of an HTML table that say which of its columns are numbers: a class for each cell would make up much of a page of
/// 99 players.
pub fn number_classes<T>(columns: &[&Column<T>]) -> String {
    let numbers = (1..).zip(columns).filter(|(_, column)| column.is_number());
    numbers
        .map(|(place, _)| format!("n{place}"))
        .collect::<Vec<_>>()
        .join(" ")
}

impl<T> Column<T> {
    fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Count(_))
    }
}

/// The columns that have something to tell of these rows.
pub fn told<'a, T>(columns: &'a [Column<T>], rows: &[T]) -> Vec<&'a Column<T>> {
    columns
        .iter()
        .filter(|column| rows.iter().any(|row| (column.cell)(row).is_some()))
        .collect()
}
