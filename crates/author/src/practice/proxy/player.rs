//! Proxy to the player: forwards, times and records every request to the agent, and injects a fault in some matches.

use super::{
    MESSAGE_BYTES_MAX, ProxiedRequest, Reply, drop_connection, is_choice, is_invitation,
    message_in, message_mut, reply, serve,
};
use crate::check::exchange::HttpAnswer;
use crate::check::preflight;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, LOCATION};
use matchday_audit::request_replay::summarize_answer_body;
use matchday_core::timing::Timing;
use matchday_net::client::{CallError, CallResponse, Client};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// What the proxy does to the requests of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InjectedFault {
    SlowNetwork,
    LostAnswers,
    Twice,
    Unknown,
}

impl InjectedFault {
    pub const ALL: [Self; 4] = [
        Self::SlowNetwork,
        Self::LostAnswers,
        Self::Twice,
        Self::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::SlowNetwork => "slow network",
            Self::LostAnswers => "lost answers",
            Self::Twice => "everything twice",
            Self::Unknown => "unknown message",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::SlowNetwork => "every message is delayed by 1/8 of the deadline",
            Self::LostAnswers => {
                "its first answers are lost: it receives GAME_ERROR and is asked again"
            }
            Self::Twice => "every message is delivered twice at once",
            Self::Unknown => {
                "it receives a message of an unknown type before it is asked to choose"
            }
        }
    }
}

/// One request to the agent.
#[derive(Debug, Clone)]
pub struct Call {
    pub message_type: String,
    pub match_id: Option<String>,
    /// Code and text of the error that the request reported, if it did.
    pub error: Option<(String, String)>,
    /// The duration, if the agent answered.
    pub took: Option<Duration>,
    /// A description of the answer, or why there is none.
    pub reaction: String,
}

/// Why practice cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The invitation was answered with this error.
    Error(String),
    /// The URL is not an agent's; with the reason.
    NoAgent(String),
}

#[derive(Debug, Clone, Default)]
pub struct PlayerProxyLog {
    pub calls: Vec<Call>,
    /// Violations by the agent, as sentences.
    pub oddities: Vec<String>,
    /// Set by the first invitation, if practice cannot go on.
    pub refusal: Option<Stopped>,
    /// First answers, to compare repeated ones with.
    answers: BTreeMap<RequestKey, Value>,
    /// Requests whose first answer was dropped.
    lost: BTreeSet<RequestKey>,
}

#[derive(Debug)]
pub struct PlayerProxy {
    client: Client,
    timing: Timing,
    faults: BTreeMap<String, InjectedFault>,
    agent_url: Mutex<Option<String>>,
    /// Id and token of an agent that we registered, and that knows neither.
    identity: Mutex<Option<(String, String)>>,
    log: Mutex<PlayerProxyLog>,
}

impl PlayerProxy {
    pub fn new(
        client: Client,
        timing: Timing,
        faults: BTreeMap<String, InjectedFault>,
    ) -> Arc<Self> {
        let agent_url = Mutex::default();
        let identity = Mutex::default();
        let log = Mutex::default();
        Arc::new(Self {
            client,
            timing,
            faults,
            agent_url,
            identity,
            log,
        })
    }

    pub async fn serve(self: Arc<Self>, listener: TcpListener, closing: watch::Receiver<bool>) {
        serve(listener, closing, move |request| {
            Arc::clone(&self).pass(request)
        })
        .await;
    }

    /// Sets the agent's URL.
    pub fn set_agent_url(&self, url: &str) {
        *locked(&self.agent_url) = Some(url.to_owned());
    }

    /// Sets id and token in the agent's answers.
    pub fn set_identity(&self, id: &str, token: &str) {
        *locked(&self.identity) = Some((id.to_owned(), token.to_owned()));
    }

    fn with_identity(&self, request: &ProxiedRequest, mut received: CallResponse) -> CallResponse {
        let Some((id, token)) = locked(&self.identity).clone() else {
            return received;
        };
        let Ok(mut json) = serde_json::from_slice::<Value>(&received.body) else {
            return received;
        };
        let answer = message_mut(&mut json).filter(|answer| !answer.contains_key("error_code"));
        if let Some(answer) = answer.filter(|_| request.needs_decision()) {
            answer.insert("auth_token".into(), token.into());
            answer.insert("sender".into(), format!("player:{id}").into());
            answer.insert("player_id".into(), id.into());
            received.body = json.to_string().into();
        }
        received
    }

