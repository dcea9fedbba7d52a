//! Telling everyone: one mailbox an agent, so that each hears things in order and a slow one delays nobody else.

use super::event::{LeagueEvent, Suspicion};
use super::manager::{Act, Manager, Purpose};
use super::member::Member;
use super::state::League;
use crate::agent::Parcel;
use crate::post::{Errand, Sent, Tries};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, ConversationId, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::keyring::Keyring;
use crate::protocol::messages::Shared;
use crate::protocol::messages::{
    AnnouncedMatch, BRIEFING, Champion, FinalStanding, LeagueCompleted, LeagueError, LeagueStandingsUpdate,
    Phase, RoundAnnouncement,
};
use crate::protocol::text::Endpoint;
use crate::protocol::token::TokenHash;
use crate::protocol::{Body, Envelope, Message, Sender, Timestamp};
use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeMap, VecDeque};

/// What is still to be told to one agent.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    waiting: VecDeque<Notice>,
    /// Whether a notice is under way; the next goes out when that one is done with.
    busy: bool,
    /// Whether the last notice did not arrive in all its tries: the next have one each, until the agent listens again.
    deaf: bool,
    /// Whether the agent's endpoint has answered anything since we woke.
    heard: bool,
    /// What follows from the agent's token, once something had to.
    keyring: Option<Keyring>,
}

/// The most that is kept for an agent that does not listen.
const MAILBOX_MAX: usize = 64;

/// Something to be told.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    conversation: SmolStr,
    body: Body,
    /// Whether it is worth telling again when it did not arrive. A table is not: a newer one follows.
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

impl Mailbox {
    /// The keyring of the agent's present token.
    fn keyring(&mut self, hash: TokenHash, league: &LeagueId) -> &Keyring {
        if self.keyring.as_ref().is_some_and(|keyring| !keyring.is_of(&hash)) {
            self.keyring = None;
        }
        self.keyring.get_or_insert_with(|| Keyring::new(hash, league))
    }

    fn put(&mut self, notice: Notice) {
        // A newer table takes the place of one that has not gone out yet; but a table that something else follows stays,
        // since what follows it (the end of the round) is to be heard after it.
        if !notice.lasting && self.waiting.back().is_some_and(|last| !last.lasting) {
            self.waiting.pop_back();
        }
        self.waiting.push_back(notice);
        if self.waiting.len() > MAILBOX_MAX {
            self.waiting.pop_front();
        }
    }

