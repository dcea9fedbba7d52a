//! The rules on rounds that follow from results: found here by trying everything, which small leagues allow.

use super::{Drawn, Facts, Fixture, Kind, Outcome, fixtures};
use crate::failure::{Checker, Fault};
use matchday_core::protocol::PlayerId;
use std::collections::{BTreeMap, BTreeSet};

type Pair<'a> = (&'a PlayerId, &'a PlayerId);

fn broken(what: String) -> Fault {
    Fault::new(Checker::FormatIsFollowed, what)
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(broken(what())) }
}

fn pair<'a>(a: &'a PlayerId, b: &'a PlayerId) -> Pair<'a> {
    if a < b { (a, b) } else { (b, a) }
}

/// Whether the matches are such as the kind of the league asks for, as far as they are drawn.
pub fn is_followed(facts: &Facts) -> Result<(), Fault> {
    fixtures::matches_are_of_the_league(facts)?;
    let rounds: Vec<&Drawn> = facts.course.rounds.iter().collect();
    match facts.course.kind {
        Kind::All(times) => fixtures::each_pair_meets(facts, times),
        Kind::Swiss => swiss(facts, &stages(facts, &rounds)),
        Kind::Knockout => knockout(facts, &stages(facts, &rounds)),
        Kind::Groups => {
            let after: Vec<&Drawn> = rounds
                .into_iter()
                .filter(|round| !round.in_groups)
                .collect();
            knockout(facts, &stages(facts, &after))
        }
        Kind::Ladder => Ok(()),
    }
}

/// One pairing: who meets, in which matches, and who sits out.
#[derive(Default)]
struct Stage<'a> {
    ties: BTreeMap<Pair<'a>, Vec<&'a Fixture>>,
    byes: BTreeSet<&'a PlayerId>,
}

impl<'a> Stage<'a> {
    fn players(&self) -> BTreeSet<&'a PlayerId> {
        self.ties
            .keys()
            .flat_map(|(a, b)| [*a, *b])
            .chain(self.byes.iter().copied())
            .collect()
    }
}

fn stages<'a>(facts: &'a Facts, rounds: &[&'a Drawn]) -> Vec<Stage<'a>> {
    let mut stages: BTreeMap<u32, Stage<'a>> = BTreeMap::new();
    for drawn in rounds {
        let stage = stages.entry(drawn.stage).or_default();
        stage.byes.extend(&drawn.byes);
        for fixture in facts
            .fixtures
            .iter()
            .filter(|fixture| fixture.round == drawn.round)
        {
            stage
                .ties
                .entry(pair(&fixture.a, &fixture.b))
                .or_default()
                .push(fixture);
        }
    }
    stages.into_values().collect()
}

/// Everyone has one place in each stage; nobody sits out again while another has not; nobody is met twice while there
/// is another way.
fn swiss(facts: &Facts, stages: &[Stage<'_>]) -> Result<(), Fault> {
    let everyone: BTreeSet<&PlayerId> = facts.players.iter().collect();
    let mut met: BTreeSet<Pair<'_>> = BTreeSet::new();
    let mut had: BTreeMap<&PlayerId, u32> = BTreeMap::new();
    for (number, stage) in (1..).zip(stages) {
        ensure(stage.players() == everyone, || {
            format!("not everyone has a place in pairing {number}")
        })?;
        let places = stage.ties.len() * 2 + stage.byes.len();
        ensure(places == everyone.len(), || {
            format!("someone has two places in pairing {number}")
        })?;
        let byes = |player: &PlayerId| had.get(player).copied().unwrap_or(0);
        let least = everyone
            .iter()
            .map(|player| byes(player))
            .min()
            .unwrap_or(0);
        let may_sit_out: Vec<&PlayerId> = everyone
            .iter()
            .copied()
            .filter(|player| byes(player) == least)
            .collect();
        for player in &stage.byes {
            ensure(may_sit_out.contains(player), || {
                format!("{player} sits out again in pairing {number}")
            })?;
        }
        if let Some((a, b)) = stage.ties.keys().find(|pair| met.contains(*pair)) {
            let choices: Vec<Option<&PlayerId>> = match everyone.len() % 2 {
                0 => vec![None],
                _ => may_sit_out.into_iter().map(Some).collect(),
            };
            let avoidable = choices.into_iter().any(|bye| {
                let left: Vec<_> = everyone
                    .iter()
                    .copied()
                    .filter(|player| Some(*player) != bye)
                    .collect();
                can_be_paired(&left, &met)
            });
            ensure(!avoidable, || {
                format!("{a} and {b} need not meet again in pairing {number}")
            })?;
        }
        met.extend(stage.ties.keys().copied());
        for player in &stage.byes {
            *had.entry(*player).or_default() += 1;
        }
    }
    Ok(())
}

fn can_be_paired(left: &[&PlayerId], met: &BTreeSet<Pair<'_>>) -> bool {
    let Some((first, rest)) = left.split_first() else {
        return true;
    };
    rest.iter().any(|other| {
        let others: Vec<&PlayerId> = rest
            .iter()
            .copied()
            .filter(|player| player != other)
            .collect();
        !met.contains(&pair(first, other)) && can_be_paired(&others, met)
    })
}

/// Who goes on is who won its tie, or sat out; in the end one is left, and that is the champion.
fn knockout(facts: &Facts, stages: &[Stage<'_>]) -> Result<(), Fault> {
    let Some(first) = stages.first() else {
        return Ok(());
    };
    let mut due = first.players();
    for (number, stage) in (1..).zip(stages) {
        ensure(stage.players() == due, || {
            format!("the wrong players are in stage {number}")
        })?;
        let is_last = stages.len() == number;
        let mut through: BTreeSet<&PlayerId> = stage.byes.clone();
        for (tie, games) in &stage.ties {
            match winner(facts, *tie, games) {
                Some(winner) => {
                    through.insert(winner);
                }
                None => ensure(is_last && !facts.completed, || {
                    format!(
                        "{} and {} are level, and stage {number} is over",
                        tie.0, tie.1
                    )
                })?,
            }
        }
        due = through;
    }
    let left: Vec<&PlayerId> = due.into_iter().collect();
    ensure(
        !facts.completed || left == Vec::from_iter(&facts.course.champion),
        || {
            format!(
                "{left:?} are left, and the champion is {:?}",
                facts.course.champion
            )
        },
    )
}

/// Who has won a tie, if it is decided.
fn winner<'a>(facts: &Facts, (a, b): Pair<'a>, games: &[&Fixture]) -> Option<&'a PlayerId> {
    let decided: Vec<&Outcome> = games
        .iter()
        .filter_map(|game| game.outcome.as_ref())
        .collect();
    let won = |player: &PlayerId| {
        let wins = decided.iter().filter(|outcome| match outcome {
            Outcome::Won(winner) | Outcome::Forfeited { winner } => winner == player,
            Outcome::Drawn | Outcome::BothForfeited => false,
        });
        wins.count()
    };
    let left = facts.course.legs.saturating_sub(decided.len());
    if won(a) > won(b) + left {
        return Some(a);
    }
    if won(b) > won(a) + left {
        return Some(b);
    }
    let exhausted = decided.len() >= facts.course.legs + facts.course.replays;
    let by_lot = |winner: &PlayerId, loser: &PlayerId| {
        facts
            .course
            .lots
            .iter()
            .any(|(one, other)| one == winner && other == loser)
    };
    match exhausted {
        true if by_lot(a, b) => Some(a),
        true if by_lot(b, a) => Some(b),
        _ => None,
    }
}
