//! What a model is shown of a turn, in a seat or asked by a player: as a text, as JSON, or as both. The rules are not part of it:
//! they are told once. Pure.

use super::past::{GameSummary, Outcome, PastGame};
use super::turn::TurnSheet;
use super::view::View;
use super::{Turn, find};
use crate::protocol::messages::{Parity, Record};
use crate::protocol::{GameType, MatchId, PlayerId, RoundId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// How many of the games with the opponent are shown.
const GAMES_SHOWN_MAX: usize = 10;
/// What every form has: by these a client makes its move.
const ALWAYS: [&str; 5] = [
    "match_id",
    "game_type",
    "options",
    "deadline",
    "seconds_left",
];

/// The form in which a model is shown a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationForm {
    /// As people read it, with the board drawn.
    #[default]
    Text,
    /// As fields.
    Json,
    /// The fields, and the text.
    Both,
}

impl ObservationForm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Text, Self::Json, Self::Both];
    /// Their names, in the same order.
    pub const NAMES: [&str; 3] = ["text", "json", "both"];
}

/// One turn, as a model is shown it. Its `Display` is the text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observation {
    /// The same for all turns of a match.
    pub match_id: MatchId,
    /// Unknown where no message told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// What is played.
    pub game_type: GameType,
    /// Who is to decide.
    pub player_id: PlayerId,
    /// Unknown if neither the manager nor the referee named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_id: Option<PlayerId>,
    /// The position as it is drawn for people, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// What the referee shows of the game, its history included.
    pub context: Map<String, Value>,
    /// Every move that the rules allow.
    pub options: Vec<Value>,
    /// Until when the move must be made, in UTC.
    pub deadline: String,
    /// How many seconds are left until then.
    pub seconds_left: f64,
    /// The player's record so far.
    pub record: Record,
    /// The last games with this opponent, oldest first.
    pub games_with_opponent: Vec<GameReport>,
}

/// The points that a match gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Score {
    /// To the player.
    pub you: u32,
    /// To the other.
    pub opponent: u32,
}

/// A match that is decided, as its player is told it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameReport {
    /// Which match.
    pub match_id: MatchId,
    /// Unknown where no message told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// What was played.
    pub game_type: GameType,
    /// Unknown only where nobody told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_id: Option<PlayerId>,
    /// How it ended for the player.
    pub outcome: Outcome,
    /// The points that the match gave, where the log has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// Why it ended so, in the referee's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The moves and the final position.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// True if someone forfeited: this match was not played out.
    pub forfeited: bool,
    /// In a game of even or odd: what the player called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_choice: Option<Parity>,
    /// What the opponent called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_choice: Option<Parity>,
    /// What was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn_parity: Option<Parity>,
    /// If the player did not choose (all of) its moves itself: that the fallback chose, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_for_you: Option<String>,
}

impl GameReport {
    /// `fallback`: why the fallback chose for the player, if it did.
    pub fn of(game: &PastGame, fallback: Option<&String>) -> Self {
        let summary = game.summary.as_deref();
        let score = |summary: &GameSummary| {
            let [you, opponent] = summary.score;
            Score { you, opponent }
        };
        Self {
            match_id: game.match_id.clone(),
            round_id: game.round_id,
            game_type: game.game_type.clone(),
            opponent_id: game.opponent_id.clone(),
            outcome: game.outcome,
            score: summary.map(score),
            reason: summary.and_then(|summary| summary.reason.clone()),
            details: summary
                .map(|summary| summary.details.clone())
                .unwrap_or_default(),
            forfeited: game.technical,
            your_choice: game.own_choice,
            opponent_choice: game.opponent_choice,
            drawn_parity: game.drawn_parity,
            chosen_for_you: fallback.map(|why| format!("the fallback chose for you: {why}")),
        }
    }
}

