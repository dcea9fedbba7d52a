//! The OpenAPI document of a service. Paths, methods, summaries and who may call come from the table of routes; what is sent and
//! answered stands here. Values only.

use matchday_runtime::routes::{BodyLimit, Permission, ROUTES, Route, ServiceRoute, Target};
use serde_json::{Map, Value, json};

/// What an operation takes and answers, by the names of schemas.
struct Operation {
    takes: Option<&'static str>,
    answers: (u16, &'static str, &'static str),
    refusals: &'static [(u16, &'static str)],
}

/// `None` for what is no part of the API: pages, health, metrics, and this document.
fn operation(route: ServiceRoute) -> Option<Operation> {
    let of = |takes, answers, refusals| Some(Operation { takes, answers, refusals });
    match route {
        ServiceRoute::ListLeagues => of(None, (200, "The leagues", "LeagueList"), &[]),
        ServiceRoute::CreateLeagues => of(
            Some("CreateRequest"),
            (201, "The leagues, with their secrets, which are shown this once", "CreatedList"),
            &[(400, "A setting or a roster that cannot be"), (409, "An id is taken, or a quota is full")],
        ),
        ServiceRoute::ImportLeague => of(
            Some("ImportRequest"),
            (201, "The league", "League"),
            &[
                (400, "The file cannot be read, or holds no league"),
                (409, "The id is taken, or a quota is full"),
            ],
        ),
        ServiceRoute::ShowLeague => of(
            None,
            (200, "The league; fault says why its log cannot be read", "League"),
            &[
                (404, NO_LEAGUE),
                (503, "The store is away, or too much is being read: try again after Retry-After"),
            ],
        ),
        ServiceRoute::ConfigureLeague => of(
            Some("ConfigureRequest"),
            (200, "Changed", "League"),
            &[
                (400, "A setting that cannot be"),
                (404, NO_LEAGUE),
                (409, "The league has begun, or a quota is full"),
            ],
        ),
        ServiceRoute::DeleteLeague => of(None, (200, "Removed", "League"), &[(404, NO_LEAGUE)]),
        ServiceRoute::ArchiveLeague => of(
            None,
            (200, "Archived; file says where", "League"),
            &[(404, NO_LEAGUE), (409, "The file exists already")],
        ),
        ServiceRoute::ListSeasons => of(None, (200, "The seasons", "SeasonList"), &[]),
        ServiceRoute::CreateSeason => of(
            Some("SeasonSpec"),
            (201, "The season, with its secrets, which are shown this once", "CreatedSeason"),
            &[
                (400, "A schedule, a time zone, a setting or a roster that cannot be"),
                (409, "The name is taken, or a quota is full"),
            ],
        ),
        ServiceRoute::ShowSeason => of(None, (200, "The season", "Season"), &[(404, NO_SEASON)]),
        ServiceRoute::RunSeason
        | ServiceRoute::PauseSeason
        | ServiceRoute::ResumeSeason
        | ServiceRoute::EndSeason => of(
            None,
            (200, "Done", "Season"),
            &[(404, "There is no such season"), (409, "The season is not in a state for that")],
        ),
        ServiceRoute::Cluster => of(None, (200, "The services", "ClusterStatus"), &[]),
        ServiceRoute::OpenApi
        | ServiceRoute::SeasonPage
        | ServiceRoute::Live
        | ServiceRoute::Ready
        | ServiceRoute::Metrics
        | ServiceRoute::LeagueRedirect => None,
    }
}

const NO_LEAGUE: &str = "There is no such league, or it is not open to readers";
const NO_SEASON: &str = "There is no such season, or it is not open to readers";

/// Served at `/api/openapi.json`.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        if let Target::Service(target) = route.target
            && let Some(operation) = operation(target)
            && let Some(path) =
                paths.entry(route.path).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
        {
            path.insert(route.method.as_str().to_ascii_lowercase(), described(route, &operation));
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
            "schemas": schemas(),
        },
    })
}

fn described(route: &Route, operation: &Operation) -> Value {
    let content = |schema: &str| json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}});
    let answer = |what: &str, schema: &str| json!({"description": what, "content": content(schema)});
    let (status, what, schema) = operation.answers;
    let mut responses = Map::new();
    responses.insert(status.to_string(), answer(what, schema));
    for (status, what) in operation.refusals {
        responses.insert(status.to_string(), answer(what, "Error"));
    }
    let security = match route.permission {
        Permission::Service => {
            responses.insert("401".to_owned(), answer("No service token, or a wrong one", "Error"));
            json!([{"service_token": []}])
        }
        _ => json!([{}, {"service_token": []}]),
    };
    if matches!(route.body, BodyLimit::Bytes(_)) {
        responses.insert("413".to_owned(), answer("The body is too long", "Error"));
    }
    let mut described = Map::new();
    described.insert("summary".to_owned(), json!(route.summary));
    described.insert("security".to_owned(), security);
    described.insert("responses".to_owned(), Value::Object(responses));
    let parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    if !parameters.is_empty() {
        described.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(schema) = operation.takes {
        described.insert("requestBody".to_owned(), json!({"required": true, "content": content(schema)}));
    }
    Value::Object(described)
}

