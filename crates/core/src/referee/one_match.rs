//! The state machine of one match: its phase, and the answer awaited from each player. It returns actions and sends
//! nothing itself.

use super::event::Assignment;
use super::game_error::{AnswerError, ErrorNotice};
use super::side::Side;
use super::verdict;
use super::window::{AnswerState, Forfeit, Window};
use crate::agent::{CallId, ExternalId};
use crate::fair::Dice;
use crate::game::{Game, MoveMessage, Seat, Turn};
use crate::protocol::decode::Conformance;
use crate::protocol::dialect::Dialect;
use crate::protocol::draw::Commitment;
use crate::protocol::messages::{Blame, Cause, MatchResult};
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::protocol::{Endpoint, MessageType, Timestamp};
use crate::referee_statement::Statement;
use crate::signature::{Signature, SigningKey};
use crate::timing::Timing;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The states of a match. A game of several turns comes back to `CollectingChoices` for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    /// The invitations are out.
    WaitingForPlayers,
    /// The players who are to move have been asked.
    CollectingChoices,
    /// All moves of the turn are in, and chance is needed.
    DrawingNumber,
    /// The match has its result.
    Finished,
}

impl Phase {
    /// As `get_match_state` shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForPlayers => "WAITING_FOR_PLAYERS",
            Self::CollectingChoices => "COLLECTING_CHOICES",
            Self::DrawingNumber => "DRAWING_NUMBER",
            Self::Finished => "FINISHED",
        }
    }
}

/// What the referee has to do for a match.
#[derive(Debug)]
pub(super) enum Action {
    /// Ask the player for its answer.
    Ask(Seat),
    /// Ask the external rules for the position.
    AskRules,
    /// Send GAME_ERROR.
    SendGameError(Seat, ErrorNotice),
    /// The match is decided.
    Finish(Arc<MatchResult>),
    /// It cannot be played from here, without fault of the players; why.
    HandBack(String),
}

/// A player's answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlayerAnswer {
    Join {
        accept: bool,
        nonce_commitment: Option<NonceCommitment>,
    },
    Play {
        choice: Value,
        nonce: Option<Nonce>,
        signature: Option<Signature>,
    },
}

#[derive(Debug)]
pub(super) struct OngoingMatch {
    pub(super) assignment: Arc<Assignment>,
    pub(super) game: Box<dyn Game>,
    pub(super) phase: Phase,
    /// 0 while players are joining, then the number of the turn; answers to earlier questions do not count.
    pub(super) turn: u32,
    pub(super) sides: [Side; 2],
    pub(super) dice: Option<Dice>,
    /// The calls that asked players.
    pub(super) calls: Vec<CallId>,
    /// The commitment to the secret that the draw comes from.
    pub(super) commitment: Commitment,
    /// The referee's own signature over it, if it has a key.
    pub(super) commitment_signature: Option<Signature>,
    /// The moves of A and B in each turn.
    pub(super) plays: Vec<[Option<Value>; 2]>,
    /// The pending request to the external rules.
    pub(super) rules_request: Option<ExternalId>,
    pub(super) timing: Timing,
    /// How strictly answers are read.
    pub(super) conformance: Conformance,
}

impl OngoingMatch {
    /// `places` are the endpoints and dialects of A and B.
    pub(super) fn new(
        assignment: Arc<Assignment>,
        game: Box<dyn Game>,
        places: [(Endpoint, Dialect); 2],
        timing: Timing,
        conformance: Conformance,
        key: Option<&SigningKey>,
    ) -> Self {
        let commitment = assignment.commitment();
        let sign = |key| {
            assignment
                .attempt_ref()
                .sign(key, Statement::Commitment(&commitment))
        };
        Self {
            sides: places.map(|(endpoint, dialect)| Side::new(endpoint, dialect)),
            commitment_signature: key.map(sign),
            commitment,
            assignment,
            game,
            phase: Phase::WaitingForPlayers,
            turn: 0,
            dice: None,
            calls: Vec::new(),
            plays: Vec::new(),
            rules_request: None,
            timing,
            conformance,
        }
    }

    pub(super) fn side(&self, seat: Seat) -> &Side {
        seat.of(&self.sides)
    }

    pub(super) fn side_mut(&mut self, seat: Seat) -> &mut Side {
        seat.of_mut(&mut self.sides)
    }

    /// The message type that players are asked for now.
    pub(super) fn owed(&self) -> MessageType {
        match self.phase {
            Phase::WaitingForPlayers => MessageType::GameJoinAck,
            _ => match self.game.move_message() {
                MoveMessage::ChooseParity => MessageType::ChooseParityResponse,
                MoveMessage::GameMove => MessageType::GameMoveResponse,
            },
        }
    }

