//! Messages without what we have added to them, for agents that forbid the keys which the protocol's documents do not print.

use super::Dialect;
use super::call::write_in;
use crate::protocol::message::{Message, MessageType};
use serde_json::{Map, Value};

/// Keys of the envelope.
const ENVELOPE: [&str; 6] = [
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
    "auth_token",
];

/// How agents say that they know a key and do not want it.
const FORBIDDING: [&str; 8] = [
    "extra",
    "unexpected",
    "additional",
    "unknown",
    "unrecognized",
    "not permitted",
    "not allowed",
    "forbidden",
];

/// The keys that the message catalogue prints beneath the envelope: a dot goes one level down. An object of which no
/// inner key is listed is whole. `None`: no document has this message.
fn printed(kind: MessageType) -> Option<&'static [&'static str]> {
    Some(match kind {
        MessageType::RefereeRegisterRequest => &[
            "referee_meta.display_name",
            "referee_meta.version",
            "referee_meta.game_types",
            "referee_meta.contact_endpoint",
            "referee_meta.max_concurrent_matches",
        ],
        MessageType::LeagueRegisterRequest => &[
            "player_meta.display_name",
            "player_meta.version",
            "player_meta.game_types",
            "player_meta.contact_endpoint",
        ],
        MessageType::RoundAnnouncement => &[
            "league_id",
            "round_id",
            "matches.match_id",
            "matches.game_type",
            "matches.player_A_id",
            "matches.player_B_id",
            "matches.referee_endpoint",
        ],
        MessageType::RoundCompleted => &[
            "league_id",
            "round_id",
            "matches_completed",
            "next_round_id",
            "summary.total_matches",
            "summary.wins",
            "summary.draws",
            "summary.technical_losses",
        ],
        MessageType::LeagueCompleted => &[
            "league_id",
            "total_rounds",
            "total_matches",
            "champion.player_id",
            "champion.display_name",
            "champion.points",
            "final_standings.rank",
            "final_standings.player_id",
            "final_standings.display_name",
            "final_standings.points",
        ],
        MessageType::GameInvitation => &[
            "league_id",
            "round_id",
            "match_id",
            "game_type",
            "role_in_match",
            "opponent_id",
        ],
        MessageType::GameJoinAck => &["match_id", "player_id", "arrival_timestamp", "accept"],
        MessageType::ChooseParityCall => &[
            "match_id",
            "player_id",
            "game_type",
            "context.opponent_id",
            "context.round_id",
            "context.your_standings",
            "deadline",
        ],
        MessageType::ChooseParityResponse => &["match_id", "player_id", "parity_choice"],
        MessageType::GameOver => &[
            "match_id",
            "game_type",
            "game_result.status",
            "game_result.winner_player_id",
            "game_result.drawn_number",
            "game_result.number_parity",
            "game_result.choices",
            "game_result.reason",
        ],
        MessageType::GameError => &[
            "match_id",
            "error_code",
            "error_description",
            "affected_player",
            "action_required",
            "retry_info.retry_count",
            "retry_info.max_retries",
            "retry_info.next_retry_at",
            "retry_info.time_remaining",
            "context",
            "consequence",
        ],
        MessageType::MatchResultReport => &[
            "league_id",
            "round_id",
            "match_id",
            "game_type",
            "result.winner",
            "result.score",
            "result.details.drawn_number",
            "result.details.choices",
        ],
        MessageType::LeagueStandingsUpdate => &[
            "league_id",
            "round_id",
            "standings.rank",
            "standings.player_id",
            "standings.display_name",
            "standings.played",
            "standings.wins",
            "standings.draws",
            "standings.losses",
            "standings.points",
        ],
        MessageType::LeagueQuery => &["league_id", "query_type", "query_params"],
        MessageType::LeagueError => &[
            "error_code",
            "error_description",
            "original_message_type",
            "context",
        ],
        _ => return None,
    })
}

/// A message as the documents print it, and the keys that had to go.
#[derive(Debug)]
pub struct PrintedMessage {
    names: (&'static str, &'static str),
    message: Value,
    left_out: Vec<String>,
}

impl PrintedMessage {
    /// `None` for a message that has nothing to leave out, or that no document has.
    pub fn of(message: &Message) -> Option<Self> {
        let listed = printed(message.body.message_type())?;
        let Ok(Value::Object(mut fields)) = serde_json::to_value(message) else {
            return None;
        };
        let mut left_out = Vec::new();
        leave_out(&mut fields, "", listed, &mut left_out);
        (!left_out.is_empty()).then(|| Self {
            names: message.names(),
            message: Value::Object(fields),
            left_out,
        })
    }

    /// Whether the body of a refusal says that a key was not wanted which is left out here.
    pub fn is_asked_for_by(&self, refusal: &[u8]) -> bool {
        let text = String::from_utf8_lossy(refusal);
        let lower = text.to_ascii_lowercase();
        let is_word = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let names = |key: &String| {
            text.match_indices(key.as_str()).any(|(at, found)| {
                let before = text.as_bytes().get(..at).and_then(|part| part.last());
                let after = text.as_bytes().get(at + found.len());
                !is_word(before.copied()) && !is_word(after.copied())
            })
        };
        FORBIDDING.iter().any(|word| lower.contains(word)) && self.left_out.iter().any(names)
    }

    /// The body of a request with it.
    pub fn written(&self, dialect: Dialect, id: i64) -> Vec<u8> {
        write_in(dialect, id, self.names, &self.message)
    }
}

fn leave_out(
    fields: &mut Map<String, Value>,
    place: &str,
    listed: &[&str],
    left_out: &mut Vec<String>,
) {
    fields.retain(|key, value| {
        let path = format!("{place}{key}");
        let inside = format!("{path}.");
        let has_listed = listed.iter().any(|known| known.starts_with(&inside));
        let is_envelope = place.is_empty() && ENVELOPE.contains(&key.as_str());
        let is_kept = is_envelope || has_listed || listed.contains(&path.as_str());
        if !is_kept {
            left_out.push(key.clone());
        } else if has_listed {
            let inner = match value {
                Value::Array(items) => items.iter_mut().collect(),
                one => vec![one],
            };
            for object in inner.into_iter().filter_map(Value::as_object_mut) {
                leave_out(object, &inside, listed, left_out);
            }
        }
        is_kept
    });
}
