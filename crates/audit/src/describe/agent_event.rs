//! The events of referees and players in one line each, to follow the agent's name. Pure.

use super::league_event::{attempt_suffix, match_result};
use super::on_one_line;
use matchday_core::game::past::{DrawCheck, Outcome, PastGame};
use matchday_core::player::{PlayerEvent, event::Fixture};
use matchday_core::protocol::LeagueId;
use matchday_core::referee::RefereeEvent;
use serde_json::Value;

/// How many matches of an announcement are named.
const NAMED_MAX: usize = 4;

pub(crate) fn referee_event(event: &RefereeEvent) -> String {
    match event {
        RefereeEvent::Applied { .. } => ASKS.into(),
        RefereeEvent::Registered { identity } => {
            taken_on(identity.id.as_str(), identity.league_id.as_ref())
        }
        RefereeEvent::Assigned { assignment } => {
            let [a, b] = assignment.player_ids();
            let match_id = &assignment.match_id;
            let attempt = attempt_suffix(assignment.attempt);
            format!("takes {match_id} on: {a} against {b}{attempt}")
        }
        RefereeEvent::Decided {
            match_id,
            attempt,
            result,
        } => {
            format!(
                "decides {match_id}{}: {}",
                attempt_suffix(*attempt),
                match_result(result)
            )
        }
        RefereeEvent::Reported { match_id, .. } => {
            format!("knows that the manager has recorded the result of {match_id}")
        }
        RefereeEvent::ReportRefused {
            match_id,
            code,
            reason,
            ..
        } => {
            format!(
                "receives the manager's refusal of the result of {match_id}: {} ({code})",
                reason.escaped()
            )
        }
        RefereeEvent::HandedBack {
            match_id, reason, ..
        } => {
            format!(
                "hands {match_id} back, by no fault of its players: {}",
                reason.escaped()
            )
        }
        RefereeEvent::Abandoned { match_id, .. } => {
            format!("gives {match_id} up, which is another's now")
        }
        RefereeEvent::DialectLearned { endpoint, .. } => {
            format!("learns the dialect of the agent at {}", endpoint.escaped())
        }
        RefereeEvent::RoundClosed { round_id } => format!("receives the end of round {round_id}"),
        RefereeEvent::LeagueClosed => OVER.into(),
    }
}

pub(crate) fn player_event(event: &PlayerEvent) -> String {
    match event {
        PlayerEvent::Applied { .. } => ASKS.into(),
        PlayerEvent::Registered { identity } => {
            taken_on(identity.id.as_str(), identity.league_id.as_ref())
        }
        PlayerEvent::Announced { round_id, matches } => {
            format!("receives round {round_id}: {}", announced(matches))
        }
        PlayerEvent::Invited {
            match_id,
            opponent_id,
            attempt,
            ..
        } => {
            format!(
                "joins {match_id} against {opponent_id}{}",
                attempt_suffix(*attempt)
            )
        }
        PlayerEvent::Chosen {
            match_id,
            choice,
            fallback,
            ..
        } => {
            let value = match &choice.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            match fallback {
                None => format!("chooses {value} in {match_id}"),
                Some(why) => {
                    let why = on_one_line(why);
                    format!(
                        "chooses {value} in {match_id} by its fallback, since its own strategy failed: {why}"
                    )
                }
            }
        }
        PlayerEvent::Finished { game, .. } => {
            format!(
                "receives the result of {}: {}{}",
                game.match_id,
                game_outcome(game),
                draw(game.draw)
            )
        }
        PlayerEvent::NotSigned {
            match_id,
            message_type,
            ..
        } => {
            format!(
                "finds that the referee of {match_id} has not signed {message_type} with its key"
            )
        }
        PlayerEvent::CheckpointReceived { .. } => "keeps a checkpoint of the manager".into(),
        PlayerEvent::RoundClosed { round_id } => format!("receives the end of round {round_id}"),
        PlayerEvent::LeagueClosed => OVER.into(),
    }
}

const ASKS: &str = "asks the manager for registration";
const OVER: &str = "receives the end of the league";

fn taken_on(id: &str, league: Option<&LeagueId>) -> String {
    match league {
        Some(league) => format!("is registered as {id} in {league}"),
        None => format!("is registered as {id}"),
    }
}

fn announced(matches: &[Fixture]) -> String {
    let name = |fixture: &Fixture| format!("{} against {}", fixture.match_id, fixture.opponent_id);
    let named: Vec<String> = matches.iter().take(NAMED_MAX).map(name).collect();
    match matches.len().checked_sub(NAMED_MAX) {
        Some(more @ 1..) => format!("{} and {more} more", named.join(", ")),
        _ => named.join(", "),
    }
}

/// `won`, `lost by default`.
pub(crate) fn game_outcome(game: &PastGame) -> String {
    let outcome = match game.outcome {
        Outcome::Win => "won",
        Outcome::Draw => "drawn",
        Outcome::Loss => "lost",
    };
    format!(
        "{outcome}{}",
        if game.technical { " by default" } else { "" }
    )
}

fn draw(check: DrawCheck) -> &'static str {
    match check {
        DrawCheck::NotPromised => "",
        DrawCheck::Proven => "; it has recomputed the number",
        DrawCheck::Unproven => "; the number came without proof",
        DrawCheck::Broken => "; THE DRAW IS NOT WHAT THE REFEREE HAD PROMISED",
    }
}