    pub fn agent_url(&self) -> Option<String> {
        locked(&self.agent_url).clone()
    }

    pub fn log(&self) -> PlayerProxyLog {
        locked(&self.log).clone()
    }

    pub fn refusal(&self) -> Option<Stopped> {
        locked(&self.log).refusal.clone()
    }

    /// The timeout of a request.
    pub fn allowed(&self, message_type: &str) -> Duration {
        match message_type {
            kind if is_invitation(kind) => self.timing.join,
            kind if is_choice(kind) => self.timing.choice,
            "GAME_OVER" => self.timing.game_over,
            _ => self.timing.other,
        }
    }

    async fn pass(self: Arc<Self>, request: ProxiedRequest) -> Reply {
        let fault = request
            .match_id
            .as_ref()
            .and_then(|id| self.faults.get(id).copied());
        match fault {
            Some(InjectedFault::SlowNetwork) => {
                let under_way = self.timing.join.min(self.timing.choice) / 8;
                sleep(under_way).await;
                let answer = self.ask(&request).await;
                sleep(under_way).await;
                answered(answer)
            }
            Some(InjectedFault::LostAnswers)
                if request.needs_decision() && self.is_first(&request) =>
            {
                let _lost = self.ask(&request).await;
                // The caller has timed out by then.
                sleep(self.allowed(&request.message_type) * 2).await;
                drop_connection()
            }
            Some(InjectedFault::Twice) => {
                let (one, _other) = tokio::join!(self.ask(&request), self.ask(&request));
                answered(one)
            }
            Some(InjectedFault::Unknown) if is_choice(&request.message_type) => {
                self.send_unknown_message(&request).await;
                answered(self.ask(&request).await)
            }
            _ => answered(self.ask(&request).await),
        }
    }

    /// Whether it is the first invitation or the first question of its match. Later turns are left alone: each lost answer
    /// costs the whole time that there is for it.
    fn is_first(&self, request: &ProxiedRequest) -> bool {
        let key = RequestKey::of(request);
        let mut log = locked(&self.log);
        let is_another = |lost: &RequestKey| {
            lost.match_id != key.match_id || lost.message_type != key.message_type
        };
        log.lost.iter().all(is_another) && log.lost.insert(key)
    }

    /// Calls the agent in a separate task, so that the answer is recorded even if the caller has given up.
    async fn ask(self: &Arc<Self>, request: &ProxiedRequest) -> Result<CallResponse, CallError> {
        let proxy = Arc::clone(self);
        let request = request.clone();
        let calling = tokio::spawn(async move {
            let body = request.body.clone();
            let place = proxy.begin(&request);
            let (answer, took) = proxy
                .call(body, proxy.allowed(&request.message_type) * 2)
                .await;
            proxy.note(&request, place, &answer, took);
            answer.map(|received| proxy.with_identity(&request, received))
        });
        calling.await.unwrap_or(Err(CallError::TimedOut))
    }

    async fn call(
        &self,
        body: Bytes,
        within: Duration,
    ) -> (Result<CallResponse, CallError>, Duration) {
        let began = Instant::now();
        let Some(url) = self.agent_url() else {
            return (
                Err(CallError::Unusable("no agent has registered")),
                Duration::ZERO,
            );
        };
        let answer = self
            .client
            .post(&url, body, began + within, MESSAGE_BYTES_MAX)
            .await;
        (answer, began.elapsed())
    }

    fn begin(&self, request: &ProxiedRequest) -> usize {
        let mut log = locked(&self.log);
        log.calls.push(Call {
            message_type: request.message_type.clone(),
            match_id: request.match_id.clone(),
            error: error_in(&request.json),
            took: None,
            reaction: "no answer".to_owned(),
        });
        log.calls.len() - 1
    }

