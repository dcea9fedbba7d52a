//! What an agent serves, as an OpenRPC document: one for each kind of agent, from the table of methods.

use super::exchange::{Book, summary};
use super::{ID_PREFIX, finished};
use crate::protocol::jsonrpc::Fault;
use crate::protocol::methods::{Method, Party};
use serde_json::{Value, json};

/// The version of OpenRPC that the documents are written in.
pub const OPENRPC: &str = "1.3.2";

const SCHEMAS: &str = "/components/schemas";

/// The document of one kind of agent.
pub fn openrpc(party: Party) -> Value {
    let mut book = Book::new(SCHEMAS);
    let methods: Vec<_> = Method::all()
        .filter(|method| method.is_served_by(party))
        .flat_map(|method| method.names().map(move |name| (name, method)))
        .map(|(name, method)| describe(name, &method, &mut book))
        .collect();
    finished(json!({
        "openrpc": OPENRPC,
        "x-id": format!("{ID_PREFIX}openrpc:{}", party.name()),
        "info": {
            "title": format!("league.v2 {}", party.name()),
            "description": "What this agent serves at POST /mcp, in the standard dialect. A league message is the whole \
                            of `params`. What the schemas describe is what the strict reading demands; fields that are \
                            not named are allowed and ignored.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "servers": [{ "name": party.name(), "url": "/mcp" }],
        "methods": methods,
        "components": { "schemas": book.close() },
    }))
}

fn describe(name: &str, method: &Method, book: &mut Book) -> Value {
    let (whole, _) = book.params(method);
    let params = params(&whole, book);
    json!({
        "name": name,
        "summary": summary(method),
        "paramStructure": "by-name",
        "params": params,
        // A list of parameters cannot say which depend on which; this can.
        "x-params": whole,
        "result": { "name": "result", "schema": book.result(method) },
        "errors": errors(),
    })
}

/// The fields of `params` one by one, as OpenRPC wants them.
fn params(whole: &Value, book: &Book) -> Vec<Value> {
    let named = whole
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.rsplit('/').next());
    let object = named
        .and_then(|name| book.definition(name))
        .unwrap_or(whole);
    let required = object.get("required").and_then(Value::as_array);
    let must = |name: &String| {
        required.is_some_and(|required| required.contains(&Value::from(name.as_str())))
    };
    let fields = object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut params: Vec<_> = fields
        .map(|(name, schema)| json!({ "name": name, "required": must(name), "schema": schema }))
        .collect();
    // What is required comes before what is not.
    params.sort_by_key(|param| param.get("required") != Some(&Value::Bool(true)));
    params
}

fn errors() -> Vec<Value> {
    Fault::ALL
        .iter()
        .map(|fault| json!({ "code": fault.code(), "message": fault.message() }))
        .collect()
}
