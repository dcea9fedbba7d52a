//! A request and its answer as one schema: the message in its JSON-RPC, for each method of the table.

use super::{ID_PREFIX, META_SCHEMA, finished, whole};
use crate::protocol::MessageType;
use crate::protocol::ids::{GameType, MatchId, PlayerId, RoundId};
use crate::protocol::jsonrpc::TwoPointZero;
use crate::protocol::methods::{Method, MethodParams, MethodResult, Party, Query, QueryParam};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
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
            "method": { "enum": method.names().collect::<Vec<_>>() },
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
        "description": summary(method),
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
            "data": { "description": "Matchday's says in a sentence what to fix; of -32000 it has the fields of a LEAGUE_ERROR." },
        },
        "required": ["code", "message"],
    })
}

/// What a method is for, and who may ask.
pub(super) fn summary(method: &Method) -> String {
    match method.params {
        MethodParams::Query(_) if method.served_by == [Party::Manager] => {
            format!(
                "{} For anyone, unless the league is closed to readers.",
                method.summary
            )
        }
        _ => method.summary.to_owned(),
    }
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
        let settings =
            SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = at.into());
        Self {
            generator: settings.into_generator(),
            at,
            messages: Map::new(),
        }
    }

    /// A reference to the message, which is defined if it was not yet.
    pub(super) fn message(&mut self, kind: MessageType) -> Value {
        if !self.messages.contains_key(kind.name()) {
            let schema = whole(kind, &mut self.generator);
            self.messages
                .insert(kind.name().to_owned(), schema.to_value());
        }
        json!({ "$ref": format!("#{}/{kind}", self.at) })
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Value> {
        self.messages.get(name)
    }

    /// What a method takes, and whether it can do without.
    pub(super) fn params(&mut self, method: &Method) -> (Value, bool) {
        match method.params {
            MethodParams::Message(kind) => (self.message(kind), true),
            MethodParams::Query(query) => {
                let schema = self.query(query);
                let must = schema.get("required").is_some();
                (schema, must)
            }
        }
    }

    fn query(&mut self, query: Query) -> Value {
        let params = query.spec().params;
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        if !params.is_empty() {
            let properties = params
                .iter()
                .map(|param| (param.name().to_owned(), self.param(*param)));
            schema.insert(
                "properties".to_owned(),
                properties.collect::<Map<_, _>>().into(),
            );
        }
        let required: Vec<_> = params
            .iter()
            .filter(|param| param.is_required())
            .map(|param| param.name())
            .collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.into()
    }

    fn param(&mut self, param: QueryParam) -> Value {
        let generator = &mut self.generator;
        let schema = match param {
            QueryParam::Detail => {
                return json!({ "type": ["boolean", "null"], "description": param.about() });
            }
            QueryParam::RoundId => generator.subschema_for::<Option<RoundId>>(),
            QueryParam::PlayerId => generator.subschema_for::<PlayerId>(),
            QueryParam::GameType => generator.subschema_for::<Option<GameType>>(),
            QueryParam::MatchId => generator.subschema_for::<Option<MatchId>>(),
        };
        schema.to_value()
    }

    /// What a method gives back.
    pub(super) fn result(&mut self, method: &Method) -> Value {
        let mut results: Vec<_> = method
            .results
            .iter()
            .map(|result| self.one_result(*result))
            .collect();
        match results.len() {
            1 => results.remove(0),
            _ => json!({ "anyOf": results }),
        }
    }

    fn one_result(&mut self, result: MethodResult) -> Value {
        match result {
            MethodResult::Message(kind) => self.message(kind),
            MethodResult::Received => json!({
                "description": "Any result at all will do, as nothing is owed.",
                "examples": [{ "status": "received" }],
            }),
            MethodResult::Later => json!({
                "type": "object",
                "description": "An acknowledgement: the answer follows as a request of its own, within the same time.",
                "properties": { "status": { "type": "string" }, "message_type": false },
                "required": ["status"],
                "examples": [{ "status": "received" }],
            }),
            MethodResult::Alive => json!({
                "type": "object",
                "properties": { "status": { "const": "ok" } },
                "required": ["status"],
            }),
            MethodResult::State => json!({
                "type": "object",
                "description": "For people who debug: what is in it may change.",
            }),
            MethodResult::Document => json!({
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
