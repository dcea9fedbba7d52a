//! Public state of the matches under way: phase and awaited answers, never choices, secrets or tokens.

use super::durable::Ending;
use super::one_match::{OngoingMatch, Phase};
use super::window::AnswerState;
use super::{AssignedMatch, Referee};
use crate::agent::Content;
use crate::game::Seat;
use crate::protocol::messages::LeagueError;
use crate::protocol::{Attempt, ErrorCode, GameType, MatchId, MessageType, PlayerId, Timestamp};
use serde::Serialize;
use serde_json::json;

/// A match under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchView {
    /// A match that this referee was assigned.
    pub match_id: MatchId,
    /// The attempt that is under way.
    pub attempt: Attempt,
    /// What is played.
    pub game_type: GameType,
    /// The state of the match.
    pub phase: Phase,
    /// In the order A, B.
    pub players: [PlayerView; 2],
}

/// What is awaited from one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlayerView {
    /// Assigned by the manager.
    pub player_id: PlayerId,
    /// The awaited message.
    pub owes: Option<MessageType>,
    /// When the current try, or the pause before the next, ends.
    pub until: Option<Timestamp>,
    /// Of the awaited message; 0 if none is awaited.
    pub retry_count: u32,
    /// Whether the player has lost the match by not playing.
    pub forfeited: bool,
}

impl Referee {
    /// The matches under way.
    pub fn matches(&self) -> impl Iterator<Item = MatchView> {
        self.playing.values().map(|ongoing| view(ongoing))
    }

    /// How many matches wait for their start time, for capacity, or for their players' endpoints.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn match_state(&self, now: Timestamp, match_id: Option<&MatchId>) -> Content {
        let Some(match_id) = match_id else {
            let matches: Vec<_> = self.matches().collect();
            let waiting = self.waiting();
            let state = self.durable.lifecycle();
            return Content::Data(json!({"matches": matches, "waiting": waiting, "state": state}));
        };
        if let Some(ongoing) = self.playing.get(match_id) {
            return Content::Data(json!(view(ongoing)));
        }
        let (phase, ending) = match self.durable.matches().get(match_id) {
            Some(AssignedMatch::Open { .. }) => (Phase::WaitingForPlayers, None),
            Some(AssignedMatch::Decided { result, .. }) => (Phase::Finished, Ending::of(result)),
            Some(AssignedMatch::Closed { ending, .. }) => (Phase::Finished, ending.clone()),
            None if self.durable.finished().contains_key(match_id) => (
                Phase::Finished,
                self.durable.finished().get(match_id).cloned().flatten(),
            ),
            None => {
                let message = format!("{match_id} is not played here");
                return self.refuse(
                    now,
                    None,
                    LeagueError::new(ErrorCode::MatchNotFound, message, None, None),
                );
            }
        };
        Content::Data(json!({"match_id": match_id, "phase": phase, "result": ending}))
    }
}

fn view(ongoing: &OngoingMatch) -> MatchView {
    let assignment = &ongoing.assignment;
    MatchView {
        match_id: assignment.match_id.clone(),
        attempt: assignment.attempt,
        game_type: assignment.game_type.clone(),
        phase: ongoing.phase,
        players: Seat::BOTH.map(|seat| {
            let side = ongoing.side(seat);
            let window = side.window();
            PlayerView {
                player_id: assignment.player(seat).player_id.clone(),
                owes: window.map(|_| ongoing.owed()),
                until: window.map(|window| window.due()),
                retry_count: window.map_or(0, |window| window.retries),
                forfeited: matches!(side.answer_state, AnswerState::Forfeit(_)),
            }
        }),
    }
}
