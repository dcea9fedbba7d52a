//! The epochs that a transaction names: under which its leagues must still be those of this process when it commits. Pure.

use super::connection::SqlError;
use super::history::About;
use super::membership::{Membership, OwnedLeague};
use crate::append::{EventRow, Transaction};
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::Row;

/// A new league begins with it.
const FIRST_EPOCH: i64 = 1;

#[derive(Debug)]
pub(super) struct Claim {
    /// The key of the process's row.
    pub(super) id: String,
    pub(super) leagues: BTreeMap<u32, OwnedLeague>,
    /// Those that may have no row yet.
    pub(super) fresh: Vec<i32>,
    /// Those to which events of a newer form are appended.
    pub(super) raised: Vec<i32>,
}

impl Claim {
    /// An error with the leagues that this process does not own.
    pub(super) fn of(membership: &Membership, group: &Transaction) -> Result<Self, BTreeSet<u32>> {
        let all = group.leagues();
        let (id, mut leagues) = membership.held_of(&all);
        let form = membership.event_form();
        let fresh: BTreeSet<u32> = may_be_new(group)
            .filter(|league| !leagues.contains_key(league))
            .collect();
        let unowned: BTreeSet<u32> = all
            .into_iter()
            .filter(|league| !leagues.contains_key(league) && !fresh.contains(league))
            .collect();
        if !unowned.is_empty() {
            return Err(unowned);
        }
        let new = OwnedLeague {
            epoch: FIRST_EPOCH,
            event_form: form,
        };
        leagues.extend(fresh.iter().map(|league| (*league, new)));
        let older = |league: &u32| {
            leagues
                .get(league)
                .is_some_and(|held| held.event_form < form)
        };
        let appended: BTreeSet<u32> = group
            .events
            .iter()
            .map(|row| row.after.league)
            .filter(older)
            .collect();
        let signed = |leagues: BTreeSet<u32>| leagues.into_iter().map(u32::cast_signed).collect();
        let fresh = signed(fresh);
        let raised = signed(appended);
        Ok(Self {
            id,
            leagues,
            fresh,
            raised,
        })
    }

    /// The leagues and their epochs.
    pub(super) fn columns(&self) -> (Vec<i32>, Vec<i64>) {
        self.leagues
            .iter()
            .map(|(league, held)| (league.cast_signed(), held.epoch))
            .unzip()
    }

    /// The streams of a transaction, for the history.
    pub(super) fn about(&self, group: &Transaction) -> Vec<About> {
        let mut streams: BTreeMap<(u32, &str), (&EventRow, &EventRow)> = BTreeMap::new();
        for row in &group.events {
            streams
                .entry((row.after.league, &row.stream.0))
                .and_modify(|ends| ends.1 = row)
                .or_insert((row, row));
        }
        let about =
            |((league, stream), (first, last)): ((u32, &str), (&EventRow, &EventRow))| About {
                league: Some(league),
                stream: Some(stream.to_owned()),
                from: Some(first.seq()),
                to: Some(last.seq()),
                hash: Some(hex::encode(last.hash.0)),
                epoch: self.leagues.get(&league).map(|held| held.epoch),
            };
        streams.into_iter().map(about).collect()
    }
}

/// Those of these leagues that are not among the rows of leagues that this process still owns.
pub(super) fn missing(leagues: &BTreeSet<u32>, own: &[Row]) -> Result<BTreeSet<u32>, SqlError> {
    let own = own
        .iter()
        .map(|row| Ok(row.try_get::<_, i32>(0)?.cast_unsigned()));
    let own: BTreeSet<u32> = own.collect::<Result<_, tokio_postgres::Error>>()?;
    Ok(leagues.difference(&own).copied().collect())
}

/// Leagues whose first rows these may be.
fn may_be_new(group: &Transaction) -> impl Iterator<Item = u32> {
    let begun = group
        .events
        .iter()
        .filter(|row| row.after.seq == 0)
        .map(|row| row.after.league);
    let woken = group.wake_at.iter().map(|(league, _)| *league);
    begun
        .chain(woken)
        .chain(group.exchanges.iter().map(|(league, _)| *league))
}
