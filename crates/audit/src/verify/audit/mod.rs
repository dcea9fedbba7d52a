//! Each kind of event of a manager against the league that it was applied to: could the manager have written this here? Pure.

mod matches;

use crate::league_log::is_member;
use crate::verify::agents::Recorded;
use crate::verify::drawing::Drawing;
use matchday_core::league::member::Member;
use matchday_core::league::{
    LOST_MAX, LOST_PERCENT_MAX, League, LeagueEvent, LeagueSettings, RegistrationRecord, RenewedBy,
    Suspicion,
};
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{LeagueId, MatchId, PlayerId, RefereeId, RoundId, Sender, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type Finding = Result<(), String>;

/// Follows a league, and objects.
#[derive(Debug)]
pub(super) struct Auditor {
    league: League,
    /// The draws of the results that stand, and whether each is proven.
    pub(super) draws: BTreeMap<MatchId, bool>,
    /// The matches of many moves whose results stand, and whether playing them over has led to the same end.
    pub(super) replays: BTreeMap<MatchId, bool>,
    /// How many attempts at a match had been made when its result was voided.
    voided_after: BTreeMap<MatchId, usize>,
    /// The rounds that follow from results.
    drawing: Drawing,
    /// Every result that was ever recorded, voided ones included.
    pub(super) recorded: Vec<Recorded>,
}

impl Default for Auditor {
    fn default() -> Self {
        Self {
            league: League::new(LeagueSettings::default()),
            draws: BTreeMap::new(),
            replays: BTreeMap::new(),
            voided_after: BTreeMap::new(),
            drawing: Drawing::default(),
            recorded: Vec::new(),
        }
    }
}

/// Whether an agent may be given a token once more, although the league has started: it shows a join code, or asks as it
/// did before, soon after, and is not known to have the token that it was given then.
fn may_come_again<M>(known: &Member<M>, at: Timestamp, request: &RegistrationRecord) -> bool {
    let by_code = request.renewed_by == Some(RenewedBy::JoinCode);
    by_code || known.may_ask_again(at) && known.was_asked_by(&request.proof)
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Finding {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Auditor {
    pub(super) fn league(&self) -> &League {
        &self.league
    }

    /// Takes in an event if it fits, and otherwise says why it does not.
    pub(super) fn take(&mut self, seq: u64, at: Timestamp, event: &LeagueEvent) -> Finding {
        let first = matches!(event, LeagueEvent::LeagueCreated { .. });
        ensure(first != self.league.created, || {
            if first {
                "the league exists already".into()
            } else {
                "the league has not been created yet".into()
            }
        })?;
        self.check(at, event)?;
        if let LeagueEvent::MatchDecided {
            match_id,
            attempt,
            result,
            by,
            ..
        } = event
        {
            let match_id = match_id.clone();
            let by = by.clone();
            let result = Arc::clone(result);
            self.recorded.push(Recorded {
                seq,
                at,
                match_id,
                attempt: *attempt,
                by,
                result,
            });
        }
        self.league.apply(at, event);
        Ok(())
    }

    fn check(&mut self, at: Timestamp, event: &LeagueEvent) -> Finding {
        match event {
            LeagueEvent::LeagueCreated { .. } => Ok(()),
            LeagueEvent::PlayerRegistered {
                player_id, request, ..
            } => {
                let known = self.league.players.get(player_id);
                let again = known.is_some_and(|known| may_come_again(known, at, request));
                let count = self
                    .league
                    .players
                    .values()
                    .filter(|player| player.is_in())
                    .count();
                let max = self.league.settings.players_max;
                self.check_registration(known.is_some(), again, count, max)
            }
            LeagueEvent::RefereeRegistered {
                referee_id,
                request,
                ..
            } => {
                let known = self.league.referees.get(referee_id);
                let again = known.is_some_and(|known| may_come_again(known, at, request));
                let count = self
                    .league
                    .referees
                    .values()
                    .filter(|referee| referee.is_in())
                    .count();
                let max = self.league.settings.referees_max;
                self.check_registration(known.is_some(), again, count, max)
            }
            LeagueEvent::PlayerRejoined { player_id, .. } => {
                self.member(&Sender::Player(player_id.clone()))
            }
            LeagueEvent::RefereeRejoined { referee_id, .. } => {
                self.member(&Sender::Referee(referee_id.clone()))
            }
            LeagueEvent::LeagueStarted {
                rounds,
                draw,
                proofs_required,
            } => {
                ensure(self.league.phase == Phase::Registration, || {
                    "the league has started already".into()
                })?;
                ensure(!self.league.referees.is_empty(), || {
                    "no referee has registered".into()
                })?;
                self.check_room(rounds.len())?;
                self.check_proof_rule(*proofs_required)?;
                self.drawing
                    .check_start(&self.league, rounds, draw.as_ref())
            }
            LeagueEvent::RoundDrawn { round_id, drawn } => {
                self.running()?;
                self.check_room(1)?;
                self.drawing.check_round(&self.league, at, *round_id, drawn)
            }
            LeagueEvent::LotDrawn { lot } => self.drawing.check_lot(&self.league, lot),
            LeagueEvent::RoundAnnounced { round_id, plan, .. } => {
                self.check_announcement(at, *round_id, plan)
            }
            LeagueEvent::MatchAssigned {
                match_id,
                attempt,
                referee_id,
                forfeits,
            } => {
                self.check_assignment(match_id, *attempt, referee_id)?;
                self.check_forfeits(match_id, forfeits)
            }
            LeagueEvent::AttemptLost {
                match_id,
                attempt,
                referee_id,
                ..
            } => self.check_lost_attempt(match_id, *attempt, referee_id),
            LeagueEvent::MatchDecided {
                match_id,
                attempt,
                status,
                result,
                by,
                proof,
            } => {
                let found = self.check_decision(match_id, *attempt, *status, result, by)?;
                self.check_recorded_proof(match_id, *proof, found)
            }
            LeagueEvent::UnprovenAllowed => ensure(self.league.proofs_required, || {
                "the league required no proofs".into()
            }),
            LeagueEvent::RoundCompleted { round_id } => self.check_round_end(*round_id),
            LeagueEvent::LeagueCompleted { champion, by_order } => {
                self.check_end(at, champion, *by_order)
            }
            LeagueEvent::LeaguePaused => self.running(),
            LeagueEvent::LeagueResumed => ensure(self.league.phase == Phase::Paused, || {
                "the league is not paused".into()
            }),
            LeagueEvent::PlayerWithdrawn { player_id } => self.check_withdrawal(player_id),
            LeagueEvent::PlayerLeft { player_id } => {
                ensure(self.league.is_ladder(), || {
                    "players leave by themselves only in a ladder".into()
                })?;
                self.member(&Sender::Player(player_id.clone()))
            }
            LeagueEvent::PlayerCarriedOver {
                player_id, from, ..
            } => self.check_carried_over(player_id, from),
            LeagueEvent::MatchVoided { match_id } => self.check_voiding(match_id),
            LeagueEvent::AgentSuspended { agent, cause } => self.check_suspension(agent, *cause),
            LeagueEvent::TokenRevoked { agent } => {
                self.member(agent)?;
                ensure(!is_revoked(&self.league, agent), || {
                    format!("{} has no token", agent.id())
                })
            }
            // Keys and checkpoints are held against the chain, which is not seen from here.
            LeagueEvent::OperatorTokenRotated { .. }
            | LeagueEvent::JoinCodeIssued { .. }
            | LeagueEvent::ManagerKeyAnnounced { .. }
            | LeagueEvent::CheckpointSigned { .. } => Ok(()),
            LeagueEvent::AgentRecovered { agent }
            | LeagueEvent::TokenRotated { agent, .. }
            | LeagueEvent::TokenShown { agent }
            | LeagueEvent::DialectLearned { agent, .. }
            | LeagueEvent::DeviationsNoted { agent, .. } => self.member(agent),
        }
    }

    fn member(&self, agent: &Sender) -> Finding {
        ensure(is_member(&self.league, agent), || {
            format!("{} has not registered", agent.id())
        })
    }

    fn check_registration(&self, known: bool, again: bool, count: usize, max: u32) -> Finding {
        ensure(again || self.league.is_open(), || {
            "registration was closed when the league started".into()
        })?;
        ensure(known || count < max as usize, || {
            format!("the league takes no more than {max}")
        })
    }

    fn check_room(&self, more: usize) -> Finding {
        let most = self.league.settings.competition.rounds_max();
        ensure(self.league.rounds.len() + more <= most, || {
            format!("a league has {most} rounds at most")
        })
    }

    fn running(&self) -> Finding {
        ensure(self.league.phase == Phase::Running, || {
            "the league is not running".into()
        })
    }

    /// Whether proofs are required follows from the setting and from who had registered.
    fn check_proof_rule(&self, required: bool) -> Finding {
        ensure(required == self.league.can_require_proofs(), || {
            if required {
                "proofs are required, but no referee proves its results or the setting says otherwise".into()
            } else {
                "no proofs are required, although a referee proves and the setting asks for them"
                    .into()
            }
        })
    }

    fn check_announcement(
        &self,
        at: Timestamp,
        round_id: RoundId,
        plan: &[(MatchId, RefereeId)],
    ) -> Finding {
        self.running()?;
        ensure(self.league.open_round().is_none(), || {
            format!("round {} is not over", self.league.current_round)
        })?;
        self.nothing_awaited()?;
        self.drawing.check_complete(&self.league, at)?;
        let next = self.league.current_round.saturating_add(1);
        ensure(round_id.0 == next, || format!("round {next} comes next"))?;
        let place = usize::try_from(next)
            .ok()
            .and_then(|next| next.checked_sub(1));
        let round = place.and_then(|place| self.league.rounds.get(place));
        let round = round
            .filter(|round| round.round_id == round_id)
            .ok_or_else(|| format!("the schedule has no round {round_id}"))?;
        let mut planned = BTreeSet::new();
        for (match_id, referee) in plan {
            ensure(round.matches.contains(match_id), || {
                format!("{match_id} is not of round {round_id}")
            })?;
            ensure(planned.insert(match_id), || {
                format!("{match_id} is planned twice")
            })?;
            self.member(&Sender::Referee(referee.clone()))?;
        }
        Ok(())
    }

    fn nothing_awaited(&self) -> Finding {
        match self.league.undecided.first() {
            Some(match_id) => Err(format!("{match_id} has no result")),
            None => Ok(()),
        }
    }

    fn check_round_end(&self, round_id: RoundId) -> Finding {
        self.running()?;
        let open = self
            .league
            .open_round()
            .filter(|round| round.round_id == round_id);
        let round = open.ok_or_else(|| format!("round {round_id} is not being played"))?;
        self.nothing_awaited()?;
        let mut matches = self.league.matches_of(round);
        match matches.find(|(_, game)| game.decision.is_none()) {
            Some((match_id, _)) => Err(format!("{match_id} has no result")),
            None => Ok(()),
        }
    }

    /// The operator may end a league at any time, so that it need not have been played out.
    fn check_end(&self, at: Timestamp, champion: &PlayerId, by_order: bool) -> Finding {
        ensure(
            matches!(self.league.phase, Phase::Running | Phase::Paused),
            || "the league is not running".into(),
        )?;
        let unplayed = self
            .league
            .matches
            .values()
            .filter(|game| game.decision.is_none())
            .count();
        ensure(by_order || unplayed == 0, || {
            format!("the league ends by itself with {unplayed} matches undecided")
        })?;
        ensure(by_order || !self.league.is_ladder(), || {
            "a ladder ends by order alone".into()
        })?;
        if !by_order {
            self.drawing.check_complete(&self.league, at)?;
        }
        let first = self
            .league
            .standings()
            .into_iter()
            .next()
            .map(|place| place.player);
        ensure(first.as_ref() == Some(champion), || {
            let first = first.as_ref().map_or("nobody", PlayerId::as_str);
            format!("the champion is {champion}, but the results put {first} first")
        })
    }

    fn check_withdrawal(&self, player: &PlayerId) -> Finding {
        ensure(self.league.phase != Phase::Completed, || {
            "the league is over".into()
        })?;
        let known = self
            .league
            .players
            .get(player)
            .ok_or_else(|| format!("{player} has not registered"))?;
        ensure(!known.withdrawn, || {
            format!("{player} was withdrawn before")
        })
    }

    /// Players are taken over before anyone registers.
    fn check_carried_over(&self, player: &PlayerId, from: &LeagueId) -> Finding {
        ensure(self.league.phase == Phase::Registration, || {
            "the league has started".into()
        })?;
        ensure(*from != self.league.settings.league_id, || {
            format!("{player} is taken over from this very league")
        })?;
        ensure(!self.league.players.contains_key(player), || {
            format!("{player} is in the league already")
        })
    }

    fn check_suspension(&self, agent: &Sender, cause: Suspicion) -> Finding {
        self.member(agent)?;
        match (cause, agent) {
            (Suspicion::NeverAnswered, _) => ensure(self.league.current_round == 0, || {
                "only before the first round is anyone suspended for never having answered".into()
            }),
            (Suspicion::TechnicalLosses, Sender::Player(id)) => {
                let limit = self.league.settings.suspend_after.max(1);
                let streak = self
                    .league
                    .players
                    .get(id)
                    .map_or(0, |player| player.streak);
                ensure(streak >= limit, || {
                    format!(
                        "{id} has {streak} technical losses in a row, but only {limit} suspend a player"
                    )
                })
            }
            (Suspicion::Unreachable, _)
            | (
                Suspicion::Overdue | Suspicion::RefusedMatch | Suspicion::NoToken,
                Sender::Referee(_),
            ) => Ok(()),
            (Suspicion::HandBacks, Sender::Referee(id)) => {
                let (lost, given) = self
                    .league
                    .referees
                    .get(id)
                    .map_or((0, 0), |it| (it.lost, it.given));
                let is_over =
                    lost > LOST_MAX && u64::from(lost) * 100 > u64::from(given) * LOST_PERCENT_MAX;
                ensure(is_over, || {
                    format!("{id} has lost {lost} of {given} attempts, which is not too many")
                })
            }
            _ => Err(format!("{} cannot be suspended for that", agent.id())),
        }
    }
}

fn is_revoked(league: &League, agent: &Sender) -> bool {
    match agent {
        Sender::Player(id) => league.players.get(id).is_some_and(|player| player.revoked),
        Sender::Referee(id) => league
            .referees
            .get(id)
            .is_some_and(|referee| referee.revoked),
        Sender::LeagueManager | Sender::Launcher => false,
    }
}
