//! Traceability: from each statement of the protocol's documents to the tests that hold it. The statements are in
//! `tests/sources`; the tests are found in the tree. To write the page anew after a change:
//! `UPDATE_DOCS=1 cargo test -p matchday-core --test traceability -- --test-threads 1`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

mod pages;
mod statements;
mod tree;

use statements::{Kind, Statement, documents};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Calls `check` with every statement and where it stands: document and section.
fn each_statement(mut check: impl FnMut(&str, &Statement)) {
    for document in documents() {
        for section in &document.sections {
            let place = format!("{} {}", document.id, section.number);
            section
                .statements
                .iter()
                .for_each(|statement| check(&place, statement));
        }
    }
}

#[test]
fn all_five_documents_are_covered() {
    let ids: Vec<_> = documents()
        .into_iter()
        .map(|document| document.id)
        .collect();
    assert_eq!(ids, ["000", "001", "002", "003", "004"]);
    let mut count = 0;
    each_statement(|_, _| count += 1);
    assert!(count > 600, "{count} statements");
}

#[test]
fn no_section_stands_twice_or_empty_and_no_statement_twice_in_a_section() {
    for document in documents() {
        let mut numbers = BTreeSet::new();
        for section in &document.sections {
            let place = format!("{} {}", document.id, section.number);
            assert!(numbers.insert(&section.number), "{place} stands twice");
            assert!(!section.statements.is_empty(), "{place} says nothing");
            let said: BTreeSet<_> = section
                .statements
                .iter()
                .map(|statement| &statement.says)
                .collect();
            assert_eq!(
                said.len(),
                section.statements.len(),
                "{place} says something twice"
            );
        }
    }
}

#[test]
fn every_statement_is_held_by_a_test_ruled_otherwise_not_checkable_or_pending() {
    each_statement(|place, statement| {
        let Statement { says, tests, .. } = statement;
        assert!(
            !says.is_empty() && says.len() <= 120 && !says.contains('\n'),
            "{place}: one short line: {says}"
        );
        let shown = matches!(statement.kind(), Kind::Held | Kind::Ruled(_));
        assert_eq!(
            !tests.is_empty(),
            shown,
            "{place}: a test, a ruling with a test, or a reason: {says}"
        );
        let distinct: BTreeSet<_> = tests.iter().collect();
        assert_eq!(distinct.len(), tests.len(), "{place}: {says}");
    });
}

#[test]
fn every_test_that_is_named_is_in_the_tree() {
    let tree = tree::tests(&repository());
    let mut lost = BTreeSet::new();
    each_statement(|place, statement| {
        let unknown = statement
            .tests
            .iter()
            .filter(|name| !tree.contains_key(name.as_str()));
        lost.extend(unknown.map(|name| format!("{name} ({place})")));
    });
    let lost: Vec<_> = lost.into_iter().collect();
    assert!(lost.is_empty(), "no such test:\n{}", lost.join("\n"));
}

/// Writes the page if `UPDATE_DOCS` says so, and otherwise holds it against what it should be.
fn assert_current(path: &str, before: &str, after: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(repository().join(path), after).unwrap();
        return;
    }
    let stale = before
        .lines()
        .zip(after.lines())
        .find(|(old, new)| old != new);
    let how = "UPDATE_DOCS=1 cargo test -p matchday-core --test traceability -- --test-threads 1";
    assert!(before == after, "{path} is stale, at {stale:?}: {how}");
}

#[test]
fn the_page_of_statements_leads_from_each_to_its_tests() {
    let path = "docs/sources.md";
    let before = std::fs::read_to_string(repository().join(path)).unwrap_or_default();
    assert_current(
        path,
        &before,
        &pages::statements(&documents(), &tree::tests(&repository())),
    );
}

#[test]
fn no_statement_is_pending() {
    let mut pending = Vec::new();
    each_statement(|place, statement| {
        if let Kind::Pending(issue) = statement.kind() {
            pending.push(format!("{place}: {} ({issue})", statement.says));
        }
    });
    assert!(
        pending.is_empty(),
        "{} statements have no test yet:\n{}",
        pending.len(),
        pending.join("\n")
    );
}
