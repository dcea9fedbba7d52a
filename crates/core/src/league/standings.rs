//! The standings: a fold over results, with the reason for each rank. Never stored.

pub use super::tie_break::TieBreak;

use super::lots;
use crate::protocol::PlayerId;
use smol_str::SmolStr;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// For a win, be it by forfeit.
pub const POINTS_WIN: u32 = 3;
/// For a draw, to each player.
pub const POINTS_DRAW: u32 = 1;

/// A match as it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedMatch<'a> {
    /// PLAYER_A of the match.
    pub a: &'a PlayerId,
    /// PLAYER_B of the match.
    pub b: &'a PlayerId,
    /// Who won, if anyone.
    pub verdict: Verdict,
    /// Whether it was a technical loss.
    pub technical: bool,
}

/// How a match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// B has lost it.
    WonByA,
    /// A has lost it.
    WonByB,
    /// A draw: one point for each player.
    Drawn,
    /// Neither player showed up.
    LostByBoth,
}

impl Verdict {
    /// The points that A and B have from it.
    pub fn points(self) -> (u32, u32) {
        match self {
            Self::WonByA => (POINTS_WIN, 0),
            Self::WonByB => (0, POINTS_WIN),
            Self::Drawn => (POINTS_DRAW, POINTS_DRAW),
            Self::LostByBoth => (0, 0),
        }
    }
}

/// A player's wins, draws and losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Wins, including those by forfeit and by bye.
    pub wins: u32,
    /// Draws, one point each.
    pub draws: u32,
    /// Losses, including technical ones.
    pub losses: u32,
    /// How many of `losses` were forfeits.
    pub technical_losses: u32,
}

impl Tally {
    /// Matches that count, and byes.
    pub fn played(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// What players are ranked by first.
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

/// A row of the standings, and what puts it ahead of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// From 1; level players share a rank, and the next one is as many further down.
    pub rank: u32,
    /// The player of this row.
    pub player: PlayerId,
    /// Over all matches that count.
    pub tally: Tally,
    /// `None` in the last row.
    pub ahead: Option<Ahead>,
}

/// "ahead of P03 on head-to-head", or "level with P03".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    /// The player of the next row.
    pub of: PlayerId,
    /// The name of the criterion: points, a tie-break, or a level of [`Basis`]; [`LEVEL`] if nothing separates them.
    pub on: &'static str,
}

impl std::fmt::Display for Ahead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&reason(&self.of, self.on))
    }
}

/// A match, with players as indices into a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedMatch {
    /// PLAYER_A of the match.
    pub a: usize,
    /// PLAYER_B of the match.
    pub b: usize,
    /// Who won, if anyone.
    pub verdict: Verdict,
    /// Whether it was a technical loss.
    pub technical: bool,
}

/// A row of the standings, with players as indices into a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedPlayer {
    /// From 1; level players share a rank.
    pub rank: u32,
    /// The player of this row.
    pub player: usize,
    /// Over all matches that count.
    pub tally: Tally,
    /// The player that it is ahead of, and by which rule.
    pub ahead: Option<(usize, &'static str)>,
}

/// The standings, best first. Results of players that are not in `players` do not count.
pub fn compute<'a>(
    players: impl IntoIterator<Item = &'a PlayerId>,
    results: impl IntoIterator<Item = CountedMatch<'a>>,
    tie_breaks: &[TieBreak],
) -> Vec<Place> {
    let ids: Vec<&PlayerId> = players.into_iter().collect();
    let places: BTreeMap<&PlayerId, usize> = ids.iter().copied().zip(0..).collect();
    let games = results.into_iter().filter_map(
        |CountedMatch {
             a,
             b,
             verdict,
             technical,
         }| {
            Some(IndexedMatch {
                a: *places.get(a)?,
                b: *places.get(b)?,
                verdict,
                technical,
            })
        },
    );
    named(&ids, &rank(&ids, games.collect(), tie_breaks))
}

/// What the standings depend on besides match results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    /// The seed of lots.
    pub seed: u64,
    /// The wins that each player has from byes; none for those beyond its end.
    pub byes: Vec<u32>,
    /// Criteria before points: a name, and a number for each player; the greater is ahead.
    pub levels: Vec<(&'static str, Vec<i64>)>,
    /// The points of each series of a play-off, after all tie-breaks; -1 for those who were not in it.
    pub play_offs: Vec<Vec<i64>>,
}

