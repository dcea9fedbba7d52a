//! Decodes announcements and completions.

use super::reader::{Read, Reader};
use super::result::{display_name, record};
use super::rules::{self, Wrong};
use super::{DeviationKind, league_id, some_round_id};
use crate::protocol::ids::{ConversationId, GameType, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::*;
use crate::protocol::text::{DisplayName, Endpoint};

pub(super) fn announcement(r: &Reader<'_>) -> Read<RoundAnnouncement> {
    let announcement = RoundAnnouncement {
        league_id: league_id(r)?,
        round_id: announced_round_id(r)?,
        matches: r
            .objects_naming("matches", &["player_A_id", "player_B_id"], announced_match)?
            .into(),
        starts_at: r.optional_timestamp("starts_at")?,
        remark: r.optional("remark", rules::prose)?,
    };
    if r.array("matches")?.is_empty() {
        return Err(r.wrong("matches", Wrong::format("a list of at least one match")));
    }
    Ok(announcement)
}

/// Without a number, the name of the first match tells the round.
fn announced_round_id(r: &Reader<'_>) -> Read<RoundId> {
    let by_match = || {
        let matches = r.value("matches")?.as_array()?;
        let name = matches.first()?.get("match_id")?.as_str()?;
        let (round, _) = name.strip_prefix('R')?.split_once('M')?;
        round.parse().ok().filter(|round| *round > 0)
    };
    let digits = || {
        let text = r.value("round_id")?.as_str()?;
        let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok().filter(|round| *round > 0)
    };
    let otherwise = || digits().or_else(by_match).unwrap_or(1);
    r.replaced("round_id", rules::ordinal, otherwise)
        .map(RoundId)
}

fn announced_match(r: &Reader<'_>) -> Read<AnnouncedMatch> {
    Ok(AnnouncedMatch {
        match_id: r.required("match_id", rules::id(MatchId::new))?,
        game_type: r.required("game_type", rules::id(GameType::new))?,
        player_a_id: r.required("player_A_id", rules::id(PlayerId::new))?,
        player_b_id: r.required("player_B_id", rules::id(PlayerId::new))?,
        referee_id: r.optional("referee_id", rules::id(RefereeId::new))?,
        referee_endpoint: r.required_text("referee_endpoint", Endpoint::parse_cleaned)?,
        conversation_id: r.optional("conversation_id", rules::id(ConversationId::new))?,
        match_tokens: r.optional("match_tokens", rules::boolean)?,
        referee_public_key: r.extra("referee_public_key", rules::public_key)?,
        replay: r.optional("replay", rules::boolean)?,
        briefing: briefing(r)?.map(Box::new),
    })
}

/// An endpoint marks a briefing. A foreign manager may leave out the rest.
fn briefing(r: &Reader<'_>) -> Read<Option<Briefing>> {
    if !r.has("player_A_endpoint") && !r.has("player_B_endpoint") {
        return Ok(None);
    }
    let record_at = |key| match r.optional_object(key)? {
        Some(fields) => record(&fields),
        None => Ok(Record::default()),
    };
    let tokens_at = |key| match r.optional_object(key)? {
        Some(fields) => match_tokens(&fields).map(Some),
        None => Ok(None),
    };
    Ok(Some(Briefing {
        player_a_endpoint: r.required_text("player_A_endpoint", Endpoint::parse_cleaned)?,
        player_b_endpoint: r.required_text("player_B_endpoint", Endpoint::parse_cleaned)?,
        player_a_record: record_at("player_A_record")?,
        player_b_record: record_at("player_B_record")?,
        player_a_dialect: r.optional("player_A_dialect", rules::one_of)?,
        player_b_dialect: r.optional("player_B_dialect", rules::one_of)?,
        player_a_tokens: tokens_at("player_A_tokens")?,
        player_b_tokens: tokens_at("player_B_tokens")?,
        timeouts: r
            .optional_object("timeouts")?
            .map(|given| timeouts(&given))
            .transpose()?,
        forfeits: r.optional_by_player("forfeits", rules::one_of)?,
        player_a_public_key: r.extra("player_A_public_key", rules::public_key)?,
        player_b_public_key: r.extra("player_B_public_key", rules::public_key)?,
        conformance: r.extra("conformance", rules::one_of)?,
    }))
}

pub(super) fn timeouts(r: &Reader<'_>) -> Read<Timeouts> {
    Ok(Timeouts {
        join_ms: r.optional("join_ms", rules::count)?,
        choice_ms: r.optional("choice_ms", rules::count)?,
        retries: r.optional("retries", rules::count)?,
        retry_delay_ms: r.optional("retry_delay_ms", rules::count)?,
        retry_delay_max_ms: r.optional("retry_delay_max_ms", rules::count)?,
    })
}

fn match_tokens(r: &Reader<'_>) -> Read<MatchTokens> {
    Ok(MatchTokens {
        to_player: r.required("to_player", rules::token)?,
        from_player: r.required("from_player", rules::token)?,
    })
}

pub(super) fn completed(r: &Reader<'_>) -> Read<RoundCompleted> {
    let played = r.optional("matches_played", rules::count)?;
    let matches_completed = match played {
        Some(played) if r.is_lenient() && !r.has("matches_completed") => {
            r.note(DeviationKind::Alias, "matches_played");
            played
        }
        _ => r.replaced("matches_completed", rules::count, || 0)?,
    };
    Ok(RoundCompleted {
        league_id: league_id(r)?,
        round_id: some_round_id(r)?,
        matches_completed,
        matches_played: played.unwrap_or(matches_completed),
        next_round_id: r.unneeded("next_round_id", rules::ordinal)?.map(RoundId),
        summary: summary(r, matches_completed)?,
        checkpoint: r.extra("checkpoint", rules::note)?,
    })
}

/// Without a summary only the total is known; the others stay 0.
fn summary(r: &Reader<'_>, total_matches: u32) -> Read<RoundSummary> {
    if r.is_lenient() && !r.has("summary") {
        r.note(DeviationKind::Missing, "summary");
        return Ok(RoundSummary {
            total_matches,
            wins: 0,
            draws: 0,
            technical_losses: 0,
        });
    }
    let summary = r.object("summary")?;
    let count = |key, otherwise| summary.replaced(key, rules::count, || otherwise);
    Ok(RoundSummary {
        total_matches: count("total_matches", total_matches)?,
        wins: count("wins", 0)?,
        draws: count("draws", 0)?,
        technical_losses: count("technical_losses", 0)?,
    })
}

pub(super) fn league_completed(r: &Reader<'_>) -> Read<LeagueCompleted> {
    let champion = r.object("champion")?;
    let champion_id = champion.required("player_id", rules::id(PlayerId::new))?;
    Ok(LeagueCompleted {
        league_id: league_id(r)?,
        total_rounds: r.filled("total_rounds", rules::count, || Some(0))?,
        total_matches: r.filled("total_matches", rules::count, || Some(0))?,
        champion: Champion {
            display_name: display_name(&champion, &champion_id)?,
            player_id: champion_id,
            points: champion.required("points", rules::count)?,
        },
        champions: r
            .extra("champions", rules::words)?
            .map_or_else(Vec::new, |ids| ids.into_iter().map(PlayerId::new).collect()),
        final_standings: r.objects("final_standings", final_standing)?.into(),
        checkpoint: r.extra("checkpoint", rules::note)?,
    })
}

fn final_standing(r: &Reader<'_>) -> Read<FinalStanding> {
    Ok(FinalStanding {
        rank: r.required("rank", rules::ordinal)?,
        player_id: r.required("player_id", rules::id(PlayerId::new))?,
        display_name: r.optional_text("display_name", DisplayName::parse_cleaned)?,
        points: r.required("points", rules::count)?,
    })
}
