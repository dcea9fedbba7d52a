//! Swiss rounds: those who stand about equal meet, nobody twice while that can be helped. What a pairing goes by, and when
//! there is a round; who meets whom follows from `swiss_cost`. Pure arithmetic.

use super::{Draw, DrawnRound, PlayedRound, legs};
use crate::league::standings::{POINTS_WIN, Verdict};
use crate::protocol::PlayerId;
use std::collections::{BTreeMap, BTreeSet};

/// How many won matches each player has been given for sitting out: as many as it would have played.
pub(crate) fn byes(ids: &[&PlayerId], played: &[PlayedRound<'_>]) -> Vec<u32> {
    let mut given: BTreeMap<&PlayerId, u32> = BTreeMap::new();
    for player in played.iter().flat_map(|round| &round.drawn.byes) {
        *given.entry(player).or_default() += 1;
    }
    ids.iter()
        .map(|id| given.get(*id).copied().unwrap_or(0))
        .collect()
}

impl Draw {
    pub(super) fn swiss_round(
        &self,
        played: &[PlayedRound<'_>],
        out: &BTreeSet<PlayerId>,
    ) -> Vec<DrawnRound> {
        let last = played.last().map(|round| round.drawn);
        if let Some(last) = last.filter(|last| last.leg < self.competition.legs()) {
            return self.legs_left(played, last);
        }
        let stage = last.map_or(0, |last| last.stage) + 1;
        if stage > self.competition.swiss_rounds(self.players.len()) {
            return Vec::new();
        }
        let field = Field::new(self, played);
        let present = self
            .players
            .iter()
            .zip(0..)
            .filter(|(player, _)| !out.contains(*player));
        let present = present.map(|(_, place)| place).collect();
        let Some((pairs, bye)) = field.pair(present) else {
            return Vec::new();
        };
        let name = |place: usize| self.players.get(place).cloned();
        let first = DrawnRound {
            title: title(stage),
            stage,
            leg: 1,
            pairs: pairs
                .into_iter()
                .filter_map(|(a, b)| name(a).zip(name(b)))
                .collect(),
            byes: bye.and_then(name).into_iter().collect(),
            fixed: played.is_empty(),
            play_off: false,
        };
        legs::repeated(first, self.competition.legs())
    }

    /// The other games of a pairing, if not all of them were written down with the first.
    fn legs_left(&self, played: &[PlayedRound<'_>], last: &DrawnRound) -> Vec<DrawnRound> {
        let first = played.iter().find(|round| round.drawn.stage == last.stage);
        let first = DrawnRound {
            title: title(last.stage),
            ..first.map_or(last, |round| round.drawn).clone()
        };
        let all = legs::repeated(first, self.competition.legs());
        all.into_iter()
            .filter(|round| round.leg > last.leg)
            .collect()
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

/// Everyone, by place in the seeding.
pub(super) struct Field {
    forms: Vec<Form>,
    /// How often each pair has been paired, row by row.
    met: Vec<u32>,
    /// The most opponents that anyone has had.
    pub(super) rounds: usize,
}

/// Pairs with side A first, and who sits out.
pub(super) type PairedField = (Vec<(usize, usize)>, Option<usize>);

impl Field {
    fn new(draw: &Draw, played: &[PlayedRound<'_>]) -> Self {
        let players = draw.players.len();
        let mut field = Self {
            forms: vec![Form::default(); players],
            met: vec![0; players * players],
            rounds: 0,
        };
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
        let (for_a, for_b) = verdict.map_or((0, 0), Verdict::points);
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
        self.met
            .get(one * self.forms.len() + other)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn form(&self, player: usize) -> Form {
        self.forms.get(player).cloned().unwrap_or_default()
    }

    pub(super) fn points(&self, player: usize) -> u32 {
        self.forms.get(player).map_or(0, |form| form.points)
    }

    /// Side A to whom it is due more; to the higher and the lower by turns where it is due to neither.
    pub(super) fn seated(&self, upper: usize, lower: usize, board: usize) -> (usize, usize) {
        let one = self.form(upper);
        let other = self.form(lower);
        let due = one
            .balance
            .cmp(&other.balance)
            .then(one.last.cmp(&other.last));
        let upper_first = match due {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => board.is_multiple_of(2),
        };
        if upper_first {
            (upper, lower)
        } else {
            (lower, upper)
        }
    }
}
