//! Consistency of a reported result: score, winner, status, blame and the details of even/odd.

use crate::league::fixture::Match;
use crate::league::request::RequestError;
use crate::league::settings::LeagueSettings;
use crate::league::standings::{POINTS_DRAW, POINTS_WIN};
use crate::protocol::decode::Conformance;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{
    Culprit, GameDetails, GameStatus, MatchResult, Parity, ParityDetails,
};
use std::fmt;

/// Checks a result; returns its status, which foreign referees do not always state.
pub(crate) fn check_result(
    settings: &LeagueSettings,
    fixture: &Match,
    result: &MatchResult,
) -> Result<GameStatus, RequestError> {
    let a = &fixture.a;
    let b = &fixture.b;
    let score = &result.score;
    let (Some(&for_a), Some(&for_b), 2) = (score.get(a), score.get(b), score.len()) else {
        return Err(invalid(
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
            return Err(invalid("result.score", message));
        }
    };
    if result.winner.as_ref() != expected_winner {
        let expected = expected_winner.map_or("null", PlayerId::as_str);
        let came = result.winner.as_ref().map_or("null", PlayerId::as_str);
        let message = format!("the score {for_a}-{for_b} means {expected}, got {came}");
        return Err(invalid("result.winner", message));
    }
    let fits = |status: GameStatus| match status {
        GameStatus::Win => expected_winner.is_some(),
        GameStatus::Draw => (for_a, for_b) == (POINTS_DRAW, POINTS_DRAW),
        GameStatus::TechnicalLoss => (for_a, for_b) != (POINTS_DRAW, POINTS_DRAW),
    };
    let status = result
        .status
        .unwrap_or_else(|| derive_status(result, for_a, for_b));
    if !fits(status) {
        return Err(invalid(
            "result.status",
            format!("{status:?} does not go with the score {for_a}-{for_b}"),
        ));
    }
    check_blame(status, result)?;
    // The moves of other games are replayed in `proof`.
    if let GameDetails::Parity(details) = &result.details.game {
        check_parity(settings, [a, b], status, result, details)?;
    }
    Ok(status)
}

fn invalid(path: &str, message: impl fmt::Display) -> RequestError {
    RequestError::new(ErrorCode::InvalidFormat, format!("{path}: {message}")).with("path", path)
}

/// Even/odd: a played match has a number and both choices, and the winner follows from them.
fn check_parity(
    settings: &LeagueSettings,
    players: [&PlayerId; 2],
    status: GameStatus,
    result: &MatchResult,
    details: &ParityDetails,
) -> Result<(), RequestError> {
    let ParityDetails {
        drawn_number,
        number_parity,
        choices,
    } = details;
    let [a, b] = players;
    if let Some((stranger, _)) = choices.iter().find(|(id, _)| !players.contains(id)) {
        let path = format!("result.details.choices.{stranger}");
        return Err(invalid(
            &path,
            format_args!("only {a} and {b} play this match"),
        ));
    }
    let drawn = drawn_number.map(Parity::of);
    if number_parity.is_some() && *number_parity != drawn {
        return Err(invalid(
            "result.details.number_parity",
            "expected the parity of drawn_number",
        ));
    }
    // A technical loss has no full details; and lenient conformance allows a referee to give none.
    let untold =
        settings.conformance == Conformance::Lenient && drawn.is_none() && choices.is_empty();
    if status == GameStatus::TechnicalLoss || untold {
        return Ok(());
    }
    let called = |player: &PlayerId| {
        choices.get(player).copied().flatten().ok_or_else(|| {
            let path = format!("result.details.choices.{player}");
            invalid(
                &path,
                "expected the choice of each player, since the match was played",
            )
        })
    };
    let for_a = called(a)?;
    let for_b = called(b)?;
    let Some(drawn) = drawn else {
        let expected = "expected a whole number from 1 to 10, since the match was played";
        return Err(invalid("result.details.drawn_number", expected));
    };
    let winner = match (for_a == drawn, for_b == drawn) {
        (true, false) => Some(a),
        (false, true) => Some(b),
        _ => None,
    };
    check_winner(
        winner,
        result,
        format_args!("the number is {drawn}, {a} chose {for_a} and {b} chose {for_b}"),
    )
}

fn check_winner(
    expected: Option<&PlayerId>,
    result: &MatchResult,
    because: fmt::Arguments<'_>,
) -> Result<(), RequestError> {
    let name = |player: Option<&PlayerId>| player.map_or("null", PlayerId::as_str).to_owned();
    match result.winner.as_ref() {
        winner if winner == expected => Ok(()),
        winner => {
            let message = format!(
                "expected {}, got {}: {because}",
                name(expected),
                name(winner)
            );
            Err(invalid("result.winner", message))
        }
    }
}

/// A technical loss may name its culprits: exactly the players that lost. If the fault is the referee's or the
/// infrastructure's, the match must be handed back instead.
fn check_blame(status: GameStatus, result: &MatchResult) -> Result<(), RequestError> {
    let Some(blame) = &result.details.blame else {
        return Ok(());
    };
    let invalid = |message: &str| Err(invalid("result.details.blame", message));
    if blame
        .iter()
        .any(|(_, blame)| blame.culprit != Culprit::Player)
    {
        return invalid(
            "a player loses by its own fault only; hand the match back by LEAGUE_ERROR E020",
        );
    }
    let lost =
        |player| status == GameStatus::TechnicalLoss && result.winner.as_ref() != Some(player);
    let fits = result
        .score
        .iter()
        .all(|(player, _)| lost(player) == blame.get(player).is_some());
    if !fits
        || blame
            .iter()
            .any(|(player, _)| result.score.get(player).is_none())
    {
        return invalid("expected those who lost without play, each once, and nobody else");
    }
    Ok(())
}

/// No points, or a missing choice, means a technical loss.
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