    /// The next notice on its way to its agent, unless one is under way.
    fn next(&mut self, league: &League, now: Timestamp, agent: Sender) -> Option<Errand<Purpose>> {
        if self.busy || self.waiting.is_empty() {
            return None;
        }
        let Contact { endpoint, dialect, hash, suspended } = Contact::of(league, &agent)?;
        let notice = self.waiting.pop_front()?;
        self.busy = true;
        let patient = notice.lasting && !suspended && !self.deaf;
        let policy = league.settings.timing.retry;
        let token = self.keyring(hash, &league.settings.league_id).notice_token().clone();
        let conversation = ConversationId::new(notice.conversation);
        let envelope = Envelope::new(Sender::LeagueManager, now, conversation).with_token(Some(token));
        Some(Errand {
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

/// What must be known of an agent to tell it something.
struct Contact<'a> {
    endpoint: &'a Endpoint,
    dialect: Dialect,
    hash: TokenHash,
    suspended: bool,
}

impl<'a> Contact<'a> {
    fn of(league: &'a League, agent: &Sender) -> Option<Self> {
        fn contact<'a, M>(member: &'a Member<M>, endpoint: &'a Endpoint) -> Contact<'a> {
            let (dialect, hash, suspended) = (member.dialect, member.token, member.is_suspended());
            Contact { endpoint, dialect, hash, suspended }
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
        Contact::of(&self.league, agent).map(|contact| (contact.endpoint.clone(), contact.dialect))
    }

    /// The tokens that follow from an agent's own.
    pub(super) fn keyring(&mut self, agent: &Sender) -> Option<&Keyring> {
        let hash = self.token_of(agent).copied()?;
        let mailbox = self.mailboxes.entry(agent.clone()).or_default();
        Some(mailbox.keyring(hash, &self.league.settings.league_id))
    }

    fn mailbox(&mut self, agent: &Sender) -> &mut Mailbox {
        self.mailboxes.entry(agent.clone()).or_default()
    }

    pub(super) fn note_heard(&mut self, agent: &Sender) {
        self.mailbox(agent).heard = true;
    }

    pub(super) fn has_heard(&self, agent: &Sender) -> bool {
        self.mailboxes.get(agent).is_some_and(|mailbox| mailbox.heard)
    }

    pub(super) fn is_suspended(&self, agent: &Sender) -> bool {
        Contact::of(&self.league, agent).is_some_and(|contact| contact.suspended)
    }

    pub(super) fn suspend(&mut self, act: &mut Act<'_>, agent: Sender, cause: Suspicion) {
        if !self.is_suspended(&agent) {
            self.mailbox(&agent).heard = false;
            self.record(act, LeagueEvent::AgentSuspended { agent, cause });
        }
        if self.probe_at.is_none() {
            self.probe_at = Some(act.now + self.league.settings.probe_every);
        }
    }

    /// An endpoint has answered: if its agent was suspended, it is back.
    pub(super) fn on_sign_of_life(&mut self, act: &mut Act<'_>, agent: &Sender) {
        self.note_heard(agent);
        let is_barred =
            matches!(agent, Sender::Referee(id) if self.league.referees.get(id).is_some_and(|it| it.barred));
        if self.is_suspended(agent) && !is_barred && self.league.phase != Phase::Completed {
            self.record(act, LeagueEvent::AgentRecovered { agent: agent.clone() });
            self.advance(act);
        }
    }

    pub(super) fn probe_suspended(&mut self, act: &mut Act<'_>) {
        if self.probe_at.is_none_or(|at| at > act.now) {
            return;
        }
        let suspended: Vec<Sender> = self.everyone().filter(|agent| self.is_suspended(agent)).collect();
        self.probe_at = (!suspended.is_empty()).then(|| act.now + self.league.settings.probe_every);
        for agent in suspended {
            if let Some((endpoint, dialect)) = self.address(&agent) {
                self.probe(act, &agent, endpoint, dialect);
            }
        }
    }

    fn tell(&mut self, act: &mut Act<'_>, agent: Sender, notice: Notice) {
        let mailbox = self.mailboxes.entry(agent.clone()).or_default();
        mailbox.put(notice);
        if let Some(errand) = mailbox.next(&self.league, act.now, agent) {
            self.post.send(act.now, errand, &mut act.step.outbox);
        }
    }

    pub(super) fn tell_everyone(&mut self, act: &mut Act<'_>, notice: &Notice) {
        for agent in self.everyone().collect::<Vec<_>>() {
            self.tell(act, agent, notice.clone());
        }
    }

    fn tell_players(&mut self, act: &mut Act<'_>, notice: &Notice) {
        for agent in self.players().collect::<Vec<_>>() {
            self.tell(act, agent, notice.clone());
        }
    }

    pub(super) fn on_notice_answered(
        &mut self,
        act: &mut Act<'_>,
        agent: &Sender,
        sent: Box<Sent<Purpose>>,
        reached: bool,
    ) {
        let tried_in_vain = !reached && sent.errand.tries != Tries::Once;
        let announces = self.announces_open_round(&sent.errand.parcel);
        if !reached && self.try_again(act.now, sent).is_none() {
            return;
        }
        let Some(mailbox) = self.mailboxes.get_mut(agent) else {
            return;
        };
        mailbox.busy = false;
        mailbox.deaf = !reached && (mailbox.deaf || tried_in_vain);
        if let Some(errand) = mailbox.next(&self.league, act.now, agent.clone()) {
            self.post.send(act.now, errand, &mut act.step.outbox);
        }
        if let (true, Sender::Player(player)) = (announces, agent) {
            self.on_announcement_told(act, player);
        }
    }

    fn announces_open_round(&self, parcel: &Parcel) -> bool {
        let Parcel::Message(Message { body: Body::RoundAnnouncement(announcement), .. }) = parcel else {
            return false;
        };
        announcement.round_id.0 == self.league.current_round
    }

    /// The round that is open now, to everyone but referees that would begin their matches on hearing of them. A match waits
    /// until its players have heard of it.
    pub(super) fn tell_announcement(&mut self, act: &mut Act<'_>) {
        let Some(notice) = self.open_announcement() else {
            return;
        };
        self.unheard = self.to_be_told();
        self.unheard_until = (!self.unheard.is_empty()).then(|| act.now + self.league.settings.timing.other);
        self.tell_players(act, &notice);
        let briefed = self.league.referees.iter().filter(|(_, known)| known.meta.has_capability(BRIEFING));
        for referee in briefed.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.tell(act, Sender::Referee(referee), notice.clone());
        }
    }

    /// The players whose match in the open round is still to be given out, and who can be expected to hear of it.
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
        let matches = matches.iter().map(AnnouncedMatch::without_additions).collect();
        Some(self.announcement(round.round_id, matches, None))
    }

    /// An agent is back, and may have forgotten: tells it again what concerns it.
    pub(super) fn on_rejoined(&mut self, act: &mut Act<'_>, member: &Sender) {
        let news = match (self.league.phase, member) {
            (Phase::Completed, _) => self.completion(),
            (Phase::Running, Sender::Referee(referee)) => return self.remind_referee(act, referee),
            (Phase::Running, _) => self.open_announcement(),
            (Phase::Registration | Phase::Paused, _) => None,
        };
        if let Some(notice) = news {
            self.tell(act, member.clone(), notice);
        }
    }

    /// A match that goes to another referee, to the two who play it.
    pub(super) fn tell_reassignment(&mut self, act: &mut Act<'_>, match_id: &MatchId) {
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let players = [game.a.clone(), game.b.clone()];
        let matches = self.announced(match_id).into_iter().collect();
        let notice = self.announcement(game.round_id, matches, None);
        for player in players {
            self.tell(act, Sender::Player(player), notice.clone());
        }
    }

    fn announcement(
        &self,
        round_id: RoundId,
        matches: Shared<AnnouncedMatch>,
        starts_at: Option<Timestamp>,
    ) -> Notice {
        let league_id = self.league.settings.league_id.clone();
        let body = RoundAnnouncement { league_id, round_id, matches, starts_at };
        Notice::lasting(format_smolstr!("conv-round-{round_id}-announce"), body)
    }

    /// A match was decided, or given to another, under another attempt than this one: its referee can stop.
    pub(super) fn tell_moot(
        &mut self,
        act: &mut Act<'_>,
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
        self.tell(act, referee, Notice::lasting(conversation.as_str().into(), error));
    }

    pub(super) fn tell_standings(&mut self, act: &mut Act<'_>) {
        self.standings_at = None;
        let round_id = RoundId(self.league.current_round.max(1));
        let league_id = self.league.settings.league_id.clone();
        let update = LeagueStandingsUpdate { league_id, round_id, standings: self.league.rows_to_send() };
        let notice = Notice::passing(format_smolstr!("conv-round-{round_id}-standings"), update);
        self.tell_players(act, &notice);
    }

    pub(super) fn tell_completed(&mut self, act: &mut Act<'_>) {
        if let Some(notice) = self.completion() {
            self.tell_everyone(act, &notice);
        }
    }

    fn completion(&self) -> Option<Notice> {
        let rows = self.league.rows();
        let first = rows.first()?;
        let body = LeagueCompleted {
            league_id: self.league.settings.league_id.clone(),
            total_rounds: u32::try_from(self.league.rounds.len()).unwrap_or(u32::MAX),
            total_matches: self.league.matches_decided,
            champion: Champion {
                player_id: first.player_id.clone(),
                display_name: first.display_name.clone(),
                points: first.points,
            },
            final_standings: rows
                .iter()
                .map(|row| FinalStanding {
                    rank: row.rank,
                    player_id: row.player_id.clone(),
                    display_name: Some(row.display_name.clone()),
                    points: row.points,
                })
                .collect(),
        };
        Some(Notice::lasting("conv-league-complete".into(), body))
    }
}
