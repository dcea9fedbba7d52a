//! Matches from invitation to GAME_OVER: a plain one, repeated requests, unknown fields, GAME_ERROR, two at once.

use super::answers::Chosen;
use super::fake_league::Fixture;
use super::rules;
use super::suite::Suite;
use crate::check::probe::Reply;
use crate::check::reply::{ReplyKind, violated};
use crate::check::rule::Rule;
use matchday_core::protocol::Message;
use serde_json::{Value, json};
use std::time::Duration;

/// How often a choice is requested again. A player that answers at random is found in most runs; the response time
/// measurement repeats requests many times more.
const REPEATS: usize = 4;
const NOT_JOINED: &str = "it does not finish plain matches, one after the other: fix that first";
/// A player slower than this is not asked repeatedly.
const THINKS_LONG: Duration = Duration::from_secs(2);

impl Suite {
    /// Goes on with the match to which the handshake was the invitation.
    pub(super) async fn plain_match(
        &mut self,
        (fixture, reply): (Fixture, Reply),
    ) -> (Fixture, Option<Chosen>) {
        self.joined = self.check_invited(&reply, &fixture);
        let chosen = self.ask(&fixture).await;
        self.chose = chosen.is_some();
        (fixture, chosen)
    }

    /// Repeats every request: in a league an answer may be lost, or the referee restarted.
    pub(super) async fn ask_again(&mut self, fixture: &Fixture, first: Option<&Chosen>) {
        let Some(first) = first else {
            for rule in [
                &rules::RETRY_ANSWERED,
                &rules::RETRY_SAME,
                &rules::CHOICE_GENERIC,
            ] {
                self.findings.skip(
                    rule,
                    "it gave no choice, so a repeated call could not be checked",
                );
            }
            return self.invite_again(fixture).await;
        };
        for _ in 0..REPEATS {
            let message = self.league.question(self.probe.clock.now(), fixture);
            let reply = self
                .send_question(&message, fixture, self.timing.choice)
                .await;
            let chosen = self.without_recording(|suite| suite.check_choice(&reply, fixture));
            self.check_repeat(first, chosen.as_ref(), &reply);
            if reply.exchange.took > THINKS_LONG {
                break;
            }
        }
        if !self.league.game.asks_by_move() {
            self.ask_generically(fixture, first).await;
        }
        self.invite_again(fixture).await;
    }

    pub(super) fn check_repeat(&mut self, first: &Chosen, chosen: Option<&Chosen>, reply: &Reply) {
        let Some(chosen) = chosen else {
            return self.not_again(&rules::RETRY_ANSWERED, reply);
        };
        self.findings.pass(&rules::RETRY_ANSWERED, "");
        let before = &first.choice;
        let after = &chosen.choice;
        let note = if before != after {
            format!("it chose {before} first, and {after} when it was asked again")
        } else if first.nonce != chosen.nonce {
            "it gave the same choice with another nonce: a referee could draw again".to_owned()
        } else {
            return self.findings.pass(&rules::RETRY_SAME, "");
        };
        self.findings
            .violated(&rules::RETRY_SAME, note, &reply.exchange);
    }

    fn not_again(&mut self, rule: &'static Rule, reply: &Reply) {
        match ReplyKind::of(reply) {
            ReplyKind::Unknown(why) => self.findings.skip(rule, why),
            ReplyKind::Message(_) => {
                self.findings.violated(
                    rule,
                    "no right answer came when it was asked again",
                    &reply.exchange,
                );
            }
            other => violated(
                &mut self.findings,
                rule,
                other.describe(&reply.exchange),
                reply,
            ),
        }
    }

    async fn ask_generically(&mut self, fixture: &Fixture, first: &Chosen) {
        let game = self.league.game.opening(fixture.seat);
        let message = self
            .league
            .question_in(self.probe.clock.now(), fixture, game.as_ref());
        let reply = self.probe.send_message(&message, self.timing.choice).await;
        let rule = &rules::CHOICE_GENERIC;
        match ReplyKind::of(&reply) {
            ReplyKind::Unknown(why) => self.findings.skip(rule, why),
            ReplyKind::Message(came) => {
                let kind = came
                    .get("message_type")
                    .is_some_and(|kind| kind == "GAME_MOVE_RESPONSE");
                if kind && came.pointer("/move_data/choice") == Some(&first.choice) {
                    self.findings.pass(rule, "");
                } else {
                    let came = came
                        .pointer("/move_data/choice")
                        .or(came.get("message_type"));
                    let came = came.map_or("nothing".to_owned(), Value::to_string);
                    let wanted = &first.choice;
                    let note =
                        format!("expected GAME_MOVE_RESPONSE with the choice {wanted}, got {came}");
                    self.findings.violated(rule, note, &reply.exchange);
                }
            }
            ReplyKind::Refused { code, text } => {
                self.findings.violated(
                    rule,
                    format!("it refused with {code}: {text}"),
                    &reply.exchange,
                );
            }
            _ => violated(
                &mut self.findings,
                rule,
                "it gave no GAME_MOVE_RESPONSE",
                &reply,
            ),
        }
    }

