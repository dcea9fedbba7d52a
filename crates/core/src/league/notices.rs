//! Notices to agents: one queue per agent, so that each receives them in order and a slow agent delays nobody else.

use super::cause::Suspicion;
use super::event::LeagueEvent;
use super::manager::{Ctx, Manager, Purpose};
use super::member::Member;
use super::state::League;
use crate::agent::{Agent, Parcel};
use crate::outbox::{Delivery, Sent, Tries};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, ConversationId, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::keyring::Keyring;
use crate::protocol::messages::{
    AnnouncedMatch, BRIEFING, LeagueError, LeagueStandingsUpdate, Phase, RoundAnnouncement, Shared,
};
use crate::protocol::text::Endpoint;
use crate::protocol::token::TokenHash;
use crate::protocol::{Body, Envelope, Message, Sender, Timestamp};
use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The notices that one agent has not received yet.
#[derive(Debug, Default)]
pub(super) struct NoticeQueue {
    waiting: VecDeque<Notice>,
    /// Whether a notice is in flight; the next is sent when that one is done.
    in_flight: bool,
    /// Whether the last notice failed with all its retries: later ones get one try each, until the agent answers again.
    unreachable: bool,
    /// Whether the agent's endpoint has answered anything since the manager started.
    has_answered: bool,
    /// The tokens derived from the agent's token, created on first use.
    keyring: Option<Keyring>,
}

/// Bounds the queue of an agent that does not answer.
const NOTICES_MAX: usize = 64;

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
        Self { conversation, body: body.into(), lasting: true }
    }

    fn passing(conversation: SmolStr, body: impl Into<Body>) -> Self {
        Self { conversation, body: body.into(), lasting: false }
    }
}

impl NoticeQueue {
    /// The keyring of the agent's current token.
    fn keyring(&mut self, hash: TokenHash, league: &LeagueId) -> &Keyring {
        if self.keyring.as_ref().is_some_and(|keyring| !keyring.is_of(&hash)) {
            self.keyring = None;
        }
        self.keyring.get_or_insert_with(|| Keyring::new(hash, league))
    }

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
    fn next(&mut self, league: &League, now: Timestamp, agent: Sender) -> Option<Delivery<Purpose>> {
        if self.in_flight || self.waiting.is_empty() {
            return None;
        }
        let ContactInfo { endpoint, dialect, hash, suspended } = ContactInfo::of(league, &agent)?;
        let notice = self.waiting.pop_front()?;
        self.in_flight = true;
        let patient = notice.lasting && !suspended && !self.unreachable;
        let policy = league.settings.timing.retry;
        let token = self.keyring(hash, &league.settings.league_id).notice_token().clone();
        let conversation = ConversationId::new(notice.conversation);
        let envelope = Envelope::new(Sender::LeagueManager, now, conversation).with_token(Some(token));
        Some(Delivery {
            to: endpoint.clone(),
            dialect,
            parcel: Parcel::Message(Message { envelope, body: notice.body }),
            purpose: Purpose::Notice(agent),
            timeout: league.settings.timing.other,
            tries: match patient {
                true => Tries::Retry(policy.retries, policy.backoff),
                false => Tries::Once,
            },
        })
    }
}

/// What is needed to send a notice to an agent.
struct ContactInfo<'a> {
    endpoint: &'a Endpoint,
    dialect: Dialect,
    hash: TokenHash,
    suspended: bool,
}

impl<'a> ContactInfo<'a> {
    fn of(league: &'a League, agent: &Sender) -> Option<Self> {
        fn contact<'a, M>(member: &'a Member<M>, endpoint: &'a Endpoint) -> ContactInfo<'a> {
            let (dialect, hash, suspended) = (member.dialect, member.token, member.is_suspended());
            ContactInfo { endpoint, dialect, hash, suspended }
        }
        match agent {
            Sender::Player(id) => {
                league.players.get(id).map(|player| contact(player, &player.meta.contact_endpoint))
            }
            Sender::Referee(id) => {
                league.referees.get(id).map(|referee| contact(referee, &referee.meta.contact_endpoint))
            }
            Sender::LeagueManager | Sender::Launcher => None,
        }
    }
}

impl Manager {
    pub(super) fn everyone(&self) -> impl Iterator<Item = Sender> {
        let referees = self.league.referees.keys().cloned().map(Sender::Referee);
        referees.chain(self.players())
    }

    fn players(&self) -> impl Iterator<Item = Sender> {
        self.league.players.keys().cloned().map(Sender::Player)
    }

    pub(super) fn address(&self, agent: &Sender) -> Option<(Endpoint, Dialect)> {
        ContactInfo::of(&self.league, agent).map(|contact| (contact.endpoint.clone(), contact.dialect))
    }

