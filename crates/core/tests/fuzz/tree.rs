//! Changes good messages as trees, so that what comes out is always JSON and its faults lie in what it says.

use matchday_testkit::mutation::number;
use serde_json::{Value, json};

/// Applies one change after the other to one of `good`: each names a place in the tree and what happens there.
pub(crate) fn changed(good: &[Value], input: &[u8]) -> Value {
    let [high, low, changes @ ..] = input else {
        return Value::Null;
    };
    let mut message = good[number(*high, *low) % good.len()].clone();
    for change in changes.chunks_exact(4).take(4) {
        let [place, kind, which, with] = change.try_into().unwrap();
        let places = size(&message);
        let place = place_in(&mut message, &mut (usize::from(place) % places)).unwrap();
        match kind % 8 {
            0 => remove(place, usize::from(which)),
            1 => *place = good[usize::from(with) % good.len()].clone(),
            2 => rename(place, usize::from(which), usize::from(with)),
            3 => repeat(place, usize::from(with)),
            4 => cut(place, usize::from(with)),
            _ => *place = values()[number(which, with) % values().len()].clone(),
        }
    }
    message
}

fn values() -> Vec<Value> {
    let texts = [
        "",
        "even",
        "EVEN",
        "P01",
        "R1M1",
        "league_manager",
        "player:P01",
        "\u{0}",
        "tok_p01_0",
        "http://a:1/mcp",
    ];
    let numbers = [
        json!(0),
        json!(-1),
        json!(1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!(0.5),
        json!(11),
    ];
    let others = [
        Value::Null,
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!([null]),
        json!("a".repeat(1100)),
    ];
    let times = [
        "2025-01-15T10:30:00Z",
        "2025-01-15T10:30:00+02:00",
        "20250115T10:30:00Z",
        "9999-12-31T23:59:59.9Z",
    ];
    texts
        .into_iter()
        .chain(times)
        .map(Value::from)
        .chain(numbers)
        .chain(others)
        .collect()
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// The `nth` value of the tree, in reading order.
fn place_in<'a>(value: &'a mut Value, nth: &mut usize) -> Option<&'a mut Value> {
    if *nth == 0 {
        return Some(value);
    }
    *nth -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| place_in(item, nth)),
        Value::Object(fields) => fields.values_mut().find_map(|field| place_in(field, nth)),
        _ => None,
    }
}

fn remove(place: &mut Value, which: usize) {
    match place {
        Value::Array(items) if !items.is_empty() => drop(items.remove(which % items.len())),
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(which % fields.len()).unwrap().clone();
            fields.remove(&name);
        }
        other => *other = Value::Null,
    }
}

/// Puts the value of one field under a name that is another field's, or nobody's.
fn rename(place: &mut Value, which: usize, with: usize) {
    const NAMES: [&str; 6] = [
        "choice",
        "parity_choice",
        "message_type",
        "auth_token",
        "player_id",
        "x",
    ];
    let Value::Object(fields) = place else { return };
    let Some(name) = fields.keys().nth(which % fields.len().max(1)).cloned() else {
        return;
    };
    let value = fields.remove(&name).unwrap();
    fields.insert(NAMES[with % NAMES.len()].to_owned(), value);
}

/// How many values a message may grow to. Repeated again and again it would fill any memory, and that would be our own doing.
const SIZE_MAX: usize = 20_000;

fn repeat(place: &mut Value, times: usize) {
    let times = times.min(SIZE_MAX / size(place));
    match place {
        Value::Array(items) => {
            *items = items
                .iter()
                .cycle()
                .take(items.len() * times)
                .cloned()
                .collect()
        }
        Value::String(text) => *text = text.repeat(times % 40),
        other => *other = Value::Array(vec![other.clone(); times % 120]),
    }
}

fn cut(place: &mut Value, length: usize) {
    match place {
        Value::Array(items) => items.truncate(length),
        Value::String(text) => *text = text.chars().take(length % 12).collect(),
        other => *other = Value::Null,
    }
}
