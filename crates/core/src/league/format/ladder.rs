//! The ladder: a league without an end, whose players are paired by rating. A fold over its rounds. Pure arithmetic.
//!
//! All who are there are paired at once, at the least cost, the most important first:
//! 1. nobody meets its last opponent again, nor the two before that, while there is another way;
//! 2. who is left over of an odd number has sat out least;
//! 3. the sum of the squared differences of ratings.
//!
//! Each round is a rating period of those who play in it, and of nobody else: an absence does not make a rating less sure.

use super::{DrawnRound, legs, min_cost_matching};
use crate::league::standings::Verdict;
use crate::protocol::{PlayerId, Timestamp};
use matchday_rating::Rating;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// The span over which a player's matches are counted.
const HOUR: Duration = Duration::from_secs(3600);
/// How many earlier opponents are avoided.
const OPPONENTS_KEPT: usize = 3;
/// Matching takes time in the third power of the number of players, so larger fields are paired in blocks.
const BLOCK: usize = 48;

/// Where each part of the cost begins, in bits.
const SAT_OUT: u32 = 40;
const EARLIER_OPPONENT: u32 = 56;
const LAST_OPPONENT: u32 = 72;

/// What the rounds of a ladder have made of its players.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ladder {
    forms: BTreeMap<PlayerId, Form>,
    /// How many rounds the ratings know.
    pub(in crate::league) settled: usize,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Form {
    rating: Rating,
    /// The latest first.
    opponents: VecDeque<PlayerId>,
    /// Pairings on side A less those on side B.
    balance: i32,
    /// When the matches of the last hour were drawn, the earliest first.
    drawn_at: VecDeque<Timestamp>,
    /// How often it was there and had no opponent.
    sat_out: u32,
}

/// A player that is to be paired.
struct Entrant<'a> {
    id: &'a PlayerId,
    form: Form,
    /// In whole points.
    rating: i128,
}

impl Ladder {
    /// The rating of a player; the initial one before its first match.
    pub fn rating(&self, player: &PlayerId) -> Rating {
        self.forms
            .get(player)
            .map(|form| form.rating)
            .unwrap_or_default()
    }

    /// Rates the matches of a round, all at once. One that both players forfeited says nothing.
    pub fn settle(&mut self, games: &[(&PlayerId, &PlayerId, Verdict)]) {
        let mut played: BTreeMap<&PlayerId, Vec<(Rating, f64)>> = BTreeMap::new();
        for (a, b, verdict) in games {
            let score = match verdict {
                Verdict::WonByA => 1.0,
                Verdict::WonByB => 0.0,
                Verdict::Drawn => 0.5,
                Verdict::LostByBoth => continue,
            };
            played.entry(a).or_default().push((self.rating(b), score));
            played
                .entry(b)
                .or_default()
                .push((self.rating(a), 1.0 - score));
        }
        let rated: Vec<(&PlayerId, Rating)> = played
            .into_iter()
            .map(|(player, games)| (player, self.rating(player).after(&games)))
            .collect();
        for (player, rating) in rated {
            self.forms.entry(player.clone()).or_default().rating = rating;
        }
        self.settled += 1;
    }

    /// Notes a round that was drawn at this time.
    pub(in crate::league) fn note_drawn(&mut self, at: Timestamp, drawn: &DrawnRound) {
        for (a, b) in &drawn.pairs {
            for (player, opponent, side) in [(a, b, 1), (b, a, -1)] {
                let form = self.forms.entry(player.clone()).or_default();
                while form
                    .drawn_at
                    .front()
                    .is_some_and(|earliest| *earliest + HOUR <= at)
                {
                    form.drawn_at.pop_front();
                }
                form.drawn_at.push_back(at);
                if drawn.leg == 1 {
                    form.opponents.push_front(opponent.clone());
                    form.opponents.truncate(OPPONENTS_KEPT);
                    form.balance += side;
                }
            }
        }
        for player in &drawn.byes {
            self.forms.entry(player.clone()).or_default().sat_out += 1;
        }
    }

    /// From when on a player that allows `per_hour` matches in any hour may have `matches` more within one; as many as it allows at
    /// all, if that is fewer.
    pub(in crate::league) fn free_from(
        &self,
        player: &PlayerId,
        per_hour: u32,
        matches: u32,
    ) -> Timestamp {
        let drawn_at = self.forms.get(player).map(|form| &form.drawn_at);
        let allowed = per_hour.max(1);
        let before = usize::try_from(allowed - matches.clamp(1, allowed)).unwrap_or(usize::MAX);
        let limiting = drawn_at.and_then(|times| times.get(times.len().checked_sub(before + 1)?));
        limiting.map_or(Timestamp::EPOCH, |earliest| *earliest + HOUR)
    }

