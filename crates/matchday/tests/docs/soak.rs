//! `./soak` lists the long runs, each with a target that exists.

use crate::root;
use matchday_testkit::cli::command;
use std::path::{Path, PathBuf};
use std::process::Output;

fn soak(args: &[&str]) -> Output {
    command(root().join("soak").to_str().unwrap())
        .args(args)
        .output()
        .unwrap()
}

/// The folder of a package of the workspace.
fn folder(package: &str) -> PathBuf {
    let line = format!("name = \"{package}\"\n");
    let of = |group: &str| {
        std::fs::read_dir(root().join(group))
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    let mut folders = of("crates").chain(of("dev"));
    let found = folders.find(|folder| {
        std::fs::read_to_string(folder.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.contains(&line))
    });
    found.unwrap_or_else(|| panic!("there is no package {package}"))
}

fn is_target(package: &Path, kind: &str, name: &str) -> bool {
    package.join(kind).join(name).join("main.rs").exists()
        || package.join(kind).join(format!("{name}.rs")).exists()
}

#[test]
fn every_soak_has_a_line_and_a_target() {
    let script = std::fs::read_to_string(root().join("soak")).unwrap();
    let (_, rows) = script.split_once("<<'END'\n").unwrap();
    let rows: Vec<Vec<&str>> = rows
        .split_once("\nEND\n")
        .unwrap()
        .0
        .lines()
        .map(|row| row.split('|').map(str::trim).collect())
        .collect();
    for row in &rows {
        let [name, about, command] = row[..] else {
            panic!("{row:?}")
        };
        assert!(!name.is_empty() && !about.is_empty());
        let words: Vec<&str> = command.split(' ').collect();
        let after = |flag: &str| Some(words[words.iter().position(|word| *word == flag)? + 1]);
        for (flag, kind) in [
            ("--test", "tests"),
            ("--example", "examples"),
            ("--bench", "benches"),
        ] {
            if let Some(target) = after(flag) {
                let package = after("-p").unwrap();
                assert!(
                    is_target(&folder(package), kind, target),
                    "{name}: {package} has no {flag} {target}"
                );
            }
        }
    }
    let listed = String::from_utf8(soak(&[]).stdout).unwrap();
    assert_eq!(listed.lines().count(), rows.len(), "{listed}");
}

#[test]
fn an_unknown_soak_is_refused() {
    let refused = soak(&["nothing"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
