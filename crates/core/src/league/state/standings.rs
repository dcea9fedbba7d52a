//! The standings of a league. Never stored: only each match's outcome is kept, by index.

use super::League;
use crate::league::format::ladder::rank_key;
use crate::league::settings::Score;
use crate::league::standings::{self, Basis, PAYOFF, Place, RankedPlayer, Verdict};
use crate::protocol::messages::{GameStatus, Shared, StandingRow};
use crate::protocol::{MatchId, PlayerId};
use std::collections::BTreeMap;

/// The criterion of a ladder.
const RATING: &str = "pairing rating";

/// A match as the standings count it: the indices of its players, and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StandingsEntry {
    players: Option<(usize, usize)>,
    /// The series of the play-off that it belongs to; its result then counts for nothing else.
    series: Option<u32>,
    pub(super) verdict: Option<(Verdict, bool)>,
}

impl League {
    /// Numbers the matches, and looks up the indices of their players.
    pub(super) fn number_matches(&mut self) {
        let matches = self.matches.keys().cloned().collect();
        self.counted.clear();
        self.number(matches);
    }

    /// Numbers the matches of the round that was drawn last; the others keep their numbers.
    pub(super) fn number_last_round(&mut self) {
        let matches = self.rounds.last().map(|last| last.matches.clone());
        self.number(matches.unwrap_or_default());
    }

    fn number(&mut self, matches: Vec<MatchId>) {
        let places: BTreeMap<&PlayerId, usize> = self.players.keys().zip(0..).collect();
        let place = |player: &PlayerId| places.get(player).copied();
        for id in &matches {
            let Some(fixture) = self.matches.get(id) else {
                continue;
            };
            let drawn = self
                .round(fixture.round_id)
                .and_then(|round| round.drawn.as_deref());
            let players = place(&fixture.a).zip(place(&fixture.b));
            let series = drawn.filter(|drawn| drawn.play_off).map(|drawn| drawn.leg);
            let verdict = fixture
                .decision
                .as_ref()
                .map(|decided| decided.counted(fixture));
            if let Some(fixture) = self.matches.get_mut(id) {
                fixture.number = self.counted.len();
            }
            self.counted.push(StandingsEntry {
                players,
                series,
                verdict,
            });
        }
    }

    /// The current standings.
    pub fn standings(&self) -> Vec<Place> {
        let ids: Vec<&PlayerId> = self.players.keys().collect();
        standings::named(&ids, &self.ranking(&ids).0)
    }

    /// The total payoff of each player, if the table goes by that.
    pub fn payoff_totals(&self) -> Option<BTreeMap<PlayerId, i64>> {
        let ids: Vec<&PlayerId> = self.players.keys().collect();
        let (_, payoffs) = self.ranking(&ids);
        Some(ids.into_iter().cloned().zip(payoffs?).collect())
    }

    fn payoffs(&self, ids: &[&PlayerId], byes: &[u32]) -> Option<Vec<i64>> {
        let game = crate::game::find(&self.settings.game_type)?;
        let walkover = game
            .payoff
            .filter(|_| self.settings.score == Score::Payoff)?
            .walkover;
        let mut totals: BTreeMap<&PlayerId, i64> = BTreeMap::new();
        for fixture in self.matches.values() {
            let counts = self
                .counted
                .get(fixture.number)
                .is_some_and(|counted| counted.series.is_none());
            let Some(decision) = fixture.decision.as_ref().filter(|_| counts) else {
                continue;
            };
            for player in [&fixture.a, &fixture.b] {
                let won = decision.result.winner.as_ref() == Some(player);
                let paid = match decision.status {
                    GameStatus::TechnicalLoss if won => walkover,
                    GameStatus::TechnicalLoss => 0,
                    _ => decision.payoff(player).unwrap_or(0),
                };
                *totals.entry(player).or_default() += i64::from(paid);
            }
        }
        let byes = byes.iter().copied().chain(std::iter::repeat(0));
        let own = |id: &&PlayerId| totals.get(*id).copied().unwrap_or(0);
        Some(
            ids.iter()
                .zip(byes)
                .map(|(id, byes)| own(id) + i64::from(byes * walkover))
                .collect(),
        )
    }

    /// The tie-breaks of this league that have a value for each player, by name.
    pub fn tie_break_values(&self) -> Vec<(&'static str, BTreeMap<PlayerId, f64>)> {
        let ids: Vec<&PlayerId> = self.players.keys().collect();
        let games: Vec<standings::IndexedMatch> = self.decided_games().collect();
        let basis = self
            .draw
            .as_ref()
            .map(|draw| draw.basis(&ids, &self.played()))
            .unwrap_or_default();
        let rules = self.settings.tie_breaks.iter();
        let named = rules.filter_map(|rule| {
            let values = standings::tie_break_values(&ids, &games, *rule, &basis)?;
            Some((
                rule.name(),
                self.players.keys().cloned().zip(values).collect(),
            ))
        });
        named.collect()
    }

