//! Plays a match over from its moves: is each one that the rules allow, and do they end as the result says? Pure.
//!
//! Even/odd has no list of moves: `result` plays it over from its choices.

use super::result::{Played, name, winner_of};
use matchday_core::fair::{self, Dice};
use matchday_core::game;
use matchday_core::game::replay::Replay as Over;
use matchday_core::protocol::messages::{GameDetails, GameStatus, MatchResult};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    /// There was nothing to play over: the match is one of even/odd, or was decided without play.
    Nothing,
    /// Every move is legal, and the end is what they lead to.
    Agrees,
    /// The referee has not told the moves, or the game is not known here.
    Untold,
}

pub(super) fn check(
    played: &Played<'_>,
    status: GameStatus,
    result: &MatchResult,
) -> Result<Replay, String> {
    if matches!(result.details.game, GameDetails::Parity(_)) {
        return Ok(Replay::Nothing);
    }
    let technical = status == GameStatus::TechnicalLoss;
    let (turns, entry) = match (&result.details.turn_log, game::find(played.game_type)) {
        (Some(turns), Some(entry)) => (turns, entry),
        (None, _) if technical => return Ok(Replay::Nothing),
        _ => return Ok(Replay::Untold),
    };
    let mut replay = Over::new((entry.new)(), [played.a, played.b], dice(played, result)?);
    let last = turns.len();
    for (number, moves) in (1..).zip(turns) {
        let whole = replay
            .turn(moves)
            .map_err(|why| format!("turn {number}: {why}"))?;
        let is_cut_short = technical && number == last;
        if !(whole || is_cut_short) {
            return Err(format!(
                "turn {number}: a move is missing, but the game continued"
            ));
        }
    }
    end(played, replay, technical, result)?;
    Ok(Replay::Agrees)
}

/// What chance came from, where a referee has shown it.
fn dice(played: &Played<'_>, result: &MatchResult) -> Result<Option<Dice>, String> {
    let Played {
        league_id,
        match_id,
        attempt,
        a,
        b,
        ..
    } = *played;
    let proof = |reveal| fair::verify(reveal, league_id, match_id, attempt, a, b);
    result
        .details
        .fairness
        .as_ref()
        .map(proof)
        .transpose()
        .map_err(|unfair| unfair.to_string())
}

/// Whether the moves end as the result says, in the winner and in every detail.
fn end(
    played: &Played<'_>,
    mut replay: Over<'_>,
    technical: bool,
    result: &MatchResult,
) -> Result<(), String> {
    let winner = result.winner.as_ref();
    if !technical {
        let outcome = replay.outcome().map_err(|why| why.to_string())?;
        let outcome = outcome.ok_or("the moves do not lead to the end of the game")?;
        let expected = winner_of(played, outcome);
        if winner != expected {
            let came = name(winner);
            let due = name(expected);
            return Err(format!(
                "the recorded winner is {came}, but the moves give {due}"
            ));
        }
    }
    let value = |details: &GameDetails| serde_json::to_value(details).ok();
    if value(&result.details.game)
        != value(&replay.game.details(&[played.a.clone(), played.b.clone()]))
    {
        return Err("the recorded game does not follow from its moves".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::game::Seat;
    use matchday_core::protocol::messages::{ByPlayer, ResultDetails};
    use matchday_core::protocol::{Attempt, GameType, LeagueId, MatchId, PlayerId};
    use serde_json::{Value, json};

    /// A match of nim by these moves, as its referee would tell it, and then spoilt; what the check says of it.
    fn told(
        turns: Value,
        winner: Option<u32>,
        technical: bool,
        spoil: impl Fn(&mut MatchResult),
    ) -> Result<Replay, String> {
        let league_id = LeagueId::new("league");
        let match_id = MatchId::new("R1M1");
        let game_type = GameType::new("nim");
        let a = PlayerId::numbered(1);
        let b = PlayerId::numbered(2);
        let attempt = Attempt::FIRST;
        let played = Played {
            league_id: &league_id,
            game_type: &game_type,
            match_id: &match_id,
            attempt,
            a: &a,
            b: &b,
            keys: [None, None],
        };
        let turns: Vec<ByPlayer<Value>> = serde_json::from_value(turns).unwrap();
        let mut game = (game::find(&game_type).unwrap().new)();
        for turn in &turns {
            for (id, made) in turn.iter() {
                let _ = game.play(if *id == a { Seat::A } else { Seat::B }, made);
            }
        }
        let details = ResultDetails {
            turn_log: Some(turns),
            ..ResultDetails::of(game.details(&[a.clone(), b.clone()]))
        };
        let mut result = MatchResult {
            winner: winner.map(PlayerId::numbered),
            score: ByPlayer::pair((a.clone(), 3), (b.clone(), 0)),
            details,
            status: None,
            reason: None,
        };
        spoil(&mut result);
        let status = if technical {
            GameStatus::TechnicalLoss
        } else {
            GameStatus::Win
        };
        check(&played, status, &result)
    }

    fn whole() -> Value {
        json!([
            {"P01": {"heap": 3, "take": 7}},
            {"P02": {"heap": 2, "take": 5}},
            {"P01": {"heap": 1, "take": 3}},
        ])
    }

    #[test]
    fn a_match_that_was_played_by_the_rules_agrees() {
        assert_eq!(told(whole(), Some(1), false, |_| {}), Ok(Replay::Agrees));
        let cut = json!([{"P01": {"heap": 3, "take": 7}}, {}]);
        assert_eq!(told(cut, Some(1), true, |_| {}), Ok(Replay::Agrees));
        assert_eq!(
            told(whole(), Some(1), false, |result| result.details.turn_log =
                None),
            Ok(Replay::Untold)
        );
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_turn() {
        let with = |number: usize, turn: Value| {
            let mut turns = whole();
            turns[number] = turn;
            turns
        };
        for (turns, winner, why) in [
            (
                whole(),
                Some(2),
                "the recorded winner is P02, but the moves give P01",
            ),
            (
                whole(),
                None,
                "the recorded winner is nobody, but the moves give P01",
            ),
            (
                with(1, json!({"P01": {"heap": 2, "take": 5}})),
                Some(1),
                "turn 2: P01 plays",
            ),
            (
                with(1, json!({"P02": {"heap": 3, "take": 1}})),
                Some(1),
                "turn 2: P02: expected one of",
            ),
            (
                with(1, json!({})),
                Some(1),
                "turn 2: a move is missing, but the game continued",
            ),
            (
                with(2, json!({"P01": {"heap": 1, "take": 2}})),
                Some(1),
                "the moves do not lead to the end",
            ),
        ] {
            let error = told(turns.clone(), winner, false, |_| {}).unwrap_err();
            assert!(error.starts_with(why), "{error}\n{turns}");
        }
        let error = told(whole(), Some(1), false, |result| {
            result.details.game = GameDetails::Other(serde_json::Map::new());
        });
        assert_eq!(
            error,
            Err("the recorded game does not follow from its moves".into())
        );
    }
}
