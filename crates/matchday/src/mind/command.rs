//! A program decides: one process a turn. It reads the turn as one line of JSON from its standard input and writes the
//! move to its standard output; what it writes to its standard error is shown in the journal, and kept as the reason if it
//! fails. It lives no longer than the turn, and neither does anything that it starts. It does not see our own settings.

use super::reading::{shown, whole};
use crate::cores;
use crate::shell::Mind;
use crate::shell::mind::{Considered, Deciding};
use matchday_core::player::TurnSheet;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::str::FromStr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// What stands before the program where a strategy is named.
pub const PREFIX: &str = "command:";
/// How the environment variables with settings of ours begin.
const SETTINGS: &[u8] = b"MATCHDAY_";
/// A move is short: a program that writes more than this is not writing a move.
const OUTPUT_MAX: usize = 64 * 1024;
/// How much of the end of its standard error is kept.
const ERRORS_MAX: usize = 4 * 1024;
/// How long its standard error is read on when it has ended. Someone whom it has left behind may keep it open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    args: Vec<String>,
}

/// Why a text names no program that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    #[error("{PREFIX} needs a program, as in {PREFIX}./my_program")]
    Nameless,
    #[error("there is no program {0:?} that can be run: name an executable file")]
    NotThere(String),
}

/// `./my_program --fast`: words between spaces; the first is the program, a path or a name on the PATH.
impl FromStr for Program {
    type Err = NoProgram;

    fn from_str(text: &str) -> Result<Self, NoProgram> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let name = words.next().ok_or(NoProgram::Nameless)?;
        let path = find(&name).ok_or(NoProgram::NotThere(name))?;
        Ok(Self { path, args: words.collect() })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.words())
    }
}

fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| can_run(path));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| can_run(path))
}

fn can_run(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

impl Mind for Program {
    fn decide(&self, turn: TurnSheet) -> Deciding {
        let program = self.clone();
        Box::pin(async move { program.consider(&turn).await })
    }
}

impl Program {
    async fn consider(&self, turn: &TurnSheet) -> Considered {
        let mut child = match self.start(Stdio::piped()) {
            Ok(child) => child,
            Err(error) => return Err(format!("{} cannot be started: {error}", self.path.display())).into(),
        };
        let _group = child.id().and_then(Group::of);
        let (output, errors, status) = match converse(&mut child, turn).await {
            Ok(said) => said,
            Err(error) => return Err(format!("the program cannot be spoken to: {error}")).into(),
        };
        let decision = match (status, output) {
            (_, None) => Err(format!("the program writes more than {OUTPUT_MAX} bytes")),
            (Some(status), Some(_)) if !status.success() => Err(format!("the program failed: {status}")),
            (_, Some(output)) => match std::str::from_utf8(&output) {
                Ok(reply) => whole(reply, &turn.options),
                Err(_) => Err("what the program writes is not text".to_owned()),
            },
        };
        match (decision, last_line(&errors)) {
            // Where it crashed, its last words are the reason, and kept with it.
            (Err(why), Some(last)) => Err(format!("{why}; its last words: {last}")).into(),
            (decision, remark) => Considered { decision, remark },
        }
    }

    /// Starts it, to be spoken to; its errors go where they are said to go.
    pub(super) fn start(&self, errors: Stdio) -> std::io::Result<Child> {
        let mut command = Command::new(&self.path);
        // A group of its own, so that Ctrl-C here does not end it first and its own children end with it.
        command.args(&self.args).process_group(0).kill_on_drop(true);
        // Our own settings hold tokens and keys, which are none of its business.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(SETTINGS))
        {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        cores::at_large(|| command.spawn())
    }

    /// As it was written.
    pub(super) fn words(&self) -> String {
        let path = self.path.display().to_string();
        std::iter::once(path).chain(self.args.iter().cloned()).collect::<Vec<_>>().join(" ")
    }
}

/// What the program wrote, `None` if too much; the end of its errors; how it ended, if it was waited for.
type Said = (Option<Vec<u8>>, Vec<u8>, Option<ExitStatus>);

/// Tells the turn and listens. All pipes are served at once, so that neither side can wait for the other.
async fn converse(child: &mut Child, turn: &TurnSheet) -> std::io::Result<Said> {
    let mut line = serde_json::to_vec(turn)?;
    line.push(b'\n');
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let telling = async {
        if let Some(mut stdin) = stdin {
            // A program need not listen to the end, or at all.
            let _ = stdin.write_all(&line).await;
        }
    };
    let listening = async {
        let output = read_move(stdout).await?;
        // One that writes on and on is not waited for.
        let status = if output.is_some() { Some(child.wait().await?) } else { None };
        std::io::Result::Ok((output, status))
    };
    let mut errors = Vec::new();
    let said = {
        let mut conversation = pin!(async { tokio::join!(telling, listening).1 });
        let mut hearing = pin!(read_tail(stderr, &mut errors));
        tokio::select! {
            said = &mut conversation => {
                // It is over; its last words are on their way at most.
                let _ = timeout(LAST_WORDS, hearing).await;
                said
            }
            _ = &mut hearing => conversation.await,
        }
    };
    let (output, status) = said?;
    Ok((output, errors, status))
}

/// All that comes, unless it is too much.
async fn read_move(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Option<Vec<u8>>> {
    let mut output = Vec::new();
    if let Some(from) = from {
        let most = u64::try_from(OUTPUT_MAX).unwrap_or(u64::MAX);
        from.take(most + 1).read_to_end(&mut output).await?;
    }
    Ok(Some(output).filter(|output| output.len() <= OUTPUT_MAX))
}

/// The end of what comes.
async fn read_tail(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> std::io::Result<()> {
    let Some(mut from) = from else {
        return Ok(());
    };
    let mut piece = [0; ERRORS_MAX];
    loop {
        let count = from.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        into.extend_from_slice(piece.get(..count).unwrap_or_default());
        into.drain(..into.len().saturating_sub(ERRORS_MAX));
    }
}

/// What went wrong usually stands in the last line.
fn last_line(errors: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(errors);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(shown)
}

/// A program's processes. When it is dropped they end, whatever they are doing.
#[derive(Debug)]
pub(super) struct Group(Pid);

impl Group {
    pub(super) fn of(leader: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(leader).ok()?).map(Self)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // If none of them is left, there is nobody to end.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}
