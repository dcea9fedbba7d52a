//! Registration: which are accepted, with which id and token, and which must be refused.

use super::members::{Member, Role};
use super::rules;
use super::suite::{Suite, json_text, set_field};
use crate::check::exchange::Exchange;
use crate::check::player::rules as player_rules;
use crate::check::preflight;
use crate::check::probe::{Alter, Reply};
use crate::check::reply::ReplyKind;
use crate::check::rule::Rule;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::messages::{RegisterAnswer, RegisterStatus};
use matchday_core::protocol::{Body, PlayerId, RefereeId, Token};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Registrations that must be refused ask for ids from here on, which no member has.
const FIRST_PROBE: usize = 50;
/// Asks for another id than any member or probe.
const LATECOMER: usize = 49;
/// A body larger than any manager has to accept.
const TOO_LARGE: usize = 11_000;

impl Suite {
    /// Registers all members. Returns why the check must stop, if the URL is not a manager's.
    pub(super) async fn register_all(&mut self) -> Option<String> {
        for role in [Role::Referee, Role::Player] {
            for number in 0..self.members_of(role).len() {
                let first = role == Role::Referee && number == 0;
                let reply = self.register(role, number).await;
                let answered = reply.as_ref().and_then(|reply| reply.exchange.answered());
                if let Some(why) = answered
                    .filter(|_| first)
                    .and_then(|came| preflight::not_an_agent(&self.probe.url, came))
                {
                    if let Some(reply) = &reply {
                        self.findings.violated(
                            &player_rules::REACHABLE,
                            why.clone(),
                            &reply.exchange,
                        );
                    }
                    return Some(why);
                }
            }
        }
        self.check_identities();
        // The league is played with those who were let in.
        self.players.retain(Member::is_accepted);
        self.referees.retain(Member::is_accepted);
        None
    }

    fn members_of(&mut self, role: Role) -> &mut Vec<Member> {
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
        let sender = member.sender_before_registration();
        let (kind, key) = match member.role {
            Role::Player => ("LEAGUE_REGISTER_REQUEST", "player_meta"),
            Role::Referee => {
                set_field(&mut meta, "max_concurrent_matches", json!(2));
                set_field(&mut meta, "capabilities", json!(["match_tokens"]));
                ("REFEREE_REGISTER_REQUEST", "referee_meta")
            }
        };
        let mut request = self.unsigned(kind, &sender, &conversation, json!({}));
        set_field(&mut request, key, meta);
        request
    }

    async fn register(&mut self, role: Role, number: usize) -> Option<Reply> {
        let request = self.registration(self.member(role, number)?);
        let reply = self.ask(&request).await;
        let rule = match role {
            Role::Player => &rules::PLAYER,
            Role::Referee => &rules::REFEREE,
        };
        if let Some((id, token)) = self.accepted(role, rule, &request, reply.as_ref())
            && let Some(member) = self.members_of(role).get_mut(number)
        {
            member.id = id;
            member.token = token;
        }
        reply
    }

    /// Id and token of an accepted registration.
    fn accepted(
        &mut self,
        role: Role,
        rule: &'static Rule,
        request: &Value,
        reply: Option<&Reply>,
    ) -> Option<(String, Option<Token>)> {
        let body = self.answer(rule, request, reply)?;
        let exchange = &reply?.exchange;
        let (id, answer) = match (role, body) {
            (Role::Player, Body::LeagueRegisterResponse(came)) => (
                came.player_id.as_ref().map(|id| id.as_str().to_owned()),
                came.answer.clone(),
            ),
            (Role::Referee, Body::RefereeRegisterResponse(came)) => (
                came.referee_id.as_ref().map(|id| id.as_str().to_owned()),
                came.answer.clone(),
            ),
            _ => {
                self.findings
                    .violated(rule, "it answered with another message", exchange);
                return None;
            }
        };
        let token = match ReplyKind::of(reply?) {
            ReplyKind::Message(message) => message
                .get("auth_token")
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(Token::new),
            _ => None,
        };
        match (self.check_accepted(&answer), id, token) {
            (Ok(()), Some(id), token) => {
                self.findings.check(
                    rule,
                    token.is_some(),
                    "accepted without an auth_token",
                    exchange,
                );
                Some((id, token))
            }
            (Err(why), ..) => {
                self.findings.violated(rule, why, exchange);
                None
            }
            (_, None, _) => {
                self.findings
                    .violated(rule, "accepted without an id", exchange);
                None
            }
        }
    }

    fn check_accepted(&mut self, answer: &RegisterAnswer) -> Result<(), String> {
        if answer.status != RegisterStatus::Accepted {
            let why = answer
                .reason
                .as_ref()
                .map_or("no reason".to_owned(), |why| why.escaped().to_string());
            return Err(format!("it was rejected ({why}): is this a fresh league?"));
        }
        // The message catalogue has no league_id here.
        if let Some(league) = &answer.league_id {
            self.league_id = league.as_str().to_owned();
        }
        self.makes_tokens = answer.match_tokens == Some(true);
        Ok(())
    }

