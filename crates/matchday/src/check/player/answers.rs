//! The two answers that a player owes: is this the one, is every field of it right, and is it this player's, in this
//! match?

use super::rules;
use super::suite::Suite;
use crate::check::exchange::Exchange;
use crate::check::heard::Heard;
use crate::check::judge::{self, Pattern};
use crate::check::probe::Reply;
use crate::check::rule::Rule;
use crate::check::stage::Fixture;
use matchday_core::fair::Nonce;
use matchday_core::game::Seat;
use matchday_core::protocol::messages::{MoveRequest, Parity};
use matchday_core::protocol::{Message, Token};
use serde_json::Value;

const APART: &str = "it said \"received\", and sent its answer as a message of its own. Every league of ours takes that \
    from a player that shows the token made for the match; others may not";

/// The rules that one kind of answer is held against.
struct Kind {
    message_type: &'static str,
    in_time: &'static Rule,
    message: &'static Rule,
    match_id: &'static Rule,
    player_id: &'static Rule,
}

/// What a player has chosen, by the reading of the league that is checked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    pub(super) choice: Value,
    pub(super) nonce: Option<Nonce>,
}

impl Suite {
    fn join_kind() -> Kind {
        Kind {
            message_type: "GAME_JOIN_ACK",
            in_time: &rules::JOIN_IN_TIME,
            message: &rules::JOIN_KIND,
            match_id: &rules::JOIN_MATCH,
            player_id: &rules::JOIN_PLAYER,
        }
    }

    fn choice_kind() -> Kind {
        Kind {
            message_type: "CHOOSE_PARITY_RESPONSE",
            in_time: &rules::CHOICE_IN_TIME,
            message: &rules::CHOICE_KIND,
            match_id: &rules::CHOICE_MATCH,
            player_id: &rules::CHOICE_PLAYER,
        }
    }

    fn move_kind() -> Kind {
        Kind {
            message_type: "GAME_MOVE_RESPONSE",
            in_time: &rules::MOVE_IN_TIME,
            message: &rules::MOVE_KIND,
            match_id: &rules::MOVE_MATCH,
            player_id: &rules::MOVE_PLAYER,
        }
    }

    /// Invites, and judges the answer. Whether the player has come.
    pub(super) async fn invite(&mut self, fixture: &Fixture) -> bool {
        let message = self.stage.invitation(self.probe.clock.now(), fixture);
        let reply = self.put(&message, fixture, self.timing.join).await;
        self.judge_form(&reply);
        self.judge_join(&reply, fixture)
    }

    /// Asks for a choice, and judges the answer.
    pub(super) async fn ask(&mut self, fixture: &Fixture) -> Option<Chosen> {
        let message = self.stage.question(self.probe.clock.now(), fixture);
        let reply = self.put(&message, fixture, self.timing.choice).await;
        self.judge_form(&reply);
        self.judge_choice(&reply, fixture)
    }

    pub(super) fn judge_join(&mut self, reply: &Reply, fixture: &Fixture) -> bool {
        let kind = Self::join_kind();
        let Some(came) = self.answer(&kind, reply) else {
            return false;
        };
        let good = self.stage.good_ack(self.probe.clock.now(), fixture);
        let pattern = self.pattern(&good, fixture);
        let exchange = &reply.exchange;
        let framed = self.judge_frame(&kind, &came, &pattern, fixture, exchange);
        let arrived = self.field(&rules::JOIN_ARRIVAL, &pattern, &came, "arrival_timestamp", &[], exchange);
        let mut accepted = self.field(&rules::JOIN_ACCEPT, &pattern, &came, "accept", &["status"], exchange);
        if came.get("accept") == Some(&Value::Bool(false)) {
            let game = self.stage.game.name;
            let note = format!("accept: false. It declines a match of {game}, and forfeits it");
            self.sheet.broken(&rules::JOIN_ACCEPT, note, exchange);
            accepted = false;
        }
        let joined = framed && arrived && accepted;
        if joined {
            self.joins.push(exchange.took);
        }
        joined
    }

