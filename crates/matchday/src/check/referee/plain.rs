//! A match as most are: every message of it held against the rules.

use super::cast::{Part, Seen, Side};
use super::rules;
use super::stage::{Game, LEAGUE, PLAYERS, REFEREE, Stage};
use crate::check::exchange::Exchange;
use crate::check::report::Sheet;
use crate::check::rule::Rule;
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, decode};
use matchday_core::protocol::messages::Role;
use matchday_core::protocol::{Body, Sender};
use serde_json::{Value, json};
use std::time::Duration;

/// What is called the same time: far less than a player takes that thinks, far more than a busy machine needs.
const TOGETHER: Duration = Duration::from_millis(400);

/// Judges one match from its messages.
pub(super) struct Judge<'a> {
    pub(super) stage: &'a Stage,
    pub(super) sheet: &'a mut Sheet,
    pub(super) conformance: Conformance,
    pub(super) game: &'a Game,
    pub(super) seen: &'a [Seen],
}

/// How a match ended, as a referee tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ended {
    pub(super) winner: Option<String>,
    pub(super) number: Option<u64>,
    pub(super) choices: Value,
}

impl Judge<'_> {
    pub(super) fn judge(mut self) -> Option<()> {
        self.envelopes();
        let invited = self.pair("GAME_INVITATION", &rules::INVITED)?;
        self.invitations(&invited);
        self.together(&rules::INVITED_TOGETHER, &invited);
        let asked = self.pair("CHOOSE_PARITY_CALL", &rules::ASKED)?;
        self.questions(&asked);
        self.together(&rules::ASKED_TOGETHER, &asked);
        let over = self.pair("GAME_OVER", &rules::OVER)?;
        let ended = self.ends(&over);
        self.report(ended.as_ref());
        Some(())
    }

    /// Reads a message as a league does.
    fn read(&mut self, rule: &'static Rule, seen: &Seen) -> Option<Body> {
        let reading = |conformance| Reading {
            conformance,
            now: self.stage.probe.clock.now(),
            limits: Limits::AGENT,
            exchange: None,
            about: None,
        };
        let strict = decode(&seen.message, &reading(Conformance::Strict));
        let (found, fault) = match strict {
            Ok(Incoming { body: Ok(body), .. }) => (Some(body), None),
            Ok(Incoming { body: Err(fault), .. }) => (None, Some((rule, fault))),
            Err(fault) => (None, Some((&rules::ENVELOPE, fault))),
        };
        let lenient = || decode(&seen.message, &reading(Conformance::Lenient)).ok()?.body.ok();
        let body = found.or_else(lenient);
        match fault {
            None => self.sheet.pass(rule, ""),
            Some((broken, fault)) => {
                let note = format!("{}: {} ({})", seen.kind(), fault.sentence(), fault.code);
                match self.conformance == Conformance::Lenient && body.is_some() {
                    true => self.sheet.warn(broken, note, &seen.exchange),
                    false => self.sheet.broken(broken, note, &seen.exchange),
                }
                if std::ptr::eq(broken, &rules::ENVELOPE) && body.is_some() {
                    self.sheet.pass(rule, "");
                }
            }
        }
        body
    }

    /// Sender, conversation and token of every message.
    fn envelopes(&mut self) {
        for seen in self.seen {
            let wanted = Sender::Referee(matchday_core::protocol::RefereeId::new(REFEREE)).to_string();
            match seen.text("sender") == Some(wanted.as_str()) {
                true => self.sheet.pass(&rules::ENVELOPE, ""),
                false => {
                    let note = format!(
                        "{}: sender: expected {wanted:?}, got {:?}",
                        seen.kind(),
                        seen.text("sender")
                    );
                    self.sheet.broken(&rules::ENVELOPE, note, &seen.exchange);
                }
            }
            match seen.text("conversation_id") {
                Some(came) if came == self.game.conversation_id => self.sheet.pass(&rules::CONVERSATION, ""),
                came => {
                    let note =
                        format!("{}: expected {:?}, got {came:?}", seen.kind(), self.game.conversation_id);
                    self.sheet.broken(&rules::CONVERSATION, note, &seen.exchange);
                }
            }
            let shows = seen.text("auth_token") == Some(self.stage.token.reveal());
            match (&seen.part, shows) {
                (Part::Player(..), true) => {
                    let note = format!("{} to a player shows the referee's own token", seen.kind());
                    self.sheet.broken(&rules::OWN_TOKEN, note, &seen.exchange);
                }
                (Part::Player(..), false) => self.sheet.pass(&rules::OWN_TOKEN, ""),
                (Part::Manager, true) => self.sheet.pass(&rules::REPORTED, ""),
                (Part::Manager, false) => {
                    let note = "the report does not show the token that this referee was given";
                    self.sheet.broken(&rules::REPORTED, note, &seen.exchange);
                }
            }
        }
    }

    /// The first message of a kind to each of the two.
    fn pair(&mut self, kind: &str, rule: &'static Rule) -> Option<[Seen; 2]> {
        let to = |side: Side| {
            self.seen.iter().find(|seen| {
                let general = kind == "CHOOSE_PARITY_CALL" && seen.kind() == "GAME_MOVE_CALL";
                (seen.kind() == kind || general) && matches!(&seen.part, Part::Player(_, at) if *at == side)
            })
        };
        match (to(Side::A).cloned(), to(Side::B).cloned()) {
            (Some(a), Some(b)) => Some([a, b]),
            (a, b) => {
                let who = if a.is_none() && b.is_none() { "neither player" } else { "only one player" };
                let note = format!("{who} was sent {kind}");
                self.sheet.broken(rule, note, &Exchange::none("nothing came"));
                None
            }
        }
    }

    fn together(&mut self, rule: &'static Rule, pair: &[Seen; 2]) {
        let [a, b] = pair;
        let apart = a.at.max(b.at).duration_since(a.at.min(b.at));
        match apart <= TOGETHER {
            true => self.sheet.pass(rule, ""),
            false => {
                let note = format!("the second came {} ms after the first", apart.as_millis());
                self.sheet.broken(rule, note, &a.exchange);
            }
        }
    }

    fn invitations(&mut self, pair: &[Seen; 2]) {
        for ((seen, role), opponent) in
            pair.iter().zip([Role::PlayerA, Role::PlayerB]).zip(PLAYERS.iter().rev())
        {
            let Some(Body::GameInvitation(body)) = self.read(&rules::INVITED, seen) else { continue };
            let right = body.role_in_match == role
                && body.opponent_id.as_str() == *opponent
                && body.league_id.as_str() == LEAGUE
                && body.round_id.0 == self.game.round_id;
            if !right {
                let note = format!(
                    "expected role {}, opponent {opponent}, league {LEAGUE}, round {}",
                    json!(role),
                    self.game.round_id
                );
                self.sheet.broken(&rules::INVITED, note, &seen.exchange);
            }
        }
    }

    fn questions(&mut self, pair: &[Seen; 2]) {
        for (seen, player) in pair.iter().zip(PLAYERS) {
            let asked = match self.read(&rules::ASKED, seen) {
                Some(Body::ChooseParityCall(body)) => body.player_id.clone(),
                Some(Body::GameMoveCall(body)) => body.player_id.clone(),
                _ => continue,
            };
            if asked.as_str() != player {
                let note = format!("player_id: expected {player}, got {asked}");
                self.sheet.broken(&rules::ASKED, note, &seen.exchange);
            }
        }
    }

    fn ends(&mut self, pair: &[Seen; 2]) -> Option<Ended> {
        let [a, b] = pair;
        for seen in pair {
            self.read(&rules::OVER, seen);
        }
        let (result, other) = (a.message.get("game_result")?, b.message.get("game_result"));
        if Some(result) != other {
            self.sheet.broken(&rules::OVER, "the two players are told different results", &b.exchange);
        }
        let text = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
        let ended = Ended {
            winner: text("winner_player_id").filter(|winner| winner != "DRAW"),
            number: result.get("drawn_number").and_then(Value::as_u64),
            choices: result.get("choices").cloned().unwrap_or_default(),
        };
        match self.right(&ended) {
            Ok(()) => self.sheet.pass(&rules::OVER_RIGHT, ""),
            Err(why) => self.sheet.broken(&rules::OVER_RIGHT, why, &a.exchange),
        }
        Some(ended)
    }

    /// Whether the winner is the one that the rules of the game name.
    fn right(&self, ended: &Ended) -> Result<(), String> {
        let ([a, b], [first, second]) = (PLAYERS, self.game.choices);
        let chosen = json!({a: first, b: second});
        if ended.choices != chosen {
            return Err(format!("choices: expected {chosen}, got {}", ended.choices));
        }
        let number = ended.number.filter(|number| (1..=10).contains(number));
        let number = number.ok_or_else(|| "drawn_number: expected 1 to 10".to_owned())?;
        let parity = if number.is_multiple_of(2) { "even" } else { "odd" };
        let winner = match (first == parity, second == parity) {
            (true, false) => Some(a),
            (false, true) => Some(b),
            _ => None,
        };
        match ended.winner.as_deref() == winner {
            true => Ok(()),
            false => {
                Err(format!("{number} is {parity}: expected the winner {winner:?}, got {:?}", ended.winner))
            }
        }
    }

    fn report(&mut self, ended: Option<&Ended>) {
        let Some(seen) = self.seen.iter().find(|seen| seen.kind() == "MATCH_RESULT_REPORT").cloned() else {
            return self.sheet.broken(&rules::REPORTED, "no report came", &Exchange::none("nothing came"));
        };
        self.read(&rules::REPORTED, &seen);
        let winner =
            seen.message.pointer("/result/winner").and_then(Value::as_str).filter(|winner| *winner != "DRAW");
        let points = |id: &str| seen.message.get("result")?.get("score")?.get(id)?.as_u64();
        let score = PLAYERS.map(points);
        let wanted = match winner {
            Some("P01") => [Some(3), Some(0)],
            Some("P02") => [Some(0), Some(3)],
            _ => [Some(1), Some(1)],
        };
        let number = seen.message.pointer("/result/details/drawn_number").and_then(Value::as_u64);
        let note = if ended.is_some_and(|ended| ended.winner.as_deref() != winner) {
            "it names another winner than GAME_OVER did".to_owned()
        } else if score != wanted {
            format!("score: expected {wanted:?}, got {score:?}")
        } else if number.is_some() && ended.is_some_and(|ended| ended.number != number) {
            "it names another number than GAME_OVER did".to_owned()
        } else {
            return self.sheet.pass(&rules::REPORT_RIGHT, "");
        };
        self.sheet.broken(&rules::REPORT_RIGHT, note, &seen.exchange);
    }
}