    async fn invite_again(&mut self, fixture: &Fixture) {
        let rule = &rules::DUPLICATE_INVITATION;
        if !self.joined {
            return self.findings.skip(rule, NOT_JOINED);
        }
        let message = self.league.invitation(self.probe.clock.now(), fixture);
        let reply = self
            .send_question(&message, fixture, self.timing.join)
            .await;
        self.check_again(rule, &reply, |suite| suite.check_join(&reply, fixture));
    }

    /// Records whether an answer that was valid before is valid again.
    fn check_again(
        &mut self,
        rule: &'static Rule,
        reply: &Reply,
        is_right: impl FnOnce(&mut Self) -> bool,
    ) {
        if self.without_recording(is_right) {
            self.findings.pass(rule, "")
        } else {
            self.not_again(rule, reply)
        }
    }

    /// A match with unknown fields in its messages, and a GAME_ERROR in between.
    pub(super) async fn odd_match(&mut self) -> Option<(Fixture, Chosen)> {
        if !self.joined || !self.chose {
            self.findings.skip(&rules::UNKNOWN_FIELDS, NOT_JOINED);
            self.findings.skip(&rules::AFTER_GAME_ERROR, NOT_JOINED);
            self.findings.skip(&rules::GAME_OVER_TWICE, NOT_JOINED);
            let fixture = self.league.next();
            let message = self.league.game_error(self.probe.clock.now(), &fixture);
            self.notify(&rules::GAME_ERROR, &message, self.timing.other)
                .await;
            return None;
        }
        let fixture = self.announce().await;
        let message = self.league.invitation(self.probe.clock.now(), &fixture);
        self.blame_extras(&message, &fixture, self.timing.join)
            .await;
        let message = self.league.question(self.probe.clock.now(), &fixture);
        let reply = self
            .blame_extras(&message, &fixture, self.timing.choice)
            .await;
        let chosen = self.without_recording(|suite| suite.check_choice(&reply, &fixture));
        self.complain(&fixture).await;
        chosen.map(|chosen| (fixture, chosen))
    }

    /// Sends a message with unknown fields. A missing answer violates their rule if the same message is answered without
    /// them.
    async fn blame_extras(
        &mut self,
        message: &Message,
        fixture: &Fixture,
        within: Duration,
    ) -> Reply {
        let rule = &rules::UNKNOWN_FIELDS;
        let reply = self.tell_with_extras(message, fixture, within).await;
        match ReplyKind::of(&reply) {
            ReplyKind::Unknown(why) => self.findings.skip(rule, why),
            ReplyKind::Message(_) => self.findings.pass(rule, ""),
            _ => {
                let plain = self.send_question(message, fixture, within).await;
                if let ReplyKind::Message(_) = ReplyKind::of(&plain) {
                    let note =
                        "the message got a right answer without unknown fields, but not with them";
                    violated(&mut self.findings, rule, note, &reply);
                    return plain;
                }
                let note = format!(
                    "it gives no right answer to {} here without such fields either",
                    plain.exchange.subject
                );
                self.findings.skip(rule, note);
            }
        }
        reply
    }

    async fn tell_with_extras(
        &mut self,
        message: &Message,
        fixture: &Fixture,
        within: Duration,
    ) -> Reply {
        let reply = self
            .probe
            .send_altered(message, within, &|message| {
                message.insert(
                    "x_weather".to_owned(),
                    json!({"sky": ["blue", null], "degrees": 21.5}),
                );
                message.insert("schema_version".to_owned(), json!(99));
            })
            .await;
        self.await_separate_answer(reply, fixture, within).await
    }

    /// GAME_ERROR, and then the request again.
    async fn complain(&mut self, fixture: &Fixture) {
        let message = self.league.game_error(self.probe.clock.now(), fixture);
        self.notify(&rules::GAME_ERROR, &message, self.timing.other)
            .await;
        let message = self.league.question(self.probe.clock.now(), fixture);
        let reply = self
            .send_question(&message, fixture, self.timing.choice)
            .await;
        let rule = &rules::AFTER_GAME_ERROR;
        self.check_again(rule, &reply, |suite| {
            suite.check_choice(&reply, fixture).is_some()
        });
    }

