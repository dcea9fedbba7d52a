//! The transaction that stores events and exchanges in a database. Touches one connection, which it makes anew when it is
//! lost. Every transaction names the epochs of its leagues, and holds their rows `FOR SHARE`: one who takes a league waits for the
//! transaction, or it finds another epoch. (`FOR KEY SHARE` would not do: taking changes no key, and would not wait.)

use super::address::Address;
use super::claim::{self, Claim};
use super::columns::{Columns, ExchangeColumns, Params};
use super::connection::{Connection, SqlError, wait};
use super::history::{self, About, Op, Phase};
use super::membership::{Membership, OwnedLeague, RENEWED_EVERY};
use super::ownership::PostgresOwnership;
use super::processes::{self, Renewal};
use super::session::{CLAIM_AGAIN, Session, Stopped, begin, unknown};
use super::{schema, warnings};
use crate::append::{Append, AppendError, EventRow, Head, Transaction};
use crate::chain::Hash;
use crate::error::{StoreError, StoreFailed};
use crate::exchange::Exchange;
use crate::lease::Lease;
use crate::ownership::Process;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

#[derive(Debug)]
pub(crate) struct PostgresAppend {
    address: Address,
    /// `None` while it is lost.
    session: Option<Session>,
    membership: Arc<Membership>,
    /// The leagues of a transaction whose outcome is not known, and which a lost connection may still commit.
    in_doubt: BTreeSet<u32>,
    /// The number of the exchange that each league recorded last.
    last_exchange: HashMap<u32, i64>,
    _renewal: Renewal,
}

/// The most rows of a table that one transaction removes, so that other leagues do not wait long.
const REMOVED_MAX: i64 = 2_000;

impl PostgresAppend {
    /// Opens the whole store to write to it, and makes it in a database that has none.
    pub(crate) fn open(address: &Address) -> Result<Self, StoreError> {
        let process = processes::this_program(address.shown())?;
        Self::join(address, process, true)
    }

    /// Opens a store to write the leagues that this process will own.
    pub(crate) fn open_shared(
        address: &Address,
        process: Process,
    ) -> Result<(Self, PostgresOwnership), StoreError> {
        let log = Self::join(address, process, false)?;
        let ownership = PostgresOwnership::new(&log.membership);
        Ok((log, ownership))
    }

    fn join(address: &Address, process: Process, exclusive: bool) -> Result<Self, StoreError> {
        let failed = |error: SqlError| error.opening(address.shown());
        let db = Connection::open(address).map_err(failed)?;
        schema::make_or_check(&db, address.shown())?;
        let first = format!("{}.1", process.id);
        let (held, measurement) =
            processes::join(&db, &first, &process, exclusive, address.shown())?;
        let membership = Arc::new(Membership::new(
            address.clone(),
            process,
            exclusive,
            measurement,
            held,
        ));
        warnings::warn(&db, address.shown());
        let renewal = Renewal::start(&membership, db)
            .map_err(|error| StoreError::io(address.shown(), error))?;
        let session = Session::open(address).map_err(failed)?;
        Ok(Self {
            address: address.clone(),
            session: Some(session),
            membership,
            in_doubt: BTreeSet::new(),
            last_exchange: HashMap::new(),
            _renewal: renewal,
        })
    }

    /// Does something with the connection, and gives it up if it is lost.
    fn with<T>(
        &mut self,
        action: impl FnOnce(&mut Self, &Session) -> Result<T, Stopped>,
    ) -> Result<T, AppendError> {
        let Some(session) = self.session.take() else {
            return Err(AppendError::Unknown(
                "the connection to the database is lost".to_owned(),
            ));
        };
        let store = self.address.shown().clone();
        match action(self, &session) {
            Ok(value) => {
                self.session = Some(session);
                Ok(value)
            }
            Err(Stopped::Sql(error @ SqlError::Lost(_))) => Err(error.appending(&store)),
            Err(stopped) => {
                if session.db.batch("ROLLBACK").is_ok() {
                    self.session = Some(session);
                }
                Err(match stopped {
                    Stopped::Sql(error) => error.appending(&store),
                    Stopped::Fenced(leagues) => {
                        self.membership.lose(&leagues);
                        AppendError::Fenced(leagues)
                    }
                    Stopped::Ended => AppendError::Failed(StoreFailed::fenced(&store)),
                    Stopped::NotTheEnd => {
                        let why = "its events do not follow the last that is stored";
                        AppendError::Refused(StoreFailed::write(&store, why))
                    }
                })
            }
        }
    }

