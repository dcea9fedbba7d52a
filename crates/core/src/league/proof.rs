//! Verification of a report before it is recorded: the players' signatures, the commit-reveal draw, and a replay of the
//! moves. An invalid report costs the referee its attempt.

use super::cause::LossCause;
use super::fixture::Match;
use super::manager::{Ctx, Manager};
use super::request::RequestError;
use crate::fair::{self, Dice, MatchDraw, Scheme};
use crate::game::{self, Game, Outcome, Seat, Turn};
use crate::protocol::draw::Reveal;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{Culprit, DRAW_2, GameDetails, GameStatus, MatchResult};
use crate::signature::PublicKey;
use crate::signed_move::SignedMoves;
use serde_json::Value;

const FAIRNESS: &str = "result.details.fairness";
const TURN_LOG: &str = "result.details.turn_log";
const DETAILS: &str = "result.details";

fn invalid(path: &str, message: &str) -> RequestError {
    RequestError::new(ErrorCode::InvalidFormat, format!("{path}: {message}")).with("path", path)
}

/// The verification of the result of one attempt.
struct ResultCheck<'a> {
    draw: MatchDraw<'a>,
    players: [&'a PlayerId; 2],
    /// The players' public keys at the time of the assignment.
    keys: [Option<PublicKey>; 2],
    result: &'a MatchResult,
    technical: bool,
    /// Whether its referee is one of ours, whose details are exactly those that the rules give.
    bound: bool,
    /// The moves of A and B in each turn.
    turns: Vec<[Option<Value>; 2]>,
}

impl Manager {
    pub(super) fn check_proof(
        &self,
        (match_id, game): (&MatchId, &Match),
        attempt: Attempt,
        referee: &RefereeId,
        status: GameStatus,
        result: &MatchResult,
    ) -> Result<(), RequestError> {
        let settings = &self.league.settings;
        let entry = game::find(&settings.game_type);
        let known = self.league.referees.get(referee);
        let is_bound = known.is_some_and(|known| known.meta.has_capability(DRAW_2));
        let check = ResultCheck {
            draw: MatchDraw { scheme: Scheme::Draw2, league_id: &settings.league_id, match_id, attempt },
            players: [&game.a, &game.b],
            keys: game.keys.as_deref().copied().unwrap_or_default(),
            result,
            technical: status == GameStatus::TechnicalLoss,
            bound: is_bound,
            turns: turns(result, [&game.a, &game.b]),
        };
        let reveal = check.reveal(is_bound)?;
        let dice = match reveal {
            Some(reveal) => Some(check.check_reveal(reveal)?),
            None => None,
        };
        let is_told = result.details.turn_log.is_some();
        let is_parity = matches!(result.details.game, GameDetails::Parity(_));
        match entry {
            Some(entry) if is_told || is_parity && dice.is_some() => check.replay((entry.new)(), dice),
            Some(_) if is_bound && !is_parity && !check.technical => {
                Err(invalid(TURN_LOG, "expected every move of the match, got none"))
            }
            _ => Ok(()),
        }
    }

    /// The report was invalid: the match is replayed, by another referee if there is one.
    pub(super) fn reject_result(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        attempt: Attempt,
        referee: &RefereeId,
        error: &RequestError,
    ) {
        let game = self.league.matches.get(match_id);
        let is_its_own = game.is_some_and(|game| {
            game.in_play && game.referee() == Some(referee) && game.attempt() == Some(attempt)
        });
        // A foreign referee may have misreported a match that it played correctly.
        let known = self.league.referees.get(referee);
        if is_its_own && known.is_some_and(|known| known.meta.has_capability(DRAW_2)) {
            let reason = format!("its report was refused: {}", error.message);
            self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::Refused, &reason);
            self.advance(ctx);
        }
    }
}

/// The reported moves: the choices of even/odd, the turn log of any other game.
fn turns(result: &MatchResult, players: [&PlayerId; 2]) -> Vec<[Option<Value>; 2]> {
    match (&result.details.game, &result.details.turn_log) {
        (GameDetails::Parity(details), _) => {
            let choice = |id| details.choices.get(id).copied().flatten();
            vec![players.map(|id| choice(id).map(|choice| Value::from(choice.as_str())))]
        }
        (GameDetails::Other(_), Some(log)) => {
            log.iter().map(|turn| players.map(|id| turn.get(id).cloned())).collect()
        }
        (GameDetails::Other(_), None) => Vec::new(),
    }
}

