//! Swiss rounds at the least cost: all pairs of a round are chosen together. Pure arithmetic.
//!
//! The cost of a round, the most important first, as in the Dutch system of FIDE:
//! 1. byes for those who have had more than others, and rematches;
//! 2. players on one side three times in a row, or three times more often than on the other;
//! 3. the score of who sits out;
//! 4. floats: the score groups between the players of each pair; then pairs that are many of them apart;
//! 5. players on a side that is not due to them;
//! 6. how far pairs are from the upper half of a score group against its lower half, in their order.

use super::min_cost_matching;
use super::swiss::{Field, Form, PairedField};
use std::cmp::Reverse;

/// Matching takes time in the third power of the number of players, so larger fields are paired in blocks of about this
/// size.
const BLOCK: usize = 48;

/// Where each part of the cost begins, in bits: none can outgrow its room in a field of a thousand players.
const FROM_HALVES: u32 = 0;
const SIDES: u32 = 20;
const DISTANCE: u32 = 32;
const FLOATS: u32 = 53;
const BYE: u32 = 68;
const SIDES_IMPOSSIBLE: u32 = 78;
const TIMES_MET: u32 = 90;
const REMATCH: u32 = 104;

/// A second bye, while others have had none, is worse than any rematches.
const BYE_AGAIN: usize = 512;

fn part(value: usize, most: usize, from: u32) -> i128 {
    i128::try_from(value.min(most)).unwrap_or(0) << from
}

/// A player who is to be paired.
#[derive(Clone)]
struct Entrant {
    player: usize,
    form: Form,
    /// The number of scores that are higher than its own.
    level: usize,
    /// Its place in its score group, from 0, and the size of that.
    place: usize,
    group: usize,
}

impl Field {
    /// Pairs all who are there; `None` if there are not two.
    pub(super) fn pair(&self, mut present: Vec<usize>) -> Option<PairedField> {
        if present.len() < 2 {
            return None;
        }
        present.sort_by_key(|player| (Reverse(self.points(*player)), *player));
        let is_odd = !present.len().is_multiple_of(2);
        let groups = present.chunk_by(|one, other| self.points(*one) == self.points(*other));
        let groups: Vec<Vec<Entrant>> = groups
            .enumerate()
            .map(|(level, group)| self.group(level, group))
            .collect();
        let byes_least = present.iter().map(|player| self.form(*player).byes).min()?;
        let blocks = blocks(groups, BLOCK.max(4 * self.rounds));
        let last = blocks.len().checked_sub(1)?;
        let mut pairs = Vec::new();
        let mut bye = None;
        for (number, block) in blocks.iter().enumerate() {
            let sits_out = is_odd && number == last;
            let chosen = min_cost_matching::partners(
                block.len() + usize::from(sits_out),
                |one, other| match (block.get(one), block.get(other)) {
                    (Some(one), Some(other)) => self.cost(one, other),
                    (Some(one), None) | (None, Some(one)) => {
                        bye_cost(one, last_level(block), byes_least)
                    }
                    (None, None) => 0,
                },
            );
            for (one, partner) in block.iter().zip(chosen) {
                match block.get(partner) {
                    None => bye = Some(one.player),
                    Some(other) if (one.level, one.place) < (other.level, other.place) => {
                        pairs.push((one, other))
                    }
                    Some(_) => {}
                }
            }
        }
        pairs.sort_by_key(|(upper, _)| (upper.level, upper.place));
        let seated = (0..)
            .zip(pairs)
            .map(|(board, (upper, lower))| self.sides(upper, lower, board));
        Some((seated.collect(), bye))
    }

    fn group(&self, level: usize, group: &[usize]) -> Vec<Entrant> {
        let entrant = |(place, player): (usize, &usize)| Entrant {
            player: *player,
            form: self.form(*player),
            level,
            place,
            group: group.len(),
        };
        group.iter().enumerate().map(entrant).collect()
    }

