//! External deciders: programs that are really started, and a server with the APIs of language models.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[cfg(unix)]
mod command;
mod game_program;
mod llm;
mod model_server;
mod persistent;
mod tls;

use matchday_core::game::turn::TurnSheet;
use matchday_core::protocol::messages::Record;
use matchday_core::protocol::{GameType, MatchId, PlayerId, RoundId, Timestamp};
use serde_json::{Map, json};

/// A turn of even/odd with this much time left.
pub(crate) fn turn(time_left_ms: u64) -> TurnSheet {
    TurnSheet {
        game_type: GameType::new("even_odd"),
        rules: Some("Choose even or odd."),
        match_id: MatchId::numbered(RoundId(1), 1),
        round_id: Some(RoundId(1)),
        player_id: PlayerId::numbered(1),
        opponent_id: Some(PlayerId::numbered(2)),
        options: vec![json!("even"), json!("odd")],
        context: Map::new(),
        deadline: Timestamp::EPOCH,
        time_left_ms,
        record: Record {
            wins: 1,
            losses: 2,
            draws: 3,
        },
        history: Vec::new(),
        seed: None,
        recent: Vec::new(),
    }
}
