//! Taking results: from the right referee, once, and only such as the rules allow.

use super::event::{DecidedBy, LeagueEvent, Suspicion};
use super::fixture::Match;
use super::manager::{Act, Asked, Manager, Refusal};
use super::standings::{POINTS_DRAW, POINTS_WIN};
use crate::protocol::Sender;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{
    AckStatus, Blame, ByPlayer, Cause, Culprit, GameDetails, GameStatus, MatchResult, MatchResultAck,
    MatchResultReport, Phase, ResultDetails,
};
use std::fmt;
use std::sync::Arc;

impl Manager {
    pub(super) fn take_report(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        referee: &RefereeId,
        report: &MatchResultReport,
    ) -> Result<(), Refusal> {
        self.check_league(&report.league_id)?;
        let match_id = report.match_id.clone();
        let game = self.league.matches.get(&match_id).ok_or_else(|| {
            Refusal::new(ErrorCode::MatchNotFound, format!("there is no match {match_id} in this league"))
        })?;
        let named = asked.envelope.conversation_id.attempt_of(&match_id);
        let over = self.league.phase == Phase::Completed && game.decision.is_none();
        if over || is_struck(game, referee, named) {
            return Err(Refusal::new(
                ErrorCode::ResultConflict,
                format!("{match_id}: this result has been struck, or the league was ended without it"),
            )
            .with("match_id", match_id.as_str()));
        }
        if named.is_some_and(|named| game.is_void(named)) {
            let message =
                format!("{match_id}: this attempt was given back or refused, and no result of it is taken");
            return Err(Refusal::new(ErrorCode::ResultConflict, message).with("match_id", match_id.as_str()));
        }
        let Some(attempt) = attempt_of(game, referee, named) else {
            return Err(Refusal::new(
                ErrorCode::TokenInvalid,
                format!("{match_id} was not given to {referee}: only its own referee can report it"),
            ));
        };
        self.check_frame(game, report)?;
        let status = check_result(game, &report.result)?;
        if let Some(decision) = &game.decision {
            let same = decision.by == DecidedBy::Referee(referee.clone()) && decision.result == report.result;
            return match same {
                true => {
                    self.acknowledge(act, asked, match_id, Some(true));
                    Ok(())
                }
                false => Err(Refusal::new(
                    ErrorCode::ResultConflict,
                    format!("{match_id} is decided already; its result stays as it was recorded"),
                )
                .with("match_id", match_id.as_str())),
            };
        }
        if let Err(refusal) = self.check_proof((&match_id, game), attempt, referee, status, &report.result) {
            self.refuse_result(act, &match_id, attempt, referee, &refusal);
            return Err(refusal);
        }
        let moot = game.referee().filter(|current| *current != referee).cloned();
        let by = DecidedBy::Referee(referee.clone());
        self.decide(act, &match_id, attempt, status, Arc::clone(&report.result), by);
        self.acknowledge(act, asked, match_id.clone(), None);
        if let Some(current) = moot {
            self.tell_moot(act, Sender::Referee(current), &match_id);
        }
        self.advance(act);
        Ok(())
    }

    fn acknowledge(&self, act: &mut Act<'_>, asked: &Asked, match_id: MatchId, duplicate: Option<bool>) {
        self.reply(act, asked, MatchResultAck { match_id, status: AckStatus::Recorded, duplicate });
    }

    fn check_frame(&self, game: &Match, report: &MatchResultReport) -> Result<(), Refusal> {
        fn expect<T: PartialEq + fmt::Display>(path: &str, expected: &T, came: &T) -> Result<(), Refusal> {
            if expected == came {
                return Ok(());
            }
            Err(Refusal::new(ErrorCode::InvalidFormat, format!("{path}: expected {expected}, got {came}"))
                .with("path", path))
        }
        expect("round_id", &game.round_id, &report.round_id)?;
        expect("game_type", &self.league.settings.game_type, &report.game_type)
    }

    fn decide(
        &mut self,
        act: &mut Act<'_>,
        match_id: &MatchId,
        attempt: Attempt,
        status: GameStatus,
        result: Arc<MatchResult>,
        by: DecidedBy,
    ) {
        let event = LeagueEvent::MatchDecided { match_id: match_id.clone(), attempt, status, result, by };
        self.record(act, event);
        self.resting.remove(match_id);
        self.due.set(match_id, None);
        if self.standings_at.is_none() {
            self.standings_at = Some(act.now + self.league.settings.standings_pause);
        }
        self.suspend_the_absent(act, match_id);
    }

