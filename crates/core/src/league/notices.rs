//! Notices to agents: one queue per agent, so that each receives them in order and a slow agent delays nobody else.

use super::deliveries::Purpose;
use super::keyrings::Keyrings;
use super::state::League;
use crate::agent::Payload;
use crate::outbox::{Delivery, Tries};
use crate::protocol::ids::ConversationId;
use crate::protocol::messages::{
    LeagueCompleted, LeagueStandingsUpdate, RoundAnnouncement, RoundCompleted,
};
use crate::protocol::{Body, Envelope, Message, Sender, Timestamp};
use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeMap, VecDeque};

/// Bounds the queue of an agent that does not answer.
const NOTICES_MAX: usize = 64;

/// The notices that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Notices {
    queues: BTreeMap<Sender, NoticeQueue>,
    /// When the standings are sent, if there are results that they have not shown.
    standings_at: Option<Timestamp>,
}

/// The notices that one agent has not received yet.
#[derive(Debug, Default)]
struct NoticeQueue {
    waiting: VecDeque<Notice>,
    /// Whether a notice is in flight; the next is sent when that one is done.
    in_flight: bool,
    /// Whether the last notice failed with all its retries: later ones get one try each, until the agent answers again.
    unreachable: bool,
}

/// One message to an agent.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    conversation: SmolStr,
    body: Body,
    /// Whether it is retried. Standings are not, because newer ones follow.
    lasting: bool,
}

impl Notice {
    pub(super) fn lasting(conversation: SmolStr, body: impl Into<Body>) -> Self {
        Self {
            conversation,
            body: body.into(),
            lasting: true,
        }
    }
}

impl From<RoundAnnouncement> for Notice {
    fn from(body: RoundAnnouncement) -> Self {
        Self::lasting(
            format_smolstr!("conv-round-{}-announce", body.round_id),
            body,
        )
    }
}

impl From<RoundCompleted> for Notice {
    fn from(body: RoundCompleted) -> Self {
        Self::lasting(
            format_smolstr!("conv-round-{}-complete", body.round_id),
            body,
        )
    }
}

impl From<LeagueCompleted> for Notice {
    fn from(body: LeagueCompleted) -> Self {
        Self::lasting("conv-league-complete".into(), body)
    }
}

impl From<LeagueStandingsUpdate> for Notice {
    fn from(body: LeagueStandingsUpdate) -> Self {
        let conversation = format_smolstr!("conv-round-{}-standings", body.round_id);
        Self {
            lasting: false,
            ..Self::lasting(conversation, body)
        }
    }
}

impl NoticeQueue {
    fn put(&mut self, notice: Notice) {
        // Newer standings replace queued ones; but standings that another notice follows stay, since that notice (the
        // end of the round) must come after them.
        if !notice.lasting && self.waiting.back().is_some_and(|last| !last.lasting) {
            self.waiting.pop_back();
        }
        self.waiting.push_back(notice);
        if self.waiting.len() > NOTICES_MAX {
            self.waiting.pop_front();
        }
    }

    /// The delivery of the next notice, unless one is in flight.
    fn next(
        &mut self,
        league: &League,
        keyrings: &mut Keyrings,
        now: Timestamp,
        agent: Sender,
    ) -> Option<Delivery<Purpose>> {
        if self.in_flight || self.waiting.is_empty() {
            return None;
        }
        let member = league.member(&agent)?;
        let token = keyrings.of(league, &agent)?.notice_token().clone();
        let notice = self.waiting.pop_front()?;
        self.in_flight = true;
        let is_patient = notice.lasting && !member.is_suspended() && !self.unreachable;
        let policy = league.settings.timing.retry;
        let conversation = ConversationId::new(notice.conversation);
        let envelope =
            Envelope::new(Sender::LeagueManager, now, conversation).with_token(Some(token));
        Some(Delivery {
            to: member.meta.contact_endpoint().clone(),
            dialect: member.dialect,
            payload: Payload::Message(Message {
                envelope,
                body: notice.body,
            }),
            purpose: Purpose::Notice(agent),
            timeout: league.settings.timing.other,
            tries: if is_patient {
                Tries::Retry(policy.retries, policy.backoff)
            } else {
                Tries::Once
            },
        })
    }
}

impl Notices {
    /// Queues a notice; returns the one to send now, if the agent has none in flight.
    pub(super) fn put(
        &mut self,
        league: &League,
        keyrings: &mut Keyrings,
        now: Timestamp,
        agent: Sender,
        notice: Notice,
    ) -> Option<Delivery<Purpose>> {
        let queue = self.queues.entry(agent.clone()).or_default();
        queue.put(notice);
        queue.next(league, keyrings, now, agent)
    }

    /// A notice has been delivered or given up, `in_vain` after all its retries; returns the next one.
    pub(super) fn done(
        &mut self,
        league: &League,
        keyrings: &mut Keyrings,
        now: Timestamp,
        agent: &Sender,
        (reached, in_vain): (bool, bool),
    ) -> Option<Delivery<Purpose>> {
        let queue = self.queues.get_mut(agent)?;
        queue.in_flight = false;
        queue.unreachable = !reached && (queue.unreachable || in_vain);
        queue.next(league, keyrings, now, agent.clone())
    }

    /// There is a new result: the standings are sent after a pause, with those that come meanwhile.
    pub(super) fn schedule_standings(&mut self, at: Timestamp) {
        self.standings_at.get_or_insert(at);
    }

    pub(super) fn are_standings_due(&self, now: Timestamp) -> bool {
        self.standings_at.is_some_and(|at| at <= now)
    }

    /// The standings are being sent.
    pub(super) fn take_standings(&mut self) {
        self.standings_at = None;
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.standings_at
    }
}