    /// The answer to the first question of a match.
    pub(super) fn judge_choice(&mut self, reply: &Reply, fixture: &Fixture) -> Option<Chosen> {
        if self.stage.asks_by_move() {
            let request = (self.stage.game.new)().request(Seat::A);
            return self.judge_move(reply, fixture, &request);
        }
        let kind = Self::choice_kind();
        let came = self.answer(&kind, reply)?;
        let good = self.stage.good_choice(self.probe.clock.now(), fixture);
        let pattern = self.pattern(&good, fixture);
        let exchange = &reply.exchange;
        let framed = self.judge_frame(&kind, &came, &pattern, fixture, exchange);
        let chosen =
            self.field(&rules::CHOICE_PARITY, &pattern, &came, "parity_choice", &["choice"], exchange);
        let nonce = match came.get("nonce").filter(|nonce| !nonce.is_null()) {
            Some(nonce) => {
                self.field(&rules::CHOICE_NONCE, &pattern, &came, "nonce", &[], exchange);
                nonce.as_str().map(|text| Nonce(text.into()))
            }
            None => {
                self.sheet.broken(&rules::CHOICE_NONCE, "no nonce came with the choice", exchange);
                None
            }
        };
        if !framed || !chosen {
            return None;
        }
        self.choices.push(exchange.took);
        let text = came.get("parity_choice").or_else(|| came.get("choice"))?.as_str()?;
        Some(Chosen { choice: Parity::parse(text)?.as_str().into(), nonce })
    }

    /// The answer to a question of any game.
    pub(super) fn judge_move(
        &mut self,
        reply: &Reply,
        fixture: &Fixture,
        asked: &MoveRequest,
    ) -> Option<Chosen> {
        let kind = Self::move_kind();
        let came = self.answer(&kind, reply)?;
        let good = self.stage.good_choice(self.probe.clock.now(), fixture);
        let pattern = self.pattern(&good, fixture);
        let exchange = &reply.exchange;
        let mut right = self.judge_frame(&kind, &came, &pattern, fixture, exchange);
        let game = self.stage.game.name;
        right &= self.named(&rules::MOVE_GAME, &pattern, &came, ("game_type", game), exchange);
        right &= self.judge_move_type(&came, asked, exchange);
        right &= self.field(&rules::MOVE_LEGAL, &pattern, &came, "move_data.choice", &[], exchange);
        let choice = came.pointer("/move_data/choice")?.clone();
        if !asked.valid_options.contains(&choice) {
            let legal: Vec<_> = asked.valid_options.iter().map(Value::to_string).collect();
            let note = format!("move_data.choice: expected one of {}, got {choice} (E010)", legal.join(", "));
            self.sheet.broken(&rules::MOVE_LEGAL, note, exchange);
            return None;
        }
        if !right {
            return None;
        }
        self.choices.push(exchange.took);
        Some(Chosen { choice, nonce: None })
    }

    fn judge_move_type(&mut self, came: &Value, asked: &MoveRequest, exchange: &Exchange) -> bool {
        let (wanted, rule) = (asked.move_type.as_str(), &rules::MOVE_TYPE);
        match came.pointer("/move_data/move_type").and_then(Value::as_str) {
            Some(same) if same == wanted => {
                self.sheet.pass(rule, "");
                true
            }
            other => {
                let other = other.unwrap_or("nothing");
                let note = format!("move_data.move_type: expected \"{wanted}\", got {other}");
                match self.is_lenient() {
                    true => self.sheet.warn(rule, note, exchange),
                    false => self.sheet.broken(rule, note, exchange),
                }
                self.is_lenient()
            }
        }
    }

    fn pattern(&self, good: &Message, fixture: &Fixture) -> Pattern {
        let good = serde_json::to_value(good).unwrap_or_default();
        Pattern::new(good, Some(self.stage.asked(fixture)), self.probe.limits, self.probe.clock.now())
    }

    /// The message that answers, if one came, in time, and of the right kind.
    fn answer(&mut self, kind: &Kind, reply: &Reply) -> Option<Value> {
        let exchange = &reply.exchange;
        let heard = Heard::of(reply);
        let sheet = &mut self.sheet;
        let wanted = kind.message_type;
        match heard {
            Heard::Unknown(why) => {
                sheet.skip(kind.in_time, why.clone());
                sheet.skip(kind.message, why);
                return None;
            }
            Heard::Nothing => {
                sheet.broken(kind.in_time, exchange.outcome_in_words(), exchange);
                return None;
            }
            _ => sheet.pass(kind.in_time, ""),
        }
        let wrong = match heard {
            Heard::Message(message) if message.get("message_type").is_some_and(|came| came == wanted) => {
                match reply.apart {
                    true => sheet.warn(kind.message, APART, exchange),
                    false => sheet.pass(kind.message, ""),
                }
                return Some(message);
            }
            Heard::Message(message) => {
                let came = message.get("message_type").map_or("nothing".to_owned(), Value::to_string);
                format!("message_type: expected \"{wanted}\", got {came}")
            }
            Heard::Refused { code, words } => format!("it refused with {code}: {words}"),
            Heard::Received => {
                format!("it only said \"received\", and no {wanted} came in time")
            }
            Heard::Garbled(why) => why,
            Heard::Nothing | Heard::Unknown(_) => String::new(),
        };
        sheet.broken(kind.message, wrong, exchange);
        None
    }

