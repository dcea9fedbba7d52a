//! Matches and rounds. Pure.

use super::PlayerName;
use crate::verify::draw_proof;
use crate::{describe, timeline};
use matchday_core::game::replay::views;
use matchday_core::game::view::{Grid, View};
use matchday_core::league::fixture::{Decision, Match, Round};
use matchday_core::league::{DecidedBy, League, ResultProof};
use matchday_core::protocol::messages::{ByPlayer, Culprit, GameStatus};
use matchday_core::protocol::{MatchId, PlayerId, Timestamp, Untrusted};
use serde::Serialize;

/// A match, and how it ended.
#[derive(Debug, Clone, Serialize)]
pub struct MatchView {
    pub id: String,
    pub round: u32,
    pub a: PlayerName,
    pub b: PlayerName,
    /// Who plays it, or is planned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referee: Option<String>,
    /// `scheduled`, `assigned`, `playing`, `decided`.
    pub state: &'static str,
    pub attempts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<GameStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<ByPlayer<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<BlameView>,
    /// Whether its result is proven, once it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    /// The referee's id, or `manager`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Whether the draw is proven, in games that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<String>,
    /// The last position, in games with a board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Grid>,
}

/// Who is to blame for a technical loss.
#[derive(Debug, Clone, Serialize)]
pub struct BlameView {
    pub culprit: Culprit,
    /// A sentence for each of those whose fault it is.
    pub cause: String,
    pub players: Vec<String>,
}

impl MatchView {
    /// `text` shows what others have written.
    pub fn of(league: &League, id: &MatchId, game: &Match, text: impl Fn(&str) -> String) -> Self {
        let decision = game.decision.as_ref();
        let state = match (decision, game.in_play, &game.planned) {
            (Some(_), ..) => "decided",
            (None, true, _) => "playing",
            (None, false, Some(_)) => "assigned",
            (None, false, None) => "scheduled",
        };
        Self {
            id: id.to_string(),
            round: game.round_id.0,
            a: PlayerName::of(league, &game.a),
            b: PlayerName::of(league, &game.b),
            referee: game
                .referee()
                .or(game.planned.as_ref())
                .map(ToString::to_string),
            state,
            attempts: game.attempts.len(),
            status: decision.map(|decision| decision.status),
            winner: decision.and_then(|decision| decision.result.winner.clone()),
            score: decision.map(|decision| decision.result.score.clone()),
            reason: decision
                .and_then(|decision| decision.result.reason.as_ref())
                .map(|why| text(why.raw())),
            blame: decision.and_then(|decision| blame(game, decision, text)),
            proof: decision
                .filter(|decision| decision.proof != ResultProof::Unprovable)
                .map(|decision| decision.proof.name()),
            decided_at: decision.map(|decision| describe::time(decision.at)),
            decided_by: decision.map(|decision| match &decision.by {
                DecidedBy::Referee(referee) => referee.to_string(),
                DecidedBy::Manager => "manager".to_owned(),
            }),
            took_ms: None,
            draw: None,
            position: None,
        }
    }

    /// With how its draw was proven, and its last position.
    fn whole(league: &League, id: &MatchId, game: &Match) -> Self {
        let position = game
            .decision
            .as_ref()
            .and_then(|decision| last_board(league, game, decision));
        let shown = Self::of(league, id, game, |text| {
            Untrusted::new(text).escaped().to_string()
        });
        Self {
            draw: draw_proof(league, id),
            position,
            ..shown
        }
    }

    /// With how long it took from when it was assigned.
    pub fn since(self, assigned_at: Option<Timestamp>, game: &Match) -> Self {
        let took = game
            .decision
            .as_ref()
            .zip(assigned_at)
            .map(|(decision, begun)| decision.at.since(begun));
        Self {
            took_ms: took.and_then(|took| u64::try_from(took.as_millis()).ok()),
            ..self
        }
    }

    pub fn is_technical(&self) -> bool {
        self.status == Some(GameStatus::TechnicalLoss)
    }

