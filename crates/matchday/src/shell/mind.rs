//! The mind outside that decides for an agent: a program, a model, a person. Each inquiry is a task of its own; what
//! comes of it is put into the inbox, and told to the journal.

use super::driver::Surroundings;
use super::inbox::Arrived;
use super::journal::{Entry, Level, millis};
use super::subject::Subject;
use matchday_core::agent::{Decision, Inquiry};
use matchday_core::player::TurnSheet;
use matchday_core::protocol::Timestamp;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout_at;

/// A decision that is being made. Dropping it must end whatever was begun for it.
pub type Deciding = Pin<Box<dyn Future<Output = Considered> + Send>>;

/// What a mind comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// One of the turn's options, or why there is none, in words for people.
    pub decision: Decision,
    /// What else it has to say, for the journal.
    pub remark: Option<String>,
}

impl From<Decision> for Considered {
    fn from(decision: Decision) -> Self {
        Self { decision, remark: None }
    }
}

/// Decides for an agent. It may take its time: the agent goes on without it when its time is up, and the decision is
/// then dropped.
pub trait Mind: Debug + Send + Sync {
    fn decide(&self, turn: TurnSheet) -> Deciding;
}

/// Puts one inquiry to the mind.
pub(super) async fn ask(around: Arc<Surroundings>, inquiry: Inquiry) {
    let began = around.clock.now();
    let Inquiry { id, turn, until } = inquiry;
    let subject = Subject { match_id: Some(turn.match_id.as_str().into()), ..Subject::default() };
    let considered = tokio::select! {
        biased;
        () = around.inbox.closed() => return,
        considered = consider(&around, turn, until) => considered,
    };
    let at = around.clock.now();
    note(&around, &subject, began, at, &considered);
    around.inbox.put(Arrived::Decision { at, inquiry: id, decision: considered.decision });
}

async fn consider(around: &Surroundings, turn: TurnSheet, until: Timestamp) -> Considered {
    let Some(mind) = &around.mind else {
        return Err("nobody is there to decide".to_owned()).into();
    };
    let time = Duration::from_millis(turn.time_left_ms).as_secs_f64();
    match timeout_at(around.clock.instant(until), mind.decide(turn.clone())).await {
        Ok(Considered { decision, remark }) => {
            Considered { decision: decision.and_then(|value| turn.check(value)), remark }
        }
        Err(_) => Err(format!("nothing was decided in {time:.1} s")).into(),
    }
}

fn note(around: &Surroundings, subject: &Subject, began: Timestamp, at: Timestamp, considered: &Considered) {
    around.journal.note(|| {
        let decided_ms = millis(began, at);
        let about = subject.match_id.as_deref().unwrap_or_default();
        let Considered { decision, remark } = considered;
        let (level, mut message) = match decision {
            Ok(value) => (Level::Info, format!("decided on {value} in {about} ({decided_ms:.1} ms)")),
            Err(why) => (Level::Warning, format!("the fallback strategy chooses in {about}: {why}")),
        };
        if let Some(remark) = remark {
            message = format!("{message}; it says {remark}");
        }
        Entry::new(at, around.name(), "decided", message)
            .about(subject)
            .level(level)
            .detail("decided_ms", decided_ms)
            .detail("fallback", decision.as_ref().err().cloned())
            .detail("remark", remark.clone())
    });
}
