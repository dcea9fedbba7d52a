//! The tests of the whole workspace, found in its source files by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The path of the file in which each test stands, from the root of the repository, by the test's name:
/// `core::manager::rounds::test` for `crates/core/tests/manager/rounds.rs`, and
/// `core::src::protocol::time::test` for a test within `crates/core/src/protocol/time.rs`.
pub(crate) fn tests(repository: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for crates in ["crates", "dev"] {
        for entry in fs::read_dir(repository.join(crates)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            for (folder, prefix) in [("tests", name.clone()), ("src", format!("{name}::src"))] {
                let folder = format!("{crates}/{name}/{folder}");
                search(repository, &folder, &prefix, &mut found);
            }
        }
    }
    found
}

fn search(repository: &Path, folder: &str, module: &str, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(repository.join(folder)) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        if entry.file_type().unwrap().is_dir() {
            search(repository, &path, &format!("{module}::{name}"), found);
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let module = match stem {
                "main" | "lib" | "mod" => module.to_owned(),
                stem => format!("{module}::{stem}"),
            };
            let text = fs::read_to_string(entry.path()).unwrap();
            found.extend(names(&text).map(|test| (format!("{module}::{test}"), path.clone())));
        }
    }
}

/// The functions that follow `#[test]` or `#[tokio::test]`, whatever attributes stand in between.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut marked = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        marked |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let rest = line
            .strip_prefix("async ")
            .unwrap_or(line)
            .strip_prefix("fn ")?;
        std::mem::take(&mut marked).then(|| rest.split(['(', '<']).next())?
    })
}

#[test]
fn tests_are_found_by_crate_suite_and_module() {
    let here = tests(&crate::repository());
    let path = "crates/core/tests/traceability/tree.rs";
    assert_eq!(
        here["core::traceability::tree::tests_are_found_by_crate_suite_and_module"],
        path
    );
    assert!(here.contains_key("core::src::protocol::time::every_utc_form_of_the_sources_is_read"));
    assert!(
        !here.contains_key("core::traceability::tree::names"),
        "a function that is no test"
    );
}