    /// Pairs all who are there; `None` if there are not two.
    pub fn pair(&self, stage: u32, present: &BTreeSet<PlayerId>) -> Option<DrawnRound> {
        if present.len() < 2 {
            return None;
        }
        let mut field: Vec<Entrant<'_>> = present.iter().map(|id| self.entrant(id)).collect();
        field.sort_by(|one, other| {
            other
                .rating
                .cmp(&one.rating)
                .then_with(|| one.id.cmp(other.id))
        });
        let mut pairs = Vec::new();
        let mut byes = Vec::new();
        for block in field.chunks(BLOCK) {
            pair_block(block, &mut pairs, &mut byes);
        }
        Some(DrawnRound {
            title: title(stage),
            stage,
            leg: 1,
            pairs,
            byes,
            fixed: false,
            play_off: false,
        })
    }

    fn entrant<'a>(&self, id: &'a PlayerId) -> Entrant<'a> {
        let form = self.forms.get(id).cloned().unwrap_or_default();
        Entrant {
            id,
            rating: points(form.rating),
            form,
        }
    }
}

/// Sorts by rating: thousandths of a point.
pub(in crate::league) fn rank_key(rating: Rating) -> i64 {
    (rating.rating * 1000.0).round() as i64
}

fn points(rating: Rating) -> i128 {
    i128::from(rank_key(rating) / 1000)
}

fn pair_block(
    block: &[Entrant<'_>],
    pairs: &mut Vec<(PlayerId, PlayerId)>,
    byes: &mut Vec<PlayerId>,
) {
    let is_odd = !block.len().is_multiple_of(2);
    let cost = |one: usize, other: usize| match (block.get(one), block.get(other)) {
        (Some(one), Some(other)) => cost(one, other),
        (Some(one), None) | (None, Some(one)) => i128::from(one.form.sat_out.min(0xfff)) << SAT_OUT,
        (None, None) => 0,
    };
    let partners = min_cost_matching::partners(block.len() + usize::from(is_odd), cost);
    for ((place, one), partner) in block.iter().enumerate().zip(partners) {
        match block.get(partner) {
            None => byes.push(one.id.clone()),
            Some(other) if place < partner => {
                // Side A to the one that has had it less often; the higher rated one if that is equal.
                let swap = one.form.balance > other.form.balance;
                let (a, b) = if swap { (other, one) } else { (one, other) };
                pairs.push((a.id.clone(), b.id.clone()));
            }
            Some(_) => {}
        }
    }
}

fn cost(one: &Entrant<'_>, other: &Entrant<'_>) -> i128 {
    let met = |entrant: &Entrant<'_>, opponent: &Entrant<'_>| {
        entrant
            .form
            .opponents
            .iter()
            .position(|earlier| earlier == opponent.id)
    };
    let met = met(one, other).into_iter().chain(met(other, one)).min();
    let rematch = match met {
        Some(0) => 1 << LAST_OPPONENT,
        Some(_) => 1 << EARLIER_OPPONENT,
        None => 0,
    };
    let apart = (one.rating - other.rating).clamp(-0xffff, 0xffff);
    rematch + apart * apart
}

/// The next game of the pairs of a stage, of whom each may have won: only those that are not decided.
pub(in crate::league) fn next_leg(
    first: &DrawnRound,
    leg: u32,
    legs: u32,
    is_open: impl Fn(&(PlayerId, PlayerId)) -> bool,
) -> Option<DrawnRound> {
    let open = first.pairs.iter().filter(|pair| is_open(pair));
    let pairs: Vec<_> = open.map(|pair| legs::seated(pair, leg)).collect();
    let title = legs::title(&title(first.stage), leg, legs);
    (!pairs.is_empty()).then(|| DrawnRound {
        title,
        leg,
        pairs,
        byes: Vec::new(),
        ..first.clone()
    })
}

/// With the number of games, if there may be several.
pub(in crate::league) fn titled(first: DrawnRound, legs: u32) -> DrawnRound {
    DrawnRound {
        title: legs::title(&first.title, 1, legs),
        ..first
    }
}

fn title(stage: u32) -> String {
    format!("Pairing {stage}")
}
