//! Concurrent matches: when each begins, and the execution of their actions.

use super::game_error::{ErrorNotice, game_error};
use super::one_match::{Action, OngoingMatch};
use super::{AssignedMatch, Ctx, PendingQuestion, Purpose, Referee, messages_out};
use crate::agent::{Answer, CallDeadline, Outgoing, Payload};
use crate::game::Seat;
use crate::outbox::{Delivery, Sent, Tries};
use crate::protocol::messages::LeagueQuery;
use crate::protocol::{
    Body, ConversationId, Endpoint, Envelope, MatchId, Message, PlayerId, Query, QueryParams,
    Sender,
};
use serde_json::Value;

impl Referee {
    pub(super) fn has_room(&self) -> bool {
        let most =
            usize::try_from(self.settings.max_concurrent_matches.max(1)).unwrap_or(usize::MAX);
        self.playing.len() < most
    }

    /// Queues an open match, or queries the endpoints of its players first.
    pub(super) fn enqueue(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some(AssignedMatch::Open { order, assignment }) = self.durable.matches().get(match_id)
        else {
            return;
        };
        if !self.queue.put(match_id, *order, assignment)
            && !self.outbox.contains(|purpose| *purpose == Purpose::LookUp)
        {
            let query = LeagueQuery {
                league_id: assignment.league_id.clone(),
                query_type: Query::Players,
                query_params: QueryParams::default(),
            };
            self.send_to_manager(ctx, query.into(), "players", Purpose::LookUp);
        }
    }

