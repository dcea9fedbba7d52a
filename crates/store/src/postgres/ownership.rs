//! Which process owns which league, in a database that several share. Has a connection of its own, which it makes anew when it
//! is lost; taking a league is one statement.

use super::connection::{Connection, SqlError};
use super::history::{self, About, Op, Phase};
use super::membership::{Membership, OwnedLeague, process_id};
use super::shares::{AWAKE_WEIGHT, Count, Pool, Pools};
use crate::error::StoreError;
use crate::ownership::{Member, Owned, Owner, Ownership, Process};
use matchday_core::protocol::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::Row;

/// A league that is due within this time counts as awake.
const SOON: Duration = Duration::from_secs(3600);

/// A row that is locked is being renewed.
const DECLARE_DEAD: &str = "UPDATE matchday_processes SET alive = false WHERE id IN \
     (SELECT id FROM matchday_processes WHERE alive AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED)";
const REMOVE_DEAD: &str = "DELETE FROM matchday_processes AS p WHERE NOT alive AND expires_at < now() - interval '1 minute' \
     AND NOT EXISTS (SELECT 1 FROM matchday_leagues WHERE owner = p.id)";
const DEAD: &str = "SELECT id FROM matchday_processes WHERE NOT alive";
const ANY_ORPHAN: &str = "SELECT 1 FROM matchday_leagues WHERE (owner IS NULL AND NOT removed OR owner = ANY($1)) \
     AND event_form <= $2 LIMIT 1";
const LIVE: &str =
    "SELECT id, event_form FROM matchday_processes WHERE alive AND expires_at > now()";
const POOLS: &str = "SELECT event_form, owner, owner IS NULL OR owner = ANY($1) AS orphan, \
     coalesce(wake_at <= $2, false) AS awake, number = 0 AS registry, count(*) \
     FROM matchday_leagues WHERE NOT removed OR owner = ANY($1) GROUP BY 1, 2, 3, 4, 5";
/// A dead owner is named by its id, so that a row that changes while this waits for it is judged again by what it is then. As a
/// subquery in `FROM` the choice could be run again for every row that is updated, and then take more than the limit.
const TAKE: &str = "WITH t AS MATERIALIZED (SELECT number, owner FROM matchday_leagues \
     WHERE event_form = $3 AND (owner IS NULL AND NOT removed OR owner = ANY($2)) \
     ORDER BY number > 0, wake_at IS NULL, wake_at, number LIMIT $4 FOR UPDATE SKIP LOCKED) \
     UPDATE matchday_leagues AS l SET owner = $1, epoch = l.epoch + 1 FROM t \
     WHERE l.number = t.number AND EXISTS (SELECT 1 FROM matchday_processes WHERE id = $1 AND alive) \
     RETURNING l.number, l.epoch, l.wake_at, t.owner IS NOT NULL, l.exchange_bytes";
const COUNT_TAKEOVERS: &str =
    "UPDATE matchday_processes SET takeovers = takeovers + $2 WHERE id = $1";
const OWN: &str = "SELECT number, coalesce(wake_at <= $3, false) AS awake FROM matchday_leagues \
     WHERE owner = $1 AND event_form = $2 AND NOT removed AND number > 0 \
     ORDER BY 2, wake_at IS NOT NULL, wake_at DESC, number LIMIT $4";
const RELEASE: &str = "UPDATE matchday_leagues SET owner = NULL WHERE owner = $1 AND number = ANY($2) AND NOT removed";
const OWNER: &str = "SELECT l.owner, p.id, p.name, p.url, p.certificate, p.version, p.event_form FROM matchday_leagues AS l \
     LEFT JOIN matchday_processes AS p ON p.id = l.owner AND p.alive AND p.expires_at > now() \
     WHERE l.number = $1 AND NOT l.removed";
const MEMBERS: &str = "SELECT p.id, p.id, p.name, p.url, p.certificate, p.version, p.event_form, \
     (extract(epoch FROM p.started_at) * 1000000)::bigint, \
     CASE WHEN p.alive THEN extract(epoch FROM p.expires_at - now())::float8 ELSE 0 END, p.takeovers, \
     count(l.number), coalesce(sum(CASE WHEN l.number IS NULL THEN 0 WHEN l.number = 0 OR l.wake_at <= $1 THEN $2::bigint ELSE 1 END), 0)::bigint \
     FROM matchday_processes AS p LEFT JOIN matchday_leagues AS l ON l.owner = p.id AND NOT l.removed \
     GROUP BY p.id ORDER BY p.started_at, p.id";

#[derive(Debug)]
pub(crate) struct PostgresOwnership {
    membership: Arc<Membership>,
    db: Mutex<Option<Connection>>,
}

