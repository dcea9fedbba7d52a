//! The page for auditors: a list that leads from each statement to its tests, and how many there are.

use crate::statements::{Document, Kind, Section, Statement};
use std::collections::BTreeMap;

/// The file of each test, by the test's name.
type Tree = BTreeMap<String, String>;

/// How many statements are held, ruled otherwise, not checkable and pending.
#[derive(Default)]
struct Count {
    held: usize,
    ruled: usize,
    not_checkable: usize,
    pending: usize,
}

impl Count {
    fn of<'a>(statements: impl IntoIterator<Item = &'a Statement>) -> Self {
        let mut count = Self::default();
        for statement in statements {
            *match statement.kind() {
                Kind::Held => &mut count.held,
                Kind::Ruled(_) => &mut count.ruled,
                Kind::NotCheckable(_) => &mut count.not_checkable,
                Kind::Pending(_) => &mut count.pending,
            } += 1;
        }
        count
    }

    /// The cells of a table; nothing is left blank, so that the columns can be read.
    fn cells(&self) -> String {
        let Self {
            held,
            ruled,
            not_checkable,
            pending,
        } = self;
        let all = held + ruled + not_checkable + pending;
        let open = if *pending > 0 {
            format!(" ({pending} pending)")
        } else {
            String::new()
        };
        format!("{all}{open} | {held} | {ruled} | {not_checkable}")
    }
}

const HEADER: &str = "Statements | Held by tests | Ruled otherwise | Not checkable";

fn row<'a>(title: &str, sections: impl Iterator<Item = &'a Section>) -> String {
    let count = Count::of(sections.flat_map(|section| &section.statements));
    format!("| {title} | {} |\n", count.cells())
}

/// A table that counts the statements of each document.
fn counts(documents: &[Document]) -> String {
    let mut table = format!("| Document | {HEADER} |\n| --- | ---: | ---: | ---: | ---: |\n");
    for document in documents {
        let title = format!("{} {}", document.id, document.title);
        table.push_str(&row(&title, document.sections.iter()));
    }
    let all = documents.iter().flat_map(|document| &document.sections);
    table.push_str(&row("all", all));
    table
}

/// Every statement with its tests, one line each.
pub(crate) fn statements(documents: &[Document], tree: &Tree) -> String {
    let mut page = format!(
        "# From the sources to the tests\n\n\
         For auditors: each statement of the protocol's five documents, in our own words, with the tests that hold it. Where\n\
         we do otherwise, the line says what and why ([all decisions](protocol-decisions.md)). `crates/core/tests/traceability`\n\
         writes this page from `crates/core/tests/sources`, and makes sure that every test exists.\n\n{}",
        counts(documents)
    );
    for Document {
        id,
        title,
        sections,
    } in documents
    {
        page.push_str(&format!("\n## {id} {title}\n"));
        for section in sections {
            page.push_str(&format!("\n### {} {}\n\n", section.number, section.title));
            section
                .statements
                .iter()
                .for_each(|statement| page.push_str(&line(statement, tree)));
        }
    }
    page
}

fn line(statement: &Statement, tree: &Tree) -> String {
    let tests: Vec<_> = (statement.tests.iter())
        .map(|test| {
            let name = test.rsplit("::").next().unwrap_or_default();
            let path = tree.get(test);
            format!("[{name}](../{})", path.map_or("", String::as_str))
        })
        .collect();
    let says = &statement.says;
    let tests = tests.join(", ");
    match statement.kind() {
        Kind::Held => format!("- {says}: {tests}\n"),
        Kind::Ruled(ruling) => format!("- {says}. **Ruled otherwise**: {ruling}: {tests}\n"),
        Kind::NotCheckable(reason) => format!("- {says}. *Not checkable*: {reason}\n"),
        Kind::Pending(issue) => format!("- {says}. **Pending**: {issue}\n"),
    }
}
