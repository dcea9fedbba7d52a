//! Decodes LEAGUE_QUERY and its response.

use super::reader::{Read, Reader};
use super::result::standing;
use super::{league_id, rules};
use crate::protocol::ids::{GameType, PlayerId, RoundId};
use crate::protocol::messages::*;
use crate::protocol::methods::QueryParams;

pub(super) fn query(r: &Reader<'_>) -> Read<LeagueQuery> {
    Ok(LeagueQuery {
        query_type: r.required("query_type", rules::query_type)?,
        query_params: match r.optional_object("query_params")? {
            Some(params) => QueryParams {
                player_id: params.optional("player_id", rules::id(PlayerId::new))?,
                round_id: params.optional("round_id", rules::ordinal)?.map(RoundId),
                game_type: params.optional("game_type", rules::id(GameType::new))?,
                detail: params.optional("detail", rules::boolean)?,
                match_id: None,
            },
            None => QueryParams::default(),
        },
        league_id: league_id(r)?,
    })
}

pub(super) fn response(r: &Reader<'_>) -> Read<LeagueQueryResponse> {
    let success = r.required("success", rules::boolean)?;
    let standings = if r.has("standings") {
        Some(r.objects("standings", standing)?.into())
    } else {
        None
    };
    Ok(LeagueQueryResponse {
        query_type: r.required("query_type", rules::query_type)?,
        success,
        data: if success {
            r.expected("data", rules::any_object)?
        } else {
            r.optional("data", rules::any_object)?
        },
        standings,
        error: if success {
            r.optional_object("error")?
                .map(|error| query_error(&error))
                .transpose()?
        } else {
            Some(query_error(&r.object("error")?)?)
        },
    })
}

fn query_error(r: &Reader<'_>) -> Read<QueryError> {
    let error_code = r.required("error_code", rules::error_code)?;
    Ok(QueryError {
        error_name: r.filled("error_name", rules::prose, || {
            Some(error_code.name().into())
        })?,
        error_description: r.filled("error_description", rules::prose, || {
            Some(error_code.prose().into())
        })?,
        error_code,
    })
}