fn schemas() -> Value {
    let mut schemas = league_schemas();
    if let (Some(schemas), Value::Object(of_seasons)) = (schemas.as_object_mut(), season_schemas()) {
        schemas.extend(of_seasons);
    }
    schemas
}

fn league_schemas() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let settings = json!({
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Settings by their keys, as in the section [league] of a configuration file: docs/operating.md, \
                        \"Every setting\"",
    });
    json!({
        "Error": {"type": "object", "properties": {"error": text}, "required": ["error"]},
        "ClusterStatus": {
            "type": "object",
            "required": ["processes"],
            "properties": {
                "processes": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "name": {"type": "string"},
                        "url": {"type": "string"},
                        "version": {"type": "string"},
                        "event_form": {"type": "integer"},
                        "started_at": {"type": "string"},
                        "lease_left_s": {"type": "number"},
                        "leagues": {"type": "integer"},
                        "weight": {"type": "integer"},
                        "takeovers": {"type": "integer"},
                        "answers": {"type": "boolean"},
                    },
                }},
                "this_process": {"type": "object"},
            },
        },
        "LeagueSpec": {
            "type": "object",
            "properties": {
                "league_id": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$"},
                "settings": settings,
                "roster": {"type": ["string", "null"], "description": "Who may register: CSV with name, role, mail"},
            },
            "required": ["league_id"],
            "additionalProperties": false,
        },
        "CreateRequest": {
            "type": "object",
            "properties": {"leagues": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/LeagueSpec"}}},
            "required": ["leagues"],
            "additionalProperties": false,
        },
        "ConfigureRequest": {
            "type": "object",
            "properties": {"settings": settings},
            "required": ["settings"],
            "additionalProperties": false,
        },
        "ImportRequest": {
            "type": "object",
            "properties": {
                "file": {"type": "string", "description": "A path on the machine of the service"},
                "league_id": {"type": ["string", "null"], "description": "Of a file with several leagues: which one"},
            },
            "required": ["file"],
            "additionalProperties": false,
        },
        "League": {
            "type": "object",
            "properties": {
                "league_id": text, "game_type": text, "url": text, "page": text, "created_at": text,
                "state": {"enum": ["awake", "asleep", "quarantined", "elsewhere"]},
                "exchange_bytes": number, "phase": text, "players": number, "referees": number, "matches": number,
                "matches_decided": number, "champion": {"type": ["string", "null"]}, "settings": settings, "file": text,
                "seat_code": {"type": ["string", "null"]}, "fault": text,
            },
            "required": ["league_id"],
        },
        "LeagueList": {
            "type": "object",
            "properties": {"leagues": {"type": "array", "items": {"$ref": "#/components/schemas/League"}}},
        },
        "Created": {
            "type": "object",
            "properties": {
                "league_id": text, "url": text, "page": text,
                "operator_token": {"type": ["string", "null"], "description": "Unless it was among the settings"},
                "referee_code": {"type": ["string", "null"], "description": "For referees of others"},
                "seat_code": {"type": ["string", "null"], "description": "For clients of seats, if one was made"},
                "join_codes": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"name": text, "role": text, "mail": text, "join_code": text, "url": text},
                }},
            },
            "required": ["league_id", "url", "page"],
        },
        "CreatedList": {
            "type": "object",
            "properties": {"leagues": {"type": "array", "items": {"$ref": "#/components/schemas/Created"}}},
        },
    })
}

fn season_schemas() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let maybe = json!({"type": ["string", "null"]});
    let row = json!({
        "type": "object",
        "properties": {
            "player": text, "leagues": number, "played": number, "wins": number, "draws": number, "losses": number,
            "points": number,
            "rating": {"type": "number", "description": "Glicko-2, carried over from league to league"},
            "low": {"type": "number"}, "high": {"type": "number", "description": "The ends of the 95 % interval"},
        },
    });
    json!({
        "SeasonSpec": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$"},
                "schedule": {"type": ["string", "null"], "description": "Minute, hour, day, month and weekday as in a crontab; \
                             null to start leagues on demand alone"},
                "time_zone": {"type": ["string", "null"], "description": "Such as Europe/Berlin; UTC unless it is given"},
                "settings": {"type": "object", "additionalProperties": {"type": "string"}},
                "roster": {"type": ["string", "null"], "description": "Who may register: CSV with name, role, mail"},
            },
            "required": ["name"],
            "additionalProperties": false,
        },
        "Season": {
            "type": "object",
            "properties": {
                "name": text, "game_type": text, "state": {"enum": ["active", "paused", "ended"]}, "schedule": maybe,
                "time_zone": text, "starts_at": maybe, "skipped": maybe, "current_league": maybe,
                "leagues_played": number, "url": text, "page": text, "league_id": text,
                "leagues": {"type": "array", "items": {"type": "object", "properties": {
                    "league_id": text, "page": text, "ended": {"type": "boolean"},
                }}},
                "table": {"type": "array", "items": row},
            },
            "required": ["name"],
        },
        "SeasonList": {
            "type": "object",
            "properties": {"seasons": {"type": "array", "items": {"$ref": "#/components/schemas/Season"}}},
        },
        "CreatedSeason": {
            "type": "object",
            "properties": {
                "name": text, "url": text, "page": text, "operator_token": maybe, "referee_code": maybe, "seat_code": maybe,
                "join_codes": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["name", "url", "page"],
        },
    })
}