    fn decided_games(&self) -> impl Iterator<Item = standings::IndexedMatch> {
        self.counted
            .iter()
            .filter(|counted| counted.series.is_none())
            .filter_map(|counted| {
                let ((a, b), (verdict, technical)) = counted.players.zip(counted.verdict)?;
                Some(standings::IndexedMatch {
                    a,
                    b,
                    verdict,
                    technical,
                })
            })
    }

    /// With the payoffs, if the table goes by them.
    fn ranking(&self, ids: &[&PlayerId]) -> (Vec<RankedPlayer>, Option<Vec<i64>>) {
        let decided = self.decided_games();
        let mut basis = match (&self.draw, self.ratings()) {
            (Some(draw), Some(ratings)) => {
                let key = |id: &&PlayerId| {
                    ratings
                        .get(*id)
                        .map_or(i64::MIN, |rating| rank_key(*rating))
                };
                let levels = vec![(RATING, ids.iter().map(key).collect())];
                Basis {
                    seed: draw.seed(),
                    levels,
                    ..Basis::default()
                }
            }
            (Some(draw), None) => draw.basis(ids, &self.played()),
            (None, _) => Basis::default(),
        };
        let payoffs = self.payoffs(ids, &basis.byes);
        basis
            .levels
            .extend(payoffs.clone().map(|payoffs| (PAYOFF, payoffs)));
        basis.play_offs = self.play_off_points(ids.len());
        (
            standings::rank_by(ids, decided.collect(), &self.settings.tie_breaks, &basis),
            payoffs,
        )
    }

    /// The points of each player in each series of the play-off; -1 for those who were not in it.
    fn play_off_points(&self, players: usize) -> Vec<Vec<i64>> {
        let mut points: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for counted in &self.counted {
            let Some((series, (a, b))) = counted.series.zip(counted.players) else {
                continue;
            };
            let (for_a, for_b) = counted
                .verdict
                .map_or((0, 0), |(verdict, _)| verdict.points());
            let sums = points.entry(series).or_insert_with(|| vec![-1; players]);
            for (player, gained) in [(a, for_a), (b, for_b)] {
                if let Some(sum) = sums.get_mut(player) {
                    *sum = (*sum).max(0) + i64::from(gained);
                }
            }
        }
        points.into_values().collect()
    }

    /// The rows for LEAGUE_STANDINGS_UPDATE, without our additional fields if they would make it too large.
    pub(crate) fn rows_to_send(&self) -> Shared<StandingRow> {
        let rows = self.rows();
        if rows.fits_message(1) {
            rows
        } else {
            rows.iter().map(StandingRow::without_additions).collect()
        }
    }

    /// The rows with names and reasons.
    pub fn rows(&self) -> Shared<StandingRow> {
        let (ids, players): (Vec<&PlayerId>, Vec<_>) = self.players.iter().unzip();
        let (ranked, payoffs) = self.ranking(&ids);
        let ratings = self.ratings();
        let rating = |player: usize| {
            ratings
                .as_ref()
                .and_then(|all| all.get(*ids.get(player)?).copied())
        };
        let reason = |player: usize, of: usize, on: &str| {
            let reason = standings::reason(ids.get(of)?, on);
            let both = payoffs.as_ref().filter(|_| on == PAYOFF);
            let both = both.and_then(|payoffs| payoffs.get(player).zip(payoffs.get(of)));
            // The totals are nowhere else in the row.
            Some(match both {
                None => reason,
                Some((own, other)) => format!("{reason} ({own} to {other})").into(),
            })
        };
        let ranks: Vec<u32> = ranked.iter().map(|place| place.rank).collect();
        // Rows are in the order of their ranks: who shares one stands beside another row that has it.
        let is_shared = |place: u32, rank: u32| {
            rank < place || ranks.get(place as usize).is_some_and(|next| *next == rank)
        };
        (1..)
            .zip(ranked)
            .filter_map(
                |(
                    place,
                    RankedPlayer {
                        rank,
                        player,
                        tally,
                        ahead,
                    },
                )| {
                    Some(StandingRow {
                        rank: place,
                        shared_rank: Some(rank).filter(|rank| is_shared(place, *rank)),
                        player_id: (*ids.get(player)?).clone(),
                        display_name: players.get(player)?.meta.display_name.clone(),
                        played: tally.played(),
                        wins: tally.wins,
                        draws: tally.draws,
                        losses: tally.losses,
                        points: tally.points(),
                        technical_losses: Some(tally.technical_losses),
                        rating: rating(player).map(|rating| whole(rating.rating)),
                        rating_deviation: rating(player).map(|rating| whole(rating.deviation)),
                        rank_reason: ahead
                            .and_then(|(of, on)| Some(reason(player, of, on)?.into())),
                    })
                },
            )
            .collect()
    }
}

/// A rating in whole points; `as` saturates.
fn whole(points: f64) -> u32 {
    points.round() as u32
}
