//! Before the league starts: who is let in, under which name, and what is refused.

use super::members::{Member, Role};
use super::rules;
use super::suite::{Suite, put, shown};
use crate::check::exchange::Exchange;
use crate::check::heard::Heard;
use crate::check::player::rules as form;
use crate::check::probe::Reply;
use crate::check::reach;
use matchday_core::protocol::messages::{RegisterAnswer, RegisterStatus};
use matchday_core::protocol::{Body, PlayerId, RefereeId, Token};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A body that is larger than any manager has to read.
const TOO_LARGE: usize = 11_000;

impl Suite {
    /// Registers everyone. Why the check ends here, if what is there is no manager.
    pub(super) async fn register_all(&mut self) -> Option<String> {
        for role in [Role::Referee, Role::Player] {
            for number in 0..self.of(role).len() {
                let first = role == Role::Referee && number == 0;
                let reply = self.register(role, number).await;
                let answered = reply.as_ref().and_then(|reply| reply.exchange.answered());
                if let Some(why) =
                    answered.filter(|_| first).and_then(|came| reach::refusal(&self.probe.url, came))
                {
                    if let Some(reply) = &reply {
                        self.sheet.broken(&form::REACHABLE, why.clone(), &reply.exchange);
                    }
                    return Some(why);
                }
            }
        }
        self.judge_identities();
        None
    }

    fn of(&mut self, role: Role) -> &mut Vec<Member> {
        match role {
            Role::Player => &mut self.players,
            Role::Referee => &mut self.referees,
        }
    }

    pub(super) fn registration(&self, member: &Member) -> Value {
        let conversation = format!("conv-register-{}", member.name);
        let mut meta = json!({
            "display_name": member.name,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": member.endpoint,
        });
        let (kind, key, sender) = match member.role {
            Role::Player => ("LEAGUE_REGISTER_REQUEST", "player_meta", format!("player:{}", member.name)),
            Role::Referee => {
                put(&mut meta, "max_concurrent_matches", json!(2));
                put(&mut meta, "capabilities", json!(["match_tokens"]));
                ("REFEREE_REGISTER_REQUEST", "referee_meta", format!("referee:{}", member.name))
            }
        };
        let mut letter = self.unsigned(kind, &sender, &conversation, json!({}));
        put(&mut letter, key, meta);
        letter
    }

    async fn register(&mut self, role: Role, number: usize) -> Option<Reply> {
        let letter = self.registration(self.member(role, number)?);
        let reply = self.ask(&letter).await;
        if let Some((id, token)) = self.accepted(role, &letter, reply.as_ref())
            && let Some(member) = self.of(role).get_mut(number)
        {
            member.id = id;
            member.token = Some(token);
        }
        reply
    }

    /// What an accepted registration gives.
    fn accepted(&mut self, role: Role, letter: &Value, reply: Option<&Reply>) -> Option<(String, Token)> {
        let rule = match role {
            Role::Player => &rules::PLAYER,
            Role::Referee => &rules::REFEREE,
        };
        let body = self.answer(rule, letter, reply)?;
        let exchange = &reply?.exchange;
        let (id, answer) = match (role, body) {
            (Role::Player, Body::LeagueRegisterResponse(came)) => {
                (came.player_id.as_ref().map(|id| id.as_str().to_owned()), came.answer.clone())
            }
            (Role::Referee, Body::RefereeRegisterResponse(came)) => {
                (came.referee_id.as_ref().map(|id| id.as_str().to_owned()), came.answer.clone())
            }
            _ => {
                self.sheet.broken(rule, "it answered with another message", exchange);
                return None;
            }
        };
        let token = match Heard::of(reply?) {
            Heard::Message(message) => message
                .get("auth_token")
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(Token::new),
            _ => None,
        };
        match (self.whole(&answer), id, token) {
            (Ok(()), Some(id), Some(token)) => {
                self.sheet.pass(rule, "");
                Some((id, token))
            }
            (Err(why), ..) => {
                self.sheet.broken(rule, why, exchange);
                None
            }
            (_, None, _) => {
                self.sheet.broken(rule, "accepted without an id", exchange);
                None
            }
            (_, _, None) => {
                self.sheet.broken(rule, "accepted without an auth_token", exchange);
                None
            }
        }
    }