    /// Those who have now lost too many matches in a row without playing.
    fn suspend_the_absent(&mut self, act: &mut Act<'_>, match_id: &MatchId) {
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let limit = self.league.settings.suspend_after.max(1);
        for player in [game.a.clone(), game.b.clone()] {
            if self.league.players.get(&player).is_some_and(|known| known.streak >= limit) {
                self.suspend(act, Sender::Player(player), Suspicion::TechnicalLosses);
            }
        }
    }

    /// Decides a match that no referee has brought to its end: one point each, and nobody is to blame.
    pub(super) fn decide_unplayed(&mut self, act: &mut Act<'_>, match_id: &MatchId) {
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let (a, b, lost) = (game.a.clone(), game.b.clone(), game.lost.len());
        let attempt = game.attempt().unwrap_or(Attempt::FIRST);
        let score = ByPlayer::pair((a.clone(), POINTS_DRAW), (b.clone(), POINTS_DRAW));
        let reason =
            format!("no referee could play it: {lost} attempts came to nothing - the points are shared");
        let result = MatchResult {
            winner: None,
            score,
            details: ResultDetails::of(self.empty_details(a, b)),
            status: Some(GameStatus::Draw),
            reason: Some(reason.into()),
        };
        self.decide(act, match_id, attempt, GameStatus::Draw, Arc::new(result), DecidedBy::Manager);
    }

    /// What there is to tell of a match that was not played.
    fn empty_details(&self, a: PlayerId, b: PlayerId) -> GameDetails {
        match crate::game::find(&self.league.settings.game_type) {
            Some(entry) => (entry.new)().details(&[a, b]),
            None => GameDetails::Other(serde_json::Map::new()),
        }
    }

    /// Decides a match without play if one of its players is suspended or withdrawn.
    pub(super) fn forfeit_if_absent(&mut self, act: &mut Act<'_>, match_id: &MatchId) -> bool {
        let Some(game) = self.league.matches.get(match_id) else {
            return false;
        };
        let (a, b) = (game.a.clone(), game.b.clone());
        let gone = |player: &PlayerId| {
            self.league.players.get(player).and_then(|known| match known.withdrawn {
                true => Some(Cause::Withdrawn),
                false if known.revoked => Some(Cause::Revoked),
                false => known.is_suspended().then_some(Cause::Suspended),
            })
        };
        let causes = [(&a, gone(&a)), (&b, gone(&b))];
        let (winner, reason) = match causes.map(|(_, cause)| cause.map(Cause::words)) {
            [None, None] => return false,
            [Some(why), None] => (Some(b.clone()), format!("{a} {why} - {b} wins by default")),
            [None, Some(why)] => (Some(a.clone()), format!("{b} {why} - {a} wins by default")),
            [Some(one), Some(other)] => (None, format!("{a} {one} and {b} {other} - both lose")),
        };
        let blamed =
            |(player, cause): (&PlayerId, Option<Cause>)| Some((player.clone(), Blame::on_player(cause?)));
        let blame = Some(Box::new(causes.into_iter().filter_map(blamed).collect()));
        let points = |player: &PlayerId| {
            if winner.as_ref() == Some(player) { POINTS_WIN } else { 0 }
        };
        let score = ByPlayer::pair((a.clone(), points(&a)), (b.clone(), points(&b)));
        let status = GameStatus::TechnicalLoss;
        let game_details = self.empty_details(a, b);
        let attempt = game.attempt().unwrap_or(Attempt::FIRST);
        let result = MatchResult {
            winner,
            score,
            details: ResultDetails { blame, ..ResultDetails::of(game_details) },
            status: Some(status),
            reason: Some(reason.into()),
        };
        self.decide(act, match_id, attempt, status, Arc::new(result), DecidedBy::Manager);
        true
    }
}

/// Whether a report belongs to an attempt whose result the operator has struck.
fn is_struck(game: &Match, referee: &RefereeId, named: Option<Attempt>) -> bool {
    let mut struck = (1..).map(Attempt).zip(&game.attempts).take(game.struck);
    struck.any(|(attempt, to)| to == referee && Some(attempt) == named)
}

