//! Holds what our agents said, as a store has recorded it, against the schemas of their messages.

use crate::schemas::{assert_fits, validator};
use matchday_core::protocol::{MessageType, schema};
use matchday_store::{Direction, Exchange, Store, StoreUrl};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Every exchange of a store. How many messages there were to judge, so that a test can see that there were any.
pub fn assert_store_fits(store: impl Into<StoreUrl>) -> usize {
    let exchanges = Store::open_read_only(store).unwrap().exchanges().unwrap();
    exchanges.iter().map(assert_recorded_fits).sum()
}

/// What is kept only in part is passed over.
pub fn assert_recorded_fits(exchange: &Exchange) -> usize {
    let said = match exchange.direction {
        Direction::Out => Some(&exchange.request),
        Direction::In => exchange.answer.as_ref(),
    };
    let Some(whole) = said.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return 0;
    };
    let places = [
        &whole,
        &whole["params"],
        &whole["params"]["message"],
        &whole["result"],
    ];
    let mut judged = 0;
    for message in places {
        if let Some(kind) = message["message_type"]
            .as_str()
            .and_then(MessageType::parse)
        {
            assert_fits(&MESSAGES[&kind], message);
            judged += 1;
        }
    }
    judged
}

static MESSAGES: LazyLock<BTreeMap<MessageType, jsonschema::Validator>> = LazyLock::new(|| {
    MessageType::ALL
        .iter()
        .map(|&kind| (kind, validator(&schema::message(kind))))
        .collect()
});
