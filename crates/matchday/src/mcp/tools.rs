//! A tool: what it is called, what it takes and gives, what it changes; and how all that is shown to clients.

use super::catalogue::entries;
use super::schema;
use matchday_core::protocol::MessageType;
use matchday_core::protocol::methods::Party;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

/// One thing that can be asked of an agent.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    title: &'static str,
    about: &'static str,
    pub(super) takes: Takes,
    gives: Gives,
    effect: Effect,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Takes {
    /// A league message.
    Message(MessageType),
    /// A question, with what must or may be said in it.
    Question(&'static [Param]),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
    pub(super) required: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Gives {
    Message(MessageType),
    /// That it was received, and no more.
    Receipt,
    /// Something that is not a league message, with the fields it has.
    Data(&'static [(&'static str, &'static str)]),
    /// The matches of a referee, or one of them.
    Matches,
}

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// The same whether it is called once or again.
    Once,
    /// Something more each time.
    EachTime,
    /// Something that cannot be undone.
    Destroys,
}

impl Entry {
    pub(super) const fn message(
        name: &'static str,
        title: &'static str,
        kind: MessageType,
        gives: Gives,
        effect: Effect,
        about: &'static str,
    ) -> Self {
        Self { name, title, about, takes: Takes::Message(kind), gives, effect }
    }

    pub(super) const fn notice(
        name: &'static str,
        title: &'static str,
        kind: MessageType,
        about: &'static str,
    ) -> Self {
        Self::message(name, title, kind, Gives::Receipt, Effect::Once, about)
    }

    pub(super) const fn question(
        name: &'static str,
        title: &'static str,
        params: &'static [Param],
        gives: Gives,
        about: &'static str,
    ) -> Self {
        Self { name, title, about, takes: Takes::Question(params), gives, effect: Effect::Nothing }
    }

    fn tool(&self) -> Tool {
        let input = match self.takes {
            Takes::Message(kind) => schema::input(kind),
            Takes::Question(params) => params_schema(params),
        };
        let output = schema::output(match self.gives {
            Gives::Message(kind) => schema::message(kind),
            Gives::Receipt => fields_schema(&[("status", "string")]),
            Gives::Data(fields) => fields_schema(fields),
            Gives::Matches => matches_schema(),
        });
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Nothing)
            .destructive(self.effect == Effect::Destroys)
            .idempotent(matches!(self.effect, Effect::Nothing | Effect::Once))
            .open_world(false);
        Tool::new(self.name, self.about, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(hints)
    }
}

fn params_schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<_, _> = params
        .iter()
        .map(|param| (param.name.to_owned(), json!({"type": param.kind, "description": param.about})))
        .collect();
    let required: Vec<_> = params.iter().filter(|param| param.required).map(|param| param.name).collect();
    schema::object(json!({"type": "object", "properties": properties, "required": required}))
}

fn fields_schema(fields: &[(&str, &str)]) -> Map<String, Value> {
    let properties: Map<_, _> =
        fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let required: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    schema::object(json!({"type": "object", "properties": properties, "required": required}))
}

fn matches_schema() -> Map<String, Value> {
    let player = json!({
        "type": "object",
        "properties": {
            "player_id": {"type": "string"},
            "owes": {"type": ["string", "null"], "description": "The message that is waited for"},
            "until": {"type": ["string", "null"], "description": "When the present try ends"},
            "retry_count": {"type": "integer"},
            "forfeited": {"type": "boolean"},
        },
        "required": ["player_id", "owes", "until", "retry_count", "forfeited"],
    });
    let game = json!({
        "type": "object",
        "properties": {
            "match_id": {"type": "string"},
            "phase": {"type": "string"},
            "attempt": {"type": "integer"},
            "game_type": {"type": "string"},
            "players": {"type": "array", "items": player},
        },
        "required": ["match_id", "phase"],
    });
    let all = json!({
        "type": "object",
        "properties": {
            "matches": {"type": "array", "items": game},
            "waiting": {"type": "integer", "description": "How many matches have not begun"},
        },
        "required": ["matches", "waiting"],
    });
    schema::object(json!({"type": "object", "anyOf": [all, game]}))
}

pub(super) fn find(role: Party, name: &str) -> Option<&'static Entry> {
    entries(role).iter().find(|entry| entry.name == name)
}

/// The tools of a role as clients are shown them.
pub(super) fn list(role: Party) -> &'static [Tool] {
    static LISTS: LazyLock<[Vec<Tool>; 3]> = LazyLock::new(|| {
        [Party::Manager, Party::Referee, Party::Player]
            .map(|role| entries(role).iter().map(Entry::tool).collect())
    });
    let [manager, referee, player] = &*LISTS;
    match role {
        Party::Manager => manager,
        Party::Referee => referee,
        Party::Player => player,
    }
}
