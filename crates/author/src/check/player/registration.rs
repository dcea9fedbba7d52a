//! `--wait`: listens as a manager until the agent registers. Two real managers decide: a strict one first; if it
//! refuses, a lenient one, so that the check can go on.

use super::fake_league::Identity;
use super::rules;
use crate::check::exchange::Exchange;
use crate::check::fake_agent::{FakeAgent, FakeServer, Responder};
use crate::check::field_check::{self, Template};
use crate::check::report::Findings;
use crate::check::role::AgentRole;
use crate::check::rule::Rule;
use matchday_core::agent::Content;
use matchday_core::entropy::Entropy;
use matchday_core::game::GameEntry;
use matchday_core::league::{EndpointCheck, LeagueSettings, Manager};
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::dialect::reply::HttpReply;
use matchday_core::protocol::dialect::request::{ReplyTo, RequestContent, Requests, read_requests};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::messages::{LeagueRegisterRequest, PlayerMeta, RegisterStatus};
use matchday_core::protocol::{
    Body, ConversationId, DisplayName, Endpoint, Envelope, GameType, LeagueId, Message, PlayerId,
    Sender, Timestamp, Version,
};
use matchday_runtime::Clock;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;

/// The time to retry after a refused registration.
const SECOND_TRY: Duration = Duration::from_secs(3);

/// So many players are registered before the agent, at least and besides, so that it cannot have its id written down.
const EARLIER_MIN: u64 = 3;
const EARLIER_SPAN: u64 = 40;

#[derive(Debug, Default)]
pub(super) struct Registered {
    pub(super) identity: Option<Identity>,
    pub(super) dialect: Dialect,
    pub(super) endpoint: Option<Endpoint>,
    has_key: bool,
    /// What it is, if not a player.
    pub(super) role: Option<AgentRole>,
    /// Why no manager accepted its last registration, if none did.
    pub(super) refused: Option<String>,
    /// Kept open, because the agent may call its manager while it is checked.
    pub(super) server: Option<FakeServer>,
}

struct StrictThenLenient {
    strict: FakeAgent<Manager>,
    lenient: FakeAgent<Manager>,
    granted: Arc<Mutex<Option<Granted>>>,
}

#[derive(Debug)]
struct Granted {
    identity: Identity,
    /// What the strict manager answered, if only the lenient one accepts it.
    strict_refusal: Option<HttpReply>,
}

impl Responder for StrictThenLenient {
    fn answer(&mut self, body: &[u8]) -> HttpReply {
        let (refusal, contents) = self.strict.answer(body);
        if let Some(identity) = identity(&contents) {
            self.grant(identity, None);
            return refusal;
        }
        let refused = contents.iter().any(is_refusal);
        if !refused || !is_registration(body) {
            return refusal;
        }
        let (reply, contents) = self.lenient.answer(body);
        match identity(&contents) {
            Some(identity) => {
                self.grant(identity, Some(refusal));
                reply
            }
            None => refusal,
        }
    }
}

impl StrictThenLenient {
    fn grant(&self, identity: Identity, strict_refusal: Option<HttpReply>) {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        *granted = Some(Granted {
            identity,
            strict_refusal,
        });
    }
}

/// Waits for the agent to register, and checks its registration.
pub(super) async fn wait(
    findings: &mut Findings,
    listener: TcpListener,
    within: Duration,
    game: &GameEntry,
    entropy: &mut Entropy,
) -> Registered {
    let clock = Clock::start();
    let granted = Arc::new(Mutex::new(None));
    let earlier = EARLIER_MIN + entropy.below(EARLIER_SPAN);
    let mut host = |conformance| {
        let settings = LeagueSettings {
            league_id: league_id(),
            game_type: GameType::new(game.name),
            conformance,
            endpoint_check: EndpointCheck::Off,
            ..LeagueSettings::default()
        };
        let mut manager = FakeAgent::new(
            Manager::new(settings),
            clock,
            Entropy::from_seed(entropy.bytes()),
        );
        for number in 0..earlier {
            let Some(registration) = registration(clock.now(), number, game.name) else {
                continue;
            };
            let _accepted = manager.answer(&write_call(Dialect::Standard, 1, &registration));
        }
        manager
    };
    let managers = StrictThenLenient {
        strict: host(Conformance::Strict),
        lenient: host(Conformance::Lenient),
        granted: Arc::clone(&granted),
    };
    let mut server = FakeServer::start(listener, managers);
    let mut registered = Registered::default();
    let mut wait_max = within;
    while let Some(exchange) = server.next(wait_max).await {
        if is_message(&exchange.request, "REFEREE_REGISTER_REQUEST") {
            registered.role = Some(AgentRole::Referee);
            break;
        }
        if !is_registration(&exchange.request) {
            continue;
        }
        let took = granted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let judge = Registration {
            findings,
            exchange: &exchange,
        };
        judge.judge(clock.now(), took.as_ref(), &mut registered);
        if let Some(Granted { identity, .. }) = took {
            registered.identity = Some(Identity {
                has_key: registered.has_key,
                ..identity
            });
            registered.refused = None;
            break;
        }
        wait_max = SECOND_TRY;
    }
    registered.server = Some(server);
    registered
}

pub(super) fn league_id() -> LeagueId {
    LeagueId::new("league_check")
}

struct Registration<'a> {
    findings: &'a mut Findings,
    exchange: &'a Exchange,
}