    fn whole(&mut self, answer: &RegisterAnswer) -> Result<(), String> {
        if answer.status != RegisterStatus::Accepted {
            let why = answer.reason.as_ref().map_or("no reason".to_owned(), |why| why.escaped().to_string());
            return Err(format!("it was rejected ({why}): is this a fresh league?"));
        }
        let league = answer.league_id.as_ref().ok_or("accepted without a league_id")?;
        self.league_id = league.as_str().to_owned();
        self.makes_tokens = answer.match_tokens == Some(true);
        Ok(())
    }

    fn judge_identities(&mut self) {
        let known: Vec<(String, String)> = self
            .members()
            .filter_map(|member| Some((member.sender(), member.token.as_ref()?.reveal().to_owned())))
            .collect();
        if known.len() < self.members().count() {
            return self.sheet.skip(&rules::IDENTITIES, "not everyone was accepted");
        }
        let ids: BTreeSet<_> = known.iter().map(|(id, _)| id).collect();
        let tokens: BTreeSet<_> = known.iter().map(|(_, token)| token).collect();
        let nothing = Exchange::none("seen over all registrations");
        match (ids.len() == known.len(), tokens.len() == known.len()) {
            (true, true) => self.sheet.pass(&rules::IDENTITIES, ""),
            (false, _) => self.sheet.broken(&rules::IDENTITIES, format!("ids: {ids:?}"), &nothing),
            (_, false) => {
                self.sheet.broken(&rules::IDENTITIES, "two agents were given the same token", &nothing)
            }
        }
        let fits = |member: &Member| match member.role {
            Role::Player => PlayerId::new(&member.id).is_numbered(),
            Role::Referee => RefereeId::new(&member.id).as_str().starts_with("REF"),
        };
        let odd: Vec<_> =
            self.members().filter(|member| !fits(member)).map(|member| member.id.clone()).collect();
        match odd.is_empty() {
            true => self.sheet.pass(&rules::ID_FORM, ""),
            false => self.sheet.caution(&rules::ID_FORM, format!("it gave {}", odd.join(", "))),
        }
    }

    /// The same agent once more, as after a crash: its id stays, its token is a fresh one.
    pub(super) async fn register_again(&mut self) {
        for role in [Role::Referee, Role::Player] {
            let Some(before) = self.member(role, 0).map(|member| (member.id.clone(), member.token.clone()))
            else {
                continue;
            };
            let Some(member) = self.member(role, 0).filter(|member| member.token.is_some()) else {
                self.sheet.skip(&rules::AGAIN, "it was not accepted the first time");
                continue;
            };
            let mut letter = self.registration(member);
            // Another conversation: a restarted agent does not know the old one.
            put(&mut letter, "conversation_id", json!(format!("conv-again-{}", member.name)));
            let reply = self.ask(&letter).await;
            let came = self.accepted(role, &letter, reply.as_ref());
            let (Some((id, token)), Some(reply)) = (came, reply) else { continue };
            if id != before.0 {
                let note = format!("it was {} and is {id} now", before.0);
                self.sheet.broken(&rules::AGAIN, note, &reply.exchange);
            } else if before.1.as_ref() == Some(&token) {
                self.sheet.broken(&rules::AGAIN, "it was given its old token again", &reply.exchange);
            } else {
                self.sheet.pass(&rules::AGAIN, "");
            }
            if let Some(member) = self.of(role).get_mut(0) {
                (member.id, member.token) = (id, Some(token));
            }
        }
    }

    /// Registrations that are malformed, or that a rule of the league speaks against.
    pub(super) async fn refusals(&mut self) {
        let Some(good) = self.players.first().map(|member| self.registration(member)) else { return };
        let mut good = good;
        // Were it taken after all, it would be someone else's registration.
        put(&mut good, "sender", json!("player:nobody"));
        if let Some(name) = good.pointer_mut("/player_meta/display_name") {
            *name = json!("Nobody");
        }
        for name in ["protocol", "message_type", "sender", "timestamp", "conversation_id", "player_meta"] {
            let alter = |fields: &mut serde_json::Map<String, Value>| {
                fields.remove(name);
            };
            let reply = self.ask_altered(&good, &alter).await;
            // Where the method says what it is, a lenient manager may fill the type in.
            if name == "message_type"
                && self.conformance == matchday_core::protocol::decode::Conformance::Lenient
            {
                continue;
            }
            self.refused(&rules::MISSING, &format!("a registration without {name}"), "E003", reply.as_ref());
        }
        for name in ["display_name", "version", "game_types", "contact_endpoint"] {
            let reply = self.spoilt(&good, name, Value::Null).await;
            self.refused(&rules::MISSING, &format!("player_meta.{name}: null"), "E003", reply.as_ref());
        }
        let wrong = [
            ("display_name", json!("")),
            ("display_name", json!(7)),
            ("version", json!("one")),
            ("game_types", json!("even_odd")),
            ("contact_endpoint", json!("localhost")),
        ];
        for (name, value) in wrong {
            let what = format!("player_meta.{name}: {value}");
            let reply = self.spoilt(&good, name, value).await;
            self.refused(&rules::WRONG_TYPE, &what, "E002", reply.as_ref());
        }
        let reply = self.spoilt(&good, "game_types", json!(["chess"])).await;
        self.refused(&rules::GAME_TYPE, "a player of chess", "E002", reply.as_ref());
        let reply = self.spoilt(&good, "protocol_version", json!("9.0.0")).await;
        self.refused(&rules::PROTOCOL_VERSION, "protocol_version 9.0.0", "E018", reply.as_ref());
        self.envelope_refusals(&good).await;
    }

