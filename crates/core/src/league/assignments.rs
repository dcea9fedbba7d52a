//! Assignments of matches to referees: their messages, the deadlines of the reports, and the backoff of matches that were
//! handed back.

use super::deliveries::Purpose;
use super::keyrings::Keyrings;
use super::state::League;
use crate::agent::{Answer, Payload};
use crate::outbox::{Delivery, Tries};
use crate::protocol::ids::{Attempt, ConversationId, MatchId, RefereeId, RoundId};
use crate::protocol::messages::{
    AnnouncedMatch, AssignmentName, BRIEFING, Briefing, MatchAssignment, RoundAnnouncement,
};
use crate::protocol::{Body, Envelope, ErrorCode, Message, MessageType, Sender, Timestamp};
use crate::retry::Backoff;
use crate::timers::Timers;
use crate::timing::Timing;
use smol_str::format_smolstr;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The shortest backoff of a match that was handed back.
const BACKOFF_MIN: Duration = Duration::from_secs(1);

/// The longest backoff of a match that its only referee refuses.
const REFUSED_BACKOFF_MAX: Duration = Duration::from_secs(60);

/// The matches that referees have, and those that wait after they were handed back.
#[derive(Debug, Default)]
pub(super) struct Assignments {
    /// The deadline of each open match for its report; after it the match is reassigned.
    due: Timers<MatchId>,
    /// Matches that were handed back, with the end of their backoff.
    backoff_until: BTreeMap<MatchId, Timestamp>,
    /// How third-party referees have to be told of their matches.
    forms: BTreeMap<RefereeId, AssignmentForm>,
    /// When a third-party referee that has taken a match is asked for it again, unless it has reported by then.
    idle_at: Timers<MatchId>,
    /// How often each open match was refused for want of another referee.
    refusals: BTreeMap<MatchId, u32>,
    /// The matches that were asked for again.
    asked_again: BTreeSet<MatchId>,
    /// Third-party referees that have asked for the schedule.
    polling: BTreeSet<RefereeId>,
}

/// How a referee is told of its matches, in the order in which a third-party one is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AssignmentForm {
    /// All of a round in ROUND_ANNOUNCEMENT. Our own referees know no other.
    #[default]
    Announcement,
    /// Each in a message of its own.
    Single(AssignmentName),
}

impl AssignmentForm {
    pub(super) fn of(payload: &Payload) -> Self {
        match payload {
            Payload::Message(Message {
                body: Body::MatchAssignment(single),
                ..
            }) => Self::Single(single.name),
            Payload::Message(_) | Payload::Probe | Payload::Connect => Self::Announcement,
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Announcement => Some(Self::Single(AssignmentName::MatchAssignment)),
            Self::Single(AssignmentName::MatchAssignment) => {
                Some(Self::Single(AssignmentName::StartMatch))
            }
            Self::Single(AssignmentName::StartMatch) => None,
        }
    }
}

/// Why a referee does not accept an assignment, if its answer says so.
pub(super) fn refusal(answer: &Answer) -> Option<String> {
    let incoming = match answer {
        Answer::NotUnderstood(why) => return Some(why.clone()),
        Answer::Message(Ok(incoming)) => incoming,
        Answer::Message(Err(_))
        | Answer::Received
        | Answer::Garbled(_)
        | Answer::Undelivered(_) => {
            return None;
        }
    };
    match &incoming.body {
        Ok(Body::LeagueError(error)) if is_not_now(&error.error_code) => None,
        Ok(Body::LeagueError(error)) => {
            Some(format!("it refused the match: {}", error.own_words()))
        }
        Err(rejection) if incoming.message_type == MessageType::LeagueError => {
            Some(rejection.to_string())
        }
        Ok(_) | Err(_) => None,
    }
}

/// Whether an assignment that was answered like this is to be sent again.
pub(super) fn must_repeat(answer: &Answer) -> bool {
    match answer {
        Answer::Undelivered(_) | Answer::Garbled(_) => true,
        Answer::Message(Ok(incoming)) => {
            matches!(&incoming.body, Ok(Body::LeagueError(error)) if is_not_now(&error.error_code))
        }
        Answer::Message(Err(_)) | Answer::Received | Answer::NotUnderstood(_) => false,
    }
}