impl<'a> ResultCheck<'a> {
    /// The reveal, or an error if a required one is missing.
    fn reveal(&self, is_bound: bool) -> Result<Option<&'a Reveal>, RequestError> {
        let has_signed = |seat: Seat| {
            seat.of(&self.keys).is_some() && self.turns.iter().any(|turn| seat.of(turn).is_some())
        };
        let is_drawn = !self.technical && matches!(self.result.details.game, GameDetails::Parity(_));
        let is_provable = is_drawn || Seat::BOTH.into_iter().any(has_signed);
        let scheme = Scheme::Draw2.name();
        match &self.result.details.fairness {
            None if is_bound && is_provable => {
                let message =
                    format!("expected the proof by {scheme}, which this referee has announced, got none");
                Err(invalid(FAIRNESS, &message))
            }
            Some(reveal) if is_bound && reveal.scheme != scheme => {
                let message =
                    format!("expected {scheme}, which this referee has announced, got {:?}", reveal.scheme);
                Err(invalid(&format!("{FAIRNESS}.scheme"), &message))
            }
            reveal => Ok(reveal.as_ref()),
        }
    }

    fn check_reveal(&self, reveal: &Reveal) -> Result<Dice, RequestError> {
        let [a, b] = self.players;
        let MatchDraw { league_id, match_id, attempt, .. } = self.draw;
        let dice = fair::verify(reveal, league_id, match_id, attempt, a, b)
            .map_err(|unfair| invalid(&format!("{FAIRNESS}.{}", unfair.field()), &unfair.to_string()))?;
        if reveal.scheme == Scheme::Draw2.name() {
            for seat in Seat::BOTH {
                self.check_signature(reveal, seat)?;
            }
        }
        Ok(dice)
    }

    /// Whether the player's signature covers its reported moves.
    fn check_signature(&self, reveal: &Reveal, seat: Seat) -> Result<(), RequestError> {
        let (player_id, opponent) = (*seat.of(&self.players), *seat.other().of(&self.players));
        let path = format!("{FAIRNESS}.signatures.{player_id}");
        let choices: Vec<&Value> = self.turns.iter().filter_map(|turn| seat.of(turn).as_ref()).collect();
        let (key, signature) = (seat.of(&self.keys), reveal.signature(player_id));
        let (key, signature) = match (key, signature) {
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err(invalid(&path, "this player has registered no key to sign with")),
            (Some(_), None) if choices.is_empty() => return Ok(()),
            (Some(_), Some(_)) if choices.is_empty() => {
                return Err(invalid(&path, "the player has signed a move, and is said to have made none"));
            }
            (Some(_), None) => {
                let message = "expected the signature of this player, which has registered a key, got none";
                return Err(invalid(&path, message));
            }
            (Some(key), Some(signature)) => (key, signature),
        };
        let (Some(nonce), Some(_)) = (reveal.nonces.get(player_id), reveal.nonce_commitment(player_id))
        else {
            let path = format!("{FAIRNESS}.nonce_commitments.{player_id}");
            return Err(invalid(&path, "expected what this player had bound itself to, got none"));
        };
        let moves = SignedMoves {
            draw: self.draw,
            player_id,
            commitment: &reveal.commitment,
            opponent_nonce: reveal.nonce_commitment(opponent),
            nonce,
            choices,
        };
        match moves.is_signed(key, signature) {
            true => Ok(()),
            false => Err(invalid(
                &path,
                "it is not the player's signature over these moves, this nonce and these commitments",
            )),
        }
    }

    /// Replays the match: it must end as the result says.
    fn replay(&self, mut game: Box<dyn Game>, mut dice: Option<Dice>) -> Result<(), RequestError> {
        for (number, turn) in (1..).zip(&self.turns) {
            let path = match self.result.details.game {
                GameDetails::Parity(_) => format!("{DETAILS}.choices"),
                GameDetails::Other(_) => format!("{TURN_LOG}[{}]", number - 1),
            };
            draw(&mut *game, &mut dice)?;
            let due = game.turn();
            for seat in Seat::BOTH {
                let is_due = due == Turn::Both || due == Turn::One(seat);
                let id = *seat.of(&self.players);
                match seat.of(turn) {
                    Some(_) if !is_due => return Err(invalid(&path, &format!("it is not the turn of {id}"))),
                    Some(made) => {
                        let illegal = |illegal| invalid(&path, &format!("{id}: {illegal}"));
                        game.play(seat, made).map_err(illegal)?;
                    }
                    None if is_due && !(self.technical && number == self.turns.len()) => {
                        return Err(invalid(
                            &path,
                            &format!("the move of {id} is missing, and the game went on"),
                        ));
                    }
                    None => {}
                }
            }
        }
        self.check_end(game, dice)
    }

    fn check_end(&self, mut game: Box<dyn Game>, mut dice: Option<Dice>) -> Result<(), RequestError> {
        if !self.technical {
            draw(&mut *game, &mut dice)?;
            let winner = match game.outcome() {
                Some(Outcome::Win(seat)) => Some(*seat.of(&self.players)),
                Some(Outcome::Draw) => None,
                None => return Err(invalid(DETAILS, "the moves do not lead to the end of the game")),
            };
            if self.result.winner.as_ref() != winner {
                let due = winner.map_or("nobody", PlayerId::as_str);
                return Err(invalid("result.winner", &format!("the moves and the draw make it {due}")));
            }
        }
        let told = serde_json::to_value(&self.result.details.game).ok();
        let due = serde_json::to_value(game.details(&self.players.map(Clone::clone))).ok();
        match told == due || !self.bound {
            true => Ok(()),
            false => {
                Err(invalid(DETAILS, "what is told of the game is not what its moves and its draw lead to"))
            }
        }
    }
}

fn draw(game: &mut dyn Game, dice: &mut Option<Dice>) -> Result<(), RequestError> {
    while game.turn() == Turn::Chance {
        let Some(dice) = dice else {
            return Err(invalid(FAIRNESS, "something was drawn, and the referee has not shown from what"));
        };
        game.chance(dice);
    }
    Ok(())
}
