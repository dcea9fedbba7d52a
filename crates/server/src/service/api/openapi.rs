//! The OpenAPI document of a service. Paths, methods, summaries and who may call come from the table of routes, schemas from the
//! types of what is sent and answered. Values only.

use super::types::{
    ArchivedLeague, ClusterStatus, ConfigureLeague, ConfigureSeason, ConfiguredLeague,
    CreateLeagues, CreateSeason, CreatedLeagues, CreatedSeason, DeletedLeague, ImportLeague,
    LeagueAddress, LeagueDetails, LeagueList, Refusal, SeasonDetails, SeasonList, SeasonPlayer,
    SeasonSummary, StartedLeague,
};
use matchday_runtime::routes::{BodyLimit, Permission, ROUTES, Route, ServiceRoute, Target};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The schemas of types, each under its name.
struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
        });
        Self {
            requests: settings.clone().for_deserialize().into_generator(),
            answers: settings.for_serialize().into_generator(),
        }
    }

    fn answered<T: JsonSchema>(&mut self, status: u16, what: &'static str) -> Operation {
        let answer = (status, what, self.answers.subschema_for::<T>());
        Operation {
            takes: None,
            query: Vec::new(),
            answer,
            refusals: Vec::new(),
        }
    }

    /// All that have been named.
    fn take(mut self) -> Map<String, Value> {
        let mut all = self.requests.take_definitions(true);
        all.extend(self.answers.take_definitions(true));
        all
    }
}

