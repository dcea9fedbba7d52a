//! Does the player talk to whoever asks? Only one that was given its token here can know better.

use super::rules;
use super::suite::Suite;
use crate::check::heard::Heard;
use crate::check::rule::Rule;
use matchday_core::protocol::{Message, PlayerId, Sender, Token};

impl Suite {
    pub(super) async fn strangers(&mut self) {
        if !self.stage.is_known() {
            for rule in [&rules::FALSE_TOKEN, &rules::NO_TOKEN, &rules::FALSE_NOTICE, &rules::FALSE_SENDER] {
                self.sheet.skip(rule, "the agent cannot know our tokens: check it with --wait");
            }
            return;
        }
        let fixture = self.announce().await;
        let now = self.probe.clock.now();
        let right = self.stage.invitation(now, &fixture);
        let mut message = right.clone();
        message.envelope.auth_token = Some(falsified(&right));
        self.refused(&rules::FALSE_TOKEN, &message, &["E012"]).await;
        message.envelope.auth_token = None;
        self.refused(&rules::NO_TOKEN, &message, &["E011"]).await;
        let mut message = self.stage.announcement(now, &[&fixture]);
        message.envelope.auth_token = Some(falsified(&message));
        self.refused(&rules::FALSE_NOTICE, &message, &["E012"]).await;
        let mut message = right;
        message.envelope.sender = Sender::Player(PlayerId::new("P98"));
        self.refused(&rules::FALSE_SENDER, &message, &["E012"]).await;
    }

    async fn refused(&mut self, rule: &'static Rule, message: &Message, codes: &[&str]) {
        let reply = self.probe.tell(message, self.timing.other).await;
        let wanted = codes.join(" or ");
        match Heard::of(&reply) {
            Heard::Refused { code, .. } if codes.contains(&code.as_str()) => self.sheet.pass(rule, ""),
            Heard::Refused { code, .. } => {
                self.sheet.warn(
                    rule,
                    format!("refused, but with {code} in place of {wanted}"),
                    &reply.exchange,
                );
            }
            Heard::Unknown(why) => self.sheet.skip(rule, why),
            Heard::Message(_) | Heard::Received => {
                let note = format!("expected LEAGUE_ERROR {wanted}, and it answered as if all were well");
                self.sheet.broken(rule, note, &reply.exchange);
            }
            Heard::Garbled(_) | Heard::Nothing => {
                let note =
                    format!("expected LEAGUE_ERROR {wanted}, got {}", reply.exchange.outcome_in_words());
                self.sheet.broken(rule, note, &reply.exchange);
            }
        }
    }
}

/// A token of the right shape and length that proves nothing.
fn falsified(message: &Message) -> Token {
    let right = message.envelope.auth_token.as_ref().map(Token::reveal).unwrap_or_default();
    let (owner, digits) = right.rsplit_once('_').unwrap_or(("tok_ref01", ""));
    Token::new(format!("{owner}_{}", "0".repeat(digits.len().max(64))))
}
