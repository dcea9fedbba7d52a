//! The gate before the guest: every call to it goes through here, is timed and noted, and in some matches meets with
//! trouble on its way.

use super::relay::{
    Asked, CONNECTIONS_MAX, MESSAGE_BYTES_MAX, Reply, cut, is_choice, is_invitation, message_in,
};
use super::relay::{message_mut, reply};
use crate::check::exchange::Answered;
use crate::check::reach;
use crate::net::client::{CallError, Client, Received};
use crate::net::server;
use crate::store::rerun::gist_of;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, LOCATION};
use matchday_core::timing::Timing;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// What gets in the guest's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    SlowNetwork,
    LostAnswers,
    Twice,
    Unknown,
}

impl Trouble {
    pub(crate) const ALL: [Self; 4] = [Self::SlowNetwork, Self::LostAnswers, Self::Twice, Self::Unknown];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SlowNetwork => "slow network",
            Self::LostAnswers => "lost answers",
            Self::Twice => "everything twice",
            Self::Unknown => "unknown message",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::SlowNetwork => {
                "every message and answer is under way for an eighth of the time that there is"
            }
            Self::LostAnswers => "its first answers get lost: it is told so by GAME_ERROR, and asked again",
            Self::Twice => "every message is delivered twice at once",
            Self::Unknown => "before it is asked to choose, it gets a message of a type that nobody knows",
        }
    }
}

/// One call to the guest.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) message_type: String,
    pub(crate) match_id: Option<String>,
    /// The code and text of the error that it told the guest of, if it did.
    pub(crate) error: Option<(String, String)>,
    /// How long the guest took, if it answered.
    pub(crate) took: Option<Duration>,
    /// What it answered, in brief; or why there is no answer.
    pub(crate) reaction: String,
}

/// Why nobody will play here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The invitation was answered with this error.
    Error(String),
    /// What answers is no agent, in one line.
    NoAgent(String),
}

/// What was seen at the gate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    pub(crate) calls: Vec<Call>,
    /// What the guest should not have done, in whole sentences.
    pub(crate) oddities: Vec<String>,
    /// What shows at its first invitation that there is no point in going on.
    pub(crate) refusal: Option<Refusal>,
    /// The answers to questions, to compare a second one with.
    answers: BTreeMap<(String, String), Value>,
    /// The questions whose first answer was lost.
    lost: BTreeSet<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct Gate {
    client: Client,
    timing: Timing,
    troubles: BTreeMap<String, Trouble>,
    guest: Mutex<Option<String>>,
    /// The token of a guest that we have registered, and that cannot know it.
    token: Mutex<Option<String>>,
    notes: Mutex<Notes>,
}

