//! A player's record, gathered in one pass over the matches. Pure.

use super::PlayerName;
use crate::exploitability::Exploitability;
use crate::fallbacks::Fallbacks;
use crate::league_log::LeagueLog;
use crate::llm_usage::LlmUsage;
use matchday_core::league::fixture::{Decision, Match, Round};
use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN, Verdict};
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::messages::{Blame, GameStatus};
use matchday_core::protocol::{MatchId, PlayerId, Sender, Timestamp};
use matchday_stats::quantile::quantile;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A player's record, beside its row in the standings.
#[derive(Debug, Clone, Serialize)]
pub struct PlayerView {
    #[serde(flatten)]
    pub who: PlayerName,
    pub version: String,
    /// `active`, `suspended`, `withdrawn`.
    pub state: &'static str,
    /// Wins by the opponent's technical loss.
    pub wins_by_default: u32,
    /// The points after each round with a decided match.
    pub points_by_round: Vec<(u32, u32)>,
    pub against: Vec<HeadToHead>,
    pub choices: BTreeMap<String, u32>,
    pub answers: Answers,
    /// Deviations from the protocol, by kind.
    pub deviations: BTreeMap<String, u32>,
    pub technical: Vec<TechnicalLoss>,
    /// How often its strategy failed, if the player's own store was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<Fallbacks>,
    /// What its language model used, if the player's own store was read and tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_usage: Option<LlmUsage>,
    /// Only in reports of games of repeated simultaneous choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploitability: Option<Exploitability>,
}

impl PlayerView {
    /// `silent 3, unreachable 1`
    pub fn technical_causes(&self) -> String {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for lost in &self.technical {
            *counts.entry(lost.cause).or_default() += 1;
        }
        counts
            .iter()
            .map(|(cause, count)| format!("{cause} {count}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The record against one opponent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeadToHead {
    #[serde(flatten)]
    pub who: PlayerName,
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    /// Those of the losses that were technical.
    pub technical: u32,
}

impl HeadToHead {
    pub fn met(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    pub fn points(&self) -> u32 {
        self.wins * POINTS_WIN + self.draws * POINTS_DRAW
    }
}

/// Response times as the referees measured them: the mean for each match with a move.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// In milliseconds, sorted.
    pub ms: Vec<u32>,
}

impl Answers {
    /// Rounded to a millisecond.
    pub fn quantile(&self, share: f64) -> Option<u32> {
        quantile(&self.ms, share).map(|ms| ms.round() as u32)
    }

    pub fn median(&self) -> Option<u32> {
        self.quantile(0.5)
    }

    pub fn longest(&self) -> Option<u32> {
        self.ms.last().copied()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TechnicalLoss {
    pub match_id: String,
    pub round: u32,
    pub opponent: PlayerName,
    /// Who is to blame: `player`, `opponent`, `referee`, `infrastructure`.
    pub culprit: &'static str,
    /// `silent`, `unreachable`.
    pub cause: &'static str,
    /// A sentence with the owed message, the number of tries and the time waited.
    pub account: String,
    /// The last error, as it was observed.
    pub evidence: Option<String>,
}

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

pub(super) fn of(history: &LeagueLog) -> Vec<PlayerView> {
    let league = &history.league;
    let suspended = suspended(history);
    // Players with a bye in the first round need an entry too.
    let mut totals: BTreeMap<PlayerId, PlayerTotals> = league
        .players
        .keys()
        .map(|player| (player.clone(), PlayerTotals::default()))
        .collect();
    for round in &league.rounds {
        for (id, game) in league.matches_of(round) {
            let Some(decision) = &game.decision else {
                continue;
            };
            for player in [&game.a, &game.b] {
                let totals = totals.entry(player.clone()).or_default();
                totals.take(league, player, (id, game, decision));
            }
        }
        totals
            .values_mut()
            .for_each(|totals| totals.end_round(league, round));
    }
    let mut choices = league.choices();
    let rows = league.rows();
    let players = rows.iter().map(|row| {
        let totals = totals.remove(&row.player_id).unwrap_or_default();
        let choices = choices.remove(&row.player_id).unwrap_or_default();
        let mut player = totals.player(league, &row.player_id, choices);
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
            LeagueEvent::AgentSuspended {
                agent: Sender::Player(player),
                ..
            } => {
                suspended.insert(player.clone());
            }
            LeagueEvent::AgentRecovered {
                agent: Sender::Player(player),
            } => {
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
        let who = || PlayerName::of(league, opponent);
        let none = || HeadToHead {
            who: who(),
            wins: 0,
            draws: 0,
            losses: 0,
            technical: 0,
        };
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
        self.answers
            .ms
            .extend(times.and_then(|times| times.get(player).copied().flatten()));
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
        if league
            .matches_of(round)
            .any(|(_, game)| game.decision.is_some())
        {
            self.points_by_round.push((round.round_id.0, self.points));
        }
    }

    fn player(
        mut self,
        league: &League,
        id: &PlayerId,
        choices: BTreeMap<String, u32>,
    ) -> PlayerView {
        let known = league.players.get(id);
        self.answers.ms.sort_unstable();
        PlayerView {
            who: PlayerName::of(league, id),
            version: known
                .map(|player| player.meta.version.to_string())
                .unwrap_or_default(),
            state: match known {
                Some(player) if player.withdrawn => "withdrawn",
                _ => "active",
            },
            wins_by_default: self.wins_by_default,
            points_by_round: self.points_by_round,
            against: self.against.into_values().collect(),
            choices,
            answers: self.answers,
            deviations: known
                .map(|player| player.deviations.clone())
                .unwrap_or_default(),
            technical: self.technical,
            fallbacks: None,
            llm_usage: None,
            exploitability: None,
        }
    }
}

fn technical_loss(
    id: &MatchId,
    game: &Match,
    opponent: PlayerName,
    blame: &Blame,
) -> TechnicalLoss {
    TechnicalLoss {
        match_id: id.to_string(),
        round: game.round_id.0,
        opponent,
        culprit: blame.culprit.name(),
        cause: blame.cause.name(),
        account: describe_blame(blame),
        evidence: blame
            .evidence
            .as_ref()
            .map(|seen| seen.escaped().to_string()),
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
        let waited = blame
            .since
            .zip(blame.until)
            .map_or(0.0, |(since, until)| seconds(since, until));
        if waited >= 1.0 {
            text.push_str(&format!(" over {waited:.0} s"));
        }
    }
    text
}

fn seconds(since: Timestamp, until: Timestamp) -> f64 {
    (until.as_micros() - since.as_micros()) as f64 / 1e6
}
