//! Starter agents: small, complete players, one for each language. Their files are in `starters/` beside `src/` and
//! are compiled in; only the names of player and game are filled in. No I/O.

mod files;
mod literal;

use clap::ValueEnum;
use matchday_core::game;
use matchday_core::protocol::{DisplayName, GameType};

/// The placeholder of the name. It is inside a string literal, so that every template is a valid source file.
const NAME: &str = "{{NAME}}";
/// The placeholder of the game in a README.
const GAME: &str = "{{GAME}}";
/// The game of the sources, which are complete players of it: another takes its place.
const GAME_LITERAL: &str = "\"even_odd\"";
/// A strategy that asks a language model, in the place of the plain one.
const LLM_STRATEGY: &str = "strategy_llm.py";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Python,
    Typescript,
    Rust,
    Go,
}

/// Where commands are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Unix,
    Windows,
}

impl System {
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commands {
    /// What is needed once, before the first run.
    pub install: Option<&'static str>,
    pub run: &'static str,
    pub test: &'static str,
}

/// A file, with its path inside the starter's folder.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    pub path: &'static str,
    pub text: String,
}

/// What a starter plays, and how.
#[derive(Debug)]
pub struct Options<'a> {
    pub name: &'a DisplayName,
    pub game: &'a GameType,
    /// Whether a language model chooses.
    pub asks_model: bool,
    /// Where its author works: the README has the commands as they are typed there.
    pub system: System,
}

impl Language {
    pub fn player(self, options: &Options<'_>) -> Vec<File> {
        let name = options.name.raw();
        let fill = |(path, template): &(&'static str, &str)| {
            let name = if path.ends_with(".md") {
                literal::markdown(name)
            } else {
                literal::string(self, name)
            };
            let game = options.game.as_str();
            let text = match options.system {
                System::Windows => template.replace("python3 ", "py "),
                System::Unix => (*template).to_owned(),
            };
            let text = text
                .replace(GAME, game)
                .replace(GAME_LITERAL, &format!("\"{game}\""));
            File {
                path,
                text: text.replace(NAME, &name),
            }
        };
        let unused = if options.asks_model {
            self.strategy()
        } else {
            LLM_STRATEGY
        };
        let mut files: Vec<File> = self
            .templates()
            .iter()
            .filter(|(path, _)| *path != unused)
            .map(fill)
            .collect();
        for file in files.iter_mut().filter(|file| file.path == LLM_STRATEGY) {
            file.path = self.strategy();
        }
        // The rules of another game are with the league that plays it.
        let rules = game::find(options.game).map(|entry| entry.rules.to_owned());
        files.extend(rules.map(|text| File {
            path: "RULES.md",
            text,
        }));
        files
    }

    /// Whether there is a starter in this language that asks a model.
    pub fn has_model_strategy(self) -> bool {
        self.templates()
            .iter()
            .any(|(path, _)| *path == LLM_STRATEGY)
    }

    /// What its author types, in the folder of the starter.
    pub fn commands(self, system: System) -> Commands {
        let (install, run, test) = match (self, system) {
            (Self::Python, System::Unix) => (None, "python3 agent.py", "python3 -m unittest"),
            (Self::Python, System::Windows) => (None, "py agent.py", "py -m unittest"),
            (Self::Typescript, _) => (Some("npm install"), "npm start", "npm test"),
            (Self::Rust, _) => (None, "cargo run --", "cargo test"),
            (Self::Go, _) => (None, "go run .", "go test"),
        };
        Commands { install, run, test }
    }

