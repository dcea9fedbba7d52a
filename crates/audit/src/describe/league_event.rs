//! The events of a league in one line each, for people. Pure.

use matchday_core::league::{DecidedBy, LeagueEvent, ResultProof, Suspicion};
use matchday_core::protocol::messages::{GameStatus, MatchResult};
use matchday_core::protocol::{Attempt, MatchId, PlayerId, RefereeId};

pub(crate) fn league_event(event: &LeagueEvent) -> String {
    match event {
        LeagueEvent::LeagueCreated { settings } => {
            format!(
                "league {} of {} created",
                settings.league_id, settings.game_type
            )
        }
        LeagueEvent::PlayerRegistered {
            player_id, meta, ..
        } => {
            let how = renewal_suffix(event);
            format!(
                "{player_id} registered{how}: {}, {}",
                meta.display_name.escaped(),
                meta.contact_endpoint.escaped()
            )
        }
        LeagueEvent::RefereeRegistered {
            referee_id, meta, ..
        } => {
            let how = renewal_suffix(event);
            format!(
                "{referee_id} registered{how}: {}, {}",
                meta.display_name.escaped(),
                meta.contact_endpoint.escaped()
            )
        }
        LeagueEvent::PlayerRejoined { player_id, .. } => {
            format!("{player_id} came back{}", recognition_suffix(event))
        }
        LeagueEvent::RefereeRejoined { referee_id, .. } => {
            format!("{referee_id} came back{}", recognition_suffix(event))
        }
        LeagueEvent::TokenShown { agent } => format!("{} has its token", agent.id()),
        LeagueEvent::LeagueStarted {
            rounds,
            draw: Some(draw),
            ..
        } if rounds.is_empty() => {
            format!(
                "league started: {} players, pairings follow from results, seed {}",
                draw.entrants.len(),
                draw.seed
            )
        }
        LeagueEvent::LeagueStarted { rounds, draw, .. } => {
            let matches: usize = rounds.iter().map(|round| round.pairs.len()).sum();
            let seed = draw
                .as_ref()
                .map_or_else(String::new, |draw| format!(", seed {}", draw.seed));
            format!(
                "league started: {} rounds, {matches} matches{seed}",
                rounds.len()
            )
        }
        LeagueEvent::RoundDrawn { round_id, drawn } => {
            let byes = match drawn.byes.as_slice() {
                [] => String::new(),
                byes => {
                    format!(
                        ", bye: {}",
                        byes.iter()
                            .map(PlayerId::as_str)
                            .collect::<Vec<_>>()
                            .join(", ")
                    )
                }
            };
            let matches = match drawn.pairs.len() {
                1 => "1 match".to_owned(),
                more => format!("{more} matches"),
            };
            format!("round {round_id} drawn: {}, {matches}{byes}", drawn.title)
        }
        LeagueEvent::LotDrawn { lot } => {
            format!(
                "still level: {} advances by lot against {}",
                lot.winner, lot.loser
            )
        }
        LeagueEvent::RoundAnnounced { round_id, plan, .. } => {
            format!("round {round_id} announced: {} matches", plan.len())
        }
        LeagueEvent::MatchAssigned {
            match_id,
            attempt,
            referee_id,
            forfeits,
        } => {
            let lost = forfeits
                .iter()
                .map(|(player, cause)| format!("; {player} {}", cause.words()));
            let lost: String = lost.collect();
            format!(
                "{match_id} given to {referee_id}{}{lost}",
                attempt_suffix(*attempt)
            )
        }
        LeagueEvent::AttemptLost {
            match_id,
            referee_id,
            attempt,
            culprit,
            reason,
            ..
        } => {
            let whose = culprit.name();
            let reason = reason.escaped();
            format!(
                "{match_id} taken from {referee_id}{}: {reason} ({whose})",
                attempt_suffix(*attempt)
            )
        }
        LeagueEvent::TokenRotated { agent, .. } => {
            format!("{} given a new token by the operator", agent.id())
        }
        LeagueEvent::TokenRevoked { agent } => {
            format!("token of {} revoked by the operator", agent.id())
        }
        LeagueEvent::ManagerKeyAnnounced { public_key, .. } => {
            format!("the manager signs checkpoints with {public_key}")
        }
        LeagueEvent::CheckpointSigned { .. } => "checkpoint signed".into(),
        LeagueEvent::OperatorTokenRotated { .. } => "the operator has a new token".into(),
        LeagueEvent::JoinCodeIssued { invitation } => {
            let role = invitation.role.name();
            let whom = invitation.name.as_ref().map_or_else(
                || format!("any {role}"),
                |name| format!("{role} {}", name.escaped()),
            );
            format!("join code for {whom} made by the operator")
        }
        LeagueEvent::MatchDecided {
            match_id,
            status,
            result,
            by,
            proof,
            ..
        } => {
            let unproven = if *proof == ResultProof::Unproven {
                ", unproven"
            } else {
                ""
            };
            format!("{}{unproven}", decision_line(match_id, *status, result, by))
        }
        LeagueEvent::UnprovenAllowed => {
            "the operator allows every referee for every match, even if results are unproven".into()
        }
        LeagueEvent::RoundCompleted { round_id } => format!("round {round_id} completed"),
        LeagueEvent::LeagueCompleted {
            champion,
            by_order: false,
        } => {
            format!("league completed: {champion} is champion")
        }
        LeagueEvent::LeagueCompleted {
            champion,
            by_order: true,
        } => {
            format!("league ended early by the operator: {champion} is champion")
        }
        LeagueEvent::LeaguePaused => "league paused by the operator".into(),
        LeagueEvent::LeagueResumed => "league resumed by the operator".into(),
        LeagueEvent::PlayerWithdrawn { player_id } => {
            format!("{player_id} withdrawn by the operator")
        }
        LeagueEvent::PlayerLeft { player_id } => format!("{player_id} leaves the ladder"),
        LeagueEvent::PlayerCarriedOver {
            player_id,
            meta,
            from,
            ..
        } => {
            format!(
                "{player_id} ({}) taken over from {from}",
                meta.display_name.escaped()
            )
        }
        LeagueEvent::MatchVoided { match_id } => {
            format!("result of {match_id} voided by the operator: it is played again")
        }
        LeagueEvent::AgentSuspended { agent, cause } => {
            format!("{} suspended: {}", agent.id(), suspicion_text(*cause))
        }
        LeagueEvent::AgentRecovered { agent } => format!("{} answers again", agent.id()),
        LeagueEvent::DialectLearned { agent, dialect } => {
            format!(
                "{} uses another dialect than expected: {dialect:?}",
                agent.id()
            )
        }
        LeagueEvent::DeviationsNoted { agent, deviations } => {
            format!("deviation by {}: {}", agent.id(), deviations.join(", "))
        }
    }
}

