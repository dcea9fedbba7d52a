//! Starter agents: small, complete players to begin from, one for each language. Their files are real ones, under
//! `starters/` beside `src/`, and are part of the program; all that is filled in is the player's name. Touches nothing
//! outside memory.

mod files;
mod literal;

use clap::ValueEnum;
use matchday_core::protocol::DisplayName;

/// Where the name goes. It stands inside a text of the language, so that every template is a valid file as it is.
const NAME: &str = "{{NAME}}";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Python,
    Typescript,
    Rust,
    Go,
}

/// A file of a starter, with its path below the starter's folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) path: &'static str,
    pub(crate) text: String,
}

impl Language {
    /// Everything that a player of this name consists of.
    pub(crate) fn player(self, name: &DisplayName) -> Vec<File> {
        let fill = |(path, template): &(&'static str, &str)| {
            let name = match path.ends_with(".md") {
                true => literal::markdown(name.raw()),
                false => literal::string(self, name.raw()),
            };
            File { path, text: template.replace(NAME, &name) }
        };
        self.templates().iter().map(fill).collect()
    }

    /// How it is started from its folder, and how its tests are.
    pub(crate) fn commands(self) -> (&'static str, &'static str) {
        match self {
            Self::Python => ("python3 agent.py", "python3 -m unittest"),
            Self::Typescript => ("node main.ts", "node --test"),
            Self::Rust => ("cargo run --", "cargo test"),
            Self::Go => ("go run .", "go test"),
        }
    }

    /// The file that an author changes first.
    pub(crate) fn strategy(self) -> &'static str {
        match self {
            Self::Python => "strategy.py",
            Self::Typescript => "strategy.ts",
            Self::Rust => "src/strategy.rs",
            Self::Go => "strategy.go",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn ada(language: Language) -> Vec<File> {
        language.player(&DisplayName::parse("Ada").unwrap())
    }

    #[test]
    fn the_name_is_filled_in_everywhere() {
        for language in Language::value_variants() {
            let files = ada(*language);
            assert!(files.iter().all(|file| !file.text.contains(NAME)), "{language:?}");
            assert_eq!(files.iter().filter(|file| file.text.contains("Ada")).count(), 2, "{language:?}");
        }
    }

    #[test]
    fn every_file_of_a_starter_is_part_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("starters");
        for language in Language::value_variants() {
            let known: BTreeSet<_> = ada(*language).iter().map(|file| PathBuf::from(file.path)).collect();
            let root = folder.join(format!("{language:?}").to_lowercase());
            let mut there = BTreeSet::new();
            let mut folders = vec![root.clone()];
            while let Some(folder) = folders.pop() {
                for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                    let made_by_tools =
                        ["__pycache__", "node_modules", "target"].iter().any(|name| path.ends_with(name));
                    if path.is_dir() && !made_by_tools {
                        folders.push(path);
                    } else if path.is_file() {
                        there.insert(path.strip_prefix(&root).unwrap().to_owned());
                    }
                }
            }
            assert_eq!(known, there, "{language:?}");
        }
    }

    #[test]
    fn the_readme_names_the_commands() {
        for language in Language::value_variants() {
            let files = ada(*language);
            let readme = &files.iter().find(|file| file.path == "README.md").unwrap().text;
            let (run, test) = language.commands();
            for command in [run, test, language.strategy()] {
                assert!(readme.contains(command), "{language:?}: {command}");
            }
        }
    }
}