impl Registration<'_> {
    fn judge(self, now: Timestamp, granted: Option<&Granted>, registered: &mut Registered) {
        let Self { findings, exchange } = self;
        findings.pass(&rules::REGISTER_CAME, "");
        let Requests::One(request) = read_requests(&exchange.request, &Limits::MANAGER) else {
            return findings.violated(
                &rules::REGISTER_FORM,
                "it is not one JSON-RPC request",
                exchange,
            );
        };
        registered.dialect = request.dialect;
        match (request.dialect, &request.reply_to) {
            (Dialect::Standard, ReplyTo::Id(_)) => findings.pass(&rules::REGISTER_FORM, ""),
            (_, ReplyTo::Nobody) => {
                let note = "the request has no id, so that no answer can be sent to it";
                findings.violated(&rules::REGISTER_FORM, note, exchange);
            }
            (dialect, _) => {
                let note = format!(
                    "it came in the dialect {}. Matchday accepts this; other league managers may not",
                    json!(dialect)
                );
                findings.warn(&rules::REGISTER_FORM, note, exchange);
            }
        }
        let RequestContent::Message { value: came, .. } = request.asked else {
            return;
        };
        let came = Value::from(came);
        let endpoint = came
            .pointer("/player_meta/contact_endpoint")
            .and_then(Value::as_str);
        let key = came.pointer("/player_meta/public_key");
        registered.has_key = key.is_some_and(Value::is_string);
        registered.endpoint = endpoint.and_then(|url| Endpoint::parse(url).ok());
        let mut judge = Registration { findings, exchange };
        let good =
            registration(now, 0, "even_odd").and_then(|good| serde_json::to_value(good).ok());
        if let Some(good) = good {
            let template = Template::new(good, None, Limits::MANAGER, now);
            for path in [
                "protocol",
                "message_type",
                "sender",
                "timestamp",
                "conversation_id",
            ] {
                judge.field(&rules::REGISTER_ENVELOPE, &template, &came, path);
            }
            for name in [
                "display_name",
                "version",
                "game_types",
                "contact_endpoint",
                "protocol_version",
            ] {
                judge.field(
                    &rules::REGISTER_META,
                    &template,
                    &came,
                    &format!("player_meta.{name}"),
                );
            }
        }
        match granted {
            Some(Granted {
                strict_refusal: None,
                ..
            }) => judge.findings.pass(&rules::REGISTER_ACCEPTED, ""),
            Some(Granted {
                strict_refusal: Some(refusal),
                ..
            }) => {
                let strict = exchange.answered_instead(refusal);
                let note = format!(
                    "a lenient manager accepts it, a strict one refuses it: {}",
                    refusal_of(&strict)
                );
                judge
                    .findings
                    .deviation(&rules::REGISTER_ACCEPTED, note, &strict);
            }
            None => {
                let why = refusal_of(exchange);
                let note = format!("the manager refuses it: {why}");
                judge
                    .findings
                    .violated(&rules::REGISTER_ACCEPTED, note, exchange);
                registered.refused = Some(why);
            }
        }
    }

    fn field(&mut self, rule: &'static Rule, template: &Template, came: &Value, path: &str) {
        let verdict = template.field(came, path, &[]);
        field_check::record(self.findings, rule, verdict, self.exchange);
    }
}

/// Why a manager's answer refuses a registration.
pub(in crate::check) fn refusal_of(exchange: &Exchange) -> String {
    let answer = exchange.json().unwrap_or_default();
    let result = answer.get("result").unwrap_or(&answer);
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    let why = text("reason")
        .or(text("error_message"))
        .unwrap_or("no reason");
    match text("error_code") {
        Some(code) => format!("{why} ({code})"),
        None => why.to_owned(),
    }
}

/// A valid registration of a player with this number.
pub(in crate::check) fn registration(now: Timestamp, number: u64, game: &str) -> Option<Message> {
    let player_meta = PlayerMeta {
        display_name: DisplayName::parse(&format!("Ada {number}")).ok()?,
        version: Version::parse("1.0.0").ok()?,
        game_types: vec![GameType::new(game)],
        contact_endpoint: Endpoint::parse(&format!("http://localhost:{}/mcp", 8101 + number))
            .ok()?,
        protocol_version: None,
        public_key: None,
        strategy: None,
        capabilities: Vec::new(),
        max_matches_per_hour: None,
    };
    let sender = Sender::Player(PlayerId::new(format!("ada-{number}")));
    let envelope = Envelope::new(
        sender,
        now,
        ConversationId::new(format!("conv-register-ada-{number}")),
    );
    Some(Message::new(
        envelope,
        LeagueRegisterRequest {
            player_meta,
            join_code: None,
        },
    ))
}

pub(in crate::check) fn is_registration(body: &[u8]) -> bool {
    is_message(body, "LEAGUE_REGISTER_REQUEST")
}

fn is_message(body: &[u8], message_type: &str) -> bool {
    match read_requests(body, &Limits::AGENT) {
        Requests::One(request) => match request.asked {
            RequestContent::Message { value, .. } => value
                .get("message_type")
                .and_then(Json::as_str)
                .is_some_and(|kind| kind.eq_ignore_ascii_case(message_type)),
            _ => false,
        },
        _ => false,
    }
}

fn is_refusal(content: &Content) -> bool {
    match content {
        Content::Message(message) => match &message.body {
            Body::LeagueError(_) => true,
            Body::LeagueRegisterResponse(response) => {
                response.answer.status == RegisterStatus::Rejected
            }
            _ => false,
        },
        _ => false,
    }
}

pub(in crate::check) fn identity(contents: &[Content]) -> Option<Identity> {
    contents.iter().find_map(|content| match content {
        Content::Message(Message {
            envelope,
            body: Body::LeagueRegisterResponse(response),
        }) => Some(Identity {
            player_id: response.player_id.clone()?,
            token: envelope.auth_token.clone(),
            has_key: false,
        }),
        _ => None,
    })
}