/// Which attempt at the match a referee reports: the one its conversation names, if that was given to it, or else the
/// latest that was. Attempts whose result was struck are no more.
fn attempt_of(game: &Match, referee: &RefereeId, named: Option<Attempt>) -> Option<Attempt> {
    let valid = || (1..).map(Attempt).zip(&game.attempts).skip(game.struck);
    let given = || {
        let own = valid().filter(|(_, to)| *to == referee).map(|(attempt, _)| attempt);
        own.filter(|attempt| !game.is_void(*attempt))
    };
    given().find(|attempt| Some(*attempt) == named).or_else(|| given().last())
}

/// Whether a result is one that the rules can bring about; gives its kind, which foreign referees do not always say.
fn check_result(game: &Match, result: &MatchResult) -> Result<GameStatus, Refusal> {
    let wrong = |path: &str, message: String| {
        Refusal::new(ErrorCode::InvalidFormat, format!("{path}: {message}")).with("path", path)
    };
    let (a, b) = (&game.a, &game.b);
    let score = &result.score;
    let (Some(&for_a), Some(&for_b), 2) = (score.get(a), score.get(b), score.len()) else {
        return Err(wrong(
            "result.score",
            format!("expected the points of {a} and of {b}, and of nobody else"),
        ));
    };
    let expected_winner = match (for_a, for_b) {
        (POINTS_WIN, 0) => Some(a),
        (0, POINTS_WIN) => Some(b),
        (POINTS_DRAW, POINTS_DRAW) | (0, 0) => None,
        _ => {
            let message = format!("expected 3-0, 0-3, 1-1 or 0-0, got {for_a}-{for_b}");
            return Err(wrong("result.score", message));
        }
    };
    if result.winner.as_ref() != expected_winner {
        let expected = expected_winner.map_or("null", PlayerId::as_str);
        let came = result.winner.as_ref().map_or("null", PlayerId::as_str);
        let message = format!("the score {for_a}-{for_b} makes it {expected}, got {came}");
        return Err(wrong("result.winner", message));
    }
    let fits = |status: GameStatus| match status {
        GameStatus::Win => expected_winner.is_some(),
        GameStatus::Draw => (for_a, for_b) == (POINTS_DRAW, POINTS_DRAW),
        GameStatus::TechnicalLoss => (for_a, for_b) != (POINTS_DRAW, POINTS_DRAW),
    };
    let status = result.status.unwrap_or_else(|| derive_status(result, for_a, for_b));
    if !fits(status) {
        return Err(wrong("result.status", format!("{status:?} does not go with the score {for_a}-{for_b}")));
    }
    check_blame(status, result)?;
    Ok(status)
}

/// A technical loss may say whose fault it is: those who lost, and nobody else. Where it was the referee's or that of the
/// machines, there is nothing to lose: the match is to be handed back.
fn check_blame(status: GameStatus, result: &MatchResult) -> Result<(), Refusal> {
    let Some(blame) = &result.details.blame else {
        return Ok(());
    };
    let wrong = |message: &str| {
        let path = "result.details.blame";
        Err(Refusal::new(ErrorCode::InvalidFormat, format!("{path}: {message}")).with("path", path))
    };
    if blame.iter().any(|(_, blame)| blame.culprit != Culprit::Player) {
        return wrong("a player loses by its own fault only; hand the match back by LEAGUE_ERROR E020");
    }
    let lost = |player| status == GameStatus::TechnicalLoss && result.winner.as_ref() != Some(player);
    let fits = result.score.iter().all(|(player, _)| lost(player) == blame.get(player).is_some());
    if !fits || blame.iter().any(|(player, _)| result.score.get(player).is_none()) {
        return wrong("expected those who lost without play, each once, and nobody else");
    }
    Ok(())
}

/// Nobody scored, or someone made no choice: that was no played match.
fn derive_status(result: &MatchResult, for_a: u32, for_b: u32) -> GameStatus {
    let silent = match &result.details.game {
        GameDetails::Parity(details) => details.choices.iter().any(|(_, choice)| choice.is_none()),
        GameDetails::Other(_) => false,
    };
    match (for_a, for_b) {
        (POINTS_DRAW, POINTS_DRAW) => GameStatus::Draw,
        (0, 0) => GameStatus::TechnicalLoss,
        _ if silent => GameStatus::TechnicalLoss,
        _ => GameStatus::Win,
    }
}