impl Observation {
    /// The turn, when so many seconds are left for it.
    pub fn of(sheet: &TurnSheet, seconds_left: f64) -> Self {
        let known = sheet.history.len().saturating_sub(GAMES_SHOWN_MAX);
        Self {
            match_id: sheet.match_id.clone(),
            round_id: sheet.round_id,
            game_type: sheet.game_type.clone(),
            player_id: sheet.player_id.clone(),
            opponent_id: sheet.opponent_id.clone(),
            board: board(sheet),
            context: sheet.context.clone(),
            options: sheet.options.clone(),
            deadline: sheet.deadline.to_string(),
            seconds_left: (seconds_left * 10.0).round() / 10.0,
            record: sheet.record,
            games_with_opponent: sheet
                .history
                .iter()
                .skip(known)
                .map(|game| GameReport::of(game, None))
                .collect(),
        }
    }

    /// The fields of this form; of the text alone, those that a move needs.
    pub fn fields(&self, form: ObservationForm) -> Map<String, Value> {
        let mut fields = match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        if form == ObservationForm::Text {
            fields.retain(|name, _| ALWAYS.contains(&name.as_str()));
        }
        if form != ObservationForm::Json {
            // The text has it.
            fields.remove("board");
            fields.insert("text".to_owned(), self.to_string().into());
        }
        fields
    }

    /// The question that a model is asked in this form. Without the deadline: it has no clock, and the same turn must be the
    /// same question when a tournament is played again.
    pub fn question(&self, form: ObservationForm) -> String {
        let json = || {
            let mut fields = self.fields(ObservationForm::Json);
            fields.remove("deadline");
            Value::from(fields).to_string()
        };
        match form {
            ObservationForm::Text => self.to_string(),
            ObservationForm::Json => json(),
            ObservationForm::Both => format!("{self}\n\n{}", json()),
        }
    }
}

/// The position, drawn: as the referee shows it, or played again from the moves that it names.
fn board(sheet: &TurnSheet) -> Option<String> {
    let shown = sheet.context.get("view").and_then(|view| {
        let view = serde_json::from_value::<View>(view.clone()).ok()?;
        view.check().is_ok().then_some(view)
    });
    let view = shown.or_else(|| {
        let mut game = (find(&sheet.game_type)?.new)();
        for made in sheet.context.get("moves")?.as_array()? {
            let Turn::One(seat) = game.turn() else {
                return None;
            };
            game.play(seat, made).ok()?;
        }
        game.view()
    })?;
    Some(view.to_string().trim_end().to_owned())
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opponent = self.opponent_id.as_ref();
        writeln!(
            f,
            "Match {} of {}. You are {}, your opponent is {}.",
            self.match_id,
            self.game_type,
            self.player_id,
            opponent.map_or("unknown", PlayerId::as_str)
        )?;
        if let Some(board) = &self.board {
            writeln!(f, "Board:\n{board}")?;
        }
        let is_drawn = self.board.is_some();
        let shown = self
            .context
            .iter()
            .filter(|(name, _)| !(is_drawn && ["board", "view"].contains(&name.as_str())));
        for (name, value) in shown {
            writeln!(f, "{}: {}", name.replace('_', " "), plain(value))?;
        }
        let Record {
            wins,
            draws,
            losses,
        } = self.record;
        writeln!(f, "Your record: {wins} won, {draws} drawn, {losses} lost.")?;
        if !self.games_with_opponent.is_empty() {
            writeln!(f, "Your last games with this opponent, oldest first:")?;
        }
        for game in &self.games_with_opponent {
            writeln!(f, "- {game}")?;
        }
        writeln!(f, "Options: {}", Value::from(self.options.clone()))?;
        write!(f, "You have {} seconds.", self.seconds_left)
    }
}

impl fmt::Display for GameReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = match self.outcome {
            Outcome::Win => "you won",
            Outcome::Draw => "a draw",
            Outcome::Loss => "you lost",
        };
        write!(f, "{}: {ended}", self.match_id)?;
        if let Some(Score { you, opponent }) = self.score {
            write!(f, ", {you} to {opponent}")?;
        }
        if self.forfeited {
            f.write_str(", by forfeit")?;
        }
        if let (Some(own), Some(theirs)) = (self.your_choice, self.opponent_choice) {
            write!(f, "; you chose {own}, they chose {theirs}")?;
        }
        if let Some(drawn) = self.drawn_parity {
            write!(f, "; the number was {drawn}")?;
        }
        if let Some(moves) = self.details.get("moves") {
            write!(f, "; moves: {}", plain(moves))?;
        }
        if let Some(reason) = &self.reason {
            write!(f, "; {reason}")?;
        }
        Ok(())
    }
}

