//! A program and its arguments, as an operator names them, and how it is started. It does not see our own settings.

use matchday_os::file::is_executable;
use matchday_os::process;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::str::FromStr;
use tokio::process::{Child, Command};

/// The prefix of a strategy that is a program.
pub const PREFIX: &str = "command:";
/// The prefix of environment variables with our settings.
const SETTINGS: &[u8] = b"MATCHDAY_";

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
        Ok(Self { path, args: words.collect() })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.command_line())
    }
}

fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

impl Program {
    /// Starts the program with piped standard input and output, and standard error to `errors`.
    pub(super) fn start(&self, errors: Stdio) -> io::Result<Child> {
        self.start_with(Stdio::piped(), Stdio::piped(), errors)
    }

    /// Starts it as an agent, which writes to our own standard output and error.
    pub(crate) fn start_agent(&self) -> io::Result<Child> {
        self.start_with(Stdio::null(), Stdio::inherit(), Stdio::inherit())
    }

    fn start_with(&self, input: Stdio, output: Stdio, errors: Stdio) -> io::Result<Child> {
        let mut command = Command::new(&self.path);
        // A process group, so that Ctrl-C here does not end it first, and its children can be killed with it.
        command.args(&self.args).kill_on_drop(true);
        process::lead_group(&mut command);
        // Our settings hold tokens and keys.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(SETTINGS))
        {
            command.env_remove(name);
        }
        command.stdin(input).stdout(output).stderr(errors);
        let cannot = |error: io::Error| {
            io::Error::new(error.kind(), format!("{} cannot be started: {error}", self.path.display()))
        };
        command.spawn().map_err(cannot)
    }

    /// Path and arguments, as they were written.
    pub(super) fn command_line(&self) -> String {
        let path = self.path.display().to_string();
        std::iter::once(path).chain(self.args.iter().cloned()).collect::<Vec<_>>().join(" ")
    }
}
