//! Is a result one that the rules can bring about, and does its draw follow from what the referee was bound to? Pure. For
//! games of many moves see `moves`.

use matchday_core::fair;
use matchday_core::game::{self, Outcome, Seat, Turn};
use matchday_core::league::League;
use matchday_core::league::fixture::Match;
use matchday_core::protocol::messages::{Culprit, GameDetails, GameStatus, MatchResult, Parity};
use matchday_core::protocol::{Attempt, GameType, LeagueId, MatchId, PlayerId};
use matchday_core::referee::Assignment;
use matchday_core::signature::PublicKey;

/// One attempt at a match, by any log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played<'a> {
    pub(crate) league_id: &'a LeagueId,
    pub(crate) game_type: &'a GameType,
    pub(crate) match_id: &'a MatchId,
    pub(crate) attempt: Attempt,
    pub(crate) a: &'a PlayerId,
    pub(crate) b: &'a PlayerId,
    /// The public keys of A and B, of those that sign.
    pub(crate) keys: [Option<PublicKey>; 2],
}

impl<'a> Played<'a> {
    /// As the manager knows it.
    pub(crate) fn in_league(
        league: &'a League,
        match_id: &'a MatchId,
        game: &'a Match,
        attempt: Attempt,
    ) -> Self {
        let league_id = &league.settings.league_id;
        let game_type = &league.settings.game_type;
        let keys = game.keys.as_deref().copied().unwrap_or_default();
        Self {
            league_id,
            game_type,
            match_id,
            attempt,
            a: &game.a,
            b: &game.b,
            keys,
        }
    }

    /// As its referee knows it.
    pub(crate) fn as_assigned(assignment: &'a Assignment) -> Self {
        let Assignment {
            league_id,
            game_type,
            match_id,
            attempt,
            players: [a, b],
            ..
        } = assignment;
        let keys = [a.public_key, b.public_key];
        Self {
            league_id,
            game_type,
            match_id,
            attempt: *attempt,
            a: &a.player_id,
            b: &b.player_id,
            keys,
        }
    }
}

/// What is known of a match's chance.
pub(crate) enum Draw {
    /// There was none.
    None,
    Proven,
    Unproven,
}

pub(super) fn name(winner: Option<&PlayerId>) -> &str {
    winner.map_or("nobody", PlayerId::as_str)
}

/// 3-0 to the winner, 1-1 for a draw, 0-0 when both forfeit; and nothing else.
pub(super) fn check_score(
    game: &Played<'_>,
    status: GameStatus,
    result: &MatchResult,
) -> Result<(), String> {
    let a = game.a;
    let b = game.b;
    let (Some(for_a), Some(for_b), 2) =
        (result.score.get(a), result.score.get(b), result.score.len())
    else {
        return Err(format!("the score is not that of {a} and {b}"));
    };
    let points = (*for_a, *for_b);
    let winner = result.winner.as_ref();
    let expected = match (status, winner) {
        (GameStatus::Win | GameStatus::TechnicalLoss, Some(winner)) if winner == a => (3, 0),
        (GameStatus::Win | GameStatus::TechnicalLoss, Some(winner)) if winner == b => (0, 3),
        (GameStatus::Draw, None) => (1, 1),
        (GameStatus::TechnicalLoss, None) => (0, 0),
        _ => {
            return Err(format!(
                "{} cannot win a match of {a} and {b} by {status:?}",
                name(winner)
            ));
        }
    };
    if points != expected {
        let come = format!("{for_a}-{for_b}");
        let due = format!("{}-{}", expected.0, expected.1);
        return Err(format!(
            "the score is {come}, but {status:?} with the winner {} gives {due}",
            name(winner)
        ));
    }
    match result.status {
        Some(said) if said != status => {
            Err(format!("recorded as {status:?}, reported as {said:?}"))
        }
        _ => Ok(()),
    }
}

