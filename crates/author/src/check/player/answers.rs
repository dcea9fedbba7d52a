//! Checks the answers that a player owes: GAME_JOIN_ACK and a choice or move. Type, every field, identity.

use super::fake_league::Fixture;
use super::rules;
use super::suite::Suite;
use crate::check::exchange::Exchange;
use crate::check::field_check::{self, FieldVerdict, Template};
use crate::check::probe::Reply;
use crate::check::reply::{ReplyKind, violated};
use crate::check::rule::Rule;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::messages::{MoveRequest, Parity};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Message, Sender, Timestamp, Token};
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

const SEPARATE: &str = "it said \"received\", and sent its answer as a message of its own. Matchday accepts that from a player that shows the token of the match; other league managers may not";

/// An answer of less delay names the time at which it came, to the second.
const PROMPT: Duration = Duration::from_millis(500);
/// Clocks of machines that set them by the network differ by less.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(120);
/// After so long whole seconds have changed.
const CLOCK_STEP: Duration = Duration::from_secs(2);
const NOT_REGISTERED: &str = "only a registered agent can know this: check it with --wait";

/// The rules that apply to one type of answer.
struct AnswerRules {
    message_type: &'static str,
    in_time: &'static Rule,
    message: &'static Rule,
    match_id: &'static Rule,
    player_id: &'static Rule,
}

/// A choice that a lenient league accepts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    pub(super) choice: Value,
    pub(super) nonce: Option<Nonce>,
}

impl Suite {
    fn join_rules() -> AnswerRules {
        AnswerRules {
            message_type: "GAME_JOIN_ACK",
            in_time: &rules::JOIN_IN_TIME,
            message: &rules::JOIN_KIND,
            match_id: &rules::JOIN_MATCH,
            player_id: &rules::JOIN_PLAYER,
        }
    }

    fn choice_rules() -> AnswerRules {
        AnswerRules {
            message_type: "CHOOSE_PARITY_RESPONSE",
            in_time: &rules::CHOICE_IN_TIME,
            message: &rules::CHOICE_KIND,
            match_id: &rules::CHOICE_MATCH,
            player_id: &rules::CHOICE_PLAYER,
        }
    }

    fn move_rules() -> AnswerRules {
        AnswerRules {
            message_type: "GAME_MOVE_RESPONSE",
            in_time: &rules::MOVE_IN_TIME,
            message: &rules::MOVE_KIND,
            match_id: &rules::MOVE_MATCH,
            player_id: &rules::MOVE_PLAYER,
        }
    }

    /// Sends an invitation and checks the answer. Returns whether the player joined.
    pub(super) async fn invite(&mut self, fixture: &Fixture) -> bool {
        let message = self.league.invitation(self.probe.clock.now(), fixture);
        let reply = self
            .send_question(&message, fixture, self.timing.join)
            .await;
        self.check_invited(&reply, fixture)
    }

    /// Checks the answer to an invitation, and its times. Returns whether the player joined.
    pub(super) fn check_invited(&mut self, reply: &Reply, fixture: &Fixture) -> bool {
        self.check_response_format(reply);
        self.note_time(reply, "timestamp");
        self.note_time(reply, "arrival_timestamp");
        self.check_join(reply, fixture)
    }

    /// Requests a choice and checks the answer.
    pub(super) async fn ask(&mut self, fixture: &Fixture) -> Option<Chosen> {
        let message = self.league.question(self.probe.clock.now(), fixture);
        let reply = self
            .send_question(&message, fixture, self.timing.choice)
            .await;
        self.check_response_format(&reply);
        self.note_time(&reply, "timestamp");
        let chosen = self.check_choice(&reply, fixture)?;
        self.check_nonce(&chosen, fixture, &reply.exchange);
        Some(chosen)
    }

    /// Keeps the time that an answer names, to compare it with ours. Slow answers may name the time at which they began.
    fn note_time(&mut self, reply: &Reply, field: &str) {
        let ReplyKind::Message(message) = ReplyKind::of(reply) else {
            return;
        };
        let said = message
            .get(field)
            .and_then(Value::as_str)
            .and_then(Timestamp::parse);
        if let Some((said, _)) = said.filter(|_| reply.exchange.took < PROMPT) {
            self.times.push((self.probe.clock.now(), said));
        }
    }

    /// Waits until a clock that stands can be told from one that goes.
    pub(super) async fn let_time_pass(&self) {
        if let Some((first, _)) = self.times.first() {
            let passed = self.probe.clock.now().since(*first);
            sleep(CLOCK_STEP.saturating_sub(passed)).await;
        }
    }

