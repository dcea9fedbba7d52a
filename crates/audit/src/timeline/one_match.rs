//! The timeline of one match, from all logs at hand. Pure, but for reading the exchanges.

use super::exchanges::{self, EndpointNames};
use super::{gaps, milliseconds, outcome, transcripts};
use crate::agent_log::{AgentEvent, AgentLog};
use crate::describe;
use crate::log_set::LogSet;
use matchday_core::league::LeagueEvent;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::Role;
use matchday_core::protocol::untrusted::{Untrusted, escape_line};
use matchday_core::protocol::{MatchId, PlayerId, RoundId, Timestamp};
use matchday_core::referee::RefereeEvent;
use matchday_store::error::StoreError;
use matchday_store::exchange::Exchange;

type Lines = Vec<(Timestamp, String)>;

/// The timeline of one match; `None` if no log mentions it.
pub(super) fn tell(logs: &LogSet, match_id: &MatchId) -> Result<Option<String>, StoreError> {
    let exchanges = logs.exchanges_of(match_id)?;
    let Some(title) = title(logs, match_id) else {
        return Ok(None);
    };
    let mut lines = match_events(logs, match_id, &exchanges);
    lines.extend(exchanges::lines(&EndpointNames::of(logs), &exchanges));
    // Stable: at the same instant, an event stands before the messages that it led to.
    lines.sort_by_key(|(at, _)| *at);

    let mut text = title;
    if let Some(zero) = begin(logs, match_id).or_else(|| lines.first().map(|(at, _)| *at)) {
        text.push_str(&format!(
            "times in milliseconds after {}\n\n",
            describe::time(zero)
        ));
        for (at, line) in lines {
            text.push_str(&format!(
                "{:>10.1}  {}\n",
                milliseconds(at, zero),
                escape_line(&line)
            ));
        }
    }
    text.push('\n');
    text.push_str(&outcome::of(logs, match_id));
    text.push_str(&transcripts::of(&exchanges));
    for gap in gaps::of(logs, match_id, &exchanges) {
        text.push_str(&format!("\n{gap}\n"));
    }
    Ok(Some(text))
}

/// The events of a match from the manager's and the agents' logs, without the messages.
pub fn match_events(logs: &LogSet, match_id: &MatchId, exchanges: &[Exchange]) -> Lines {
    let mut lines = Lines::new();
    if let Some(league_log) = &logs.league {
        lines.extend(
            league_log
                .of_match(match_id)
                .map(|entry| (entry.at, describe::league_event(&entry.event))),
        );
    }
    lines.extend(notes(logs, match_id, exchanges));
    lines
}

/// `R1M1, round 1: P01 (Anna) against P02 (Ben)`, and whose word this is if it is not the manager's.
fn title(logs: &LogSet, match_id: &MatchId) -> Option<String> {
    if let Some(league_log) = &logs.league {
        let game = league_log.league.matches.get(match_id)?;
        let players = &league_log.league.players;
        let named = |id: &PlayerId| match players.get(id) {
            Some(player) => format!("{id} ({})", player.meta.display_name.escaped()),
            None => id.to_string(),
        };
        let round = game.round_id;
        let a = named(&game.a);
        let b = named(&game.b);
        return Some(format!("{match_id}, round {round}: {a} against {b}\n"));
    }
    let referee = logs
        .referees
        .iter()
        .find_map(|log| seats_by_referee(log, match_id));
    let player = || {
        logs.players
            .iter()
            .find_map(|log| seats_by_player(log, match_id))
    };
    let (round, a, b) = referee.or_else(player)?;
    let round = round.map_or_else(String::new, |round| format!(", round {round}"));
    let referees = logs
        .referees
        .iter()
        .filter(|log| log.of_match(match_id).next().is_some());
    let players = logs
        .players
        .iter()
        .filter(|log| log.of_match(match_id).next().is_some());
    let tellers: Vec<&str> = referees
        .map(AgentLog::id)
        .chain(players.map(AgentLog::id))
        .collect();
    Some(format!(
        "{match_id}{round}: {a} against {b}, as told by {}\n",
        Untrusted::new(&tellers.join(" and ")).escaped()
    ))
}

