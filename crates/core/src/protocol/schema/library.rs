//! All documents together, each under the path it has in a folder and on an endpoint.

use super::{ID_PREFIX, META_SCHEMA, exchange, finished, message, openrpc};
use crate::protocol::PROTOCOL;
use crate::protocol::message::MessageType;
use crate::protocol::methods::{Method, Party, Query};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `data` of a query's answer, as our manager sends it; `None` if LEAGUE_QUERY does not ask it. The strict reading takes any
/// object there.
pub fn data(query: Query) -> Option<Value> {
    let spec = query.spec();
    let name = spec.query_type?;
    let mut schema = (spec.data?)();
    if let Some(schema) = schema.as_object_mut() {
        let description = format!("`data` of LEAGUE_QUERY_RESPONSE to {name}.");
        schema.insert("$id".into(), format!("{ID_PREFIX}data:{name}").into());
        schema.insert("title".into(), name.into());
        schema.insert("description".into(), description.into());
    }
    Some(finished(schema))
}

/// Every document, by its path: `messages/GAME_OVER.json`, `methods/choose_parity.json`, `data/GET_STANDINGS.json`,
/// `openrpc/player.json`, and `index.json`, which names them all.
#[derive(Debug, Clone)]
pub struct Library(BTreeMap<String, Value>);

impl Library {
    /// The path of the document that names all others.
    pub const INDEX: &'static str = "index.json";

    /// Generates every document anew: keep the result.
    pub fn new() -> Self {
        let messages = MessageType::ALL
            .iter()
            .map(|&kind| (format!("messages/{kind}.json"), message(kind)));
        let methods = Method::all()
            .map(|method| (format!("methods/{}.json", method.name), exchange(&method)));
        let data = Query::types()
            .filter_map(|(query, name)| Some((format!("data/{name}.json"), data(query)?)));
        let roles = Party::ALL
            .iter()
            .map(|&party| (Self::openrpc_path(party), openrpc(party)));
        let mut documents: BTreeMap<_, _> =
            messages.chain(methods).chain(data).chain(roles).collect();
        documents.insert(Self::INDEX.to_owned(), index(&documents));
        Self(documents)
    }

    /// Where the OpenRPC document of a kind of agent is.
    pub fn openrpc_path(party: Party) -> String {
        format!("openrpc/{}.json", party.name())
    }

    /// What a document calls itself, whatever edition it is: `None` if it is not one of these.
    pub fn identity(document: &Value) -> Option<&str> {
        let name = document
            .get("$id")
            .or_else(|| document.get("x-id"))?
            .as_str()?;
        name.starts_with(ID_PREFIX).then_some(name)
    }

    /// The document at this path, `messages/GAME_OVER.json`.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.0.get(path)
    }

    /// Every document with its path, in the order of paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0
            .iter()
            .map(|(path, document)| (path.as_str(), document))
    }
}

impl Default for Library {
    fn default() -> Self {
        Self::new()
    }
}

fn index(documents: &BTreeMap<String, Value>) -> Value {
    let entries = documents.iter().map(|(path, document)| {
        // An OpenRPC document has its title a level deeper.
        let about = document.get("info").unwrap_or(document);
        json!({ "path": path, "title": about.get("title"), "description": about.get("description") })
    });
    json!({
        "$id": format!("{ID_PREFIX}index"),
        "protocol": PROTOCOL,
        "version": env!("CARGO_PKG_VERSION"),
        "json_schema": META_SCHEMA,
        "documents": entries.collect::<Vec<_>>(),
    })
}