    /// The times that it named must be ours, and pass as ours do.
    pub(super) fn check_clock(&mut self) {
        let (Some((first, first_said)), Some((last, last_said))) =
            (self.times.first(), self.times.last())
        else {
            return self
                .findings
                .skip(&rules::CLOCK, "no answer came that names a time");
        };
        let wrong = self.times.iter().find_map(|(now, said)| {
            let apart = now.since(*said).max(said.since(*now));
            (apart > CLOCK_SKEW_MAX).then(|| format!("an answer of {now} names the time {said}"))
        });
        let stands = last.since(*first) >= CLOCK_STEP && last_said == first_said;
        let stands = stands.then(|| {
            let passed = last.since(*first).as_secs();
            format!(
                "its clock does not move: answers {passed} s apart, in different matches, name the time {last_said}"
            )
        });
        match wrong.or(stands) {
            None => self.findings.pass(&rules::CLOCK, ""),
            Some(note) => self.findings.violated_unseen(&rules::CLOCK, note),
        }
    }

    /// A nonce must be another one in each match.
    fn check_nonce(&mut self, chosen: &Chosen, fixture: &Fixture, exchange: &Exchange) {
        let Some(nonce) = &chosen.nonce else { return };
        let id = fixture.match_id.as_str();
        if let Some((other, _)) = self
            .nonces
            .iter()
            .find(|(other, known)| *other != id && *known == nonce)
        {
            let note = format!("the nonce of {id} is that of {other} too: a referee can guess it");
            self.findings.violated(&rules::CHOICE_NONCE, note, exchange);
        }
        self.nonces.insert(id.to_owned(), nonce.clone());
    }

    pub(super) fn check_join(&mut self, reply: &Reply, fixture: &Fixture) -> bool {
        let rules_of = Self::join_rules();
        let Some(came) = self.answer(&rules_of, reply) else {
            return false;
        };
        let good = self.league.good_ack(self.probe.clock.now(), fixture);
        let template = self.template(&good, fixture);
        let exchange = &reply.exchange;
        let framed = self.check_frame(&rules_of, &came, &template, fixture, exchange);
        let arrived = self.field(
            &rules::JOIN_ARRIVAL,
            &template,
            &came,
            "arrival_timestamp",
            &[],
            exchange,
        );
        let mut accepted = self.field(
            &rules::JOIN_ACCEPT,
            &template,
            &came,
            "accept",
            &["status"],
            exchange,
        );
        if came.get("accept") == Some(&Value::Bool(false)) {
            let game = self.league.game.entry.name;
            let note = format!("accept: false. It declines a match of {game}, and forfeits it");
            self.findings.violated(&rules::JOIN_ACCEPT, note, exchange);
            accepted = false;
        }
        let joined = framed && arrived && accepted;
        if joined {
            self.joins.push(exchange.took);
        }
        joined
    }

    /// Checks the answer to the first request of a match.
    pub(super) fn check_choice(&mut self, reply: &Reply, fixture: &Fixture) -> Option<Chosen> {
        if self.league.game.asks_by_move() {
            let opening = self.league.game.opening(fixture.seat);
            let request = opening.request(fixture.seat);
            return self.check_move(reply, fixture, &request);
        }
        let rules_of = Self::choice_rules();
        let came = self.answer(&rules_of, reply)?;
        let good = self.league.good_choice(self.probe.clock.now(), fixture);
        let template = self.template(&good, fixture);
        let exchange = &reply.exchange;
        let framed = self.check_frame(&rules_of, &came, &template, fixture, exchange);
        let chosen = self.field(
            &rules::CHOICE_PARITY,
            &template,
            &came,
            "parity_choice",
            &["choice"],
            exchange,
        );
        let nonce = match came.get("nonce").filter(|nonce| !nonce.is_null()) {
            Some(nonce) => {
                self.field(
                    &rules::CHOICE_NONCE,
                    &template,
                    &came,
                    "nonce",
                    &[],
                    exchange,
                );
                nonce.as_str().map(|text| Nonce(text.into()))
            }
            None => {
                self.findings.violated(
                    &rules::CHOICE_NONCE,
                    "no nonce came with the choice",
                    exchange,
                );
                None
            }
        };
        if !framed || !chosen {
            return None;
        }
        self.choices.push(exchange.took);
        let text = came
            .get("parity_choice")
            .or_else(|| came.get("choice"))?
            .as_str()?;
        Some(Chosen {
            choice: Parity::parse(text)?.as_str().into(),
            nonce,
        })
    }

