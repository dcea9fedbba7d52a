//! The tables of fields in `docs/protocol-messages.md` are held against the schemas, which are made from the program's types.

use crate::read;
use matchday_core::protocol::MessageType;
use matchday_core::protocol::schema;
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields of the envelope, which every message has.
const ENVELOPE: [&str; 6] = [
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
    "auth_token",
];

/// What a schema says of a field.
#[derive(Debug, Default, Clone, Copy)]
struct Field {
    is_required: bool,
    /// Whether it is there in some cases only, such as the details of one game.
    is_conditional: bool,
}

/// The fields of a message by path: `matches[].match_id`.
type Fields = BTreeMap<String, Field>;

fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let reference = schema["$ref"]
        .as_str()
        .and_then(|it| it.strip_prefix("#/$defs/"));
    reference.map_or(schema, |name| resolved(&root["$defs"][name], root))
}

fn collect(schema: &Value, root: &Value, prefix: &str, is_conditional: bool, fields: &mut Fields) {
    let schema = resolved(schema, root);
    if !schema.is_object() {
        return;
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for part in schema[key].as_array().into_iter().flatten() {
            collect(part, root, prefix, is_conditional, fields);
        }
    }
    for key in ["then", "else"] {
        collect(&schema[key], root, prefix, true, fields);
    }
    let required = |name: &String| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|it| it == name))
    };
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        let field = fields.entry(path.clone()).or_insert(Field {
            is_conditional,
            ..Field::default()
        });
        field.is_required |= required(name) && !is_conditional;
        collect(inner, root, &format!("{path}."), is_conditional, fields);
        let items = &resolved(inner, root)["items"];
        collect(items, root, &format!("{path}[]."), is_conditional, fields);
    }
}

fn fields(kind: MessageType) -> Fields {
    let root = schema::message(kind);
    let mut fields = Fields::new();
    collect(&root, &root, "", false, &mut fields);
    fields.retain(|path, _| !ENVELOPE.contains(&path.as_str()));
    fields
}

/// What stands in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A row of the table: paths, the mark of the third column, and the meaning.
type Row<'a> = (Vec<String>, &'a str, &'a str);

fn rows(section: &str) -> Vec<Row<'_>> {
    let table = section
        .split_once("| Field | Type | | Meaning |\n| --- | --- | --- | --- |\n")
        .map_or("", |(_, rest)| rest);
    let lines = table.lines().take_while(|line| line.starts_with('|'));
    let row = |line| {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        let [_, names, _, mark, meaning, _] = cells[..] else {
            panic!("four cells: {line}")
        };
        let names: Vec<&str> = code(names).collect();
        let parent = names[0].rsplit_once('.').map_or("", |(parent, _)| parent);
        let path = |name: &&str| match (parent, name.contains('.')) {
            ("", _) | (_, true) => name.trim_end_matches("[]").to_owned(),
            (parent, false) => format!("{parent}.{name}"),
        };
        (names.iter().map(path).collect(), mark, meaning)
    };
    lines.map(row).collect()
}

/// The part of the page about a message.
fn section(page: &str, kind: MessageType) -> &str {
    let heading = format!("\n### {kind}\n");
    let (_, rest) = page
        .split_once(&heading)
        .unwrap_or_else(|| panic!("no section for {kind}"));
    rest.split("\n### ").next().unwrap()
}

/// Whether a field is told: in a row of its own, by name in the meaning of the object that it is in, or elsewhere, to which that
/// meaning leads.
fn is_told(path: &str, rows: &[Row<'_>]) -> bool {
    if rows.iter().any(|(paths, ..)| {
        let within = |told: &String| told.starts_with(&format!("{path}.")) || told == path;
        paths.iter().any(within)
    }) {
        return true;
    }
    let Some((parent, name)) = path.rsplit_once('.') else {
        return rows
            .iter()
            .any(|(_, _, meaning)| code(meaning).any(|told| told == path));
    };
    let parent = parent.trim_end_matches("[]");
    let row = rows
        .iter()
        .find(|(paths, ..)| paths.iter().any(|told| told == parent));
    row.map_or_else(
        || is_told(parent, rows) && parent.contains('.'),
        |(_, _, meaning)| {
            code(meaning).any(|it| it == name)
                || meaning.contains("](")
                || meaning.contains("as in")
        },
    )
}

#[test]
fn the_tables_of_fields_are_what_the_program_reads_and_sends() {
    let page = read("protocol-messages.md");
    let mut wrong = Vec::new();
    for kind in MessageType::ALL.iter().copied() {
        let rows = rows(section(&page, kind));
        let fields = fields(kind);
        for (paths, mark, _) in &rows {
            for path in paths.iter().filter(|it| !ENVELOPE.contains(&it.as_str())) {
                match fields.get(path) {
                    None => wrong.push(format!("{kind} has no {path}")),
                    Some(field) if field.is_conditional => {}
                    Some(field) if field.is_required != (*mark == "**req**") => {
                        wrong.push(format!("{kind} {path}: {mark}, but {field:?}"));
                    }
                    Some(_) => {}
                }
            }
        }
        let untold = fields.keys().filter(|path| !is_told(path, &rows));
        wrong.extend(untold.map(|path| format!("{kind}: {path} is not told")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
