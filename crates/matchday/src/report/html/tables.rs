//! Tables that scroll where there is no room for them, with heads that a screen reader can tell. Pure.

use super::writer::Html;

/// A cell of a row.
pub(super) enum Cell<'a> {
    Text(&'a str),
    Number(String),
    /// What an agent calls itself.
    Name(&'a str),
    /// A link to a place on this page.
    To(String, &'a str),
    /// Something that is not as it should be.
    Trouble(&'a str),
}

/// A head, and whether numbers stand below it.
pub(super) type Head = (&'static str, bool);

/// The first cell of each row is its head.
pub(super) fn table<'a>(
    html: &mut Html,
    caption: &str,
    heads: &[Head],
    rows: impl Iterator<Item = Vec<Cell<'a>>>,
) {
    // What scrolls must be reachable by the keyboard.
    let scrolls = [("class", "wide"), ("tabindex", "0"), ("role", "group"), ("aria-label", caption)];
    html.element("div", &scrolls, |html| {
        html.element("table", &[("class", &numbers(heads))], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    heads.iter().for_each(|(head, _)| html.leaf("th", &[("scope", "col")], head));
                });
            });
            html.element("tbody", &[], |html| {
                for row in rows {
                    html.element("tr", &[], |html| {
                        row.iter().enumerate().for_each(|(place, cell)| write(html, cell, place == 0));
                    });
                }
            });
        });
    });
}

/// Which columns are numbers, as classes of the table: in a league of 99, a class for each cell would make up a good part
/// of the page.
fn numbers(heads: &[Head]) -> String {
    let numbers = (1..).zip(heads).filter(|(_, (_, numbers))| *numbers);
    numbers.map(|(place, _)| format!("n{place}")).collect::<Vec<_>>().join(" ")
}

/// A text of more bytes than this is several words, and is given room for them.
const WORDS_MIN: usize = 16;

fn write(html: &mut Html, cell: &Cell<'_>, is_head: bool) {
    let name = if is_head { "th" } else { "td" };
    let mut attributes = Vec::new();
    if is_head {
        attributes.push(("scope", "row"));
    }
    match cell {
        Cell::Name(_) => attributes.push(("class", "name")),
        Cell::Trouble(_) => attributes.push(("class", "words technical")),
        Cell::Text(text) if text.len() > WORDS_MIN => attributes.push(("class", "words")),
        Cell::Text(_) | Cell::Number(_) | Cell::To(..) => {}
    }
    html.element(name, &attributes, |html| match cell {
        Cell::Text(text) | Cell::Trouble(text) => html.text(text),
        Cell::Number(number) => html.text(number),
        Cell::Name(name) => html.name(name),
        Cell::To(place, text) => html.leaf("a", &[("href", place)], text),
    });
}
