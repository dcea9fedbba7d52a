//! Proofs of results: which matches need a referee that proves, and the check of a report before it is recorded (the players'
//! signatures, the commit-reveal draw, a replay of the moves). The manager and `matchday verify` share all of it.
//!
//! What binds a referee is that a player of the match has registered a key, if the league requires proofs; and what the
//! referee itself has announced. An invalid report costs the referee its attempt.

use super::League;
use crate::fair::{self, Dice, MatchDraw, SCHEME};
use crate::game::{self, Game, Outcome, Seat, Turn};
use crate::league::fixture::{Match, ResultProof};
use crate::league::member::Member;
use crate::league::request::RequestError;
use crate::league::settings::ProofRule;
use crate::protocol::draw::Reveal;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{
    DRAW_2, GameDetails, GameStatus, MatchResult, Phase, RefereeMeta, TURNS_TOLD_MAX,
};
use crate::signature::PublicKey;
use crate::signed_move::SignedMoves;
use serde_json::Value;

const FAIRNESS: &str = "result.details.fairness";
const TURN_LOG: &str = "result.details.turn_log";
const DETAILS: &str = "result.details";

/// Why a report is refused: what it says is not proven, or not so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct InvalidProof {
    path: String,
    message: String,
}

impl From<InvalidProof> for RequestError {
    fn from(invalid: InvalidProof) -> Self {
        Self::new(ErrorCode::InvalidFormat, invalid.to_string()).with("path", invalid.path)
    }
}

fn invalid(path: &str, message: impl Into<String>) -> InvalidProof {
    InvalidProof {
        path: path.to_owned(),
        message: message.into(),
    }
}

/// The verification of the result of one attempt.
struct ResultCheck<'a> {
    draw: MatchDraw<'a>,
    players: [&'a PlayerId; 2],
    /// The players' public keys at the time of the assignment.
    keys: [Option<PublicKey>; 2],
    result: &'a MatchResult,
    technical: bool,
    /// Why the draw and all moves must be proven, and the details be exactly those that the rules give, if they must.
    bound: Option<Bound>,
    /// Whether every move must be told where they must be proven.
    moves_told: bool,
    /// The moves of A and B in each turn.
    turns: Vec<[Option<Value>; 2]>,
}

/// Why a referee must prove a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// It has announced the capability.
    Announced,
    /// A player of the match has registered a key.
    ByKey,
}

impl Bound {
    /// After "expected the proof by matchday-draw-2, which ..".
    fn why(self) -> &'static str {
        match self {
            Self::Announced => "which this referee has announced",
            Self::ByKey => "which a player with a key is entitled to",
        }
    }
}

impl League {
    /// Whether the league, started now, requires proofs: if it may, and a referee could give them.
    pub fn can_require_proofs(&self) -> bool {
        let proves =
            |referee: &Member<RefereeMeta>| referee.is_in() && referee.meta.has_capability(DRAW_2);
        self.settings.proof == ProofRule::Required && self.referees.values().any(proves)
    }

    /// Whether only a referee that proves may run a match: one of its players has a key, and the league requires proofs.
    pub fn needs_prover(&self, fixture: &Match) -> bool {
        let has_key = |id| {
            self.players
                .get(id)
                .is_some_and(|player| player.meta.public_key.is_some())
        };
        self.proofs_required && (has_key(&fixture.a) || has_key(&fixture.b))
    }

    /// Whether a referee may run a match.
    pub fn may_run(&self, referee: &Member<RefereeMeta>, fixture: &Match) -> bool {
        referee.meta.has_capability(DRAW_2) || !self.needs_prover(fixture)
    }

    /// Whether a referee is given no match in which a player has a key.
    pub fn is_without_keyed_matches(&self, referee: &Member<RefereeMeta>) -> bool {
        self.proofs_required && !referee.meta.has_capability(DRAW_2)
    }

    /// How many matches that can be played now wait for a referee that proves, because there is none: all are suspended or
    /// revoked. They wait until one is back, or the operator allows results without proof.
    pub fn matches_awaiting_prover(&self) -> u32 {
        let is_there = |referee: &Member<RefereeMeta>| {
            referee.meta.has_capability(DRAW_2) && referee.is_available()
        };
        if self.phase != Phase::Running || self.referees.values().any(is_there) {
            return 0;
        }
        let waiting = self
            .awaited()
            .filter(|(_, fixture)| self.needs_prover(fixture))
            .count();
        u32::try_from(waiting).unwrap_or(u32::MAX)
    }

    /// How many of the results that stand are unproven, although a player in them had a key.
    pub fn results_unproven(&self) -> u32 {
        let decisions = self
            .matches
            .values()
            .filter_map(|fixture| fixture.decision.as_ref());
        let unproven = decisions
            .filter(|decision| decision.proof == ResultProof::Unproven)
            .count();
        u32::try_from(unproven).unwrap_or(u32::MAX)
    }