    fn note(
        &self,
        request: &ProxiedRequest,
        place: usize,
        answer: &Result<CallResponse, CallError>,
        took: Duration,
    ) {
        let json = answer
            .as_ref()
            .ok()
            .and_then(|got| serde_json::from_slice::<Value>(&got.body).ok());
        let mut log = locked(&self.log);
        if let Some(call) = log.calls.get_mut(place) {
            call.took = answer.is_ok().then_some(took);
            call.reaction = describe_answer(answer);
        }
        let first_invitation = is_invitation(&request.message_type) && log.answers.is_empty();
        if let Some(why) = self.no_agent(answer).filter(|_| first_invitation) {
            log.refusal = Some(Stopped::NoAgent(why));
        }
        let Some(json) = json.filter(|_| request.needs_decision()) else {
            return;
        };
        if let Some((code, text)) = error_in(&json).filter(|_| first_invitation) {
            log.refusal = Some(Stopped::Error(format!("{code} ({text})")));
        }
        let decision = decision_in(&json);
        let key = RequestKey::of(request);
        match log.answers.get(&key).cloned() {
            Some(before) if before != decision => {
                let id = request.match_id.as_deref().unwrap_or("a match");
                let counted = if log.lost.contains(&key) {
                    "the first answer was lost, and the second counted"
                } else {
                    "the first counts"
                };
                log.oddities.push(format!(
                    "In {id} it answered the same {} with {before}, and then with {decision}: {counted}.",
                    request.message_type
                ));
            }
            Some(_) => {}
            None => {
                log.answers.insert(key, decision);
            }
        }
    }

    fn no_agent(&self, answer: &Result<CallResponse, CallError>) -> Option<String> {
        let received = answer.as_ref().ok()?;
        let header = |name| {
            received
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let answered = HttpAnswer {
            status: received.status,
            content_type: header(CONTENT_TYPE),
            location: header(LOCATION),
            body: received.body.clone(),
        };
        preflight::not_an_agent(&self.agent_url()?, &answered)
    }

    /// Sends a message of an unknown type, wrapped like the request.
    async fn send_unknown_message(&self, request: &ProxiedRequest) {
        let mut json = request.json.clone();
        if let Some(message) = message_mut(&mut json) {
            message.insert("message_type".into(), "PRACTICE_SURPRISE".into());
        }
        let by_method = json
            .get("params")
            .is_some_and(|params| params.get("message_type").is_some());
        if let Some(method) = json.get_mut("method").filter(|_| by_method) {
            *method = "practice_surprise".into();
        }
        let (answer, _) = self
            .call(json.to_string().into(), self.timing.choice / 4)
            .await;
        if let Err(error) = answer {
            let id = request.match_id.as_deref().unwrap_or("a match");
            locked(&self.log).oddities.push(format!(
                "In {id} it gave no answer to a message of an unknown type ({error}): any answer is better, such as \
                 JSON-RPC error -32601."
            ));
        }
    }
}

/// What makes two requests the same one: match, message type, and the turn that is asked about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RequestKey {
    match_id: String,
    message_type: String,
    turn: Option<u64>,
}

impl RequestKey {
    fn of(request: &ProxiedRequest) -> Self {
        let turn = message_in(&request.json).and_then(|message| message.get("turn")?.as_u64());
        Self {
            match_id: request.match_id.clone().unwrap_or_default(),
            message_type: request.message_type.clone(),
            turn,
        }
    }
}

/// The decision in an answer: whether the agent joins, or what it chooses.
fn decision_in(answer: &Value) -> Value {
    let Some(message) = message_in(answer) else {
        return Value::Null;
    };
    let of = |key: &str| message.get(key).cloned();
    let accepted = || of("status").map(|status| Value::Bool(status == "ACCEPTED"));
    let chosen = of("parity_choice")
        .or_else(|| of("choice"))
        .or_else(|| of("move_data"));
    of("accept")
        .or(chosen)
        .or_else(accepted)
        .unwrap_or_default()
}

