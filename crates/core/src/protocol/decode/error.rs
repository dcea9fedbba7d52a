//! Decodes the two error messages. Unknown codes are kept.

use super::reader::{Read, Reader};
use super::rules;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::json::Json;
use crate::protocol::messages::*;
use crate::protocol::untrusted::UntrustedText;

pub(super) fn league_error(r: &Reader<'_>) -> Read<LeagueError> {
    let error_code = r.required("error_code", rules::error_code)?;
    Ok(LeagueError {
        error_name: r.optional("error_name", rules::prose)?,
        error_description: description(r, &error_code)?,
        error_code,
        error_message: r.optional("error_message", rules::prose)?,
        original_message_type: r
            .expected("original_message_type", rules::word)?
            .map(UntrustedText::from),
        retryable: r.optional("retryable", rules::boolean)?,
        context: r.optional("context", rules::any_object)?,
    })
}

pub(super) fn game_error(r: &Reader<'_>) -> Read<GameError> {
    let error_code = r.required("error_code", rules::error_code)?;
    let player_id = r.optional("player_id", rules::id(PlayerId::new))?;
    Ok(GameError {
        league_id: r.optional("league_id", rules::id(LeagueId::new))?,
        round_id: r.optional("round_id", rules::ordinal)?.map(RoundId),
        match_id: r.expected("match_id", rules::id(MatchId::new))?,
        affected_player: r
            .expected("affected_player", rules::id(PlayerId::new))?
            .or_else(|| player_id.clone()),
        player_id,
        error_name: r.optional("error_name", rules::prose)?,
        error_description: description(r, &error_code)?,
        error_code,
        error_message: r.optional("error_message", rules::prose)?,
        action_required: r.expected("action_required", rules::word)?,
        game_state: r.optional("game_state", rules::word)?,
        retryable: r.optional("retryable", rules::boolean)?,
        retry_info: r
            .optional_object("retry_info")?
            .map(|info| retry_info(&info))
            .transpose()?,
        retry_count: r.optional("retry_count", rules::count)?,
        max_retries: r.optional("max_retries", rules::count)?,
        time_remaining: r.optional("time_remaining", rules::seconds)?,
        context: r.optional("context", rules::any_object)?,
        consequence: r.expected("consequence", rules::prose)?,
    })
}

fn description(r: &Reader<'_>, code: &ErrorCode) -> Read<UntrustedText> {
    // What came of the error's own words: a name of ours would be a guess.
    let own = || {
        let text = |key: &str| r.value(key).and_then(Json::as_str);
        let own = text("error_name").or_else(|| text("error_message"));
        Some(own.unwrap_or(code.code()).into())
    };
    r.filled("error_description", rules::prose, own)
}

fn retry_info(r: &Reader<'_>) -> Read<RetryInfo> {
    Ok(RetryInfo {
        retry_count: r.optional("retry_count", rules::count)?,
        max_retries: r.optional("max_retries", rules::count)?,
        next_retry_at: r.optional_timestamp("next_retry_at")?,
        time_remaining: r.optional("time_remaining", rules::seconds)?,
    })
}