impl PostgresOwnership {
    pub(super) fn new(membership: &Arc<Membership>) -> Self {
        Self {
            membership: Arc::clone(membership),
            db: Mutex::new(None),
        }
    }

    fn with<T>(
        &self,
        action: impl Fn(&Connection) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match db.take() {
            Some(db) => Ok(db),
            None => Connection::open(&self.membership.address),
        };
        let done = open.and_then(|open| {
            let done = action(&open);
            if !matches!(done, Err(SqlError::Lost(_))) {
                *db = Some(open);
            }
            done
        });
        done.map_err(|error| error.opening(self.membership.address.shown()))
    }

    fn soon(&self) -> i64 {
        (self.membership.now() + SOON).as_micros()
    }

    /// The leagues of every form that this process can read.
    fn pools(&self, db: &Connection, dead: &[String]) -> Result<Pools, SqlError> {
        let live = db.query(LIVE, &[])?;
        let live: Vec<(String, i32)> = live
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, SqlError>>()?;
        let mut pools = Pools::new();
        for row in db.query(POOLS, &[&dead, &self.soon()])? {
            let form: i32 = row.try_get(0)?;
            if form > self.membership.event_form() {
                continue;
            }
            let (owner, orphan): (Option<&str>, bool) = (row.try_get(1)?, row.try_get(2)?);
            let (awake, registry): (bool, bool) = (row.try_get(3)?, row.try_get(4)?);
            let leagues = row.try_get::<_, i64>(5)?.cast_unsigned();
            let pool = pools.entry(form).or_insert_with(|| Pool::of(form, &live));
            let add = |count: &mut Count| match (registry, awake) {
                (true, _) => count.registry += leagues,
                (false, true) => count.awake += leagues,
                (false, false) => count.asleep += leagues,
            };
            add(&mut pool.all);
            if orphan {
                add(&mut pool.orphans);
            } else if let Some(count) = owner.and_then(|owner| pool.owned.get_mut(owner)) {
                add(count);
            }
        }
        Ok(pools)
    }

    fn take_share(&self, db: &Connection, id: &str) -> Result<Vec<Owned>, SqlError> {
        if !self.membership.is_lenient() {
            db.execute(DECLARE_DEAD, &[])?;
            db.execute(REMOVE_DEAD, &[])?;
        }
        let dead = texts(db.query(DEAD, &[])?)?;
        if db
            .query(ANY_ORPHAN, &[&dead, &self.membership.event_form()])?
            .is_empty()
        {
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        for (form, pool) in self.pools(db, &dead)? {
            let limit = pool.takes(id).cast_signed();
            if limit > 0 {
                let rows = db.query(TAKE, &[&id, &dead, &form, &limit])?;
                let leagues = rows.iter().map(owned).collect::<Result<Vec<_>, _>>()?;
                self.membership.hold(
                    id,
                    leagues.iter().map(|league| {
                        (
                            league.number,
                            OwnedLeague {
                                epoch: league.epoch,
                                event_form: form,
                            },
                        )
                    }),
                );
                taken.extend(leagues);
            }
        }
        taken.sort_by_key(|league| {
            (
                league.number > 0,
                league.wake_at.is_none(),
                league.wake_at,
                league.number,
            )
        });
        Ok(taken)
    }
}

fn texts(rows: Vec<Row>) -> Result<Vec<String>, SqlError> {
    Ok(rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?)
}

fn owned(row: &Row) -> Result<Owned, tokio_postgres::Error> {
    Ok(Owned {
        number: row.try_get::<_, i32>(0)?.cast_unsigned(),
        epoch: row.try_get(1)?,
        wake_at: row
            .try_get::<_, Option<i64>>(2)?
            .map(Timestamp::from_micros),
        taken_over: row.try_get(3)?,
        exchange_bytes: row.try_get::<_, i64>(4)?.cast_unsigned(),
    })
}

/// A process whose columns begin with the second.
fn process(row: &Row) -> Result<Process, tokio_postgres::Error> {
    Ok(Process {
        id: process_id(row.try_get(1)?).to_owned(),
        name: row.try_get(2)?,
        url: row.try_get(3)?,
        certificate: row.try_get(4)?,
        version: row.try_get(5)?,
        event_form: row.try_get::<_, i32>(6)?.cast_unsigned(),
    })
}

fn member(row: &Row) -> Result<Member, tokio_postgres::Error> {
    Ok(Member {
        process: process(row)?,
        started_at: Timestamp::from_micros(row.try_get(7)?),
        lease_left: Duration::try_from_secs_f64(row.try_get::<_, f64>(8)?.max(0.0))
            .unwrap_or_default(),
        takeovers: row.try_get::<_, i64>(9)?.cast_unsigned(),
        leagues: u32::try_from(row.try_get::<_, i64>(10)?).unwrap_or(u32::MAX),
        weight: row.try_get::<_, i64>(11)?.cast_unsigned(),
    })
}

impl Ownership for PostgresOwnership {
    fn process(&self) -> &Process {
        &self.membership.process
    }

