//! Accessible tables that scroll where they are too wide. Pure.

use super::writer::Html;

#[derive(Debug)]
pub enum Cell<'a> {
    Text(&'a str),
    Number(String),
    /// A display name.
    Name(&'a str),
    /// A link to an anchor on this page.
    Link(String, &'a str),
    Fault(&'a str),
}

/// A column header, and whether its cells are numbers.
pub type Head = (&'static str, bool);

/// The first cell of each row is its header.
pub fn table<'a>(html: &mut Html, caption: &str, heads: &[Head], rows: impl Iterator<Item = Vec<Cell<'a>>>) {
    // Scrollable regions must be focusable by keyboard.
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

/// Marks numeric columns by classes of the table: a class for each cell would make up much of a page of 99 players.
fn numbers(heads: &[Head]) -> String {
    let numbers = (1..).zip(heads).filter(|(_, (_, numbers))| *numbers);
    numbers.map(|(place, _)| format!("n{place}")).collect::<Vec<_>>().join(" ")
}

/// Longer texts get a wider column.
const WORDS_MIN: usize = 16;

fn write(html: &mut Html, cell: &Cell<'_>, is_head: bool) {
    let name = if is_head { "th" } else { "td" };
    let mut attributes = Vec::new();
    if is_head {
        attributes.push(("scope", "row"));
    }
    match cell {
        Cell::Name(_) => attributes.push(("class", "name")),
        Cell::Fault(_) => attributes.push(("class", "words technical")),
        Cell::Text(text) if text.len() > WORDS_MIN => attributes.push(("class", "words")),
        Cell::Text(_) | Cell::Number(_) | Cell::Link(..) => {}
    }
    html.element(name, &attributes, |html| match cell {
        Cell::Text(text) | Cell::Fault(text) => html.text(text),
        Cell::Number(number) => html.text(number),
        Cell::Name(name) => html.name(name),
        Cell::Link(place, text) => html.leaf("a", &[("href", place)], text),
    });
}
