//! The tool `wait_for_turn`: waits until there is a turn, a result or the end of the league, and describes it.
//!
//! A reply takes nothing out: results are told as new until a reply with them was written to its connection, and repeated as
//! earlier results until the client makes a move that shows that it has read them.

use super::log::SeatEvent;
use super::one_seat::{OpenMatch, PlayerState, Seat};
use super::open_turns::OpenTurn;
use super::tool_error::ToolError;
use super::types::{Happened, Turn, WaitReply};
use super::{Seats, manager_query};
use matchday_core::game::observation::{GameReport, Observation};
use matchday_core::protocol::{ErrorCode, MatchId};
use matchday_core::registration::RegistrationState;
use smol_str::SmolStr;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long an invitation waits for the turn that follows it, so that one reply holds both.
const TURN_FOLLOWS: Duration = Duration::from_secs(1);
/// Not every change of a registration is stored, so the player is polled.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a reply tells: to be noted once it has been written.
#[derive(Debug)]
pub(super) struct Delivery {
    games: u32,
    invitation: Option<MatchId>,
}

impl Seats {
    /// Waits until there is something to report, at most for `wait_max`.
    pub(super) async fn wait_for_turn(
        &self,
        seat: &Seat,
        wait_max: Duration,
    ) -> Result<(WaitReply, Delivery), ToolError> {
        let mut until = Instant::now() + wait_max;
        let mut turns = seat.turns.changes();
        let mut changes = seat.changes.clone();
        let mut closing = self.closing.subscribe();
        loop {
            turns.borrow_and_update();
            changes.borrow_and_update();
            if *closing.borrow_and_update() {
                return Err(ToolError::stopping());
            }
            let state = self.unconfirmed_state(seat).await?;
            let invitation = new_invitation(seat, &state);
            if let Some((reply, invitation)) = self.poll(seat, &state).await {
                return Ok((
                    reply,
                    Delivery {
                        games: state.played,
                        invitation,
                    },
                ));
            }
            let now = Instant::now();
            if invitation.is_some() && until > now + TURN_FOLLOWS {
                until = now + TURN_FOLLOWS;
            }
            if now >= until {
                let told = invitation.as_ref().map(|invited| invited.match_id.clone());
                let told = Delivery {
                    games: state.played,
                    invitation: told,
                };
                return Ok((timeout_reply(seat, state, invitation), told));
            }
            let next_look = sleep_until(until.min(now + LOOK_EVERY));
            tokio::select! {
                () = next_look => {}
                Ok(()) = turns.changed() => {}
                Ok(()) = changes.changed() => {}
                _ = closing.changed() => {}
            }
        }
    }

    /// The player's state, with the results that its client has not confirmed.
    async fn unconfirmed_state(&self, seat: &Seat) -> Result<PlayerState, ToolError> {
        let confirmed = seat.delivered().confirmed;
        let state = seat.state(confirmed).await.ok_or_else(ToolError::stopped)?;
        match (&state.registration, &state.identity) {
            (RegistrationState::Refused { reason, .. }, None) => {
                let why = format!(
                    "the manager of the league refuses you: {} - your seat is given up; fix that and call \
                     join_league again, or wait for another league",
                    reason.escaped()
                );
                self.remove(seat).await?;
                Err(ToolError::new(ErrorCode::InvalidState, why))
            }
            _ => Ok(state),
        }
    }

    async fn poll(&self, seat: &Seat, state: &PlayerState) -> Option<(WaitReply, Option<MatchId>)> {
        if let Some(turn) = seat.turns.first() {
            let invitation = state
                .invited
                .iter()
                .find(|invited| invited.match_id == turn.sheet.match_id);
            let next = "Choose one of turn.options, and call make_move with it as choice (and turn.turn as turn) \
                        before the deadline.";
            let mut reply = reply(seat, state, Happened::YourTurn, next);
            seat.delivered().ask(&turn.id, state.played);
            reply.turn = Some(self.shown(seat, turn));
            reply.invitation = invitation.cloned().map(Into::into);
            return Some((reply, invitation.map(|invited| invited.match_id.clone())));
        }
        if state.is_over {
            let next = "There is nothing more to play. Tell how it went: your place, your results, and what decided \
                        them.";
            let mut reply = reply(seat, state, Happened::LeagueOver, next);
            if let Some(own) = &state.identity {
                match manager_query::standings(&self.options, &self.settings.manager, own).await {
                    Ok(rows) => reply.final_table = Some(rows),
                    Err(why) => {
                        reply.next = format!("{} The final table is missing: {why}.", reply.next)
                    }
                }
            }
            return Some((reply, None));
        }
        let next = "Call wait_for_turn again, at once: your next match may begin any moment.";
        let reply = reply(seat, state, Happened::Result, next);
        (!reply.results.is_empty()).then_some((reply, None))
    }