    fn check_identities(&mut self) {
        let known: Vec<(String, String)> = self
            .members()
            .filter_map(|member| {
                Some((member.sender(), member.token.as_ref()?.reveal().to_owned()))
            })
            .collect();
        if known.len() < self.members().count() {
            return self
                .findings
                .skip(&rules::IDENTITIES, "not everyone was accepted");
        }
        let ids: BTreeSet<_> = known.iter().map(|(id, _)| id).collect();
        let tokens: BTreeSet<_> = known.iter().map(|(_, token)| token).collect();
        let nothing = Exchange::none("seen over all registrations");
        match (ids.len() == known.len(), tokens.len() == known.len()) {
            (true, true) => self.findings.pass(&rules::IDENTITIES, ""),
            (false, _) => {
                let ids: Vec<_> = known.iter().map(|(id, _)| id.as_str()).collect();
                let note = format!("not each has an id of its own: {}", ids.join(", "));
                self.findings.violated(&rules::IDENTITIES, note, &nothing)
            }
            (_, false) => self.findings.violated(
                &rules::IDENTITIES,
                "two agents were given the same token",
                &nothing,
            ),
        }
        let fits = |member: &Member| match member.role {
            Role::Player => PlayerId::new(&member.id).number().is_some(),
            Role::Referee => RefereeId::new(&member.id).as_str().starts_with("REF"),
        };
        let odd: Vec<_> = self
            .members()
            .filter(|member| !fits(member))
            .map(|member| member.id.clone())
            .collect();
        if odd.is_empty() {
            self.findings.pass(&rules::ID_FORM, "")
        } else {
            self.findings
                .warn_unseen(&rules::ID_FORM, format!("it gave {}", odd.join(", ")))
        }
    }

    /// Re-registration, as after a crash, with the token from before it: the id must stay.
    pub(super) async fn register_again(&mut self) {
        for role in [Role::Referee, Role::Player] {
            let Some(member) = self.member(role, 0).filter(|member| member.token.is_some()) else {
                self.findings
                    .skip(&rules::AGAIN, "it was not accepted the first time");
                continue;
            };
            let before = member.id.clone();
            let mut request = self.registration(member);
            // Another conversation, because a restarted agent does not know the old one.
            set_field(
                &mut request,
                "conversation_id",
                json!(format!("conv-again-{}", member.name)),
            );
            // By now it has shown its token, so that a careful manager wants to see it again.
            set_field(&mut request, "sender", json!(member.sender()));
            set_field(&mut request, "auth_token", member.token_json());
            let Some(mut reply) = self.ask(&request).await else {
                continue;
            };
            // That it was here before is a good reason to give.
            if let Some(WireAnswer::Message(message)) = &mut reply.wire {
                let mut told = Value::from(&*message);
                set_field(&mut told, "reason", Value::Null);
                *message = told.into();
            }
            let came = match ReplyKind::of(&reply) {
                ReplyKind::Message(message)
                    if message.get("status").is_some_and(|it| it == "ACCEPTED") =>
                {
                    self.accepted(role, &rules::AGAIN, &request, Some(&reply))
                }
                _ if self.has_begun => {
                    let note = "it registers nobody after the start: check this with --quick, on a new league";
                    self.findings.skip(&rules::AGAIN, note);
                    continue;
                }
                _ => None,
            };
            let Some((id, token)) = came else {
                let note = ReplyKind::of(&reply).describe(&reply.exchange);
                self.findings.violated(&rules::AGAIN, note, &reply.exchange);
                continue;
            };
            if id != before {
                let note = format!("it was {before} and is {id} now");
                self.findings.violated(&rules::AGAIN, note, &reply.exchange);
            } else {
                self.findings.pass(&rules::AGAIN, "");
            }
            if let Some(member) = self.members_of(role).get_mut(0) {
                member.id = id;
                member.token = token.or(member.token.take());
            }
        }
    }

    /// A valid registration of a player that is in none of the league's books: under a name, a sender and an endpoint that
    /// no request before had, so that no answer is about another registration.
    fn fresh_registration(&mut self) -> Option<Value> {
        self.probes += 1;
        let number = self.probes;
        let run = &self.run;
        let endpoint = self
            .members()
            .next()?
            .endpoint
            .raw()
            .replace("/mcp", &format!("/probe-{number}/mcp"));
        let sender = format!("player:P{}", FIRST_PROBE + number);
        let meta = json!({
            "display_name": format!("Check Probe {number} {run}"), "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": endpoint,
        });
        let conversation = format!("conv-probe-{number}-{run}");
        Some(self.unsigned(
            "LEAGUE_REGISTER_REQUEST",
            &sender,
            &conversation,
            json!({"player_meta": meta}),
        ))
    }

