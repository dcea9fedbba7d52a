//! Reads questions to the manager, and its answers.

use super::league_id;
use super::reader::{Read, Reader};
use super::result::standing;
use super::rules;
use crate::protocol::envelope::Sender;
use crate::protocol::ids::{GameType, PlayerId, RoundId};
use crate::protocol::messages::*;

pub(super) fn query(r: &Reader<'_>, sender: &Sender) -> Read<LeagueQuery> {
    let query_type = r.required("query_type", rules::one_of)?;
    let params = r.optional_object("query_params")?;
    let (round_id, game_type) = match &params {
        Some(params) => (
            params.optional("round_id", rules::ordinal)?.map(RoundId),
            params.optional("game_type", rules::id(GameType::new))?,
        ),
        None => (None, None),
    };
    Ok(LeagueQuery {
        league_id: league_id(r)?,
        query_type,
        query_params: QueryParams {
            player_id: subject(r, params.as_ref(), query_type, sender)?,
            round_id,
            game_type,
        },
    })
}

/// Whom the question is about. Two kinds of question need one; the lenient reading takes a player to mean itself.
fn subject(
    r: &Reader<'_>,
    params: Option<&Reader<'_>>,
    query_type: QueryType,
    sender: &Sender,
) -> Read<Option<PlayerId>> {
    let rule = || rules::id(PlayerId::new);
    let about_one = matches!(query_type, QueryType::GetNextMatch | QueryType::GetPlayerStats);
    let itself = || match sender {
        Sender::Player(id) => Some(id.clone()),
        _ => None,
    };
    match params {
        Some(params) if about_one => params.filled("player_id", rule(), itself).map(Some),
        Some(params) => params.optional("player_id", rule()),
        None if about_one => r.filled("query_params.player_id", rule(), itself).map(Some),
        None => Ok(None),
    }
}

pub(super) fn response(r: &Reader<'_>) -> Read<LeagueQueryResponse> {
    let success = r.required("success", rules::boolean)?;
    let standings = if r.has("standings") { Some(r.objects("standings", standing)?.into()) } else { None };
    Ok(LeagueQueryResponse {
        query_type: r.required("query_type", rules::one_of)?,
        success,
        data: if success {
            r.expected("data", rules::any_object)?
        } else {
            r.optional("data", rules::any_object)?
        },
        standings,
        error: if success {
            r.optional_object("error")?.map(|error| query_error(&error)).transpose()?
        } else {
            Some(query_error(&r.object("error")?)?)
        },
    })
}

fn query_error(r: &Reader<'_>) -> Read<QueryError> {
    let error_code = r.required("error_code", rules::error_code)?;
    Ok(QueryError {
        error_name: r.filled("error_name", rules::prose, || Some(error_code.name().into()))?,
        error_description: r.filled("error_description", rules::prose, || Some(error_code.prose().into()))?,
        error_code,
    })
}
