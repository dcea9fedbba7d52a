//! The table: a fold over results, with the reason for each place. Never stored, always recomputed.

use super::settings::TieBreak;
use crate::protocol::PlayerId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub const POINTS_WIN: u32 = 3;
pub const POINTS_DRAW: u32 = 1;

/// How one match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a> {
    pub a: &'a PlayerId,
    pub b: &'a PlayerId,
    pub verdict: Verdict,
    /// Whether whoever lost did so without playing.
    pub technical: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    WonByA,
    WonByB,
    Drawn,
    /// Neither player showed up.
    LostByBoth,
}

/// What a player has to show for its matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    pub technical_losses: u32,
}

impl Tally {
    pub fn played(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    pub fn points(&self) -> u32 {
        self.wins * POINTS_WIN + self.draws * POINTS_DRAW
    }

    fn win(&mut self) {
        self.wins += 1;
    }

    fn lose(&mut self, technical: bool) {
        self.losses += 1;
        self.technical_losses += u32::from(technical);
    }
}

/// One line of the table, and what put it ahead of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub player: PlayerId,
    pub tally: Tally,
    pub ahead: Option<Ahead>,
}

/// "ahead of P03 on head-to-head".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    pub of: PlayerId,
    pub on: &'static str,
}

impl std::fmt::Display for Ahead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ahead of {} on {}", self.of, self.on)
    }
}

/// The table, first place first. Results of players who are not among `players` do not count.
pub fn table<'a>(
    players: impl IntoIterator<Item = &'a PlayerId>,
    results: impl IntoIterator<Item = Counted<'a>>,
    tie_breaks: &[TieBreak],
) -> Vec<Place> {
    let index: BTreeMap<&PlayerId, usize> =
        players.into_iter().enumerate().map(|(place, id)| (id, place)).collect();
    let ids: Vec<&PlayerId> = {
        let mut ids: Vec<_> = index.iter().collect();
        ids.sort_by_key(|(_, place)| **place);
        ids.into_iter().map(|(id, _)| *id).collect()
    };
    let mut tallies = vec![Tally::default(); ids.len()];
    let mut games = Vec::new();
    for result in results {
        let (Some(&a), Some(&b)) = (index.get(result.a), index.get(result.b)) else {
            continue;
        };
        count(&mut tallies, a, b, result);
        games.push((a, b, result.verdict));
    }
    let ranking = Ranking { ids: &ids, tallies: &tallies, games: &games };
    let group: Vec<usize> = (0..ids.len()).collect();
    let mut order = Vec::with_capacity(ids.len());
    ranking.place(group, None, tie_breaks, &mut order);
    with_reasons(&ids, &tallies, &order)
}

fn count(tallies: &mut [Tally], a: usize, b: usize, result: Counted<'_>) {
    let mut of = |place: usize, change: &dyn Fn(&mut Tally)| {
        if let Some(tally) = tallies.get_mut(place) {
            change(tally);
        }
    };
    let lose = |tally: &mut Tally| tally.lose(result.technical);
    match result.verdict {
        Verdict::WonByA => {
            of(a, &Tally::win);
            of(b, &lose);
        }
        Verdict::WonByB => {
            of(b, &Tally::win);
            of(a, &lose);
        }
        Verdict::Drawn => {
            of(a, &|tally| tally.draws += 1);
            of(b, &|tally| tally.draws += 1);
        }
        Verdict::LostByBoth => {
            of(a, &lose);
            of(b, &lose);
        }
    }
}

/// A player's place in the order, and the rule that put a gap between it and the one before.
type Placed = (usize, &'static str);

struct Ranking<'a> {
    ids: &'a [&'a PlayerId],
    tallies: &'a [Tally],
    games: &'a [(usize, usize, Verdict)],
}

