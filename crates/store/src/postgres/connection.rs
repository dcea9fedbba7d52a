//! One connection to a database, for threads that may block. A thread of its own does the I/O of all connections, so that they
//! can also be waited for where a runtime is running. Touches the network.

use super::address::Address;
use crate::append::AppendError;
use crate::error::{StoreError, StoreFailed};
use crate::store_url::StoreUrl;
use std::fmt::Display;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
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

    pub(super) fn opening(self, store: &StoreUrl) -> StoreError {
        let store = store.clone();
        match self {
            Self::Refused { what, .. } => StoreError::Database { store, error: what },
            Self::Lost(why) => StoreError::Unreachable { store, why },
        }
    }

    pub(super) fn appending(self, store: &StoreUrl) -> AppendError {
        match self {
            Self::Lost(why) => AppendError::Unknown(why),
            // An event that is there already, or text that the database does not take.
            Self::Refused { code, what } if code.starts_with("23") || code.starts_with("22") => {
                AppendError::Refused(StoreFailed::write(store, &what))
            }
            Self::Refused { what, .. } => AppendError::Failed(StoreFailed::write(store, &what)),
        }
    }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            return Self::Lost(causes(&error));
        };
        let code = db.code().code().to_owned();
        let what = one_line(db.message());
        // Connection exceptions, lack of resources, a server that starts or stops, conflicts with other transactions, a
        // standby that is about to become the primary, and a database that takes no connections: all of them pass.
        let passes = ["08", "40", "53", "57", "58"]
            .iter()
            .any(|class| code.starts_with(class))
            || ["25006", "25P03", "55000", "55P03"].contains(&code.as_str());
        if passes {
            Self::Lost(what)
        } else {
            Self::Refused { code, what }
        }
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
    text.to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A connection. What is sent over it by one future after another is sent without waiting for answers (pipelining).
#[derive(Debug)]
pub(super) struct Connection(pub(super) Client);

impl Connection {
    pub(super) fn open(address: &Address) -> Result<Self, SqlError> {
        let io = IO.get_or_init(|| {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("postgres")
                .enable_all()
                .build();
            runtime.map_err(|error| error.to_string())
        });
        let io = io.as_ref().map_err(|why| SqlError::Lost(why.clone()))?;
        let connector = address.tls.connector().map_err(SqlError::Lost)?;
        let config = address.config.clone();
        let opening = io.spawn(async move {
            let (client, connection) = config.connect(connector).await?;
            // Ends with the client. The one that waits for an answer is told what went wrong.
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

    pub(super) fn query(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, SqlError> {
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

    pub(super) fn execute(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, SqlError> {
        Ok(wait(self.0.execute(sql, params))??)
    }

    /// Statements without parameters.
    pub(super) fn batch(&self, sql: &str) -> Result<(), SqlError> {
        Ok(wait(self.0.batch_execute(sql))??)
    }
}

/// How many connections are kept for the next readers.
const IDLE_MAX: usize = 8;
/// How many readers of this process have a connection at once: a server has a hundred by default, for everybody.
const READERS_MAX: usize = 24;
/// How long the next reader waits for one of them. It is then let through, since one that holds a connection may want another.
const READER_WAIT_MAX: Duration = Duration::from_secs(2);

/// The connections over which this process reads a database. Those outside of any transaction are kept for the next readers: making
/// one costs the server a process.
#[derive(Debug, Default)]
pub(crate) struct ReaderPool {
    state: Mutex<PoolState>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<Connection>,
    readers: usize,
}

impl ReaderPool {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection for which `begin` succeeds: one that is kept, else a new one.
    pub(super) fn acquire<T>(
        &self,
        address: &Address,
        begin: impl Fn(&Connection) -> Result<T, SqlError>,
    ) -> Result<(Connection, T), SqlError> {
        let busy = |state: &mut PoolState| state.readers >= READERS_MAX;
        let waited = self
            .released
            .wait_timeout_while(self.state(), READER_WAIT_MAX, busy);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.readers += 1;
        let kept = state.idle.pop();
        drop(state);
        if let Some(db) = kept {
            match begin(&db) {
                Ok(begun) => return Ok((db, begun)),
                // The others were lost with it.
                Err(_) => self.state().idle.clear(),
            }
        }
        let opened = Connection::open(address).and_then(|db| begin(&db).map(|begun| (db, begun)));
        opened.inspect_err(|_| self.release(None))
    }

    /// Ends the connection's transaction and keeps it. Nobody waits for the answer: the next reader sees whether it is lost.
    pub(super) fn release(&self, connection: Option<Connection>) {
        let mut state = self.state();
        state.readers = state.readers.saturating_sub(1);
        if let Some(connection) = connection.filter(|connection| !connection.0.is_closed())
            && state.idle.len() < IDLE_MAX
        {
            let mut rollback = Box::pin(connection.0.batch_execute("ROLLBACK"));
            let _ = rollback
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            drop(rollback);
            state.idle.push(connection);
        }
        drop(state);
        self.released.notify_one();
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
            return Err(SqlError::Lost(format!(
                "no answer within {} s",
                longest.as_secs()
            )));
        }
        thread::park_timeout(left);
    }
}
