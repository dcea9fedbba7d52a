//! The rule on blame: a player that loses without play is told why, nobody else is, and it is never for another's fault.

use super::{Fixture, Outcome};
use crate::failure::{Checker, Fault};
use matchday_core::protocol::messages::{Culprit, MatchResult};

/// Fails if a loser by forfeit is not blamed, or if anyone else is, or for a fault that is not its own.
pub fn names_the_losers(fixture: &Fixture, result: &MatchResult) -> Result<(), Fault> {
    let id = &fixture.id;
    let broken = |what: String| Err(Fault::new(Checker::BlameFits, what));
    for player in [&fixture.a, &fixture.b] {
        let lost = match &fixture.outcome {
            Some(Outcome::Forfeited { winner }) => winner != player,
            Some(Outcome::BothForfeited) => true,
            _ => false,
        };
        let blame = result
            .details
            .blame
            .as_ref()
            .and_then(|blame| blame.get(player));
        match blame {
            None if lost => {
                return broken(format!(
                    "{player} lost {id} without play, and nobody says why"
                ));
            }
            Some(blame) if !lost => {
                return broken(format!(
                    "{player} is blamed in {id} for {:?}, and lost nothing by it",
                    blame.cause
                ));
            }
            Some(blame) if blame.culprit != Culprit::Player => {
                return broken(format!(
                    "{player} lost {id} by the fault of another: {:?}",
                    blame.culprit
                ));
            }
            _ => {}
        }
    }
    Ok(())
}
