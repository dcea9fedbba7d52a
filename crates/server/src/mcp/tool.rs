//! The definition of a tool (name, input, output, effect), and how it is shown to clients.

use super::schema;
use super::tool_table::entries;
use matchday_core::protocol::MessageType;
use matchday_core::protocol::methods::{MethodResult, Party, Query, QueryParam, QuerySpec};
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

/// How long a client may cache the list of tools. It never changes, but clients outlive servers.
const TOOLS_TTL_MS: u64 = 60_000;

/// The tools of a manager that are offered beside those of seats. The others can be called all the same.
const FOR_SEATS: [&str; 4] = [
    "get_standings",
    "get_schedule",
    "get_status",
    "get_player_stats",
];

/// One tool of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolEntry {
    pub(super) name: &'static str,
    title: &'static str,
    about: &'static str,
    pub(super) input: Input,
    output: Output,
    effect: Effect,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Input {
    /// A league message.
    Message(MessageType),
    Query(Query),
}

#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub kind: &'static str,
    pub about: &'static str,
    pub required: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Output {
    Message(MessageType),
    /// Data that is not a league message: names and JSON types of its fields.
    Data(&'static [(&'static str, &'static str)]),
}

/// Only an acknowledgement.
const RECEIPT: Output = Output::Data(&[("status", "string")]);

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    ReadOnly,
    /// A repeated call changes nothing more.
    Idempotent,
    /// Each call adds something.
    Additive,
    /// Cannot be undone.
    Destructive,
}

impl ToolEntry {
    pub(super) const fn message(
        name: &'static str,
        title: &'static str,
        kind: MessageType,
        output: Output,
        effect: Effect,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            title,
            about,
            input: Input::Message(kind),
            output,
            effect,
        }
    }

    pub(super) const fn notice(
        name: &'static str,
        title: &'static str,
        kind: MessageType,
        about: &'static str,
    ) -> Self {
        Self::message(name, title, kind, RECEIPT, Effect::Idempotent, about)
    }

    /// The query as a tool, if it is offered as one.
    fn query(query: Query) -> Option<Self> {
        let QuerySpec {
            method,
            tool,
            about,
            results,
            fields,
            ..
        } = query.spec();
        let output = match results {
            [MethodResult::Message(kind), ..] => Output::Message(*kind),
            _ => Output::Data(fields),
        };
        let name = method?;
        let title = tool?;
        let input = Input::Query(query);
        Some(Self {
            name,
            title,
            about,
            input,
            output,
            effect: Effect::ReadOnly,
        })
    }

    fn tool(&self) -> Tool {
        let input = match self.input {
            Input::Message(kind) => schema::input(kind),
            Input::Query(query) => {
                let param = |param: &QueryParam| Param {
                    name: param.name(),
                    kind: param.json_type(),
                    about: param.about(),
                    required: param.is_required(),
                };
                params_schema(&query.spec().params.iter().map(param).collect::<Vec<_>>())
            }
        };
        let output = match self.output {
            Output::Message(kind) => schema::output(kind),
            Output::Data(fields) => schema::fields(fields),
        };
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::ReadOnly)
            .destructive(self.effect == Effect::Destructive)
            .idempotent(matches!(self.effect, Effect::ReadOnly | Effect::Idempotent))
            .open_world(false);
        Tool::new(self.name, self.about, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(hints)
    }
}

/// The tools of a manager that are shown to a client that can take a seat.
pub(crate) fn beside_seats() -> impl Iterator<Item = &'static Tool> {
    list(Party::Manager)
        .iter()
        .filter(|tool| FOR_SEATS.contains(&&*tool.name))
}

pub fn params_schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<_, _> = params
        .iter()
        .map(|param| {
            (
                param.name.to_owned(),
                json!({"type": param.kind, "description": param.about}),
            )
        })
        .collect();
    let required: Vec<_> = params
        .iter()
        .filter(|param| param.required)
        .map(|param| param.name)
        .collect();
    schema::object(json!({"type": "object", "properties": properties, "required": required}))
}

pub(super) fn find(role: Party, name: &str) -> Option<ToolEntry> {
    tools(role).find(|entry| entry.name == name)
}

fn tools(role: Party) -> impl Iterator<Item = ToolEntry> {
    let queries = Query::ALL
        .into_iter()
        .filter(move |query| query.spec().served_by.contains(&role));
    entries(role)
        .iter()
        .copied()
        .chain(queries.filter_map(ToolEntry::query))
}

/// The tools of a role as clients are shown them.
pub(crate) fn list(role: Party) -> &'static [Tool] {
    static LISTS: LazyLock<[Vec<Tool>; 3]> = LazyLock::new(|| {
        [Party::Manager, Party::Referee, Party::Player]
            .map(|role| tools(role).map(|entry| entry.tool()).collect())
    });
    let [manager, referee, player] = &*LISTS;
    match role {
        Party::Manager => manager,
        Party::Referee => referee,
        Party::Player => player,
    }
}

/// The reply to `tools/list`.
pub fn list_result<'a>(tools: impl Iterator<Item = &'a Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(tools.cloned().collect())
        .with_ttl_ms(TOOLS_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

pub fn unknown(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}
