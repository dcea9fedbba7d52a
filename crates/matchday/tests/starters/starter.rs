//! A starter in a folder of its own, and the tools of its language.

use crate::ground::{Ground, done, free_address};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A name that is no valid text in any language unless it is escaped.
pub(crate) const NAME: &str = "Zoë \"the\" \\ ${x} {y} '\u{1f409}";

pub(crate) struct Starter {
    language: &'static str,
    tool: PathBuf,
    folder: PathBuf,
}

impl Starter {
    /// `None`, with a line that says so, where the language is not on this machine.
    pub(crate) fn write(ground: &Ground, language: &str) -> Option<Self> {
        let (language, found) = match language {
            "python" => ("python", tool("python3", "--version", "Python ", (3, 9))),
            "typescript" => {
                ("typescript", packaged_node().or_else(|| tool("node", "--version", "v", (22, 18))))
            }
            "rust" => ("rust", Some(env!("CARGO").into())),
            "go" => ("go", tool("go", "version", "go version go", (1, 19))),
            other => panic!("no starter is written in {other}"),
        };
        let Some(tool) = found else {
            println!("left out: {language} is not on this machine, or is too old");
            return None;
        };
        let folder = ground.path().join("starter");
        let written = ground.run(&["new", "player", "--lang", language, "starter", "--name", NAME]);
        assert_eq!(written.code, 0, "{written:?}");
        Some(Self { language, tool, folder })
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MATCHDAY_")) {
            command.env_remove(name);
        }
        command.args(args).current_dir(&self.folder).stdin(Stdio::null());
        // What this test was built with is no business of the starter's build, which is kept between runs.
        command.env("CARGO_TARGET_DIR", tools().join("starters/rust")).env("CARGO_PROFILE_DEV_DEBUG", "0");
        command
    }

    /// Runs the starter's own tests.
    pub(crate) fn test(&self) {
        let args: &[&str] = match self.language {
            "python" => &["-m", "unittest"],
            "typescript" => &["--test"],
            "rust" => &["test", "--locked"],
            _ => &["test"],
        };
        let done = done(self.command(&self.tool, args));
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        let said = format!("{}{}", done.out, done.err);
        let counted = ["Ran 9 tests", "# pass 9", "\u{2139} pass 9", "9 passed", "ok  \tplayer"];
        assert!(counted.iter().any(|words| said.contains(words)), "{said}");
    }

    /// The command that starts it, on a free port.
    pub(crate) fn run(&self, manager: &str) -> Command {
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
            let done = done(self.command(&self.tool, build));
            assert_eq!(done.code, 0, "{}", done.err);
        }
        let mut command = self.command(program, args);
        command.args(["--listen", &free_address(), "--manager", manager]);
        command
    }
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools")
}

/// Node as `./test` installs it.
fn packaged_node() -> Option<PathBuf> {
    let folders = ["mcp", "starters/node"].map(|folder| tools().join(folder).join("node_modules"));
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
    let mut numbers = said.strip_prefix(prefix)?.split(|character: char| !character.is_ascii_digit());
    let mut number = || numbers.next()?.parse::<u32>().ok();
    ((number()?, number()?) >= wanted).then(|| name.into())
}
