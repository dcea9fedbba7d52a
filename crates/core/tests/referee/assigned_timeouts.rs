//! A match is played by its manager's timeouts; the referee's own are a bound.

use crate::bench::*;
use matchday_core::protocol::MessageType::{
    ChooseParityCall, GameError, GameInvitation, RefereeRegisterRequest,
};
use matchday_core::protocol::messages::{Parity, Timeouts};
use serde_json::json;

const SHORT: Timeouts = Timeouts {
    join_ms: Some(500),
    choice_ms: Some(1_500),
    retries: Some(1),
    retry_delay_ms: Some(250),
    retry_delay_max_ms: None,
};

/// A match of players 1 and 2 that the manager gives out with these timeouts.
fn invited_within(bounds: Timeouts) -> Bench {
    let mut bench = Bench::with(matchday_core::referee::RefereeSettings {
        bounds,
        ..settings()
    });
    bench.announce(&[Announced {
        timeouts: Some(SHORT),
        ..even_odd("R1M1", 1, 2)
    }]);
    bench
}

#[test]
fn windows_and_retries_are_those_of_the_assignment() {
    let mut bench = invited_within(Timeouts::default());
    bench.joins(1, "R1M1");
    bench.until(5.0);
    assert_eq!(bench.times(2, GameInvitation), [0.0, 0.75]);
    assert_eq!(written(&bench.last_to(2, GameError))["max_retries"], 1);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
}

#[test]
fn a_bound_of_the_referees_own_is_kept_where_it_is_smaller() {
    let bounds = Timeouts {
        join_ms: Some(9_000),
        choice_ms: Some(1_000),
        ..Timeouts::default()
    };
    let mut bench = invited_within(bounds);
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(5.0);
    assert_eq!(
        bench.times(2, ChooseParityCall),
        [0.0, 1.25],
        "1 s by the bound, 0.25 s by the assignment"
    );
}

#[test]
fn only_bounds_that_were_set_are_announced_at_registration() {
    let bench = Bench::fresh(settings());
    let request = written(&bench.last(RefereeRegisterRequest));
    assert_eq!(request["referee_meta"].get("timeouts"), None);
    assert_eq!(
        request["referee_meta"]["capabilities"],
        json!(["match_tokens", "briefing", "draw-2", "ping"])
    );
    let bounds = Timeouts {
        choice_ms: Some(1_000),
        ..Timeouts::default()
    };
    let bench = Bench::fresh(matchday_core::referee::RefereeSettings {
        bounds,
        ..settings()
    });
    let request = written(&bench.last(RefereeRegisterRequest));
    assert_eq!(
        request["referee_meta"]["timeouts"],
        json!({"choice_ms": 1000})
    );
}
