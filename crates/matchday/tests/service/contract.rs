//! The service answers as its OpenAPI document says: every operation, and refusals.

use crate::fixture::{Fixture, SERVICE_TOKEN};
use matchday_testkit::eventually::eventually;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::TcpListener;

/// A service, its document, and which operations it has answered well.
struct Contract {
    fixture: Fixture,
    document: Value,
    answered: RefCell<BTreeSet<String>>,
}

impl Contract {
    fn new(fixture: Fixture) -> Self {
        let document = fixture.call("GET", "/api/openapi.json", None, None).json();
        Self {
            fixture,
            document,
            answered: RefCell::default(),
        }
    }

    /// The schema that this place of the document leads to.
    fn schema(&self, place: &str) -> Value {
        let schema = self
            .document
            .pointer(place)
            .unwrap_or_else(|| panic!("the document has no {place}"));
        let mut schema = schema.clone();
        schema["components"] = self.document["components"].clone();
        schema
    }

    fn operation(method: &str, path: &str) -> String {
        format!(
            "/paths/{}/{}",
            path.replace('/', "~1"),
            method.to_ascii_lowercase()
        )
    }

    /// Calls an operation, whose answer and body must be as the document says of this status.
    fn call(
        &self,
        method: &str,
        path: &str,
        name: &str,
        body: Option<Value>,
        status: u16,
    ) -> Value {
        let operation = Self::operation(method, path);
        if let Some(body) = &body {
            let taken = self.schema(&format!(
                "{operation}/requestBody/content/application~1json/schema"
            ));
            assert_valid(&taken, body, &operation);
        }
        let url = path.replace("{id}", name).replace("{name}", name);
        let url = url.replace("{player}", "alpha");
        let token = (status != 401).then_some(SERVICE_TOKEN);
        let response = self.fixture.call(method, &url, token, body);
        assert_eq!(response.status, status, "{operation}: {response:?}");
        let answer = response.json();
        let place = format!("{operation}/responses/{status}/content/application~1json/schema");
        assert_valid(&self.schema(&place), &answer, &operation);
        if status < 300 {
            self.answered.borrow_mut().insert(operation);
        }
        answer
    }

    fn operations(&self) -> BTreeSet<String> {
        let paths = self.document["paths"].as_object().unwrap();
        let methods = |(path, methods): (&String, &Value)| {
            let path = path.clone();
            let methods = methods
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>();
            methods
                .into_iter()
                .map(move |method| Self::operation(&method, &path))
        };
        paths.iter().flat_map(methods).collect()
    }
}

fn is_valid(schema: &Value, data: &Value) -> bool {
    jsonschema::validator_for(schema).unwrap().is_valid(data)
}

fn assert_valid(schema: &Value, data: &Value, operation: &str) {
    assert!(
        is_valid(schema, data),
        "{operation}: {data} is not as {schema} says"
    );
}

