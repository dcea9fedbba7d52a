//! Matches from the invitation to the end: the plain one, and those in which things go wrong.

use super::answers::Chosen;
use super::rules;
use super::suite::Suite;
use crate::check::heard::Heard;
use crate::check::probe::Reply;
use crate::check::rule::Rule;
use crate::check::stage::Fixture;
use matchday_core::protocol::Message;
use serde_json::{Value, json};
use std::time::Duration;

/// How often a choice is asked for again. A player that tosses a coin each time gives itself away in most runs, and the
/// measuring of times asks many times more.
const REPEATS: usize = 4;
const NOT_JOINED: &str = "it does not join and choose in a plain match: mend that first";
/// A player that thinks long is not asked to do so again and again.
const THINKS_LONG: Duration = Duration::from_secs(2);

impl Suite {
    /// A match as most are.
    pub(super) async fn plain_match(&mut self) -> (Fixture, Option<Chosen>) {
        let fixture = self.announce().await;
        self.joined = self.invite(&fixture).await;
        let chosen = self.ask(&fixture).await;
        self.chose = chosen.is_some();
        (fixture, chosen)
    }

    /// Everything again that was asked before: an answer may have been lost, a referee restarted.
    pub(super) async fn ask_again(&mut self, fixture: &Fixture, first: Option<&Chosen>) {
        let Some(first) = first else {
            for rule in [&rules::RETRY_ANSWERED, &rules::RETRY_SAME, &rules::CHOICE_GENERIC] {
                self.sheet.skip(rule, "it gave no choice that could be asked for again");
            }
            return self.invite_again(fixture).await;
        };
        for _ in 0..REPEATS {
            let message = self.stage.question(self.probe.clock.now(), fixture);
            let reply = self.put(&message, fixture, self.timing.choice).await;
            let chosen = self.quietly(|suite| suite.judge_choice(&reply, fixture));
            self.judge_repeat(first, chosen.as_ref(), &reply);
            if reply.exchange.took > THINKS_LONG {
                break;
            }
        }
        if !self.stage.asks_by_move() {
            self.ask_generically(fixture, first).await;
        }
        self.invite_again(fixture).await;
    }

    pub(super) fn judge_repeat(&mut self, first: &Chosen, chosen: Option<&Chosen>, reply: &Reply) {
        let Some(chosen) = chosen else {
            return self.not_again(&rules::RETRY_ANSWERED, reply);
        };
        self.sheet.pass(&rules::RETRY_ANSWERED, "");
        let (before, after) = (&first.choice, &chosen.choice);
        if before != after {
            let note = format!("it chose {before} first, and {after} when it was asked again");
            self.sheet.broken(&rules::RETRY_SAME, note, &reply.exchange);
        } else if first.nonce != chosen.nonce {
            let note = "it gave the same choice with another nonce: a referee could draw again";
            self.sheet.broken(&rules::RETRY_SAME, note, &reply.exchange);
        } else {
            self.sheet.pass(&rules::RETRY_SAME, "");
        }
    }

    fn not_again(&mut self, rule: &'static Rule, reply: &Reply) {
        match Heard::of(reply) {
            Heard::Unknown(why) => self.sheet.skip(rule, why),
            Heard::Nothing => self.sheet.broken(rule, reply.exchange.outcome_in_words(), &reply.exchange),
            _ => self.sheet.broken(rule, "no right answer came when it was asked again", &reply.exchange),
        }
    }

    async fn ask_generically(&mut self, fixture: &Fixture, first: &Chosen) {
        let game = (self.stage.game.new)();
        let message = self.stage.question_in(self.probe.clock.now(), fixture, game.as_ref());
        let reply = self.probe.tell(&message, self.timing.choice).await;
        let rule = &rules::CHOICE_GENERIC;
        match Heard::of(&reply) {
            Heard::Unknown(why) => self.sheet.skip(rule, why),
            Heard::Message(came) => {
                let kind = came.get("message_type").is_some_and(|kind| kind == "GAME_MOVE_RESPONSE");
                if kind && came.pointer("/move_data/choice") == Some(&first.choice) {
                    self.sheet.pass(rule, "");
                } else {
                    let came = came.pointer("/move_data/choice").or(came.get("message_type"));
                    let came = came.map_or("nothing".to_owned(), Value::to_string);
                    let wanted = &first.choice;
                    let note = format!("expected GAME_MOVE_RESPONSE with the choice {wanted}, got {came}");
                    self.sheet.broken(rule, note, &reply.exchange);
                }
            }
            Heard::Refused { code, words } => {
                self.sheet.broken(rule, format!("it refused with {code}: {words}"), &reply.exchange);
            }
            _ => self.sheet.broken(rule, "it gave no GAME_MOVE_RESPONSE", &reply.exchange),
        }
    }

    async fn invite_again(&mut self, fixture: &Fixture) {
        let rule = &rules::DUPLICATE_INVITATION;
        if !self.joined {
            return self.sheet.skip(rule, NOT_JOINED);
        }
        let message = self.stage.invitation(self.probe.clock.now(), fixture);
        let reply = self.put(&message, fixture, self.timing.join).await;
        self.judge_again(rule, &reply, |suite| suite.judge_join(&reply, fixture));
    }

    /// Holds a rule against whether an answer that was right before is right once more.
    fn judge_again(&mut self, rule: &'static Rule, reply: &Reply, is_right: impl FnOnce(&mut Self) -> bool) {
        match self.quietly(is_right) {
            true => self.sheet.pass(rule, ""),
            false => self.not_again(rule, reply),
        }
    }

