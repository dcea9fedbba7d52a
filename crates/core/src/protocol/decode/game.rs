//! Decodes GAME_INVITATION, GAME_JOIN_ACK and GAME_OVER.

use super::reader::{Read, Reader};
use super::{
    DeviationKind, game_type, match_id, player_id, rules, some_round_id, unneeded_round_id,
    unused_league_id,
};
use crate::protocol::draw::Reveal;
use crate::protocol::envelope::id_fits;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId};
use crate::protocol::json::{Fields, Json};
use crate::protocol::messages::*;
use crate::protocol::untrusted::UntrustedText;
use serde_json::Map;

pub(super) fn invitation(r: &Reader<'_>) -> Read<GameInvitation> {
    Ok(GameInvitation {
        league_id: unused_league_id(r)?,
        round_id: some_round_id(r)?,
        match_id: r.required("match_id", rules::id(MatchId::new))?,
        game_type: game_type(r)?,
        role_in_match: role(r)?,
        opponent_id: r.replaced("opponent_id", rules::id(PlayerId::new), PlayerId::unknown)?,
        player_id: r.optional("player_id", rules::id(PlayerId::new))?,
        draw_commitment: r.optional("draw_commitment", rules::commitment)?,
        commitment_signature: r.extra("commitment_signature", rules::signature)?,
        draw_scheme: r.extra("draw_scheme", rules::word)?,
    })
}

fn role(r: &Reader<'_>) -> Read<Role> {
    let key = "role_in_match";
    let lower_case = match r.value(key).and_then(Json::as_str) {
        Some("player_a") => Some(Role::PlayerA),
        Some("player_b") => Some(Role::PlayerB),
        _ => None,
    };
    match lower_case {
        Some(role) if r.is_lenient() => {
            r.note(DeviationKind::Alias, key);
            Ok(role)
        }
        // A player does not need to know its seat to answer.
        _ => r.replaced(key, rules::one_of, || Role::PlayerA),
    }
}

pub(super) fn join_ack(r: &Reader<'_>) -> Read<GameJoinAck> {
    Ok(GameJoinAck {
        match_id: match_id(r)?,
        player_id: player_id(r)?,
        arrival_timestamp: if r.is_lenient() && !r.has("arrival_timestamp") {
            r.note(DeviationKind::Missing, "arrival_timestamp");
            r.now()
        } else {
            r.timestamp("arrival_timestamp")?
        },
        accept: accept(r)?,
        nonce_commitment: r.extra("nonce_commitment", rules::nonce_commitment)?,
    })
}

fn accept(r: &Reader<'_>) -> Read<bool> {
    let accepted = r.value("status").and_then(Json::as_str) == Some("ACCEPTED");
    if accepted && r.is_lenient() && !r.has("accept") {
        r.note(DeviationKind::Alias, "status");
        return Ok(true);
    }
    r.required("accept", rules::boolean)
}

pub(super) fn over(r: &Reader<'_>) -> Read<GameOver> {
    let game_type = game_type(r)?;
    let reason = r.optional("reason", rules::prose)?;
    Ok(GameOver {
        league_id: r.unneeded("league_id", rules::id(LeagueId::new))?,
        round_id: unneeded_round_id(r)?,
        match_id: match_id(r)?,
        game_result: match r.optional_object("game_result")? {
            Some(result) => game_result(&result, &game_type, reason.as_ref())?,
            // Some referees put its fields into the message itself.
            None if r.is_lenient() => {
                r.note(DeviationKind::Missing, "game_result");
                game_result(r, &game_type, reason.as_ref())?
            }
            None => return Err(r.missing("game_result", rules::object)),
        },
        game_type,
        reason,
        signature: r.extra("signature", rules::signature)?,
    })
}

