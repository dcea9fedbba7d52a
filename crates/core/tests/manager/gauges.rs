//! What the metrics say of a league: whether it goes on, and whether a referee is left.

use crate::desk::*;
use matchday_core::league::LeagueSettings;
use matchday_core::metrics::{LeagueGauges, Metrics};
use std::time::Duration;

fn gauges(desk: &Desk) -> LeagueGauges {
    desk.manager.gauges().league.unwrap()
}

#[test]
fn a_league_waits_from_when_its_matches_are_due_or_when_one_has_begun() {
    let lead = Duration::from_secs(60);
    let settings = LeagueSettings {
        announce_lead: lead,
        ..quick()
    };
    assert_eq!(
        gauges(&Desk::with(settings.clone(), 2, 1)).waiting_since,
        None
    );
    let mut desk = Desk::started(settings, 2, 1);
    let due = desk.now + lead;
    assert_eq!(gauges(&desk).waiting_since, Some(due));
    desk.pass(lead);
    assert_eq!(
        gauges(&desk).waiting_since,
        Some(due),
        "the match has begun"
    );
    desk.pass(Duration::from_secs(5));
    assert_eq!(gauges(&desk).waiting_since, Some(due), "and does not end");
}

#[test]
fn a_league_with_a_referee_that_answers_is_not_without_one() {
    assert!(!gauges(&Desk::with(quick(), 2, 1)).without_referee);
    assert!(!gauges(&Desk::started(quick(), 2, 1)).without_referee);
}
