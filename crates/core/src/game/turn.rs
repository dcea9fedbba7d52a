//! A turn written down: all that an external decider needs to make a move, in one value that can be sent to it. It holds no
//! secret.

use super::past::{Past, PastGame};
use super::strategy::Turn;
use crate::protocol::messages::Record;
use crate::protocol::{GameType, MatchId, PlayerId, RoundId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};

/// How many of the last games are told, with the opponent and altogether.
pub const GAMES_TOLD_MAX: usize = 100;

/// A turn as an external decider is told it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnSheet {
    /// Which game the options are of.
    pub game_type: GameType,
    /// The rules in words, if the game is one that we know.
    pub rules: Option<&'static str>,
    /// The same for all turns of a match.
    pub match_id: MatchId,
    /// Unknown where no message told it.
    pub round_id: Option<RoundId>,
    /// The player that is to decide.
    pub player_id: PlayerId,
    /// Unknown if neither the manager nor the referee named it.
    pub opponent_id: Option<PlayerId>,
    /// Every move that the rules allow; never empty.
    pub options: Vec<Value>,
    /// What the referee shows of the game.
    pub context: Map<String, Value>,
    /// When the player decides for itself, if nothing is decided until then.
    pub deadline: Timestamp,
    /// Until the deadline, from when the decider is asked: a decider needs no clock.
    pub time_left_ms: u64,
    /// Our record as the referee states it, or else over all games that we remember.
    pub record: Record,
    /// The games with this opponent, oldest first.
    pub history: Vec<PastGame>,
    /// The last games with whomever, oldest first.
    pub recent: Vec<PastGame>,
    /// Where chance should come from, the same for all turns of a match: only in simulations, which can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// To a decider that remembers by itself: then `history` and `recent` are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// What a decider that remembers by itself has to add to its memory before a turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Memory {
    /// Whose memory this is: a decider may play many series at once.
    pub id: u64,
    /// Whether all that was remembered under this id is to be forgotten first.
    pub begins: bool,
    /// The games since the last turn, oldest first, at most [`GAMES_TOLD_MAX`].
    pub games: Vec<PastGame>,
}

impl TurnSheet {
    /// What a turn is, to somebody who is asked `now` and has until `deadline`.
    pub fn of(
        turn: &Turn<'_>,
        match_id: MatchId,
        round_id: Option<RoundId>,
        now: Timestamp,
        deadline: Timestamp,
    ) -> Self {
        Self {
            game_type: turn.game_type.clone(),
            rules: super::find(turn.game_type).map(|entry| entry.rules),
            match_id,
            round_id,
            player_id: turn.own_id.clone(),
            opponent_id: turn.opponent_id.cloned(),
            options: turn.options.to_vec(),
            context: turn.context.as_map().into_owned(),
            deadline,
            time_left_ms: u64::try_from(deadline.since(now).as_millis()).unwrap_or(u64::MAX),
            record: turn.record,
            history: told(turn.against),
            recent: told(turn.overall),
            seed: None,
            memory: None,
        }
    }

    /// The value itself if it is one of the options, or else why it is no move.
    pub fn check(&self, value: Value) -> Result<Value, String> {
        check(&self.options, value)
    }
}

pub(crate) fn check(options: &[Value], value: Value) -> Result<Value, String> {
    if options.contains(&value) {
        return Ok(value);
    }
    let mut shown = value.to_string();
    if let Some((end, _)) = shown.char_indices().nth(SHOWN_MAX) {
        shown.truncate(end);
        shown.push_str("...");
    }
    Err(format!("{shown} is not one of the options"))
}

/// How many characters are shown of what is no move.
const SHOWN_MAX: usize = 60;

fn told(past: &Past) -> Vec<PastGame> {
    let skipped = past.games().len().saturating_sub(GAMES_TOLD_MAX);
    past.games().skip(skipped).cloned().collect()
}
