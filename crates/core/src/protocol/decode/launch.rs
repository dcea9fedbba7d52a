//! Decodes the operator's messages, LEAGUE_STATUS and MATCH_ASSIGNMENT.

use super::reader::{Read, Reader};
use super::registration::join_code;
use super::{league_id, rules};
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::json::Json;
use crate::protocol::message::START_MATCH;
use crate::protocol::messages::*;
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::untrusted::UntrustedText;

pub(super) fn start(r: &Reader<'_>) -> Read<StartLeague> {
    league_id(r).map(|league_id| StartLeague { league_id })
}

pub(super) fn order(r: &Reader<'_>) -> Read<LeagueOrder> {
    let league_id = league_id(r)?;
    let order = r.required("order", rules::one_of)?;
    let player_id = match order {
        Order::Withdraw => Some(r.required("player_id", rules::id(PlayerId::new))?),
        _ => None,
    };
    let match_id = match order {
        Order::Void => Some(r.required("match_id", rules::id(MatchId::new))?),
        _ => None,
    };
    let agent_id = match order {
        Order::Rotate | Order::Revoke | Order::Invite | Order::RotateCode => {
            Some(r.required("agent_id", rules::word)?)
        }
        _ => None,
    };
    let join_code = match order {
        Order::Invite | Order::RotateCode => join_code(r)?,
        _ => None,
    };
    Ok(LeagueOrder {
        league_id,
        order,
        player_id,
        match_id,
        agent_id,
        join_code,
    })
}

pub(super) fn status(r: &Reader<'_>) -> Read<LeagueStatus> {
    Ok(LeagueStatus {
        league_id: league_id(r)?,
        status: r.required("status", rules::one_of)?,
        current_round: r.required("current_round", rules::count)?,
        total_rounds: r.required("total_rounds", rules::count)?,
        ladder: r.optional("ladder", rules::boolean)?.unwrap_or(false),
        round_title: r
            .optional("round_title", rules::word)?
            .map(UntrustedText::from),
        starts_at: r.optional_timestamp("starts_at")?,
        matches_completed: r.required("matches_completed", rules::count)?,
        results_unproven: r.optional("results_unproven", rules::count)?.unwrap_or(0),
        matches_awaiting_prover: r
            .optional("matches_awaiting_prover", rules::count)?
            .unwrap_or(0),
        roster: if r.has("roster") {
            Some(r.objects("roster", place)?)
        } else {
            None
        },
    })
}

fn place(r: &Reader<'_>) -> Read<RosterPlace> {
    Ok(RosterPlace {
        role: r.required("role", rules::one_of)?,
        display_name: r.optional_text("display_name", DisplayName::parse_cleaned)?,
        state: r.required("state", rules::one_of)?,
        agent_id: r.optional("agent_id", rules::word)?,
    })
}

pub(super) fn assignment(r: &Reader<'_>) -> Read<MatchAssignment> {
    Ok(MatchAssignment {
        name: match r.value("message_type").and_then(Json::as_str) {
            Some(START_MATCH) => AssignmentName::StartMatch,
            _ => AssignmentName::MatchAssignment,
        },
        league_id: r.optional("league_id", rules::id(LeagueId::new))?,
        round_id: r.optional("round_id", rules::ordinal)?.map(RoundId),
        match_id: r.required("match_id", rules::id(MatchId::new))?,
        game_type: r.optional("game_type", rules::id(GameType::new))?,
        player_a_id: player(r, PLAYER_A_ID)?,
        player_b_id: player(r, PLAYER_B_ID)?,
        player_a_endpoint: endpoint(r, PLAYER_A_ENDPOINT)?,
        player_b_endpoint: endpoint(r, PLAYER_B_ENDPOINT)?,
    })
}

fn player(r: &Reader<'_>, keys: [&'static str; 3]) -> Read<PlayerId> {
    r.required(first_of(r, keys), rules::id(PlayerId::new))
}

fn endpoint(r: &Reader<'_>, keys: [&'static str; 3]) -> Read<Option<Endpoint>> {
    r.optional_text(first_of(r, keys), Endpoint::parse_cleaned)
}

/// No source defines this message, so all names of the field that managers use are accepted.
fn first_of(r: &Reader<'_>, keys: [&'static str; 3]) -> &'static str {
    let [ours, ..] = keys;
    keys.into_iter().find(|key| r.has(key)).unwrap_or(ours)
}