fn renewal_suffix(event: &LeagueEvent) -> String {
    event.renewal().map_or_else(String::new, |_| {
        format!(" again{}", recognition_suffix(event))
    })
}

/// How a returning agent was recognised, if that is known.
fn recognition_suffix(event: &LeagueEvent) -> String {
    event.renewal().map_or_else(String::new, |renewal| {
        format!(", known by {}", renewal.by.name())
    })
}

fn decision_line(
    match_id: &MatchId,
    status: GameStatus,
    result: &MatchResult,
    by: &DecidedBy,
) -> String {
    let by = match by {
        DecidedBy::Referee(referee) => RefereeId::as_str(referee),
        DecidedBy::Manager => "the manager",
    };
    format!("{match_id} decided by {by}: {}", score_line(status, result))
}

/// `, attempt 2`; of a first attempt there is nothing to say.
pub(crate) fn attempt_suffix(attempt: Attempt) -> String {
    if attempt == Attempt::FIRST {
        String::new()
    } else {
        format!(", attempt {attempt}")
    }
}

/// `P01 wins (P01 3, P02 0)`, by what the result says of itself.
pub(crate) fn match_result(result: &MatchResult) -> String {
    score_line(status_of(result), result)
}

/// How a match ended; a referee that does not say so has left it to be seen from the winner.
pub(crate) fn status_of(result: &MatchResult) -> GameStatus {
    let seen = if result.winner.is_some() {
        GameStatus::Win
    } else {
        GameStatus::Draw
    };
    result.status.unwrap_or(seen)
}

fn score_line(status: GameStatus, result: &MatchResult) -> String {
    let outcome = match (status, &result.winner) {
        (GameStatus::Win, Some(winner)) => format!("{winner} wins"),
        (GameStatus::TechnicalLoss, Some(winner)) => format!("{winner} wins by default"),
        (GameStatus::TechnicalLoss, None) => "both lose".into(),
        _ => "draw".into(),
    };
    let points = |(player, points): (&PlayerId, &u32)| format!("{player} {points}");
    let score: Vec<String> = result.score.iter().map(points).collect();
    format!("{outcome} ({})", score.join(", "))
}

fn suspicion_text(cause: Suspicion) -> &'static str {
    match cause {
        Suspicion::NeverAnswered => "it had not answered before the league began",
        Suspicion::TechnicalLosses => "too many technical losses in a row",
        Suspicion::Unreachable => "a match could not be assigned to it",
        Suspicion::RefusedMatch => "it refused a match, or did not understand the assignment",
        Suspicion::Overdue => "it did not report a match in time",
        Suspicion::NoToken => "it reported without its token, and has never shown one",
        Suspicion::HandBacks => "too many of its attempts were aborted after they had begun",
    }
}