fn is_not_now(code: &ErrorCode) -> bool {
    code.retryable() || *code == ErrorCode::RateLimited
}

impl Assignments {
    /// No referee but the one that has refused the match is there: each time it waits twice as long.
    pub(super) fn back_off_refused(&mut self, league: &League, now: Timestamp, match_id: &MatchId) {
        let refusals = self.refusals.entry(match_id.clone()).or_default();
        *refusals = refusals.saturating_add(1);
        let initial = league.settings.timing.retry.pause(1).unwrap_or_default();
        let backoff = Backoff::Exponential {
            initial: initial.max(BACKOFF_MIN),
            max: REFUSED_BACKOFF_MAX,
        };
        let pause = backoff.pause(*refusals);
        self.backoff_until.insert(match_id.clone(), now + pause);
    }

    /// The match waits before its next attempt.
    pub(super) fn back_off(&mut self, league: &League, now: Timestamp, match_id: &MatchId) {
        let pause = league
            .settings
            .timing
            .retry
            .pause(1)
            .unwrap_or_default()
            .max(BACKOFF_MIN);
        self.backoff_until.insert(match_id.clone(), now + pause);
    }

    pub(super) fn is_backing_off(&self, match_id: &MatchId) -> bool {
        self.backoff_until.contains_key(match_id)
    }

    /// Whether the backoff of a match has ended.
    pub(super) fn end_backoffs(&mut self, now: Timestamp) -> bool {
        let before = self.backoff_until.len();
        self.backoff_until.retain(|_, until| *until > now);
        self.backoff_until.len() < before
    }

    /// The matches whose report is overdue.
    pub(super) fn take_overdue(&mut self, now: Timestamp) -> Vec<MatchId> {
        let overdue: Vec<MatchId> = self.due.due(now).cloned().collect();
        overdue
            .iter()
            .for_each(|match_id| self.due.set(match_id, None));
        overdue
    }

    /// The matches that a third-party referee has had for longer than it takes to play them.
    pub(super) fn take_idle(&mut self, now: Timestamp) -> Vec<MatchId> {
        let idle: Vec<MatchId> = self.idle_at.due(now).cloned().collect();
        idle.iter()
            .for_each(|match_id| self.idle_at.set(match_id, None));
        idle
    }

    /// Whether the referee of a match was asked for it again.
    pub(super) fn was_asked_again(&self, match_id: &MatchId) -> bool {
        self.asked_again.contains(match_id)
    }

    /// A referee has taken an assignment in this form, and is told of its next matches likewise.
    pub(super) fn on_taken(&mut self, referee: &RefereeId, form: AssignmentForm) {
        if form > self.form(referee) {
            self.forms.insert(referee.clone(), form);
        }
    }

    pub(super) fn record_poll(&mut self, referee: &RefereeId) {
        if !self.polling.contains(referee) {
            self.polling.insert(referee.clone());
        }
    }

    pub(super) fn is_polling(&self, referee: &RefereeId) -> bool {
        self.polling.contains(referee)
    }

    /// No report of the current attempt is awaited any more.
    pub(super) fn lose(&mut self, match_id: &MatchId) {
        self.due.set(match_id, None);
        self.idle_at.set(match_id, None);
        self.asked_again.remove(match_id);
    }

    pub(super) fn decide(&mut self, match_id: &MatchId) {
        self.lose(match_id);
        self.refusals.remove(match_id);
        self.backoff_until.remove(match_id);
    }

    /// The league has ended.
    pub(super) fn stop(&mut self) {
        self.due.clear();
        self.idle_at.clear();
        self.asked_again.clear();
        self.backoff_until.clear();
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.due
            .first()
            .into_iter()
            .chain(self.idle_at.first())
            .chain(self.backoff_until.values().copied())
            .min()
    }

