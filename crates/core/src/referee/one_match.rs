//! One match: how far it has come and what each player owes. It is told what players answered and what time it is, and
//! says what is to be done; it sends nothing itself.

use super::complaint::{Complaint, Wrong};
use super::event::Assignment;
use super::side::Side;
use super::verdict;
use super::window::{Debt, Forfeit, Window};
use crate::agent::{CallId, Failure, InquiryId};
use crate::fair::{Commitment, Dice, Nonce, NonceCommitment};
use crate::game::{AskBy, Game, Seat, Turn};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{Blame, Cause, MatchResult, Seconds};
use crate::protocol::{Attempt, Endpoint, ErrorCode, MessageType, Timestamp};
use crate::signature::Signature;
use crate::timing::Timing;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The states of a match. A game of several turns comes back to `CollectingChoices` for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    WaitingForPlayers,
    CollectingChoices,
    DrawingNumber,
    Finished,
}

impl Phase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForPlayers => "WAITING_FOR_PLAYERS",
            Self::CollectingChoices => "COLLECTING_CHOICES",
            Self::DrawingNumber => "DRAWING_NUMBER",
            Self::Finished => "FINISHED",
        }
    }
}

/// A referee that notices the end of a try so much too late was stopped, or its clock was set: it may have missed what
/// came in time.
const OVERSLEPT: Duration = Duration::from_secs(2);

/// The attempt at which a referee that may not call a player no longer leaves the match to others.
const FORBIDDEN_AT_LAST: Attempt = Attempt(5);

/// What a match wants done.
#[derive(Debug)]
pub(super) enum Act {
    /// Ask the player for what it owes.
    Ask(Seat),
    /// Ask the rules outside where the match stands.
    Appeal,
    /// Tell the player what went wrong.
    Complain(Seat, Complaint),
    /// The match is decided.
    Finish(Arc<MatchResult>),
    /// It cannot be played from here, by no fault of the players; why.
    HandBack(String),
}

/// What a player can answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Join { accept: bool, nonce_commitment: Option<NonceCommitment> },
    Play { choice: Value, nonce: Option<Nonce>, signature: Option<Signature> },
}

#[derive(Debug)]
pub(super) struct Match {
    pub(super) assignment: Arc<Assignment>,
    pub(super) game: Box<dyn Game>,
    pub(super) phase: Phase,
    /// 0 while players are joining, then the number of the turn: an answer to an older question is none to this one.
    pub(super) turn: u32,
    pub(super) sides: [Side; 2],
    pub(super) dice: Option<Dice>,
    /// Every call that has asked a player something.
    pub(super) calls: Vec<CallId>,
    /// What the players are promised that chance will come from.
    pub(super) commitment: Commitment,
    /// What A and B have played in each turn.
    pub(super) plays: Vec<[Option<Value>; 2]>,
    /// What the rules outside have been asked, if they have not answered.
    pub(super) appeal: Option<InquiryId>,
    timing: Timing,
}

impl Match {
    /// `places`: where the players are and what they understand, in the order A, B.
    pub(super) fn new(
        assignment: Arc<Assignment>,
        game: Box<dyn Game>,
        places: [(Endpoint, Dialect); 2],
        timing: Timing,
    ) -> Self {
        Self {
            sides: places.map(|(endpoint, dialect)| Side::new(endpoint, dialect)),
            commitment: assignment.commitment(),
            assignment,
            game,
            phase: Phase::WaitingForPlayers,
            turn: 0,
            dice: None,
            calls: Vec::new(),
            plays: Vec::new(),
            appeal: None,
            timing,
        }
    }

    pub(super) fn side(&self, seat: Seat) -> &Side {
        seat.of(&self.sides)
    }

    pub(super) fn side_mut(&mut self, seat: Seat) -> &mut Side {
        seat.of_mut(&mut self.sides)
    }

