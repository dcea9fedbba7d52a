//! One match, from all that the stores at hand tell of it. Pure, but for reading the exchanges.

use super::exchanges::{self, Names};
use super::{gaps, milliseconds, outcome};
use crate::store::chronicle::Chronicle;
use crate::store::diary::{Diary, Own};
use crate::store::error::StoreError;
use crate::store::{Exchange, words};
use matchday_core::league::LeagueEvent;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::Role;
use matchday_core::protocol::untrusted::{Untrusted, escape_line};
use matchday_core::protocol::{MatchId, PlayerId, RoundId, Timestamp};
use matchday_core::referee::RefereeEvent;

type Lines = Vec<(Timestamp, String)>;

/// Everything about one match; `None` if nobody here has heard of it.
pub(super) fn tell(chronicle: &Chronicle, match_id: &MatchId) -> Result<Option<String>, StoreError> {
    let exchanges = chronicle.exchanges_of(match_id)?;
    let Some(title) = title(chronicle, match_id) else { return Ok(None) };
    let mut lines = happened(chronicle, match_id, &exchanges);
    lines.extend(exchanges::lines(&Names::of(chronicle), &exchanges));
    // Stable: at the same instant, an event stands before the messages that it led to.
    lines.sort_by_key(|(at, _)| *at);

    let mut text = title;
    if let Some(zero) = begin(chronicle, match_id).or_else(|| lines.first().map(|(at, _)| *at)) {
        text.push_str(&format!("times in milliseconds after {}\n\n", words::of_time(zero)));
        for (at, line) in lines {
            text.push_str(&format!("{:>10.1}  {}\n", milliseconds(at, zero), escape_line(&line)));
        }
    }
    text.push('\n');
    text.push_str(&outcome::of(chronicle, match_id));
    for gap in gaps::of(chronicle, match_id, &exchanges) {
        text.push_str(&format!("\n{gap}\n"));
    }
    Ok(Some(text))
}

/// What happened to a match, as the manager and the agents wrote it down, without the messages.
pub(crate) fn happened(chronicle: &Chronicle, match_id: &MatchId, exchanges: &[Exchange]) -> Lines {
    let mut lines = Lines::new();
    if let Some(history) = &chronicle.league {
        lines.extend(history.of_match(match_id).map(|entry| (entry.at, words::of_event(&entry.event))));
    }
    lines.extend(notes(chronicle, match_id, exchanges));
    lines
}

/// `R1M1, round 1: P01 (Anna) against P02 (Ben)`, and whose word this is if it is not the manager's.
fn title(chronicle: &Chronicle, match_id: &MatchId) -> Option<String> {
    if let Some(history) = &chronicle.league {
        let game = history.league.matches.get(match_id)?;
        let players = &history.league.players;
        let named = |id: &PlayerId| match players.get(id) {
            Some(player) => format!("{id} ({})", player.meta.display_name.escaped()),
            None => id.to_string(),
        };
        let (round, a, b) = (game.round_id, named(&game.a), named(&game.b));
        return Some(format!("{match_id}, round {round}: {a} against {b}\n"));
    }
    let referee = chronicle.referees.iter().find_map(|diary| seats_by_referee(diary, match_id));
    let player = || chronicle.players.iter().find_map(|diary| seats_by_player(diary, match_id));
    let (round, a, b) = referee.or_else(player)?;
    let round = round.map_or_else(String::new, |round| format!(", round {round}"));
    let referees = chronicle.referees.iter().filter(|diary| diary.of_match(match_id).next().is_some());
    let players = chronicle.players.iter().filter(|diary| diary.of_match(match_id).next().is_some());
    let tellers: Vec<&str> = referees.map(Diary::id).chain(players.map(Diary::id)).collect();
    Some(format!(
        "{match_id}{round}: {a} against {b}, as told by {}\n",
        Untrusted::new(&tellers.join(" and ")).escaped()
    ))
}

type Seats = (Option<RoundId>, PlayerId, PlayerId);

fn seats_by_referee(diary: &Diary<RefereeEvent>, match_id: &MatchId) -> Option<Seats> {
    diary.of_match(match_id).find_map(|note| match &note.event {
        RefereeEvent::Assigned { assignment } => {
            let [a, b] = assignment.player_ids();
            Some((Some(assignment.round_id), a, b))
        }
        _ => None,
    })
}

fn seats_by_player(diary: &Diary<PlayerEvent>, match_id: &MatchId) -> Option<Seats> {
    let own = PlayerId::new(diary.id());
    let seats = |round, opponent: &PlayerId, role| match role {
        Role::PlayerA => (round, own.clone(), opponent.clone()),
        Role::PlayerB => (round, opponent.clone(), own.clone()),
    };
    diary.of_match(match_id).find_map(|note| match &note.event {
        PlayerEvent::Announced { round_id, matches } => {
            let fixture = matches.iter().find(|fixture| fixture.match_id == *match_id)?;
            Some(seats(Some(*round_id), &fixture.opponent_id, fixture.role))
        }
        PlayerEvent::Invited { round_id, opponent_id, role, .. } => {
            Some(seats(Some(*round_id), opponent_id, *role))
        }
        PlayerEvent::Chosen { round_id, opponent_id: Some(opponent), .. } => {
            Some(seats(*round_id, opponent, Role::PlayerA))
        }
        PlayerEvent::Finished { game } => {
            Some(seats(game.round_id, game.opponent_id.as_ref()?, Role::PlayerA))
        }
        _ => None,
    })
}

/// The moment when the match was given to its first referee.
fn begin(chronicle: &Chronicle, match_id: &MatchId) -> Option<Timestamp> {
    let assigned = |event: &LeagueEvent| matches!(event, LeagueEvent::MatchAssigned { .. });
    let league = chronicle.league.iter().flat_map(|history| history.of_match(match_id));
    let by_manager = league.filter(|entry| assigned(&entry.event)).map(|entry| entry.at);
    let notes = chronicle.referees.iter().flat_map(|diary| diary.of_match(match_id));
    by_manager.chain(notes.map(|note| note.at)).next()
}

/// What the agents themselves wrote down, as far as it is not told by the manager or by a message.
fn notes(chronicle: &Chronicle, match_id: &MatchId, exchanges: &[Exchange]) -> Lines {
    let in_messages = |agent: &str| exchanges.iter().any(|exchange| exchange.agent == agent);
    let mut lines = Lines::new();
    for diary in &chronicle.referees {
        let (assigned, reported) = (chronicle.league.is_some(), in_messages(diary.id()));
        lines.extend(kept(diary, match_id, |event| match event {
            RefereeEvent::Assigned { .. } => !assigned,
            RefereeEvent::Reported { .. } => !reported,
            _ => true,
        }));
    }
    for diary in &chronicle.players {
        let told = in_messages(diary.id());
        lines.extend(kept(diary, match_id, |event| match event {
            PlayerEvent::Announced { .. } => chronicle.league.is_none(),
            // No message tells that the player's own strategy failed.
            PlayerEvent::Chosen { fallback: Some(_), .. } => true,
            PlayerEvent::Invited { .. } | PlayerEvent::Chosen { .. } => !told,
            _ => true,
        }));
    }
    lines
}

fn kept<E: Own>(diary: &Diary<E>, match_id: &MatchId, keep: impl Fn(&E) -> bool) -> Lines {
    let notes = diary.of_match(match_id).filter(|note| keep(&note.event));
    notes.map(|note| (note.at, format!("{} {}", diary.id(), note.event.words()))).collect()
}