    /// The timeout of one try.
    pub(super) fn span(&self) -> Duration {
        match self.phase {
            Phase::WaitingForPlayers => self.timing.join,
            _ => self.timing.choice,
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.sides
            .iter()
            .filter_map(|side| Some(side.window()?.due()))
            .min()
    }

    /// Invites both players; or decides the match, if it is a forfeit.
    pub(super) fn begin(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let assignment = Arc::clone(&self.assignment);
        if assignment.forfeits.is_empty() {
            return self.ask(now, &Seat::BOTH, actions);
        }
        for (player, cause) in &assignment.forfeits {
            if let Some(seat) = assignment.seat_of(player) {
                let forfeit = Forfeit {
                    blame: Blame::on_player(*cause),
                    no_route: false,
                };
                self.side_mut(seat).answer_state = AnswerState::Forfeit(Box::new(forfeit));
            }
        }
        self.advance(now, actions);
    }

    /// The number of retries for a player that does not answer.
    pub(super) fn max_retries(&self) -> u32 {
        self.timing.retry.retries
    }

    /// How long a call to a player is kept open: until the next try begins, since an answer in the pause between two
    /// tries counts.
    pub(super) fn exchange_ends(&self, window: &Window) -> Timestamp {
        match self.timing.retry.pause(window.retries.saturating_add(1)) {
            Some(pause) => window.closes + pause,
            None => window.closes,
        }
    }

    /// Asks all of `seats` in the same step, so that neither has more time than the other.
    fn ask(&mut self, now: Timestamp, seats: &[Seat], actions: &mut Vec<Action>) {
        let closes = now + self.span();
        for seat in seats {
            self.side_mut(*seat).answer_state = AnswerState::Awaited(Window::open(now, closes));
            actions.push(Action::Ask(*seat));
        }
    }

    /// Takes a player's answer. The rules of the game may still reject it.
    pub(super) fn take(
        &mut self,
        now: Timestamp,
        seat: Seat,
        reply: PlayerAnswer,
        actions: &mut Vec<Action>,
    ) -> Result<(), AnswerError> {
        let owed = self.owed();
        let Some(window) = self.side(seat).window() else {
            return Ok(());
        };
        let since = window.since;
        let answer_state = match reply {
            PlayerAnswer::Join { accept: false, .. } => window.forfeit(now, Cause::Declined, owed),
            PlayerAnswer::Join {
                accept: true,
                nonce_commitment,
            } => {
                self.commit(seat, nonce_commitment)?;
                AnswerState::NotAwaited
            }
            PlayerAnswer::Play {
                choice,
                nonce,
                signature,
            } => {
                let nonce = nonce.filter(Nonce::fits);
                self.check_proof(seat, &choice, nonce.as_ref(), signature.as_ref())?;
                self.game.play(seat, &choice).map_err(AnswerError::from)?;
                if let Some(turn) = self.plays.last_mut() {
                    *seat.of_mut(turn) = Some(choice);
                }
                let side = self.side_mut(seat);
                // The first nonce counts, so that a player cannot redraw by sending another.
                side.nonce = side.nonce.take().or(nonce);
                side.signature = signature;
                side.moved(now.since(since));
                AnswerState::NotAwaited
            }
        };
        self.side_mut(seat).answer_state = answer_state;
        self.advance(now, actions);
        Ok(())
    }

    /// Takes the position from the external rules.
    pub(super) fn on_rules_result(
        &mut self,
        now: Timestamp,
        said: Value,
        actions: &mut Vec<Action>,
    ) -> Result<(), String> {
        self.rules_request = None;
        self.game.ruled(said)?;
        self.advance(now, actions);
        Ok(())
    }

    /// Advances when no answer is awaited. A forfeit alone does not end the match while the other player's answer is
    /// awaited.
    pub(super) fn advance(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if self.phase == Phase::Finished || self.sides.iter().any(|side| side.window().is_some()) {
            return;
        }
        if self
            .sides
            .iter()
            .all(|side| matches!(&side.answer_state, AnswerState::Forfeit(lost) if lost.no_route))
        {
            // No route to either player means that this referee is cut off.
            return self.hand_back("the referee could reach neither player".to_owned(), actions);
        }
        if self
            .sides
            .iter()
            .any(|side| matches!(side.answer_state, AnswerState::Forfeit(_)))
        {
            return self.finish(actions);
        }
        loop {
            match self.game.turn() {
                Turn::Both => return self.next_turn(now, &Seat::BOTH, actions),
                Turn::One(seat) => return self.next_turn(now, &[seat], actions),
                Turn::Chance => self.draw(),
                Turn::External => {
                    if self.rules_request.is_none() {
                        actions.push(Action::AskRules);
                    }
                    return;
                }
                Turn::Over => return self.finish(actions),
            }
        }
    }

    fn next_turn(&mut self, now: Timestamp, seats: &[Seat], actions: &mut Vec<Action>) {
        self.phase = Phase::CollectingChoices;
        self.turn = self.turn.saturating_add(1);
        self.plays.push([None, None]);
        self.ask(now, seats, actions);
    }

    fn draw(&mut self) {
        self.phase = Phase::DrawingNumber;
        let [a, b] = self.nonces();
        let assignment = &self.assignment;
        let dice = self
            .dice
            .get_or_insert_with(|| assignment.draw().dice(&assignment.secret, [&a, &b]));
        self.game.chance(dice);
    }

    fn finish(&mut self, actions: &mut Vec<Action>) {
        self.phase = Phase::Finished;
        actions.push(Action::Finish(Arc::new(verdict::of(self))));
    }
}
