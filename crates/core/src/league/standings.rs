//! The table: a fold over results, with the reason for each place. Never stored, always recomputed.

use super::format::lots;
use super::settings::TieBreak;
use crate::protocol::PlayerId;
use smol_str::SmolStr;
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
        f.write_str(&reason(&self.of, self.on))
    }
}

/// A match among players who are known by their places in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Game {
    pub a: usize,
    pub b: usize,
    pub verdict: Verdict,
    pub technical: bool,
}

/// One line of the table, with places in the list of players for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    pub player: usize,
    pub tally: Tally,
    /// Of whom it is ahead, and by which rule.
    pub ahead: Option<(usize, &'static str)>,
}

/// The table, first place first. Results of players who are not among `players` do not count.
pub fn table<'a>(
    players: impl IntoIterator<Item = &'a PlayerId>,
    results: impl IntoIterator<Item = Counted<'a>>,
    tie_breaks: &[TieBreak],
) -> Vec<Place> {
    let ids: Vec<&PlayerId> = players.into_iter().collect();
    let places: BTreeMap<&PlayerId, usize> = ids.iter().copied().zip(0..).collect();
    let games = results.into_iter().filter_map(|Counted { a, b, verdict, technical }| {
        Some(Game { a: *places.get(a)?, b: *places.get(b)?, verdict, technical })
    });
    named(&ids, &rank(&ids, games.collect(), tie_breaks))
}

/// What a table goes by besides the results of matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    /// From which lots are drawn.
    pub seed: u64,
    /// How many won matches each player was given for sitting out; none for those beyond its end.
    pub byes: Vec<u32>,
    /// What comes before points: its name, and a number for each player, of which the greater stands ahead.
    pub levels: Vec<(&'static str, Vec<i64>)>,
}

/// The same, by places in the list of players. The list is only looked at where nothing else decides.
pub fn rank(ids: &[&PlayerId], games: Vec<Game>, tie_breaks: &[TieBreak]) -> Vec<Ranked> {
    rank_by(ids, games, tie_breaks, &Basis::default())
}

/// The same, where more than the results counts.
pub fn rank_by(ids: &[&PlayerId], games: Vec<Game>, tie_breaks: &[TieBreak], basis: &Basis) -> Vec<Ranked> {
    let mut tallies = vec![Tally::default(); ids.len()];
    games.iter().for_each(|game| count(&mut tallies, game));
    tallies.iter_mut().zip(&basis.byes).for_each(|(tally, byes)| tally.wins += byes);
    let order = Ranking { ids, tallies: &tallies, games: &games, basis }.order(tie_breaks);
    let next = order.iter().skip(1).copied().map(Some).chain([None]);
    let rows = order.iter().zip(next);
    rows.filter_map(|(&(player, _), ahead)| Some(Ranked { player, tally: *tallies.get(player)?, ahead }))
        .collect()
}

/// The lines of a table with names in place of places.
pub(super) fn named(ids: &[&PlayerId], table: &[Ranked]) -> Vec<Place> {
    let name = |place: usize| ids.get(place).map(|id| PlayerId::clone(id));
    let rows = table.iter().filter_map(|Ranked { player, tally, ahead }| {
        let ahead = ahead.and_then(|(of, on)| Some(Ahead { of: name(of)?, on }));
        Some(Place { player: name(*player)?, tally: *tally, ahead })
    });
    rows.collect()
}

/// "ahead of P03 on head-to-head".
pub(super) fn reason(of: &PlayerId, on: &str) -> SmolStr {
    SmolStr::from(["ahead of ", of.as_str(), " on ", on].concat())
}

fn count(tallies: &mut [Tally], result: &Game) {
    let Game { a, b, .. } = *result;
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

/// Players who are level so far, and the rule that put a gap between them and the ones before.
type Group = (Vec<usize>, &'static str);

/// How much of a match a player got, in halves.
#[derive(Clone, Copy)]
enum Gained {
    Nothing = 0,
    Half = 1,
    All = 2,
}

struct Ranking<'a> {
    ids: &'a [&'a PlayerId],
    tallies: &'a [Tally],
    games: &'a [Game],
    basis: &'a Basis,
}

