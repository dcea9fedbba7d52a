//! What may be seen of the matches under way: how far they are and what is owed. Never choices, secrets or tokens.

use super::durable::Ending;
use super::one_match::{Match, Phase};
use super::window::Debt;
use super::{Held, Referee};
use crate::agent::Content;
use crate::game::Seat;
use crate::protocol::messages::LeagueError;
use crate::protocol::{Attempt, ErrorCode, GameType, MatchId, MessageType, PlayerId, Timestamp};
use serde::Serialize;
use serde_json::json;

/// A match under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchView {
    pub match_id: MatchId,
    pub attempt: Attempt,
    pub game_type: GameType,
    pub phase: Phase,
    pub players: [PlayerView; 2],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlayerView {
    pub player_id: PlayerId,
    /// What the referee is waiting for.
    pub owes: Option<MessageType>,
    /// When the present try, or the pause before the next, ends.
    pub until: Option<Timestamp>,
    pub retry_count: u32,
    pub forfeited: bool,
}

impl Referee {
    /// The matches under way.
    pub fn matches(&self) -> impl Iterator<Item = MatchView> {
        self.playing.values().map(|ongoing| view(ongoing))
    }

    /// How many matches wait for their time, for room, or for their players' endpoints.
    pub fn waiting(&self) -> usize {
        self.queue.len() + self.unlocated.len()
    }

    pub(super) fn match_state(&self, now: Timestamp, match_id: Option<&MatchId>) -> Content {
        let Some(match_id) = match_id else {
            let matches: Vec<_> = self.matches().collect();
            let (waiting, state) = (self.waiting(), self.durable.lifecycle());
            return Content::Data(json!({"matches": matches, "waiting": waiting, "state": state}));
        };
        if let Some(ongoing) = self.playing.get(match_id) {
            return Content::Data(json!(view(ongoing)));
        }
        let (phase, ending) = match self.durable.matches().get(match_id) {
            Some(Held::Open { .. }) => (Phase::WaitingForPlayers, None),
            Some(Held::Decided { result, .. }) => (Phase::Finished, Ending::of(result)),
            Some(Held::Settled { ending, .. }) => (Phase::Finished, ending.clone()),
            None if self.durable.finished().contains_key(match_id) => {
                (Phase::Finished, self.durable.finished().get(match_id).cloned().flatten())
            }
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

fn view(ongoing: &Match) -> MatchView {
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
                forfeited: matches!(side.debt, Debt::Forfeit(_)),
            }
        }),
    }
}
