//! Every result that has reached the manager's disk: none may be decided twice, change, or be forgotten.

use super::{Facts, Outcome};
use crate::failure::{Checker, Fault};
use matchday_core::protocol::MatchId;
use matchday_core::protocol::messages::MatchResult;
use std::collections::BTreeMap;

/// The results so far, as they became durable first.
#[derive(Debug, Default)]
pub struct Ledger(BTreeMap<MatchId, (Outcome, MatchResult)>);

impl Ledger {
    /// How many matches are decided.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no match is decided.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A decision has become durable.
    pub fn record(
        &mut self,
        match_id: &MatchId,
        outcome: Outcome,
        result: MatchResult,
    ) -> Result<(), Fault> {
        match self.0.insert(match_id.clone(), (outcome.clone(), result)) {
            None => Ok(()),
            Some((before, _)) => Err(Fault::new(
                Checker::ResultsNeverChange,
                format!(
                    "{match_id} was decided as {before:?}, and is decided again as {outcome:?}"
                ),
            )),
        }
    }

    /// What a league says now must include all that was ever durable.
    pub fn agrees(&self, facts: &Facts) -> Result<(), Fault> {
        let now: BTreeMap<_, _> = facts
            .fixtures
            .iter()
            .map(|fixture| (&fixture.id, fixture.outcome.as_ref()))
            .collect();
        for (match_id, (outcome, _)) in &self.0 {
            let now = now.get(match_id).copied().flatten();
            if now != Some(outcome) {
                return Err(Fault::new(
                    Checker::ResultsNeverChange,
                    format!("{match_id} was {outcome:?}, and is now {now:?}"),
                ));
            }
        }
        Ok(())
    }

    /// A receipt is being sent for a match, to the referee that reported `result`.
    pub fn has_recorded(
        &self,
        match_id: &MatchId,
        reported: Option<&MatchResult>,
    ) -> Result<(), Fault> {
        let broken = |what| {
            Err(Fault::new(
                Checker::AcknowledgedIsDurable,
                format!("{match_id} {what}"),
            ))
        };
        let Some((_, recorded)) = self.0.get(match_id) else {
            return broken("is acknowledged, and not on the disk");
        };
        match reported {
            Some(reported)
                if reported.winner != recorded.winner || reported.score != recorded.score =>
            {
                broken("is acknowledged with another result than the one on the disk")
            }
            _ => Ok(()),
        }
    }
}
