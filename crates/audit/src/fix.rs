//! How to fix what an agent does otherwise than the protocol says: the sentences that `check` prints and the dashboard shows.

pub const PROTOCOL: &str = "Put \"protocol\": \"league.v2\" into every message.";
pub const SENDER: &str = "Sign as \"player:P01\", with the id from the registration response: not a name of your own, not the bare id.";
pub const TIMESTAMP: &str =
    "In Python: datetime.now(timezone.utc).strftime(\"%Y-%m-%dT%H:%M:%SZ\").";
pub const CLOCK: &str =
    "Read the clock for every message, in UTC, and set the clock of the machine.";
pub const CONVERSATION: &str = "Copy conversation_id from the question into the answer.";
pub const TOKEN: &str = "Put the auth_token of your registration, or better the token made for the match, into every answer: a strict referee refuses one without (E011).";
pub const PLAYER_META: &str = "Send player_meta with display_name, version (MAJOR.MINOR.PATCH), game_types (a list) and contact_endpoint (a URL).";
pub const ARRIVAL: &str = "Send arrival_timestamp in the same form as timestamp.";
pub const ACCEPT: &str = "Send \"accept\": true. A text, a number or a status is something else, and false forfeits the match.";
pub const PARITY: &str =
    "Send \"parity_choice\": \"even\" or \"odd\": lower case, text, no spaces.";
pub const LEGAL_MOVE: &str = "Copy one of move_request.valid_options into move_data.choice, in its own type: 3 is not \"3\".";
pub const MATCH_ID: &str = "Copy match_id from the question: another one is refused with E015.";
pub const PLAYER_ID: &str =
    "Send the player_id of your registration response: another one is refused with E012.";

/// The fix for a recorded deviation such as `missing sender`, if `check` has a rule for it.
pub fn of_deviation(deviation: &str) -> Option<&'static str> {
    let (kind, path) = deviation.rsplit_once(' ')?;
    // The last field of a path such as `player_meta.version`.
    let field = path.rsplit('.').next()?;
    Some(match (kind, field) {
        ("future", _) => CLOCK,
        (_, "arrival_timestamp") => ARRIVAL,
        ("timestamp form", _) | (_, "timestamp") => TIMESTAMP,
        ("own name", _) | (_, "sender") => SENDER,
        ("echoed", _) | (_, "auth_token") => TOKEN,
        (_, "protocol") => PROTOCOL,
        (_, "conversation_id") => CONVERSATION,
        (_, "accept") => ACCEPT,
        (_, "parity_choice") => PARITY,
        (_, "choice" | "move_data") => LEGAL_MOVE,
        (_, "match_id") => MATCH_ID,
        (_, "player_id") => PLAYER_ID,
        _ if path.starts_with("player_meta") => PLAYER_META,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_leads_to_the_mend_of_its_rule() {
        assert_eq!(of_deviation("missing sender"), Some(SENDER));
        assert_eq!(
            of_deviation("timestamp form arrival_timestamp"),
            Some(ARRIVAL)
        );
        assert_eq!(of_deviation("future timestamp"), Some(CLOCK));
        assert_eq!(
            of_deviation("missing player_meta.version"),
            Some(PLAYER_META)
        );
        assert_eq!(of_deviation("alias something_else"), None);
    }
}
