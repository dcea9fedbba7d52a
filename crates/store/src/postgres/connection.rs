//! One connection to a database, for threads that may block. A thread of its own does the I/O of all connections, so that they
//! can also be waited for where a runtime is running. Touches the network.

use super::address::Address;
use crate::append::AppendError;
use crate::error::{StoreError, StoreFailed};
use std::fmt::Display;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

/// How long a server may take for an answer before the connection counts as lost.
const ANSWER_MAX: Duration = Duration::from_secs(20);

static IO: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// Why the database did not do what it was asked for.
#[derive(Debug)]
pub(super) enum SqlError {
    /// It answered with an error, and has changed nothing.
    Refused { code: String, what: String },
    /// It could not be reached, did not answer, or was not able to: whether it has done it is not known.
    Lost(String),
}

impl SqlError {
    pub(super) fn is(&self, state: &SqlState) -> bool {
        matches!(self, Self::Refused { code, .. } if code == state.code())
    }

    pub(super) fn opening(self, path: &Path) -> StoreError {
        let error = match self {
            Self::Refused { what, .. } => what,
            Self::Lost(why) => {
                format!("the database cannot be reached ({why}): start it, or check the address")
            }
        };
        StoreError::Database { path: path.to_owned(), error }
    }

    pub(super) fn appending(self, path: &Path) -> AppendError {
        match self {
            Self::Lost(why) => AppendError::Unknown(why),
            // An event that is there already, or text that the database does not take.
            Self::Refused { code, what } if code.starts_with("23") || code.starts_with("22") => {
                AppendError::Refused(StoreFailed::write(path, &what))
            }
            Self::Refused { what, .. } => AppendError::Failed(StoreFailed::write(path, &what)),
        }
    }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else { return Self::Lost(causes(&error)) };
        let (code, what) = (db.code().code().to_owned(), one_line(db.message()));
        // Connection exceptions, lack of resources, a server that starts or stops, conflicts with other transactions, and a
        // standby that is about to become the primary: all of them pass.
        let passes = ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class))
            || ["25006", "25P03", "55P03"].contains(&code.as_str());
        if passes { Self::Lost(what) } else { Self::Refused { code, what } }
    }
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    one_line(text)
}

fn one_line(text: impl Display) -> String {
    text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A connection. What is sent over it by one future after another is sent without waiting for answers (pipelining).
#[derive(Debug)]
pub(super) struct Connection(pub(super) Client);

impl Connection {
    pub(super) fn open(address: &Address) -> Result<Self, SqlError> {
        let io = IO.get_or_init(|| {
            let runtime =
                Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
            runtime.map_err(|error| error.to_string())
        });
        let io = io.as_ref().map_err(|why| SqlError::Lost(why.clone()))?;
        let connector = address.tls.connector().map_err(SqlError::Lost)?;
        let config = address.config.clone();
        let opening = io.spawn(async move {
            let (client, connection) = config.connect(connector).await?;
            // Ends with the client. What goes wrong is told to whoever waits for an answer.
            tokio::spawn(async move {
                let _ = connection.await;
            });
            Ok::<_, tokio_postgres::Error>(client)
        });
        match wait(opening)? {
            Ok(client) => Ok(Self(client?)),
            Err(error) => Err(SqlError::Lost(error.to_string())),
        }
    }

    pub(super) fn query(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, SqlError> {
        Ok(wait(self.0.query(sql, params))??)
    }

    /// For what must be known sooner.
    pub(super) fn query_within(
        &self,
        longest: Duration,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, SqlError> {
        Ok(wait_for(longest, self.0.query(sql, params))??)
    }

    pub(super) fn execute(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64, SqlError> {
        Ok(wait(self.0.execute(sql, params))??)
    }

    /// Statements without parameters.
    pub(super) fn batch(&self, sql: &str) -> Result<(), SqlError> {
        Ok(wait(self.0.batch_execute(sql))??)
    }
}

/// How many connections are kept for the next readers.
const IDLE_MAX: usize = 8;

/// Connections outside of any transaction that the next readers use: making one costs the server a process.
#[derive(Debug, Default)]
pub(super) struct IdleConnections(Mutex<Vec<Connection>>);

impl IdleConnections {
    fn all(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self) -> Option<Connection> {
        self.all().pop()
    }

    /// Ends the connection's transaction and keeps it. Nobody waits for the answer: the next reader sees whether it is lost.
    pub(super) fn put(&self, connection: Connection) {
        let mut all = self.all();
        if all.len() < IDLE_MAX && !connection.0.is_closed() {
            let mut rollback = Box::pin(connection.0.batch_execute("ROLLBACK"));
            let _ = rollback.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            drop(rollback);
            all.push(connection);
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread until the future is ready, and no longer than a server may take.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> Result<T, SqlError> {
    wait_for(ANSWER_MAX, future)
}

fn wait_for<T>(longest: Duration, future: impl Future<Output = T>) -> Result<T, SqlError> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let deadline = Instant::now() + longest;
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Ok(value);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(SqlError::Lost(format!("no answer within {} s", longest.as_secs())));
        }
        thread::park_timeout(left);
    }
}
