//! Metrics of a league.

use super::Manager;
use crate::league::event::{LeagueEvent, Renewal};
use crate::league::member::Member;
use crate::league::state::League;
use crate::metrics::{Gauges, LeagueGauges, Metrics, Milestone};
use crate::protocol::Timestamp;
use crate::protocol::messages::Phase;

impl Metrics for Manager {
    fn milestone(event: &LeagueEvent) -> Option<Milestone<'_>> {
        event.milestone()
    }

    fn gauges(&self) -> Gauges {
        self.league.gauges()
    }
}

impl LeagueEvent {
    fn milestone(&self) -> Option<Milestone<'_>> {
        Some(match self {
            Self::LeagueCreated { settings } => Milestone::LeagueCreated(&settings.league_id),
            Self::RoundAnnounced {
                round_id,
                starts_at,
                ..
            } => Milestone::RoundAnnounced {
                round_id: *round_id,
                starts_at: *starts_at,
            },
            Self::RoundCompleted { .. } => Milestone::RoundCompleted,
            Self::MatchAssigned {
                match_id, attempt, ..
            } => Milestone::MatchAssigned {
                league_id: None,
                match_id,
                attempt: *attempt,
            },
            Self::AttemptLost {
                match_id, attempt, ..
            } => Milestone::AttemptLost {
                match_id,
                attempt: *attempt,
            },
            Self::MatchDecided {
                match_id,
                attempt,
                status,
                result,
                by,
                ..
            } => Milestone::MatchDecided {
                match_id,
                attempt: *attempt,
                status: *status,
                winner: result.winner.as_ref(),
                by: Some(by.id()),
            },
            Self::MatchVoided { .. } => Milestone::MatchVoided,
            Self::AgentSuspended { agent, cause } => Milestone::AgentSuspended {
                agent,
                cause: cause.name(),
            },
            Self::AgentRecovered { agent } => Milestone::AgentRecovered { agent },
            other => match (other.renewal(), other) {
                (Some(Renewal { id, by, client }), _) => Milestone::RegistrationRenewed {
                    id,
                    by: by.name(),
                    client,
                },
                (
                    None,
                    Self::PlayerRegistered {
                        player_id,
                        meta,
                        request,
                        ..
                    },
                ) => Milestone::Registered {
                    id: player_id.as_str(),
                    name: meta.display_name.raw(),
                    client: request.client,
                },
                (
                    None,
                    Self::RefereeRegistered {
                        referee_id,
                        meta,
                        request,
                        ..
                    },
                ) => Milestone::Registered {
                    id: referee_id.as_str(),
                    name: meta.display_name.raw(),
                    client: request.client,
                },
                _ => return None,
            },
        })
    }
}

impl League {
    /// Since when no match has begun or ended, though some are due.
    fn waiting_since(&self) -> Option<Timestamp> {
        if self.phase != Phase::Running || self.undecided.is_empty() {
            return None;
        }
        let starts_at = self.open_round().and_then(|round| round.starts_at);
        Some(starts_at.map_or(self.progressed_at, |at| at.max(self.progressed_at)))
    }

    fn gauges(&self) -> Gauges {
        let lacks = (!self.created).then(|| "the league has not been stored yet".to_owned());
        let players = self.players.values().filter(|player| !player.withdrawn);
        Gauges {
            lacks,
            matches_live: self.undecided.len().saturating_sub(self.waiting.len()),
            matches_waiting: self.waiting.len(),
            league: Some(LeagueGauges {
                league_id: self.settings.league_id.clone(),
                phase: self.phase,
                players: players.clone().count(),
                referees: self.referees.len(),
                players_suspended: players.filter(|player| player.is_suspended()).count(),
                referees_suspended: self
                    .referees
                    .values()
                    .filter(|referee| referee.is_suspended())
                    .count(),
                without_referee: self.phase == Phase::Running
                    && self.referees.values().all(Member::is_suspended),
                waiting_since: self.waiting_since(),
                round: self.current_round,
                rounds: self.rounds.len(),
                matches: self.matches.len(),
                matches_decided: self.matches_decided,
            }),
        }
    }
}
