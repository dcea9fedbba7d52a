//! A request and its answer as one schema: the message in its JSON-RPC, for each method of the table.

use super::{ID_PREFIX, META_SCHEMA, finished, whole};
use crate::protocol::MessageType;
use crate::protocol::ids::{GameType, MatchId, PlayerId, RoundId};
use crate::protocol::jsonrpc::TwoPointZero;
use crate::protocol::methods::{Answers, Carries, Method, Question};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// The schema of one method's exchange in the standard dialect. The document takes the request as well as the
/// response; either alone is at `#/$defs/request` and `#/$defs/response`.
pub fn exchange(method: &Method) -> Value {
    let mut book = Book::new("/$defs");
    let (params, must) = book.params(method);
    let result = book.result(method);
    let mut needed = vec!["jsonrpc", "method"];
    if must {
        needed.push("params");
    }
    let request = json!({
        "type": "object",
        "description": "Without an `id` it is a notification, and has no response.",
        "properties": {
            "jsonrpc": { "const": TwoPointZero::TEXT },
            "id": id(),
            "method": { "enum": std::iter::once(&method.name).chain(method.also).collect::<Vec<_>>() },
            "params": params,
        },
        "required": needed,
    });
    let head = json!({ "jsonrpc": { "const": TwoPointZero::TEXT }, "id": id() });
    let response = json!({
        "type": "object",
        "properties": head,
        "required": ["jsonrpc", "id"],
        "oneOf": [
            { "properties": { "result": result }, "required": ["result"] },
            { "properties": { "error": error() }, "required": ["error"] },
        ],
    });
    let mut definitions = book.close();
    definitions.insert("request".to_owned(), request);
    definitions.insert("response".to_owned(), response);
    finished(json!({
        "$schema": META_SCHEMA,
        "$id": format!("{ID_PREFIX}method:{}", method.name),
        "title": method.name,
        "description": method.summary,
        "anyOf": [{ "$ref": "#/$defs/request" }, { "$ref": "#/$defs/response" }],
        "$defs": definitions,
    }))
}

fn id() -> Value {
    json!({ "type": ["integer", "string", "null"], "description": "The response has that of its request." })
}

fn error() -> Value {
    json!({
        "type": "object",
        "description": "JSON-RPC's own failures; and -32000, by which a player or a referee refuses a league message. A manager refuses by LEAGUE_ERROR, as a result.",
        "properties": {
            "code": { "type": "integer" },
            "message": { "type": "string" },
            "data": { "description": "Ours says in a sentence what to mend; of -32000 it has the fields of a LEAGUE_ERROR." },
        },
        "required": ["code", "message"],
    })
}

/// A document under construction: schemas that refer to each other by name.
pub(super) struct Book {
    generator: SchemaGenerator,
    at: &'static str,
    messages: Map<String, Value>,
}

impl Book {
    /// `at` is where the document will keep its definitions.
    pub(super) fn new(at: &'static str) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = at.into());
        Self { generator: settings.into_generator(), at, messages: Map::new() }
    }

    /// A reference to the message, which is defined if it was not yet.
    pub(super) fn message(&mut self, kind: MessageType) -> Value {
        if !self.messages.contains_key(kind.name()) {
            let schema = whole(kind, &mut self.generator);
            self.messages.insert(kind.name().to_owned(), schema.to_value());
        }
        json!({ "$ref": format!("#{}/{kind}", self.at) })
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Value> {
        self.messages.get(name)
    }

    /// What a method takes, and whether it can do without.
    pub(super) fn params(&mut self, method: &Method) -> (Value, bool) {
        match method.carries {
            Carries::Message(kind) => (self.message(kind), true),
            Carries::Question(question) => {
                let schema = self.question(question);
                let must = schema.get("required").is_some();
                (schema.to_value(), must)
            }
        }
    }

    fn question(&mut self, question: Question) -> Schema {
        let generator = &mut self.generator;
        match question {
            Question::Schedule => json_schema!({
                "type": "object",
                "properties": { "round_id": generator.subschema_for::<Option<RoundId>>() },
            }),
            Question::Stats => json_schema!({
                "type": "object",
                "properties": { "player_id": generator.subschema_for::<PlayerId>() },
                "required": ["player_id"],
            }),
            Question::Games => json_schema!({
                "type": "object",
                "properties": { "game_type": generator.subschema_for::<Option<GameType>>() },
            }),
            Question::MatchState => json_schema!({
                "type": "object",
                "properties": { "match_id": generator.subschema_for::<Option<MatchId>>() },
            }),
            Question::Standings => json_schema!({
                "type": "object",
                "properties": { "detail": {
                    "type": ["boolean", "null"],
                    "description": "True to be told our additions to each row also where they make the answer larger than 10 KB.",
                } },
            }),
            Question::Status
            | Question::Referees
            | Question::PlayerState
            | Question::Ping
            | Question::Discover => json_schema!({ "type": "object" }),
        }
    }

    /// What a method gives back.
    pub(super) fn result(&mut self, method: &Method) -> Value {
        let mut answers: Vec<_> = method.answers.iter().map(|answer| self.answer(*answer)).collect();
        match answers.len() {
            1 => answers.remove(0),
            _ => json!({ "anyOf": answers }),
        }
    }

    fn answer(&mut self, answer: Answers) -> Value {
        match answer {
            Answers::Message(kind) => self.message(kind),
            Answers::Received => json!({
                "description": "Any result at all will do, as nothing is owed.",
                "examples": [{ "status": "received" }],
            }),
            Answers::Later => json!({
                "type": "object",
                "description": "An acknowledgement: the answer follows as a request of its own, within the same time.",
                "properties": { "status": { "type": "string" }, "message_type": false },
                "required": ["status"],
                "examples": [{ "status": "received" }],
            }),
            Answers::Alive => json!({
                "type": "object",
                "properties": { "status": { "const": "ok" } },
                "required": ["status"],
            }),
            Answers::State => json!({
                "type": "object",
                "description": "For people who debug: what is in it may change.",
            }),
            Answers::Document => json!({
                "type": "object",
                "description": "An OpenRPC document.",
                "properties": { "openrpc": { "type": "string" }, "methods": { "type": "array" } },
                "required": ["openrpc", "info", "methods"],
            }),
        }
    }

    /// All that was defined.
    pub(super) fn close(mut self) -> Map<String, Value> {
        let mut definitions = self.generator.take_definitions(false);
        definitions.append(&mut self.messages);
        definitions
    }
}
