//! One process a turn: it reads the turn as one line of JSON from standard input, which is then closed, and writes the move to
//! standard output. Its process group is killed after the turn.

use super::command::Program;
use super::stderr_tail::{last_line, read_tail};
use matchday_os::process::ProcessGroup;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::time::timeout;

/// A longer output is no move.
const OUTPUT_MAX: usize = 64 * 1024;
/// How long standard error is read after the program has ended. A child of the program may keep it open.
const STDERR_TIMEOUT: Duration = Duration::from_millis(100);

/// The whole output of a program that ended well, or why there is none; and the last line of its standard error.
pub(super) async fn run(
    program: &Program,
    line: &[u8],
) -> (Result<String, String>, Option<String>) {
    let mut child = match program.start(Stdio::piped()) {
        Ok(child) => child,
        Err(error) => return (Err(error.to_string()), None),
    };
    let _group = child.id().and_then(ProcessGroup::of);
    let (output, errors, status) = match exchange(&mut child, line).await {
        Ok(output) => output,
        Err(error) => {
            return (
                Err(format!("the program cannot be spoken to: {error}")),
                None,
            );
        }
    };
    let reply = match (status, output) {
        (_, None) => Err(format!("the program writes more than {OUTPUT_MAX} bytes")),
        (Some(status), Some(_)) if !status.success() => {
            Err(format!("the program failed: {status}"))
        }
        (_, Some(output)) => {
            String::from_utf8(output).map_err(|_| "what the program writes is not text".to_owned())
        }
    };
    (reply, last_line(&errors))
}

/// What the program wrote, `None` if too much; the end of its errors; how it ended, if it was waited for.
type ProgramOutput = (Option<Vec<u8>>, Vec<u8>, Option<ExitStatus>);

/// Writes the turn and reads the move. All pipes are served at once, so that neither side blocks the other.
async fn exchange(child: &mut Child, line: &[u8]) -> std::io::Result<ProgramOutput> {
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let mut stderr = child.stderr.take();
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A program need not read its input.
            let _ = stdin.write_all(line).await;
        }
    };
    let reading = async {
        let output = read_move(stdout).await?;
        // A program that writes too much is not waited for.
        let status = if output.is_some() {
            Some(child.wait().await?)
        } else {
            None
        };
        std::io::Result::Ok((output, status))
    };
    let mut errors = Vec::new();
    let output = {
        let mut exchange = pin!(async { tokio::join!(writing, reading).1 });
        let mut reading_errors = pin!(read_tail(stderr.as_mut(), &mut errors));
        tokio::select! {
            output = &mut exchange => {
                // Standard error may still hold the last lines.
                let _ = timeout(STDERR_TIMEOUT, reading_errors).await;
                output
            }
            _ = &mut reading_errors => exchange.await,
        }
    };
    let (output, status) = output?;
    Ok((output, errors, status))
}

/// The whole output; `None` if it is too long.
async fn read_move(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Option<Vec<u8>>> {
    let mut output = Vec::new();
    if let Some(from) = from {
        let most = u64::try_from(OUTPUT_MAX).unwrap_or(u64::MAX);
        from.take(most + 1).read_to_end(&mut output).await?;
    }
    Ok(Some(output).filter(|output| output.len() <= OUTPUT_MAX))
}
