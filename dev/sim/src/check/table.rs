//! The rules on the standings: computed here from the results alone, then compared.

use super::{Facts, Fixture, Kind, Outcome, play_off};
use crate::failure::{Checker, Fault};
use matchday_core::protocol::PlayerId;
use std::cmp::Ordering;

/// One player's line as the results alone give it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    player: PlayerId,
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    forfeits: u32,
}

impl Line {
    /// Three for a win, one for a draw, nothing for a loss.
    fn points(&self) -> u32 {
        self.wins * 3 + self.draws
    }
}

fn line(facts: &Facts, player: &PlayerId, among: Option<&[PlayerId]>) -> Line {
    let mut line = Line {
        player: player.clone(),
        played: 0,
        wins: 0,
        draws: 0,
        losses: 0,
        forfeits: 0,
    };
    let own = |fixture: &&Fixture| fixture.series.is_none() && fixture.has(player);
    for fixture in facts.fixtures.iter().filter(own) {
        let counted = among.is_none_or(|group| {
            [&fixture.a, &fixture.b]
                .into_iter()
                .all(|one| group.contains(one))
        });
        let (Some(outcome), true) = (&fixture.outcome, counted) else {
            continue;
        };
        line.played += 1;
        match outcome {
            Outcome::Drawn => line.draws += 1,
            Outcome::Won(winner) | Outcome::Forfeited { winner } if winner == player => {
                line.wins += 1
            }
            Outcome::Won(_) => line.losses += 1,
            Outcome::Forfeited { .. } | Outcome::BothForfeited => {
                line.losses += 1;
                line.forfeits += 1;
            }
        }
    }
    // Sitting a swiss round out is as good as a win, but over nobody.
    let given = facts
        .course
        .rounds
        .iter()
        .filter(|round| round.announced && round.byes.contains(player));
    if facts.course.kind == Kind::Swiss && among.is_none() {
        let byes = u32::try_from(given.count()).unwrap_or(u32::MAX);
        line.played += byes;
        line.wins += byes;
    }
    line
}

/// Each row says what the results say, and nothing else.
pub fn adds_up(facts: &Facts) -> Result<(), Fault> {
    let broken = |what: String| Err(Fault::new(Checker::TableAddsUp, what));
    if facts.table.len() != facts.players.len() {
        return broken(format!(
            "{} rows for {} players",
            facts.table.len(),
            facts.players.len()
        ));
    }
    for row in &facts.table {
        if row.played != row.wins + row.draws + row.losses {
            return broken(format!("{row:?}: played is not wins, draws and losses"));
        }
        let own = line(facts, &row.player, None);
        let said = (
            row.played,
            row.wins,
            row.draws,
            row.losses,
            row.technical_losses,
            row.points,
        );
        if said
            != (
                own.played,
                own.wins,
                own.draws,
                own.losses,
                own.forfeits,
                own.points(),
            )
        {
            return broken(format!("the results give {own:?}, the table says {row:?}"));
        }
    }
    Ok(())
}

/// Points; points in the matches among exactly those who are level on points, and again among those whom that leaves level;
/// share of wins; wins; fewer draws; each series of the play-off. Those who are level in all of that share a rank, in the order of their ids.
///
/// In a knockout how far one came goes before all that, and is `course`'s matter; a ladder goes by ratings.
pub fn is_in_order(facts: &Facts) -> Result<(), Fault> {
    if matches!(
        facts.course.kind,
        Kind::Knockout | Kind::Groups | Kind::Ladder
    ) {
        return Ok(());
    }
    let series = play_off::series(facts);
    let order = order(facts, series);
    let mut rank = 1;
    let mut above: Option<&PlayerId> = None;
    for ((number, row), (player, is_level)) in (1..).zip(&facts.table).zip(&order) {
        if row.player != *player {
            return Err(Fault::new(
                Checker::TableInOrder,
                format!("{} stands where {player} belongs", row.player),
            ));
        }
        rank = if *is_level { rank } else { number };
        if row.rank != rank {
            let what = format!(
                "{player} after {above:?} has rank {}, and not {rank}",
                row.rank
            );
            return Err(Fault::new(Checker::TableInOrder, what));
        }
        above = Some(player);
    }
    Ok(())
}

/// All players, first place first, each with whether it is level with the one above. Only so many series of the play-off
/// count.
pub(super) fn order(facts: &Facts, series: u32) -> Vec<(PlayerId, bool)> {
    let lines: Vec<_> = facts
        .players
        .iter()
        .map(|player| line(facts, player, None))
        .collect();
    let mut order: Vec<_> = lines
        .iter()
        .map(|own| {
            let level: Vec<_> = lines
                .iter()
                .filter(|other| other.points() == own.points())
                .map(|other| other.player.clone())
                .collect();
            (own, head_to_head(facts, &own.player, level))
        })
        .collect();
    let compare = |(x, x_direct): &(&Line, Vec<u32>), (y, y_direct): &(&Line, Vec<u32>)| {
        (y.points().cmp(&x.points()))
            .then(y_direct.cmp(x_direct))
            .then(share_of_wins(y, x))
            .then(y.wins.cmp(&x.wins))
            .then(x.draws.cmp(&y.draws))
            .then(
                play_off::points(facts, series, &y.player)
                    .cmp(&play_off::points(facts, series, &x.player)),
            )
    };
    order.sort_by(|x, y| compare(x, y).then(x.0.player.cmp(&y.0.player)));
    let above = std::iter::once(None).chain(order.iter().map(Some));
    let level = above
        .zip(&order)
        .map(|(above, own)| above.is_some_and(|above| compare(above, own).is_eq()));
    let level: Vec<bool> = level.collect();
    order
        .iter()
        .map(|(own, _)| own.player.clone())
        .zip(level)
        .collect()
}

/// A player's points among those who are level with it, then among those whom these points leave level, and so on.
fn head_to_head(facts: &Facts, player: &PlayerId, mut level: Vec<PlayerId>) -> Vec<u32> {
    let mut points = Vec::new();
    loop {
        let among = |one: &PlayerId| line(facts, one, Some(&level)).points();
        let own = among(player);
        points.push(own);
        let left: Vec<PlayerId> = level
            .iter()
            .filter(|one| among(one) == own)
            .cloned()
            .collect();
        if left.len() == level.len() {
            return points;
        }
        level = left;
    }
}

/// Compares wins / played without dividing; who has not played has no share.
fn share_of_wins(x: &Line, y: &Line) -> Ordering {
    (x.wins * y.played.max(1)).cmp(&(y.wins * x.played.max(1)))
}