    /// Checks the answer to GAME_MOVE_CALL, in any game.
    pub(super) fn check_move(
        &mut self,
        reply: &Reply,
        fixture: &Fixture,
        asked: &MoveRequest,
    ) -> Option<Chosen> {
        let rules_of = Self::move_rules();
        let came = self.answer(&rules_of, reply)?;
        let good = self.league.good_choice(self.probe.clock.now(), fixture);
        let template = self.template(&good, fixture);
        let exchange = &reply.exchange;
        let mut right = self.check_frame(&rules_of, &came, &template, fixture, exchange);
        let game = self.league.game.entry.name;
        right &= self.exact_field(
            &rules::MOVE_GAME,
            &template,
            &came,
            ("game_type", game),
            exchange,
        );
        right &= self.check_move_type(&came, asked, exchange);
        right &= self.field(
            &rules::MOVE_LEGAL,
            &template,
            &came,
            "move_data.choice",
            &[],
            exchange,
        );
        let choice = came.pointer("/move_data/choice")?.clone();
        if !asked.valid_options.contains(&choice) {
            let legal: Vec<_> = asked.valid_options.iter().map(Value::to_string).collect();
            let note = format!(
                "move_data.choice: expected one of {}, got {choice} (E010)",
                legal.join(", ")
            );
            self.findings.violated(&rules::MOVE_LEGAL, note, exchange);
            return None;
        }
        if !right {
            return None;
        }
        self.choices.push(exchange.took);
        Some(Chosen {
            choice,
            nonce: None,
        })
    }

    fn check_move_type(&mut self, came: &Value, asked: &MoveRequest, exchange: &Exchange) -> bool {
        let wanted = asked.move_type.as_str();
        let rule = &rules::MOVE_TYPE;
        match came.pointer("/move_data/move_type").and_then(Value::as_str) {
            Some(same) if same == wanted => {
                self.findings.pass(rule, "");
                true
            }
            other => {
                let other = other.unwrap_or("nothing");
                let note = format!("move_data.move_type: expected \"{wanted}\", got {other}");
                self.findings.deviation(rule, note, exchange);
                true
            }
        }
    }

    fn template(&self, good: &Message, fixture: &Fixture) -> Template {
        let good = serde_json::to_value(good).unwrap_or_default();
        Template::new(
            good,
            Some(self.league.asked(fixture)),
            self.probe.limits,
            self.probe.clock.now(),
        )
    }

    /// The answer, if it came in time and has the right type.
    fn answer(&mut self, rules_of: &AnswerRules, reply: &Reply) -> Option<Value> {
        let exchange = &reply.exchange;
        let kind = ReplyKind::of(reply);
        let findings = &mut self.findings;
        let wanted = rules_of.message_type;
        match kind {
            ReplyKind::Unknown(why) => {
                findings.skip(rules_of.in_time, why.clone());
                findings.skip(rules_of.message, why);
                return None;
            }
            ReplyKind::NoAnswer => {
                violated(findings, rules_of.in_time, exchange.outcome_text(), reply);
                return None;
            }
            _ => findings.pass(rules_of.in_time, ""),
        }
        let wrong = match kind {
            ReplyKind::Message(message)
                if message
                    .get("message_type")
                    .is_some_and(|came| came == wanted) =>
            {
                if reply.separate {
                    findings.warn(rules_of.message, SEPARATE, exchange)
                } else {
                    findings.pass(rules_of.message, "")
                }
                self.learn_id(&message);
                return Some(message);
            }
            ReplyKind::Message(message) => {
                let came = message
                    .get("message_type")
                    .map_or("nothing".to_owned(), Value::to_string);
                format!("message_type: expected \"{wanted}\", got {came}")
            }
            ReplyKind::Refused { code, text } => format!("it refused with {code}: {text}"),
            ReplyKind::Received => {
                format!("it only said \"received\", and no {wanted} came in time")
            }
            ReplyKind::Malformed(why) if wanted == "GAME_JOIN_ACK" && is_unknown(reply) => {
                format!(
                    "{why}. Every player is invited: if this is a referee, check it with `matchday check referee --wait`"
                )
            }
            ReplyKind::Malformed(why) => why,
            ReplyKind::NoAnswer | ReplyKind::Unknown(_) => String::new(),
        };
        violated(findings, rules_of.message, wrong, reply);
        None
    }

    /// Checks the envelope and the two ids that every answer carries.
    fn check_frame(
        &mut self,
        rules_of: &AnswerRules,
        came: &Value,
        template: &Template,
        fixture: &Fixture,
        exchange: &Exchange,
    ) -> bool {
        let sender = format!("player:{}", self.league.identity.player_id);
        let conversation = fixture.conversation_id.as_str().to_owned();
        let match_id = fixture.match_id.as_str().to_owned();
        let player_id = self.league.identity.player_id.as_str().to_owned();
        let mut right = self.field(&rules::PROTOCOL, template, came, "protocol", &[], exchange);
        right &= self.exact_field(
            &rules::SENDER,
            template,
            came,
            ("sender", &sender),
            exchange,
        );
        right &= self.field(
            &rules::TIMESTAMP,
            template,
            came,
            "timestamp",
            &[],
            exchange,
        );
        right &= self.exact_field(
            &rules::CONVERSATION,
            template,
            came,
            ("conversation_id", &conversation),
            exchange,
        );
        right &= self.exact_field(
            rules_of.match_id,
            template,
            came,
            ("match_id", &match_id),
            exchange,
        );
        right &= self.exact_field(
            rules_of.player_id,
            template,
            came,
            ("player_id", &player_id),
            exchange,
        );
        right &= self.check_token(came, fixture, exchange);
        right
    }

