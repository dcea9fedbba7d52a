//! A process that stays alive and answers each line of JSON with one line. Its memory can be limited. The process group is
//! killed when this is dropped.

use super::command::Program;
use super::stderr_tail::{last_line, read_tail};
use matchday_os::process::{self, ProcessGroup};
use std::io;
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::task::AbortHandle;
use tokio::time::{interval, timeout};

/// A longer line is no answer.
pub(super) const LINE_BYTES_MAX: usize = 256 * 1024;
/// How often the resident memory of a process is compared with its limit.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How long the exit status of a process is waited for after it has closed its standard output.
const EXIT_TIMEOUT: Duration = Duration::from_millis(100);

/// Standard error is captured where it is a pipe.
#[derive(Debug)]
pub(super) struct LineProcess {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// The end of standard error since the last question.
    errors: Vec<u8>,
    memory: Option<MemoryWatch>,
    _group: Option<ProcessGroup>,
    child: Child,
}

/// Why a process gave no answer. It is of no further use.
#[derive(Debug)]
pub(super) enum LineError {
    /// It has ended or closed its pipes.
    Ended(String),
    TooLong,
}

impl LineProcess {
    pub(super) fn start(
        program: &Program,
        errors: Stdio,
        memory_bytes: Option<u64>,
    ) -> io::Result<Self> {
        let mut child = program.start(errors)?;
        let closed = || io::Error::other("it has no standard input or output");
        let stdin = child.stdin.take().ok_or_else(closed)?;
        let stdout = BufReader::new(child.stdout.take().ok_or_else(closed)?);
        let stderr = child.stderr.take();
        let group = child.id().and_then(ProcessGroup::of);
        let memory = child
            .id()
            .zip(memory_bytes)
            .map(|(leader, limit)| MemoryWatch::start(leader, limit));
        Ok(Self {
            stdin,
            stdout,
            stderr,
            errors: Vec::new(),
            memory,
            _group: group,
            child,
        })
    }

    /// Writes one line, with its line break, and reads one. All pipes are served at once, so that neither side blocks the
    /// other.
    pub(super) async fn exchange(&mut self, question: &[u8]) -> Result<Vec<u8>, LineError> {
        let Self {
            stdin,
            stdout,
            stderr,
            errors,
            ..
        } = self;
        errors.clear();
        let mut line = Vec::new();
        let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = {
            let writing = async {
                stdin.write_all(question).await?;
                stdin.flush().await
            };
            let mut stdout = stdout.take(most + 1);
            let reading = stdout.read_until(b'\n', &mut line);
            let mut talking = pin!(async { tokio::join!(reading, writing).0 });
            let mut reading_errors = pin!(read_tail(stderr.as_mut(), errors));
            tokio::select! {
                // Standard error first: what was written there before the answer belongs to it.
                biased;
                _ = &mut reading_errors => talking.await,
                read = &mut talking => read,
            }
        };
        match read {
            Ok(0) => Err(LineError::Ended(self.ending().await)),
            Ok(_) if line.len() > LINE_BYTES_MAX => Err(LineError::TooLong),
            Ok(_) => Ok(line),
            Err(error) => Err(LineError::Ended(error.to_string())),
        }
    }

    /// The last line of its standard error since the last question.
    pub(super) fn last_error_line(&self) -> Option<String> {
        last_line(&self.errors)
    }

    /// How it ended, for people.
    async fn ending(&mut self) -> String {
        if let Some(limit) = self.memory.as_ref().and_then(MemoryWatch::exceeded) {
            return format!(
                "it used more than {} MB of memory and was killed",
                limit >> 20
            );
        }
        let Self {
            child,
            stderr,
            errors,
            ..
        } = self;
        let _ = timeout(EXIT_TIMEOUT, read_tail(stderr.as_mut(), errors)).await;
        match timeout(EXIT_TIMEOUT, child.wait()).await {
            Ok(Ok(status)) => format!("it ended without an answer ({status})"),
            _ => "it closed its standard output without an answer".to_owned(),
        }
    }
}

/// Kills a process group whose resident memory exceeds its limit. Address space is no measure: Go, Node and Java reserve
/// gigabytes that they never touch.
#[derive(Debug)]
struct MemoryWatch {
    limit: u64,
    exceeded: Arc<AtomicBool>,
    task: AbortHandle,
}

impl MemoryWatch {
    fn start(leader: u32, limit: u64) -> Self {
        let exceeded = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&exceeded);
        let task = tokio::spawn(async move {
            let mut polls = interval(MEMORY_POLL_INTERVAL);
            loop {
                polls.tick().await;
                if process::group_rss_bytes(leader).is_some_and(|bytes| bytes > limit) {
                    flag.store(true, Ordering::Relaxed);
                    return process::kill_group(leader);
                }
            }
        });
        Self {
            limit,
            exceeded,
            task: task.abort_handle(),
        }
    }

    fn exceeded(&self) -> Option<u64> {
        self.exceeded.load(Ordering::Relaxed).then_some(self.limit)
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}