#[test]
fn every_operation_answers_as_the_document_says() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let contract = Contract::new(fixture);
    assert_eq!(contract.document["openapi"], "3.1.0");

    let roster = "Ann Lee,player\nBob Roy,player\n";
    let spec = json!({"league_id": "spring", "settings": {"seats": "on"}, "roster": roster});
    let made = contract.call(
        "POST",
        "/api/leagues",
        "",
        Some(json!({"leagues": [spec]})),
        201,
    );
    assert_eq!(
        made["leagues"][0]["join_codes"].as_array().unwrap().len(),
        2
    );
    contract.call("GET", "/api/leagues", "", None, 200);
    contract.call("GET", "/api/leagues/{id}", "spring", None, 200);
    let changed = json!({"settings": {"lead": "9"}});
    contract.call("PATCH", "/api/leagues/{id}", "spring", Some(changed), 200);
    // It is loaded, and has events from then on.
    contract
        .fixture
        .post("/leagues/spring/mcp", crate::fixture::standings("spring"));
    contract.call("GET", "/api/leagues/{id}", "spring", None, 200);
    let archived = contract.call("POST", "/api/leagues/{id}/archive", "spring", None, 200);
    let file = json!({"file": archived["file"]});
    contract.call("POST", "/api/leagues/import", "", Some(file), 201);
    contract.call("DELETE", "/api/leagues/{id}", "spring", None, 200);

    let settings = json!({"lead": "0", "endpoint-check": "off"});
    let season = json!({"name": "nightly", "schedule": "0 22 * * *", "time_zone": "UTC", "settings": settings});
    let made = contract.call("POST", "/api/seasons", "", Some(season), 201);
    contract.call("GET", "/api/seasons", "", None, 200);
    contract.call("GET", "/api/seasons/{name}", "nightly", None, 200);
    let later = json!({"schedule": "2999-01-01T20:00"});
    contract.call("PATCH", "/api/seasons/{name}", "nightly", Some(later), 200);
    contract.call("POST", "/api/seasons/{name}/pause", "nightly", None, 200);
    contract.call("POST", "/api/seasons/{name}/resume", "nightly", None, 200);
    // A connection that is taken is enough to be there.
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    for (name, listener) in ["alpha", "beta"].into_iter().zip(&listeners) {
        let mut message = crate::fixture::registration();
        let address = listener.local_addr().unwrap();
        message["player_meta"]["contact_endpoint"] = json!(format!("http://{address}/mcp"));
        message["sender"] = json!(format!("player:{name}"));
        message["player_meta"]["display_name"] = json!(name);
        contract.fixture.post("/leagues/nightly/mcp", message);
    }
    contract.fixture.until("nightly_1", |shown| {
        shown["players"] == 2 && shown["referees"] == 1
    });
    contract.call("POST", "/api/seasons/{name}/run", "nightly", None, 200);
    contract.call("POST", "/api/seasons/{name}/end", "nightly", None, 200);
    let end = || {
        let token = made["operator_token"].as_str();
        let order = Some(json!({"order": "end"}));
        let path = "/leagues/nightly/api/orders";
        contract.fixture.call("POST", path, token, order)
    };
    eventually("the league can be ended", || match end() {
        answer if answer.status == 200 => Ok(()),
        answer => Err(answer),
    });
    eventually("the league is over", || {
        let season = contract.call("GET", "/api/seasons/{name}", "nightly", None, 200);
        match season["leagues_played"] == 1 {
            true => Ok(()),
            false => Err(season),
        }
    });
    let player = "/api/seasons/{name}/players/{player}";
    contract.call("GET", player, "nightly", None, 200);
    contract.call("GET", "/api/cluster", "", None, 200);
    assert_eq!(*contract.answered.borrow(), contract.operations());
}

#[test]
fn refusals_are_as_the_document_says() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let contract = Contract::new(fixture);
    for (method, path, body) in [
        (
            "POST",
            "/api/leagues",
            Some(json!({"leagues": [{"league_id": "spring"}]})),
        ),
        ("DELETE", "/api/leagues/{id}", None),
        ("GET", "/api/cluster", None),
    ] {
        contract.call(method, path, "spring", body, 401);
    }
    for (method, path) in [
        ("GET", "/api/leagues/{id}"),
        ("DELETE", "/api/leagues/{id}"),
        ("POST", "/api/leagues/{id}/archive"),
        ("GET", "/api/seasons/{name}"),
        ("POST", "/api/seasons/{name}/run"),
    ] {
        contract.call(method, path, "nowhere", None, 404);
    }
    let season = json!({"name": "nightly", "schedule": "0 22 * *"});
    contract.call("POST", "/api/seasons", "", Some(season), 400);
}

#[test]
fn an_answer_that_is_not_as_the_document_says_is_found() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring"], &[]);
    let contract = Contract::new(fixture);
    let answer = contract.call("GET", "/api/leagues/{id}", "spring", None, 200);
    let operation = Contract::operation("GET", "/api/leagues/{id}");
    let schema = contract.schema(&format!(
        "{operation}/responses/200/content/application~1json/schema"
    ));
    for (key, wrong) in [
        ("state", json!("dozing")),
        ("players", json!("2")),
        ("created_at", json!("yesterday")),
        ("champion", json!(7)),
        ("settings", json!({"lead": 5})),
    ] {
        let mut other = answer.clone();
        other[key] = wrong;
        assert!(!is_valid(&schema, &other), "{other}");
    }
    for key in ["league_id", "url", "state", "exchange_bytes", "settings"] {
        let mut other = answer.clone();
        other.as_object_mut().unwrap().remove(key);
        assert!(!is_valid(&schema, &other), "without {key}");
    }
}
