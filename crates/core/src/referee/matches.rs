//! Concurrent matches: when each begins, and the execution of their actions.

use super::event::Assignment;
use super::game_error::{ErrorNotice, game_error};
use super::one_match::{Action, OngoingMatch};
use super::{AssignedMatch, Ctx, PendingQuestion, Purpose, Referee, messages_out};
use crate::agent::{Answer, CallDeadline, Outgoing, Payload};
use crate::game::Seat;
use crate::outbox::{Delivery, Sent, Tries};
use crate::protocol::envelope::id_fits;
use crate::protocol::messages::{
    LeagueQuery, PLAYER_A_ENDPOINT, PLAYER_A_ID, PLAYER_B_ENDPOINT, PLAYER_B_ID,
};
use crate::protocol::{
    Body, ConversationId, Endpoint, Envelope, LeagueId, MatchId, Message, PlayerId, Query,
    QueryParams, Sender,
};
use crate::retry::Backoff;
use core::net::{Ipv4Addr, Ipv6Addr};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

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
            && !self
                .outbox
                .contains(|purpose| matches!(purpose, Purpose::LookUp(_)))
        {
            let league_id = assignment.league_id.clone();
            self.look_up(ctx, league_id, Query::Players);
        }
    }

    /// Asks the manager for endpoints. No source says where they stand, so all its lists are asked for.
    fn look_up(&mut self, ctx: &mut Ctx<'_>, league_id: LeagueId, query_type: Query) {
        let query = LeagueQuery {
            league_id,
            query_type,
            query_params: QueryParams::default(),
        };
        let tries = Tries::Forever(LOOK_UP_BACKOFF);
        self.send_to_manager(
            ctx,
            query.into(),
            "players",
            Purpose::LookUp(query_type),
            tries,
        );
    }

    /// What keeps matches from beginning, if the manager tells endpoints in no way that a referee could know.
    pub fn lacks_endpoints(&self) -> Option<String> {
        let unlisted: Vec<String> = self.unlisted.iter().map(ToString::to_string).collect();
        (!unlisted.is_empty()).then(|| {
            format!(
                "the manager does not say where {} can be called: it would have to put player_A_endpoint and \
                 player_B_endpoint into the announcement, or contact_endpoint of each player into its answer to \
                 LEAGUE_QUERY GET_PLAYERS",
                unlisted.join(", ")
            )
        })
    }

    /// Asks the manager without retries.
    pub(super) fn query_once(
        &mut self,
        ctx: &mut Ctx<'_>,
        league_id: LeagueId,
        query_type: Query,
        purpose: Purpose,
    ) {
        let query = LeagueQuery {
            league_id,
            query_type,
            query_params: QueryParams::default(),
        };
        self.send_to_manager(ctx, query.into(), "schedule", purpose, Tries::Once);
    }

    /// Sends to the manager.
    fn send_to_manager(
        &mut self,
        ctx: &mut Ctx<'_>,
        body: Body,
        about: &str,
        purpose: Purpose,
        tries: Tries,
    ) {
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
            tries,
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }

    /// The manager's answer to a query for endpoints.
    pub(super) fn on_endpoints(
        &mut self,
        ctx: &mut Ctx<'_>,
        sent: Box<Sent<Purpose>>,
        asked: Query,
        answer: Answer,
    ) {
        let is_answered = !matches!(answer, Answer::Undelivered(_));
        if let Answer::Message(Ok(incoming)) = answer
            && let Ok(Body::LeagueQueryResponse(response)) = incoming.body
            && let Some(data) = &response.data
        {
            self.queue.learn(endpoints_in(data).into_iter());
        }
        let is_ours = self
            .durable
            .identity()
            .is_some_and(|identity| identity.match_tokens);
        let mut unlisted = self.players_without_endpoint();
        if !unlisted.is_empty() && is_answered && !is_ours {
            if asked == Query::Players {
                // The next list is asked for at once.
                if let Some(league_id) = self.league_of_waiting() {
                    return self.look_up(ctx, league_id, Query::Schedule);
                }
            }
            let manager = &self.settings.manager;
            let usual = unlisted
                .iter()
                .filter_map(|player| Some((player.clone(), usual_endpoint(manager, player)?)));
            self.queue.learn(usual.collect::<Vec<_>>().into_iter());
            unlisted = self.players_without_endpoint();
        }
        // Matches with endpoints are queued now; the others are queried again.
        let missing = self.queue.without_endpoint();
        if !unlisted.is_empty() {
            // A delivery that is tried forever always has a next time.
            self.outbox.retry(ctx.now, sent).ok();
        }
        self.unlisted = if is_answered {
            unlisted
        } else {
            BTreeSet::new()
        };
        for match_id in missing {
            self.enqueue(ctx, &match_id);
        }
    }

    fn without_endpoints(&self) -> impl Iterator<Item = &Arc<Assignment>> {
        self.queue
            .without_endpoint()
            .into_iter()
            .filter_map(|match_id| self.durable.open(&match_id))
    }

    fn league_of_waiting(&self) -> Option<LeagueId> {
        self.without_endpoints()
            .next()
            .map(|assignment| assignment.league_id.clone())
    }

    /// The players of waiting matches that nobody has told the endpoint of.
    fn players_without_endpoint(&self) -> BTreeSet<PlayerId> {
        let seats = self
            .without_endpoints()
            .flat_map(|assignment| Seat::BOTH.map(|seat| (assignment, seat)));
        seats
            .filter(|(assignment, seat)| self.queue.endpoint(assignment, *seat).is_none())
            .map(|(assignment, seat)| assignment.player(seat).player_id.clone())
            .collect()
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
        let conformance = assignment.conformance.unwrap_or(self.settings.conformance);
        let begun = OngoingMatch::new(
            assignment,
            game,
            places,
            timing,
            conformance,
            self.key.as_ref(),
        );
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

/// The pauses between queries for endpoints.
const LOOK_UP_BACKOFF: Backoff = Backoff::Exponential {
    initial: Duration::from_secs(2),
    max: Duration::from_secs(60),
};

/// How deep the lists of a manager are searched.
const DEPTH_MAX: u32 = 6;

/// The players with their endpoints in the answer of a manager: a list of objects, a map by player, or matches with the
/// endpoints of both players.
fn endpoints_in(data: &Map<String, Value>) -> BTreeMap<PlayerId, Endpoint> {
    fn text<'v>(fields: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v str> {
        keys.iter().find_map(|key| fields.get(*key)?.as_str())
    }
    fn place(fields: &Map<String, Value>) -> Option<&str> {
        text(fields, &["contact_endpoint", "endpoint", "url"])
    }
    fn keep(found: &mut BTreeMap<PlayerId, Endpoint>, id: Option<&str>, at: Option<&str>) {
        let Some(id) = id.filter(|id| id_fits(id)) else {
            return;
        };
        if let Some(endpoint) = at.and_then(|at| Endpoint::parse(at).ok()) {
            found.insert(PlayerId::new(id), endpoint);
        }
    }
    fn search(fields: &Map<String, Value>, depth: u32, found: &mut BTreeMap<PlayerId, Endpoint>) {
        keep(found, text(fields, &["player_id", "id"]), place(fields));
        keep(
            found,
            text(fields, &PLAYER_A_ID),
            text(fields, &PLAYER_A_ENDPOINT),
        );
        keep(
            found,
            text(fields, &PLAYER_B_ID),
            text(fields, &PLAYER_B_ENDPOINT),
        );
        for map in ["players", "endpoints"] {
            let entries = fields.get(map).and_then(Value::as_object);
            for (id, listed) in entries.into_iter().flatten() {
                let at = listed.as_object().map_or(listed.as_str(), place);
                keep(found, Some(id), at);
            }
        }
        if depth < DEPTH_MAX {
            for value in fields.values() {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let objects = items.iter().chain([value]).filter_map(Value::as_object);
                objects.for_each(|fields| search(fields, depth + 1, found));
            }
        }
    }
    let mut found = BTreeMap::new();
    search(data, 0, &mut found);
    found
}

/// Where a player listens in a league on one machine as the system's documents lay it out: P03 at 8103.
fn usual_endpoint(manager: &Endpoint, player: &PlayerId) -> Option<Endpoint> {
    let number = player.number().filter(|number| (1..=99).contains(number))?;
    let is_here = manager.is_at(Ipv4Addr::LOCALHOST.into()) == Some(true)
        || manager.is_at(Ipv6Addr::LOCALHOST.into()) == Some(true);
    is_here.then(|| Endpoint::parse(&format!("http://localhost:{}/mcp", 8100 + number)).ok())?
}