    /// A turn as the client is shown it.
    fn shown(&self, seat: &Seat, OpenTurn { id, sheet, until }: OpenTurn) -> Turn {
        let left = until.saturating_duration_since(Instant::now());
        let observation = Observation::of(&sheet, left.as_secs_f64());
        let needs_rules = seat.delivered().needs_rules(&sheet.game_type, &id);
        Turn {
            turn: id,
            rules: sheet.rules.filter(|_| needs_rules),
            observation: observation.fields(self.settings.observation),
        }
    }

    /// Notes that a reply has been written.
    pub(super) fn mark_told(&self, seat: &Seat, told: Delivery) {
        let mut delivered = seat.delivered();
        if let Some(invitation) = told.invitation {
            delivered.invitation = Some(invitation);
        }
        if told.games > delivered.games {
            delivered.games = told.games;
            self.note_delivered(seat, delivered.games, delivered.confirmed);
        }
    }

    /// A move for this turn shows that the client has read a reply with it, and all results in it.
    pub(super) fn confirm(&self, seat: &Seat, turn: &str) {
        let mut delivered = seat.delivered();
        let Some((_, games)) = delivered.turn.clone().filter(|(id, _)| id == turn) else {
            return;
        };
        if games > delivered.confirmed {
            delivered.confirmed = games;
            delivered.games = delivered.games.max(games);
            self.note_delivered(seat, delivered.games, delivered.confirmed);
        }
    }

    fn note_delivered(&self, seat: &Seat, games: u32, confirmed: u32) {
        self.log.note(&SeatEvent::Delivered {
            number: seat.number,
            games,
            confirmed,
        });
    }
}

impl super::one_seat::Delivered {
    /// Remembers what the first reply with this turn told.
    fn ask(&mut self, turn: &SmolStr, games: u32) {
        if self.turn.as_ref().is_none_or(|(id, _)| id != turn) {
            self.turn = Some((turn.clone(), games));
        }
    }
}

/// The unconfirmed results: those that were told, and those that are new.
fn split(seat: &Seat, state: &PlayerState) -> (Vec<GameReport>, Vec<GameReport>) {
    let new =
        usize::try_from(state.played.saturating_sub(seat.delivered().games)).unwrap_or(usize::MAX);
    let mut earlier = state.games.clone();
    let new = earlier.split_off(earlier.len().saturating_sub(new));
    (earlier, new)
}

fn reply(seat: &Seat, state: &PlayerState, happened: Happened, next: &str) -> WaitReply {
    let (earlier_results, results) = split(seat, state);
    WaitReply {
        happened,
        turn: None,
        invitation: None,
        results,
        earlier_results,
        final_table: None,
        player_id: state.identity.as_ref().map(|identity| identity.id.clone()),
        next: next.to_owned(),
    }
}

/// The match that has begun last, if its invitation has not been told.
fn new_invitation(seat: &Seat, state: &PlayerState) -> Option<OpenMatch> {
    let delivered = seat.delivered();
    state
        .invited
        .last()
        .filter(|invited| delivered.invitation.as_ref() != Some(&invited.match_id))
        .cloned()
}

/// The reply when the wait is over: an invitation, or nothing.
fn timeout_reply(seat: &Seat, state: PlayerState, invitation: Option<OpenMatch>) -> WaitReply {
    let (happened, next) = match (&invitation, &state.registration, &state.identity) {
        (Some(_), _, _) => {
            (Happened::Invitation, "A match has begun. Call wait_for_turn again, at once, for your turn.".to_owned())
        }
        (None, RegistrationState::Waiting { why, .. }, None) => {
            let next = format!(
                "The manager of the league does not answer ({}), and is asked again and again. Call \
                 wait_for_turn again; if this goes on, tell the operator.",
                why.escaped()
            );
            (Happened::WaitingForManager, next)
        }
        (None, _, None) => {
            (Happened::WaitingForManager, "The manager has not answered yet. Call wait_for_turn again.".to_owned())
        }
        (None, _, Some(_)) => (
            Happened::NothingYet,
            "Call wait_for_turn again: the league has not begun, or it is not your turn yet. Go on until it tells \
             league_over."
                .to_owned(),
        ),
    };
    WaitReply {
        invitation: invitation.map(Into::into),
        ..reply(seat, &state, happened, &next)
    }
}