    /// The tokens derived from an agent's token.
    pub(super) fn keyring(&mut self, agent: &Sender) -> Option<&Keyring> {
        let hash = self.token_of(agent).copied()?;
        let notice_queue = self.notice_queues.entry(agent.clone()).or_default();
        Some(notice_queue.keyring(hash, &self.league.settings.league_id))
    }

    fn notice_queue(&mut self, agent: &Sender) -> &mut NoticeQueue {
        self.notice_queues.entry(agent.clone()).or_default()
    }

    pub(super) fn note_answered(&mut self, agent: &Sender) {
        self.notice_queue(agent).has_answered = true;
    }

    pub(super) fn has_answered(&self, agent: &Sender) -> bool {
        self.notice_queues.get(agent).is_some_and(|notice_queue| notice_queue.has_answered)
    }

    pub(super) fn is_suspended(&self, agent: &Sender) -> bool {
        ContactInfo::of(&self.league, agent).is_some_and(|contact| contact.suspended)
    }

    pub(super) fn suspend(&mut self, ctx: &mut Ctx<'_>, agent: Sender, cause: Suspicion) {
        if !self.is_suspended(&agent) {
            self.notice_queue(&agent).has_answered = false;
            self.record(ctx, LeagueEvent::AgentSuspended { agent, cause });
        }
        if self.probe_at.is_none() {
            self.probe_at = Some(ctx.now + self.league.settings.probe_every);
        }
    }

    /// An endpoint has answered: a suspended agent recovers.
    pub(super) fn on_sign_of_life(&mut self, ctx: &mut Ctx<'_>, agent: &Sender) {
        self.note_answered(agent);
        let is_barred =
            matches!(agent, Sender::Referee(id) if self.league.referees.get(id).is_some_and(|it| it.barred));
        if self.is_suspended(agent) && !is_barred && self.league.phase != Phase::Completed {
            self.record(ctx, LeagueEvent::AgentRecovered { agent: agent.clone() });
            self.advance(ctx);
        }
    }

    pub(super) fn probe_suspended(&mut self, ctx: &mut Ctx<'_>) {
        if self.probe_at.is_none_or(|at| at > ctx.now) {
            return;
        }
        let suspended: Vec<Sender> = self.everyone().filter(|agent| self.is_suspended(agent)).collect();
        self.probe_at = (!suspended.is_empty()).then(|| ctx.now + self.league.settings.probe_every);
        for agent in suspended {
            self.probe(ctx, &agent, Tries::Once);
        }
    }

    fn tell(&mut self, ctx: &mut Ctx<'_>, agent: Sender, notice: Notice) {
        let notice_queue = self.notice_queues.entry(agent.clone()).or_default();
        notice_queue.put(notice);
        if let Some(delivery) = notice_queue.next(&self.league, ctx.now, agent) {
            self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
        }
    }

    pub(super) fn tell_everyone(&mut self, ctx: &mut Ctx<'_>, notice: &Notice) {
        for agent in self.everyone().collect::<Vec<_>>() {
            self.tell(ctx, agent, notice.clone());
        }
    }

    fn tell_players(&mut self, ctx: &mut Ctx<'_>, notice: &Notice) {
        for agent in self.players().collect::<Vec<_>>() {
            self.tell(ctx, agent, notice.clone());
        }
    }