    fn store(
        &mut self,
        session: &Session,
        group: &Transaction,
        durable: bool,
    ) -> Result<(), Stopped> {
        let claim = Claim::of(&self.membership, group).map_err(Stopped::Fenced)?;
        self.in_doubt.extend(group.leagues());
        let operation = history::invoke(&claim.id, Op::Append, || claim.about(group));
        let stored = self.store_claimed(session, group, durable, &claim);
        let phase = match &stored {
            Ok(()) => Phase::Done,
            Err(Stopped::Sql(SqlError::Lost(_))) => Phase::Unknown,
            Err(_) => Phase::Refused,
        };
        history::end(operation, phase, || None);
        if phase != Phase::Unknown {
            self.in_doubt.clear();
        }
        stored?;
        self.membership.stored(&claim);
        Ok(())
    }

    fn store_claimed(
        &mut self,
        session: &Session,
        group: &Transaction,
        durable: bool,
        claim: &Claim,
    ) -> Result<(), Stopped> {
        let begin = begin(durable);
        let firsts = firsts(&group.events);
        let exchanges = self.numbered(session, &group.exchanges)?;
        let (events, places, columns) = (
            Columns::of(group.events.iter()),
            Columns::after(&firsts),
            ExchangeColumns::of(&exchanges),
        );
        let (leagues, epochs) = claim.columns();
        let db = &session.db.0;
        let form = self.membership.event_form();
        let claimed: Params<'_, 3> = [&leagues, &epochs, &claim.id];
        let ends: Params<'_, 4> = [&places.league, &places.stream, &places.seq, &places.hash];
        // Sent at once; an error in one of them stops those after it, and is the one that says why.
        let (begun, made, own, gone, inserted, recorded) = wait(async {
            tokio::join!(
                biased;
                db.batch_execute(&begin),
                async {
                    if claim.fresh.is_empty() { Ok(0) } else { db.execute(&session.make_leagues, &[&claim.fresh, &claim.id, &form]).await }
                },
                db.query(&session.check_epochs, &claimed),
                db.query(&session.check_ends, &ends),
                async {
                    if group.events.is_empty() { Ok(0) } else { db.execute(&session.insert_events, &events.params()).await }
                },
                async {
                    if exchanges.is_empty() { Ok(0) } else { db.execute(&session.insert_exchanges, &columns.params()).await }
                },
            )
        })?;
        begun?;
        made?;
        // Whoever has taken a league has written events in the place of ours: that they are refused is no fault.
        let leagues = claim.leagues.keys().copied().collect();
        let fenced = claim::missing(&leagues, &own?)?;
        if !fenced.is_empty() {
            return Err(Stopped::Fenced(fenced));
        }
        let gone = gone?;
        inserted?;
        recorded?;
        if !gone.is_empty() {
            return Err(Stopped::NotTheEnd);
        }
        for (league, wake_at) in &group.wake_at {
            let wake_at = wake_at.map(Timestamp::as_micros);
            let sql = "UPDATE matchday_leagues SET wake_at = $2 WHERE number = $1";
            session
                .db
                .execute(sql, &[&league.cast_signed(), &wake_at])?;
        }
        if !claim.raised.is_empty() {
            let sql = "UPDATE matchday_leagues SET event_form = $1 WHERE number = ANY($2) AND event_form < $1";
            session.db.execute(sql, &[&form, &claim.raised])?;
        }
        session.db.batch("COMMIT").map_err(unknown)?;
        for (league, id, _) in exchanges {
            self.last_exchange.insert(league, id);
        }
        Ok(())
    }

    /// A new connection. A transaction of the lost one that has begun to commit is waited for, and one that has not can no longer:
    /// its leagues have another epoch. What is stored is certain afterwards.
    fn open_session(&mut self) -> Result<(), SqlError> {
        let session = Session::open(&self.address)?;
        if !self.in_doubt.is_empty() {
            let id = self.membership.id();
            let form = self.membership.event_form();
            let leagues: Vec<i32> = self
                .in_doubt
                .iter()
                .map(|league| league.cast_signed())
                .collect();
            let operation = history::invoke(&id, Op::Take, Vec::new);
            let claimed = session
                .db
                .query(CLAIM_AGAIN, &[&leagues, &id, &form])
                .and_then(held);
            let phase = if claimed.is_ok() {
                Phase::Done
            } else {
                Phase::Unknown
            };
            let taken = || Some(claimed.as_ref().ok()?.iter().map(history::held).collect());
            history::end(operation, phase, taken);
            let mut lost = std::mem::take(&mut self.in_doubt);
            let claimed = claimed.inspect_err(|_| self.in_doubt.clone_from(&lost))?;
            for (league, held) in claimed {
                lost.remove(&league);
                self.membership.hold_again(&id, league, held);
            }
            if !lost.is_empty() {
                self.membership.lose(&lost);
            }
        }
        self.session = Some(session);
        Ok(())
    }

