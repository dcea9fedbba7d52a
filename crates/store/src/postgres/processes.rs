//! The table of processes: registering, renewing a lease, declaring others dead, and the thread that renews. It has a connection
//! of its own, so that a long commit delays no renewal. Touches that connection.

use super::connection::{Connection, SqlError};
use super::history::{self, Op, Phase};
use super::membership::{LEASE, Membership, OwnedLeague, RENEWED_EVERY};
use super::time::Measurement;
use crate::error::StoreError;
use crate::ownership::Process;
use crate::store_url::StoreUrl;
use matchday_core::event_codec;
use matchday_core::protocol::Timestamp;
use matchday_os::host;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};
use tokio_postgres::Row;

/// How long another waits beyond the end of a lease, so that it takes none that was just being renewed.
const MARGIN: Duration = Duration::from_millis(250);
/// How soon a renewal that failed is tried again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// One registers at a time.
const LOCK: &str = "SELECT value FROM matchday_meta WHERE key = 'version' FOR UPDATE";
/// A program that has the whole store excludes all others. Waits for renewals that are under way.
const DECLARE_BLOCKERS_DEAD: &str = "UPDATE matchday_processes SET alive = false \
     WHERE alive AND (exclusive OR $1) AND expires_at <= clock_timestamp()";
const BLOCKER: &str = "SELECT name, extract(epoch FROM expires_at - clock_timestamp())::float8 FROM matchday_processes \
     WHERE alive AND (exclusive OR $1) ORDER BY expires_at DESC LIMIT 1";
const REGISTER: &str = "INSERT INTO matchday_processes (id, name, url, certificate, version, event_form, exclusive, alive, \
     started_at, expires_at, takeovers, syncs) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, true, now(), clock_timestamp() + interval '3 seconds', 0, 0)";
const TAKE_ALL: &str = "UPDATE matchday_leagues SET owner = $1, epoch = epoch + 1 WHERE event_form <= $2 \
     RETURNING number, epoch, event_form";
const RENEW: &str = "UPDATE matchday_processes SET expires_at = clock_timestamp() + interval '3 seconds' \
     WHERE id = $1 AND alive RETURNING (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
const TIME: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
const RELEASE_ALL: &str =
    "UPDATE matchday_leagues SET owner = NULL WHERE owner = $1 AND NOT removed";
/// A league whose removal was not done stays, and with it the row.
const END: &str = "UPDATE matchday_processes SET alive = false, expires_at = now() WHERE id = $1";
const REMOVE: &str = "DELETE FROM matchday_processes WHERE id = $1 \
     AND NOT EXISTS (SELECT 1 FROM matchday_leagues WHERE owner = $1)";

/// What came of a registration.
pub(super) enum Registered {
    /// With the leagues that it holds: all, if it has the whole store.
    Done(BTreeMap<u32, OwnedLeague>, Measurement),
    /// This process has the store for so long yet.
    Blocked { name: String, left: Duration },
}

/// Registers an incarnation of a process.
pub(super) fn register(
    db: &Connection,
    id: &str,
    process: &Process,
    exclusive: bool,
) -> Result<Registered, SqlError> {
    let registered = try_to_register(db, id, process, exclusive);
    if !matches!(registered, Ok(Registered::Done(..))) {
        let _ = db.batch("ROLLBACK");
    }
    registered
}

fn try_to_register(
    db: &Connection,
    id: &str,
    process: &Process,
    exclusive: bool,
) -> Result<Registered, SqlError> {
    db.batch(&format!(
        "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'; {LOCK}"
    ))?;
    db.execute(DECLARE_BLOCKERS_DEAD, &[&exclusive])?;
    if let Some(row) = db.query(BLOCKER, &[&exclusive])?.first() {
        let (name, left) = (row.try_get(0)?, row.try_get::<_, f64>(1)?);
        let left =
            Duration::try_from_secs_f64(left.clamp(0.0, LEASE.as_secs_f64())).unwrap_or_default();
        return Ok(Registered::Blocked { name, left });
    }
    let sent = Instant::now();
    let database = time(db.query(TIME, &[])?.first())?;
    let measurement = Measurement {
        sent,
        received: Instant::now(),
        database,
    };
    let form = i32::try_from(process.event_form).unwrap_or(i32::MAX);
    let Process {
        name,
        url,
        certificate,
        version,
        ..
    } = process;
    db.execute(
        REGISTER,
        &[&id, name, url, certificate, version, &form, &exclusive],
    )?;
    let mut held = BTreeMap::new();
    if exclusive {
        let operation = history::invoke(id, Op::Take, Vec::new);
        for row in db.query(TAKE_ALL, &[&id, &form])? {
            let league = row.try_get::<_, i32>(0)?.cast_unsigned();
            held.insert(
                league,
                OwnedLeague {
                    epoch: row.try_get(1)?,
                    event_form: row.try_get(2)?,
                },
            );
        }
        history::end(operation, Phase::Done, || {
            Some(held.iter().map(history::held).collect())
        });
    }
    db.batch("COMMIT")?;
    Ok(Registered::Done(held, measurement))
}

