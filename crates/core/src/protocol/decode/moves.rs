//! Decodes calls for a move and their answers.

use super::reader::{Read, Reader};
use super::result::record;
use super::{DeviationKind, game_type, match_id, player_id, rules, unneeded_round_id};
use crate::protocol::ids::{GameType, LeagueId, PlayerId};
use crate::protocol::messages::*;
use crate::protocol::time::Timestamp;
use serde_json::Map;
use std::time::Duration;

pub(super) fn parity_call(r: &Reader<'_>) -> Read<ChooseParityCall> {
    Ok(ChooseParityCall {
        league_id: r.unneeded("league_id", rules::id(LeagueId::new))?,
        round_id: unneeded_round_id(r)?,
        match_id: match_id(r)?,
        player_id: player_id(r)?,
        game_type: game_type(r)?,
        context: context(r)?,
        deadline: deadline(r)?,
        turn: r.extra("turn", rules::ordinal)?,
        opponent_nonce_commitment: r.extra("opponent_nonce_commitment", rules::nonce_commitment)?,
    })
}

/// How long a referee waits that does not say.
const CHOICE_TIMEOUT: Duration = Duration::from_secs(30);

fn deadline(r: &Reader<'_>) -> Read<Timestamp> {
    if r.is_lenient() && !r.has("deadline") {
        r.note(DeviationKind::Missing, "deadline");
        return Ok(r.now() + CHOICE_TIMEOUT);
    }
    match r.timestamp("deadline") {
        Err(_) if r.is_lenient() => {
            r.note(DeviationKind::TimestampForm, "deadline");
            Ok(r.now() + CHOICE_TIMEOUT)
        }
        read => read,
    }
}

/// What a player may know for its choice, and can do without.
fn context(r: &Reader<'_>) -> Read<Option<ChoiceContext>> {
    if r.unneeded("context", rules::object)?.is_none() {
        return Ok(None);
    }
    let context = r.object("context")?;
    let standings = match context.unneeded("your_standings", rules::object)? {
        Some(_) => Some(context.object("your_standings")?),
        None => None,
    };
    Ok(Some(ChoiceContext {
        opponent_id: context.unneeded("opponent_id", rules::id(PlayerId::new))?,
        round_id: unneeded_round_id(&context)?,
        your_standings: match standings.map(|standings| record(&standings)) {
            Some(Err(_)) if r.is_lenient() => None,
            read => read.transpose()?,
        },
    }))
}

pub(super) fn parity_response(r: &Reader<'_>) -> Read<ChooseParityResponse> {
    Ok(ChooseParityResponse {
        match_id: match_id(r)?,
        player_id: player_id(r)?,
        parity_choice: parity_choice(r)?,
        // Only for referees that read no other name.
        choice: None,
        nonce: r.optional("nonce", rules::nonce)?,
        signature: r.extra("signature", rules::signature)?,
    })
}

/// Lenient about the field's name, never about its value.
fn parity_choice(r: &Reader<'_>) -> Read<Parity> {
    if r.is_lenient() && r.raw("parity_choice").is_none() && r.raw("choice").is_some() {
        r.note(DeviationKind::Alias, "choice");
        return r.present("choice", rules::parity_choice);
    }
    r.present("parity_choice", rules::parity_choice)
}

pub(super) fn move_call(r: &Reader<'_>) -> Read<GameMoveCall> {
    let request = r.object("move_request")?;
    Ok(GameMoveCall {
        league_id: r.unneeded("league_id", rules::id(LeagueId::new))?,
        round_id: unneeded_round_id(r)?,
        match_id: match_id(r)?,
        player_id: player_id(r)?,
        game_type: r.required("game_type", rules::id(GameType::new))?,
        move_request: MoveRequest {
            move_type: request.required("move_type", rules::word)?,
            valid_options: request.values("valid_options", rules::anything)?,
            context: request.filled("context", rules::any_object, || Some(Map::new()))?,
        },
        deadline: deadline(r)?,
        turn: r.extra("turn", rules::ordinal)?,
        opponent_nonce_commitment: r.extra("opponent_nonce_commitment", rules::nonce_commitment)?,
    })
}

pub(super) fn move_response(r: &Reader<'_>) -> Read<GameMoveResponse> {
    let data = r.object("move_data")?;
    let move_type = data.required("move_type", rules::word)?;
    if move_type == "choose_parity" {
        data.present("choice", rules::parity_choice)?;
    }
    Ok(GameMoveResponse {
        match_id: match_id(r)?,
        player_id: player_id(r)?,
        game_type: r.required("game_type", rules::id(GameType::new))?,
        move_data: MoveData {
            move_type,
            choice: data.required("choice", rules::anything)?,
        },
        nonce: r.optional("nonce", rules::nonce)?,
        signature: r.extra("signature", rules::signature)?,
    })
}
