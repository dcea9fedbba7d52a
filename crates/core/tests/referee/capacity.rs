//! No more matches at once than the referee said it can hold; the others wait their turn.

use crate::bench::*;
use matchday_core::protocol::MessageType::GameInvitation;
use matchday_core::protocol::messages::Parity;

fn under_way(bench: &Bench) -> Vec<String> {
    bench
        .referee
        .matches()
        .map(|view| view.match_id.to_string())
        .collect()
}

fn play(bench: &mut Bench, match_id: &str, a: u32, b: u32) {
    bench.joins(a, match_id);
    bench.joins(b, match_id);
    bench.chooses(a, match_id, Parity::Even);
    bench.chooses(b, match_id, Parity::Odd);
}

#[test]
fn matches_beyond_capacity_begin_in_order_as_others_end() {
    let mut bench = Bench::new();
    let pairs = [
        ("R1M1", 1, 2),
        ("R1M2", 3, 4),
        ("R1M3", 5, 6),
        ("R1M4", 7, 8),
    ];
    bench.announce(&pairs.map(|(id, a, b)| even_odd(id, a, b)));
    assert_eq!(under_way(&bench), ["R1M1", "R1M2"]);
    assert_eq!(
        (bench.all(GameInvitation).len(), bench.referee.waiting()),
        (4, 2)
    );
    play(&mut bench, "R1M2", 3, 4);
    assert_eq!(under_way(&bench), ["R1M1", "R1M3"]);
    play(&mut bench, "R1M1", 1, 2);
    assert_eq!(under_way(&bench), ["R1M3", "R1M4"]);
    assert_eq!(bench.referee.waiting(), 0);
}

#[test]
fn a_match_whose_time_has_come_does_not_wait_for_one_whose_time_has_not() {
    let mut bench = Bench::new();
    let envelope = bench.manager_envelope();
    let later = bench.round(&[even_odd("R1M1", 1, 2)], 60);
    bench.told(envelope, later);
    bench.announce(&[even_odd("R1M2", 3, 4)]);
    assert_eq!(under_way(&bench), ["R1M2"]);
    bench.until(60.0);
    assert!(under_way(&bench).contains(&"R1M1".to_owned()));
}

#[test]
fn the_queue_survives_a_crash_in_its_order() {
    let mut bench = Bench::new();
    let pairs = [("R1M3", 1, 2), ("R1M2", 3, 4), ("R1M1", 5, 6)];
    bench.announce(&pairs.map(|(id, a, b)| even_odd(id, a, b)));
    assert_eq!(under_way(&bench), ["R1M2", "R1M3"]);
    bench.crash();
    assert_eq!(under_way(&bench), ["R1M2", "R1M3"]);
    assert_eq!(bench.referee.waiting(), 1);
}