    /// What must be on the machine of its author.
    pub fn needs(self) -> &'static str {
        match self {
            Self::Python => "Python 3.9 or later",
            Self::Typescript => "Node 20 or later",
            Self::Rust => "Rust 1.89 or later",
            Self::Go => "Go 1.19 or later",
        }
    }

    /// The command that runs it with these options.
    pub fn run_with(self, system: System, options: &str) -> String {
        let run = self.commands(system).run;
        // What `npm start` is to hand on stands after two dashes.
        let separator = if self == Self::Typescript { " --" } else { "" };
        format!("{run}{separator} {options}")
    }

    pub fn strategy(self) -> &'static str {
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

    fn player(language: Language, game: &str, asks_model: bool) -> Vec<File> {
        let name = DisplayName::parse("Ada").unwrap();
        let game = GameType::new(game);
        language.player(&Options {
            name: &name,
            game: &game,
            asks_model,
            system: System::Unix,
        })
    }

    fn ada(language: Language) -> Vec<File> {
        player(language, "even_odd", false)
    }

    #[test]
    fn the_name_is_filled_in_everywhere() {
        for language in Language::value_variants() {
            let files = ada(*language);
            assert!(
                files
                    .iter()
                    .all(|file| !file.text.contains(NAME) && !file.text.contains(GAME)),
                "{language:?}"
            );
            assert_eq!(
                files
                    .iter()
                    .filter(|file| file.text.contains("Ada"))
                    .count(),
                2,
                "{language:?}"
            );
        }
    }

    #[test]
    fn every_file_of_a_starter_is_part_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("starters");
        for language in Language::value_variants() {
            let known: BTreeSet<_> = language
                .templates()
                .iter()
                .map(|(path, _)| PathBuf::from(path))
                .collect();
            let root = folder.join(format!("{language:?}").to_lowercase());
            let mut there = BTreeSet::new();
            let mut folders = vec![root.clone()];
            while let Some(folder) = folders.pop() {
                for path in std::fs::read_dir(folder)
                    .unwrap()
                    .map(|entry| entry.unwrap().path())
                {
                    let made_by_tools = ["__pycache__", "build", "node_modules", "target"]
                        .iter()
                        .any(|name| path.ends_with(name));
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
    fn a_starter_knows_its_game_and_the_rules_of_those_that_are_built_in() {
        for language in Language::value_variants() {
            let has_rules = |files: &[File]| files.iter().any(|file| file.path == "RULES.md");
            let nim = player(*language, "nim", false);
            assert!(
                has_rules(&nim) && nim.iter().any(|file| file.text.contains("\"nim\"")),
                "{language:?}"
            );
            assert!(
                !has_rules(&player(*language, "openspiel_hex", false)),
                "{language:?}"
            );
        }
    }

    #[test]
    fn the_strategy_that_asks_a_model_takes_the_place_of_the_plain_one() {
        let strategy = |asks_model| {
            let files = player(Language::Python, "nim", asks_model);
            assert!(files.iter().all(|file| file.path != LLM_STRATEGY));
            files
                .into_iter()
                .find(|file| file.path == "strategy.py")
                .unwrap()
                .text
        };
        assert!(strategy(true).contains("LLM_MODEL") && !strategy(false).contains("LLM_MODEL"));
    }

    #[test]
    fn the_readme_names_the_commands() {
        for language in Language::value_variants() {
            let files = ada(*language);
            let readme = &files
                .iter()
                .find(|file| file.path == "README.md")
                .unwrap()
                .text;
            let Commands { install, run, test } = language.commands(System::Unix);
            let needs = language.needs();
            for command in [
                Some(run),
                Some(test),
                Some(needs),
                install,
                Some(language.strategy()),
            ]
            .into_iter()
            .flatten()
            {
                assert!(readme.contains(command), "{language:?}: {command}");
            }
        }
    }

    #[test]
    fn windows_has_no_python3() {
        let name = DisplayName::parse("Ada").unwrap();
        let game = GameType::new("even_odd");
        let files = Language::Python.player(&Options {
            name: &name,
            game: &game,
            asks_model: false,
            system: System::Windows,
        });
        assert!(files.iter().all(|file| !file.text.contains("python3")));
        let readme = files.iter().find(|file| file.path == "README.md").unwrap();
        assert!(readme.text.contains("py agent.py") && readme.text.contains("py -m unittest"));
    }
}
