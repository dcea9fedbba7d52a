//! The smallest readers: times, codes, addresses, names. What they take is written again as it came.

use bolero::check;
use matchday_core::protocol::{Endpoint, ErrorCode, Sender, Timestamp};
use matchday_testkit::mutation::mutated_text;

/// Each is so small that they share a target: an input is put to all of them.
#[test]
fn any_word() {
    check!()
        .with_iterations(crate::RUNS)
        .for_each(|input: &[u8]| {
            timestamp(input);
            error_code(input);
            endpoint(input);
            sender(input);
        });
}

fn timestamp(input: &[u8]) {
    let good = [
        "2025-01-15T10:30:00Z",
        "2024-02-29T23:59:59.999999999+00:00",
        "20250115T10:30:00+00:00Z",
    ];
    if let Some((timestamp, _)) = Timestamp::parse(&mutated_text(&good, input)) {
        let written = timestamp.to_string();
        let (again, _) = Timestamp::parse(&written).expect("what we write, we read");
        assert_eq!(again.to_string(), written);
    }
}

fn error_code(input: &[u8]) {
    let text = mutated_text(&["E001", "AUTH_TOKEN_INVALID"], input);
    let code = ErrorCode::parse(&text);
    assert!(code.code() == text || code.name() == text);
}

fn endpoint(input: &[u8]) {
    let good = [
        "http://localhost:8101/mcp",
        "https://[::1]:9/a?b#c",
        "http://a@b:80/",
        "http://127.0.0.1:1/mcp",
        "https://the-1.example.com/a-b_c.d",
    ];
    let text = mutated_text(&good, input);
    if let Ok(endpoint) = Endpoint::parse(&text) {
        assert_eq!(endpoint.raw(), text);
        assert!(
            url::Url::parse(&text).is_ok_and(|url| url.has_host()),
            "taken for plain, and is no URL"
        );
    }
}

fn sender(input: &[u8]) {
    let good = ["league_manager", "launcher", "referee:REF01", "player:P01"];
    let text = mutated_text(&good, input);
    // A manager may have an id, and a shorter name.
    match Sender::parse(&text) {
        None | Some(Sender::LeagueManager) => {}
        Some(sender) => assert_eq!(sender.to_string(), text),
    }
}
