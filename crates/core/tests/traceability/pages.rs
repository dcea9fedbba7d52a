//! The pages for readers: an appendix that counts, and a list that leads from each statement to its tests.

use crate::statements::{Document, Kind, Section, Statement};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const BEGIN: &str = "<!-- traceability -->\n";
pub(crate) const END: &str = "<!-- end of traceability -->";

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

/// `crates/core/tests/manager/rounds.rs` as `core/manager/rounds`, linked.
fn link(path: &str) -> String {
    let name = path
        .trim_start_matches("crates/")
        .trim_start_matches("dev/")
        .trim_end_matches(".rs")
        .replacen("/tests/", "/", 1);
    format!("[{name}](../{path})")
}

fn files(section: &Section, tree: &Tree) -> String {
    let tests = section
        .statements
        .iter()
        .flat_map(|statement| &statement.tests);
    let files: BTreeSet<_> = tests.filter_map(|test| tree.get(test)).collect();
    files
        .into_iter()
        .map(|path| link(path))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A table of all documents, and one of the sections of each.
pub(crate) fn appendix(documents: &[Document], tree: &Tree) -> String {
    let mut page = format!("\n| Document | {HEADER} |\n| --- | ---: | ---: | ---: | ---: |\n");
    let all = documents.iter().flat_map(|document| &document.sections);
    for document in documents {
        let count = Count::of(
            document
                .sections
                .iter()
                .flat_map(|section| &section.statements),
        );
        page.push_str(&format!(
            "| {} {} | {} |\n",
            document.id,
            document.title,
            count.cells()
        ));
    }
    page.push_str(&format!(
        "| all | {} |\n",
        Count::of(all.flat_map(|section| &section.statements)).cells()
    ));
    for Document {
        id,
        title,
        sections,
    } in documents
    {
        page.push_str(&format!(
            "\n### {id} {title}\n\n| Section | {HEADER} | Tests in |\n"
        ));
        page.push_str("| --- | ---: | ---: | ---: | ---: | --- |\n");
        for section in sections {
            let count = Count::of(&section.statements).cells();
            let files = files(section, tree);
            let row = format!(
                "| [{}](sources.md#{}) {}",
                section.number,
                anchor(id, section),
                section.title
            );
            page.push_str(&format!("{row} | {count} | {files} |\n").replace("|  |", "| |"));
        }
    }
    page.push('\n');
    page
}

fn anchor(document: &str, section: &Section) -> String {
    format!(
        "s{document}-{}",
        section.number.to_lowercase().replace('.', "-")
    )
}

/// Every statement with its tests, one line each.
pub(crate) fn statements(documents: &[Document], tree: &Tree) -> String {
    let mut page = String::from(
        "# From the sources to the tests\n\n\
         Each statement of the protocol's five documents, in our own words, with the tests that hold it. Where we do\n\
         otherwise, it says what and why ([section 15](protocol.md#sources) has the whole list), with the tests that show\n\
         it. The [appendix of the protocol page](protocol.md#traceability) counts them by section.\n\n\
         Written by `crates/core/tests/traceability` from `crates/core/tests/sources`, which also makes sure that every\n\
         test exists.\n",
    );
    for Document {
        id,
        title,
        sections,
    } in documents
    {
        page.push_str(&format!("\n## {id} {title}\n"));
        for section in sections {
            let anchor = anchor(id, section);
            page.push_str(&format!(
                "\n<a id=\"{anchor}\"></a>\n### {} {}\n\n",
                section.number, section.title
            ));
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
