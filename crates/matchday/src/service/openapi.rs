//! The OpenAPI document of `/api/leagues`. Values only.

use serde_json::{Value, json};

/// Served at `/api/openapi.json`.
pub(crate) fn document() -> Value {
    let error = |what: &str| {
        json!({
            "description": what,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        })
    };
    let answer = |what: &str, schema: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        json!({"description": what, "content": {"application/json": {"schema": schema}}})
    };
    let body = |schema: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        json!({"required": true, "content": {"application/json": {"schema": schema}}})
    };
    let secured = json!([{"service_token": []}]);
    let id = json!([{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]);
    let denied = error("No service token, or a wrong one");
    let missing = error("There is no such league, or it is not open to readers");
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Matchday service",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Creates and removes the leagues of a service. A league itself is played at its own address.",
        },
        "paths": {
            "/api/leagues": {
                "get": {
                    "summary": "The leagues that the caller may see",
                    "security": [{}, {"service_token": []}],
                    "responses": {"200": answer("The leagues", "LeagueList")},
                },
                "post": {
                    "summary": "Create leagues, all of them or none",
                    "security": secured,
                    "requestBody": body("CreateRequest"),
                    "responses": {
                        "201": answer("The leagues, with their secrets, which are shown this once", "CreatedList"),
                        "400": error("A setting or a roster that cannot be"),
                        "401": denied,
                        "409": error("An id is taken, or a quota is full"),
                    },
                },
            },
            "/api/cluster": {"get": {
                "summary": "The services that share the store: their leases, versions, leagues and weights; none if it is a file",
                "security": secured,
                "responses": {"200": answer("The services", "ClusterStatus"), "401": denied},
            }},
            "/api/leagues/import": {"post": {
                "summary": "Take a league out of a file of the service's machine, with its chains as they are",
                "security": secured,
                "requestBody": body("ImportRequest"),
                "responses": {
                    "201": answer("The league", "League"),
                    "400": error("The file cannot be read, or holds no league"),
                    "401": denied,
                    "409": error("The id is taken, or a quota is full"),
                },
            }},
            "/api/leagues/{id}": {
                "get": {
                    "summary": "A league, with how far it has come",
                    "security": [{}, {"service_token": []}],
                    "parameters": id,
                    "responses": {"200": answer("The league", "League"), "404": missing},
                },
                "patch": {
                    "summary": "Change settings; once the league has begun, only those that its log does not hold",
                    "security": secured,
                    "parameters": id,
                    "requestBody": body("ConfigureRequest"),
                    "responses": {
                        "200": answer("Changed", "League"),
                        "400": error("A setting that cannot be"),
                        "401": denied,
                        "404": missing,
                        "409": error("The league has begun, or a quota is full"),
                    },
                },
                "delete": {
                    "summary": "Remove a league for good",
                    "security": secured,
                    "parameters": id,
                    "responses": {"200": answer("Removed", "League"), "401": denied, "404": missing},
                },
            },
            "/api/leagues/{id}/archive": {"post": {
                "summary": "Write a league into a file beside the store, verify that, and remove the league",
                "security": secured,
                "parameters": id,
                "responses": {
                    "200": answer("Archived; file says where", "League"),
                    "401": denied,
                    "404": missing,
                    "409": error("The file exists already"),
                },
            }},
        },
        "components": {
            "securitySchemes": {"service_token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
        },
    });
    super::season_openapi::describe(&mut document);
    document
}

fn schemas() -> Value {
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