    /// Sends to the manager, with retries until it answers.
    fn send_to_manager(&mut self, ctx: &mut Ctx<'_>, body: Body, about: &str, purpose: Purpose) {
        let name = self.name();
        let conversation =
            ConversationId::new(format!("conv-{}-{about}", name.as_str().to_lowercase()));
        let envelope = Envelope::new(Sender::Referee(name), ctx.now, conversation)
            .with_token(self.own_token());
        let delivery = Delivery {
            to: self.settings.manager.clone(),
            dialect: self.registration.dialect(),
            payload: Payload::Message(Message::new(envelope, body)),
            purpose,
            timeout: self.settings.timing.other,
            tries: Tries::Forever(self.settings.timing.retry.backoff),
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }

    /// The manager's answer to the query for endpoints.
    pub(super) fn on_endpoints(
        &mut self,
        ctx: &mut Ctx<'_>,
        sent: Box<Sent<Purpose>>,
        answer: Answer,
    ) {
        if let Answer::Message(Ok(incoming)) = answer
            && let Ok(Body::LeagueQueryResponse(response)) = incoming.body
        {
            let listed = response
                .data
                .as_ref()
                .and_then(|data| data.get("players")?.as_array());
            self.queue
                .learn(listed.into_iter().flatten().filter_map(read_listing));
        }
        // Matches with endpoints are queued now; the others are queried again.
        let missing = self.queue.without_endpoint();
        let has_endpoints = |match_id| {
            self.durable
                .open(match_id)
                .is_some_and(|open| self.queue.has_endpoints(open))
        };
        if !missing.iter().all(has_endpoints) {
            // A delivery that is tried forever always has a next time.
            self.outbox.retry(ctx.now, sent).ok();
        }
        for match_id in missing {
            self.enqueue(ctx, &match_id);
        }
    }

    /// Handles the deadlines of matches.
    pub(super) fn end_due_tries(&mut self, ctx: &mut Ctx<'_>) {
        let now = ctx.now;
        let mut due: Vec<_> = self.timers.due(now).cloned().collect();
        due.sort();
        for match_id in due {
            self.with(ctx, &match_id, |ongoing, actions| {
                ongoing.on_time(now, actions)
            });
        }
    }

    /// Begins queued matches that are due, within capacity.
    pub(super) fn begin_due(&mut self, ctx: &mut Ctx<'_>) {
        while self.has_room() {
            let Some(match_id) = self.queue.take_due(ctx.now) else {
                return;
            };
            self.begin(ctx, &match_id);
        }
    }

    fn begin(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let now = ctx.now;
        let Some(assignment) = self.durable.open(match_id).cloned() else {
            return;
        };
        let places = Seat::BOTH.map(|seat| self.queue.endpoint(&assignment, seat));
        let [Some(a), Some(b)] = places else {
            return;
        };
        let Some(game) = self.new_game(&assignment.game_type) else {
            return;
        };
        let [told_a, told_b] = assignment.players.each_ref().map(|player| player.dialect);
        let places = [(a, told_a), (b, told_b)]
            .map(|(at, told)| (at.clone(), self.durable.dialect(&at, told)));
        let timing = match &assignment.timeouts {
            Some(given) => self
                .settings
                .timing
                .assigned(given)
                .within(&self.settings.bounds),
            None => self.settings.timing,
        };
        let begun = OngoingMatch::new(assignment, game, places, timing, self.key.as_ref());
        self.playing.insert(match_id.clone(), Box::new(begun));
        self.with(ctx, match_id, |ongoing, actions| {
            ongoing.begin(now, actions)
        });
    }

    /// Changes a match, and executes the resulting actions.
    pub(super) fn with<T>(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        happen: impl FnOnce(&mut OngoingMatch, &mut Vec<Action>) -> T,
    ) -> Option<T> {
        let mut actions = Vec::new();
        let ongoing = self.playing.get_mut(match_id)?;
        let outcome = happen(ongoing, &mut actions);
        self.timers.set(match_id, ongoing.deadline());
        for action in actions {
            match action {
                Action::Ask(seat) => self.ask(ctx, match_id, seat),
                Action::AskRules => self.ask_rules(ctx, match_id),
                Action::SendGameError(seat, notice) => {
                    self.send_game_error(ctx, match_id, seat, notice)
                }
                Action::Finish(result) => self.decide(ctx, match_id, result),
                Action::HandBack(why) => self.hand_back(ctx, match_id, why),
            }
        }
        Some(outcome)
    }

    fn ask(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId, seat: Seat) {
        let name = self.name();
        let Some(ongoing) = self.playing.get_mut(match_id) else {
            return;
        };
        let call = self.outbox.next_call();
        let Some(window) = ongoing.side_mut(seat).window_mut() else {
            return;
        };
        window.call = Some(call);
        ongoing.calls.push(call);
        let Some(window) = ongoing.side(seat).window() else {
            return;
        };
        let closes = window.closes;
        let deadline = ongoing.exchange_ends(window);
        let assignment = &ongoing.assignment;
        let envelope = Envelope::new(
            Sender::Referee(name),
            ctx.now,
            assignment.conversation_id.clone(),
        )
        .with_token(Some(assignment.player(seat).shows.clone()));
        let side = ongoing.side(seat);
        ctx.step.outbox.push(Outgoing {
            call,
            to: side.endpoint.clone(),
            dialect: side.dialect,
            payload: Payload::Message(Message::new(
                envelope,
                messages_out::question(ongoing, seat, closes),
            )),
            deadline: CallDeadline::At(deadline),
        });
        let attempt = ongoing.assignment.attempt;
        let turn = ongoing.turn;
        self.pending_questions.insert(
            call,
            PendingQuestion {
                match_id: match_id.clone(),
                attempt,
                seat,
                turn,
            },
        );
    }

    /// Sends GAME_ERROR once, without retry: the next question matters more.
    fn send_game_error(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        seat: Seat,
        notice: ErrorNotice,
    ) {
        let name = self.name();
        let Some(ongoing) = self.playing.get_mut(match_id) else {
            return;
        };
        let side = ongoing.side_mut(seat);
        side.errors_in_flight = side.errors_in_flight.saturating_add(1);
        let assignment = &ongoing.assignment;
        let side = ongoing.side(seat);
        let body = game_error(assignment, seat, ongoing.max_retries(), notice);
        let envelope = Envelope::new(
            Sender::Referee(name),
            ctx.now,
            assignment.conversation_id.clone(),
        )
        .with_token(Some(assignment.player(seat).shows.clone()));
        let delivery = Delivery {
            to: side.endpoint.clone(),
            dialect: side.dialect,
            payload: Payload::Message(Message::new(envelope, body)),
            purpose: Purpose::Notice(PendingQuestion {
                match_id: match_id.clone(),
                attempt: assignment.attempt,
                seat,
                turn: ongoing.turn,
            }),
            timeout: self.settings.timing.other,
            tries: Tries::Once,
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }
}

/// A player and its endpoint, from a manager's GET_PLAYERS.
fn read_listing(listed: &Value) -> Option<(PlayerId, Endpoint)> {
    let text = |key: &str| listed.get(key).and_then(Value::as_str);
    let endpoint = text("contact_endpoint").or_else(|| text("endpoint"))?;
    Some((
        PlayerId::new(text("player_id")?),
        Endpoint::parse(endpoint).ok()?,
    ))
}
