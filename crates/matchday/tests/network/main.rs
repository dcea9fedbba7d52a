//! Whole leagues over the program's own HTTP on a simulated network, in virtual time: what the simulator of the core
//! proves of the state machines, this proves of everything around them. A seed decides all that happens.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

mod course;
mod dial;
mod faults;
mod sim_network;
mod wire;

use course::play;
use faults::Reach;

/// `MATCHDAY_NETWORK_SEEDS=1000` makes a soak of it, `MATCHDAY_NETWORK_SEED=7` begins with another seed.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, usual: u64| match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")),
        Err(_) => usual,
    };
    let first = number("MATCHDAY_NETWORK_SEED", 1);
    first..first + number("MATCHDAY_NETWORK_SEEDS", 100)
}

#[test]
fn on_a_calm_network_nobody_loses_for_want_of_an_answer() {
    let course = play(1, None);
    course.assert_sound();
    assert_eq!(
        (
            course.technical_losses(),
            course.played_again(),
            course.restarts()
        ),
        (0, 0, 0)
    );
}

#[test]
fn whatever_the_network_does_every_match_gets_its_one_result() {
    let mut restarts = 0;
    let mut forfeits = 0;
    let mut again = 0;
    for seed in seeds() {
        let course = play(seed, Some(Reach::Everyone));
        course.assert_sound();
        println!("seed {seed}: over after {:?}", course.took);
        restarts += course.restarts();
        forfeits += course.technical_losses();
        again += course.played_again();
    }
    println!(
        "{restarts} restarts, {forfeits} technical losses, {again} matches given to a referee again"
    );
    assert!(
        restarts > 0 && forfeits > 0,
        "the faults were felt: {restarts} restarts, {forfeits} forfeits"
    );
}

#[test]
fn faults_of_managers_and_referees_cost_no_player_a_match() {
    let mut restarts = 0;
    let mut again = 0;
    for seed in seeds() {
        let course = play(seed, Some(Reach::Officials));
        course.assert_sound();
        assert_eq!(course.technical_losses(), 0, "seed {seed}");
        println!("seed {seed}: over after {:?}", course.took);
        restarts += course.restarts();
        again += course.played_again();
    }
    println!("{restarts} restarts, {again} matches given to a referee again");
    assert!(restarts > 0, "the faults were felt");
}

#[test]
fn the_same_seed_gives_the_same_log_and_another_seed_another() {
    let log = |seed| play(seed, Some(Reach::Everyone)).log();
    let first = log(5);
    let again = log(5);
    let differs = first.iter().zip(&again).find(|(one, other)| one != other);
    assert_eq!(differs, None, "the first entries that differ");
    assert_eq!(first.len(), again.len());
    assert!(first.len() > 100, "{} entries", first.len());
    assert_ne!(first, log(6));
}
