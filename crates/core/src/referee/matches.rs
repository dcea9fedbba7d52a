//! Many matches at once: when each begins, and carrying out what they want done.

use super::complaint::{Complaint, game_error};
use super::one_match::{Act, Match};
use super::{Asked, Purpose, Referee, RefereeEvent, asks};
use crate::agent::{Answer, Outgoing, Parcel, Step};
use crate::game::Seat;
use crate::post::{Errand, Sent, Tries};
use crate::protocol::messages::{LeagueQuery, QueryParams, QueryType};
use crate::protocol::{
    Body, ConversationId, Endpoint, Envelope, MatchId, Message, PlayerId, Sender, Timestamp,
};
use crate::referee::{Assignment, Held};
use serde_json::Value;

impl Referee {
    pub(super) fn has_room(&self) -> bool {
        let most = usize::try_from(self.settings.max_concurrent_matches.max(1)).unwrap_or(usize::MAX);
        self.playing.len() < most
    }

    /// Where a player of a match is, by its assignment or by what the manager said when asked.
    fn endpoint(&self, assignment: &Assignment, seat: Seat) -> Option<Endpoint> {
        let player = assignment.player(seat);
        player.endpoint.clone().or_else(|| self.directory.get(&player.player_id).cloned())
    }

    fn is_located(&self, assignment: &Assignment) -> bool {
        Seat::BOTH.iter().all(|seat| self.endpoint(assignment, *seat).is_some())
    }

    /// Puts an open match in line, or asks first where its players are.
    pub(super) fn line_up(&mut self, now: Timestamp, match_id: &MatchId, step: &mut Step<RefereeEvent>) {
        let Some(Held::Open { order, assignment }) = self.durable.matches().get(match_id) else {
            return;
        };
        let place = (assignment.starts_at, *order, match_id.clone());
        if self.is_located(assignment) {
            self.unlocated.remove(match_id);
            self.queue.insert(place);
        } else {
            let league_id = assignment.league_id.clone();
            self.unlocated.insert(match_id.clone());
            if !self.post.carries(|purpose| *purpose == Purpose::LookUp) {
                let query = LeagueQuery {
                    league_id,
                    query_type: QueryType::GetPlayers,
                    query_params: QueryParams::default(),
                };
                self.send_to_manager(now, query.into(), "players", Purpose::LookUp, step);
            }
        }
    }

    /// To the manager, again and again until it answers.
    fn send_to_manager(
        &mut self,
        now: Timestamp,
        body: Body,
        about: &str,
        purpose: Purpose,
        step: &mut Step<RefereeEvent>,
    ) {
        let name = self.name();
        let conversation = ConversationId::new(format!("conv-{}-{about}", name.as_str().to_lowercase()));
        let envelope = Envelope::new(Sender::Referee(name), now, conversation).with_token(self.own_token());
        let errand = Errand {
            to: self.settings.manager.clone(),
            dialect: self.manager_dialect,
            parcel: Parcel::Message(Message::new(envelope, body)),
            purpose,
            timeout: self.settings.timing.other,
            tries: Tries::Forever(self.settings.timing.retry.backoff),
        };
        self.post.send(now, errand, &mut step.outbox);
    }

    /// The manager's answer to the question where players are.
    pub(super) fn located(
        &mut self,
        now: Timestamp,
        sent: Box<Sent<Purpose>>,
        answer: Answer,
        step: &mut Step<RefereeEvent>,
    ) {
        if let Answer::Message(Ok(incoming)) = answer
            && let Ok(Body::LeagueQueryResponse(response)) = incoming.body
        {
            let listed = response.data.as_ref().and_then(|data| data.get("players")?.as_array());
            self.directory.extend(listed.into_iter().flatten().filter_map(read_listing));
        }
        // The queue may now take them; whichever are still missing are asked for again.
        let missing: Vec<_> = self.unlocated.iter().cloned().collect();
        let left = missing
            .iter()
            .filter(|match_id| !self.durable.open(match_id).is_some_and(|open| self.is_located(open)));
        if left.count() > 0 {
            // An errand that is tried forever always has a next time.
            self.post.again(now, sent).ok();
        }
        for match_id in missing {
            self.line_up(now, &match_id, step);
        }
    }

    /// Ends and renews tries whose time has come.
    pub(super) fn pass_time(&mut self, now: Timestamp, step: &mut Step<RefereeEvent>) {
        let mut due: Vec<_> = self.alarms.due(now).cloned().collect();
        due.sort();
        for match_id in due {
            self.with(now, &match_id, step, |ongoing, acts| ongoing.lapse(now, acts));
        }
    }

