//! A small report with one finding of each kind, for the tests of the renderers.

use crate::check::exchange::{CallOutcome, Exchange, HttpAnswer};
use crate::check::report::{Findings, Report, Subject};
use crate::check::role::AgentRole;
use crate::check::rule::rules;
use bytes::Bytes;
use matchday_core::protocol::decode::Conformance;
use std::time::Duration;

rules! {
    REACHABLE = Mandatory, "transport.reachable", Transport, "It answers HTTP", "transport", "Start the agent.";
    PARITY = Mandatory, "choice.parity", Choosing, "parity_choice is exactly \"even\" or \"odd\"", "choose_parity_response",
        "Send \"even\" or \"odd\".";
    SENDER = Mandatory, "envelope.sender", Choosing, "The sender of its answers is player: and its id", "sender", "Send \"player:\" and your id.";
    NONCE = Advisory, "choice.nonce", Choosing, "It sends a nonce with its choice", "fair-draw", "Send a few random characters.";
    TOKEN = Advisory, "trust.no-token", Trust, "It refuses a message without a token", "match-tokens", "Answer E011.";
}

pub(super) fn report() -> Report {
    let exchange = Exchange {
        subject: "CHOOSE_PARITY_CALL".to_owned(),
        request: Bytes::from_static(
            br#"{"jsonrpc":"2.0","id":4101,"method":"choose_parity","params":{"auth_token":"tok_r1m1_0123456789"}}"#,
        ),
        outcome: CallOutcome::Answered(HttpAnswer {
            status: 200,
            content_type: Some("application/json".to_owned()),
            location: None,
            body: Bytes::from_static(br#"{"jsonrpc":"2.0","id":4101,"result":{"parity_choice":"Even"}}"#),
        }),
        took: Duration::from_micros(12_340),
    };
    let mut findings = Findings::new(OWN.to_vec());
    findings.pass(&REACHABLE, "");
    findings.violated(
        &PARITY,
        "parity_choice: expected exactly \"even\" or \"odd\", got \"Even\" (E004)",
        &exchange,
    );
    findings.deviation(
        &SENDER,
        "sender: expected \"player:P07\", got \"player:P01\"",
        &exchange,
    );
    findings.violated(&NONCE, "no nonce came with the choice", &exchange);
    findings.skip(
        &TOKEN,
        "the agent cannot know our tokens: check it with --wait",
    );
    let target = "http://localhost:8101/mcp".to_owned();
    let subject = Subject {
        role: AgentRole::Player,
        target,
        conformance: Conformance::Lenient,
        quick: false,
    };
    findings.into_report(subject, Duration::from_millis(2345), "not reached")
}
