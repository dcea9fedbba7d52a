//! The documentation: its links lead somewhere, its commands work, its samples are what the program prints.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[cfg(unix)]
mod commands;
mod games;
mod help;
mod links;
mod markdown;
mod routes;
mod sample;
mod soak;

use std::path::PathBuf;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");

/// The folder of the project.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every page of the documentation, as paths below the project's folder.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ]
    .map(str::to_owned)
    .into();
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}