/// As [`compute`], with indices for players. The rows of level players are in the order of their ids.
pub fn rank(
    ids: &[&PlayerId],
    games: Vec<IndexedMatch>,
    tie_breaks: &[TieBreak],
) -> Vec<RankedPlayer> {
    rank_by(ids, games, tie_breaks, &Basis::default())
}

/// As [`rank`], with more than results.
pub fn rank_by(
    ids: &[&PlayerId],
    games: Vec<IndexedMatch>,
    tie_breaks: &[TieBreak],
    basis: &Basis,
) -> Vec<RankedPlayer> {
    let tallies = tallies(ids.len(), &games, basis);
    let order = Ranking {
        ids,
        tallies: &tallies,
        games: &games,
        basis,
    }
    .order(tie_breaks);
    let next = order.iter().skip(1).copied().map(Some).chain([None]);
    let mut rank = 1;
    let rows = (1_u32..)
        .zip(&order)
        .zip(next)
        .filter_map(|((row, &(player, before)), ahead)| {
            rank = if before == LEVEL { rank } else { row };
            Some(RankedPlayer {
                rank,
                player,
                tally: *tallies.get(player)?,
                ahead,
            })
        });
    rows.collect()
}

/// The value of a tie-break for each player, as tables show it; `None` if it has no value of its own, as lots and head-to-head.
pub fn tie_break_values(
    ids: &[&PlayerId],
    games: &[IndexedMatch],
    rule: TieBreak,
    basis: &Basis,
) -> Option<Vec<f64>> {
    let tallies = tallies(ids.len(), games, basis);
    let ranking = Ranking {
        ids,
        tallies: &tallies,
        games,
        basis,
    };
    match rule {
        // Doubled while they are compared.
        TieBreak::SonnebornBerger | TieBreak::Buchholz => Some(
            ranking
                .keys(rule, &[])
                .into_iter()
                .map(|value| value as f64 / 2.0)
                .collect(),
        ),
        _ => None,
    }
}

/// Rows with ids in place of indices.
pub(super) fn named(ids: &[&PlayerId], table: &[RankedPlayer]) -> Vec<Place> {
    let name = |place: usize| ids.get(place).map(|id| PlayerId::clone(id));
    let rows = table.iter().filter_map(
        |RankedPlayer {
             rank,
             player,
             tally,
             ahead,
         }| {
            let ahead = ahead.and_then(|(of, on)| Some(Ahead { of: name(of)?, on }));
            Some(Place {
                rank: *rank,
                player: name(*player)?,
                tally: *tally,
                ahead,
            })
        },
    );
    rows.collect()
}

/// "ahead of P03 on head-to-head", or "level with P03".
pub(super) fn reason(of: &PlayerId, on: &str) -> SmolStr {
    match on {
        LEVEL => SmolStr::from(["level with ", of.as_str()].concat()),
        _ => SmolStr::from(["ahead of ", of.as_str(), " on ", on].concat()),
    }
}

fn tallies(players: usize, games: &[IndexedMatch], basis: &Basis) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); players];
    games.iter().for_each(|game| count(&mut tallies, game));
    tallies
        .iter_mut()
        .zip(&basis.byes)
        .for_each(|(tally, byes)| tally.wins += byes);
    tallies
}