impl Ranking<'_> {
    /// Splits all players by what comes first, each group of those who are level by the first rule, what is level then by the next,
    /// and so on.
    fn order(&self, rules: &[TieBreak]) -> Vec<Placed> {
        let everyone: Vec<usize> = (0..self.ids.len()).collect();
        let mut groups = vec![(everyone, POINTS)];
        for (rule, keys) in &self.basis.levels {
            groups = split(groups, rule, keys);
        }
        // Points come first, or next to how far one came: they are no tie-break and cannot be set aside.
        groups = split(groups, POINTS, &self.points());
        for rule in rules {
            if groups.iter().all(|(group, _)| group.len() < 2) {
                break;
            }
            let keys = self.keys(*rule, &groups);
            groups = split(groups, rule.name(), &keys);
        }
        groups.into_iter().flat_map(|group| self.by_id(group)).collect()
    }

    fn by_id(&self, (mut group, mut before): Group) -> Vec<Placed> {
        group.sort_by_key(|&player| self.ids.get(player));
        let placed = group.into_iter().map(|player| (player, std::mem::replace(&mut before, "player id")));
        placed.collect()
    }

    fn points(&self) -> Vec<i64> {
        self.tallies.iter().map(|tally| i64::from(tally.points())).collect()
    }

    /// One number for each player; in its group, the greater stands ahead.
    fn keys(&self, rule: TieBreak, groups: &[Group]) -> Vec<i64> {
        let tallies = self.tallies.iter();
        match rule {
            TieBreak::HeadToHead => self.head_to_head(groups),
            // Exact enough to compare: with fewer than a million matches, different shares differ by more.
            TieBreak::WinPercentage => tallies
                .map(|tally| i64::from(tally.wins) * 1_000_000_000_000 / i64::from(tally.played().max(1)))
                .collect(),
            TieBreak::Wins => tallies.map(|tally| i64::from(tally.wins)).collect(),
            TieBreak::FewerDraws => tallies.map(|tally| -i64::from(tally.draws)).collect(),
            TieBreak::SonnebornBerger => self.by_opponents(|gained| gained),
            TieBreak::Buchholz => self.by_opponents(|_| Gained::All),
            TieBreak::Lots => {
                self.ids.iter().map(|id| lots::of_player(self.basis.seed, "table", id)).collect()
            }
        }
    }

    /// The points of each player's opponents, match by match, as far as they are `counted`; twice, since a draw counts
    /// half. A bye counts as a match won against someone who stands as the player itself does.
    fn by_opponents(&self, counted: impl Fn(Gained) -> Gained) -> Vec<i64> {
        let points = self.points();
        let of = |place: usize| points.get(place).copied().unwrap_or(0);
        let byes = self.basis.byes.iter().copied().chain(std::iter::repeat(0));
        let own = points.iter().zip(byes);
        let mut sums: Vec<i64> = own.map(|(points, byes)| 2 * points * i64::from(byes)).collect();
        for &Game { a, b, verdict, .. } in self.games {
            let (for_a, for_b) = match verdict {
                Verdict::WonByA => (Gained::All, Gained::Nothing),
                Verdict::WonByB => (Gained::Nothing, Gained::All),
                Verdict::Drawn => (Gained::Half, Gained::Half),
                Verdict::LostByBoth => (Gained::Nothing, Gained::Nothing),
            };
            for (player, opponent, gained) in [(a, b, for_a), (b, a, for_b)] {
                if let Some(sum) = sums.get_mut(player) {
                    *sum += of(opponent) * counted(gained) as i64;
                }
            }
        }
        sums
    }

    /// The points of each player against the others of its group, for all groups in one walk over the games.
    fn head_to_head(&self, groups: &[Group]) -> Vec<i64> {
        let mut group_of = vec![0_usize; self.ids.len()];
        for (number, (group, _)) in groups.iter().enumerate() {
            for &player in group {
                if let Some(place) = group_of.get_mut(player) {
                    *place = number;
                }
            }
        }
        let mut points = vec![0_i64; self.ids.len()];
        for &Game { a, b, verdict, .. } in self.games {
            if group_of.get(a) != group_of.get(b) {
                continue;
            }
            let (for_a, for_b) = match verdict {
                Verdict::WonByA => (POINTS_WIN, 0),
                Verdict::WonByB => (0, POINTS_WIN),
                Verdict::Drawn => (POINTS_DRAW, POINTS_DRAW),
                Verdict::LostByBoth => (0, 0),
            };
            for (player, gained) in [(a, for_a), (b, for_b)] {
                if let Some(sum) = points.get_mut(player) {
                    *sum += i64::from(gained);
                }
            }
        }
        points
    }
}

const POINTS: &str = "points";

/// Each group in parts of equal keys, the greatest key first. The first part keeps what came before its group.
fn split(groups: Vec<Group>, rule: &'static str, keys: &[i64]) -> Vec<Group> {
    let mut parts = Vec::with_capacity(groups.len());
    for (mut group, mut before) in groups {
        if group.len() > 1 {
            let key = |player: &usize| keys.get(*player).map(|key| Reverse(*key));
            group.sort_by_key(key);
            for part in group.chunk_by(|one, other| key(one) == key(other)) {
                parts.push((part.to_vec(), std::mem::replace(&mut before, rule)));
            }
        } else {
            parts.push((group, before));
        }
    }
    parts
}
