//! The events of all agents at hand, by themselves and side by side with the manager's; and what is missing for more. Pure.

use super::agents::{self, Book};
use super::audit::Auditor;
use super::contradiction::{self, Silence};
use super::{Source, Told, Verification};
use crate::store::diary::{Diary, Own};
use std::path::Path;

/// Gives back where a player is said to have been silent, and seems not to have been.
pub(super) fn all(sources: &[Source], auditor: &Auditor, found: &mut Verification) -> Vec<Silence> {
    let league = sources.iter().find(|source| source.is_league());
    let file = league.map_or(Path::new(""), |source| source.file.as_path());
    let book = auditor.league().created.then(|| Book {
        file,
        league: auditor.league(),
        recorded: &auditor.recorded,
    });
    let mut claims = book.map_or_else(Vec::new, contradiction::recorded);
    let mut silences = Vec::new();
    for source in sources.iter().filter(|source| source.stream.role() == "referee") {
        let mut told = std::mem::take(&mut found.referees);
        for diary in parts(source, book, &mut told, &mut found.not_checked) {
            let outcome = agents::referee(&diary, &mut told).and_then(|()| match book {
                Some(book) => agents::compare_referee(&diary, book, &mut told),
                None => Ok(()),
            });
            found.fault = found.fault.take().or(outcome.err());
            claims.extend(contradiction::decided(&diary));
        }
        found.referees = told;
    }
    for source in sources.iter().filter(|source| source.stream.role() == "player") {
        let mut told = std::mem::take(&mut found.players);
        for diary in parts(source, book, &mut told, &mut found.not_checked) {
            found.fault = found.fault.take().or(agents::player(&diary, &mut told).err());
            let (fault, silent) = contradiction::find(&diary, source, &claims);
            found.fault = found.fault.take().or(fault);
            silences.extend(silent);
            if let Some(book) = book {
                found.not_checked.extend(agents::compare_player(&diary, book, &mut told));
            }
        }
        found.players = told;
    }
    found.referees.agents.sort_unstable();
    found.players.agents.sort_unstable();
    if book.is_none() {
        found.not_checked.push(
            "whether the manager recorded these results, and the table: name the manager's store as well"
                .into(),
        );
    }
    silences
}

/// The part of an agent's events that belongs to the league, or all if there is none.
fn parts<E: Own>(
    source: &Source,
    book: Option<Book<'_>>,
    told: &mut Told,
    not_checked: &mut Vec<String>,
) -> Vec<Diary<E>> {
    // Each event has been read before, when its hash was checked.
    let mut parts: Vec<Diary<E>> =
        Diary::read(&source.file, &source.stream, &source.events).unwrap_or_default();
    let id = parts.last().map_or_else(String::new, |diary| diary.id().to_owned());
    if let Some(book) = book {
        parts.retain(|diary| agents::can_compare(diary, book));
        if parts.is_empty() {
            not_checked.push(format!("{} of {id}: it is not of this league", source.stream));
            return parts;
        }
    }
    told.agents.push(id);
    parts
}