/// A value without the marks of JSON where it can be read without them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => {
            let all: Vec<_> = values.iter().map(plain).collect();
            all.join(", ")
        }
        // A round of a game of simultaneous choice.
        Value::Object(fields)
            if fields.len() == 2
                && let (Some(you), Some(opponent)) =
                    (fields.get("you"), fields.get("opponent")) =>
        {
            format!("{} against {}", plain(you), plain(opponent))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Timestamp;
    use serde_json::json;

    fn sheet(game: &str, options: Value, context: Value) -> TurnSheet {
        let past = |outcome, moves: Value| PastGame {
            match_id: MatchId::new("R1M1"),
            round_id: Some(RoundId(1)),
            game_type: GameType::new(game),
            opponent_id: Some(PlayerId::numbered(2)),
            own_choice: None,
            opponent_choice: None,
            drawn_parity: None,
            outcome,
            technical: false,
            draw: crate::game::past::DrawCheck::NotPromised,
            summary: Some(Box::new(GameSummary {
                score: [0, 3],
                reason: Some("P02 has four in a row".to_owned()),
                details: Map::from_iter([("moves".to_owned(), moves)]),
            })),
        };
        TurnSheet {
            game_type: GameType::new(game),
            rules: None,
            match_id: MatchId::new("R2M1"),
            round_id: Some(RoundId(2)),
            player_id: PlayerId::numbered(1),
            opponent_id: Some(PlayerId::numbered(2)),
            options: options.as_array().unwrap().clone(),
            context: context.as_object().unwrap().clone(),
            deadline: Timestamp::EPOCH,
            time_left_ms: 25_000,
            record: Record::default(),
            history: vec![past(Outcome::Loss, json!([3, 2, 3]))],
            recent: Vec::new(),
            seed: None,
        }
    }

    #[test]
    fn a_text_has_the_drawn_board_and_the_history() {
        let context = json!({"board": ["......."], "your_mark": "X", "moves": [3, 3, 2, 4]});
        let four = sheet("connect_four", json!([0, 1, 2, 3]), context);
        insta::assert_snapshot!(Observation::of(&four, 25.04));
        let context = json!({"round": 3, "rounds": 15, "history": [
            {"you": "rock", "opponent": "paper"}, {"you": "paper", "opponent": "paper"},
        ]});
        let rounds = sheet("rock_paper_scissors", json!(["rock", "paper"]), context);
        insta::assert_snapshot!(Observation::of(&rounds, 3.0));
    }

    #[test]
    fn what_a_third_party_referee_shows_is_shown_as_it_is() {
        for context in [json!({"moves": [9]}), json!({"moves": "none"}), json!({})] {
            let sheet = sheet("connect_four", json!([0]), context);
            assert_eq!(Observation::of(&sheet, 1.0).board, None);
        }
        let view = json!({"kind": "grid", "columns": 2, "cells": ["X", ""]});
        let own = sheet("twenty_one", json!(["hit"]), json!({ "view": view }));
        assert_eq!(Observation::of(&own, 1.0).board.as_deref(), Some(" X  ."));
    }

    #[test]
    fn every_form_has_what_a_move_needs() {
        let seen = Observation::of(
            &sheet("nim", json!([{"heap": 1, "take": 2}]), json!({})),
            1.0,
        );
        for form in ObservationForm::ALL {
            let fields = seen.fields(form);
            assert!(ALWAYS.iter().all(|name| fields.contains_key(*name)));
            assert_eq!(fields.contains_key("text"), form != ObservationForm::Json);
            assert!(!(fields.contains_key("text") && fields.contains_key("board")));
            assert_eq!(
                fields.contains_key("context"),
                form != ObservationForm::Text
            );
        }
    }
}