    /// A match with fields in it that nobody has heard of, and with a complaint in the middle.
    pub(super) async fn odd_match(&mut self) -> Option<(Fixture, Chosen)> {
        if !self.joined || !self.chose {
            self.sheet.skip(&rules::UNKNOWN_FIELDS, NOT_JOINED);
            self.sheet.skip(&rules::AFTER_GAME_ERROR, NOT_JOINED);
            let fixture = self.stage.next();
            let message = self.stage.game_error(self.probe.clock.now(), &fixture);
            self.notify(&rules::GAME_ERROR, &message, self.timing.other).await;
            return None;
        }
        let fixture = self.announce().await;
        let message = self.stage.invitation(self.probe.clock.now(), &fixture);
        let reply = self.tell_with_extras(&message, &fixture, self.timing.join).await;
        self.blame_extras(&reply);
        let message = self.stage.question(self.probe.clock.now(), &fixture);
        let reply = self.tell_with_extras(&message, &fixture, self.timing.choice).await;
        self.blame_extras(&reply);
        let chosen = self.quietly(|suite| suite.judge_choice(&reply, &fixture));
        self.complain(&fixture).await;
        chosen.map(|chosen| (fixture, chosen))
    }

    /// Extra fields are to blame if no message answers: one did without them.
    fn blame_extras(&mut self, reply: &Reply) {
        let rule = &rules::UNKNOWN_FIELDS;
        match Heard::of(reply) {
            Heard::Unknown(why) => self.sheet.skip(rule, why),
            Heard::Message(_) => self.sheet.pass(rule, ""),
            _ => {
                let note = "with fields that it does not know the message got no right answer, and without them it did";
                self.sheet.broken(rule, note, &reply.exchange);
            }
        }
    }

    async fn tell_with_extras(&mut self, message: &Message, fixture: &Fixture, within: Duration) -> Reply {
        let reply = self
            .probe
            .tell_altered(message, within, &|message| {
                message.insert("x_weather".to_owned(), json!({"sky": ["blue", null], "degrees": 21.5}));
                message.insert("schema_version".to_owned(), json!(99));
            })
            .await;
        self.await_apart(reply, fixture, within).await
    }

    /// GAME_ERROR, and then the question again.
    async fn complain(&mut self, fixture: &Fixture) {
        let message = self.stage.game_error(self.probe.clock.now(), fixture);
        self.notify(&rules::GAME_ERROR, &message, self.timing.other).await;
        let message = self.stage.question(self.probe.clock.now(), fixture);
        let reply = self.put(&message, fixture, self.timing.choice).await;
        let rule = &rules::AFTER_GAME_ERROR;
        self.judge_again(rule, &reply, |suite| suite.judge_choice(&reply, fixture).is_some());
    }

    /// Two matches at the same time: each answer must be for the match that was asked about.
    pub(super) async fn two_matches(&mut self) {
        if !self.joined || !self.chose {
            return self.sheet.skip(&rules::TWO_MATCHES, NOT_JOINED);
        }
        let (one, two) = (self.announce().await, self.announce().await);
        let now = self.probe.clock.now();
        let messages = (self.stage.invitation(now, &one), self.stage.invitation(now, &two));
        let replies = self.put_both(&one, &two, messages, self.timing.join).await;
        let mut right =
            self.judge_pair(&one, &two, &replies, |suite, reply, fixture| suite.judge_join(reply, fixture));
        let now = self.probe.clock.now();
        let messages = (self.stage.question(now, &one), self.stage.question(now, &two));
        let replies = self.put_both(&one, &two, messages, self.timing.choice).await;
        right &= self.judge_pair(&one, &two, &replies, |suite, reply, fixture| {
            suite.judge_choice(reply, fixture).is_some()
        });
        if right {
            self.sheet.pass(&rules::TWO_MATCHES, "");
        }
    }

    async fn put_both(
        &mut self,
        one: &Fixture,
        two: &Fixture,
        (first, second): (Message, Message),
        within: Duration,
    ) -> (Reply, Reply) {
        let (first, second) = tokio::join!(self.probe.tell(&first, within), self.probe.tell(&second, within));
        (self.await_apart(first, one, within).await, self.await_apart(second, two, within).await)
    }

    fn judge_pair(
        &mut self,
        one: &Fixture,
        two: &Fixture,
        (first, second): &(Reply, Reply),
        is_right: impl Fn(&mut Self, &Reply, &Fixture) -> bool,
    ) -> bool {
        let mut right = true;
        for (reply, fixture, other) in [(first, one, two), (second, two, one)] {
            let heard = Heard::of(reply);
            if let Heard::Message(message) = &heard
                && message.get("match_id").is_some_and(|id| id == other.match_id.as_str())
            {
                let note = format!("asked about {} it answered for {}", fixture.match_id, other.match_id);
                self.sheet.broken(&rules::TWO_MATCHES, note, &reply.exchange);
                right = false;
            } else if !self.quietly(|suite| is_right(suite, reply, fixture)) {
                right = false;
                match heard {
                    Heard::Nothing => {
                        let note =
                            format!("of two questions at once one got {}", reply.exchange.outcome_in_words());
                        self.sheet.broken(&rules::TWO_MATCHES, note, &reply.exchange);
                    }
                    Heard::Unknown(why) => self.sheet.skip(&rules::TWO_MATCHES, why),
                    _ => {
                        let note = format!(
                            "of two questions at once the one about {} got no right answer",
                            fixture.match_id
                        );
                        self.sheet.broken(&rules::TWO_MATCHES, note, &reply.exchange);
                    }
                }
            }
        }
        right
    }
}
