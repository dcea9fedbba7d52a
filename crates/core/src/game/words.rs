//! Moves as people say them: "plays column 3", "takes 2 from heap 1". Pure.

use crate::protocol::ids::GameType;
use serde_json::Value;

/// The cells of tic-tac-toe, row by row.
const CELLS: [&str; 9] = [
    "the top left corner",
    "the top edge",
    "the top right corner",
    "the left edge",
    "the centre",
    "the right edge",
    "the bottom left corner",
    "the bottom edge",
    "the bottom right corner",
];

/// What a player does: with the verb.
pub fn move_in_words(game_type: &GameType, made: &Value) -> String {
    let noun = move_noun(game_type, made);
    match (game_type.as_str(), made.as_str()) {
        ("iterated_prisoners_dilemma", Some("cooperate")) => "cooperates".to_owned(),
        ("iterated_prisoners_dilemma", Some("defect")) => "defects".to_owned(),
        ("nim" | "tic_tac_toe", _) => format!("takes {noun}"),
        ("even_odd", _) => format!("calls {noun}"),
        ("rock_paper_scissors" | "matching_pennies", _) => format!("shows {noun}"),
        _ => format!("plays {noun}"),
    }
}

/// What is played, without the verb.
pub fn move_noun(game_type: &GameType, made: &Value) -> String {
    let number = |field: &str| made.get(field).and_then(Value::as_u64);
    let named = match game_type.as_str() {
        "connect_four" => made.as_u64().map(|column| format!("column {column}")),
        "tic_tac_toe" => made
            .as_u64()
            .and_then(|cell| CELLS.get(usize::try_from(cell).ok()?))
            .map(|cell| (*cell).to_owned()),
        "nim" => number("take")
            .zip(number("heap"))
            .map(|(take, heap)| format!("{take} from heap {heap}")),
        _ => None,
    };
    named.unwrap_or_else(|| plain(made))
}

/// Texts without quotes, objects as `heap 1, take 2`.
fn plain(made: &Value) -> String {
    match made {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            fields.join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn moves_are_said_as_people_say_them() {
        for (game, made, words) in [
            ("connect_four", json!(3), "plays column 3"),
            ("tic_tac_toe", json!(4), "takes the centre"),
            ("nim", json!({"heap": 1, "take": 2}), "takes 2 from heap 1"),
            ("even_odd", json!("even"), "calls even"),
            ("iterated_prisoners_dilemma", json!("defect"), "defects"),
            ("rock_paper_scissors", json!("rock"), "shows rock"),
            ("chomp", json!({"row": 1}), "plays row 1"),
            // What a third-party referee wrote is still said.
            ("connect_four", json!("e4"), "plays e4"),
        ] {
            assert_eq!(move_in_words(&GameType::new(game), &made), words);
        }
    }
}