    /// `P01 won 3:0`, `drawn 1:1, attempt 2`, or its state.
    pub fn result(&self) -> String {
        let Some(score) = &self.score else {
            return self.state.to_owned();
        };
        let of = |player: &PlayerName| score.get(&PlayerId::new(&player.id)).copied().unwrap_or(0);
        let score = format!("{}:{}", of(&self.a), of(&self.b));
        let technical = if self.is_technical() {
            ", technical"
        } else {
            ""
        };
        let again = if self.attempts > 1 {
            format!(", attempt {}", self.attempts)
        } else {
            String::new()
        };
        match &self.winner {
            Some(winner) => format!("{winner} won {score}{technical}{again}"),
            None if self.is_technical() => format!("both lost{technical}{again}"),
            None => format!("drawn {score}{again}"),
        }
    }
}

/// Who is to blame for a match that was not played out, in a sentence for each of them.
fn blame(game: &Match, decision: &Decision, text: impl Fn(&str) -> String) -> Option<BlameView> {
    let blamed: Vec<_> = [&game.a, &game.b]
        .into_iter()
        .filter_map(|id| Some((id, decision.blame(id)?)))
        .collect();
    let (_, first) = blamed.first()?;
    let cause = |(id, blame): &(&PlayerId, matchday_core::protocol::messages::Blame)| {
        let fault = timeline::fault(blame, blame.cause.words());
        let stop = if fault.ends_with(['.', '?', '!']) {
            ""
        } else {
            "."
        };
        text(&format!("{id} {fault}{stop}"))
    };
    Some(BlameView {
        culprit: first.culprit,
        cause: blamed.iter().map(cause).collect::<Vec<_>>().join(" "),
        players: blamed.iter().map(|(id, _)| id.to_string()).collect(),
    })
}

/// The last position of a game with a board.
fn last_board(league: &League, game: &Match, decision: &Decision) -> Option<Grid> {
    let details = &decision.result.details;
    match views(&league.settings.game_type, [&game.a, &game.b], details).pop()? {
        View::Grid(grid) => Some(grid),
        View::Strip(_) => None,
    }
}

/// A round with its matches, or some of them.
#[derive(Debug, Clone, Serialize)]
pub struct RoundView {
    pub round: u32,
    /// Its name besides the number, if it has one: `Semifinals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `scheduled`, `announced`, `running`, `completed`.
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bye: Vec<PlayerName>,
    /// How many matches it has.
    pub total: usize,
    pub decided: usize,
    pub technical: usize,
    pub matches: Vec<MatchView>,
}

impl RoundView {
    /// Without its matches.
    pub fn of(league: &League, round: &Round) -> Self {
        let decided = || {
            league
                .matches_of(round)
                .filter_map(|(_, game)| game.decision.as_ref())
        };
        let byes = match &round.drawn {
            Some(drawn) => drawn.byes.as_slice(),
            None => round.bye.as_slice(),
        };
        let numbered = format!("Round {}", round.round_id);
        Self {
            round: round.round_id.0,
            title: league
                .title(round.round_id)
                .filter(|title| *title != numbered)
                .map(str::to_owned),
            state: state(league, round),
            starts_at: round.starts_at.map(describe::time),
            bye: byes.iter().map(|id| PlayerName::of(league, id)).collect(),
            total: round.matches.len(),
            decided: decided().count(),
            technical: decided()
                .filter(|decision| decision.status == GameStatus::TechnicalLoss)
                .count(),
            matches: Vec::new(),
        }
    }

    pub(super) fn whole(league: &League, round: &Round) -> Self {
        let matches = league
            .matches_of(round)
            .map(|(id, game)| MatchView::whole(league, id, game));
        Self {
            matches: matches.collect(),
            ..Self::of(league, round)
        }
    }

    /// `Round 3`, `Round 3, Semifinals`.
    pub fn name(&self) -> String {
        let title = self
            .title
            .as_ref()
            .map(|title| format!(", {title}"))
            .unwrap_or_default();
        format!("Round {}{title}", self.round)
    }
}

fn state(league: &League, round: &Round) -> &'static str {
    let is_begun = |game: &Match| game.in_play || game.decision.is_some();
    match round {
        round if round.completed => "completed",
        round if round.starts_at.is_none() => "scheduled",
        round if league.matches_of(round).any(|(_, game)| is_begun(game)) => "running",
        _ => "announced",
    }
}
