//! Statistics of each player and referee: results, answer times, choices, deviations. Read-only.

use super::League;
use crate::league::fixture::DecidedBy;
use crate::league::fixture::Match;
use crate::league::standings::Tally;
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::query_data::{
    PlayerStats, PlayerStatsData, RefereeListing, RefereesData,
};
use crate::protocol::messages::{GameDetails, Record};
use serde_json::Value;
use std::collections::BTreeMap;

impl League {
    /// `None` if there is no such player.
    pub fn player_stats(&self, player: &PlayerId) -> Option<PlayerStatsData> {
        let place = self
            .standings()
            .into_iter()
            .find(|place| place.player == *player)?;
        let known = self.players.get(player)?;
        let tally = place.tally;
        let mut statistics = MatchStatistics::default();
        for fixture in self.matches.values().filter(|fixture| fixture.has(player)) {
            statistics.add(player, fixture);
        }
        let mean_answer_ms = statistics.mean_answer_ms();
        let stats = PlayerStats {
            rank: place.rank,
            played: tally.played(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            technical_losses: tally.technical_losses,
            technical_causes: statistics.causes,
            points: tally.points(),
            win_rate: share(tally, tally.wins),
            draw_rate: share(tally, tally.draws),
            loss_rate: share(tally, tally.losses),
            mean_answer_ms,
            choices: statistics.choices,
            against: statistics.against,
            deviations: known.deviations.clone(),
        };
        let display_name = known.meta.display_name.clone();
        let state = Some(known.state);
        let left = known.left;
        Some(PlayerStatsData {
            player_id: player.clone(),
            display_name,
            state,
            left,
            stats,
        })
    }

    /// How often each player made each choice, in even/odd.
    pub fn choices(&self) -> BTreeMap<&PlayerId, BTreeMap<String, u32>> {
        let mut all: BTreeMap<&PlayerId, BTreeMap<String, u32>> = BTreeMap::new();
        for fixture in self.matches.values() {
            for player in [&fixture.a, &fixture.b] {
                if let Some(choice) = choice(player, fixture) {
                    *all.entry(player).or_default().entry(choice).or_default() += 1;
                }
            }
        }
        all
    }

    /// The answer to the query for referees: each with its attempts and decisions so far.
    pub fn referee_listings(&self) -> RefereesData {
        let decided_by = |id| {
            let by = DecidedBy::Referee(id);
            let decisions = self
                .matches
                .values()
                .filter_map(|fixture| fixture.decision.as_ref());
            u32::try_from(decisions.filter(|decision| decision.by == by).count())
                .unwrap_or(u32::MAX)
        };
        let referees = self.referees.iter().map(|(id, referee)| RefereeListing {
            referee_id: id.clone(),
            display_name: referee.meta.display_name.clone(),
            version: referee.meta.version.to_string(),
            state: referee.state,
            left: referee.left,
            matches_decided: decided_by(id.clone()),
            deviations: referee.deviations.clone(),
            attempts: referee.given,
            attempts_lost: referee.lost,
            without_keyed_matches: self.is_without_keyed_matches(referee),
        });
        RefereesData {
            referees: referees.collect(),
        }
    }
}

/// Sums over a player's matches.
#[derive(Default)]
struct MatchStatistics {
    answer_ms_sum: u64,
    answers: u64,
    choices: BTreeMap<String, u32>,
    causes: BTreeMap<String, u32>,
    against: BTreeMap<PlayerId, Record>,
}

impl MatchStatistics {
    fn add(&mut self, player: &PlayerId, fixture: &Match) {
        let Some(decision) = &fixture.decision else {
            return;
        };
        let record = self
            .against
            .entry(fixture.opponent(player).clone())
            .or_default();
        let lost =
            decision.result.winner.is_some() || decision.result.score.get(player) == Some(&0);
        match &decision.result.winner {
            Some(winner) if winner == player => record.wins += 1,
            _ if lost => record.losses += 1,
            _ => record.draws += 1,
        }
        if let Some(blame) = decision.blame(player) {
            *self
                .causes
                .entry(blame.cause.name().to_owned())
                .or_default() += 1;
        }
        let answer_ms = decision.result.details.answer_ms.as_ref();
        if let Some(answer_ms) = answer_ms.and_then(|times| times.get(player).copied().flatten()) {
            self.answer_ms_sum = self.answer_ms_sum.saturating_add(u64::from(answer_ms));
            self.answers += 1;
        }
        for made in moves(player, fixture) {
            // Moves of a game with very many kinds are counted together.
            let known = self.choices.len() < CHOICES_MAX || self.choices.contains_key(&made);
            *self
                .choices
                .entry(if known { made } else { "other".to_owned() })
                .or_default() += 1;
        }
    }

    fn mean_answer_ms(&self) -> Option<u32> {
        self.answer_ms_sum
            .checked_div(self.answers)
            .and_then(|mean| u32::try_from(mean).ok())
    }
}

/// How many kinds of moves are told apart.
const CHOICES_MAX: usize = 60;
/// The longest text of a move.
const MOVE_CHARS_MAX: usize = 60;

/// The moves of a player in a match of any game, as texts.
fn moves(player: &PlayerId, fixture: &Match) -> Vec<String> {
    let turns = fixture
        .decision
        .as_ref()
        .and_then(|decision| decision.result.details.turn_log.as_ref());
    let made = turns
        .into_iter()
        .flatten()
        .filter_map(|turn| turn.get(player));
    let text = |made: &Value| match made {
        Value::String(text) => text.chars().take(MOVE_CHARS_MAX).collect(),
        other => other.to_string().chars().take(MOVE_CHARS_MAX).collect(),
    };
    choice(player, fixture)
        .into_iter()
        .chain(made.map(text))
        .collect()
}

/// What a player chose in a match of even/odd.
fn choice(player: &PlayerId, fixture: &Match) -> Option<String> {
    match &fixture.decision.as_ref()?.result.details.game {
        GameDetails::Parity(details) => details
            .choices
            .get(player)
            .copied()
            .flatten()
            .map(|choice| choice.to_string()),
        GameDetails::Other(_) => None,
    }
}

fn share(tally: Tally, part: u32) -> Option<f64> {
    (tally.played() > 0).then(|| f64::from(part) / f64::from(tally.played()))
}