    /// Begins as many of the waiting matches as there is time and room for.
    pub(super) fn begin_due(&mut self, now: Timestamp, step: &mut Step<RefereeEvent>) {
        while self.has_room() && self.queue.first().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, _, match_id)) = self.queue.pop_first() else {
                return;
            };
            self.begin(now, &match_id, step);
        }
    }

    fn begin(&mut self, now: Timestamp, match_id: &MatchId, step: &mut Step<RefereeEvent>) {
        let Some(assignment) = self.durable.open(match_id).cloned() else {
            return;
        };
        let places = Seat::BOTH.map(|seat| self.endpoint(&assignment, seat));
        let [Some(a), Some(b)] = places else {
            return;
        };
        let Some(game) = self.new_game(&assignment.game_type) else {
            return;
        };
        let [told_a, told_b] = assignment.players.each_ref().map(|player| player.dialect);
        let places =
            [(a, told_a), (b, told_b)].map(|(at, told)| (at.clone(), self.durable.dialect(&at, told)));
        let timing = match &assignment.timeouts {
            Some(given) => self.settings.timing.assigned(given).within(&self.settings.bounds),
            None => self.settings.timing,
        };
        let begun = Match::new(assignment, game, places, timing);
        self.playing.insert(match_id.clone(), Box::new(begun));
        self.with(now, match_id, step, |ongoing, acts| ongoing.begin(now, acts));
    }

    /// Lets something happen in a match, and carries out what comes of it.
    pub(super) fn with<T>(
        &mut self,
        now: Timestamp,
        match_id: &MatchId,
        step: &mut Step<RefereeEvent>,
        happen: impl FnOnce(&mut Match, &mut Vec<Act>) -> T,
    ) -> Option<T> {
        let mut acts = Vec::new();
        let ongoing = self.playing.get_mut(match_id)?;
        let outcome = happen(ongoing, &mut acts);
        self.alarms.set(match_id, ongoing.deadline());
        for act in acts {
            match act {
                Act::Ask(seat) => self.ask(now, match_id, seat, step),
                Act::Appeal => self.appeal(now, match_id, step),
                Act::Complain(seat, complaint) => self.complain(now, match_id, seat, complaint, step),
                Act::Finish(result) => self.decide(now, match_id, result, step),
                Act::HandBack(why) => self.hand_back(now, match_id, why, step),
            }
        }
        Some(outcome)
    }

    fn ask(&mut self, now: Timestamp, match_id: &MatchId, seat: Seat, step: &mut Step<RefereeEvent>) {
        let name = self.name();
        let Some(ongoing) = self.playing.get_mut(match_id) else {
            return;
        };
        let call = self.post.next_call();
        let Some(window) = ongoing.side_mut(seat).window_mut() else {
            return;
        };
        window.call = Some(call);
        ongoing.calls.push(call);
        let Some(window) = ongoing.side(seat).window() else {
            return;
        };
        let (closes, deadline) = (window.closes, ongoing.exchange_ends(window));
        let assignment = &ongoing.assignment;
        let envelope = Envelope::new(Sender::Referee(name), now, assignment.conversation_id.clone())
            .with_token(Some(assignment.player(seat).shows.clone()));
        let side = ongoing.side(seat);
        step.outbox.push(Outgoing {
            call,
            to: side.endpoint.clone(),
            dialect: side.dialect,
            parcel: Parcel::Message(Message::new(envelope, asks::question(ongoing, seat, closes))),
            deadline,
        });
        let (attempt, turn) = (ongoing.assignment.attempt, ongoing.turn);
        self.asked.insert(call, Asked { match_id: match_id.clone(), attempt, seat, turn });
    }

    /// Tells a player what went wrong, once: what matters is that it is asked again, not that it hears why.
    fn complain(
        &mut self,
        now: Timestamp,
        match_id: &MatchId,
        seat: Seat,
        complaint: Complaint,
        step: &mut Step<RefereeEvent>,
    ) {
        let name = self.name();
        let Some(ongoing) = self.playing.get_mut(match_id) else {
            return;
        };
        let side = ongoing.side_mut(seat);
        side.complaints = side.complaints.saturating_add(1);
        let (assignment, side) = (&ongoing.assignment, ongoing.side(seat));
        let body = game_error(assignment, seat, ongoing.max_retries(), complaint);
        let envelope = Envelope::new(Sender::Referee(name), now, assignment.conversation_id.clone())
            .with_token(Some(assignment.player(seat).shows.clone()));
        let errand = Errand {
            to: side.endpoint.clone(),
            dialect: side.dialect,
            parcel: Parcel::Message(Message::new(envelope, body)),
            purpose: Purpose::Notice(Asked {
                match_id: match_id.clone(),
                attempt: assignment.attempt,
                seat,
                turn: ongoing.turn,
            }),
            timeout: self.settings.timing.other,
            tries: Tries::Once,
        };
        self.post.send(now, errand, &mut step.outbox);
    }
}

/// A player and its endpoint, from a manager's list of players.
fn read_listing(listed: &Value) -> Option<(PlayerId, Endpoint)> {
    let text = |key: &str| listed.get(key).and_then(Value::as_str);
    let endpoint = text("contact_endpoint").or_else(|| text("endpoint"))?;
    Some((PlayerId::new(text("player_id")?), Endpoint::parse(endpoint).ok()?))
}
