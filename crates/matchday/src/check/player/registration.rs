//! `--wait`: a manager on a port of ours, to which the agent registers as it would in a league. The manager's own state
//! machine judges the registration, a strict one first; a lenient one answers where the strict one would refuse, so that
//! the check can go on.

use super::{Order, rules};
use crate::check::exchange::Exchange;
use crate::check::judge::{self, Pattern};
use crate::check::report::Sheet;
use crate::check::rule::Rule;
use crate::check::stage::Identity;
use crate::check::stand_in::{Booth, Desk, Host};
use crate::shell::Clock;
use matchday_core::agent::Content;
use matchday_core::entropy::Entropy;
use matchday_core::league::{EndpointCheck, Manager, Settings};
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::reply::HttpReply;
use matchday_core::protocol::dialect::request::{Asked, ReplyTo, Requests, read_requests};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::messages::{LeagueRegisterRequest, PlayerMeta, RegisterStatus};
use matchday_core::protocol::{
    Body, ConversationId, DisplayName, Endpoint, Envelope, GameType, LeagueId, Message, PlayerId, Sender,
    Timestamp, Version,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;

/// How long an agent that was refused has to try again.
const SECOND_TRY: Duration = Duration::from_secs(3);

/// What came of waiting.
#[derive(Debug, Default)]
pub(super) struct Enrolled {
    pub(super) identity: Option<Identity>,
    pub(super) dialect: Dialect,
    /// Where the agent says that it listens.
    pub(super) endpoint: Option<Endpoint>,
    /// Kept open, so that the agent's manager is there while it is checked.
    pub(super) booth: Option<Booth>,
}

/// The two managers behind the port.
struct Front {
    strict: Host<Manager>,
    lenient: Host<Manager>,
    granted: Arc<Mutex<Option<(Identity, Conformance)>>>,
}

impl Desk for Front {
    fn answer(&mut self, body: &[u8]) -> HttpReply {
        let (refusal, contents) = self.strict.answer(body);
        if let Some(identity) = identity(&contents) {
            self.grant(identity, Conformance::Strict);
            return refusal;
        }
        let refused = contents.iter().any(is_refusal);
        if !refused || !is_registration(body) {
            return refusal;
        }
        let (reply, contents) = self.lenient.answer(body);
        match identity(&contents) {
            Some(identity) => {
                self.grant(identity, Conformance::Lenient);
                reply
            }
            None => refusal,
        }
    }
}

impl Front {
    fn grant(&self, identity: Identity, by: Conformance) {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        *granted = Some((identity, by));
    }
}

/// Waits for the agent to register, and judges how it does.
pub(super) async fn wait(
    sheet: &mut Sheet,
    listener: TcpListener,
    within: Duration,
    order: &Order,
    entropy: &mut Entropy,
) -> Enrolled {
    let conformance = order.conformance;
    let clock = Clock::start();
    let granted = Arc::new(Mutex::new(None));
    let mut host = |conformance| {
        let settings = Settings {
            league_id: league_id(),
            game_type: GameType::new(order.game.name),
            conformance,
            endpoint_check: EndpointCheck::Off,
            ..Settings::default()
        };
        Host::new(Manager::new(settings), clock, Entropy::from_seed(entropy.bytes()))
    };
    let front = Front {
        strict: host(Conformance::Strict),
        lenient: host(Conformance::Lenient),
        granted: Arc::clone(&granted),
    };
    let mut booth = Booth::open(listener, front);
    let mut enrolled = Enrolled::default();
    let mut patience = within;
    while let Some(exchange) = booth.next(patience).await {
        if !is_registration(&exchange.request) {
            continue;
        }
        let took = granted.lock().unwrap_or_else(PoisonError::into_inner).take();
        let judge = Registration { sheet, exchange: &exchange, conformance };
        judge.judge(clock.now(), took.as_ref().map(|(_, by)| *by), &mut enrolled);
        if let Some((identity, _)) = took {
            enrolled.identity = Some(identity);
            break;
        }
        patience = SECOND_TRY;
    }
    enrolled.booth = Some(booth);
    enrolled
}

pub(super) fn league_id() -> LeagueId {
    LeagueId::new("league_check")
}

/// One registration, held against the rules.
struct Registration<'a> {
    sheet: &'a mut Sheet,
    exchange: &'a Exchange,
    conformance: Conformance,
}

