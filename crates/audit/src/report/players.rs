//! Builds the data of each player in one pass over the matches. Pure.

use super::league::player_name;
use super::{Answers, HeadToHead, Player, PlayerName, TechnicalLoss};
use crate::league_log::LeagueLog;
use matchday_core::league::fixture::{Decision, Match, Round};
use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN, Verdict};
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::messages::{Blame, GameStatus, StandingRow};
use matchday_core::protocol::{MatchId, PlayerId, Sender, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Totals over the matches of one player.
#[derive(Default)]
struct PlayerTotals {
    points: u32,
    points_by_round: Vec<(u32, u32)>,
    wins_by_default: u32,
    against: BTreeMap<PlayerId, HeadToHead>,
    answers: Answers,
    technical: Vec<TechnicalLoss>,
}

pub(super) fn gather(history: &LeagueLog) -> Vec<Player> {
    let league = &history.league;
    let suspended = suspended(history);
    // Players with a bye in the first round need an entry too.
    let mut totals: BTreeMap<PlayerId, PlayerTotals> =
        league.players.keys().map(|player| (player.clone(), PlayerTotals::default())).collect();
    for round in &league.rounds {
        for (id, game) in league.matches_of(round) {
            let Some(decision) = &game.decision else { continue };
            for player in [&game.a, &game.b] {
                let totals = totals.entry(player.clone()).or_default();
                totals.take(league, player, (id, game, decision));
            }
        }
        totals.values_mut().for_each(|totals| totals.end_round(league, round));
    }
    let mut choices = league.choices();
    let rows = league.rows();
    let players = rows.iter().map(|row| {
        let totals = totals.remove(&row.player_id).unwrap_or_default();
        let choices = choices.remove(&row.player_id).unwrap_or_default();
        let mut player = totals.player(league, row, choices);
        if suspended.contains(&row.player_id) && player.state == "active" {
            player.state = "suspended";
        }
        player
    });
    players.collect()
}

/// Players that were suspended and did not recover. The end of the league does not count as recovery.
fn suspended(history: &LeagueLog) -> BTreeSet<PlayerId> {
    let mut suspended = BTreeSet::new();
    for entry in &history.entries {
        match &entry.event {
            LeagueEvent::AgentSuspended { agent: Sender::Player(player), .. } => {
                suspended.insert(player.clone());
            }
            LeagueEvent::AgentRecovered { agent: Sender::Player(player) } => {
                suspended.remove(player);
            }
            _ => {}
        }
    }
    suspended
}

impl PlayerTotals {
    fn take(
        &mut self,
        league: &League,
        player: &PlayerId,
        (id, game, decision): (&MatchId, &Match, &Decision),
    ) {
        let opponent = game.opponent(player);
        let technical = decision.status == GameStatus::TechnicalLoss;
        let who = || player_name(league, opponent);
        let none = || HeadToHead { who: who(), wins: 0, draws: 0, losses: 0, technical: 0 };
        let against = self.against.entry(opponent.clone()).or_insert_with(none);
        let is_a = game.a == *player;
        match decision.verdict(game) {
            Verdict::Drawn => {
                against.draws += 1;
                self.points += POINTS_DRAW;
            }
            Verdict::WonByA if is_a => self.win(opponent, technical),
            Verdict::WonByB if !is_a => self.win(opponent, technical),
            Verdict::WonByA | Verdict::WonByB | Verdict::LostByBoth => {
                against.losses += 1;
                against.technical += u32::from(technical);
            }
        }
        let times = decision.result.details.answer_ms.as_ref();
        self.answers.ms.extend(times.and_then(|times| times.get(player).copied().flatten()));
        if let Some(blame) = decision.blame(player) {
            self.technical.push(technical_loss(id, game, who(), &blame));
        }
    }

    fn win(&mut self, opponent: &PlayerId, by_default: bool) {
        self.points += POINTS_WIN;
        self.wins_by_default += u32::from(by_default);
        if let Some(against) = self.against.get_mut(opponent) {
            against.wins += 1;
        }
    }

    fn end_round(&mut self, league: &League, round: &Round) {
        if league.matches_of(round).any(|(_, game)| game.decision.is_some()) {
            self.points_by_round.push((round.round_id.0, self.points));
        }
    }

    fn player(mut self, league: &League, row: &StandingRow, choices: BTreeMap<String, u32>) -> Player {
        let known = league.players.get(&row.player_id);
        let technical_losses = row.technical_losses.unwrap_or(0);
        self.answers.ms.sort_unstable();
        Player {
            rank: row.rank,
            who: PlayerName { id: row.player_id.to_string(), name: row.display_name.escaped().to_string() },
            version: known.map(|player| player.meta.version.to_string()).unwrap_or_default(),
            state: match known {
                Some(player) if player.withdrawn => "withdrawn",
                _ => "active",
            },
            points: row.points,
            played: row.played,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            losses_in_play: row.losses.saturating_sub(technical_losses),
            technical_losses,
            wins_by_default: self.wins_by_default,
            reason: row.rank_reason.as_ref().map(|why| why.escaped().to_string()),
            points_by_round: self.points_by_round,
            against: self.against.into_values().collect(),
            choices,
            answers: self.answers,
            deviations: known.map(|player| player.deviations.clone()).unwrap_or_default(),
            technical: self.technical,
            fallbacks: None,
            llm_usage: None,
        }
    }
}

fn technical_loss(id: &MatchId, game: &Match, opponent: PlayerName, blame: &Blame) -> TechnicalLoss {
    TechnicalLoss {
        match_id: id.to_string(),
        round: game.round_id.0,
        opponent,
        culprit: blame.culprit.name(),
        cause: blame.cause.name(),
        account: describe_blame(blame),
        evidence: blame.evidence.as_ref().map(|seen| seen.escaped().to_string()),
    }
}

/// "failed to respond within timeout: GAME_JOIN_ACK was asked for 4 times over 26 s"
fn describe_blame(blame: &Blame) -> String {
    let mut text = blame.cause.words().to_owned();
    if let Some(owed) = &blame.owed {
        text.push_str(&format!(": {owed} was asked for"));
        text.push_str(&match blame.tries {
            Some(1) => " once".to_owned(),
            Some(2) => " twice".to_owned(),
            Some(tries) => format!(" {tries} times"),
            None => String::new(),
        });
        // Shown in whole seconds.
        let waited = blame.since.zip(blame.until).map_or(0.0, |(since, until)| seconds(since, until));
        if waited >= 1.0 {
            text.push_str(&format!(" over {waited:.0} s"));
        }
    }
    text
}

fn seconds(since: Timestamp, until: Timestamp) -> f64 {
    (until.as_micros() - since.as_micros()) as f64 / 1e6
}
