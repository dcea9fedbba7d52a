//! A port that is taken.

use crate::program::Program;
use std::net::TcpListener;

/// A port with room above it for a small league.
fn taken() -> (TcpListener, u16) {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        if (2000..65000).contains(&port) {
            return (listener, port);
        }
    }
}

#[test]
fn a_taken_port_is_named_and_nothing_is_left_behind() {
    for (below, whom) in [(0, "the manager"), (1, "a referee"), (101, "a player")] {
        let (_held, port) = taken();
        let program = Program::new();
        let ran = program.run(&["run", "--port-base", &(port - below).to_string()]);
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        assert!(ran.err.contains(&format!("port {port}, for {whom}, is taken")), "{}", ran.err);
        assert!(ran.err.contains("--port-base"), "{}", ran.err);
        assert_eq!(ran.err.trim_end().lines().count(), 1, "{}", ran.err);
        assert!(program.files().is_empty(), "{:?}", program.files());
    }
}

#[test]
fn a_base_without_room_above_it_is_refused() {
    let program = Program::new();
    let ran = program.run(&["run", "--port-base", "65500"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("leaves no room"), "{}", ran.err);
    assert!(program.files().is_empty());
}
