//! JSON Schemas of the tools' input and output: short forms of the schemas of the league messages. A client pays for each
//! word of them, and some take no more than one type a field.

use matchday_core::protocol::{MessageType, schema};
use serde_json::{Map, Value, json};

/// Envelope fields that an MCP client may leave out.
const FILLED: [&str; 5] = [
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
];
/// How deep objects are described in the input. Deeper ones are only said to be objects.
const INPUT_DEPTH: usize = 3;
/// What stands in the reply of a call that failed.
const ERROR_FIELDS: [(&str, &str); 2] = [("error_code", "string"), ("error_message", "string")];

type Object = Map<String, Value>;

/// The input of a tool that takes a league message.
pub(super) fn input(kind: MessageType) -> Object {
    let mut schema = Short {
        definitions: definitions(kind),
        describes: true,
    }
    .message(kind, INPUT_DEPTH);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| !FILLED.contains(&name.as_str()));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !FILLED.contains(&name)));
    }
    schema
}

/// The output of a tool that gives a league message, or an error.
pub(super) fn output(kind: MessageType) -> Object {
    let mut schema = Short {
        definitions: definitions(kind),
        describes: false,
    }
    .message(kind, 1);
    schema.remove("required");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, kind) in ERROR_FIELDS {
            properties.entry(name).or_insert(json!({ "type": kind }));
        }
    }
    schema
}

/// The output of a tool with these fields (name and JSON type), or an error.
pub fn fields(fields: &[(&str, &str)]) -> Object {
    let all = fields.iter().chain(&ERROR_FIELDS);
    let properties: Object = all
        .map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })))
        .collect();
    object(json!({ "type": "object", "properties": properties }))
}

fn definitions(kind: MessageType) -> Object {
    object(schema::message(kind))
        .remove("$defs")
        .map(object)
        .unwrap_or_default()
}

/// Shortens schemas: references are resolved, a field has one type or `anyOf`, and there are no patterns and no formats.
struct Short {
    definitions: Object,
    describes: bool,
}

impl Short {
    fn message(&self, kind: MessageType, depth: usize) -> Object {
        self.of(&schema::message(kind), depth, true)
            .map(object)
            .unwrap_or_default()
    }

    /// `None` if the schema takes any value. `nullable`: whether null is worth saying.
    fn of(&self, schema: &Value, depth: usize, nullable: bool) -> Option<Value> {
        let mut variants = Vec::new();
        self.variants(schema, depth, &mut variants);
        if !nullable {
            variants.retain(|variant| variant.get("type") != Some(&json!("null")));
        }
        let mut short = match variants.as_slice() {
            [] => return None,
            [one] => one.clone(),
            several => object(json!({ "anyOf": several })),
        };
        if let (true, Some(about)) = (self.describes, schema.get("description")) {
            short.insert("description".to_owned(), about.clone());
        }
        Some(Value::Object(short))
    }

    /// The alternatives of a schema, each with one type.
    fn variants(&self, schema: &Value, depth: usize, into: &mut Vec<Object>) {
        let mut add = |variant: Object| {
            if !into.contains(&variant) {
                into.push(variant);
            }
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target
                .rsplit('/')
                .next()
                .and_then(|name| self.definitions.get(name));
            return target
                .into_iter()
                .for_each(|target| self.variants(target, depth, into));
        }
        let alternatives = ["anyOf", "oneOf"]
            .iter()
            .find_map(|name| schema.get(name)?.as_array());
        if let Some(alternatives) = alternatives {
            let words: Vec<_> = alternatives
                .iter()
                .filter_map(|one| one.get("const"))
                .cloned()
                .collect();
            if words.len() == alternatives.len() {
                return add(object(json!({ "type": "string", "enum": words })));
            }
            return alternatives
                .iter()
                .for_each(|one| self.variants(one, depth, into));
        }
        let types = match schema.get("type") {
            Some(Value::String(only)) => vec![only.as_str()],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for kind in types {
            let mut variant = object(json!({ "type": kind }));
            match kind {
                "object" if depth > 0 => self.describe_object(schema, depth - 1, &mut variant),
                "array" if depth > 0 || self.describes => {
                    let items = schema
                        .get("items")
                        .and_then(|items| self.of(items, depth.saturating_sub(1), true));
                    // Hosts refuse an array whose items are not described.
                    if items.is_none() && self.describes {
                        continue;
                    }
                    variant.extend(items.map(|items| ("items".to_owned(), items)));
                }
                _ => {
                    let words = ["enum", "const"]
                        .into_iter()
                        .filter_map(|name| Some((name, schema.get(name)?)));
                    variant.extend(words.map(|(name, words)| (name.to_owned(), words.clone())));
                }
            }
            add(variant);
        }
    }

    fn describe_object(&self, schema: &Value, depth: usize, into: &mut Object) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|one| one.as_str() == Some(name));
        // A message may leave out what is null and not required; a reply may hold it.
        let short = properties.iter().filter_map(|(name, property)| {
            let nullable = !self.describes || is_required(name);
            let short = self.of(property, depth, nullable);
            // What takes any value, and must be there, is a text to those who read no further.
            let text = || (self.describes && is_required(name)).then(|| json!({"type": "string"}));
            Some((name.clone(), short.or_else(text)?))
        });
        into.insert("properties".to_owned(), short.collect::<Object>().into());
        if !required.is_empty() {
            into.insert("required".to_owned(), required.into());
        }
    }
}

pub fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_short_and_has_one_type_a_field() {
        let text =
            serde_json::to_string_pretty(&input(MessageType::LeagueRegisterRequest)).unwrap();
        insta::assert_snapshot!(text);
        let text =
            serde_json::to_string_pretty(&output(MessageType::LeagueRegisterResponse)).unwrap();
        insta::assert_snapshot!(text);
    }
}
