//! Whatever networks, crashes and odd players do to a league, its log fits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::verify::verify;
use matchday_core::event_codec;
use matchday_testkit::event_lines::{chained, stream};

#[test]
fn the_log_of_a_simulated_league_fits_whatever_went_wrong() {
    let mut matches = 0;
    let mut proven = 0;
    for seed in 0..150 {
        let report = matchday_sim::run(seed, &matchday_sim::Options::default());
        let lines: Vec<String> = report
            .league
            .iter()
            .map(|(at, event)| event_codec::encode(*at, event).unwrap())
            .collect();
        let found = verify([(stream("league"), chained("league", &lines))]);
        assert_eq!(found.fault, None, "seed {seed}");
        matches += found.matches;
        proven += found.draws_proven;
    }
    assert!(
        matches > 500 && proven > 200,
        "{matches} matches, {proven} draws proven"
    );
}
