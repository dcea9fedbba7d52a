//! The rules on the play-off: who is in each series, and that no title stays open while one is due.

use super::{Facts, Outcome, table};
use crate::failure::{Checker, Fault};
use matchday_core::protocol::PlayerId;
use std::collections::BTreeSet;

/// How many series there are.
pub(super) fn series(facts: &Facts) -> u32 {
    facts
        .fixtures
        .iter()
        .filter_map(|fixture| fixture.series)
        .max()
        .unwrap_or(0)
}

/// What a player got in each of the first series: nothing where it was not in it, and one more than its points otherwise.
pub(super) fn points(facts: &Facts, series: u32, player: &PlayerId) -> Vec<u32> {
    let of_series = |number: u32| {
        let own = facts
            .fixtures
            .iter()
            .filter(|fixture| fixture.series == Some(number) && fixture.has(player));
        let gained: Vec<u32> = own
            .map(|fixture| match &fixture.outcome {
                Some(Outcome::Won(winner) | Outcome::Forfeited { winner }) if winner == player => 3,
                Some(Outcome::Drawn) => 1,
                _ => 0,
            })
            .collect();
        if gained.is_empty() {
            0
        } else {
            1 + gained.iter().sum::<u32>()
        }
    };
    (1..=series).map(of_series).collect()
}

/// Those who were level for the first place after so many series.
fn leaders(facts: &Facts, series: u32) -> BTreeSet<PlayerId> {
    let order = table::order(facts, series);
    let level = order
        .into_iter()
        .enumerate()
        .take_while(|(row, (_, is_level))| *row == 0 || *is_level);
    level.map(|(_, (player, _))| player).collect()
}

/// Each series is among exactly those who were level, and a league with a play-off does not end while one is due.
pub fn is_played(facts: &Facts) -> Result<(), Fault> {
    let broken = |what: String| Err(Fault::new(Checker::FormatIsFollowed, what));
    let played = series(facts);
    for number in 1..=played {
        let of_series = facts
            .fixtures
            .iter()
            .filter(|fixture| fixture.series == Some(number));
        let in_it: BTreeSet<PlayerId> = of_series
            .flat_map(|fixture| [fixture.a.clone(), fixture.b.clone()])
            .collect();
        let level = leaders(facts, number - 1);
        if in_it != level {
            return broken(format!(
                "{in_it:?} are in play-off {number}, and {level:?} were level"
            ));
        }
    }
    let may_go_on = usize::try_from(played).is_ok_and(|played| played <= facts.course.replays);
    if facts.completed && facts.course.play_off && may_go_on && leaders(facts, played).len() > 1 {
        return broken(format!(
            "the league is over after {played} play-offs, and the first place is shared"
        ));
    }
    if played > 0 && !facts.course.play_off {
        return broken("a play-off is played that nobody asked for".to_owned());
    }
    Ok(())
}