impl Registration<'_> {
    fn judge(self, now: Timestamp, granted: Option<Conformance>, enrolled: &mut Enrolled) {
        let Self { sheet, exchange, conformance } = self;
        sheet.pass(&rules::REGISTER_CAME, "");
        let Requests::One(request) = read_requests(&exchange.request, &Limits::MANAGER) else {
            return sheet.broken(&rules::REGISTER_FORM, "it is not one JSON-RPC request", exchange);
        };
        enrolled.dialect = request.dialect;
        match (request.dialect, &request.reply_to) {
            (Dialect::Standard, ReplyTo::Id(_)) => sheet.pass(&rules::REGISTER_FORM, ""),
            (_, ReplyTo::Nobody) => {
                let note = "the request has no id, so that no answer can be sent to it";
                sheet.broken(&rules::REGISTER_FORM, note, exchange);
            }
            (dialect, _) => {
                let note = format!(
                    "it came in the dialect {}. Every league of ours understands it; others may not",
                    json!(dialect)
                );
                sheet.warn(&rules::REGISTER_FORM, note, exchange);
            }
        }
        let Asked::Message { value: came, .. } = request.asked else {
            return;
        };
        let came = came.to_value();
        let endpoint = came.pointer("/player_meta/contact_endpoint").and_then(Value::as_str);
        enrolled.endpoint = endpoint.and_then(|url| Endpoint::parse(url).ok());
        let mut judge = Registration { sheet, exchange, conformance };
        if let Some(good) = good(now) {
            let pattern = Pattern::new(good, None, Limits::MANAGER, now);
            for path in ["protocol", "message_type", "sender", "timestamp", "conversation_id"] {
                judge.field(&rules::REGISTER_ENVELOPE, &pattern, &came, path);
            }
            for name in ["display_name", "version", "game_types", "contact_endpoint", "protocol_version"] {
                judge.field(&rules::REGISTER_META, &pattern, &came, &format!("player_meta.{name}"));
            }
        }
        let said = || {
            let answer = exchange.json().unwrap_or_default();
            let result = answer.get("result").unwrap_or(&answer).clone();
            let text = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
            text("reason").or(text("error_message")).unwrap_or_else(|| "no reason".to_owned())
        };
        match granted {
            Some(Conformance::Strict) => judge.sheet.pass(&rules::REGISTER_ACCEPTED, ""),
            Some(Conformance::Lenient) if conformance == Conformance::Lenient => {
                judge.sheet.warn(
                    &rules::REGISTER_ACCEPTED,
                    "a lenient manager accepts it, a strict one would not",
                    exchange,
                );
            }
            Some(Conformance::Lenient) => {
                judge.sheet.broken(
                    &rules::REGISTER_ACCEPTED,
                    "a strict manager refuses it; a lenient one would accept it",
                    exchange,
                );
            }
            None => judge.sheet.broken(
                &rules::REGISTER_ACCEPTED,
                format!("the manager refuses it: {}", said()),
                exchange,
            ),
        }
    }

    fn field(&mut self, rule: &'static Rule, pattern: &Pattern, came: &Value, path: &str) {
        let verdict = pattern.field(came, path, &[]);
        judge::record(self.sheet, rule, verdict, self.conformance, self.exchange);
    }
}

/// A registration as it should be.
fn good(now: Timestamp) -> Option<Value> {
    let meta = PlayerMeta {
        display_name: DisplayName::parse("Ada").ok()?,
        version: Version::parse("1.0.0").ok()?,
        game_types: vec![GameType::new("even_odd")],
        contact_endpoint: Endpoint::parse("http://localhost:8101/mcp").ok()?,
        protocol_version: None,
        public_key: None,
    };
    let sender = Sender::Player(PlayerId::new("ada"));
    let envelope = Envelope::new(sender, now, ConversationId::new("conv-register-ada"));
    serde_json::to_value(Message::new(envelope, LeagueRegisterRequest { player_meta: meta, join_code: None }))
        .ok()
}

fn is_registration(body: &[u8]) -> bool {
    match read_requests(body, &Limits::AGENT) {
        Requests::One(request) => match request.asked {
            Asked::Message { value, .. } => value
                .get("message_type")
                .and_then(Json::as_str)
                .is_some_and(|kind| kind.eq_ignore_ascii_case("LEAGUE_REGISTER_REQUEST")),
            _ => false,
        },
        _ => false,
    }
}

fn is_refusal(content: &Content) -> bool {
    match content {
        Content::Message(message) => match &message.body {
            Body::LeagueError(_) => true,
            Body::LeagueRegisterResponse(response) => response.answer.status == RegisterStatus::Rejected,
            _ => false,
        },
        _ => false,
    }
}

fn identity(contents: &[Content]) -> Option<Identity> {
    contents.iter().find_map(|content| match content {
        Content::Message(Message { envelope, body: Body::LeagueRegisterResponse(response) }) => {
            Some(Identity { player_id: response.player_id.clone()?, token: envelope.auth_token.clone() })
        }
        _ => None,
    })
}