/// A player that lost without play is to blame, nobody else is, and nobody for another's fault. Referees of other makes do
/// not say.
pub(super) fn check_blame(
    game: &Played<'_>,
    status: GameStatus,
    result: &MatchResult,
) -> Result<(), String> {
    let Some(blame) = &result.details.blame else {
        return Ok(());
    };
    for player in [game.a, game.b] {
        let lost = status == GameStatus::TechnicalLoss && result.winner.as_ref() != Some(player);
        match blame.get(player) {
            None if lost => return Err(format!("{player} has a technical loss without a cause")),
            Some(_) if !lost => {
                return Err(format!(
                    "{player} has the cause of a technical loss, but no technical loss"
                ));
            }
            Some(blame) if blame.culprit != Culprit::Player => {
                return Err(format!(
                    "{player} lost by the fault of another: {}",
                    blame.culprit.name()
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the check of a draw comes to: `proven`, `unproven`, or why it is wrong; `None` if there was none.
pub(crate) fn proof(
    played: &Played<'_>,
    status: GameStatus,
    result: &MatchResult,
) -> Option<String> {
    match check_draw(played, status, result) {
        Ok(Draw::None) => None,
        Ok(Draw::Proven) => Some("proven".into()),
        Ok(Draw::Unproven) => Some("unproven".into()),
        Err(wrong) => Some(format!("wrong: {wrong}")),
    }
}

/// Plays even/odd over again from the choices and the reveal.
pub(crate) fn check_draw(
    played: &Played<'_>,
    status: GameStatus,
    result: &MatchResult,
) -> Result<Draw, String> {
    let Played {
        league_id,
        game_type,
        match_id,
        attempt,
        a,
        b,
        ..
    } = *played;
    let reveal = result.details.fairness.as_ref();
    let proof = reveal.map(|reveal| fair::verify(reveal, league_id, match_id, attempt, a, b));
    let mut dice = proof.transpose().map_err(|unfair| unfair.to_string())?;
    if status == GameStatus::TechnicalLoss || game_type.as_str() != "even_odd" {
        return Ok(Draw::None);
    }
    let GameDetails::Parity(details) = &result.details.game else {
        return Ok(Draw::Unproven);
    };
    // A foreign referee may have told less than happened: that proves nothing, for it or against it.
    let made = |player| details.choices.get(player).copied().flatten();
    let (Some(number), Some(choice_a), Some(choice_b)) = (details.drawn_number, made(a), made(b))
    else {
        return Ok(Draw::Unproven);
    };
    check_winner(
        played,
        [choice_a, choice_b],
        (number, details.number_parity),
        result.winner.as_ref(),
    )?;
    let Some(dice) = &mut dice else {
        return Ok(Draw::Unproven);
    };
    match replay(played, [choice_a, choice_b], dice) {
        Some((drawn, _)) if drawn != number => Err(format!(
            "the recorded number is {number}, but the revealed secret gives {drawn}"
        )),
        Some((_, outcome)) if winner_of(played, outcome) != result.winner.as_ref() => Err(format!(
            "{} has won by the rules",
            name(winner_of(played, outcome))
        )),
        Some(_) => Ok(Draw::Proven),
        None => Err("the game cannot be replayed from its record".into()),
    }
}

pub(super) fn winner_of<'a>(seats: &Played<'a>, outcome: Outcome) -> Option<&'a PlayerId> {
    match outcome {
        Outcome::Win(Seat::A) => Some(seats.a),
        Outcome::Win(Seat::B) => Some(seats.b),
        Outcome::Draw => None,
    }
}

/// Whether the choices and the number make the winner.
fn check_winner(
    seats: &Played<'_>,
    choices: [Parity; 2],
    (number, said): (u8, Option<Parity>),
    winner: Option<&PlayerId>,
) -> Result<(), String> {
    if !(1..=10).contains(&number) {
        return Err(format!("{number} cannot be drawn: numbers go from 1 to 10"));
    }
    let drawn = Parity::of(number);
    if said.is_some_and(|said| said != drawn) {
        return Err(format!("{number} is {drawn}"));
    }
    let expected = match choices.map(|choice| choice == drawn) {
        [true, false] => Some(seats.a),
        [false, true] => Some(seats.b),
        _ => None,
    };
    if winner == expected {
        return Ok(());
    }
    let came = name(winner);
    let due = name(expected);
    Err(format!(
        "the recorded winner is {came}, but the moves and the number {number} give {due}"
    ))
}

/// The number and the outcome when the recorded choices are played with these dice.
fn replay(
    seats: &Played<'_>,
    choices: [Parity; 2],
    dice: &mut fair::Dice,
) -> Option<(u8, Outcome)> {
    let mut game = (game::find(seats.game_type)?.new)();
    for (seat, choice) in Seat::BOTH.into_iter().zip(choices) {
        game.play(seat, &choice.as_str().into()).ok()?;
    }
    if game.turn() == Turn::Chance {
        game.chance(dice);
    }
    let players = [seats.a.clone(), seats.b.clone()];
    let GameDetails::Parity(replayed) = game.details(&players) else {
        return None;
    };
    Some((replayed.drawn_number?, game.outcome()?))
}