    /// Tells each referee its matches, all of a round in one message if it understands that, and sets their report deadlines.
    pub(super) fn send(
        &mut self,
        league: &League,
        keyrings: &mut Keyrings,
        now: Timestamp,
        given: Vec<(MatchId, RefereeId)>,
    ) -> Vec<Delivery<Purpose>> {
        let mut shares: BTreeMap<(RefereeId, RoundId), Vec<MatchId>> = BTreeMap::new();
        for (match_id, referee) in given {
            let Some(fixture) = league.matches.get(&match_id) else {
                continue;
            };
            let timing = timing_of(league, &referee);
            let due = league.settings.overdue_after(&timing);
            self.due.set(&match_id, Some(now + due));
            let known = league.referees.get(&referee);
            let is_ours = known.is_some_and(|known| known.meta.has_capability(BRIEFING));
            if !is_ours && self.form(&referee).next().is_some() {
                let idle = league.settings.idle_after(&timing);
                self.idle_at.set(&match_id, Some(now + idle));
            }
            shares
                .entry((referee, fixture.round_id))
                .or_default()
                .push(match_id);
        }
        let mut deliveries = Vec::new();
        for ((referee, _), matches) in shares {
            let at_once = match self.form(&referee) {
                AssignmentForm::Announcement => matches.len(),
                AssignmentForm::Single(_) => 1,
            };
            let form = self.form(&referee);
            let parts = matches.chunks(at_once);
            deliveries.extend(
                parts.filter_map(|part| delivery(league, keyrings, now, (&referee, form), part)),
            );
        }
        deliveries
    }

    /// Tells a referee of matches that it has, each in the form after this one. Nothing if that was the last form.
    pub(super) fn send_again(
        &mut self,
        league: &League,
        keyrings: &mut Keyrings,
        now: Timestamp,
        (referee, form): (&RefereeId, AssignmentForm),
        matches: &[MatchId],
    ) -> Vec<Delivery<Purpose>> {
        let Some(next) = form.next() else {
            return Vec::new();
        };
        self.asked_again.extend(matches.iter().cloned());
        if next.next().is_some() {
            let idle = league.settings.idle_after(&timing_of(league, referee));
            for match_id in matches {
                self.idle_at.set(match_id, Some(now + idle));
            }
        }
        let one = |match_id: &MatchId| {
            delivery(
                league,
                keyrings,
                now,
                (referee, next),
                std::slice::from_ref(match_id),
            )
        };
        matches.iter().filter_map(one).collect()
    }

    /// The message that tells a referee of these matches.
    pub(super) fn payload(
        &self,
        league: &League,
        keyrings: &mut Keyrings,
        now: Timestamp,
        referee: &RefereeId,
        matches: &[MatchId],
    ) -> Option<Payload> {
        payload(
            league,
            keyrings,
            now,
            (referee, self.form(referee)),
            matches,
        )
    }

    pub(super) fn form(&self, referee: &RefereeId) -> AssignmentForm {
        self.forms.get(referee).copied().unwrap_or_default()
    }

    /// A referee has refused an assignment in this form: whether it is to be sent again in another one. Our own referees
    /// know only the first.
    pub(super) fn try_next_form(
        &mut self,
        referee: &RefereeId,
        refused: AssignmentForm,
        is_ours: bool,
    ) -> bool {
        match refused.next().filter(|_| !is_ours) {
            Some(next) => {
                // Of another match it may be known already that this one is not understood either.
                let form = next.max(self.form(referee));
                self.forms.insert(referee.clone(), form);
                true
            }
            None => {
                self.forms.remove(referee);
                false
            }
        }
    }
}

fn delivery(
    league: &League,
    keyrings: &mut Keyrings,
    now: Timestamp,
    (referee, form): (&RefereeId, AssignmentForm),
    matches: &[MatchId],
) -> Option<Delivery<Purpose>> {
    let known = league.referees.get(referee)?;
    let policy = league.settings.timing.retry;
    Some(Delivery {
        to: known.meta.contact_endpoint.clone(),
        dialect: known.dialect,
        payload: payload(league, keyrings, now, (referee, form), matches)?,
        purpose: Purpose::Assignment(matches.to_vec(), Sender::Referee(referee.clone())),
        timeout: league.settings.timing.other,
        tries: Tries::Retry(policy.retries, policy.backoff),
    })
}