fn count(tallies: &mut [Tally], result: &IndexedMatch) {
    let IndexedMatch { a, b, .. } = *result;
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

/// A player, and the rule that separates it from the one before.
type PlacedPlayer = (usize, &'static str);

/// Tied players, and the rule that separates them from the ones before.
type Group = (Vec<usize>, &'static str);

/// A player's share of a match, in halves.
#[derive(Clone, Copy)]
enum MatchShare {
    Nothing = 0,
    Half = 1,
    All = 2,
}

struct Ranking<'a> {
    ids: &'a [&'a PlayerId],
    tallies: &'a [Tally],
    games: &'a [IndexedMatch],
    basis: &'a Basis,
}

impl Ranking<'_> {
    /// Splits all players by the first criterion, each group of tied players by the next, and so on.
    fn order(&self, rules: &[TieBreak]) -> Vec<PlacedPlayer> {
        let everyone: Vec<usize> = (0..self.ids.len()).collect();
        let mut groups = vec![(everyone, POINTS)];
        for (rule, keys) in &self.basis.levels {
            groups = split(groups, rule, keys);
        }
        // Points come right after the levels: they are no tie-break and cannot be left out.
        groups = split(groups, POINTS, &self.points());
        for rule in rules {
            if groups.iter().all(|(group, _)| group.len() < 2) {
                break;
            }
            groups = self.split_by(*rule, groups);
        }
        for keys in &self.basis.play_offs {
            groups = split(groups, PLAY_OFF, keys);
        }
        groups
            .into_iter()
            .flat_map(|group| self.by_id(group))
            .collect()
    }

    /// Head-to-head is applied again to those who are still level after it, among themselves alone.
    fn split_by(&self, rule: TieBreak, mut groups: Vec<Group>) -> Vec<Group> {
        loop {
            let before = groups.len();
            let keys = self.keys(rule, &groups);
            groups = split(groups, rule.name(), &keys);
            if rule != TieBreak::HeadToHead || groups.len() == before {
                return groups;
            }
        }
    }

    fn by_id(&self, (mut group, mut before): Group) -> Vec<PlacedPlayer> {
        group.sort_by_key(|&player| self.ids.get(player));
        let placed = group
            .into_iter()
            .map(|player| (player, std::mem::replace(&mut before, LEVEL)));
        placed.collect()
    }

    fn points(&self) -> Vec<i64> {
        self.tallies
            .iter()
            .map(|tally| i64::from(tally.points()))
            .collect()
    }

    /// One number for each player; in its group the greater is ahead.
    fn keys(&self, rule: TieBreak, groups: &[Group]) -> Vec<i64> {
        let tallies = self.tallies.iter();
        match rule {
            TieBreak::HeadToHead => self.head_to_head(groups),
            // Exact enough to compare: with fewer than a million matches, different ratios differ by more.
            TieBreak::WinPercentage => tallies
                .map(|tally| {
                    i64::from(tally.wins) * 1_000_000_000_000 / i64::from(tally.played().max(1))
                })
                .collect(),
            TieBreak::Wins => tallies.map(|tally| i64::from(tally.wins)).collect(),
            TieBreak::FewerDraws => tallies.map(|tally| -i64::from(tally.draws)).collect(),
            TieBreak::SonnebornBerger => self.by_opponents(|gained| gained),
            TieBreak::Buchholz => self.by_opponents(|_| MatchShare::All),
            TieBreak::Lots => self
                .ids
                .iter()
                .map(|id| lots::of_player(self.basis.seed, "table", id))
                .collect(),
        }
    }

    /// The points of each player's opponents, match by match, as `counted`; doubled, since a draw counts half. A bye
    /// counts as a win against an opponent with the player's own points.
    fn by_opponents(&self, counted: impl Fn(MatchShare) -> MatchShare) -> Vec<i64> {
        let points = self.points();
        let of = |place: usize| points.get(place).copied().unwrap_or(0);
        let byes = self.basis.byes.iter().copied().chain(std::iter::repeat(0));
        let own = points.iter().zip(byes);
        let mut sums: Vec<i64> = own
            .map(|(points, byes)| 2 * points * i64::from(byes))
            .collect();
        for &IndexedMatch { a, b, verdict, .. } in self.games {
            let (for_a, for_b) = match verdict {
                Verdict::WonByA => (MatchShare::All, MatchShare::Nothing),
                Verdict::WonByB => (MatchShare::Nothing, MatchShare::All),
                Verdict::Drawn => (MatchShare::Half, MatchShare::Half),
                Verdict::LostByBoth => (MatchShare::Nothing, MatchShare::Nothing),
            };
            for (player, opponent, gained) in [(a, b, for_a), (b, a, for_b)] {
                if let Some(sum) = sums.get_mut(player) {
                    *sum += of(opponent) * counted(gained) as i64;
                }
            }
        }
        sums
    }

    /// The points of each player against the others of its group, for all groups in one pass over the games.
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
        for &IndexedMatch { a, b, verdict, .. } in self.games {
            if group_of.get(a) != group_of.get(b) {
                continue;
            }
            let (for_a, for_b) = verdict.points();
            for (player, gained) in [(a, for_a), (b, for_b)] {
                if let Some(sum) = points.get_mut(player) {
                    *sum += i64::from(gained);
                }
            }
        }
        points
    }
}

/// The name of the first criterion, before all tie-breaks.
pub const POINTS: &str = "points";
/// The criterion of tables that go by payoffs.
pub const PAYOFF: &str = "payoff";
/// The name of the last criterion, after all tie-breaks.
const PLAY_OFF: &str = "play-off";
/// In place of a criterion: nothing separates the players of two rows.
pub const LEVEL: &str = "level";

/// Splits each group by key, the greatest first. The first part keeps the rule of its group.
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
