//! Swiss rounds: those who stand about equal meet, nobody twice while that can be helped. Pure arithmetic.
//!
//! New leagues are paired by `swiss_cost`. The rule in this file is that of leagues whose log does not say otherwise:
//! players are taken from the top of the table. Each gets an opponent from its own score group, half the group further
//! down if it may; who is left over meets the next group. No choice is made that would leave others without an
//! opponent: that is asked of a count of neighbours where there are plenty, and of `matching` where there are few.

use super::competition::SwissPairing;
use super::{Draw, Drawn, Played, count, legs, matching};
use crate::league::standings::{POINTS_DRAW, POINTS_WIN, Verdict};
use crate::protocol::PlayerId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// How many won matches each player has been given for sitting out: as many as it would have played.
pub(crate) fn byes(ids: &[&PlayerId], played: &[Played<'_>]) -> Vec<u32> {
    let mut given: BTreeMap<&PlayerId, u32> = BTreeMap::new();
    for player in played.iter().flat_map(|round| &round.drawn.byes) {
        *given.entry(player).or_default() += 1;
    }
    ids.iter().map(|id| given.get(*id).copied().unwrap_or(0)).collect()
}

impl Draw {
    pub(super) fn swiss_round(&self, played: &[Played<'_>], out: &BTreeSet<PlayerId>) -> Vec<Drawn> {
        let last = played.last().map(|round| round.drawn);
        if let Some(last) = last.filter(|last| last.leg < self.competition.legs()) {
            return self.legs_left(played, last);
        }
        let stage = last.map_or(0, |last| last.stage) + 1;
        if stage > self.competition.swiss_rounds(self.players.len()) {
            return Vec::new();
        }
        let field = Field::new(self, played);
        let present = self.players.iter().zip(0..).filter(|(player, _)| !out.contains(*player));
        let present = present.map(|(_, place)| place).collect();
        let paired = match self.competition.swiss_pairing {
            SwissPairing::Greedy => field.pair(present),
            SwissPairing::LeastCost => field.pair_at_least_cost(present),
        };
        let Some((pairs, bye)) = paired else { return Vec::new() };
        let name = |place: usize| self.players.get(place).cloned();
        let first = Drawn {
            title: title(stage),
            stage,
            leg: 1,
            pairs: pairs.into_iter().filter_map(|(a, b)| name(a).zip(name(b))).collect(),
            byes: bye.and_then(name).into_iter().collect(),
            fixed: played.is_empty(),
            play_off: false,
        };
        legs::repeated(first, self.competition.legs())
    }

    /// The other games of a pairing, if not all of them were written down with the first.
    fn legs_left(&self, played: &[Played<'_>], last: &Drawn) -> Vec<Drawn> {
        let first = played.iter().find(|round| round.drawn.stage == last.stage);
        let first = Drawn { title: title(last.stage), ..first.map_or(last, |round| round.drawn).clone() };
        let all = legs::repeated(first, self.competition.legs());
        all.into_iter().filter(|round| round.leg > last.leg).collect()
    }
}

fn title(stage: u32) -> String {
    format!("Round {stage}")
}

/// What the matches so far have made of a player.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    pub(super) points: u32,
    pub(super) byes: u32,
    /// Matches on side A less those on side B.
    pub(super) balance: i32,
    /// Which side it had last: 1 for A, -1 for B.
    pub(super) last: i32,
    /// How often in a row it has had that side.
    pub(super) run: i32,
}

/// How strict the pairing is.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// How often two who are paired may have been paired before.
    met_max: u32,
    /// Whether two who both owe the same side may not meet, since one of them would owe it thrice.
    sides: bool,
}

/// Everyone, by place in the seeding.
pub(super) struct Field {
    forms: Vec<Form>,
    /// How often each pair has been paired, row by row.
    met: Vec<u32>,
    /// The most opponents that anyone has had.
    pub(super) rounds: usize,
}

/// Pairs with side A first, and who sits out.
pub(super) type Paired = (Vec<(usize, usize)>, Option<usize>);

impl Field {
    fn new(draw: &Draw, played: &[Played<'_>]) -> Self {
        let players = draw.players.len();
        let mut field =
            Self { forms: vec![Form::default(); players], met: vec![0; players * players], rounds: 0 };
        let place = |player: &PlayerId| draw.places.get(player).copied();
        for round in played {
            for (a, b, verdict) in round.games() {
                if let Some((a, b)) = place(a).zip(place(b)) {
                    field.note(a, b, verdict, round.drawn.leg);
                }
            }
            for player in round.drawn.byes.iter().filter_map(place) {
                if let Some(form) = field.forms.get_mut(player) {
                    form.points += POINTS_WIN;
                    form.byes += u32::from(round.drawn.leg == 1);
                }
            }
            field.rounds += usize::from(round.drawn.leg == 1);
        }
        field
    }

    fn note(&mut self, a: usize, b: usize, verdict: Option<Verdict>, leg: u32) {
        let (for_a, for_b) = match verdict {
            Some(Verdict::WonByA) => (POINTS_WIN, 0),
            Some(Verdict::WonByB) => (0, POINTS_WIN),
            Some(Verdict::Drawn) => (POINTS_DRAW, POINTS_DRAW),
            Some(Verdict::LostByBoth) | None => (0, 0),
        };
        for (player, opponent, points, side) in [(a, b, for_a, 1), (b, a, for_b, -1)] {
            if let Some(form) = self.forms.get_mut(player) {
                form.points += points;
                form.balance += side;
                form.run = if form.last == side { form.run + 1 } else { 1 };
                form.last = side;
            }
            if leg == 1
                && let Some(times) = self.met.get_mut(player * self.forms.len() + opponent)
            {
                *times += 1;
            }
        }
    }

    pub(super) fn met(&self, one: usize, other: usize) -> u32 {
        self.met.get(one * self.forms.len() + other).copied().unwrap_or(0)
    }

    pub(super) fn form(&self, player: usize) -> Form {
        self.forms.get(player).cloned().unwrap_or_default()
    }

    pub(super) fn points(&self, player: usize) -> u32 {
        self.forms.get(player).map_or(0, |form| form.points)
    }

    fn balance(&self, player: usize) -> i32 {
        self.forms.get(player).map_or(0, |form| form.balance)
    }

    fn may_meet(&self, one: usize, other: usize, rule: Rule) -> bool {
        let (owed, owes) = (self.balance(one), self.balance(other));
        let clash = (owed >= 2 && owes >= 2) || (owed <= -2 && owes <= -2);
        self.met(one, other) <= rule.met_max && !(rule.sides && clash)
    }

    /// Pairs all who are there, as strictly as it can be done; `None` if there are not two.
    fn pair(&self, mut present: Vec<usize>) -> Option<Paired> {
        if present.len() < 2 {
            return None;
        }
        present.sort_by_key(|player| (Reverse(self.points(*player)), *player));
        let rematches = (0..=count(self.rounds)).map(|met_max| Rule { met_max, sides: false });
        let rules = std::iter::once(Rule { met_max: 0, sides: true }).chain(rematches);
        rules.into_iter().find_map(|rule| {
            let (mut left, bye) = self.with_bye(&present, rule)?;
            let mut pairs = Vec::new();
            while let Some((&player, rest)) = left.split_first() {
                let opponent = self.opponent(player, rest, rule)?;
                pairs.push(self.seated(player, opponent, pairs.len()));
                left = rest.iter().copied().filter(|other| *other != opponent).collect();
            }
            Some((pairs, bye))
        })
    }

    /// Who is to be paired, and who sits out if they are odd in number: the last of those who have sat out least.
    fn with_bye(&self, present: &[usize], rule: Rule) -> Option<(Vec<usize>, Option<usize>)> {
        if present.len().is_multiple_of(2) {
            return self.can_all_be_paired(present, rule).then(|| (present.to_vec(), None));
        }
        let byes = |player: &usize| self.form(*player).byes;
        let least = present.iter().map(byes).min()?;
        present.iter().rev().filter(|player| byes(player) == least).find_map(|player| {
            let left: Vec<usize> = present.iter().copied().filter(|other| other != player).collect();
            self.can_all_be_paired(&left, rule).then_some((left, Some(*player)))
        })
    }

    /// Whether nobody need be left over.
    fn can_all_be_paired(&self, players: &[usize], rule: Rule) -> bool {
        players.len().is_multiple_of(2) && self.pairs_max(players, rule) * 2 == players.len()
    }

    /// How many pairs can be made. Where everyone may meet at least half of the others there is a circle through all of
    /// them (Dirac), and every other step of it is a pair.
    fn pairs_max(&self, players: &[usize], rule: Rule) -> usize {
        let many = players.len();
        let owing = |sign: i32| players.iter().filter(|player| self.balance(**player) * sign >= 2).count();
        let clashes = if rule.sides { owing(1).max(owing(-1)) } else { 0 };
        let barred = self.rounds + clashes + 1;
        if many.saturating_sub(barred + many % 2) >= many.div_ceil(2) {
            return many / 2;
        }
        matching::size(many, |one, other| {
            players
                .get(one)
                .zip(players.get(other))
                .is_some_and(|(one, other)| one != other && self.may_meet(*one, *other, rule))
        })
    }

    /// The opponent of the first player that is left; `rest` are the others, in the order of the table.
    fn opponent(&self, player: usize, rest: &[usize], rule: Rule) -> Option<usize> {
        let points = self.points(player);
        let group: Vec<usize> =
            rest.iter().copied().take_while(|other| self.points(*other) == points).collect();
        let whole: Vec<usize> = std::iter::once(player).chain(group.iter().copied()).collect();
        let best = self.pairs_max(&whole, rule);
        let without = |from: &[usize], other: usize| -> Vec<usize> {
            from.iter().copied().filter(|one| *one != other).collect()
        };
        let fits = |other: &usize| {
            self.may_meet(player, *other, rule) && self.can_all_be_paired(&without(rest, *other), rule)
        };
        let peers = self.by_preference(player, &group, whole.len() / 2);
        // The candidate that leaves the fewest of the group without an opponent in it comes first.
        let keeps_group = |other: &usize| self.pairs_max(&without(&group, *other), rule) + 1 == best;
        let lower = rest.get(group.len()..).unwrap_or_default();
        peers
            .iter()
            .copied()
            .find(|other| fits(other) && keeps_group(other))
            .or_else(|| peers.iter().copied().find(fits))
            .or_else(|| self.floating(player, lower).into_iter().find(fits))
    }

    /// Those of the group in the order in which they suit: with the other side due, near to half the group away.
    fn by_preference(&self, player: usize, group: &[usize], half: usize) -> Vec<usize> {
        let mut others: Vec<(usize, usize)> = (1..).zip(group.iter().copied()).collect();
        others.sort_by_key(|(place, other)| (self.same_due(player, *other), place.abs_diff(half), *place));
        others.into_iter().map(|(_, other)| other).collect()
    }

    /// Those below its group, the nearest score first.
    fn floating(&self, player: usize, lower: &[usize]) -> Vec<usize> {
        let mut others = lower.to_vec();
        others.sort_by_key(|other| (Reverse(self.points(*other)), self.same_due(player, *other)));
        others
    }

    fn same_due(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.balance(one).signum(), self.balance(other).signum());
        one != 0 && one == other
    }

    /// Side A to whom it is due more; to the higher and the lower by turns where it is due to neither.
    pub(super) fn seated(&self, upper: usize, lower: usize, board: usize) -> (usize, usize) {
        let (one, other) = (self.form(upper), self.form(lower));
        let due = one.balance.cmp(&other.balance).then(one.last.cmp(&other.last));
        let upper_first = match due {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => board.is_multiple_of(2),
        };
        if upper_first { (upper, lower) } else { (lower, upper) }
    }
}