    fn take(&self) -> Result<Vec<Owned>, StoreError> {
        if self.membership.lease.left().is_zero() {
            return Ok(Vec::new());
        }
        let id = self.membership.id();
        let operation = history::invoke(&id, Op::Take, Vec::new);
        let taken = self.with(|db| self.take_share(db, &id));
        let phase = if taken.is_ok() {
            Phase::Done
        } else {
            Phase::Unknown
        };
        history::end(operation, phase, || {
            Some(taken.as_ref().ok()?.iter().map(about).collect())
        });
        let taken = taken?;
        let takeovers = taken.iter().filter(|league| league.taken_over).count();
        if takeovers > 0 {
            let takeovers = i64::try_from(takeovers).unwrap_or(i64::MAX);
            self.with(|db| db.execute(COUNT_TAKEOVERS, &[&id, &takeovers]))?;
        }
        // Of an incarnation that was declared dead meanwhile they are lost already.
        Ok(if self.membership.id() == id {
            taken
        } else {
            Vec::new()
        })
    }

    fn surplus(&self) -> Result<Vec<u32>, StoreError> {
        let id = self.membership.id();
        self.with(|db| {
            let dead = texts(db.query(DEAD, &[])?)?;
            let mut surplus = Vec::new();
            for (form, pool) in self.pools(db, &dead)? {
                let mut excess = pool.excess(&id);
                if excess == 0 {
                    continue;
                }
                for row in db.query(OWN, &[&id, &form, &self.soon(), &excess.cast_signed()])? {
                    let weight = if row.try_get(1)? { AWAKE_WEIGHT } else { 1 };
                    if weight > excess {
                        break;
                    }
                    excess -= weight;
                    surplus.push(row.try_get::<_, i32>(0)?.cast_unsigned());
                }
            }
            Ok(surplus)
        })
    }

    fn lost(&self) -> Vec<u32> {
        self.membership.lease.take_untold()
    }

    fn release(&self, leagues: &[u32]) -> Result<(), StoreError> {
        let id = self.membership.id();
        let held = self.membership.let_go(leagues);
        let numbers: Vec<i32> = leagues.iter().map(|league| league.cast_signed()).collect();
        let operation = history::invoke(&id, Op::Release, || {
            held.iter().map(history::held).collect()
        });
        let released = self.with(|db| db.execute(RELEASE, &[&id, &numbers]));
        let phase = if released.is_ok() {
            Phase::Done
        } else {
            Phase::Unknown
        };
        history::end(operation, phase, || None);
        released.map(drop)
    }

    fn owner(&self, league: u32) -> Result<Owner, StoreError> {
        let id = self.membership.id();
        self.with(|db| {
            let rows = db.query(OWNER, &[&league.cast_signed()])?;
            let Some(row) = rows.first() else {
                return Ok(Owner::NoLeague);
            };
            let own = row.try_get::<_, Option<&str>>(0)? == Some(id.as_str());
            Ok(
                match (
                    own,
                    self.membership.held(league),
                    row.try_get::<_, Option<&str>>(1)?,
                ) {
                    (true, Some(held), _) => Owner::Own { epoch: held.epoch },
                    (false, _, Some(_)) => Owner::Other(process(row)?),
                    _ => Owner::Nobody,
                },
            )
        })
    }

    fn members(&self) -> Result<Vec<Member>, StoreError> {
        let weight = AWAKE_WEIGHT.cast_signed();
        let rows = self.with(|db| {
            let rows = db.query(MEMBERS, &[&self.soon(), &weight])?;
            Ok(rows.iter().map(member).collect::<Result<Vec<_>, _>>()?)
        })?;
        // A process that lost its lease has a row for each incarnation.
        let live = |id: &str| {
            rows.iter()
                .any(|row| row.process.id == id && !row.lease_left.is_zero())
        };
        let shown = rows
            .iter()
            .filter(|row| !row.lease_left.is_zero() || !live(&row.process.id));
        Ok(shown.cloned().collect())
    }

    fn lease_left(&self) -> Duration {
        self.membership.lease.left()
    }

    fn now(&self) -> Timestamp {
        self.membership.now()
    }

    fn clock_offset_us(&self) -> i64 {
        self.membership.clock_offset_us()
    }
}

fn about(league: &Owned) -> About {
    About {
        league: Some(league.number),
        epoch: Some(league.epoch),
        ..About::default()
    }
}
