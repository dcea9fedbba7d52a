//! Taking results: from the right referee, once, and only such as the rules allow.

use super::event::{DecidedBy, LeagueEvent, Suspicion};
use super::fixture::Match;
use super::manager::{Act, Asked, Manager, Refusal};
use super::result_check;
use super::standings::{POINTS_DRAW, POINTS_WIN};
use crate::protocol::Sender;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{
    AckStatus, Blame, ByPlayer, Cause, GameDetails, GameStatus, MatchResult, MatchResultAck,
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
        let checked = result_check::check(&self.league.settings, game, &report.result);
        if let Some(decision) = &game.decision {
            checked?;
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
        let checked = checked.and_then(|status| {
            check_forfeits(game, attempt, &report.result)?;
            self.check_proof((&match_id, game), attempt, referee, status, &report.result)?;
            Ok(status)
        });
        let status = match checked {
            Ok(status) => status,
            Err(refusal) => {
                self.refuse_result(act, &match_id, attempt, referee, &refusal);
                return Err(refusal);
            }
        };
        let moot = game.referee().filter(|current| *current != referee).cloned().zip(game.attempt());
        let by = DecidedBy::Referee(referee.clone());
        self.decide(act, &match_id, attempt, status, Arc::clone(&report.result), by);
        self.acknowledge(act, asked, match_id.clone(), None);
        if let Some((current, attempt)) = moot {
            self.tell_moot(act, Sender::Referee(current), &match_id, attempt);
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

    /// Who loses a match without play, and why: players that are suspended, withdrawn, or have no token any more.
    pub(super) fn forfeits_of(&self, match_id: &MatchId) -> Vec<(PlayerId, Cause)> {
        let gone = |player: &PlayerId| {
            self.league.players.get(player).and_then(|known| match known.withdrawn {
                true => Some(Cause::Withdrawn),
                false if known.revoked => Some(Cause::Revoked),
                false => known.is_suspended().then_some(Cause::Suspended),
            })
        };
        let game = self.league.matches.get(match_id);
        let players = game.into_iter().flat_map(|game| [&game.a, &game.b]);
        players.filter_map(|player| Some((player.clone(), gone(player)?))).collect()
    }

    /// Decides a match without play, and without a referee that could tell its players.
    pub(super) fn forfeit(&mut self, act: &mut Act<'_>, match_id: &MatchId, forfeits: &[(PlayerId, Cause)]) {
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let (a, b) = (game.a.clone(), game.b.clone());
        let cause_of = |player: &PlayerId| forfeits.iter().find(|(id, _)| id == player).map(|(_, why)| *why);
        let (winner, reason) = match [cause_of(&a), cause_of(&b)].map(|cause| cause.map(Cause::words)) {
            [None, None] => return,
            [Some(why), None] => (Some(b.clone()), format!("{a} {why} - {b} wins by default")),
            [None, Some(why)] => (Some(a.clone()), format!("{b} {why} - {a} wins by default")),
            [Some(one), Some(other)] => (None, format!("{a} {one} and {b} {other} - both lose")),
        };
        let blame = forfeits.iter().map(|(player, cause)| (player.clone(), Blame::on_player(*cause)));
        let blame = Some(Box::new(blame.collect()));
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
    }
}

/// A match that was given out to be decided without play has the result that was asked for, and no other.
fn check_forfeits(game: &Match, attempt: Attempt, result: &MatchResult) -> Result<(), Refusal> {
    if game.forfeits.is_empty() || game.attempt() != Some(attempt) {
        return Ok(());
    }
    let loses = |player: &PlayerId| game.forfeits.iter().any(|(id, _)| id == player);
    let expected = [&game.a, &game.b].into_iter().find(|player| !loses(player));
    if result.status == Some(GameStatus::TechnicalLoss) && result.winner.as_ref() == expected {
        return Ok(());
    }
    let winner = expected.map_or("nobody", |player| player.as_str());
    let message = format!("result: expected a technical loss that {winner} wins, as the match was given out");
    Err(Refusal::new(ErrorCode::InvalidFormat, message).with("path", "result"))
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
