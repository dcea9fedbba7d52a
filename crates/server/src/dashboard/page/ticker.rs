//! Latest events, in plain words: upsets, streaks, new leaders, technical losses. Pure.

use super::race::points_of;
use matchday_audit::league_view::PlayerName;
use matchday_core::league::League;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::league::standings::POINTS_WIN;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{MatchId, PlayerId};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TickerLine {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_id: Option<String>,
}

/// How many lines are told.
const LINES_MAX: usize = 12;
/// How many rounds are told of; those before them count for points and streaks.
const ROUNDS_TOLD: usize = 6;
/// From how many wins or losses in a row on a streak is told.
const STREAK: u32 = 3;
/// By how many points the loser of an upset was ahead.
const UPSET: u32 = 2 * POINTS_WIN;

/// The newest first.
pub(super) fn of(league: &League) -> Vec<TickerLine> {
    let mut ticker = Ticker {
        league,
        points: BTreeMap::new(),
        streaks: BTreeMap::new(),
        lines: None,
    };
    let told = league.rounds.len().saturating_sub(ROUNDS_TOLD);
    for (number, round) in league.rounds.iter().enumerate() {
        if number == told {
            ticker.lines = Some(Vec::new());
        }
        ticker.round(round);
    }
    let mut lines = ticker.lines.unwrap_or_default();
    lines.reverse();
    lines.truncate(LINES_MAX);
    lines
}

struct Ticker<'a> {
    league: &'a League,
    points: BTreeMap<&'a PlayerId, u32>,
    /// How often each has won (above 0) or lost (below 0) in a row.
    streaks: BTreeMap<&'a PlayerId, i32>,
    /// From the rounds that are told of on.
    lines: Option<Vec<TickerLine>>,
}

impl<'a> Ticker<'a> {
    fn round(&mut self, round: &'a Round) {
        let before = match self.lines {
            Some(_) => self.points.clone(),
            None => BTreeMap::new(),
        };
        let leader = self.leader().cloned();
        let mut matches: Vec<_> = self.league.matches_of(round).collect();
        matches.sort_by_key(|(_, game)| game.decision.as_ref().map(|decision| decision.at));
        for (id, game) in matches {
            self.result(id, game, &before, leader.as_ref());
        }
        let now = self.leader().cloned();
        if let Some(now) = now.filter(|now| round.completed && Some(now) != leader.as_ref()) {
            let line = match leader {
                Some(old) => format!(
                    "{} takes the lead from {}",
                    self.name(&now),
                    self.name(&old)
                ),
                None => format!("{} leads after round {}", self.name(&now), round.round_id.0),
            };
            self.say(line, None);
        }
    }

    fn result(
        &mut self,
        id: &MatchId,
        game: &'a Match,
        before: &BTreeMap<&'a PlayerId, u32>,
        leader: Option<&PlayerId>,
    ) {
        let Some(decision) = &game.decision else {
            return;
        };
        let players = [&game.a, &game.b];
        let gained = players.map(|player| points_of(game, player).unwrap_or(0));
        for (player, gained) in players.into_iter().zip(gained) {
            *self.points.entry(player).or_default() += gained;
        }
        let technical = decision.status == GameStatus::TechnicalLoss;
        let winner = players
            .into_iter()
            .zip(gained)
            .find(|(_, gained)| *gained == POINTS_WIN);
        let Some((winner, _)) = winner else {
            for player in players {
                self.streaks.insert(player, 0);
            }
            return;
        };
        let loser = game.opponent(winner);
        if self.lines.is_none() {
            self.count_streak(winner, 1);
            self.count_streak(loser, -1);
            return;
        }
        let points = |player: &PlayerId| before.get(player).copied().unwrap_or(0);
        if technical {
            let line = format!(
                "{} loses to {} without playing: a technical loss",
                self.name(loser),
                self.name(winner)
            );
            self.say(line, Some(id));
        } else if leader == Some(loser) {
            let line = format!(
                "{} beats the leader, {}",
                self.name(winner),
                self.name(loser)
            );
            self.say(line, Some(id));
        } else if points(loser) >= points(winner) + UPSET {
            let line = format!(
                "Upset: {} with {} points beats {} with {}",
                self.name(winner),
                points(winner),
                self.name(loser),
                points(loser)
            );
            self.say(line, Some(id));
        }
        self.streak(winner, 1, id);
        self.streak(loser, -1, id);
    }

    /// One more result of the same kind, or the first of another: how many there are now.
    fn count_streak(&mut self, player: &'a PlayerId, step: i32) -> u32 {
        let streak = self.streaks.entry(player).or_default();
        *streak = if streak.signum() == step {
            *streak + step
        } else {
            step
        };
        streak.unsigned_abs()
    }

    fn streak(&mut self, player: &'a PlayerId, step: i32, id: &MatchId) {
        let many = self.count_streak(player, step);
        if many >= STREAK {
            let what = if step > 0 { "won" } else { "lost" };
            self.say(
                format!("{} has {what} {many} in a row", self.name(player)),
                Some(id),
            );
        }
    }

    /// Who has most points, if it is one player.
    fn leader(&self) -> Option<&'a PlayerId> {
        let most = *self.points.values().max()?;
        let mut first = self.points.iter().filter(|(_, points)| **points == most);
        let (leader, _) = first.next()?;
        (most > 0 && first.next().is_none()).then_some(*leader)
    }

    fn name(&self, player: &PlayerId) -> String {
        PlayerName::of(self.league, player).name
    }

    fn say(&mut self, text: String, id: Option<&MatchId>) {
        if let Some(lines) = &mut self.lines {
            lines.push(TickerLine {
                text,
                match_id: id.map(ToString::to_string),
            });
        }
    }
}
