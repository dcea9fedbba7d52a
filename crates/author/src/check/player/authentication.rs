//! Does the player authenticate its peers? Checked only if it registered here: otherwise it cannot know our tokens.

use super::rules;
use super::suite::Suite;
use crate::check::reply::ReplyKind;
use crate::check::rule::Rule;
use matchday_core::protocol::{Message, PlayerId, Sender, Token};

impl Suite {
    pub(super) async fn check_tokens(&mut self) {
        if !self.league.is_known() {
            for rule in [
                &rules::FALSE_TOKEN,
                &rules::NO_TOKEN,
                &rules::FALSE_NOTICE,
                &rules::FALSE_SENDER,
            ] {
                self.findings.skip(
                    rule,
                    "the agent cannot know our tokens: check it with --wait",
                );
            }
            return;
        }
        let fixture = self.announce().await;
        let now = self.probe.clock.now();
        let right = self.league.invitation(now, &fixture);
        let mut message = right.clone();
        message.envelope.auth_token = Some(falsified(&right));
        self.refused(&rules::FALSE_TOKEN, &message, &["E012"]).await;
        message.envelope.auth_token = None;
        self.refused(&rules::NO_TOKEN, &message, &["E011"]).await;
        let mut message = self.league.announcement(now, &[&fixture]);
        message.envelope.auth_token = Some(falsified(&message));
        self.refused(&rules::FALSE_NOTICE, &message, &["E012"])
            .await;
        let mut message = right;
        message.envelope.sender = Sender::Player(PlayerId::new("P98"));
        self.refused(&rules::FALSE_SENDER, &message, &["E012"])
            .await;
    }

    async fn refused(&mut self, rule: &'static Rule, message: &Message, codes: &[&str]) {
        let reply = self.probe.send_message(message, self.timing.other).await;
        let wanted = codes.join(" or ");
        match ReplyKind::of(&reply) {
            ReplyKind::Refused { code, .. } if codes.contains(&code.as_str()) => {
                self.findings.pass(rule, "")
            }
            ReplyKind::Refused { code, .. } => {
                self.findings.warn(
                    rule,
                    format!("refused, but with {code} in place of {wanted}"),
                    &reply.exchange,
                );
            }
            ReplyKind::Unknown(why) => self.findings.skip(rule, why),
            ReplyKind::Message(_) | ReplyKind::Received => {
                let note = format!("expected LEAGUE_ERROR {wanted}, got a normal answer");
                self.findings.violated(rule, note, &reply.exchange);
            }
            ReplyKind::Malformed(_) | ReplyKind::NoAnswer => {
                let note = format!(
                    "expected LEAGUE_ERROR {wanted}, got {}",
                    reply.exchange.outcome_text()
                );
                self.findings.violated(rule, note, &reply.exchange);
            }
        }
    }
}

/// An invalid token of the right form and length.
fn falsified(message: &Message) -> Token {
    let right = message
        .envelope
        .auth_token
        .as_ref()
        .map(Token::reveal)
        .unwrap_or_default();
    let (owner, digits) = right.rsplit_once('_').unwrap_or(("tok_ref01", ""));
    Token::new(format!("{owner}_{}", "0".repeat(digits.len().max(64))))
}
