//! Decodes reports, their acknowledgement, and standings.

use super::reader::{Read, Reader};
use super::{
    DeviationKind, game, league_id, match_id, round_id, rules, some_round_id, unused_league_id,
};
use crate::protocol::ids::{GameType, MatchId, PlayerId};
use crate::protocol::messages::*;
use crate::protocol::text::DisplayName;
use serde_json::Value;
use std::sync::Arc;

pub(super) fn report(r: &Reader<'_>) -> Read<MatchResultReport> {
    let game_type = r.required("game_type", rules::id(GameType::new))?;
    Ok(MatchResultReport {
        league_id: league_id(r)?,
        round_id: round_id(r)?,
        match_id: r.required("match_id", rules::id(MatchId::new))?,
        result: Arc::new(match_result(&r.object("result")?, &game_type)?),
        game_type,
    })
}

fn match_result(r: &Reader<'_>, game_type: &GameType) -> Read<MatchResult> {
    let status = r.optional("status", rules::one_of)?;
    Ok(MatchResult {
        winner: game::winner(r, "winner")?,
        score: r.by_player("score", rules::count)?,
        details: result_details(r, game_type, status)?,
        status,
        reason: r.optional("reason", rules::prose)?,
    })
}

fn result_details(
    r: &Reader<'_>,
    game_type: &GameType,
    status: Option<GameStatus>,
) -> Read<ResultDetails> {
    if r.is_lenient() && !r.has("details") {
        r.note(DeviationKind::Missing, "details");
        return Ok(ResultDetails::of(game::no_details(game_type)));
    }
    let details = r.object("details")?;
    Ok(ResultDetails {
        game: game::details(
            &details,
            game_type,
            status == Some(GameStatus::TechnicalLoss),
            &["turn_log", "fairness", "answer_ms", "deviations", "blame"],
        )?,
        turn_log: if details.has("turn_log") {
            Some(details.objects("turn_log", turn)?)
        } else {
            None
        },
        fairness: game::fairness(&details)?,
        answer_ms: details.optional_by_player("answer_ms", rules::nullable(rules::count))?,
        deviations: details
            .optional_by_player("deviations", rules::words)?
            .map(Box::new),
        blame: details
            .optional_by_player("blame", rules::blame)?
            .map(Box::new),
    })
}

/// The moves of one turn. Whether they are legal is up to the game.
fn turn(r: &Reader<'_>) -> Read<ByPlayer<Value>> {
    Ok(r.fields_but(&[])
        .into_iter()
        .map(|(id, made)| (PlayerId::new(id), made))
        .collect())
}

pub(super) fn ack(r: &Reader<'_>) -> Read<MatchResultAck> {
    Ok(MatchResultAck {
        match_id: match_id(r)?,
        status: r.required("status", rules::one_of)?,
        duplicate: r.optional("duplicate", rules::boolean)?,
    })
}

pub(super) fn standings_update(r: &Reader<'_>) -> Read<LeagueStandingsUpdate> {
    Ok(LeagueStandingsUpdate {
        league_id: unused_league_id(r)?,
        round_id: some_round_id(r)?,
        standings: r
            .objects_naming("standings", &["player_id"], standing)?
            .into(),
    })
}

pub(super) fn standing(r: &Reader<'_>) -> Read<StandingRow> {
    let player_id = r.required("player_id", rules::id(PlayerId::new))?;
    let Record {
        wins,
        losses,
        draws,
    } = record(r)?;
    Ok(StandingRow {
        rank: r.filled("rank", rules::ordinal, || r.position())?,
        display_name: display_name(r, &player_id)?,
        player_id,
        played: r.filled("played", rules::count, || {
            wins.checked_add(draws)?.checked_add(losses)
        })?,
        wins,
        draws,
        losses,
        points: r.required("points", rules::count)?,
        shared_rank: r.extra("shared_rank", rules::ordinal)?,
        technical_losses: r.optional("technical_losses", rules::count)?,
        rating: r.optional("rating", rules::count)?,
        rating_deviation: r.optional("rating_deviation", rules::count)?,
        rank_reason: r.optional("rank_reason", rules::prose)?,
    })
}

/// Without a display name, the id is used.
pub(super) fn display_name(r: &Reader<'_>, player_id: &PlayerId) -> Read<DisplayName> {
    let id = DisplayName::parse(player_id.as_str()).ok();
    match id {
        Some(id) if r.is_lenient() && !r.has("display_name") => {
            r.note(DeviationKind::Missing, "display_name");
            Ok(id)
        }
        _ => r.required_text("display_name", DisplayName::parse_cleaned),
    }
}

pub(super) fn record(r: &Reader<'_>) -> Read<Record> {
    Ok(Record {
        wins: r.filled("wins", rules::count, || Some(0))?,
        losses: r.filled("losses", rules::count, || Some(0))?,
        draws: r.filled("draws", rules::count, || Some(0))?,
    })
}