    pub(super) fn on_notice_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        agent: &Sender,
        sent: Box<Sent<Purpose>>,
        reached: bool,
    ) {
        let tried_in_vain = !reached && sent.delivery.tries != Tries::Once;
        let announces = self.announces_open_round(&sent.delivery.parcel);
        if !reached && self.try_again(ctx.now, sent).is_none() {
            return;
        }
        let Some(notice_queue) = self.notice_queues.get_mut(agent) else {
            return;
        };
        notice_queue.in_flight = false;
        notice_queue.unreachable = !reached && (notice_queue.unreachable || tried_in_vain);
        if let Some(delivery) = notice_queue.next(&self.league, ctx.now, agent.clone()) {
            self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
        }
        if let (true, Sender::Player(player)) = (announces, agent) {
            self.on_announcement_told(ctx, player);
        }
    }

    fn announces_open_round(&self, parcel: &Parcel) -> bool {
        let Parcel::Message(Message { body: Body::RoundAnnouncement(announcement), .. }) = parcel else {
            return false;
        };
        announcement.round_id.0 == self.league.current_round
    }

    /// Announces the open round to everyone except referees that would start matches on an announcement. A match waits
    /// until its players have acknowledged the announcement.
    pub(super) fn tell_announcement(&mut self, ctx: &mut Ctx<'_>) {
        let Some(notice) = self.open_announcement() else {
            return;
        };
        self.unacknowledged = self.to_be_told();
        self.announcement_deadline =
            (!self.unacknowledged.is_empty()).then(|| ctx.now + self.league.settings.timing.other);
        self.tell_players(ctx, &notice);
        let briefed = self.league.referees.iter().filter(|(_, known)| known.meta.has_capability(BRIEFING));
        for referee in briefed.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            let mut notice = notice.clone();
            if let (Some(remark), Body::RoundAnnouncement(body)) =
                (self.remark_to(&referee), &mut notice.body)
            {
                Arc::make_mut(body).remark = Some(remark);
            }
            self.tell(ctx, Sender::Referee(referee), notice);
        }
    }

    /// The players whose match is not assigned yet and who can be expected to acknowledge the announcement.
    fn to_be_told(&self) -> BTreeMap<PlayerId, MatchId> {
        let listens = |id: &&PlayerId| {
            self.league.players.get(id).is_some_and(|player| player.is_in() && !player.is_suspended())
        };
        let waiting = self.league.awaited().filter(|(id, _)| self.league.waiting.contains(*id));
        waiting
            .flat_map(|(match_id, game)| {
                [&game.a, &game.b].into_iter().filter(listens).map(|id| (id.clone(), match_id.clone()))
            })
            .collect()
    }

    fn open_announcement(&self) -> Option<Notice> {
        let round = self.league.open_round()?;
        let matches: Shared<_> = round.matches.iter().filter_map(|id| self.announced(id)).collect();
        if matches.fits_message(1) {
            return Some(self.announcement(round.round_id, matches, round.starts_at));
        }
        let without_keys: Shared<_> = matches.iter().map(AnnouncedMatch::without_key).collect();
        if without_keys.fits_message(1) {
            return Some(self.announcement(round.round_id, without_keys, round.starts_at));
        }
        let matches = matches.iter().map(AnnouncedMatch::without_additions).collect();
        Some(self.announcement(round.round_id, matches, None))
    }

    /// An agent has registered again and may have lost its state: repeats what concerns it.
    pub(super) fn on_rejoined(&mut self, ctx: &mut Ctx<'_>, member: &Sender) {
        let news = match (self.league.phase, member) {
            (Phase::Completed, _) => self.completion(),
            (Phase::Running, Sender::Referee(referee)) => return self.remind_referee(ctx, referee),
            (Phase::Running, _) => self.open_announcement(),
            (Phase::Registration | Phase::Paused, _) => None,
        };
        if let Some(notice) = news {
            self.tell(ctx, member.clone(), notice);
        }
    }

    /// Tells both players that their match has another referee.
    pub(super) fn tell_reassignment(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let players = [game.a.clone(), game.b.clone()];
        let matches = self.announced(match_id).into_iter().collect();
        let notice = self.announcement(game.round_id, matches, None);
        for player in players {
            self.tell(ctx, Sender::Player(player), notice.clone());
        }
    }

    fn announcement(
        &self,
        round_id: RoundId,
        matches: Shared<AnnouncedMatch>,
        starts_at: Option<Timestamp>,
    ) -> Notice {
        let league_id = self.league.settings.league_id.clone();
        let body = RoundAnnouncement { league_id, round_id, matches, starts_at, remark: None };
        Notice::lasting(format_smolstr!("conv-round-{round_id}-announce"), body)
    }

    /// Tells a referee to stop a match whose attempt was superseded by another attempt or decision.
    pub(super) fn tell_superseded(
        &mut self,
        ctx: &mut Ctx<'_>,
        referee: Sender,
        match_id: &MatchId,
        attempt: Attempt,
    ) {
        let mut context = serde_json::Map::new();
        context.insert("match_id".into(), match_id.as_str().into());
        let error = LeagueError::new(
            ErrorCode::ResultConflict,
            format!(
                "{match_id} is decided, or another referee's by now: it need not be played here any more"
            ),
            None,
            Some(context),
        );
        let conversation = ConversationId::of_match(match_id, attempt);
        self.tell(ctx, referee, Notice::lasting(conversation.as_str().into(), error));
    }

    pub(super) fn tell_standings(&mut self, ctx: &mut Ctx<'_>) {
        self.standings_at = None;
        let round_id = RoundId(self.league.current_round.max(1));
        let league_id = self.league.settings.league_id.clone();
        let update = LeagueStandingsUpdate { league_id, round_id, standings: self.league.rows_to_send() };
        let notice = Notice::passing(format_smolstr!("conv-round-{round_id}-standings"), update);
        self.tell_players(ctx, &notice);
    }
}