    /// Exchanges with their leagues and the numbers that they get.
    fn numbered<'a>(
        &self,
        session: &Session,
        exchanges: &'a [(u32, Exchange)],
    ) -> Result<Vec<(u32, i64, &'a Exchange)>, SqlError> {
        let mut last: BTreeMap<u32, i64> = BTreeMap::new();
        let mut numbered = Vec::with_capacity(exchanges.len());
        for (league, exchange) in exchanges {
            let known = last
                .get(league)
                .or_else(|| self.last_exchange.get(league))
                .copied();
            let id = 1 + match known {
                Some(id) => id,
                None => {
                    let sql =
                        "SELECT coalesce(max(id), 0) FROM matchday_exchanges WHERE league = $1";
                    let rows = session.db.query(sql, &[&league.cast_signed()])?;
                    rows.first()
                        .map(|row| row.try_get(0))
                        .transpose()?
                        .unwrap_or(0)
                }
            };
            last.insert(*league, id);
            numbered.push((*league, id, exchange));
        }
        Ok(numbered)
    }
}

/// The first event of each stream in a transaction that follows one outside of it.
fn firsts(rows: &[EventRow]) -> Vec<&EventRow> {
    let mut seen = BTreeSet::new();
    let mut firsts = Vec::new();
    for row in rows {
        if seen.insert((row.after.league, &row.stream)) && row.after.seq > 0 {
            firsts.push(row);
        }
    }
    firsts
}

fn held(rows: Vec<Row>) -> Result<BTreeMap<u32, OwnedLeague>, SqlError> {
    let held = |row: &Row| {
        let held = OwnedLeague {
            epoch: row.try_get(1)?,
            event_form: row.try_get(2)?,
        };
        Ok((row.try_get::<_, i32>(0)?.cast_unsigned(), held))
    };
    Ok(rows
        .iter()
        .map(held)
        .collect::<Result<_, tokio_postgres::Error>>()?)
}

fn read_head(league: u32, stream: &Stream, head: Option<Head>) -> About {
    About {
        league: Some(league),
        stream: Some(stream.0.to_string()),
        to: head.map(|head| head.seq),
        hash: head.map(|head| hex::encode(head.hash.0)),
        ..About::default()
    }
}

impl Append for PostgresAppend {
    fn head(&mut self, league: u32, stream: &Stream) -> Result<Option<Head>, AppendError> {
        let id = self.membership.id();
        let about = || read_head(league, stream, None);
        let operation = history::invoke(&id, Op::ReadHead, || vec![about()]);
        let head = self.with(|_, session| {
            let sql = "SELECT seq, hash FROM matchday_events WHERE league = $1 AND stream = $2 \
                       ORDER BY seq DESC LIMIT 1";
            let rows = session
                .db
                .query(sql, &[&league.cast_signed(), &stream.0.as_str()])?;
            let Some(row) = rows.first() else {
                return Ok(None);
            };
            let (seq, hash): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
            let hash = Hash(hash.try_into().unwrap_or_default());
            Ok(Some(Head {
                league,
                seq: seq.cast_unsigned(),
                hash,
            }))
        });
        let phase = if head.is_ok() {
            Phase::Done
        } else {
            Phase::Unknown
        };
        history::end(operation, phase, || {
            Some(vec![read_head(league, stream, *head.as_ref().ok()?)])
        });
        head
    }

    fn commit(&mut self, transaction: &Transaction, durable: bool) -> Result<bool, AppendError> {
        self.with(|log, session| log.store(session, transaction, durable))?;
        Ok(durable)
    }

    /// A synchronous commit is on disk with everything before it; without a change there would be nothing to commit. Sent at
    /// once, so that a connection that is lost meanwhile does not hold the row that the lease is in.
    fn sync(&mut self) -> Result<(), AppendError> {
        self.with(|log, session| {
            let id = log.membership.id();
            let begin = begin(true);
            let db = &session.db.0;
            let sql = "UPDATE matchday_processes SET syncs = syncs + 1 WHERE id = $1";
            let typed: [(&(dyn ToSql + Sync), Type); 1] = [(&id, Type::TEXT)];
            let answers = wait(async {
                tokio::try_join!(
                    db.batch_execute(&begin),
                    db.execute_typed(sql, &typed),
                    db.batch_execute("COMMIT")
                )
            })?;
            match answers.map_err(|error| unknown(error.into()))? {
                (_, 1, _) => Ok(()),
                _ if log.membership.lease.has_ended() => Err(Stopped::Ended),
                // The process is about to begin anew as another incarnation.
                _ => Err(SqlError::Lost("this process was declared dead".to_owned()).into()),
            }
        })
    }

