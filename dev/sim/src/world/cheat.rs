//! Referees that cheat: an ordinary referee whose reports are spoilt on their way to the manager. What it may do unseen,
//! to say that a player was silent, it does not do here.

use super::World;
use crate::agent_id::AgentId;
use matchday_core::fair::{MatchDraw, Secret, verify};
use matchday_core::protocol::draw::Reveal;
use matchday_core::protocol::error::ErrorCode;
use matchday_core::protocol::ids::{Attempt, PlayerId};
use matchday_core::protocol::messages::{
    ByPlayer, Culprit, GameDetails, GameStatus, LeagueError, MatchResult, MatchResultReport, Parity,
};
use matchday_core::protocol::{Body, Message};
use serde_json::{Map, json};
use std::sync::Arc;

/// In what way a report is spoilt.
#[derive(Debug, Clone, Copy)]
enum FalseReport {
    None,
    /// The first player chose the opposite of what it did.
    Choice,
    /// Another secret was committed to.
    Secret,
    Number,
    Winner,
    /// What players signed is left out.
    Signatures,
    /// A scheme that nobody knows.
    OtherScheme,
    /// The match is handed back, to draw again.
    HandBack,
}

const LIES: [FalseReport; 8] = [
    FalseReport::None,
    FalseReport::Choice,
    FalseReport::Secret,
    FalseReport::Number,
    FalseReport::Winner,
    FalseReport::Signatures,
    FalseReport::OtherScheme,
    FalseReport::HandBack,
];

impl World {
    /// A message as it really goes out. The same report is always spoilt in the same way.
    pub(super) fn spoilt(&mut self, from: AgentId, message: Message) -> Message {
        let is_cheat =
            matches!(from, AgentId::Referee(number) if self.scenario.cheats.contains(&number));
        let Body::MatchResultReport(report) = &message.body else {
            return message;
        };
        if !is_cheat {
            return message;
        }
        let conversation = message.envelope.conversation_id.as_str();
        let place = conversation
            .bytes()
            .fold(self.scenario.players.len(), |sum, byte| {
                sum * 31 % 1009 + usize::from(byte)
            });
        let attempt = message
            .envelope
            .conversation_id
            .attempt_of(&report.match_id)
            .unwrap_or(Attempt::FIRST);
        let game = self.agents.league().matches.get(&report.match_id);
        let lie = match LIES
            .get(place % LIES.len())
            .copied()
            .unwrap_or(FalseReport::None)
        {
            // Once is enough: then the referee hears that nobody wants this attempt, and takes the next.
            FalseReport::HandBack if game.is_some_and(|game| game.is_void(attempt)) => {
                FalseReport::None
            }
            lie => lie,
        };
        if !matches!(lie, FalseReport::None) {
            self.stats.lies += 1;
        }
        let body = spoil(report, attempt, lie);
        Message::new(message.envelope, body)
    }
}

fn spoil(report: &MatchResultReport, attempt: Attempt, lie: FalseReport) -> Body {
    let mut report = report.clone();
    let draw = MatchDraw {
        league_id: &report.league_id,
        match_id: &report.match_id,
        attempt,
    };
    let forged = report
        .result
        .details
        .fairness
        .as_ref()
        .map(|reveal| Reveal {
            nonce_commitments: reveal.nonce_commitments.clone(),
            signatures: reveal.signatures.clone(),
            ..draw.reveal(&Secret::from_bytes([3; 32]), reveal.nonces.clone())
        });
    let league_id = report.league_id.clone();
    let match_id = report.match_id.clone();
    let result = Arc::make_mut(&mut report.result);
    let players: Vec<PlayerId> = result.score.iter().map(|(id, _)| id.clone()).collect();
    let [a, b] = players.as_slice() else {
        return report.into();
    };
    match lie {
        FalseReport::None => {}
        FalseReport::Choice => reverse(result, a),
        FalseReport::OtherScheme => {
            result
                .details
                .fairness
                .iter_mut()
                .for_each(|reveal| reveal.scheme = "coin-toss-1".into());
        }
        FalseReport::Secret => {
            result.details.fairness = forged;
            let reveal = result.details.fairness.as_ref();
            let dice =
                reveal.and_then(|reveal| verify(reveal, &league_id, &match_id, attempt, a, b).ok());
            let number = dice.map(|mut dice| u8::try_from(dice.uniform(1..=10)).unwrap_or(1));
            number
                .into_iter()
                .for_each(|number| draw_instead(result, number));
        }
        FalseReport::Number => {
            let number = match &result.details.game {
                GameDetails::Parity(details) => details.drawn_number,
                GameDetails::Other(_) => None,
            };
            number
                .into_iter()
                .for_each(|number| draw_instead(result, number % 10 + 1));
        }
        FalseReport::Winner => swap(result, a, b),
        FalseReport::Signatures => result.details.fairness.iter_mut().for_each(|reveal| {
            reveal.signatures = None;
            *reveal = reveal.clone().with_proof();
        }),
        FalseReport::HandBack => return hand_back(&match_id),
    }
    report.into()
}

fn hand_back(match_id: &matchday_core::protocol::MatchId) -> Body {
    let context = Map::from_iter([
        ("match_id".to_owned(), json!(match_id)),
        ("culprit".to_owned(), json!(Culprit::Infrastructure)),
    ]);
    LeagueError::new(
        ErrorCode::Internal,
        "I did not like the draw",
        None,
        Some(context),
    )
    .into()
}

fn reverse(result: &mut MatchResult, victim: &PlayerId) {
    let GameDetails::Parity(details) = &mut result.details.game else {
        return;
    };
    let turned = details.choices.iter().map(|(id, choice)| {
        let choice = if id == victim {
            choice.map(Parity::other)
        } else {
            *choice
        };
        (id.clone(), choice)
    });
    details.choices = turned.collect();
    follow(result);
}

fn draw_instead(result: &mut MatchResult, number: u8) {
    if let GameDetails::Parity(details) = &mut result.details.game
        && details.drawn_number.is_some()
    {
        (details.drawn_number, details.number_parity) = (Some(number), Some(Parity::of(number)));
        follow(result);
    }
}

/// Winner, score and status as choices and number make them, so that nothing but the proof contradicts them.
fn follow(result: &mut MatchResult) {
    let GameDetails::Parity(details) = &result.details.game else {
        return;
    };
    let Some(parity) = details.number_parity else {
        return;
    };
    let right: Vec<&PlayerId> = details
        .choices
        .iter()
        .filter(|(_, choice)| **choice == Some(parity))
        .map(|(id, _)| id)
        .collect();
    let winner = match right.as_slice() {
        [one] => Some((*one).clone()),
        _ => None,
    };
    give_to(result, winner);
}

fn give_to(result: &mut MatchResult, winner: Option<PlayerId>) {
    let points = |id: &PlayerId| match &winner {
        Some(winner) if winner == id => 3,
        Some(_) => 0,
        None => 1,
    };
    let score: ByPlayer<u32> = result
        .score
        .iter()
        .map(|(id, _)| (id.clone(), points(id)))
        .collect();
    result.score = score;
    result.status = Some(if winner.is_some() {
        GameStatus::Win
    } else {
        GameStatus::Draw
    });
    result.winner = winner;
}

fn swap(result: &mut MatchResult, a: &PlayerId, b: &PlayerId) {
    if result.status == Some(GameStatus::Win) {
        let winner = if result.winner.as_ref() == Some(a) {
            b
        } else {
            a
        };
        give_to(result, Some(winner.clone()));
    }
}
