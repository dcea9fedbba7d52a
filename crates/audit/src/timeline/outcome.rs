//! Why a match ended as it did: by the manager's word, else the referee's, else a player's. Pure.

use super::positions;
use crate::agent_log::AgentLog;
use crate::describe;
use crate::describe::status_of;
use crate::log_set::LogSet;
use crate::verify::draw_proof;
use crate::verify::result::{self, Played};
use matchday_core::game::past::{DrawCheck, PastGame};
use matchday_core::game::replay;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{Blame, GameDetails, MatchResult, Parity};
use matchday_core::protocol::{GameType, MatchId, PlayerId};
use matchday_core::referee::{Assignment, RefereeEvent};

pub(super) fn of(logs: &LogSet, match_id: &MatchId) -> String {
    if let Some(league_log) = &logs.league {
        let game = league_log.league.matches.get(match_id);
        if let Some((game, decision)) = game.and_then(|game| Some((game, game.decision.as_ref()?)))
        {
            let league = &league_log.league;
            let board = board(
                &league.settings.game_type,
                [&game.a, &game.b],
                &decision.result,
            );
            return of_result(&decision.result, draw_proof(league, match_id)) + &board;
        }
    }
    let by_referee = logs
        .referees
        .iter()
        .filter_map(|log| decided(log, match_id))
        .next_back();
    if let Some((assignment, result)) = by_referee {
        let proof = result::proof(&Played::as_assigned(assignment), status_of(result), result);
        let [a, b] = assignment.player_ids();
        return of_result(result, proof) + &board(&assignment.game_type, [&a, &b], result);
    }
    let by_player = logs.players.iter().find_map(|log| finished(log, match_id));
    by_player.map_or_else(
        || "not decided yet\n".into(),
        |(player, game)| of_game(player, game),
    )
}

/// The positions, under an empty line; of even/odd all that they show is told already.
fn board(game_type: &GameType, players: [&PlayerId; 2], result: &MatchResult) -> String {
    let details = &result.details;
    let views = match &details.game {
        GameDetails::Parity(_) => Vec::new(),
        GameDetails::Other(_) => replay::views(game_type, players, details),
    };
    positions::of(&views)
}

/// The last result that a referee has come to in a match.
pub(crate) fn decided<'a>(
    log: &'a AgentLog<RefereeEvent>,
    wanted: &MatchId,
) -> Option<(&'a Assignment, &'a MatchResult)> {
    let mut assigned = None;
    let mut found = None;
    for entry in &log.entries {
        match &entry.event {
            RefereeEvent::Assigned { assignment } if assignment.match_id == *wanted => {
                assigned = Some(&**assignment);
            }
            RefereeEvent::Decided {
                match_id, result, ..
            } if match_id == wanted => {
                found = assigned.map(|assignment| (assignment, &**result));
            }
            _ => {}
        }
    }
    found
}

fn finished<'a>(
    log: &'a AgentLog<PlayerEvent>,
    wanted: &'a MatchId,
) -> Option<(&'a str, &'a PastGame)> {
    log.of_match(wanted).find_map(|entry| match &entry.event {
        PlayerEvent::Finished { game, .. } => Some((log.id(), game)),
        _ => None,
    })
}

fn of_result(result: &MatchResult, proof: Option<String>) -> String {
    let mut text = String::new();
    if let Some(reason) = &result.reason {
        text.push_str(&format!("why      {}\n", reason.escaped()));
    }
    for (player, blame) in result.details.blame.iter().flat_map(|blame| blame.iter()) {
        text.push_str(&blamed(player, blame));
    }
    if let GameDetails::Parity(details) = &result.details.game {
        for (player, choice) in details.choices.iter() {
            let answer_ms = result.details.answer_ms.as_ref();
            let took = answer_ms.and_then(|all| all.get(player).copied().flatten());
            let took = took.map_or_else(String::new, |took| format!(" after {took} ms"));
            text.push_str(&chose(player, *choice, &took));
        }
        if let Some(number) = details.drawn_number {
            let proof = match proof.as_deref() {
                Some("proven") => ": verified against the referee's commitment".to_owned(),
                Some("unproven") => ": the referee has offered no proof".to_owned(),
                Some(wrong) => format!(", {wrong}"),
                None => String::new(),
            };
            text.push_str(&format!("number   {number}{proof}\n"));
        }
    }
    text
}

/// `blame    P01 (player): silent; owed GAME_JOIN_ACK, asked 4 times from ... to ...; E001 ...`
fn blamed(player: &PlayerId, blame: &Blame) -> String {
    format!(
        "blame    {player} ({}): {}\n",
        blame.culprit.name(),
        fault(blame, blame.cause.name())
    )
}

/// What a player is to blame for, in these words, and how that is known: `silent; owed GAME_JOIN_ACK, asked once`.
pub fn fault(blame: &Blame, words: &str) -> String {
    let mut line = words.to_owned();
    if let (Some(owed), Some(tries)) = (&blame.owed, blame.tries) {
        let times = if tries == 1 {
            "once".to_owned()
        } else {
            format!("{tries} times")
        };
        line.push_str(&format!("; owed {owed}, asked {times}"));
    }
    if let (Some(since), Some(until)) = (blame.since, blame.until) {
        line.push_str(&format!(" from {since} to {until}"));
    }
    if let Some(evidence) = &blame.evidence {
        line.push_str(&format!("; {}", evidence.escaped()));
    }
    line
}

fn chose(player: impl std::fmt::Display, choice: Option<Parity>, more: &str) -> String {
    format!(
        "choice   {player} chose {}{more}\n",
        choice.map_or("nothing", |parity| parity.as_str())
    )
}

/// By the log of a player, which has no more than GAME_OVER.
fn of_game(player: &str, game: &PastGame) -> String {
    let mut text = format!("result   {} for {player}\n", describe::game_outcome(game));
    let opponent = game
        .opponent_id
        .as_ref()
        .map_or_else(|| "the opponent".to_owned(), ToString::to_string);
    if game.own_choice.is_some() || game.opponent_choice.is_some() {
        text.push_str(&chose(player, game.own_choice, ""));
        text.push_str(&chose(opponent, game.opponent_choice, ""));
    }
    if let Some(parity) = game.drawn_parity {
        let found = match game.draw {
            DrawCheck::Proven => ": the player verified it against the referee's commitment",
            DrawCheck::Unproven => ": the referee has offered no proof",
            DrawCheck::Broken => ": NOT WHAT THE REFEREE HAD PROMISED",
            DrawCheck::NotPromised => "",
        };
        text.push_str(&format!("number   {parity}{found}\n"));
    }
    text
}
