//! The standings of a league. Never stored: only each match's outcome is kept, by index.

use super::settings::Score;
use super::standings::{self, Place, Ranked, Verdict};
use super::state::League;
use crate::protocol::PlayerId;
use crate::protocol::messages::{GameStatus, Shared, StandingRow};
use std::collections::BTreeMap;

/// The criterion of tables that go by payoffs.
const PAYOFF: &str = "payoff";

/// A match as the standings count it: the indices of its players, and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Game {
    players: Option<(usize, usize)>,
    pub(super) verdict: Option<(Verdict, bool)>,
}

impl League {
    /// Numbers the matches, and looks up the indices of their players.
    pub(super) fn number_matches(&mut self) {
        let places: BTreeMap<&PlayerId, usize> = self.players.keys().zip(0..).collect();
        let place = |player: &PlayerId| places.get(player).copied();
        self.games.clear();
        for (number, game) in (0..).zip(self.matches.values_mut()) {
            game.number = number;
            let players = place(&game.a).zip(place(&game.b));
            self.games
                .push(Game { players, verdict: game.decision.as_ref().map(|decided| decided.counted(game)) });
        }
    }

    /// The current standings.
    pub fn table(&self) -> Vec<Place> {
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
        let walkover = game.payoff.filter(|_| self.settings.score == Score::Payoff)?.walkover;
        let mut totals: BTreeMap<&PlayerId, i64> = BTreeMap::new();
        for game in self.matches.values() {
            let Some(decision) = &game.decision else { continue };
            for player in [&game.a, &game.b] {
                let won = decision.result.winner.as_ref() == Some(player);
                let paid = match decision.status {
                    GameStatus::TechnicalLoss => {
                        if won {
                            walkover
                        } else {
                            0
                        }
                    }
                    _ => decision.payoff(player).unwrap_or(0),
                };
                *totals.entry(player).or_default() += i64::from(paid);
            }
        }
        let byes = byes.iter().copied().chain(std::iter::repeat(0));
        let own = |id: &&PlayerId| totals.get(*id).copied().unwrap_or(0);
        Some(ids.iter().zip(byes).map(|(id, byes)| own(id) + i64::from(byes * walkover)).collect())
    }

    /// The tie-breaks of this league that have a value for each player, by name.
    pub fn tie_break_values(&self) -> Vec<(&'static str, BTreeMap<PlayerId, f64>)> {
        let ids: Vec<&PlayerId> = self.players.keys().collect();
        let games: Vec<standings::Game> = self.decided_games().collect();
        let basis = self.draw.as_ref().map(|draw| draw.basis(&ids, &self.played())).unwrap_or_default();
        let rules = self.settings.tie_breaks.iter();
        let named = rules.filter_map(|rule| {
            let values = standings::tie_break_values(&ids, &games, *rule, &basis)?;
            Some((rule.name(), self.players.keys().cloned().zip(values).collect()))
        });
        named.collect()
    }

    fn decided_games(&self) -> impl Iterator<Item = standings::Game> {
        self.games.iter().filter_map(|game| {
            let ((a, b), (verdict, technical)) = game.players.zip(game.verdict)?;
            Some(standings::Game { a, b, verdict, technical })
        })
    }

    /// With the payoffs, if the table goes by them.
    fn ranking(&self, ids: &[&PlayerId]) -> (Vec<Ranked>, Option<Vec<i64>>) {
        let decided = self.decided_games();
        let mut basis = self.draw.as_ref().map(|draw| draw.basis(ids, &self.played())).unwrap_or_default();
        let payoffs = self.payoffs(ids, &basis.byes);
        basis.levels.extend(payoffs.clone().map(|payoffs| (PAYOFF, payoffs)));
        (standings::rank_by(ids, decided.collect(), &self.settings.tie_breaks, &basis), payoffs)
    }

    /// The rows for LEAGUE_STANDINGS_UPDATE, without our additional fields if they would make it too large.
    pub(super) fn rows_to_send(&self) -> Shared<StandingRow> {
        let rows = self.rows();
        if rows.fits_message(1) { rows } else { rows.iter().map(StandingRow::without_additions).collect() }
    }

    /// The rows with names and reasons.
    pub fn rows(&self) -> Shared<StandingRow> {
        let (ids, players): (Vec<&PlayerId>, Vec<_>) = self.players.iter().unzip();
        let (ranked, payoffs) = self.ranking(&ids);
        let reason = |player: usize, of: usize, on: &str| {
            let reason = standings::reason(ids.get(of)?, on);
            let both = payoffs.as_ref().filter(|_| on == PAYOFF);
            let both = both.and_then(|payoffs| payoffs.get(player).zip(payoffs.get(of)));
            // The totals are nowhere else in the row.
            Some(both.map_or(reason.clone(), |(own, other)| format!("{reason} ({own} to {other})").into()))
        };
        (1..)
            .zip(ranked)
            .filter_map(|(rank, Ranked { player, tally, ahead })| {
                Some(StandingRow {
                    rank,
                    player_id: (*ids.get(player)?).clone(),
                    display_name: players.get(player)?.meta.display_name.clone(),
                    played: tally.played(),
                    wins: tally.wins,
                    draws: tally.draws,
                    losses: tally.losses,
                    points: tally.points(),
                    technical_losses: Some(tally.technical_losses),
                    rank_reason: ahead.and_then(|(of, on)| Some(reason(player, of, on)?.into())),
                })
            })
            .collect()
    }
}