    /// Checks one field with the league's decoder. Returns whether a lenient league accepts it.
    pub(super) fn field(
        &mut self,
        rule: &'static Rule,
        template: &Template,
        came: &Value,
        path: &str,
        aliases: &[&str],
        exchange: &Exchange,
    ) -> bool {
        let verdict = template.field(came, path, aliases);
        field_check::record(&mut self.findings, rule, verdict, exchange)
    }

    /// Checks a field that must have exactly one value.
    fn exact_field(
        &mut self,
        rule: &'static Rule,
        template: &Template,
        came: &Value,
        (path, wanted): (&str, &str),
        exchange: &Exchange,
    ) -> bool {
        let text = came.get(path).and_then(Value::as_str);
        let by_url = !self.league.is_known() && self.learns_id && path == "player_id";
        if by_url && text.is_none_or(str::is_empty) {
            self.findings.skip(rule, NOT_REGISTERED);
            return true;
        }
        if text.is_none_or(|text| text == wanted) {
            return self.field(rule, template, came, path, &[], exchange);
        }
        let text = text.unwrap_or_default();
        let note = format!("{path}: expected \"{wanted}\", got \"{text}\"");
        // The exchange says who answers: a lenient league reads an id of the agent's own choice as an alias.
        let refused_with = match path {
            "sender" if is_player(text) => Some("E012"),
            "player_id" => Some("E012"),
            "conversation_id" => Some("E015"),
            _ => None,
        };
        // What is no sender at all is judged as leagues read it.
        if path == "sender" && refused_with.is_none() {
            let verdict = template.field(came, path, &[]);
            if verdict != FieldVerdict::Valid {
                return field_check::record(&mut self.findings, rule, verdict, exchange);
            }
        }
        match refused_with {
            Some(code) => {
                let note = format!(
                    "{note}. A strict league refuses that with {code}, a lenient one accepts it"
                );
                self.findings.deviation(rule, note, exchange);
                true
            }
            None => {
                self.findings.violated(rule, note, exchange);
                false
            }
        }
    }

    fn check_token(&mut self, came: &Value, fixture: &Fixture, exchange: &Exchange) -> bool {
        let shown = came
            .get("auth_token")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty());
        let Some(shown) = shown.map(Token::new) else {
            if !self.league.is_known() {
                self.findings.skip(&rules::TOKEN, NOT_REGISTERED);
                return true;
            }
            let note = "auth_token: expected a token, got none. A strict referee refuses that with E011, a lenient one accepts it";
            self.findings.deviation(&rules::TOKEN, note, exchange);
            return true;
        };
        self.findings.pass(&rules::TOKEN, "");
        let Some(own) = self.league.identity.token.clone() else {
            return true;
        };
        if Some(&shown) == self.league.answer_token(fixture).as_ref() {
            self.findings.pass(&rules::OWN_TOKEN, "");
            self.findings.pass(&rules::REGISTER_IDENTITY, "");
        } else if shown == own {
            self.findings.violated(
                &rules::OWN_TOKEN,
                "it showed its league token to a referee",
                exchange,
            );
            self.findings.pass(&rules::REGISTER_IDENTITY, "");
        } else if Some(&shown) == self.league.shown_token(fixture).as_ref() {
            let note = "auth_token: expected its own, got the referee's back. Matchday's referees accept that; other referees may not";
            self.findings.warn(&rules::TOKEN, note, exchange);
        } else {
            let note =
                "auth_token is neither the token that it was given nor the one made for the match";
            if self.league.identity.has_key {
                let note = format!(
                    "{note}, and it registered a public key: every referee refuses that with E012"
                );
                self.findings
                    .violated(&rules::REGISTER_IDENTITY, note, exchange);
                return false;
            }
            let note = format!(
                "{note}. A strict referee refuses that with E012, a lenient one accepts it"
            );
            self.findings
                .deviation(&rules::REGISTER_IDENTITY, note, exchange);
        }
        true
    }
}

/// Whether a sender is a player, whatever its id.
fn is_player(sender: &str) -> bool {
    matches!(Sender::parse(sender), Some(Sender::Player(_)))
}

fn is_unknown(reply: &Reply) -> bool {
    reply.wire == Some(WireAnswer::MethodNotFound)
}
