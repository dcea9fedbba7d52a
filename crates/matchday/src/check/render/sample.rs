//! A small report with one finding of each kind, for the tests of the renderers.

use crate::check::exchange::{Answered, Exchange, Outcome};
use crate::check::report::{Report, Sheet, Subject};
use crate::check::rule::{Category, Rule};
use bytes::Bytes;
use std::time::Duration;

static REACHABLE: Rule = Rule::mandatory(
    "transport.reachable",
    Category::Transport,
    "It answers HTTP",
    "transport",
    "Start the agent.",
);
static PARITY: Rule = Rule::mandatory(
    "choice.parity",
    Category::Choosing,
    "parity_choice is exactly \"even\" or \"odd\"",
    "choose_parity_response",
    "Send \"even\" or \"odd\".",
);
static NONCE: Rule = Rule::advisory(
    "choice.nonce",
    Category::Choosing,
    "It sends a nonce with its choice",
    "fair-draw",
    "Send a few random characters.",
);
static TOKEN: Rule = Rule::advisory(
    "trust.no-token",
    Category::Trust,
    "It refuses a message without a token",
    "match-tokens",
    "Answer E011.",
);

pub(super) fn report() -> Report {
    let exchange = Exchange {
        subject: "CHOOSE_PARITY_CALL".to_owned(),
        request: Bytes::from_static(
            br#"{"jsonrpc":"2.0","id":4101,"method":"choose_parity","params":{"auth_token":"tok_r1m1_0123456789"}}"#,
        ),
        outcome: Outcome::Answered(Answered {
            status: 200,
            content_type: Some("application/json".to_owned()),
            location: None,
            body: Bytes::from_static(br#"{"jsonrpc":"2.0","id":4101,"result":{"parity_choice":"Even"}}"#),
        }),
        took: Duration::from_micros(12_340),
    };
    let mut sheet = Sheet::new(vec![&REACHABLE, &PARITY, &NONCE, &TOKEN]);
    sheet.pass(&REACHABLE, "");
    sheet.broken(
        &PARITY,
        "parity_choice: expected exactly \"even\" or \"odd\", got \"Even\" (E004)",
        &exchange,
    );
    sheet.broken(&NONCE, "no nonce came with the choice", &exchange);
    sheet.skip(&TOKEN, "the agent cannot know our tokens: check it with --wait");
    let target = "http://localhost:8101/mcp".to_owned();
    let subject = Subject { role: "player", target, conformance: "strict", quick: false };
    sheet.into_report(subject, Duration::from_millis(2345), "not reached")
}
