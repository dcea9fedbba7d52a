//! Rules that tie several fields together: what is required, or must be null, depends on what another field says.
//! Each is applied to the schema of the message whose rule it is, and says what the reader in `decode` does.

use super::parity::ParityDetails;
use crate::protocol::GameType;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// A registration response: an id if accepted, a reason if rejected, and never both.
pub(crate) fn accepted_or_rejected(schema: &mut Schema) {
    let has = |name| schema.pointer(&format!("/properties/{name}")).is_some();
    let id = if has("player_id") {
        "player_id"
    } else {
        "referee_id"
    };
    demand(
        schema,
        json!({
            "if": says("status", "ACCEPTED"),
            "then": {
                "properties": { id: { "type": "string" }, "reason": { "type": "null" } },
                "required": [id],
            },
            "else": {
                "properties": { id: { "type": "null" }, "reason": { "type": "string" } },
                "required": ["reason"],
            },
        }),
    );
}

/// GAME_OVER of even/odd tells the details of even/odd.
pub(crate) fn details_in_result(schema: &mut Schema) {
    let result = json!({
        "properties": parity_details(),
        "if": says("status", "TECHNICAL_LOSS"),
        "else": with_choices(),
    });
    demand(
        schema,
        json!({
            "if": says("game_type", GameType::EVEN_ODD),
            "then": { "properties": { "game_result": result } },
        }),
    );
}

/// A report of even/odd tells the details of even/odd.
pub(crate) fn details_in_report(schema: &mut Schema) {
    let result = json!({
        "properties": { "details": { "properties": parity_details() } },
        "if": says("status", "TECHNICAL_LOSS"),
        "else": { "properties": { "details": with_choices() } },
    });
    demand(
        schema,
        json!({
            "if": says("game_type", GameType::EVEN_ODD),
            "then": { "properties": { "result": result } },
        }),
    );
}

/// Choices may be null here: a match that was forfeited before anyone was asked has none to tell of.
fn parity_details() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut details = ParityDetails::json_schema(&mut settings.into_generator());
    if let Some(kind) = details.pointer_mut("/properties/choices/type") {
        *kind = json!(["object", "null"]);
    }
    details.remove("properties").unwrap_or_default()
}

fn with_choices() -> Value {
    json!({ "properties": { "choices": { "type": "object" } }, "required": ["choices"] })
}

/// A parity that is asked for as a move is a parity all the same.
pub(crate) fn parity_as_move(schema: &mut Schema) {
    demand(
        schema,
        json!({
            "if": says("move_type", "choose_parity"),
            "then": { "properties": { "choice": { "enum": ["even", "odd"] } } },
        }),
    );
}

/// An answer has data, or says why not.
pub(crate) fn data_or_error(schema: &mut Schema) {
    let object =
        |key: &str| json!({ "properties": { key: { "type": "object" } }, "required": [key] });
    demand(
        schema,
        json!({ "if": says("success", true), "then": object("data"), "else": object("error") }),
    );
}

/// To withdraw takes a player, to strike a result takes a match, and tokens are somebody's.
pub(crate) fn order_has_its_object(schema: &mut Schema) {
    for (order, object) in [
        ("WITHDRAW", "player_id"),
        ("VOID", "match_id"),
        ("ROTATE", "agent_id"),
        ("REVOKE", "agent_id"),
        ("INVITE", "agent_id"),
        ("ROTATE_CODE", "agent_id"),
    ] {
        demand(
            schema,
            json!({ "if": says("order", order), "then": there(object) }),
        );
    }
}

/// A referee that is told of one player's endpoint is told of both.
pub(crate) fn both_endpoints(schema: &mut Schema) {
    for (one, other) in [
        ("player_A_endpoint", "player_B_endpoint"),
        ("player_B_endpoint", "player_A_endpoint"),
    ] {
        demand(schema, json!({ "if": there(one), "then": there(other) }));
    }
}

/// No source defines this message, so each name that managers give a field is as good as the others.
pub(crate) fn any_spelling(schema: &mut Schema) {
    for side in ["A", "B"] {
        let id = format!("player_{side}_id");
        let ids = [id.clone(), id.to_lowercase(), numbered(&id)];
        let endpoint = format!("player_{side}_endpoint");
        let endpoints = [
            endpoint.clone(),
            endpoint.to_lowercase(),
            numbered(&endpoint),
        ];
        for [first, others @ ..] in [&ids, &endpoints] {
            let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
            respell(fields, first, others);
        }
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| *name != id);
        }
        let any: Vec<_> = ids.iter().map(|id| json!({ "required": [id] })).collect();
        demand(schema, json!({ "anyOf": any }));
    }
}

/// `player_A_id` is `player1_id`.
fn numbered(name: &str) -> String {
    name.replace("_A_", "1_").replace("_B_", "2_")
}

fn respell(fields: Option<&mut Map<String, Value>>, first: &str, others: &[String]) {
    let Some(fields) = fields else { return };
    let rule = fields.get(first).cloned().unwrap_or_default();
    fields.extend(others.iter().map(|name| (name.clone(), rule.clone())));
}

/// The field is there, and has this value.
fn says(field: &str, value: impl Into<Value>) -> Value {
    json!({ "properties": { field: { "const": value.into() } }, "required": [field] })
}

/// The field is there, and is a text.
fn there(field: &str) -> Value {
    json!({ "properties": { field: { "type": "string" } }, "required": [field] })
}

/// Adds a rule to those that the schema has.
fn demand(schema: &mut Schema, rule: Value) {
    let rules = schema
        .ensure_object()
        .entry("allOf")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(rules) = rules {
        rules.push(rule);
    }
}
