//! Decodes registrations and their responses.

use super::DeviationKind;
use super::reader::{Read, Reader};
use super::rules::{self, Rule, Wrong};
use crate::protocol::envelope::PROTOCOL;
use crate::protocol::ids::{GameType, LeagueId, PlayerId, RefereeId};
use crate::protocol::json::Json;
use crate::protocol::messages::*;
use crate::protocol::text::{DisplayName, Endpoint, Version};
use crate::protocol::token::Token;
use smol_str::SmolStr;

pub(super) fn referee_request(r: &Reader<'_>) -> Read<RefereeRegisterRequest> {
    let meta = r.object("referee_meta")?;
    Ok(RefereeRegisterRequest {
        referee_meta: RefereeMeta {
            display_name: display_name(r, &meta)?,
            version: version(&meta)?,
            game_types: game_types(&meta)?,
            contact_endpoint: meta.required_text("contact_endpoint", Endpoint::parse_cleaned)?,
            max_concurrent_matches: meta.required("max_concurrent_matches", rules::capacity)?,
            protocol_version: protocol_version(&meta)?,
            capabilities: capabilities(&meta)?,
            timeouts: meta
                .optional_object("timeouts")?
                .map(|given| super::round::timeouts(&given))
                .transpose()?,
            public_key: meta.extra("public_key", rules::public_key)?,
        },
        join_code: join_code(r)?,
    })
}

pub(super) fn player_request(r: &Reader<'_>) -> Read<LeagueRegisterRequest> {
    let meta = r.object("player_meta")?;
    Ok(LeagueRegisterRequest {
        player_meta: PlayerMeta {
            display_name: display_name(r, &meta)?,
            version: version(&meta)?,
            game_types: game_types(&meta)?,
            contact_endpoint: meta.required_text("contact_endpoint", Endpoint::parse_cleaned)?,
            protocol_version: protocol_version(&meta)?,
            public_key: meta.extra("public_key", rules::public_key)?,
            strategy: strategy(&meta)?,
            capabilities: capabilities(&meta)?,
            max_matches_per_hour: meta.extra("max_matches_per_hour", rules::ordinal)?,
        },
        join_code: join_code(r)?,
    })
}

/// Without a name, the agent is called by the id that it gives itself.
fn display_name(r: &Reader<'_>, meta: &Reader<'_>) -> Read<DisplayName> {
    let own_word = || {
        let (_, id) = r.value("sender")?.as_str()?.split_once(':')?;
        DisplayName::parse(id).ok()
    };
    match own_word() {
        Some(name) if meta.is_lenient() && !meta.has("display_name") => {
            meta.note(DeviationKind::Missing, "display_name");
            Ok(name)
        }
        _ => meta.required_text("display_name", DisplayName::parse_cleaned),
    }
}

/// A foreign agent may use the name otherwise, which lenient decoding ignores.
fn strategy(meta: &Reader<'_>) -> Read<Option<DisplayName>> {
    match meta.optional_text("strategy", DisplayName::parse_cleaned) {
        Err(_) if meta.is_lenient() => Ok(None),
        read => read,
    }
}

fn capabilities(meta: &Reader<'_>) -> Read<Vec<SmolStr>> {
    Ok(meta
        .extra("capabilities", rules::words)?
        .unwrap_or_default())
}

fn version(meta: &Reader<'_>) -> Read<Version> {
    meta.filled("version", rules::version, || Version::parse("0.0.0").ok())
}

/// Some agents give the protocol's name, which means its first version.
fn protocol_version(meta: &Reader<'_>) -> Read<Option<SmolStr>> {
    let version = meta.optional("protocol_version", rules::word)?;
    if meta.is_lenient() && version.as_deref() == Some(PROTOCOL) {
        meta.note(DeviationKind::Alias, "protocol_version");
        return Ok(Some(SmolStr::new_static("2.0.0")));
    }
    Ok(version)
}

/// An empty code counts as missing.
pub(super) fn join_code(r: &Reader<'_>) -> Read<Option<Token>> {
    Ok(r.optional("join_code", rules::token)?
        .filter(|code| !code.reveal().is_empty()))
}

fn game_types(meta: &Reader<'_>) -> Read<Vec<GameType>> {
    let games = meta.values("game_types", rules::id(GameType::new))?;
    if games.is_empty() {
        return Err(meta.wrong("game_types", Wrong::format("a list of at least one game")));
    }
    Ok(games)
}

pub(super) fn referee_response(r: &Reader<'_>) -> Read<RefereeRegisterResponse> {
    let answer = answer(r)?;
    Ok(RefereeRegisterResponse {
        referee_id: given(r, &answer, "referee_id", rules::id(RefereeId::new))?,
        answer,
    })
}

pub(super) fn player_response(r: &Reader<'_>) -> Read<LeagueRegisterResponse> {
    let answer = answer(r)?;
    Ok(LeagueRegisterResponse {
        player_id: given(r, &answer, "player_id", rules::id(PlayerId::new))?,
        answer,
    })
}

/// The new agent's id: required if accepted, null if not.
fn given<'a, T>(
    r: &Reader<'a>,
    answer: &RegisterAnswer,
    key: &str,
    rule: impl Rule<'a, T>,
) -> Read<Option<T>> {
    match answer.status {
        RegisterStatus::Accepted => r.required(key, rule).map(Some),
        RegisterStatus::Rejected => {
            null_in_strict(r, key, "null, since the registration was rejected")?;
            r.optional(key, rule)
        }
    }
}

fn answer(r: &Reader<'_>) -> Read<RegisterAnswer> {
    let status = status(r)?;
    let reason = match status {
        RegisterStatus::Rejected => r.expected("reason", rules::prose)?,
        RegisterStatus::Accepted => {
            null_in_strict(r, "reason", "null, since the registration was accepted")?;
            r.optional("reason", rules::prose)?
        }
    };
    Ok(RegisterAnswer {
        status,
        reason,
        league_id: r.optional("league_id", rules::id(LeagueId::new))?,
        match_tokens: r.optional("match_tokens", rules::boolean)?,
        manager_public_key: r.extra("manager_public_key", rules::public_key)?,
        error_code: r.optional("error_code", rules::error_code)?,
        error_name: r.optional("error_name", rules::prose)?,
        context: r.optional("context", rules::any_object)?,
    })
}

/// Some managers write REGISTERED.
fn status(r: &Reader<'_>) -> Read<RegisterStatus> {
    let registered = r.value("status").and_then(Json::as_str) == Some("REGISTERED");
    if registered && r.is_lenient() {
        r.note(DeviationKind::Alias, "status");
        return Ok(RegisterStatus::Accepted);
    }
    r.required("status", rules::one_of)
}

fn null_in_strict(r: &Reader<'_>, key: &str, expected: &'static str) -> Read<()> {
    if r.has(key) && !r.is_lenient() {
        return Err(r.wrong(key, Wrong::format(expected)));
    }
    Ok(())
}