    async fn envelope_refusals(&mut self, good: &Value) {
        let cases = [
            (&rules::PROTOCOL, "protocol", json!("league.v1"), "E018"),
            (&rules::TIMESTAMP, "timestamp", json!("2026-03-02T09:00:00+02:00"), "E021"),
            (&rules::TIMESTAMP, "timestamp", json!("2026-03-02T09:00:00"), "E021"),
            (&rules::WRONG_TYPE, "timestamp", json!(7), "E002"),
            (&rules::WRONG_TYPE, "sender", json!("nobody at all"), "E002"),
            (&rules::UNKNOWN_TYPE, "message_type", json!("WEATHER_REPORT"), "E002"),
        ];
        for (rule, name, value, code) in cases {
            let what = format!("{name}: {value}");
            let alter = |fields: &mut serde_json::Map<String, Value>| {
                fields.insert(name.to_owned(), value.clone());
            };
            let reply = self.ask_altered(good, &alter).await;
            self.refused(rule, &what, code, reply.as_ref());
        }
        let others = json!({
            "message_type": "ROUND_COMPLETED", "league_id": self.league_id, "round_id": 1, "matches_completed": 0,
            "matches_played": 0, "next_round_id": null,
            "summary": {"total_matches": 0, "wins": 0, "draws": 0, "technical_losses": 0},
        });
        let alter = |fields: &mut serde_json::Map<String, Value>| {
            fields.extend(others.as_object().cloned().unwrap_or_default());
        };
        let reply = self.ask_altered(good, &alter).await;
        self.refused(&rules::NOT_FOR_IT, "ROUND_COMPLETED to a manager", "E008", reply.as_ref());
    }

    /// The registration with one field of `player_meta` changed.
    async fn spoilt(&mut self, good: &Value, name: &str, value: Value) -> Option<Reply> {
        let alter = |fields: &mut serde_json::Map<String, Value>| {
            if let Some(meta) = fields.get_mut("player_meta").and_then(Value::as_object_mut) {
                meta.insert(name.to_owned(), value.clone());
            }
        };
        self.ask_altered(good, &alter).await
    }

    pub(super) async fn too_large(&mut self) {
        let rule = &rules::SIZE;
        let padding = "x".repeat(TOO_LARGE);
        let request = json!({"jsonrpc": "2.0", "id": 76, "method": "ping", "params": {"padding": padding}});
        let within = super::suite::ANSWERS_WITHIN;
        let exchange = self.probe.send("a body of 11 KB", request.to_string(), within).await;
        let refused = exchange.json().is_some_and(|answer| answer.get("error").is_some_and(Value::is_object))
            || exchange.answered().is_some_and(|came| came.status == 413);
        if !self.wire().lives(rule, "a body of 11 KB").await {
            return;
        }
        match refused {
            true => self.sheet.pass(rule, ""),
            false => {
                let came = shown(exchange.json().as_ref());
                self.sheet.broken(rule, format!("it read a body of 11 KB, and answered {came}"), &exchange);
            }
        }
    }

    /// A newcomer after the start.
    pub(super) async fn late(&mut self) -> anyhow::Result<()> {
        let late = Member::open(Role::Player, "Latecomer".to_owned()).await?;
        let letter = self.registration(&late);
        let reply = self.ask(&letter).await;
        self.refused(&rules::LATE, "a registration after the start", "E019", reply.as_ref());
        Ok(())
    }
}
