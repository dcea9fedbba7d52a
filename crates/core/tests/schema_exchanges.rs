//! Requests with their answers, and what each kind of agent serves: schemas, OpenRPC documents, and the table behind them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

use jsonschema::Validator;
use matchday_core::protocol::methods::{Method, Party};
use matchday_core::protocol::schema::{self, Library};
use matchday_testkit::golden::exchanges;
use matchday_testkit::schemas::{Schemas, validator};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The validator of a part of a method's document.
fn half(method: &Method, part: &str) -> Validator {
    let mut document = schema::exchange(method);
    document.as_object_mut().unwrap().remove("anyOf");
    document["$ref"] = json!(format!("#/$defs/{part}"));
    validator(&document)
}

#[test]
fn every_golden_exchange_fits_the_schema_of_its_method() {
    for exchanged in exchanges::all() {
        let (request, response) = exchanged.parsed(7);
        let asked = half(&exchanged.method(), "request");
        let answered = half(&exchanged.method(), "response");
        let refused = exchanged.name == "register_player-refused";
        assert_eq!(asked.is_valid(&request), !refused, "{}", exchanged.name);
        assert!(answered.is_valid(&response), "{}", exchanged.name);
        assert!(
            !asked.is_valid(&response) && !answered.is_valid(&request),
            "{}",
            exchanged.name
        );
    }
}

#[test]
fn an_answer_to_another_question_does_not_fit() {
    let choice = exchanges::named("choose_parity").parsed(7).1;
    let join = exchanges::named("handle_game_invitation").parsed(7).1;
    let answered = half(&Method::named("choose_parity").unwrap(), "response");
    assert!(answered.is_valid(&choice) && !answered.is_valid(&join));
    assert!(
        answered.is_valid(&json!({"jsonrpc": "2.0", "id": 7, "result": {"status": "received"}}))
    );
    let error = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "Method not found"}});
    assert!(answered.is_valid(&error));
    assert!(!answered.is_valid(&json!({"jsonrpc": "2.0", "id": 7})));
}

#[test]
fn the_data_of_every_query_fits_what_the_manager_promises() {
    let schemas = Schemas::new();
    for name in [
        "league_query",
        "league_query-standings",
        "league_query-schedule",
        "league_query-players",
    ] {
        let (_, response) = exchanges::named(name).parsed(1);
        assert_eq!(
            schemas.faults_of_ours(&response["result"]),
            [""; 0],
            "{name}"
        );
        let mut without = response["result"].clone();
        without["data"] = json!({});
        assert_ne!(schemas.faults_of_ours(&without), [""; 0], "{name}");
    }
}

#[test]
fn every_document_but_openrpc_and_the_index_is_a_schema() {
    let library = Library::new();
    let mut count = 0;
    for (path, document) in library.iter() {
        assert!(Library::identity(document).is_some(), "{path}");
        if document.get("$schema").is_some() {
            assert!(jsonschema::draft202012::meta::is_valid(document), "{path}");
            assert_eq!(dangling(document, document), [""; 0], "{path}");
            count += 1;
        }
    }
    assert_eq!(count + Party::ALL.len() + 1, library.iter().count());
}

#[test]
fn the_index_names_every_other_document() {
    let library = Library::new();
    let index = library.get(Library::INDEX).unwrap()["documents"]
        .as_array()
        .unwrap();
    let named: BTreeSet<_> = index
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    let there: BTreeSet<_> = library
        .iter()
        .map(|(path, _)| path)
        .filter(|path| *path != Library::INDEX)
        .collect();
    assert_eq!(named, there);
    assert!(
        index
            .iter()
            .all(|entry| entry["title"].is_string() && entry["description"].is_string())
    );
}

/// The references in a document that lead nowhere.
fn dangling(document: &Value, part: &Value) -> Vec<String> {
    match part {
        Value::Object(fields) => {
            let lost = fields.get("$ref").and_then(Value::as_str).filter(|path| {
                path.strip_prefix('#')
                    .and_then(|pointer| document.pointer(pointer))
                    .is_none()
            });
            let below = fields.values().flat_map(|part| dangling(document, part));
            lost.map(str::to_owned).into_iter().chain(below).collect()
        }
        Value::Array(parts) => parts
            .iter()
            .flat_map(|part| dangling(document, part))
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn an_openrpc_document_has_all_that_openrpc_demands() {
    for party in Party::ALL {
        let document = schema::openrpc(party);
        assert_eq!(document["openrpc"], schema::OPENRPC);
        assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
        assert!(
            document["servers"][0]["url"].is_string() && document["servers"][0]["name"].is_string()
        );
        assert_eq!(dangling(&document, &document), [""; 0]);
        let known = [
            "openrpc",
            "x-id",
            "info",
            "servers",
            "methods",
            "components",
        ];
        assert!(
            document
                .as_object()
                .unwrap()
                .keys()
                .all(|key| known.contains(&key.as_str()))
        );
        for schema in document["components"]["schemas"]
            .as_object()
            .unwrap()
            .values()
        {
            assert!(
                jsonschema::draft7::meta::is_valid(schema),
                "OpenRPC knows draft 7: {schema:#}"
            );
        }
        let methods = document["methods"].as_array().unwrap();
        let names: BTreeSet<_> = methods
            .iter()
            .map(|method| method["name"].as_str().unwrap())
            .collect();
        assert_eq!(names.len(), methods.len(), "a name stands once");
        methods.iter().for_each(assert_method);
    }
}

fn assert_method(method: &Value) {
    let name = method["name"].as_str().unwrap();
    assert_eq!(method["paramStructure"], "by-name", "{name}");
    assert!(
        method["summary"].is_string() && method["result"]["name"].is_string(),
        "{name}"
    );
    assert!(method["result"]["schema"].is_object(), "{name}");
    let params = method["params"].as_array().unwrap();
    let names: BTreeSet<_> = params
        .iter()
        .map(|param| param["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), params.len(), "{name}");
    assert!(
        params.iter().all(|param| !param["schema"].is_null()),
        "{name}"
    );
    let required: Vec<_> = params
        .iter()
        .map(|param| param["required"].as_bool().unwrap())
        .collect();
    assert!(
        required.is_sorted_by(|a, b| a >= b),
        "{name}: what is required comes first"
    );
    let codes: BTreeSet<_> = method["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["code"].as_i64().unwrap())
        .collect();
    assert_eq!(
        codes,
        [-32700, -32600, -32601, -32602, -32603].into(),
        "{name}"
    );
}

#[test]
fn every_agent_documents_exactly_what_it_serves() {
    for party in Party::ALL {
        let document = schema::openrpc(party);
        let told: BTreeSet<_> = document["methods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|method| method["name"].as_str().unwrap())
            .collect();
        let served: BTreeSet<_> = Method::all()
            .filter(|method| method.is_served_by(party))
            .flat_map(|method| method.names())
            .collect();
        assert_eq!(told, served, "{party:?}");
        assert!(told.contains("rpc.discover") && told.contains("ping"));
    }
}
