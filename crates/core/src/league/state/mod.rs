//! The state of a league: the fold over its events. `apply` is the only place where it changes. The modules below only
//! read it, but for what `apply` has in them of its own.

mod announcement;
mod answers;
mod authorization;
mod capacity;
mod checkpoints;
mod drawing;
mod ladder;
mod members;
mod play_off;
mod proof;
mod referee_choice;
mod result_check;
mod roster;
mod standings;
mod statistics;

pub use checkpoints::{Checkpoints, checkpoint_origin, is_successor, sign_successor};
pub use proof::InvalidProof;
pub use referee_choice::ATTEMPTS_PER_REFEREE_MAX;
pub(super) use result_check::check_result;
pub(super) use roster::new_slot;

use super::cause::{LossCause, Suspicion};
use super::event::{DrawnFrom, LeagueEvent};
use super::fixture::{DecidedBy, Decision, LostAttempt, Match, Round};
use super::format::{Draw, DrawnRound, Ladder, Lot};
use super::invitation::Place;
use super::member::Member;
use super::schedule::Pairings;
use super::settings::LeagueSettings;
use crate::protocol::ids::{MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{
    AgentRole, Culprit, GameStatus, Lifecycle, Phase, PlayerMeta, RefereeMeta,
};
use crate::protocol::{Sender, Timestamp};
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that the events of a league say.
#[derive(Debug, Clone, PartialEq)]
pub struct League {
    /// The settings of the first event; those of the program until then.
    pub settings: LeagueSettings,
    /// False until the first event: nothing has been recorded yet.
    pub created: bool,
    /// From registration to completion.
    pub phase: Phase,
    /// All registered players, including withdrawn and suspended ones.
    pub players: BTreeMap<PlayerId, Member<PlayerMeta>>,
    /// All registered referees, including suspended ones.
    pub referees: BTreeMap<RefereeId, Member<RefereeMeta>>,
    /// Who may register, if the league has join codes.
    pub roster: Vec<Place>,
    /// Whether it has taken players over from an earlier league of its season.
    pub is_of_season: bool,
    /// The rounds drawn so far, in order of play.
    pub rounds: Vec<Round>,
    /// The matches of all rounds drawn so far.
    pub matches: BTreeMap<MatchId, Match>,
    /// Whether matches in which a player has a key need a referee that proves: decided at the start.
    pub proofs_required: bool,
    /// 0 until the first round is announced.
    pub current_round: u32,
    /// How many of `matches` have a result.
    pub matches_decided: u32,
    /// When a match last began or ended, or the league went on after a pause.
    pub(super) progressed_at: Timestamp,
    /// The matches of announced rounds without a result, including voided ones.
    pub undecided: BTreeSet<MatchId>,
    /// Those of them that are not assigned.
    pub waiting: BTreeSet<MatchId>,
    /// Every match by its index, as the standings count it.
    counted: Vec<standings::StandingsEntry>,
    /// Set when the league is completed, and unset when a voided result opens it again.
    pub champion: Option<PlayerId>,
    /// What rounds and lots are drawn from, if they are.
    pub draw: Option<Arc<Draw>>,
    /// The ties that were decided by lot.
    pub lots: Vec<Lot>,
    /// Ratings and pairings, in a ladder.
    ladder: Ladder,
    /// What has been signed, and what is due.
    pub checkpoints: Checkpoints,
}

impl League {
    /// Before the first event.
    pub fn new(settings: LeagueSettings) -> Self {
        Self {
            settings,
            created: false,
            phase: Phase::Registration,
            players: BTreeMap::new(),
            referees: BTreeMap::new(),
            roster: Vec::new(),
            is_of_season: false,
            rounds: Vec::new(),
            matches: BTreeMap::new(),
            proofs_required: false,
            current_round: 0,
            matches_decided: 0,
            progressed_at: Timestamp::EPOCH,
            undecided: BTreeSet::new(),
            waiting: BTreeSet::new(),
            counted: Vec::new(),
            champion: None,
            draw: None,
            lots: Vec::new(),
            ladder: Ladder::default(),
            checkpoints: Checkpoints::default(),
        }
    }

    /// Applies one event. Events were valid when they were recorded, so one that matches nothing is ignored.
    pub fn apply(&mut self, at: Timestamp, event: &LeagueEvent) {
        self.checkpoints.apply(event);
        if let LeagueEvent::MatchAssigned { .. }
        | LeagueEvent::MatchDecided { .. }
        | LeagueEvent::MatchVoided { .. }
        | LeagueEvent::LeagueResumed = event
        {
            self.progressed_at = at;
        }
        match event {
            LeagueEvent::LeagueCreated { settings } => {
                self.settings = settings.clone();
                self.created = true;
                settings
                    .roster
                    .iter()
                    .for_each(|invitation| self.invite(invitation));
            }
            LeagueEvent::PlayerRegistered {
                player_id,
                meta,
                token,
                dialect,
                request,
            } => {
                let player = self.newcomer(Member::new(
                    meta.clone(),
                    *token,
                    at,
                    *dialect,
                    Some(*request),
                ));
                self.take_place(
                    AgentRole::Player,
                    &meta.display_name,
                    Sender::Player(player_id.clone()),
                );
                register(&mut self.players, player_id, player);
                if !self.counted.is_empty() {
                    self.number_matches();
                }
            }
            LeagueEvent::PlayerCarriedOver {
                player_id,
                meta,
                token,
                dialect,
                request,
                ..
            } => {
                let mut player = Member::new(meta.clone(), *token, at, *dialect, *request);
                self.is_of_season = true;
                player.carried_over = true;
                self.take_place(
                    AgentRole::Player,
                    &meta.display_name,
                    Sender::Player(player_id.clone()),
                );
                register(&mut self.players, player_id, player);
            }
            LeagueEvent::RefereeRegistered {
                referee_id,
                meta,
                token,
                dialect,
                request,
            } => {
                let referee = self.newcomer(Member::new(
                    meta.clone(),
                    *token,
                    at,
                    *dialect,
                    Some(*request),
                ));
                self.take_place(
                    AgentRole::Referee,
                    &meta.display_name,
                    Sender::Referee(referee_id.clone()),
                );
                register(&mut self.referees, referee_id, referee);
            }
            LeagueEvent::PlayerRejoined {
                player_id,
                meta,
                dialect,
                request,
            } => {
                if let Some(player) = self.players.get_mut(player_id) {
                    player.rejoin(meta.clone(), *dialect, Some(*request));
                }
            }
            LeagueEvent::RefereeRejoined {
                referee_id,
                meta,
                dialect,
                request,
            } => {
                if let Some(referee) = self.referees.get_mut(referee_id) {
                    referee.rejoin(meta.clone(), *dialect, Some(*request));
                }
            }
            LeagueEvent::TokenShown { agent } => {
                self.change(agent, |member| member.token_shown = true)
            }
            LeagueEvent::LeagueStarted {
                rounds,
                draw,
                proofs_required,
            } => {
                self.start(rounds, draw.as_ref(), *proofs_required);
            }
            LeagueEvent::UnprovenAllowed => self.proofs_required = false,
            LeagueEvent::RoundDrawn { round_id, drawn } => {
                self.note_pairing(at, drawn);
                let only = drawn.byes.first().filter(|_| drawn.byes.len() == 1);
                self.add_round(
                    *round_id,
                    &drawn.pairs,
                    only.cloned(),
                    Some(Arc::clone(drawn)),
                );
                self.number_last_round();
            }
            LeagueEvent::LotDrawn { lot } => self.lots.push(lot.clone()),
            LeagueEvent::RoundAnnounced {
                round_id,
                starts_at,
                plan,
            } => {
                self.announce(*round_id, *starts_at, plan);
            }
            LeagueEvent::MatchAssigned {
                match_id,
                referee_id,
                forfeits,
                ..
            } => {
                if let Some(fixture) = self.matches.get_mut(match_id) {
                    take_back(&mut self.referees, fixture);
                    fixture.planned = Some(referee_id.clone());
                    // There is rarely more than one.
                    fixture.attempts.reserve_exact(1);
                    fixture.attempts.push(referee_id.clone());
                    fixture.forfeits.clone_from(forfeits);
                    fixture.in_play = true;
                    let keys =
                        [&fixture.a, &fixture.b].map(|id| self.players.get(id)?.meta.public_key);
                    fixture.keys = keys.iter().any(Option::is_some).then(|| Box::new(keys));
                    self.waiting.remove(match_id);
                    if let Some(referee) = self.referees.get_mut(referee_id) {
                        referee.in_hand = referee.in_hand.saturating_add(1);
                        referee.given = referee.given.saturating_add(1);
                    }
                }
            }
            LeagueEvent::AttemptLost {
                match_id,
                attempt,
                referee_id,
                culprit,
                reason,
                cause,
            } => {
                if let Some(fixture) = self.matches.get_mut(match_id) {
                    take_back(&mut self.referees, fixture);
                    if fixture.decision.is_none() {
                        self.waiting.insert(match_id.clone());
                    }
                    if let Some(referee) = self.referees.get_mut(referee_id) {
                        referee.unreachable = *cause == LossCause::Unreachable;
                    }
                    let returned = u32::from(*culprit == Culprit::Infrastructure);
                    fixture.returned = fixture.returned.saturating_add(returned);
                    if cause.counts() {
                        let is_void = *cause != LossCause::Overdue;
                        fixture.lost.push(LostAttempt {
                            attempt: *attempt,
                            referee_id: referee_id.clone(),
                            is_void,
                            reason: reason.clone(),
                        });
                        let referee = self.referees.get_mut(referee_id);
                        referee
                            .into_iter()
                            .for_each(|referee| referee.lost = referee.lost.saturating_add(1));
                    }
                }
            }
            LeagueEvent::MatchDecided {
                match_id,
                attempt,
                status,
                result,
                by,
                proof,
            } => {
                if let DecidedBy::Referee(id) = by
                    && let Some(referee) = self.referees.get_mut(id)
                {
                    referee.unreachable = false;
                    referee.suspensions = 0;
                }
                let decision = Decision {
                    status: *status,
                    result: result.clone(),
                    by: by.clone(),
                    attempt: *attempt,
                    proof: *proof,
                    at,
                };
                self.decide(match_id, decision);
            }
            LeagueEvent::RoundCompleted { round_id } => {
                if let Some(round) = self.round_mut(*round_id) {
                    round.completed = true;
                }
            }
            LeagueEvent::LeagueCompleted { champion, .. } => self.complete(champion),
            LeagueEvent::AgentSuspended { agent, cause } => self.change(agent, |member| {
                member.state = Lifecycle::Suspended;
                member.suspensions = member.suspensions.saturating_add(1);
                member.barred |= *cause == Suspicion::HandBacks;
            }),
            LeagueEvent::AgentRecovered { agent } => self.change(agent, |member| {
                member.state = Lifecycle::Active;
                member.streak = 0;
            }),
            LeagueEvent::LeaguePaused => self.phase = Phase::Paused,
            LeagueEvent::LeagueResumed => self.phase = Phase::Running,
            LeagueEvent::PlayerWithdrawn { player_id } => {
                if let Some(player) = self.players.get_mut(player_id) {
                    player.withdrawn = true;
                    player.state = Lifecycle::Shutdown;
                }
            }
            LeagueEvent::PlayerLeft { player_id } => {
                if let Some(player) = self.players.get_mut(player_id) {
                    player.away = true;
                }
            }
            LeagueEvent::TokenRotated { agent, token } => {
                self.change(agent, |member| member.rotate(*token))
            }
            LeagueEvent::TokenRevoked { agent } => {
                self.change(agent, |member| member.revoked = true)
            }
            LeagueEvent::OperatorTokenRotated { token } => {
                self.settings.operator_token = Some(*token)
            }
            LeagueEvent::ManagerKeyAnnounced { .. } | LeagueEvent::CheckpointSigned { .. } => {}
            LeagueEvent::JoinCodeIssued { invitation } => self.invite(invitation),
            LeagueEvent::MatchVoided { match_id } => self.void(match_id),
            LeagueEvent::DialectLearned { agent, dialect } => {
                self.change(agent, |member| member.dialect = *dialect)
            }
            LeagueEvent::DeviationsNoted { agent, deviations } => {
                self.change(agent, |member| {
                    member.note(deviations.iter().map(String::as_str))
                });
            }
        }
    }

    fn start(
        &mut self,
        rounds: &[Pairings],
        drawn_from: Option<&DrawnFrom>,
        proofs_required: bool,
    ) {
        self.phase = Phase::Running;
        self.proofs_required = proofs_required;
        self.draw = drawn_from.and_then(|DrawnFrom { seed, entrants }| {
            let LeagueSettings {
                competition,
                tie_breaks,
                ..
            } = &self.settings;
            Draw::begin(competition, entrants, tie_breaks, *seed)
                .ok()
                .map(Arc::new)
        });
        for (number, pairings) in (1..).zip(rounds) {
            self.add_round(RoundId(number), &pairings.pairs, pairings.bye.clone(), None);
        }
        self.number_matches();
        let players = self.players.values_mut().map(|player| &mut player.state);
        let referees = self.referees.values_mut().map(|referee| &mut referee.state);
        for state in players
            .chain(referees)
            .filter(|state| **state == Lifecycle::Registered)
        {
            *state = Lifecycle::Active;
        }
    }

    /// A ladder has begun when its later members come.
    fn newcomer<M>(&self, member: Member<M>) -> Member<M> {
        let state = if self.phase == Phase::Registration {
            member.state
        } else {
            Lifecycle::Active
        };
        Member { state, ..member }
    }

    fn add_round(
        &mut self,
        round_id: RoundId,
        pairs: &[(PlayerId, PlayerId)],
        bye: Option<PlayerId>,
        drawn: Option<Arc<DrawnRound>>,
    ) {
        let mut matches = Vec::new();
        for (number, (a, b)) in (1..).zip(pairs) {
            let match_id = MatchId::numbered(round_id, number);
            self.matches
                .insert(match_id.clone(), Match::new(round_id, a.clone(), b.clone()));
            matches.push(match_id);
        }
        self.rounds.push(Round {
            round_id,
            matches,
            bye,
            drawn,
            starts_at: None,
            completed: false,
        });
    }

    fn announce(&mut self, round_id: RoundId, starts_at: Timestamp, plan: &[(MatchId, RefereeId)]) {
        self.current_round = round_id.0;
        if let Some(round) = self.round_mut(round_id) {
            round.starts_at = Some(starts_at);
            let matches = round.matches.clone();
            self.undecided.extend(matches.iter().cloned());
            self.waiting.extend(matches);
        }
        for (match_id, referee_id) in plan {
            if let Some(fixture) = self.matches.get_mut(match_id) {
                fixture.planned = Some(referee_id.clone());
            }
        }
    }

    fn decide(&mut self, match_id: &MatchId, decision: Decision) {
        let Some(fixture) = self.matches.get_mut(match_id) else {
            return;
        };
        let technical = decision.status == GameStatus::TechnicalLoss;
        for player in [&fixture.a, &fixture.b] {
            if let Some(member) = self.players.get_mut(player) {
                let lost = technical && decision.result.winner.as_ref() != Some(player);
                if !lost {
                    member.suspensions = 0;
                }
                member.streak = if lost {
                    member.streak.saturating_add(1)
                } else {
                    0
                };
                let record = &mut member.record;
                match &decision.result.winner {
                    Some(winner) if winner == player => record.wins += 1,
                    None if !technical => record.draws += 1,
                    _ => record.losses += 1,
                }
            }
        }
        for (player, deviations) in decision
            .result
            .details
            .deviations
            .iter()
            .flat_map(|noted| noted.iter())
        {
            if let Some(member) = self.players.get_mut(player) {
                member.note(deviations.iter().map(SmolStr::as_str));
            }
        }
        take_back(&mut self.referees, fixture);
        if let Some(counted) = self.counted.get_mut(fixture.number) {
            counted.verdict = Some(decision.counted(fixture));
        }
        fixture.decision = Some(decision);
        self.undecided.remove(match_id);
        self.waiting.remove(match_id);
        self.matches_decided = self.matches_decided.saturating_add(1);
    }

    /// Voids a result, as if the match had not been played.
    fn void(&mut self, match_id: &MatchId) {
        let Some(fixture) = self.matches.get_mut(match_id) else {
            return;
        };
        let Some(decision) = fixture.decision.take() else {
            return;
        };
        fixture.voided_attempts = fixture.attempts.len();
        fixture.lost.clear();
        if let Some(counted) = self.counted.get_mut(fixture.number) {
            counted.verdict = None;
        }
        for player in [&fixture.a, &fixture.b] {
            if let Some(member) = self.players.get_mut(player) {
                member.streak = 0;
                let count = match &decision.result.winner {
                    Some(winner) if winner == player => &mut member.record.wins,
                    None if decision.status != GameStatus::TechnicalLoss => {
                        &mut member.record.draws
                    }
                    _ => &mut member.record.losses,
                };
                *count = count.saturating_sub(1);
            }
        }
        self.undecided.insert(match_id.clone());
        self.waiting.insert(match_id.clone());
        self.matches_decided = self.matches_decided.saturating_sub(1);
        if self.phase == Phase::Completed {
            self.reopen();
        }
    }

    /// A completed league resumes, because a result was voided.
    fn reopen(&mut self) {
        self.phase = Phase::Running;
        self.champion = None;
        let players = self.players.values_mut().filter(|player| !player.withdrawn);
        players.for_each(Member::reopen);
        self.referees.values_mut().for_each(Member::reopen);
    }

    fn complete(&mut self, champion: &PlayerId) {
        self.phase = Phase::Completed;
        self.champion = Some(champion.clone());
        self.undecided.clear();
        self.waiting.clear();
        self.matches
            .values_mut()
            .for_each(|fixture| take_back(&mut self.referees, fixture));
        self.players.values_mut().for_each(Member::shut_down);
        self.referees.values_mut().for_each(Member::shut_down);
    }

    /// The round that is being played, if one is.
    pub fn open_round(&self) -> Option<&Round> {
        self.round(RoundId(self.current_round))
            .filter(|round| !round.completed)
    }

    /// Rounds are numbered from 1, in order of play: a log may have very many.
    fn round(&self, round_id: RoundId) -> Option<&Round> {
        self.rounds
            .get(place_of(round_id)?)
            .filter(|round| round.round_id == round_id)
    }

    fn round_mut(&mut self, round_id: RoundId) -> Option<&mut Round> {
        self.rounds
            .get_mut(place_of(round_id)?)
            .filter(|round| round.round_id == round_id)
    }

    /// The matches of a round, in order.
    pub fn matches_of<'a>(
        &'a self,
        round: &'a Round,
    ) -> impl Iterator<Item = (&'a MatchId, &'a Match)> {
        round
            .matches
            .iter()
            .filter_map(|id| self.matches.get_key_value(id))
    }

    /// The matches that can be played now and have no result yet, in order.
    pub fn awaited(&self) -> impl Iterator<Item = (&MatchId, &Match)> {
        self.undecided
            .iter()
            .filter_map(|id| self.matches.get_key_value(id))
    }
}

fn place_of(round_id: RoundId) -> Option<usize> {
    usize::try_from(round_id.0.checked_sub(1)?).ok()
}

/// Unassigns a match.
fn take_back(referees: &mut BTreeMap<RefereeId, Member<RefereeMeta>>, fixture: &mut Match) {
    if let Some(referee) = fixture
        .referee()
        .filter(|_| fixture.in_play)
        .and_then(|id| referees.get_mut(id))
    {
        referee.in_hand = referee.in_hand.saturating_sub(1);
    }
    fixture.in_play = false;
}

fn register<I: Ord + Clone, M>(members: &mut BTreeMap<I, Member<M>>, id: &I, member: Member<M>) {
    match members.get_mut(id) {
        Some(known) => known.register_again(member),
        None => {
            members.insert(id.clone(), member);
        }
    }
}