    /// Why a referee must prove its report, if it must.
    fn bound(&self, fixture: &Match, referee: &RefereeId) -> Option<Bound> {
        let known = self.referees.get(referee);
        match known.is_some_and(|known| known.meta.has_capability(DRAW_2)) {
            true => Some(Bound::Announced),
            // The keys of the assignment: one that was registered later must not make a report invalid.
            false => (self.proofs_required && fixture.keys.is_some()).then_some(Bound::ByKey),
        }
    }

    /// Checks the report of an attempt as the manager does before it records it: whether its result is proven, or why it is
    /// refused.
    pub fn check_proof(
        &self,
        (match_id, fixture): (&MatchId, &Match),
        attempt: Attempt,
        referee: &RefereeId,
        status: GameStatus,
        result: &MatchResult,
    ) -> Result<ResultProof, InvalidProof> {
        let settings = &self.settings;
        let players = [&fixture.a, &fixture.b];
        let check = |bound, moves_told| {
            let check = ResultCheck {
                draw: MatchDraw {
                    league_id: &settings.league_id,
                    match_id,
                    attempt,
                },
                players,
                keys: fixture.keys.as_deref().copied().unwrap_or_default(),
                result,
                technical: status == GameStatus::TechnicalLoss,
                bound,
                moves_told,
                turns: turns(result, players),
            };
            check.run(game::find(&settings.game_type).map(|entry| (entry.new)()))
        };
        let bound = self.bound(fixture, referee);
        // Nobody can prove that a player was silent, and without a key nobody has anything to prove with.
        if status == GameStatus::TechnicalLoss || fixture.keys.is_none() {
            return check(bound, self.tells_all_moves()).map(|()| ResultProof::Unprovable);
        }
        match check(bound.or(Some(Bound::ByKey)), true) {
            Ok(()) => Ok(ResultProof::Proven),
            Err(invalid) if bound.is_some() && self.tells_all_moves() => Err(invalid),
            Err(_) => check(bound, self.tells_all_moves()).map(|()| ResultProof::Unproven),
        }
    }

    /// Whether no match of the game is too long for its moves to be reported.
    fn tells_all_moves(&self) -> bool {
        let turns = self
            .settings
            .external_game
            .as_ref()
            .map_or(0, |game| game.turns_max);
        usize::try_from(turns).is_ok_and(|turns| turns <= TURNS_TOLD_MAX)
    }
}

/// The reported moves: the choices of even/odd, the turn log of any other game.
fn turns(result: &MatchResult, players: [&PlayerId; 2]) -> Vec<[Option<Value>; 2]> {
    match (&result.details.game, &result.details.turn_log) {
        (GameDetails::Parity(details), _) => {
            let choice = |id| details.choices.get(id).copied().flatten();
            vec![players.map(|id| choice(id).map(|choice| Value::from(choice.as_str())))]
        }
        (GameDetails::Other(_), Some(log)) => log
            .iter()
            .map(|turn| players.map(|id| turn.get(id).cloned()))
            .collect(),
        (GameDetails::Other(_), None) => Vec::new(),
    }
}

impl<'a> ResultCheck<'a> {
    /// `game` is a new match of a game whose rules are known here.
    fn run(&self, game: Option<Box<dyn Game>>) -> Result<(), InvalidProof> {
        let dice = match self.reveal()? {
            Some(reveal) => Some(self.check_reveal(reveal)?),
            None => None,
        };
        let is_told = self.result.details.turn_log.is_some();
        let is_parity = matches!(self.result.details.game, GameDetails::Parity(_));
        match game {
            Some(game) if is_told || is_parity && dice.is_some() => self.replay(game, dice),
            _ if is_told
                || is_parity
                || self.technical
                || self.bound.is_none()
                || !self.moves_told =>
            {
                Ok(())
            }
            _ => Err(invalid(
                TURN_LOG,
                "expected every move of the match, got none",
            )),
        }
    }

