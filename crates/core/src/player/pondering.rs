//! Questions that a mind outside is to decide: asked once, waited for by everyone who asked, and decided by the fallback
//! strategy when nothing of use has come in time. Nothing here is stored: what is pending at a crash is asked again.

use super::Player;
use super::answering::{Asked, Asker};
use super::event::{Choice, PlayerEvent};
use super::sheet::{self, TurnSheet};
use super::trust::{Refusal, refusal};
use crate::agent::{Decision, Inquiry, InquiryId, Reply, Step};
use crate::entropy::Entropy;
use crate::protocol::{Attempt, ErrorCode, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a mind outside may think about one move, unless the settings or the referee allow less.
pub const THINK_TIME: Duration = Duration::from_secs(25);
/// How many questions may be pending at once: each may be a running program, or cost money.
pub const PENDING_MAX: usize = 64;

/// A mind outside, and what is pending with it.
#[derive(Debug)]
pub(super) struct Outside {
    think_time: Duration,
    /// Whether nobody else decides.
    is_alone: bool,
    last_inquiry: u64,
    pending: BTreeMap<InquiryId, Thought>,
}

/// A question that is being thought about.
#[derive(Debug)]
struct Thought {
    asked: Asked,
    /// When the fallback chooses.
    until: Timestamp,
    askers: Vec<Asker>,
}

/// What becomes of a question that is put to a mind outside.
#[derive(Debug)]
pub(super) enum TakenUp {
    New(InquiryId),
    /// It was pending before.
    Known,
    /// Another question of the same attempt is: two answers for one turn would let the referee choose.
    Busy,
    /// Too many are.
    NoRoom,
    /// The referee wants its answer at once. Here is the question back.
    NoTime(Box<(Asked, Asker)>),
}

impl Outside {
    pub(super) fn new(think_time: Duration) -> Self {
        Self { think_time, is_alone: false, last_inquiry: 0, pending: BTreeMap::new() }
    }

    pub(super) fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// When the next thought must come to its end.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.pending.values().map(|thought| thought.until).min()
    }

    /// Takes a question up, unless it is pending already: then there is one more who waits for the same decision.
    pub(super) fn take_up(&mut self, now: Timestamp, asked: Asked, asker: Asker) -> TakenUp {
        let time = allowance(asked.window).min(self.think_time);
        let mut pending = self.pending.values_mut();
        let same = |known: &Asked| known.match_id == asked.match_id && known.question == asked.question;
        if let Some(thought) = pending.find(|thought| same(&thought.asked)) {
            thought.until = thought.until.min(now + time);
            thought.askers.push(asker);
            return TakenUp::Known;
        }
        let attempt = asker.place.attempt;
        let mut others = self.pending.values().filter(|thought| thought.asked.match_id == asked.match_id);
        if others.any(|thought| thought.askers.iter().any(|other| other.place.attempt == attempt)) {
            return TakenUp::Busy;
        }
        if self.pending.len() >= PENDING_MAX {
            return TakenUp::NoRoom;
        }
        if time.is_zero() {
            return TakenUp::NoTime(Box::new((asked, asker)));
        }
        self.last_inquiry += 1;
        let id = InquiryId(self.last_inquiry);
        self.pending.insert(id, Thought { asked, until: now + time, askers: vec![asker] });
        TakenUp::New(id)
    }

    fn due(&self, now: Timestamp) -> Option<InquiryId> {
        self.pending.iter().find(|(_, thought)| thought.until <= now).map(|(id, _)| *id)
    }
}

/// What a referee hears where nobody has decided, and nobody else may.
pub(super) fn undecided(why: &str) -> Refusal {
    refusal(ErrorCode::InvalidState, format!("this player has not decided: {why}"))
}

/// How much of a referee's window may be thought away. Times on the wire are whole seconds, so a window may be a second
/// shorter than it seems, and messages travel: the rest is for both.
fn allowance(window: Duration) -> Duration {
    let cautious = (window - window / 10).saturating_sub(Duration::from_secs(1));
    cautious.max(window / 4)
}

impl Player {
    /// What the mind outside is asked about a question that was just taken up.
    pub(super) fn inquiry(&self, now: Timestamp, id: InquiryId) -> Option<Inquiry> {
        let Thought { asked, until, .. } = self.outside.as_ref()?.pending.get(&id)?;
        let turn = TurnSheet::of(&self.turn(asked), asked.match_id.clone(), asked.round_id, now, *until);
        Some(Inquiry { id, turn, until: *until })
    }

    /// The mind outside has answered; too late, if nobody waits for it any more.
    pub(super) fn decided(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        inquiry: InquiryId,
        decision: Decision,
        step: &mut Step<PlayerEvent>,
    ) {
        let thought = self.outside.as_mut().and_then(|outside| outside.pending.remove(&inquiry));
        if let Some(thought) = thought {
            self.settle(now, entropy, thought, decision, step);
        }
    }

    /// Decides every question whose time has come.
    pub(super) fn stop_thinking(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        step: &mut Step<PlayerEvent>,
    ) {
        while let Some(inquiry) = self.outside.as_ref().and_then(|outside| outside.due(now)) {
            let decision = Err("nothing was decided in time".to_owned());
            self.decided(now, entropy, inquiry, decision, step);
        }
    }

    fn settle(
        &self,
        now: Timestamp,
        entropy: &mut Entropy,
        thought: Thought,
        decision: Decision,
        step: &mut Step<PlayerEvent>,
    ) {
        let Thought { asked, askers, .. } = thought;
        let (value, fallback) = match decision.and_then(|value| sheet::check(asked.options.as_slice(), value))
        {
            Ok(value) => (value, None),
            Err(why) if self.outside.as_ref().is_some_and(Outside::is_alone) => {
                for asker in askers {
                    let content = asker.refusal(now, undecided(&why));
                    step.replies.push(Reply { to: asker.request, content });
                }
                return;
            }
            Err(why) => (self.own_choice(entropy, &asked), Some(why)),
        };
        // Each attempt has its own nonce, and so its own answer.
        let mut answers: BTreeMap<Attempt, Choice> = BTreeMap::new();
        let mut why = fallback.as_deref();
        for asker in askers {
            let place = &asker.place;
            let choice = answers.entry(place.attempt).or_insert_with(|| {
                let (event, choice) = self.settled(entropy, &asked, place, value.clone(), why.take());
                step.events.push(event);
                choice
            });
            step.replies.push(Reply { to: asker.request, content: asker.content(now, choice) });
        }
    }

    /// Ends every thought without a choice: under another identity the same ids name other matches.
    pub(super) fn abandon_thoughts(&mut self, now: Timestamp, step: &mut Step<PlayerEvent>) {
        let Some(outside) = &mut self.outside else {
            return;
        };
        for thought in std::mem::take(&mut outside.pending).into_values() {
            for asker in thought.askers {
                let why = "this player has just been registered anew: ask again";
                let content = asker.refusal(now, refusal(ErrorCode::InvalidState, why));
                step.replies.push(Reply { to: asker.request, content });
            }
        }
    }
}