impl Ranking<'_> {
    /// Splits a group by the first rule, each part by the next, and so on. `split_by` is the rule that set this group
    /// apart from the players placed before it.
    fn place(
        &self,
        group: Vec<usize>,
        split_by: Option<&'static str>,
        rules: &[TieBreak],
        order: &mut Vec<Placed>,
    ) {
        // The first split is by points, which is no tie-break and cannot be set aside.
        let by_points = split_by.is_none();
        let (name, keys, rest) = match (by_points, rules.split_first()) {
            (true, _) => ("points", self.points(&group), rules),
            (false, Some((rule, rest))) => (rule.name(), self.keys(*rule, &group), rest),
            (false, None) => return self.place_by_id(group, split_by.unwrap_or("points"), order),
        };
        let mut before = split_by.unwrap_or(name);
        for part in parts(group, keys) {
            match part.as_slice() {
                [single] => order.push((*single, before)),
                _ => self.place(part, Some(before), rest, order),
            }
            before = name;
        }
    }

    fn place_by_id(&self, mut group: Vec<usize>, first: &'static str, order: &mut Vec<Placed>) {
        group.sort_by_key(|&player| self.ids.get(player));
        let mut before = first;
        for player in group {
            order.push((player, before));
            before = "player id";
        }
    }

    fn tally(&self, player: usize) -> Tally {
        self.tallies.get(player).copied().unwrap_or_default()
    }

    fn points(&self, group: &[usize]) -> Vec<i64> {
        group.iter().map(|&player| i64::from(self.tally(player).points())).collect()
    }

    /// One number for each member of the group; the greater stands ahead.
    fn keys(&self, rule: TieBreak, group: &[usize]) -> Vec<i64> {
        match rule {
            TieBreak::HeadToHead => self.head_to_head(group),
            TieBreak::WinPercentage => group
                .iter()
                .map(|&player| {
                    let tally = self.tally(player);
                    // Exact enough to compare: with fewer than a million matches, different shares differ by more.
                    i64::from(tally.wins) * 1_000_000_000_000 / i64::from(tally.played().max(1))
                })
                .collect(),
            TieBreak::Wins => group.iter().map(|&player| i64::from(self.tally(player).wins)).collect(),
            TieBreak::FewerDraws => {
                group.iter().map(|&player| -i64::from(self.tally(player).draws)).collect()
            }
        }
    }

    fn head_to_head(&self, group: &[usize]) -> Vec<i64> {
        let seats: BTreeMap<usize, usize> =
            group.iter().enumerate().map(|(seat, &player)| (player, seat)).collect();
        let mut points = vec![0_i64; group.len()];
        for (a, b, verdict) in self.games {
            let (Some(&a), Some(&b)) = (seats.get(a), seats.get(b)) else {
                continue;
            };
            let (for_a, for_b) = match verdict {
                Verdict::WonByA => (POINTS_WIN, 0),
                Verdict::WonByB => (0, POINTS_WIN),
                Verdict::Drawn => (POINTS_DRAW, POINTS_DRAW),
                Verdict::LostByBoth => (0, 0),
            };
            for (seat, gained) in [(a, for_a), (b, for_b)] {
                if let Some(sum) = points.get_mut(seat) {
                    *sum += i64::from(gained);
                }
            }
        }
        points
    }
}

/// The group in parts of equal keys, the greatest key first.
fn parts(group: Vec<usize>, keys: Vec<i64>) -> Vec<Vec<usize>> {
    let mut keyed: Vec<(Reverse<i64>, usize)> = keys.into_iter().map(Reverse).zip(group).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed
        .chunk_by(|one, other| one.0 == other.0)
        .map(|part| part.iter().map(|(_, id)| *id).collect())
        .collect()
}

fn with_reasons(ids: &[&PlayerId], tallies: &[Tally], order: &[Placed]) -> Vec<Place> {
    let next = order.iter().skip(1).map(Some).chain(std::iter::once(None));
    order
        .iter()
        .zip(next)
        .filter_map(|((player, _), next)| {
            let ahead = next.and_then(|(of, on)| ids.get(*of).map(|of| Ahead { of: (*of).clone(), on }));
            Some(Place { player: (*ids.get(*player)?).clone(), tally: *tallies.get(*player)?, ahead })
        })
        .collect()
}
