//! A program and its arguments, as an operator names them, and how it is started: with a part of our environment, and unable
//! to read the rest.

use super::launcher;
use matchday_os::{environment, file, process, program};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use tokio::process::Child;

/// The prefix of a strategy that is a program.
pub const PREFIX: &str = "command:";

/// The names of the variables that programs are given beyond the usual ones. The environment is the whole process's, and so
/// is this.
static FURTHER_VARIABLES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From now on programs are given these variables of our environment too.
pub fn hand_on(variables: Vec<String>) {
    *FURTHER_VARIABLES
        .lock()
        .unwrap_or_else(PoisonError::into_inner) = variables;
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    args: Vec<String>,
}

/// Why a text names no program that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    #[error("{PREFIX} needs a program, as in {PREFIX}./my_program")]
    Missing,
    #[error("there is no program {0:?} that can be run: name an executable file")]
    NotFound(String),
}

/// `./my_program --fast`: words between spaces; the first is the program, a path or a name on the PATH.
impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let name = words.next().ok_or(ProgramError::Missing)?;
        let path = find(&name).ok_or(ProgramError::NotFound(name))?;
        Ok(Self {
            path,
            args: words.collect(),
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.command_line())
    }
}

fn find(name: &str) -> Option<PathBuf> {
    if name.contains(std::path::is_separator) {
        return file::program(Path::new(name));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| file::program(&folder.join(name)))
}

impl Program {
    /// Starts the program with piped standard input and output, and standard error to `errors`.
    pub(super) fn start(&self, errors: Stdio) -> io::Result<Child> {
        self.start_with(Stdio::piped(), Stdio::piped(), errors)
    }

    /// Starts it as an agent, which writes to our own standard output and error.
    pub fn start_agent(&self) -> io::Result<Child> {
        self.start_with(Stdio::null(), Stdio::inherit(), Stdio::inherit())
    }

    fn start_with(&self, input: Stdio, output: Stdio, errors: Stdio) -> io::Result<Child> {
        // Its parent's secrets are readable in /proc otherwise.
        program::keep_memory_private();
        let mut command = launcher::command(&self.path);
        // A process group, so that Ctrl-C here does not end it first, and its children can be killed with it.
        command.args(&self.args).kill_on_drop(true);
        process::lead_group(&mut command);
        let further = FURTHER_VARIABLES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        command
            .env_clear()
            .envs(environment::for_programs(&further));
        command.stdin(input).stdout(output).stderr(errors);
        let cannot = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("{} cannot be started: {error}", self.path.display()),
            )
        };
        launcher::spawn(command).map_err(cannot)
    }

    /// Path and arguments, as they were written.
    pub(super) fn command_line(&self) -> String {
        let path = self.path.display().to_string();
        std::iter::once(path)
            .chain(self.args.iter().cloned())
            .collect::<Vec<_>>()
            .join(" ")
    }
}
