//! Holds what agents of ours said against the schemas of their messages, from what a store has kept of it. Shared by the
//! suites that leave stores behind.

use matchday::store::{Direction, Exchange, Store};
use matchday_core::protocol::{MessageType, schema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

/// Every exchange of a store. How many messages there were to judge, so that a test can see that there were any.
pub(crate) fn assert_store_fits(file: &Path) -> usize {
    let exchanges = Store::open_read_only(file).unwrap().exchanges().unwrap();
    exchanges.iter().map(assert_recorded_fits).sum()
}

/// What is kept only in part is passed over.
pub(crate) fn assert_recorded_fits(exchange: &Exchange) -> usize {
    let said = match exchange.direction {
        Direction::Out => Some(&exchange.request),
        Direction::In => exchange.answer.as_ref(),
    };
    let Some(whole) = said.and_then(|text| serde_json::from_str::<Value>(text).ok()) else { return 0 };
    let places = [&whole, &whole["params"], &whole["params"]["message"], &whole["result"]];
    let mut judged = 0;
    for message in places {
        if let Some(kind) = message["message_type"].as_str().and_then(MessageType::parse) {
            assert_fits(&MESSAGES[&kind], message);
            judged += 1;
        }
    }
    judged
}

pub(crate) fn assert_fits(judge: &jsonschema::Validator, value: &Value) {
    let faults: Vec<_> = judge.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}\n{value:#}");
}

static MESSAGES: LazyLock<BTreeMap<MessageType, jsonschema::Validator>> = LazyLock::new(|| {
    let judge =
        |kind| jsonschema::options().should_validate_formats(true).build(&schema::message(kind)).unwrap();
    MessageType::ALL.iter().map(|&kind| (kind, judge(kind))).collect()
});