    fn remove(&mut self, league: u32) -> Result<bool, AppendError> {
        self.with(|log, session| {
            let fenced = || Stopped::Fenced(BTreeSet::from([league]));
            let (id, held) = log.membership.held_of(&BTreeSet::from([league]));
            let number = league.cast_signed();
            let held = *held.get(&league).ok_or_else(fenced)?;
            log.in_doubt.insert(league);
            session.db.batch(&begin(true))?;
            let removed = "UPDATE matchday_leagues SET removed = true, wake_at = NULL, exchange_bytes = 0 \
                           WHERE number = $1 AND epoch = $2 AND owner = $3";
            if session.db.execute(removed, &[&number, &held.epoch, &id])? != 1 {
                return Err(fenced());
            }
            let events = "DELETE FROM matchday_events WHERE league = $1 AND (stream, seq) IN \
                          (SELECT stream, seq FROM matchday_events WHERE league = $1 LIMIT $2)";
            let exchanges = "DELETE FROM matchday_exchanges WHERE league = $1 AND id IN \
                             (SELECT id FROM matchday_exchanges WHERE league = $1 LIMIT $2)";
            let gone = session.db.execute(events, &[&number, &REMOVED_MAX])?
                + session.db.execute(exchanges, &[&number, &REMOVED_MAX])?;
            session.db.batch("COMMIT").map_err(unknown)?;
            log.in_doubt.remove(&league);
            log.last_exchange.remove(&league);
            Ok(gone == 0)
        })
    }

    /// Notices that the connection is lost, although nothing is appended.
    fn maintain(&mut self) -> Result<(), AppendError> {
        self.with(|_, session| Ok(session.db.batch("SELECT 1")?))
    }

    fn maintenance_interval(&self) -> Option<Duration> {
        Some(RENEWED_EVERY)
    }

    fn reconnect(&mut self) -> Result<(), AppendError> {
        self.session = None;
        let store = self.address.shown().clone();
        match self.open_session() {
            Ok(()) => Ok(()),
            // A database that is being restored has no tables for a while.
            Err(error) if error.is(&SqlState::UNDEFINED_TABLE) => {
                Err(unknown(error).appending(&store))
            }
            Err(error) => Err(error.appending(&store)),
        }
    }

    fn diverged(
        &mut self,
        ends: &[(u32, Stream, Head)],
    ) -> Result<Vec<(u32, Stream)>, AppendError> {
        self.with(|_, session| {
            let places = Columns::ends(ends);
            let params: Params<'_, 4> = [&places.league, &places.stream, &places.seq, &places.hash];
            let rows = wait(session.db.0.query(&session.check_ends, &params))??;
            let read = |row: &Row| {
                Ok((
                    row.try_get::<_, i32>(0)?.cast_unsigned(),
                    Stream(row.try_get::<_, &str>(1)?.into()),
                ))
            };
            Ok(rows
                .iter()
                .map(read)
                .collect::<Result<_, tokio_postgres::Error>>()?)
        })
    }

    fn taken_over(&mut self, leagues: &BTreeSet<u32>) -> Result<BTreeSet<u32>, AppendError> {
        self.with(|log, session| {
            let (id, held) = log.membership.held_of(leagues);
            let (numbers, epochs): (Vec<i32>, Vec<i64>) = held
                .iter()
                .map(|(league, held)| (league.cast_signed(), held.epoch))
                .unzip();
            let claimed: Params<'_, 3> = [&numbers, &epochs, &id];
            let own = wait(session.db.0.query(&session.check_epochs, &claimed))??;
            let taken = claim::missing(leagues, &own)?;
            if !taken.is_empty() {
                log.membership.lose(&taken);
            }
            Ok(taken)
        })
    }

    fn lease(&self) -> Option<Arc<Lease>> {
        Some(Arc::clone(&self.membership.lease))
    }

    fn forget(&mut self, leagues: &BTreeSet<u32>) {
        self.last_exchange
            .retain(|league, _| !leagues.contains(league));
    }

    /// A server that crashes loses commits that were not synchronous.
    fn may_lose_commits(&self) -> bool {
        true
    }
}