type Seats = (Option<RoundId>, PlayerId, PlayerId);

fn seats_by_referee(log: &AgentLog<RefereeEvent>, match_id: &MatchId) -> Option<Seats> {
    log.of_match(match_id).find_map(|entry| match &entry.event {
        RefereeEvent::Assigned { assignment } => {
            let [a, b] = assignment.player_ids();
            Some((Some(assignment.round_id), a, b))
        }
        _ => None,
    })
}

fn seats_by_player(log: &AgentLog<PlayerEvent>, match_id: &MatchId) -> Option<Seats> {
    let own = PlayerId::new(log.id());
    let seats = |round, opponent: &PlayerId, role| match role {
        Role::PlayerA => (round, own.clone(), opponent.clone()),
        Role::PlayerB => (round, opponent.clone(), own.clone()),
    };
    log.of_match(match_id).find_map(|entry| match &entry.event {
        PlayerEvent::Announced { round_id, matches } => {
            let fixture = matches
                .iter()
                .find(|fixture| fixture.match_id == *match_id)?;
            Some(seats(Some(*round_id), &fixture.opponent_id, fixture.role))
        }
        PlayerEvent::Invited {
            round_id,
            opponent_id,
            role,
            ..
        } => Some(seats(Some(*round_id), opponent_id, *role)),
        PlayerEvent::Chosen {
            round_id,
            opponent_id: Some(opponent),
            ..
        } => Some(seats(*round_id, opponent, Role::PlayerA)),
        PlayerEvent::Finished { game, .. } => Some(seats(
            game.round_id,
            game.opponent_id.as_ref()?,
            Role::PlayerA,
        )),
        _ => None,
    })
}

/// The moment when the match was given to its first referee.
fn begin(logs: &LogSet, match_id: &MatchId) -> Option<Timestamp> {
    let assigned = |event: &LeagueEvent| matches!(event, LeagueEvent::MatchAssigned { .. });
    let league = logs
        .league
        .iter()
        .flat_map(|league_log| league_log.of_match(match_id));
    let by_manager = league
        .filter(|entry| assigned(&entry.event))
        .map(|entry| entry.at);
    let notes = logs.referees.iter().flat_map(|log| log.of_match(match_id));
    by_manager.chain(notes.map(|entry| entry.at)).next()
}

/// The agents' own events, as far as neither the manager's events nor a message show the same.
fn notes(logs: &LogSet, match_id: &MatchId, exchanges: &[Exchange]) -> Lines {
    let in_messages = |agent: &str| exchanges.iter().any(|exchange| exchange.agent == agent);
    let mut lines = Lines::new();
    for log in &logs.referees {
        let assigned = logs.league.is_some();
        let reported = in_messages(log.id());
        lines.extend(kept(log, match_id, |event| match event {
            RefereeEvent::Assigned { .. } => !assigned,
            RefereeEvent::Reported { .. } => !reported,
            _ => true,
        }));
    }
    for log in &logs.players {
        let told = in_messages(log.id());
        lines.extend(kept(log, match_id, |event| match event {
            PlayerEvent::Announced { .. } => logs.league.is_none(),
            // No message tells that the player's own strategy failed.
            PlayerEvent::Chosen {
                fallback: Some(_), ..
            } => true,
            PlayerEvent::Invited { .. } | PlayerEvent::Chosen { .. } => !told,
            _ => true,
        }));
    }
    lines
}

fn kept<E: AgentEvent>(log: &AgentLog<E>, match_id: &MatchId, keep: impl Fn(&E) -> bool) -> Lines {
    let notes = log.of_match(match_id).filter(|entry| keep(&entry.event));
    notes
        .map(|entry| (entry.at, format!("{} {}", log.id(), entry.event.describe())))
        .collect()
}