pub(super) fn error_in(json: &Value) -> Option<(String, String)> {
    if let Some(message) = message_in(json) {
        let text = |key: &str| {
            message
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let code = text("error_code");
        let texts = ["error_message", "reason", "error_description"].map(text);
        let text = texts
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default();
        return (!code.is_empty()).then_some((code, text));
    }
    let error = json.get("error").filter(|error| error.is_object())?;
    // Our players and referees refuse with a JSON-RPC error that carries the fields of a LEAGUE_ERROR.
    let data = |key: &str| {
        error
            .get("data")
            .and_then(|data| data.get(key))
            .and_then(Value::as_str)
    };
    if let (Some(code), Some(why)) = (data("error_code"), data("error_message")) {
        return Some((code.to_owned(), why.to_owned()));
    }
    let code = error
        .get("code")
        .map(ToString::to_string)
        .unwrap_or_default();
    let text = error
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    Some((code, text))
}

fn describe_answer(answer: &Result<CallResponse, CallError>) -> String {
    match answer {
        Ok(received) if received.body.is_empty() => format!("HTTP {}", received.status),
        Ok(received) => summarize_answer_body(&String::from_utf8_lossy(&received.body)),
        Err(error) => error.to_string(),
    }
}

fn answered(answer: Result<CallResponse, CallError>) -> Reply {
    match answer {
        Ok(received) => reply(received.status, received.body),
        Err(_) => drop_connection(),
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::HeaderMap;
    use matchday_core::entropy::Entropy;
    use matchday_core::game::context::Context;
    use matchday_core::game::past::Past;
    use matchday_core::game::strategy::{self, Strategy, StrategyEntry};
    use matchday_core::game::{GAMES, Game, GameEntry, Seat, Turn};
    use matchday_core::protocol::messages::Record;
    use matchday_core::protocol::{GameType, PlayerId};
    use serde_json::json;

    fn proxy() -> Arc<PlayerProxy> {
        PlayerProxy::new(Client::new(), Timing::default(), BTreeMap::new())
    }

    /// A question of this turn is answered with this choice.
    fn hear(proxy: &PlayerProxy, turn: usize, choice: &Value) {
        let asked =
            json!({"params": {"message_type": "GAME_MOVE_CALL", "match_id": "R1M1", "turn": turn}});
        let request = ProxiedRequest::of(asked.to_string().into());
        let answer = json!({"result": {
            "message_type": "GAME_MOVE_RESPONSE", "match_id": "R1M1", "move_data": {"choice": choice},
        }});
        let answer = Ok(CallResponse {
            status: 200,
            headers: HeaderMap::new(),
            body: answer.to_string().into(),
        });
        let place = proxy.begin(&request);
        proxy.note(&request, place, &answer, Duration::ZERO);
    }

    #[test]
    fn another_answer_to_the_same_turn_is_odd_and_to_another_turn_is_not() {
        let proxy = proxy();
        hear(&proxy, 1, &json!(3));
        hear(&proxy, 2, &json!(4));
        assert_eq!(proxy.log().oddities, Vec::<String>::new());
        hear(&proxy, 2, &json!(5));
        assert_eq!(proxy.log().oddities.len(), 1);
    }

    #[test]
    fn no_built_in_strategy_is_odd_in_any_game() {
        for game in GAMES {
            for entry in strategy::of(game) {
                let odd = oddities_of(game, entry);
                assert_eq!(odd, Vec::<String>::new(), "{} in {}", entry.name, game.name);
            }
        }
    }

    /// A match that the strategy plays against chance, every question being asked twice.
    fn oddities_of(game: &GameEntry, entry: &StrategyEntry) -> Vec<String> {
        let proxy = proxy();
        let mut entropy = Entropy::from_seed([7; 32]);
        let mut position = (game.new)();
        let mut turn = 0;
        while !position.turn().seats().is_empty() {
            turn += 1;
            let seats = position.turn().seats();
            if seats.contains(&Seat::A) {
                let choice = choice_of(entry, game, position.as_ref(), &mut entropy);
                hear(&proxy, turn, &choice);
                hear(&proxy, turn, &choice);
                position.play(Seat::A, &choice).unwrap();
            }
            if position.turn() == Turn::One(Seat::B) || seats.contains(&Seat::B) {
                let options = position.request(Seat::B).valid_options;
                let place = entropy.below(options.len() as u64);
                let choice = &options[usize::try_from(place).unwrap()];
                position.play(Seat::B, choice).unwrap();
            }
        }
        assert!(turn > 0, "{} has no turn", game.name);
        proxy.log().oddities
    }

    fn choice_of(
        entry: &StrategyEntry,
        game: &GameEntry,
        position: &dyn Game,
        entropy: &mut Entropy,
    ) -> Value {
        let asked = position.request(Seat::A);
        let context = Context::OfMove(asked.context);
        let turn = strategy::Turn {
            game_type: &GameType::new(game.name),
            own_id: &PlayerId::numbered(1),
            opponent_id: Some(&PlayerId::numbered(2)),
            options: &asked.valid_options,
            context: &context,
            against: Past::NONE,
            overall: Past::NONE,
            record: Record::default(),
        };
        entry.choose(&turn, entropy)
    }
}