    fn cost(&self, one: &Entrant, other: &Entrant) -> i128 {
        let (upper, lower) = if (one.level, one.place) < (other.level, other.place) {
            (one, other)
        } else {
            (other, one)
        };
        let met = usize::try_from(self.met(upper.player, lower.player)).unwrap_or(usize::MAX);
        let apart = lower.level - upper.level;
        let from_halves = match apart {
            0 => (lower.place - upper.place).abs_diff(upper.group / 2),
            // The last of the upper group meets the first of the lower one.
            _ => (upper.group - 1 - upper.place) + lower.place,
        };
        let (impossible, undue) =
            sides_cost(&upper.form, &lower.form).min(sides_cost(&lower.form, &upper.form));
        part(usize::from(met > 0), 1, REMATCH)
            + part(met, 31, TIMES_MET)
            + part(impossible, 4, SIDES_IMPOSSIBLE)
            + part(apart, 63, FLOATS)
            + part(apart.min(63).pow(2), 63 * 63, DISTANCE)
            + part(undue, 4, SIDES)
            + part(from_halves, 1023, FROM_HALVES)
    }

    /// Side A first.
    fn sides(&self, upper: &Entrant, lower: &Entrant, board: usize) -> (usize, usize) {
        let as_it_is = sides_cost(&upper.form, &lower.form);
        let turned = sides_cost(&lower.form, &upper.form);
        match as_it_is.cmp(&turned) {
            std::cmp::Ordering::Less => (upper.player, lower.player),
            std::cmp::Ordering::Greater => (lower.player, upper.player),
            std::cmp::Ordering::Equal => self.seated(upper.player, lower.player, board),
        }
    }
}

fn last_level(block: &[Entrant]) -> usize {
    block.last().map_or(0, |last| last.level)
}

fn bye_cost(one: &Entrant, last_level: usize, byes_least: u32) -> i128 {
    let again = usize::from(one.form.byes > byes_least);
    part(again * BYE_AGAIN, BYE_AGAIN, REMATCH)
        + part(last_level - one.level.min(last_level), 1023, BYE)
        + part(one.group - 1 - one.place, 1023, FROM_HALVES)
}

/// What it costs to give side A to the first and side B to the second: sides that nobody should have, and sides that are
/// not due.
fn sides_cost(a: &Form, b: &Form) -> (usize, usize) {
    let [a, b] = [side_cost(a, 1), side_cost(b, -1)];
    (a.0 + b.0, a.1 + b.1)
}

fn side_cost(form: &Form, side: i32) -> (usize, usize) {
    let third_in_a_row = form.last == side && form.run >= 2;
    let too_often = (form.balance + side).abs() > 2;
    let undue = match form.balance.signum() * side {
        1 => 2,
        0 if form.last == side => 1,
        _ => 0,
    };
    (usize::from(third_in_a_row) + usize::from(too_often), undue)
}

/// Cuts a field into blocks of about `size`, between score groups where it can: all but the last have even numbers.
fn blocks(groups: Vec<Vec<Entrant>>, size: usize) -> Vec<Vec<Entrant>> {
    let slices = groups.into_iter().flat_map(|group| slices(group, size));
    let mut blocks: Vec<Vec<Entrant>> = vec![Vec::new()];
    for slice in slices {
        let Some(block) = blocks.last_mut() else {
            continue;
        };
        if block.is_empty() || block.len() + slice.len() <= size {
            block.extend(slice);
            continue;
        }
        // Who is left over of an odd number floats to the next block.
        let left_over = if block.len().is_multiple_of(2) {
            None
        } else {
            block.pop()
        };
        blocks.push(left_over.into_iter().chain(slice).collect());
    }
    // A small last block may not be paired without rematches.
    if let Some(last) = blocks.pop_if(|last| last.len() < size / 2) {
        match blocks.last_mut() {
            Some(block) => block.extend(last),
            None => blocks.push(last),
        }
    }
    blocks
}

/// A score group that is larger than a block: each slice has a part of its upper half, and the same part of its lower.
fn slices(group: Vec<Entrant>, size: usize) -> Vec<Vec<Entrant>> {
    if group.len() <= size {
        return vec![group];
    }
    let (upper, lower) = group.split_at(group.len() / 2);
    let mut upper = upper.chunks(size / 2);
    let lower = lower.chunks(size / 2);
    lower
        .map(|lower| [upper.next().unwrap_or_default(), lower].concat())
        .collect()
}