    /// The envelope, and the two ids that every answer names.
    fn judge_frame(
        &mut self,
        kind: &Kind,
        came: &Value,
        pattern: &Pattern,
        fixture: &Fixture,
        exchange: &Exchange,
    ) -> bool {
        let sender = format!("player:{}", self.stage.identity.player_id);
        let conversation = fixture.conversation_id.as_str().to_owned();
        let match_id = fixture.match_id.as_str().to_owned();
        let player_id = self.stage.identity.player_id.as_str().to_owned();
        let mut right = self.field(&rules::PROTOCOL, pattern, came, "protocol", &[], exchange);
        right &= self.named(&rules::SENDER, pattern, came, ("sender", &sender), exchange);
        right &= self.field(&rules::TIMESTAMP, pattern, came, "timestamp", &[], exchange);
        right &=
            self.named(&rules::CONVERSATION, pattern, came, ("conversation_id", &conversation), exchange);
        right &= self.named(kind.match_id, pattern, came, ("match_id", &match_id), exchange);
        right &= self.named(kind.player_id, pattern, came, ("player_id", &player_id), exchange);
        right &= self.judge_token(came, fixture, exchange);
        right
    }

    /// One field, by the reader of a league. Whether the league that is checked for takes it.
    pub(super) fn field(
        &mut self,
        rule: &'static Rule,
        pattern: &Pattern,
        came: &Value,
        path: &str,
        aliases: &[&str],
        exchange: &Exchange,
    ) -> bool {
        let verdict = pattern.field(came, path, aliases);
        judge::record(&mut self.sheet, rule, verdict, self.conformance, exchange)
    }

    /// A field that must have one value and no other.
    fn named(
        &mut self,
        rule: &'static Rule,
        pattern: &Pattern,
        came: &Value,
        (path, wanted): (&str, &str),
        exchange: &Exchange,
    ) -> bool {
        let text = came.get(path).and_then(Value::as_str);
        if text.is_none_or(|text| text == wanted) {
            return self.field(rule, pattern, came, path, &[], exchange);
        }
        let note = format!("{path}: expected \"{wanted}\", got \"{}\"", text.unwrap_or_default());
        if path == "sender" && self.is_lenient() && text.is_some_and(|text| self.stage.is_nobodys(text)) {
            let note = format!("{note}. A strict league refuses that with E012, a lenient one lets it pass");
            self.sheet.warn(rule, note, exchange);
            return true;
        }
        self.sheet.broken(rule, note, exchange);
        false
    }

    fn judge_token(&mut self, came: &Value, fixture: &Fixture, exchange: &Exchange) -> bool {
        let shown = came.get("auth_token").and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(shown) = shown.map(Token::new) else {
            let note = "auth_token: expected a token, got none. A strict referee refuses that with E011, a lenient one lets it pass";
            return match self.is_lenient() {
                true => {
                    self.sheet.warn(&rules::TOKEN, note, exchange);
                    true
                }
                false => {
                    self.sheet.broken(&rules::TOKEN, note, exchange);
                    false
                }
            };
        };
        self.sheet.pass(&rules::TOKEN, "");
        let Some(own) = self.stage.identity.token.clone() else {
            return true;
        };
        if Some(&shown) == self.stage.answer_token(fixture).as_ref() {
            self.sheet.pass(&rules::OWN_TOKEN, "");
            self.sheet.pass(&rules::REGISTER_IDENTITY, "");
        } else if shown == own {
            self.sheet.broken(&rules::OWN_TOKEN, "it showed its league token to a referee", exchange);
            self.sheet.pass(&rules::REGISTER_IDENTITY, "");
        } else {
            let note = "auth_token is neither the token that it was given nor the one made for the match";
            self.sheet.broken(&rules::REGISTER_IDENTITY, note, exchange);
        }
        true
    }
}
