//! The table of a league, from its results. It is never stored: what is kept is how each match counts, by number.

use super::standings::{self, Place, Ranked, Verdict};
use super::state::League;
use crate::protocol::PlayerId;
use crate::protocol::messages::Shared;
use crate::protocol::messages::StandingRow;
use std::collections::BTreeMap;

/// A match as the table counts it: who plays in it, by place among the players, and how it was decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Game {
    players: Option<(usize, usize)>,
    pub(super) verdict: Option<(Verdict, bool)>,
}

impl League {
    /// Numbers the matches, and notes who plays in each by place among the players.
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

    /// The table as the results so far make it.
    pub fn table(&self) -> Vec<Place> {
        let ids: Vec<&PlayerId> = self.players.keys().collect();
        standings::named(&ids, &self.ranking(&ids))
    }

    fn ranking(&self, ids: &[&PlayerId]) -> Vec<Ranked> {
        let decided = self.games.iter().filter_map(|game| {
            let ((a, b), (verdict, technical)) = game.players.zip(game.verdict)?;
            Some(standings::Game { a, b, verdict, technical })
        });
        let basis = self.draw.as_ref().map(|draw| draw.basis(ids, &self.played())).unwrap_or_default();
        standings::rank_by(ids, decided.collect(), &self.settings.tie_breaks, &basis)
    }

    /// The table as LEAGUE_STANDINGS_UPDATE carries it: our additions stay out where they would make it too large.
    pub(super) fn rows_to_send(&self) -> Shared<StandingRow> {
        let rows = self.rows();
        if rows.fits_message(1) { rows } else { rows.iter().map(StandingRow::without_additions).collect() }
    }

    /// The table as it is shown: with names and reasons.
    pub fn rows(&self) -> Shared<StandingRow> {
        let (ids, players): (Vec<&PlayerId>, Vec<_>) = self.players.iter().unzip();
        let ranked = (1..).zip(self.ranking(&ids));
        ranked
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
                    rank_reason: ahead.and_then(|(of, on)| Some(standings::reason(ids.get(of)?, on).into())),
                })
            })
            .collect()
    }
}
