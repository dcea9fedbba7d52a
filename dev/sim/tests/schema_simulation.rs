//! Whatever the agents say in a hostile world, it fits its schema.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

use matchday_sim::Options;
use matchday_testkit::schemas::Schemas;
use std::collections::BTreeSet;

#[test]
fn every_message_of_every_league_fits_its_schema() {
    let schemas = Schemas::new();
    let options = Options {
        keep_messages: true,
        ..Options::default()
    };
    let mut count = 0;
    let mut kinds = BTreeSet::new();
    for seed in 0..40 {
        for message in matchday_sim::run(seed, &options).messages {
            let value = serde_json::to_value(&message).unwrap();
            let faults = schemas.faults_of_ours(&value);
            assert!(faults.is_empty(), "seed {seed}: {faults:?} in {value:#}");
            count += 1;
            kinds.insert(message.message_type());
        }
    }
    assert!(count > 5_000, "{count}");
    assert!(kinds.len() >= 18, "{kinds:?}");
}
