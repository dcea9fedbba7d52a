//! A league or a match as a timeline that a person can follow: what was sent, when, what came back, how long it took,
//! and why it ended as it did. Pure: from what was recorded to text.

use super::error::StoreError;
use super::gist::gist;
use super::history::History;
use super::{Direction, Exchange, Reader, words};
use matchday_core::league::fixture::Match;
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::messages::GameDetails;
use matchday_core::protocol::{MatchId, PlayerId, Timestamp};

/// The timeline of a match, or of the whole league in brief.
pub fn replay(reader: &Reader, match_id: Option<&MatchId>) -> Result<String, StoreError> {
    let history = History::load(reader)?;
    match match_id {
        None => Ok(of_league(&history)),
        Some(match_id) => {
            let text = of_match(&history, match_id, &reader.exchanges_of(match_id)?);
            text.ok_or_else(|| StoreError::NoMatch(match_id.clone()))
        }
    }
}

/// Everything that happened to a league, one line each.
pub fn of_league(history: &History) -> String {
    let Some(first) = history.entries.first() else { return String::new() };
    let mut text = format!("times in seconds after {}\n\n", words::of_time(first.at));
    for entry in &history.entries {
        let seconds = milliseconds(entry.at, first.at) / 1000.0;
        text.push_str(&format!("{seconds:>10.3}  {}\n", words::of_event(&entry.event)));
    }
    text
}

/// Everything about one match; `None` if the league has no such match.
pub fn of_match(history: &History, match_id: &MatchId, exchanges: &[Exchange]) -> Option<String> {
    let league = &history.league;
    let game = league.matches.get(match_id)?;
    let assigned = |event: &LeagueEvent| matches!(event, LeagueEvent::MatchAssigned { .. });
    let begun = history.of_match(match_id).find(|entry| assigned(&entry.event));
    let zero = begun
        .or_else(|| history.of_match(match_id).next())
        .map(|entry| entry.at)
        .or_else(|| exchanges.first().map(|exchange| exchange.at))
        .or_else(|| history.entries.last().map(|entry| entry.at))?;
    let mut lines: Vec<(Timestamp, String)> =
        history.of_match(match_id).map(|entry| (entry.at, words::of_event(&entry.event))).collect();
    let told = exchanges.iter().filter(|exchange| !told_by_sender(exchange, exchanges));
    let told: Vec<(String, &Exchange)> = told.map(|exchange| (route(league, exchange), exchange)).collect();
    let width = told.iter().map(|(route, _)| route.chars().count()).max().unwrap_or(0);
    lines.extend(
        told.iter().map(|(route, exchange)| (exchange.at, format!("{route:width$}  {}", line(exchange)))),
    );
    // Stable: at the same instant, an event stands before the messages that it led to.
    lines.sort_by_key(|(at, _)| *at);

    let name = |id: &PlayerId| {
        league.players.get(id).map_or_else(String::new, |player| format!(" ({})", player.meta.display_name))
    };
    let (a, b) = (&game.a, &game.b);
    let mut text = format!("{match_id}, round {}: {a}{} against {b}{}\n", game.round_id, name(a), name(b));
    text.push_str(&format!("times in milliseconds after {}\n\n", words::of_time(zero)));
    for (at, line) in lines {
        text.push_str(&format!("{:>10.1}  {line}\n", milliseconds(at, zero)));
    }
    text.push('\n');
    text.push_str(&outcome(history, match_id, game));
    Some(text)
}

fn milliseconds(at: Timestamp, zero: Timestamp) -> f64 {
    at.as_micros().saturating_sub(zero.as_micros()) as f64 / 1000.0
}

/// In one store both sides may have recorded a message; the sender's record tells more.
fn told_by_sender(exchange: &Exchange, all: &[Exchange]) -> bool {
    exchange.direction == Direction::In
        && all.iter().any(|other| {
            other.direction == Direction::Out
                && other.message_type == exchange.message_type
                && other.conversation_id == exchange.conversation_id
                && other.request == exchange.request
        })
}

/// `REF01 -> P01`.
fn route(league: &League, exchange: &Exchange) -> String {
    let agent = short(&exchange.agent);
    let peer = holder(league, &exchange.peer).unwrap_or_else(|| exchange.peer.to_string());
    match exchange.direction {
        Direction::Out => format!("{agent} -> {peer}"),
        Direction::In => {
            let sender = gist(&exchange.request).sender;
            format!("{} -> {agent}", sender.as_deref().map_or(peer.as_str(), short))
        }
    }
}

/// `P01` for `player:P01`.
fn short(agent: &str) -> &str {
    match agent {
        "league_manager" => "manager",
        _ => agent.split_once(':').map_or(agent, |(_, id)| id),
    }
}

/// `GAME_INVITATION  4.1 ms  GAME_JOIN_ACK, accept true`.
fn line(exchange: &Exchange) -> String {
    let mut line = format!("{:<22}", exchange.message_type);
    if let Some(done) = exchange.done_at {
        line.push_str(&format!("  {:>8.1} ms", milliseconds(done, exchange.at)));
    }
    line.push_str("  ");
    match exchange.answer.as_deref().map(gist) {
        Some(answer) => {
            let parts = [answer.message_type.unwrap_or_default(), answer.details];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            line.push_str(if parts.is_empty() { &exchange.outcome } else { "" });
            line.push_str(&parts.join(", "));
        }
        None => line.push_str(&exchange.outcome),
    }
    line.trim_end().to_owned()
}

/// Whose endpoint that is.
fn holder(league: &League, endpoint: &str) -> Option<String> {
    let player = league.players.iter().find(|(_, known)| known.meta.contact_endpoint.as_str() == endpoint);
    let referee = league.referees.iter().find(|(_, known)| known.meta.contact_endpoint.as_str() == endpoint);
    player.map(|(id, _)| id.to_string()).or_else(|| referee.map(|(id, _)| id.to_string()))
}

/// Why it ended as it did.
fn outcome(history: &History, match_id: &MatchId, game: &Match) -> String {
    let Some(decision) = &game.decision else {
        return "not decided yet\n".into();
    };
    let mut text = String::new();
    if let Some(reason) = &decision.result.reason {
        text.push_str(&format!("why      {reason}\n"));
    }
    if let GameDetails::Parity(details) = &decision.result.details.game {
        for (player, choice) in details.choices.iter() {
            let answer_ms = decision.result.details.answer_ms.as_ref();
            let took = answer_ms.and_then(|all| all.get(player).copied().flatten());
            let took = took.map_or_else(String::new, |took| format!(" after {took} ms"));
            let choice = choice.map_or("nothing", |parity| parity.as_str());
            text.push_str(&format!("choice   {player} chose {choice}{took}\n"));
        }
        if let Some(number) = details.drawn_number {
            let proof = match history.proof(match_id).as_deref() {
                Some("proven") => {
                    ": it follows from what the referee was bound to before anyone chose".to_owned()
                }
                Some("unproven") => ": the referee has offered no proof".to_owned(),
                Some(wrong) => format!(", {wrong}"),
                None => String::new(),
            };
            text.push_str(&format!("draw     {number}{proof}\n"));
        }
    }
    text
}