    /// Registrations that are malformed or violate a rule of the league.
    pub(super) async fn refusals(&mut self) {
        // Without message_type: a manager may infer it from the method.
        for name in [
            "protocol",
            "sender",
            "timestamp",
            "conversation_id",
            "player_meta",
        ] {
            let alter = |fields: &mut Map<String, Value>| {
                fields.remove(name);
            };
            self.refuses(
                &rules::MISSING,
                &format!("a registration without {name}"),
                "E003",
                &alter,
            )
            .await;
        }
        for name in ["display_name", "version", "game_types", "contact_endpoint"] {
            let what = format!("a registration with player_meta.{name}: null");
            self.refuses_meta(&rules::MISSING, &what, "E003", name, Value::Null)
                .await;
        }
        let wrong = [
            ("display_name", json!("")),
            ("display_name", json!(7)),
            ("version", json!("one")),
            ("game_types", json!("even_odd")),
            ("contact_endpoint", json!("localhost")),
        ];
        for (name, value) in wrong {
            let what = format!("a registration with player_meta.{name}: {value}");
            self.refuses_meta(&rules::WRONG_TYPE, &what, "E002", name, value)
                .await;
        }
        self.refuses_meta(
            &rules::GAME_TYPE,
            "a player of chess",
            "E002",
            "game_types",
            json!(["chess"]),
        )
        .await;
        let what = "a registration with protocol_version 9.0.0";
        self.refuses_meta(
            &rules::PROTOCOL_VERSION,
            what,
            "E018",
            "protocol_version",
            json!("9.0.0"),
        )
        .await;
        self.envelope_refusals().await;
    }

    async fn envelope_refusals(&mut self) {
        let cases = [
            (&rules::PROTOCOL, "protocol", json!("league.v1"), "E018"),
            (
                &rules::TIMESTAMP,
                "timestamp",
                json!("2026-03-02T09:00:00+02:00"),
                "E021",
            ),
            (
                &rules::TIMESTAMP,
                "timestamp",
                json!("2026-03-02T09:00:00"),
                "E021",
            ),
            (&rules::WRONG_TYPE, "timestamp", json!(7), "E002"),
            (&rules::WRONG_TYPE, "sender", json!("nobody at all"), "E002"),
            (
                &rules::UNKNOWN_TYPE,
                "message_type",
                json!("WEATHER_REPORT"),
                "E002",
            ),
        ];
        for (rule, name, value, code) in cases {
            let what = format!("a registration with {name}: {value}");
            let alter = |fields: &mut Map<String, Value>| {
                fields.insert(name.to_owned(), value.clone());
            };
            self.refuses(rule, &what, code, &alter).await;
        }
        let others = json!({
            "message_type": "ROUND_COMPLETED", "league_id": self.league_id, "round_id": 1, "matches_completed": 0,
            "matches_played": 0, "next_round_id": null,
            "summary": {"total_matches": 0, "wins": 0, "draws": 0, "technical_losses": 0},
        });
        let alter = |fields: &mut Map<String, Value>| {
            fields.extend(others.as_object().cloned().unwrap_or_default());
        };
        self.refuses(
            &rules::NOT_FOR_IT,
            "ROUND_COMPLETED to a manager",
            "E008",
            &alter,
        )
        .await;
    }

    /// Sends a fresh registration after changing it, which must be refused.
    async fn refuses(&mut self, rule: &'static Rule, what: &str, code: &str, alter: &Alter<'_>) {
        let Some(good) = self.fresh_registration() else {
            return;
        };
        let reply = self.ask_altered(&good, alter).await;
        self.refused(rule, what, code, reply.as_ref());
    }

    /// The same with one field of `player_meta` changed.
    async fn refuses_meta(
        &mut self,
        rule: &'static Rule,
        what: &str,
        code: &str,
        name: &str,
        value: Value,
    ) {
        let alter = |fields: &mut Map<String, Value>| {
            if let Some(meta) = fields.get_mut("player_meta").and_then(Value::as_object_mut) {
                meta.insert(name.to_owned(), value.clone());
            }
        };
        self.refuses(rule, what, code, &alter).await;
    }

    pub(super) async fn too_large(&mut self) {
        let rule = &rules::SIZE;
        let padding = "x".repeat(TOO_LARGE);
        let request =
            json!({"jsonrpc": "2.0", "id": 76, "method": "ping", "params": {"padding": padding}});
        let within = super::suite::ANSWER_TIMEOUT;
        let exchange = self
            .probe
            .send("a body of 11 KB", request.to_string(), within)
            .await;
        let refused = exchange
            .json()
            .is_some_and(|answer| answer.get("error").is_some_and(Value::is_object))
            || exchange.answered().is_some_and(|came| came.status == 413);
        if !self.wire().still_alive(rule, "a body of 11 KB").await {
            return;
        }
        if refused {
            self.findings.pass(rule, "")
        } else {
            let came = json_text(exchange.json().as_ref());
            self.findings.violated(
                rule,
                format!("it read a body of 11 KB, and answered {came}"),
                &exchange,
            );
        }
    }

    pub(super) async fn late(&mut self) -> anyhow::Result<()> {
        let late = Member::open(
            Role::Player,
            LATECOMER,
            format!("Check Latecomer {}", self.run),
        )
        .await?;
        let request = self.registration(&late);
        let reply = self.ask(&request).await;
        self.refused(
            &rules::LATE,
            "a player after the start",
            "E019",
            reply.as_ref(),
        );
        Ok(())
    }
}
