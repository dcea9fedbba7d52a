//! The smallest readers: times, codes, addresses, names. What they take is written again as it came.

use crate::spoil::spoiled_text;
use bolero::check;
use matchday_core::protocol::{Endpoint, ErrorCode, Sender, Timestamp};

#[test]
fn timestamp() {
    let good = ["2025-01-15T10:30:00Z", "2024-02-29T23:59:59.999999999+00:00", "20250115T10:30:00+00:00Z"];
    check!().with_iterations(crate::RUNS).for_each(|input: &[u8]| {
        if let Some((timestamp, _)) = Timestamp::parse(&spoiled_text(&good, input)) {
            let written = timestamp.to_string();
            let (again, _) = Timestamp::parse(&written).expect("what we write, we read");
            assert_eq!(again.to_string(), written);
        }
    });
}

#[test]
fn error_code() {
    check!().with_iterations(crate::RUNS).for_each(|input: &[u8]| {
        let text = spoiled_text(&["E001", "AUTH_TOKEN_INVALID"], input);
        let code = ErrorCode::parse(&text);
        assert!(code.code() == text || code.name() == text);
    });
}

#[test]
fn endpoint() {
    let good = ["http://localhost:8101/mcp", "https://[::1]:9/a?b#c", "http://a@b:80/"];
    check!().with_iterations(crate::RUNS).for_each(|input: &[u8]| {
        let text = spoiled_text(&good, input);
        if let Ok(endpoint) = Endpoint::parse(&text) {
            assert_eq!(endpoint.as_str(), text);
        }
    });
}

#[test]
fn sender() {
    let good = ["league_manager", "launcher", "referee:REF01", "player:P01"];
    check!().with_iterations(crate::RUNS).for_each(|input: &[u8]| {
        let text = spoiled_text(&good, input);
        if let Some(sender) = Sender::parse(&text) {
            assert_eq!(sender.to_string(), text);
        }
    });
}
