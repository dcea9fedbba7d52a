//! In how many dialects a peer is called: in all of them once, then in the one that it understood, or in one where it
//! understood none.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::agent::{Answer, Input};
use matchday_core::driver::{Arrival, Call, Driver};
use matchday_core::entropy::Entropy;
use matchday_core::game::strategy;
use matchday_core::player::{Player, PlayerSettings};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Timestamp, Version};
use std::time::Duration;

/// A player that registers, and the time.
struct Registering {
    driver: Driver<Player>,
    now: Timestamp,
}

impl Registering {
    fn begin() -> (Self, Call) {
        let settings = PlayerSettings {
            manager: Endpoint::parse("http://localhost:8000/mcp").unwrap(),
            contact_endpoint: Endpoint::parse("http://localhost:8101/mcp").unwrap(),
            display_name: DisplayName::parse("Agent Alpha").unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: None,
        };
        let player = Player::new(settings, strategy::find("random").unwrap().build());
        let now = Timestamp::from_micros(1_736_937_000_000_000);
        let mut driver = Driver::new(player, Entropy::numbered(1), now, None);
        let call = driver
            .wake(now)
            .unwrap()
            .pop()
            .unwrap()
            .when_durable
            .calls
            .pop()
            .unwrap();
        (Self { driver, now }, call)
    }

    /// The manager answers like this; the next call comes at once or after a pause.
    fn answered(&mut self, call: &Call, dialect: Dialect, answer: Answer) -> Call {
        let input = Input::Answer {
            call: call.outgoing.call,
            dialect,
            answer,
        };
        let batches = self
            .driver
            .arrive(self.now, Arrival::new(self.now, input))
            .unwrap();
        let at_once = batches
            .into_iter()
            .flat_map(|batch| batch.when_durable.calls);
        if let Some(call) = at_once.last() {
            return call;
        }
        loop {
            self.now = self.driver.deadline().expect("it asks again");
            let batches = self.driver.poll(self.now).unwrap();
            if let Some(call) = batches
                .into_iter()
                .flat_map(|batch| batch.when_durable.calls)
                .last()
            {
                return call;
            }
        }
    }
}

fn puzzled() -> Answer {
    Answer::NotUnderstood("HTTP 500".into())
}

#[test]
fn a_peer_that_understood_no_dialect_is_asked_in_one_until_a_minute_has_passed() {
    let (mut registering, mut call) = Registering::begin();
    assert!(call.try_dialects);
    let a_minute_later = registering.now + Duration::from_secs(60);
    while registering.now < a_minute_later {
        call = registering.answered(&call, Dialect::Standard, puzzled());
        assert_eq!(call.try_dialects, registering.now >= a_minute_later);
    }
    assert!(call.try_dialects, "another agent may be there by now");
}

#[test]
fn what_it_understood_is_what_it_is_asked_in() {
    let (mut registering, call) = Registering::begin();
    let call = registering.answered(&call, Dialect::Bare, Answer::Received);
    assert_eq!(
        (call.outgoing.dialect, call.try_dialects),
        (Dialect::Bare, false)
    );
}

#[test]
fn a_peer_that_could_not_be_reached_is_asked_in_all_of_them_again() {
    let (mut registering, call) = Registering::begin();
    let failure = matchday_core::agent::Failure::NoConnection;
    assert!(
        registering
            .answered(&call, Dialect::Standard, Answer::Undelivered(failure))
            .try_dialects
    );
}