/// Registers a process that begins. If one that excludes it has died, that takes as long as the rest of its lease.
pub(super) fn join(
    db: &Connection,
    id: &str,
    process: &Process,
    exclusive: bool,
    store: &StoreUrl,
) -> Result<(BTreeMap<u32, OwnedLeague>, Measurement), StoreError> {
    let mut waited = false;
    loop {
        match register(db, id, process, exclusive).map_err(|error| error.opening(store))? {
            Registered::Done(held, measurement) => return Ok((held, measurement)),
            Registered::Blocked { name, .. } if waited => {
                return Err(StoreError::Owned {
                    store: store.clone(),
                    holder: name,
                });
            }
            Registered::Blocked { left, .. } => sleep(left + MARGIN),
        }
        waited = true;
    }
}

fn time(row: Option<&Row>) -> Result<Timestamp, SqlError> {
    let micros = row.map(|row| row.try_get(0)).transpose()?;
    micros
        .map(Timestamp::from_micros)
        .ok_or_else(|| SqlError::Lost("the database has no time".to_owned()))
}

/// A program that has a store alone: no other process calls it.
pub(super) fn this_program(store: &StoreUrl) -> Result<Process, StoreError> {
    let mut id = [0_u8; 16];
    getrandom::fill(&mut id)
        .map_err(|error| StoreError::io(store, std::io::Error::other(error)))?;
    let process = std::process::id();
    let name = match host::name() {
        None => format!("process {process}"),
        Some(host) => format!("process {process} on {host}"),
    };
    Ok(Process {
        id: hex::encode(id),
        name,
        url: String::new(),
        certificate: Vec::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        event_form: event_codec::VERSION,
    })
}

/// Renews the lease until it is dropped; then gives everything back, so that the next process need not wait.
#[derive(Debug)]
pub(super) struct Renewal {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Renewal {
    pub(super) fn start(membership: &Arc<Membership>, db: Connection) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let membership = Arc::clone(membership);
        let thread = thread::Builder::new()
            .name("lease".into())
            .spawn(move || run(&membership, db, &stopped))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(membership: &Membership, db: Connection, stopped: &Receiver<()>) {
    let mut db = Some(db);
    let mut wait = RENEWED_EVERY;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(wait) {
        if membership.lease.has_ended() {
            return;
        }
        wait = match renew(membership, &mut db) {
            Ok(()) => RENEWED_EVERY,
            Err(_) => {
                db = None;
                AGAIN_AFTER
            }
        };
    }
    if let Some(db) = db {
        let id = membership.id();
        for sql in [RELEASE_ALL, END, REMOVE] {
            let _ = db.execute(sql, &[&id]);
        }
    }
}

fn renew(membership: &Membership, db: &mut Option<Connection>) -> Result<(), SqlError> {
    let db = match db {
        Some(db) => db,
        None => db.insert(Connection::open(&membership.address)?),
    };
    let id = membership.id();
    let sent = Instant::now();
    let operation = history::invoke(&id, Op::Renew, Vec::new);
    let renewed = db.query_within(LEASE, RENEW, &[&id]);
    let phase = match &renewed {
        Ok(rows) if rows.is_empty() => Phase::Refused,
        Ok(_) => Phase::Done,
        Err(_) => Phase::Unknown,
    };
    history::end(operation, phase, || None);
    if let Some(row) = renewed?.first() {
        let database = time(Some(row))?;
        membership.renewed(Measurement {
            sent,
            received: Instant::now(),
            database,
        });
        return Ok(());
    }
    let lost = membership.declared_dead();
    if lost > 0 {
        tracing::warn!(
            target: "matchday::store", store = %membership.address.shown(), leagues = lost,
            "the lease of this process had expired, and its leagues may have been taken over"
        );
    }
    if !membership.exclusive {
        begin_anew(membership, db)?;
    }
    Ok(())
}

/// Registers another incarnation, which owns nothing.
fn begin_anew(membership: &Membership, db: &Connection) -> Result<(), SqlError> {
    match register(db, &membership.id(), &membership.process, false)? {
        Registered::Done(_, measurement) => {
            membership.renewed(measurement);
            Ok(())
        }
        Registered::Blocked { name, .. } => {
            Err(SqlError::Lost(format!("{name} has the whole store")))
        }
    }
}
