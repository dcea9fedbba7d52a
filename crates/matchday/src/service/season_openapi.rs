//! The part of the OpenAPI document that is about `/api/seasons`. Values only.

use serde_json::{Value, json};

/// Adds the paths and schemas of seasons to a document.
pub(super) fn describe(document: &mut Value) {
    let answer = |what: &str, schema: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        json!({"description": what, "content": {"application/json": {"schema": schema}}})
    };
    let error = |what: &str| answer(what, "Error");
    let name = json!([{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}]);
    let secured = json!([{"service_token": []}]);
    let order = |summary: &str| {
        json!({"post": {
            "summary": summary,
            "security": secured,
            "parameters": name,
            "responses": {
                "200": answer("Done", "Season"),
                "401": error("No service token, or a wrong one"),
                "404": error("There is no such season"),
                "409": error("The season is not in a state for that"),
            },
        }})
    };
    let paths = json!({
        "/api/seasons": {
            "get": {
                "summary": "The seasons that the caller may see",
                "security": [{}, {"service_token": []}],
                "responses": {"200": answer("The seasons", "SeasonList")},
            },
            "post": {
                "summary": "Create a season with its first league, which takes registrations at once",
                "security": secured,
                "requestBody": {"required": true, "content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/SeasonSpec"},
                }}},
                "responses": {
                    "201": answer("The season, with its secrets, which are shown this once", "CreatedSeason"),
                    "400": error("A schedule, a time zone, a setting or a roster that cannot be"),
                    "401": error("No service token, or a wrong one"),
                    "409": error("The name is taken, or a quota is full"),
                },
            },
        },
        "/api/seasons/{name}": {"get": {
            "summary": "A season with its leagues and its table",
            "security": [{}, {"service_token": []}],
            "parameters": name,
            "responses": {
                "200": answer("The season", "Season"),
                "404": error("There is no such season, or it is not open to readers"),
            },
        }},
        "/api/seasons/{name}/run": order("Start the current league now"),
        "/api/seasons/{name}/pause": order("Start no league by schedule until the season is resumed"),
        "/api/seasons/{name}/resume": order("Go on with the schedule"),
        "/api/seasons/{name}/end": order("End the season: a league that has not started is removed, one that is played goes on"),
    });
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
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
    let schemas = json!({
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
    });
    for (place, added) in [("/paths", paths), ("/components/schemas", schemas)] {
        if let (Some(Value::Object(known)), Value::Object(added)) = (document.pointer_mut(place), added) {
            known.extend(added);
        }
    }
}
