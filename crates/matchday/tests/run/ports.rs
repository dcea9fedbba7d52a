//! A port that is taken.

use crate::program::Program;
use std::net::TcpListener;

/// A base of which every port is free but the one that is so far above it. Below the ports that the system hands out, so
/// that no other test is given one of them meanwhile.
fn base_with_taken(above: u16) -> (TcpListener, u16) {
    let bind = |port: u16| TcpListener::bind(("127.0.0.1", port)).ok();
    let free = |base: u16| {
        [0, 1, 2, 101, 102, 103, 104]
            .iter()
            .all(|place| bind(base + place).is_some())
    };
    let own = u16::try_from(std::process::id() % 1000).unwrap() * 20;
    let base = (10_000 + own..32_000).find(|base| free(*base)).unwrap();
    (bind(base + above).unwrap(), base)
}

#[test]
fn a_taken_port_is_named_and_nothing_is_left_behind() {
    for (above, whom) in [(0, "the manager"), (1, "a referee"), (101, "a player")] {
        let (_held, base) = base_with_taken(above);
        let port = base + above;
        let program = Program::new();
        let ran = program.run(&["run", "--port-base", &base.to_string()]);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(
            ran.err
                .contains(&format!("port {port}, for {whom}, is taken")),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("--port-base"), "{}", ran.err);
        assert_eq!(ran.err.trim_end().lines().count(), 1, "{}", ran.err);
        assert!(program.files().is_empty(), "{:?}", program.files());
    }
}

#[test]
fn a_base_without_room_above_it_is_refused() {
    let program = Program::new();
    let ran = program.run(&["run", "--port-base", "65500"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("leaves no room"), "{}", ran.err);
    assert!(program.files().is_empty());
}
