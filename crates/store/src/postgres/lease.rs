//! One writer at a time, by a row of the database that its holder renews and that expires by the database's clock. The epoch
//! counts the holders: every append names it, so that a holder that was taken for dead can write nothing more. Touches one
//! connection.

use super::connection::{Connection, SqlError};
use crate::error::StoreError;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// How often the holder renews the lease.
pub(super) const RENEWED_EVERY: Duration = Duration::from_secs(1);
/// How long another waits beyond the end of a lease, so that it takes none that was just being renewed.
const MARGIN: Duration = Duration::from_millis(250);

const TAKE: &str = "UPDATE matchday_writer SET epoch = epoch + 1, holder = $1, \
     expires_at = now() + interval '3 seconds' WHERE one = 1 AND expires_at <= now() RETURNING epoch";
const TAKE_AGAIN: &str = "UPDATE matchday_writer SET epoch = epoch + 1, \
     expires_at = now() + interval '3 seconds' WHERE one = 1 AND epoch = $1 RETURNING epoch";
pub(super) const RENEW: &str =
    "UPDATE matchday_writer SET expires_at = now() + interval '3 seconds' WHERE one = 1 AND epoch = $1";
const LEFT: &str = "SELECT holder, extract(epoch FROM expires_at - now())::float8 FROM matchday_writer";

/// Takes the lease. If its holder has died, that takes as long as the rest of its lease.
pub(super) fn take(db: &Connection, path: &Path) -> Result<i64, StoreError> {
    let failed = |error: SqlError| error.opening(path);
    let (process, host) = (std::process::id(), std::fs::read_to_string("/etc/hostname").unwrap_or_default());
    let holder = match host.trim() {
        "" => format!("process {process}"),
        host => format!("process {process} on {host}"),
    };
    for waited in [false, true] {
        if let Some(row) = db.query(TAKE, &[&holder]).map_err(failed)?.first() {
            let epoch = row.try_get(0).map_err(|error| failed(error.into()))?;
            own_leagues(db, epoch).map_err(failed)?;
            return Ok(epoch);
        }
        let rows = db.query(LEFT, &[]).map_err(failed)?;
        let Some(row) = rows.first() else { break };
        let read =
            || Ok::<_, tokio_postgres::Error>((row.try_get::<_, String>(0)?, row.try_get::<_, f64>(1)?));
        let (holder, left) = read().map_err(|error| failed(error.into()))?;
        if waited {
            return Err(StoreError::Owned { path: path.to_owned(), holder });
        }
        sleep(Duration::try_from_secs_f64(left.clamp(0.0, 3.0)).unwrap_or_default() + MARGIN);
    }
    Err(StoreError::Damaged { path: path.to_owned(), what: "the row of its writer is missing".to_owned() })
}

/// Takes the lease again after the connection was lost; `None` if another has it. Waits for a transaction of the lost connection
/// that has begun to commit, and one that has not can no longer: what is stored is certain afterwards.
pub(super) fn take_again(db: &Connection, epoch: i64) -> Result<Option<i64>, SqlError> {
    let rows = db.query(TAKE_AGAIN, &[&epoch])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let epoch = row.try_get(0)?;
    own_leagues(db, epoch)?;
    Ok(Some(epoch))
}

fn own_leagues(db: &Connection, epoch: i64) -> Result<(), SqlError> {
    db.execute("UPDATE matchday_leagues SET epoch = $1 WHERE epoch < $1", &[&epoch]).map(drop)
}

/// Gives the lease back, so that the next program need not wait.
pub(super) fn release(db: &Connection, epoch: i64) {
    let _ =
        db.execute("UPDATE matchday_writer SET expires_at = now() WHERE one = 1 AND epoch = $1", &[&epoch]);
}