fn game_result(
    r: &Reader<'_>,
    game_type: &GameType,
    outer_reason: Option<&UntrustedText>,
) -> Read<GameResult> {
    let known = ["status", "winner_player_id", "reason", "fairness"];
    let key = ["winner_player_id", "winner_id", "winner"]
        .into_iter()
        .find(|key| r.is_lenient() && r.has(key))
        .unwrap_or("winner_player_id");
    let winner_player_id = winner(r, key)?;
    let is_loss = r.value("status").and_then(Json::as_str) == Some("LOSS");
    let by_winner = || match &winner_player_id {
        Some(_) => GameStatus::Win,
        None if is_loss => GameStatus::TechnicalLoss,
        None => GameStatus::Draw,
    };
    let status = r.replaced("status", rules::one_of, by_winner)?;
    let may_lack_choices = status == GameStatus::TechnicalLoss || r.is_lenient();
    Ok(GameResult {
        status,
        details: told_details(r, game_type, may_lack_choices, &known)?,
        winner_player_id,
        // One source puts the reason outside the result.
        reason: r
            .expected("reason", rules::prose)?
            .or_else(|| outer_reason.cloned()),
        fairness: fairness(r)?,
    })
}

/// Null if nobody won; some agents write "DRAW" instead.
pub(super) fn winner(r: &Reader<'_>, key: &str) -> Read<Option<PlayerId>> {
    if r.is_lenient() && r.value(key).and_then(Json::as_str) == Some("DRAW") {
        r.note(DeviationKind::Alias, key);
        return Ok(None);
    }
    r.optional(key, rules::id(PlayerId::new))
}

/// The details as a player is told them: what it cannot use, it ignores.
fn told_details(
    r: &Reader<'_>,
    game_type: &GameType,
    may_lack_choices: bool,
    known: &[&str],
) -> Read<GameDetails> {
    if !r.is_lenient() || !game_type.is_even_odd() {
        return details(r, game_type, may_lack_choices, known);
    }
    let choices = r.unneeded("choices", rules::object)?;
    let choices = choices
        .into_iter()
        .flat_map(Fields::entries)
        .filter_map(|(player, choice)| {
            let choice = rules::nullable(rules::one_of)(choice).ok()?;
            id_fits(player).then(|| (PlayerId::new(player), choice))
        });
    Ok(GameDetails::Parity(ParityDetails {
        // Some leagues draw from more numbers than ten.
        drawn_number: r.unneeded("drawn_number", rules::small_number)?,
        number_parity: r.unneeded("number_parity", rules::one_of)?,
        choices: choices.collect(),
    }))
}

/// The game's details: defined by the protocol for even/odd, arbitrary for any other game. A match that was forfeited before
/// anyone was asked has no choices.
pub(super) fn details(
    r: &Reader<'_>,
    game_type: &GameType,
    may_lack_choices: bool,
    known: &[&str],
) -> Read<GameDetails> {
    if !game_type.is_even_odd() {
        return Ok(GameDetails::Other(r.fields_but(known)));
    }
    Ok(GameDetails::Parity(ParityDetails {
        drawn_number: r.optional("drawn_number", rules::drawn_number)?,
        number_parity: r.optional("number_parity", rules::one_of)?,
        choices: if may_lack_choices && !r.has("choices") {
            ByPlayer::from_iter([])
        } else {
            r.by_player("choices", rules::nullable(rules::one_of))?
        },
    }))
}

pub(super) fn no_details(game_type: &GameType) -> GameDetails {
    if !game_type.is_even_odd() {
        return GameDetails::Other(Map::new());
    }
    GameDetails::Parity(ParityDetails {
        drawn_number: None,
        number_parity: None,
        choices: ByPlayer::from_iter([]),
    })
}

pub(super) fn fairness(r: &Reader<'_>) -> Read<Option<Reveal>> {
    let Some(reveal) = r.optional_object("fairness")? else {
        return Ok(None);
    };
    Ok(Some(Reveal {
        scheme: reveal.required("scheme", rules::word)?,
        secret: reveal.required("secret", rules::word)?,
        commitment: reveal.required("commitment", rules::commitment)?,
        nonces: reveal.by_player("nonces", rules::revealed_nonce)?,
        nonce_commitments: reveal
            .optional_by_player("nonce_commitments", rules::nonce_commitment)?
            .map(Box::new),
        signatures: reveal
            .optional_by_player("signatures", rules::signature)?
            .map(Box::new),
        proof: reveal
            .optional_by_player("proof", rules::one_of)?
            .map(Box::new),
    }))
}