    /// What a player is asked for at this point.
    pub(super) fn owed(&self) -> MessageType {
        match self.phase {
            Phase::WaitingForPlayers => MessageType::GameJoinAck,
            _ => match self.game.asks_by() {
                AskBy::Parity => MessageType::ChooseParityResponse,
                AskBy::Move => MessageType::GameMoveResponse,
            },
        }
    }

    /// How long one try to get what is owed lasts.
    pub(super) fn span(&self) -> Duration {
        match self.phase {
            Phase::WaitingForPlayers => self.timing.join,
            _ => self.timing.choice,
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.sides.iter().filter_map(|side| Some(side.window()?.due())).min()
    }

    /// Invites both players; or decides the match, if one of them has lost it already.
    pub(super) fn begin(&mut self, now: Timestamp, acts: &mut Vec<Act>) {
        let assignment = Arc::clone(&self.assignment);
        if assignment.forfeits.is_empty() {
            return self.ask(now, &Seat::BOTH, acts);
        }
        for (player, cause) in &assignment.forfeits {
            if let Some(seat) = assignment.seat_of(player) {
                let forfeit = Forfeit { blame: Blame::on_player(*cause), no_route: false };
                self.side_mut(seat).debt = Debt::Forfeit(Box::new(forfeit));
            }
        }
        self.settle(now, acts);
    }

    /// How often a player that does not answer is asked again.
    pub(super) fn max_retries(&self) -> u32 {
        self.timing.retry.retries
    }

    /// Until when the exchange that asks a player is kept open: beyond its try, until the player is asked anew, since an
    /// answer that comes in the pause between two tries counts.
    pub(super) fn exchange_ends(&self, window: &Window) -> Timestamp {
        match self.timing.retry.pause(window.retries.saturating_add(1)) {
            Some(pause) => window.closes + pause,
            None => window.closes,
        }
    }

    /// Asks all of `seats` at once. Both are asked in one breath, so that neither has more time than the other.
    fn ask(&mut self, now: Timestamp, seats: &[Seat], acts: &mut Vec<Act>) {
        let closes = now + self.span();
        for seat in seats {
            self.side_mut(*seat).debt = Debt::Owes(Window::open(now, closes));
            acts.push(Act::Ask(*seat));
        }
    }

    /// Lets time pass: tries end, and new ones begin.
    pub(super) fn lapse(&mut self, now: Timestamp, acts: &mut Vec<Act>) {
        let (closes, owed) = (now + self.span(), self.owed());
        for seat in Seat::BOTH {
            let side = self.side_mut(seat);
            let Some(window) = side.window_mut().filter(|window| window.due() <= now) else {
                continue;
            };
            let overslept = now.since(window.closes);
            if window.pause.is_some() {
                window.reopen(closes);
                acts.push(Act::Ask(seat));
            } else if now < window.closes {
                window.ask_again = None;
                acts.push(Act::Ask(seat));
            } else if overslept >= OVERSLEPT {
                let why = format!("the referee stood still for {} seconds", overslept.as_secs());
                self.excuse(now, seat, why, acts);
            } else if window.wrong.is_some() {
                side.debt = window.forfeit(now, Cause::Invalid, owed);
            } else {
                self.fail(now, seat, Failure::TimedOut, acts);
            }
        }
        self.settle(now, acts);
    }

    /// No connection to the player could be made, or it was closed without an answer.
    pub(super) fn unreachable(&mut self, now: Timestamp, seat: Seat, failure: Failure, acts: &mut Vec<Act>) {
        self.fail(now, seat, failure, acts);
        self.settle(now, acts);
    }

    /// Our own rules forbid us to call the player. Others may have other rules, so that the match is for another to run,
    /// until so many have had it that it must end some day.
    pub(super) fn forbidden(&mut self, now: Timestamp, seat: Seat, taken_back: bool, acts: &mut Vec<Act>) {
        if !taken_back || self.assignment.attempt >= FORBIDDEN_AT_LAST {
            return self.unreachable(now, seat, Failure::Forbidden, acts);
        }
        let player = &self.assignment.player(seat).player_id;
        let why = format!("the rules of the referee forbid it to call {player} (endpoint policy)");
        self.hand_back(why, acts);
    }

    /// The player was not asked, or not heard, by our own fault, which is not held against it: it is asked again after a
    /// pause. If that does not mend either, the match is for another to run.
    pub(super) fn excuse(&mut self, now: Timestamp, seat: Seat, why: String, acts: &mut Vec<Act>) {
        let policy = self.timing.retry;
        let Some(window) = self.side_mut(seat).window_mut() else {
            return;
        };
        window.our_faults = window.our_faults.saturating_add(1);
        window.excused = true;
        window.pause = policy.pause(window.our_faults).map(|pause| now + pause);
        if window.pause.is_none() {
            self.hand_back(why, acts);
        }
    }

    fn hand_back(&mut self, why: String, acts: &mut Vec<Act>) {
        if self.phase != Phase::Finished {
            self.phase = Phase::Finished;
            acts.push(Act::HandBack(why));
        }
    }

    /// A try has failed for want of an answer: there is another after a pause, or the match is forfeit.
    fn fail(&mut self, now: Timestamp, seat: Seat, failure: Failure, acts: &mut Vec<Act>) {
        let (policy, span) = (self.timing.retry, self.span());
        let (phase, owed) = (self.phase, self.owed());
        let side = seat.of_mut(&mut self.sides);
        let Debt::Owes(window) = &mut side.debt else {
            return;
        };
        let retry = window.retries.saturating_add(1);
        window.pause = policy.pause(retry).map(|pause| now + pause);
        let next = window.pause;
        let (cause, code, message, context) = match failure {
            Failure::Closed => (
                Cause::Unreachable,
                ErrorCode::Connection,
                format!("The connection to {} was closed without an answer.", side.endpoint.escaped()),
                ("endpoint", json!(side.endpoint)),
            ),
            Failure::NoConnection | Failure::NoRoute | Failure::Forbidden | Failure::Ours => (
                Cause::Unreachable,
                ErrorCode::Connection,
                format!("No connection to {}: is the agent listening there?", side.endpoint.escaped()),
                ("endpoint", json!(side.endpoint)),
            ),
            Failure::TimedOut => (
                Cause::Silent,
                ErrorCode::Timeout,
                format!("No {owed} came within {} seconds.", span.as_secs_f64()),
                ("timeout_sec", json!(Seconds::of(span))),
            ),
        };
        window.no_route &= failure == Failure::NoRoute;
        window.last = Some(format!("{code}: {message}"));
        if next.is_none() {
            side.debt = window.forfeit(now, cause, owed);
        }
        acts.push(Act::Complain(
            seat,
            Complaint {
                wrong: Wrong { code, message, context: Map::from_iter([(context.0.to_owned(), context.1)]) },
                phase,
                owed,
                retry_count: retry.min(policy.retries),
                retryable: next.is_some(),
                next_retry_at: next,
                time_remaining: None,
                consequence: match next {
                    Some(_) => "Technical loss if max retries exceeded",
                    None => "Technical loss",
                },
            },
        ));
    }

    /// Something came that is no answer: the player is told so at once, and asked again a little later in what is left of
    /// its time.
    pub(super) fn wrong(&mut self, now: Timestamp, seat: Seat, wrong: Wrong, acts: &mut Vec<Act>) {
        let most = self.timing.retry.retries;
        let (phase, owed) = (self.phase, self.owed());
        let Some(window) = self.side_mut(seat).window_mut().filter(|window| window.pause.is_none()) else {
            return;
        };
        window.wrong = Some(match wrong.message.starts_with(wrong.code.code()) {
            true => wrong.message.clone(),
            false => format!("{}: {}", wrong.code, wrong.message),
        });
        window.no_route = false;
        window.plan_to_ask_again(now);
        let complaint = Complaint {
            wrong,
            phase,
            owed,
            retry_count: window.wrong_answers.min(most),
            // Whatever comes before the window closes counts, whether the player is asked once more or not.
            retryable: true,
            next_retry_at: None,
            time_remaining: Some(window.closes.since(now)),
            consequence: match phase {
                Phase::WaitingForPlayers => "Technical loss if valid answer not received before timeout",
                _ => "Technical loss if valid choice not received before timeout",
            },
        };
        acts.push(Act::Complain(seat, complaint));
    }

    /// Takes a player's answer. The rules of the game may still refuse it.
    pub(super) fn take(
        &mut self,
        now: Timestamp,
        seat: Seat,
        reply: Reply,
        acts: &mut Vec<Act>,
    ) -> Result<(), Wrong> {
        let owed = self.owed();
        let Some(window) = self.side(seat).window() else {
            return Ok(());
        };
        let since = window.since;
        let debt = match reply {
            Reply::Join { accept: false, .. } => window.forfeit(now, Cause::Declined, owed),
            Reply::Join { accept: true, nonce_commitment } => {
                self.commit(seat, nonce_commitment)?;
                Debt::Clear
            }
            Reply::Play { choice, nonce, signature } => {
                let nonce = nonce.filter(Nonce::fits);
                self.believe_proof(seat, &choice, nonce.as_ref(), signature.as_ref())?;
                self.game.play(seat, &choice).map_err(Wrong::from)?;
                if let Some(turn) = self.plays.last_mut() {
                    *seat.of_mut(turn) = Some(choice);
                }
                let side = self.side_mut(seat);
                // The first nonce stands: a player may not redraw by sending another.
                side.nonce = side.nonce.take().or(nonce);
                side.signature = signature;
                side.moved(now.since(since));
                Debt::Clear
            }
        };
        self.side_mut(seat).debt = debt;
        self.settle(now, acts);
        Ok(())
    }

    /// The rules outside say where the match stands.
    pub(super) fn ruled(&mut self, now: Timestamp, said: Value, acts: &mut Vec<Act>) -> Result<(), String> {
        self.appeal = None;
        self.game.ruled(said)?;
        self.settle(now, acts);
        Ok(())
    }

    /// Goes on when nobody owes anything. A forfeit alone does not end the match: the other player's fate must be known.
    fn settle(&mut self, now: Timestamp, acts: &mut Vec<Act>) {
        if self.phase == Phase::Finished || self.sides.iter().any(|side| side.window().is_some()) {
            return;
        }
        if self.sides.iter().all(|side| matches!(&side.debt, Debt::Forfeit(lost) if lost.no_route)) {
            // Two players at once without a way to either: it is we who are cut off.
            return self.hand_back("the referee found no way to either player".to_owned(), acts);
        }
        if self.sides.iter().any(|side| matches!(side.debt, Debt::Forfeit(_))) {
            return self.finish(acts);
        }
        loop {
            match self.game.turn() {
                Turn::Both => return self.next_turn(now, &Seat::BOTH, acts),
                Turn::One(seat) => return self.next_turn(now, &[seat], acts),
                Turn::Chance => self.draw(),
                Turn::Outside => {
                    if self.appeal.is_none() {
                        acts.push(Act::Appeal);
                    }
                    return;
                }
                Turn::Over => return self.finish(acts),
            }
        }
    }

    fn next_turn(&mut self, now: Timestamp, seats: &[Seat], acts: &mut Vec<Act>) {
        self.phase = Phase::CollectingChoices;
        self.turn = self.turn.saturating_add(1);
        self.plays.push([None, None]);
        self.ask(now, seats, acts);
    }

    fn draw(&mut self) {
        self.phase = Phase::DrawingNumber;
        let [a, b] = self.nonces();
        let assignment = &self.assignment;
        let dice = self.dice.get_or_insert_with(|| assignment.draw().dice(&assignment.secret, [&a, &b]));
        self.game.chance(dice);
    }

    fn finish(&mut self, acts: &mut Vec<Act>) {
        self.phase = Phase::Finished;
        acts.push(Act::Finish(Arc::new(verdict::of(self))));
    }
}