impl Gate {
    pub(crate) fn new(client: Client, timing: Timing, troubles: BTreeMap<String, Trouble>) -> Arc<Self> {
        let (guest, token, notes) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { client, timing, troubles, guest, token, notes })
    }

    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener, closing: watch::Receiver<bool>) {
        let handler = move |request, _| {
            let gate = Arc::clone(&self);
            async move {
                match Asked::read(request).await {
                    Some(asked) => gate.pass(asked).await,
                    None => cut(),
                }
            }
        };
        server::serve(listener, CONNECTIONS_MAX, handler, closing).await;
    }

    /// From now on the guest is called here.
    pub(crate) fn lead_to(&self, url: &str) {
        *locked(&self.guest) = Some(url.to_owned());
    }

    /// From now on the guest's answers show this token, whatever it shows itself.
    pub(crate) fn show_token(&self, token: &str) {
        *locked(&self.token) = Some(token.to_owned());
    }

    /// An answer of the guest as the referee gets it.
    fn with_token(&self, mut received: Received) -> Received {
        let Some(token) = locked(&self.token).clone() else { return received };
        let Ok(mut json) = serde_json::from_slice::<Value>(&received.body) else { return received };
        if let Some(shown) = message_mut(&mut json).and_then(|message| message.get_mut("auth_token")) {
            *shown = token.into();
            received.body = json.to_string().into();
        }
        received
    }

    pub(crate) fn guest(&self) -> Option<String> {
        locked(&self.guest).clone()
    }

    pub(crate) fn notes(&self) -> Notes {
        locked(&self.notes).clone()
    }

    pub(crate) fn refusal(&self) -> Option<Refusal> {
        locked(&self.notes).refusal.clone()
    }

    /// What the rules of this practice allow for an answer.
    pub(crate) fn allowed(&self, message_type: &str) -> Duration {
        match message_type {
            kind if is_invitation(kind) => self.timing.join,
            kind if is_choice(kind) => self.timing.choice,
            "GAME_OVER" => self.timing.game_over,
            _ => self.timing.other,
        }
    }

    async fn pass(self: Arc<Self>, asked: Asked) -> Reply {
        let trouble = asked.match_id.as_ref().and_then(|id| self.troubles.get(id).copied());
        match trouble {
            Some(Trouble::SlowNetwork) => {
                let under_way = self.timing.join.min(self.timing.choice) / 8;
                sleep(under_way).await;
                let answer = self.ask(&asked).await;
                sleep(under_way).await;
                answered(answer)
            }
            Some(Trouble::LostAnswers) if asked.is_question() && self.is_first(&asked) => {
                let _lost = self.ask(&asked).await;
                // Whoever asked has given up by then.
                sleep(self.allowed(&asked.message_type) * 2).await;
                cut()
            }
            Some(Trouble::Twice) => {
                let (one, _other) = tokio::join!(self.ask(&asked), self.ask(&asked));
                answered(one)
            }
            Some(Trouble::Unknown) if is_choice(&asked.message_type) => {
                self.surprise(&asked).await;
                answered(self.ask(&asked).await)
            }
            _ => answered(self.ask(&asked).await),
        }
    }

    /// Whether this question comes for the first time; it does so only once.
    fn is_first(&self, asked: &Asked) -> bool {
        locked(&self.notes).lost.insert(question(asked))
    }

    /// Calls the guest and notes what comes, even if whoever asked does not wait for it any more.
    async fn ask(self: &Arc<Self>, asked: &Asked) -> Result<Received, CallError> {
        let (gate, asked) = (Arc::clone(self), asked.clone());
        let calling = tokio::spawn(async move {
            let body = asked.body.clone();
            let place = gate.begin(&asked);
            let (answer, took) = gate.call(body, gate.allowed(&asked.message_type) * 2).await;
            gate.note(&asked, place, &answer, took);
            answer.map(|received| gate.with_token(received))
        });
        calling.await.unwrap_or(Err(CallError::TimedOut))
    }

    async fn call(&self, body: Bytes, within: Duration) -> (Result<Received, CallError>, Duration) {
        let began = Instant::now();
        let Some(url) = self.guest() else {
            return (Err(CallError::Unusable("no agent has registered")), Duration::ZERO);
        };
        let answer = self.client.post(&url, body, began + within, MESSAGE_BYTES_MAX).await;
        (answer, began.elapsed())
    }

    fn begin(&self, asked: &Asked) -> usize {
        let mut notes = locked(&self.notes);
        notes.calls.push(Call {
            message_type: asked.message_type.clone(),
            match_id: asked.match_id.clone(),
            error: error_in(&asked.json),
            took: None,
            reaction: "no answer".to_owned(),
        });
        notes.calls.len() - 1
    }

    fn note(&self, asked: &Asked, place: usize, answer: &Result<Received, CallError>, took: Duration) {
        let json = answer.as_ref().ok().and_then(|got| serde_json::from_slice::<Value>(&got.body).ok());
        let mut notes = locked(&self.notes);
        if let Some(call) = notes.calls.get_mut(place) {
            call.took = answer.is_ok().then_some(took);
            call.reaction = reaction(answer);
        }
        let first_invitation = is_invitation(&asked.message_type) && notes.answers.is_empty();
        if let Some(why) = self.no_agent(answer).filter(|_| first_invitation) {
            notes.refusal = Some(Refusal::NoAgent(why));
        }
        let Some(json) = json.filter(|_| asked.is_question()) else { return };
        if let Some((code, text)) = error_in(&json).filter(|_| first_invitation) {
            notes.refusal = Some(Refusal::Error(format!("{code} ({text})")));
        }
        let said = decision(&json);
        match notes.answers.get(&question(asked)).cloned() {
            Some(before) if before != said => {
                let id = asked.match_id.as_deref().unwrap_or("a match");
                notes.oddities.push(format!(
                    "In {id} it answered the same {} with {before}, and then with {said}: the first counts.",
                    asked.message_type
                ));
            }
            Some(_) => {}
            None => {
                notes.answers.insert(question(asked), said);
            }
        }
    }

    /// Why what answers so cannot be an agent.
    fn no_agent(&self, answer: &Result<Received, CallError>) -> Option<String> {
        let received = answer.as_ref().ok()?;
        let header =
            |name| received.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let answered = Answered {
            status: received.status,
            content_type: header(CONTENT_TYPE),
            location: header(LOCATION),
            body: received.body.clone(),
        };
        reach::refusal(&self.guest()?, &answered)
    }

    /// Sends a message of no known type, wrapped as the question is.
    async fn surprise(&self, asked: &Asked) {
        let mut json = asked.json.clone();
        if let Some(message) = message_mut(&mut json) {
            message.insert("message_type".into(), "PRACTICE_SURPRISE".into());
        }
        let by_method = json.get("params").is_some_and(|params| params.get("message_type").is_some());
        if let Some(method) = json.get_mut("method").filter(|_| by_method) {
            *method = "practice_surprise".into();
        }
        let (answer, _) = self.call(json.to_string().into(), self.timing.choice / 4).await;
        if let Err(error) = answer {
            let id = asked.match_id.as_deref().unwrap_or("a match");
            locked(&self.notes).oddities.push(format!(
                "In {id} it gave no answer to a message of an unknown type ({error}): any answer is better, such as \
                 JSON-RPC error -32601."
            ));
        }
    }
}