/// What an operation takes, and what it answers.
struct Operation {
    takes: Option<Schema>,
    /// Parameters of the query: name, type and meaning.
    query: Vec<(&'static str, &'static str, &'static str)>,
    answer: (u16, &'static str, Schema),
    refusals: Vec<(u16, &'static str)>,
}

impl Operation {
    fn takes<T: JsonSchema>(mut self, schemas: &mut Schemas) -> Self {
        self.takes = Some(schemas.requests.subschema_for::<T>());
        self
    }

    fn asked_with(mut self, name: &'static str, kind: &'static str, what: &'static str) -> Self {
        self.query.push((name, kind, what));
        self
    }

    fn refuses(mut self, status: u16, why: &'static str) -> Self {
        self.refusals.push((status, why));
        self
    }
}

const NO_LEAGUE: &str = "There is no such league, or it is not open to readers";
const NO_SEASON: &str = "There is no such season, or it is not open to readers";

/// `None` for what is no part of the API: pages, health, metrics, and this document.
fn operation(route: ServiceRoute, schemas: &mut Schemas) -> Option<Operation> {
    Some(match route {
        ServiceRoute::ListLeagues => schemas
            .answered::<LeagueList>(200, "A page of the leagues")
            .asked_with(
                "limit",
                "integer",
                "How many, at most; 100 unless it is given, up to 500",
            )
            .asked_with(
                "after",
                "string",
                "Those whose names come after this one: `next` of the page before",
            )
            .asked_with("search", "string", "Those that have this in their names")
            .refuses(400, "The limit is no number"),
        ServiceRoute::CreateLeagues => schemas
            .answered::<CreatedLeagues>(
                201,
                "The leagues, with their secrets, which are shown only once",
            )
            .takes::<CreateLeagues>(schemas)
            .refuses(400, "A setting or a roster that cannot be")
            .refuses(409, "An id is taken, or a quota is full"),
        ServiceRoute::ImportLeague => schemas
            .answered::<LeagueAddress>(201, "The league")
            .takes::<ImportLeague>(schemas)
            .refuses(400, "The file cannot be read, or holds no league")
            .refuses(409, "The id is taken, or a quota is full"),
        ServiceRoute::ShowLeague => schemas
            .answered::<LeagueDetails>(200, "The league; fault says why its log cannot be read")
            .refuses(404, NO_LEAGUE)
            .refuses(
                503,
                "The store is unavailable, or too much is being read: try again after Retry-After",
            ),
        ServiceRoute::ConfigureLeague => schemas
            .answered::<ConfiguredLeague>(200, "Changed")
            .takes::<ConfigureLeague>(schemas)
            .refuses(400, "A setting that cannot be")
            .refuses(404, NO_LEAGUE)
            .refuses(409, "The league has begun, or a quota is full"),
        ServiceRoute::DeleteLeague => schemas
            .answered::<DeletedLeague>(200, "Removed")
            .refuses(404, NO_LEAGUE),
        ServiceRoute::ArchiveLeague => schemas
            .answered::<ArchivedLeague>(200, "Archived; file says where")
            .refuses(404, NO_LEAGUE)
            .refuses(409, "The file exists already"),
        ServiceRoute::ListSeasons => schemas.answered::<SeasonList>(200, "The seasons"),
        ServiceRoute::CreateSeason => schemas
            .answered::<CreatedSeason>(
                201,
                "The season, with its secrets, which are shown only once",
            )
            .takes::<CreateSeason>(schemas)
            .refuses(
                400,
                "A schedule, a time zone, a setting or a roster that cannot be",
            )
            .refuses(409, "The name is taken, or a quota is full"),
        ServiceRoute::ShowSeason => schemas
            .answered::<SeasonDetails>(200, "The season")
            .refuses(404, NO_SEASON),
        ServiceRoute::ConfigureSeason => schemas
            .answered::<SeasonSummary>(200, "The season as it is from now on")
            .takes::<ConfigureSeason>(schemas)
            .refuses(
                400,
                "A schedule, a time zone, a setting or a roster that cannot be",
            )
            .refuses(404, "There is no such season")
            .refuses(409, "A quota is full"),
        ServiceRoute::RunSeason => schemas
            .answered::<StartedLeague>(200, "The league that has started")
            .refuses(404, "There is no such season")
            .refuses(409, "The season is not in a state for that"),
        ServiceRoute::PauseSeason | ServiceRoute::ResumeSeason | ServiceRoute::EndSeason => schemas
            .answered::<SeasonSummary>(200, "Done")
            .refuses(404, "There is no such season")
            .refuses(409, "The season is not in a state for that"),
        ServiceRoute::Cluster => schemas.answered::<ClusterStatus>(200, "The services"),
        ServiceRoute::SeasonPlayer => schemas
            .answered::<SeasonPlayer>(200, "Its row of the table, and each league")
            .refuses(
                404,
                "There is no such season or player, or it is not open to readers",
            ),
        ServiceRoute::OpenApi
        | ServiceRoute::SeasonPage
        | ServiceRoute::LeagueList
        | ServiceRoute::Asset
        | ServiceRoute::Live
        | ServiceRoute::Ready
        | ServiceRoute::Metrics
        | ServiceRoute::LeagueRedirect => return None,
    })
}

/// Served at `/api/openapi.json`.
pub(in crate::service) fn document() -> Value {
    let mut schemas = Schemas::new();
    let refusal = schemas.answers.subschema_for::<Refusal>();
    let mut paths = Map::new();
    for route in ROUTES {
        if let Target::Service(target) = route.target
            && let Some(operation) = operation(target, &mut schemas)
            && let Some(path) = paths
                .entry(route.path)
                .or_insert_with(|| Value::Object(Map::new()))
                .as_object_mut()
        {
            let described = described(route, operation, &refusal);
            path.insert(route.method.as_str().to_ascii_lowercase(), described);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Matchday service",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Creates and removes the leagues of a service. A league itself is played at its own address.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"service_token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas.take(),
        },
    })
}

fn described(route: &Route, operation: Operation, refusal: &Schema) -> Value {
    let content = |schema: &Schema| json!({"application/json": {"schema": schema}});
    let response =
        |what: &str, schema: &Schema| json!({"description": what, "content": content(schema)});
    let Operation {
        takes,
        query,
        answer: (status, what, schema),
        mut refusals,
    } = operation;
    let mut security = vec![json!({"service_token": []})];
    if route.permission == Permission::Service {
        refusals.push((401, "No service token, or a wrong one"));
    } else {
        security.insert(0, json!({}));
    }
    if matches!(route.body, BodyLimit::Bytes(_)) {
        refusals.push((413, "The body is too long"));
    }
    let mut responses = Map::from_iter([(status.to_string(), response(what, &schema))]);
    responses.extend(
        refusals
            .iter()
            .map(|(status, why)| (status.to_string(), response(why, refusal))),
    );
    let queried = query.into_iter().map(|(name, kind, what)| {
        json!({"name": name, "in": "query", "required": false, "description": what, "schema": {"type": kind}})
    });
    let parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .chain(queried)
        .collect();
    let mut described = json!({
        "summary": route.summary,
        "security": security,
        "parameters": parameters,
        "responses": responses,
    });
    if let (Some(takes), Some(described)) = (takes, described.as_object_mut()) {
        described.insert(
            "requestBody".to_owned(),
            json!({"required": true, "content": content(&takes)}),
        );
    }
    described
}
