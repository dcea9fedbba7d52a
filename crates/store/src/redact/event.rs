//! Blanks what would let a reader act in an agent's name, or foresee a draw. Pure.

use serde_json::Value;

const BLANK: &str = "(left out)";

/// The fields that hold tokens, or what tokens are derived from.
const TOKENS: &[&str] = &[
    "token",
    "auth_token",
    "operator_token",
    "registration_key",
    "join_code",
    "shows",
    "expects",
];

/// Blanks what is secret; says whether there was anything. The secret of a draw is one only in an assignment: once
/// revealed with a result, it is the proof.
pub fn redact_event(event: &mut Value) -> bool {
    redact(event, false)
}

fn redact(value: &mut Value, assignment: bool) -> bool {
    let mut any = false;
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if (TOKENS.contains(&key.as_str()) || assignment && key == "secret")
                    && !value.is_null()
                {
                    *value = BLANK.into();
                    any = true;
                } else {
                    any |= redact(value, key == "assignment");
                }
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| any |= redact(value, false)),
        _ => {}
    }
    any
}
