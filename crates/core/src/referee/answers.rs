//! How players' answers find their matches: in the exchange that asked for them, or by a message of their own.

use super::complaint::Wrong;
use super::notices::refusal;
use super::one_match::{Match, Phase};
use super::side::Via;
use super::window::Debt;
use super::{Asked, Held, Referee, RefereeEvent};
use crate::agent::{Answer, CallId, Failure, Step};
use crate::game::Seat;
use crate::protocol::decode::Incoming;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::LeagueError;
use crate::protocol::{
    Body, ConversationId, Envelope, ErrorCode, MatchId, MessageType, PlayerId, Sender, Timestamp,
};

impl Referee {
    /// A call that asked a player has come to its end.
    pub(super) fn player_answered(
        &mut self,
        now: Timestamp,
        call: CallId,
        asked: &Asked,
        dialect: Dialect,
        answer: Answer,
        step: &mut Step<RefereeEvent>,
    ) {
        if matches!(answer, Answer::Message(_) | Answer::Received) {
            self.learn_dialect(now, asked, dialect, step);
        }
        let Some(ongoing) = self.playing.get_mut(&asked.match_id) else {
            return;
        };
        let Some(window) = ongoing.side(asked.seat).window().filter(|_| ongoing.turn == asked.turn) else {
            return;
        };
        // A late answer to an earlier try may still be right; only the present try can go wrong.
        let current = window.call == Some(call) && window.pause.is_none();
        let seat = asked.seat;
        let wrong = match answer {
            Answer::Undelivered(Failure::Forbidden) => {
                if current {
                    // A manager of another make takes nothing back, and to begin anew here would end the same way.
                    let taken_back = self.durable.identity().is_none_or(|identity| identity.match_tokens);
                    self.with(now, &asked.match_id, step, |ongoing, acts| {
                        ongoing.forbidden(now, seat, taken_back, acts);
                    });
                }
                return;
            }
            Answer::Undelivered(failure @ (Failure::NoConnection | Failure::NoRoute | Failure::Closed)) => {
                if current {
                    self.with(now, &asked.match_id, step, |ongoing, acts| {
                        ongoing.unreachable(now, seat, failure, acts);
                    });
                }
                return;
            }
            Answer::Undelivered(Failure::Ours) => {
                if current {
                    let why = "the referee's machine could not make the call".to_owned();
                    self.with(now, &asked.match_id, step, |ongoing, acts| {
                        ongoing.excuse(now, seat, why, acts);
                    });
                }
                return;
            }
            // The end of its time is what ends a try: until then the answer may come by itself.
            Answer::Undelivered(Failure::TimedOut) => return,
            Answer::Received => {
                ongoing.side_mut(seat).answers_apart = true;
                return;
            }
            Answer::Garbled(what) => {
                let message = format!("expected {}, got something unreadable: {what}", ongoing.owed());
                Some(Wrong::new(ErrorCode::InvalidFormat, message))
            }
            Answer::Message(Err(rejection)) => {
                let options = ongoing.game.request(seat).valid_options;
                Some(Wrong::unreadable(&rejection, options))
            }
            Answer::Message(Ok(incoming)) => {
                self.heed(now, &asked.match_id, seat, &incoming, Via::Exchange, step).err()
            }
        };
        if let Some(wrong) = wrong.filter(|_| current) {
            self.with(now, &asked.match_id, step, |ongoing, acts| ongoing.wrong(now, seat, wrong, acts));
        }
    }

    /// A player that understood another dialect than the one it was asked in is spoken to in that from now on, in later
    /// matches too: the manager may never learn of it.
    fn learn_dialect(
        &mut self,
        now: Timestamp,
        asked: &Asked,
        dialect: Dialect,
        step: &mut Step<RefereeEvent>,
    ) {
        let Some(ongoing) = self.playing.get_mut(&asked.match_id) else {
            return;
        };
        let told = ongoing.assignment.player(asked.seat).dialect;
        let side = ongoing.side_mut(asked.seat);
        if side.dialect != dialect {
            side.dialect = dialect;
            let endpoint = side.endpoint.clone();
            self.record(now, RefereeEvent::DialectLearned { endpoint, told, dialect }, step);
        }
    }

    /// Some players answer a GAME_ERROR with what they owe. Anything else they say to it means nothing.
    pub(super) fn notice_answered(
        &mut self,
        now: Timestamp,
        asked: &Asked,
        answer: Answer,
        step: &mut Step<RefereeEvent>,
    ) {
        let ongoing = self.playing.get_mut(&asked.match_id);
        let ongoing = ongoing.filter(|ongoing| ongoing.assignment.attempt == asked.attempt);
        if let Some(ongoing) = ongoing {
            let side = ongoing.side_mut(asked.seat);
            side.complaints = side.complaints.saturating_sub(1);
            if let Answer::Message(Ok(incoming)) = answer
                && ongoing.turn == asked.turn
            {
                self.heed(now, &asked.match_id, asked.seat, &incoming, Via::Exchange, step).ok();
            }
        }
        self.release_game_over(now, asked, step);
    }