    /// The reveal, or an error if a required one is missing.
    fn reveal(&self) -> Result<Option<&'a Reveal>, InvalidProof> {
        let has_signed = |seat: Seat| {
            seat.of(&self.keys).is_some() && self.turns.iter().any(|turn| seat.of(turn).is_some())
        };
        let is_drawn =
            !self.technical && matches!(self.result.details.game, GameDetails::Parity(_));
        let is_provable = is_drawn || Seat::BOTH.into_iter().any(has_signed);
        let scheme = SCHEME;
        match (&self.result.details.fairness, self.bound) {
            (None, Some(bound)) if is_provable => {
                let message = format!("expected the proof by {scheme}, {}, got none", bound.why());
                Err(invalid(FAIRNESS, message))
            }
            (Some(reveal), Some(bound)) if reveal.scheme != scheme => {
                let message = format!(
                    "expected {scheme}, {}, got {:?}",
                    bound.why(),
                    reveal.scheme
                );
                Err(invalid(&format!("{FAIRNESS}.scheme"), message))
            }
            (reveal, _) => Ok(reveal.as_ref()),
        }
    }

    fn check_reveal(&self, reveal: &Reveal) -> Result<Dice, InvalidProof> {
        let [a, b] = self.players;
        let MatchDraw {
            league_id,
            match_id,
            attempt,
            ..
        } = self.draw;
        let dice = fair::verify(reveal, league_id, match_id, attempt, a, b).map_err(|unfair| {
            invalid(
                &format!("{FAIRNESS}.{}", unfair.field()),
                unfair.to_string(),
            )
        })?;
        if reveal.scheme == SCHEME {
            for seat in Seat::BOTH {
                self.check_signature(reveal, seat)?;
            }
        }
        Ok(dice)
    }

    /// Whether the player's signature covers its reported moves.
    fn check_signature(&self, reveal: &Reveal, seat: Seat) -> Result<(), InvalidProof> {
        let player_id = *seat.of(&self.players);
        let opponent = *seat.other().of(&self.players);
        let path = format!("{FAIRNESS}.signatures.{player_id}");
        let choices: Vec<&Value> = self
            .turns
            .iter()
            .filter_map(|turn| seat.of(turn).as_ref())
            .collect();
        let key = seat.of(&self.keys);
        let signature = reveal.signature(player_id);
        let (key, signature) = match (key, signature) {
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                return Err(invalid(
                    &path,
                    "this player has registered no key to sign with",
                ));
            }
            (Some(_), None) if choices.is_empty() => return Ok(()),
            (Some(_), Some(_)) if choices.is_empty() => {
                return Err(invalid(
                    &path,
                    "the player has signed a move, but the report says that it made none",
                ));
            }
            (Some(_), None) => {
                let message =
                    "expected the signature of this player, which has registered a key, got none";
                return Err(invalid(&path, message));
            }
            (Some(key), Some(signature)) => (key, signature),
        };
        let (Some(nonce), Some(_)) = (
            reveal.nonces.get(player_id),
            reveal.nonce_commitment(player_id),
        ) else {
            let path = format!("{FAIRNESS}.nonce_commitments.{player_id}");
            return Err(invalid(
                &path,
                "expected the commitment of this player, got none",
            ));
        };
        let moves = SignedMoves {
            draw: self.draw,
            player_id,
            commitment: &reveal.commitment,
            opponent_nonce: reveal.nonce_commitment(opponent),
            nonce,
            choices,
        };
        if moves.is_signed(key, signature) {
            Ok(())
        } else {
            Err(invalid(
                &path,
                "it is not the player's signature over these moves, this nonce and these commitments",
            ))
        }
    }

    /// Replays the match: it must end as the result says.
    fn replay(&self, mut game: Box<dyn Game>, mut dice: Option<Dice>) -> Result<(), InvalidProof> {
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
                    Some(_) if !is_due => {
                        return Err(invalid(&path, format!("it is not the turn of {id}")));
                    }
                    Some(made) => {
                        let illegal = |illegal| invalid(&path, format!("{id}: {illegal}"));
                        game.play(seat, made).map_err(illegal)?;
                    }
                    None if is_due && !(self.technical && number == self.turns.len()) => {
                        return Err(invalid(
                            &path,
                            format!("the move of {id} is missing, but the game continued"),
                        ));
                    }
                    None => {}
                }
            }
        }
        self.check_end(game, dice)
    }

    fn check_end(
        &self,
        mut game: Box<dyn Game>,
        mut dice: Option<Dice>,
    ) -> Result<(), InvalidProof> {
        if !self.technical {
            draw(&mut *game, &mut dice)?;
            let winner = match game.outcome() {
                Some(Outcome::Win(seat)) => Some(*seat.of(&self.players)),
                Some(Outcome::Draw) => None,
                None => {
                    return Err(invalid(
                        DETAILS,
                        "the moves do not lead to the end of the game",
                    ));
                }
            };
            if self.result.winner.as_ref() != winner {
                let due = winner.map_or("nobody", PlayerId::as_str);
                return Err(invalid(
                    "result.winner",
                    format!("the moves and the number give {due}"),
                ));
            }
        }
        let told = serde_json::to_value(&self.result.details.game).ok();
        let due = serde_json::to_value(game.details(&self.players.map(Clone::clone))).ok();
        if told == due || self.bound.is_none() {
            Ok(())
        } else {
            Err(invalid(
                DETAILS,
                "the reported game does not follow from its moves and its number",
            ))
        }
    }
}

fn draw(game: &mut dyn Game, dice: &mut Option<Dice>) -> Result<(), InvalidProof> {
    while game.turn() == Turn::Chance {
        let Some(dice) = dice else {
            return Err(invalid(
                FAIRNESS,
                "a number was drawn, but the referee has not revealed its secret",
            ));
        };
        game.chance(dice);
    }
    Ok(())
}