/// The message that tells a referee of these matches.
fn payload(
    league: &League,
    keyrings: &mut Keyrings,
    now: Timestamp,
    (referee, form): (&RefereeId, AssignmentForm),
    matches: &[MatchId],
) -> Option<Payload> {
    let first = matches.first()?;
    let round_id = league.matches.get(first)?.round_id;
    let (conversation, body): (ConversationId, Body) = match form {
        AssignmentForm::Announcement => {
            let matches = matches
                .iter()
                .filter_map(|id| briefed(league, keyrings, id))
                .collect();
            let remark = league.remark_to(referee);
            let body = RoundAnnouncement {
                remark,
                ..league.announcement(round_id, matches, None)
            };
            (
                ConversationId::new(format_smolstr!("conv-round-{round_id}-announce")),
                body.into(),
            )
        }
        AssignmentForm::Single(name) => {
            let briefed = briefed(league, keyrings, first)?;
            let briefing = *briefed.briefing?;
            let body = MatchAssignment {
                name,
                league_id: Some(league.settings.league_id.clone()),
                round_id: Some(round_id),
                match_id: briefed.match_id,
                game_type: Some(briefed.game_type),
                player_a_id: briefed.player_a_id,
                player_b_id: briefed.player_b_id,
                player_a_endpoint: Some(briefing.player_a_endpoint),
                player_b_endpoint: Some(briefing.player_b_endpoint),
            };
            (briefed.conversation_id?, body.into())
        }
    };
    let keyring = keyrings.of(league, &Sender::Referee(referee.clone()));
    let token = keyring.map(|keyring| keyring.notice_token().clone());
    let envelope = Envelope::new(Sender::LeagueManager, now, conversation).with_token(token);
    Some(Payload::Message(Message::new(envelope, body)))
}

/// The timeouts that a referee uses: the league's within its own bounds; without a briefing those that it announced, or the
/// defaults.
fn timing_of(league: &League, referee: &RefereeId) -> Timing {
    let own = league.settings.timing;
    let Some(meta) = league.referees.get(referee).map(|known| &known.meta) else {
        return own;
    };
    let announced = meta.timeouts.unwrap_or_default();
    if meta.has_capability(BRIEFING) {
        own.within(&announced)
    } else {
        Timing::default().assigned(&announced)
    }
}

/// A match with the briefing for its referee.
fn briefed(league: &League, keyrings: &mut Keyrings, match_id: &MatchId) -> Option<AnnouncedMatch> {
    let announced = league.announced(match_id)?;
    let briefs = league
        .referees
        .get(announced.referee_id.as_ref()?)?
        .meta
        .has_capability(BRIEFING);
    let briefing = briefing(
        league,
        keyrings,
        match_id,
        announced.match_tokens == Some(true),
        briefs,
    )?;
    Some(AnnouncedMatch {
        briefing: Some(Box::new(briefing)),
        ..announced
    })
}

fn briefing(
    league: &League,
    keyrings: &mut Keyrings,
    match_id: &MatchId,
    speaks_tokens: bool,
    briefs: bool,
) -> Option<Briefing> {
    let fixture = league.matches.get(match_id)?;
    let attempt = fixture.attempt().unwrap_or(Attempt::FIRST);
    let [player_a_tokens, player_b_tokens] = [&fixture.a, &fixture.b].map(|id| {
        let keyring = keyrings
            .of(league, &Sender::Player(id.clone()))
            .filter(|_| speaks_tokens)?;
        Some(keyring.match_tokens(match_id, attempt).into_owned())
    });
    let [player_a_public_key, player_b_public_key] =
        fixture.keys.as_deref().copied().unwrap_or_default();
    let a = league.players.get(&fixture.a)?;
    let b = league.players.get(&fixture.b)?;
    Some(Briefing {
        player_a_endpoint: a.meta.contact_endpoint.clone(),
        player_b_endpoint: b.meta.contact_endpoint.clone(),
        player_a_record: a.record,
        player_b_record: b.record,
        player_a_dialect: Some(a.dialect),
        player_b_dialect: Some(b.dialect),
        player_a_tokens,
        player_b_tokens,
        timeouts: briefs.then(|| league.settings.timing.timeouts()),
        forfeits: (briefs && !fixture.forfeits.is_empty())
            .then(|| fixture.forfeits.iter().cloned().collect()),
        player_a_public_key,
        player_b_public_key,
        conformance: briefs.then_some(league.settings.conformance),
    })
}