    /// A match whose name is not ASCII: what is read and written otherwise than as UTF-8 comes back as another text.
    pub(super) async fn utf8_match(&mut self) {
        let rule = &rules::UTF8;
        if !self.joined {
            return self.findings.skip(rule, NOT_JOINED);
        }
        let (_, plain) = self.invite_to_named("zolw").await;
        let (fixture, named) = self.invite_to_named("\u{17c}\u{f3}\u{142}w").await;
        let came = match named {
            Ok(()) => return self.findings.pass(rule, ""),
            Err(_) if plain.is_err() => {
                return self
                    .findings
                    .skip(rule, "it rejects a match_id that is not like R1M1");
            }
            Err(came) => came,
        };
        let note = match ReplyKind::of(&came) {
            ReplyKind::Unknown(why) => return self.findings.skip(rule, why),
            ReplyKind::Message(answer) => {
                let answered = answer
                    .get("match_id")
                    .map_or("nothing".to_owned(), Value::to_string);
                format!(
                    "match_id: expected \"{}\", got {answered}",
                    fixture.match_id
                )
            }
            other => format!(
                "asked about {}: {}",
                fixture.match_id,
                other.describe(&came.exchange)
            ),
        };
        self.findings.violated(rule, note, &came.exchange);
    }

    /// Announces and invites to a match with this word in its name. The reply, if the player does not join.
    async fn invite_to_named(&mut self, word: &str) -> (Fixture, Result<(), Box<Reply>>) {
        let fixture = self.league.next_named(word);
        let message = self
            .league
            .announcement(self.probe.clock.now(), &[&fixture]);
        self.send_notice(&message, self.timing.other).await;
        let message = self.league.invitation(self.probe.clock.now(), &fixture);
        let reply = self
            .send_question(&message, &fixture, self.timing.join)
            .await;
        if self.without_recording(|suite| suite.check_join(&reply, &fixture)) {
            (fixture, Ok(()))
        } else {
            (fixture, Err(Box::new(reply)))
        }
    }

    /// Two matches at once: each answer must be for the match of its request.
    pub(super) async fn two_matches(&mut self) {
        if !self.joined || !self.chose {
            return self.findings.skip(&rules::TWO_MATCHES, NOT_JOINED);
        }
        let one = self.announce().await;
        let two = self.announce().await;
        let now = self.probe.clock.now();
        let messages = (
            self.league.invitation(now, &one),
            self.league.invitation(now, &two),
        );
        let replies = self.send_both(&one, &two, messages, self.timing.join).await;
        let mut right = self.check_pair(&one, &two, &replies, |suite, reply, fixture| {
            suite.check_join(reply, fixture)
        });
        let now = self.probe.clock.now();
        let messages = (
            self.league.question(now, &one),
            self.league.question(now, &two),
        );
        let replies = self
            .send_both(&one, &two, messages, self.timing.choice)
            .await;
        right &= self.check_pair(&one, &two, &replies, |suite, reply, fixture| {
            suite.check_choice(reply, fixture).is_some()
        });
        if right {
            self.findings.pass(&rules::TWO_MATCHES, "");
        }
    }

    async fn send_both(
        &mut self,
        one: &Fixture,
        two: &Fixture,
        (first, second): (Message, Message),
        within: Duration,
    ) -> (Reply, Reply) {
        let (first, second) = tokio::join!(
            self.probe.send_message(&first, within),
            self.probe.send_message(&second, within)
        );
        (
            self.await_separate_answer(first, one, within).await,
            self.await_separate_answer(second, two, within).await,
        )
    }

    fn check_pair(
        &mut self,
        one: &Fixture,
        two: &Fixture,
        (first, second): &(Reply, Reply),
        is_right: impl Fn(&mut Self, &Reply, &Fixture) -> bool,
    ) -> bool {
        let mut right = true;
        for (reply, fixture, other) in [(first, one, two), (second, two, one)] {
            let kind = ReplyKind::of(reply);
            if let ReplyKind::Message(message) = &kind
                && message
                    .get("match_id")
                    .is_some_and(|id| id == other.match_id.as_str())
            {
                let note = format!(
                    "asked about {} it answered for {}",
                    fixture.match_id, other.match_id
                );
                self.findings
                    .violated(&rules::TWO_MATCHES, note, &reply.exchange);
                right = false;
            } else if !self.without_recording(|suite| is_right(suite, reply, fixture)) {
                right = false;
                match kind {
                    ReplyKind::NoAnswer => {
                        let note = format!(
                            "of two questions at once one got {}",
                            reply.exchange.outcome_text()
                        );
                        self.findings
                            .violated(&rules::TWO_MATCHES, note, &reply.exchange);
                    }
                    ReplyKind::Unknown(why) => self.findings.skip(&rules::TWO_MATCHES, why),
                    _ => {
                        let note = format!(
                            "of two questions at once the one about {} got no right answer",
                            fixture.match_id
                        );
                        self.findings
                            .violated(&rules::TWO_MATCHES, note, &reply.exchange);
                    }
                }
            }
        }
        right
    }
}