fn question(asked: &Asked) -> (String, String) {
    (asked.match_id.clone().unwrap_or_default(), asked.message_type.clone())
}

/// What an answer comes to: whether it joins, or what it chooses.
fn decision(answer: &Value) -> Value {
    let Some(message) = message_in(answer) else { return Value::Null };
    let of = |key: &str| message.get(key).cloned();
    of("accept").or_else(|| of("parity_choice")).or_else(|| of("move_data")).unwrap_or_default()
}

/// The error that a message tells of.
pub(super) fn error_in(json: &Value) -> Option<(String, String)> {
    if let Some(message) = message_in(json) {
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = text("error_code");
        let said = ["error_message", "reason", "error_description"].map(text);
        let said = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
        return (!code.is_empty()).then_some((code, said));
    }
    let error = json.get("error").filter(|error| error.is_object())?;
    // Our players and referees refuse by an error of JSON-RPC that holds the fields of a LEAGUE_ERROR.
    let data = |key: &str| error.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
    if let (Some(code), Some(why)) = (data("error_code"), data("error_message")) {
        return Some((code.to_owned(), why.to_owned()));
    }
    let code = error.get("code").map(ToString::to_string).unwrap_or_default();
    let said = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((code, said))
}

fn reaction(answer: &Result<Received, CallError>) -> String {
    match answer {
        Ok(received) if received.body.is_empty() => format!("HTTP {}", received.status),
        Ok(received) => gist_of(&String::from_utf8_lossy(&received.body)),
        Err(error) => error.to_string(),
    }
}

fn answered(answer: Result<Received, CallError>) -> Reply {
    match answer {
        Ok(received) => reply(received.status, received.body),
        Err(_) => cut(),
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