    /// The one way for an answer into a match. What is owed no more is not taken twice.
    fn heed(
        &mut self,
        now: Timestamp,
        match_id: &MatchId,
        seat: Seat,
        incoming: &Incoming,
        via: Via,
        step: &mut Step<RefereeEvent>,
    ) -> Result<(), Wrong> {
        let conformance = self.settings.conformance;
        let outcome = self.with(now, match_id, step, |ongoing, acts| {
            let reply = ongoing.judge(seat, incoming, via, conformance)?;
            let departures = ongoing.departures(seat, incoming);
            // Before the answer is taken: it may complete the match, and its deviations belong to the result.
            let side = ongoing.side_mut(seat);
            side.note(&incoming.deviations);
            side.note(&departures);
            ongoing.take(now, seat, reply, acts)?;
            if let Ok(body) = &incoming.body {
                ongoing.side_mut(seat).last = Some((incoming.envelope.timestamp, body.clone()));
            }
            Ok(())
        });
        outcome.unwrap_or(Ok(()))
    }

    /// An answer by a message of its own.
    pub(super) fn separate_answer(
        &mut self,
        now: Timestamp,
        incoming: &Incoming,
        step: &mut Step<RefereeEvent>,
    ) -> Result<(), LeagueError> {
        let (match_id, seat) = match &incoming.body {
            Ok(body) => self.addressed(body)?,
            Err(rejection) => match self.place_of(&incoming.envelope) {
                Some(place) => place,
                None => return Err(LeagueError::from(rejection)),
            },
        };
        let conformance = self.settings.conformance;
        let Some(ongoing) = self.playing.get_mut(&match_id) else {
            return Ok(());
        };
        ongoing.admit(seat, &incoming.envelope, Via::Separate, conformance).map_err(league_error)?;
        if !ongoing.wants(seat, incoming)? {
            return Ok(());
        }
        let verdict = self.heed(now, &match_id, seat, incoming, Via::Separate, step);
        verdict.map_err(|wrong| {
            let told = league_error(wrong.clone());
            self.with(now, &match_id, step, |ongoing, acts| ongoing.wrong(now, seat, wrong, acts));
            told
        })
    }

    /// The match under way and the seat that an answer names.
    fn addressed(&self, body: &Body) -> Result<(MatchId, Seat), LeagueError> {
        let Some((match_id, player_id)) = names(body) else {
            return Err(refusal(ErrorCode::InvalidState, "this is not an answer of a player"));
        };
        let Some(ongoing) = self.playing.get(match_id) else {
            return Err(match self.durable.matches().get(match_id) {
                None => refusal(ErrorCode::MatchNotFound, format!("{match_id} is not played here")),
                Some(Held::Open { .. }) => {
                    refusal(ErrorCode::InvalidState, format!("{match_id} has not begun yet"))
                }
                Some(Held::Decided { .. } | Held::Settled { .. }) => {
                    refusal(ErrorCode::InvalidState, format!("{match_id} is over: the answer came too late"))
                }
            });
        };
        match ongoing.assignment.seat_of(player_id) {
            Some(seat) => Ok((match_id.clone(), seat)),
            None => {
                let message = format!("player_id: {player_id} does not play in {match_id}");
                Err(refusal(ErrorCode::TokenInvalid, message))
            }
        }
    }

    /// Where an answer belongs that could not be read: its envelope says who sent it, and in which conversation.
    fn place_of(&self, envelope: &Envelope) -> Option<(MatchId, Seat)> {
        let Sender::Player(player_id) = &envelope.sender else {
            return None;
        };
        let in_conversation = |id: &ConversationId| *id == envelope.conversation_id;
        self.playing.iter().find_map(|(match_id, ongoing)| {
            let seat = ongoing.assignment.seat_of(player_id)?;
            in_conversation(&ongoing.assignment.conversation_id).then(|| (match_id.clone(), seat))
        })
    }
}

impl Match {
    /// Whether a separate answer is one to what is owed now: not a copy of an earlier one, not too early, not too late.
    fn wants(&self, seat: Seat, incoming: &Incoming) -> Result<bool, LeagueError> {
        let side = self.side(seat);
        let copy = match (&side.last, &incoming.body) {
            (Some((at, last)), Ok(body)) => *at == incoming.envelope.timestamp && last == body,
            _ => false,
        };
        let joining = incoming.message_type == MessageType::GameJoinAck;
        match &side.debt {
            Debt::Forfeit(_) => {
                let message = format!("{} is forfeit: the answer came too late", self.assignment.match_id);
                Err(refusal(ErrorCode::InvalidState, message))
            }
            _ if copy || (joining && self.phase != Phase::WaitingForPlayers) => Ok(false),
            _ if !joining && self.phase == Phase::WaitingForPlayers => {
                let message =
                    format!("{} is still waiting for its players to join", self.assignment.match_id);
                Err(refusal(ErrorCode::InvalidState, message))
            }
            Debt::Clear => Ok(false),
            Debt::Owes(_) => Ok(true),
        }
    }
}

fn league_error(wrong: Wrong) -> LeagueError {
    LeagueError::new(wrong.code, wrong.message, None, Some(wrong.context))
}

fn names(body: &Body) -> Option<(&MatchId, &PlayerId)> {
    match body {
        Body::GameJoinAck(ack) => Some((&ack.match_id, &ack.player_id)),
        Body::ChooseParityResponse(choice) => Some((&choice.match_id, &choice.player_id)),
        Body::GameMoveResponse(made) => Some((&made.match_id, &made.player_id)),
        _ => None,
    }
}
