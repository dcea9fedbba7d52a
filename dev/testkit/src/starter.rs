//! A starter of `matchday new` in a folder of its own, and the tools of its language.

use crate::cli::{self, Cli, free_address, output};
use crate::tools;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A name that is no valid text in any language unless it is escaped.
pub const NAME: &str = "Zoë \"the\" \\ ${x} {y} '\u{1f409}";

pub struct Starter {
    language: &'static str,
    tool: PathBuf,
    folder: PathBuf,
    /// Starters in Rust share a target folder, so that one at a time builds and runs its program there.
    _target_lock: Option<File>,
}

impl Starter {
    /// `None`, with a line that says so, where the language is not on this machine.
    pub fn write(cli: &Cli, language: &str) -> Option<Self> {
        Self::write_with(cli, language, &[])
    }

    /// With more options of `matchday new`.
    pub fn write_with(cli: &Cli, language: &str, options: &[&str]) -> Option<Self> {
        let (language, found) = match language {
            "python" => ("python", tool("python3", "--version", "Python ", (3, 9))),
            "typescript" => (
                "typescript",
                packaged_node().or_else(|| tool("node", "--version", "v", (22, 18))),
            ),
            "rust" => ("rust", Some(env!("CARGO").into())),
            "go" => ("go", tool("go", "version", "go version go", (1, 19))),
            other => panic!("no starter is written in {other}"),
        };
        if !tools::require_that(
            found.is_some(),
            &format!("{language} is not installed, or is too old"),
        ) {
            return None;
        }
        let tool = found?;
        // Taken before the files are written: cargo takes the program of another starter for this one's if its files are older.
        let _target_lock = (language == "rust").then(|| {
            let lock = File::create(tools::folder().join("starters/rust.lock")).unwrap();
            lock.lock().unwrap();
            lock
        });
        let folder = cli.path().join("starter");
        let written = cli.run(
            &[
                &[
                    "new", "player", "--lang", language, "starter", "--name", NAME,
                ],
                options,
            ]
            .concat(),
        );
        assert_eq!(written.code, 0, "{written:?}");
        Some(Self {
            language,
            tool,
            folder,
            _target_lock,
        })
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = cli::command(program);
        command.args(args).current_dir(&self.folder);
        // What this test was built with is no business of the starter's build, which is kept between runs.
        command
            .env("CARGO_TARGET_DIR", tools::folder().join("starters/rust"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        command
    }

    /// Runs the starter's own tests.
    pub fn test(&self) {
        let args: &[&str] = match self.language {
            "python" => &["-m", "unittest"],
            "typescript" => &["--test"],
            "rust" => &["test", "--locked"],
            _ => &["test"],
        };
        let done = output(self.command(&self.tool, args));
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        let said = format!("{}{}", done.out, done.err);
        let counted = [
            "Ran 12 tests",
            "# pass 11",
            "\u{2139} pass 11",
            "12 passed",
            "ok  \tplayer",
        ];
        assert!(counted.iter().any(|words| said.contains(words)), "{said}");
        let errors = ["Traceback", "panicked", "Error:", "refused "];
        assert!(!errors.iter().any(|words| said.contains(words)), "{said}");
    }

    /// Compiles a starter in TypeScript, and runs its tests, with the Node of the machine: what `npm test` does.
    pub fn compile_and_test(&self) {
        let Some(tools) = tools::require_installed(
            "starters/typescript",
            "crates/matchday/tests/starters/install",
        ) else {
            return;
        };
        #[cfg(unix)]
        std::os::unix::fs::symlink(tools.join("node_modules"), self.folder.join("node_modules"))
            .unwrap();
        #[cfg(windows)]
        std::os::windows::fs::symlink_dir(
            tools.join("node_modules"),
            self.folder.join("node_modules"),
        )
        .unwrap();
        let Some(node) = tool("node", "--version", "v", (20, 0)) else {
            return;
        };
        for args in [
            &["node_modules/typescript/bin/tsc"][..],
            &["--test", "build/agent.test.js"],
        ] {
            let done = output(self.command(&node, args));
            assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        }
    }

    /// The command that starts it, on a free port.
    pub fn run(&self, manager: &str) -> Command {
        self.start(&["--listen", &free_address(), "--manager", manager])
    }

    /// The command that starts it without a socket, called through the relay of the league.
    pub fn dial(&self, league: &str) -> Command {
        self.start(&["--dial", "--name", self.language, "--manager", league])
    }

    /// The command that starts it with options of its own. Builds it if need be.
    pub fn start(&self, own: &[&str]) -> Command {
        let built = self.folder.join("player-of-the-test");
        let (program, args): (&Path, &[&str]) = match self.language {
            "python" => (&self.tool, &["agent.py"]),
            "typescript" => (&self.tool, &["main.ts"]),
            // Cargo becomes the program that it runs.
            "rust" => (&self.tool, &["run", "--locked", "--quiet", "--"]),
            _ => (&built, &[]),
        };
        let build: &[&str] = match self.language {
            "rust" => &["build", "--locked"],
            "go" => &["build", "-o", "player-of-the-test"],
            _ => &[],
        };
        if !build.is_empty() {
            let done = output(self.command(&self.tool, build));
            assert_eq!(done.code, 0, "{}", done.err);
        }
        let mut command = self.command(program, args);
        command.args(own);
        command
    }
}

/// Node as `./test` installs it.
fn packaged_node() -> Option<PathBuf> {
    let folders =
        ["mcp", "starters/node"].map(|folder| tools::folder().join(folder).join("node_modules"));
    let node = |folder: &PathBuf| {
        let kinds = ["x64", "arm64"].map(|kind| folder.join(format!("node-linux-{kind}/bin/node")));
        kinds.into_iter().find(|path| path.exists())
    };
    folders.iter().find_map(node)
}

/// A tool of the machine, if it is there and its version, after `prefix`, is new enough.
fn tool(name: &str, ask: &str, prefix: &str, wanted: (u32, u32)) -> Option<PathBuf> {
    let output = Command::new(name).arg(ask).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    let mut numbers = said
        .strip_prefix(prefix)?
        .split(|character: char| !character.is_ascii_digit());
    let mut number = || numbers.next()?.parse::<u32>().ok();
    ((number()?, number()?) >= wanted).then(|| name.into())
}
