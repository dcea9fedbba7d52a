//! Checks every message of one plain match against the rules.

use super::fake_league::{FakeLeague, FakeMatch, LEAGUE, PLAYERS, REFEREE};
use super::rules;
use super::scripted_agents::{ReceivedMessage, Recipient, Side};
use crate::check::exchange::Exchange;
use crate::check::report::Findings;
use crate::check::rule::Rule;
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, decode};
use matchday_core::protocol::messages::Role;
use matchday_core::protocol::{Body, Sender};
use serde_json::{Value, json};
use std::time::Duration;

/// How far separate two messages may be sent that must be sent at once: far less than a player's delay, far more than a
/// busy machine needs.
const SIMULTANEOUS: Duration = Duration::from_millis(400);

pub(super) struct MatchJudge<'a> {
    pub(super) league: &'a FakeLeague,
    pub(super) findings: &'a mut Findings,
    pub(super) game: &'a FakeMatch,
    pub(super) received: &'a [ReceivedMessage],
}

/// The result as GAME_OVER tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MatchEnd {
    pub(super) winner: Option<String>,
    pub(super) number: Option<u64>,
    pub(super) choices: Value,
}

impl MatchJudge<'_> {
    pub(super) fn judge(mut self) -> Option<()> {
        self.envelopes();
        self.played();
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

    /// Decodes a message as a league does.
    fn read(&mut self, rule: &'static Rule, received: &ReceivedMessage) -> Option<Body> {
        let reading = |conformance| Reading {
            conformance,
            now: self.league.probe.clock.now(),
            limits: Limits::AGENT,
            exchange: None,
            about: None,
        };
        let strict = decode(&received.message, &reading(Conformance::Strict));
        let (found, fault) = match strict {
            Ok(Incoming { body: Ok(body), .. }) => (Some(body), None),
            Ok(Incoming {
                body: Err(fault), ..
            }) => (None, Some((rule, fault))),
            Err(fault) => (None, Some((&rules::ENVELOPE, fault))),
        };
        let lenient = || {
            decode(&received.message, &reading(Conformance::Lenient))
                .ok()?
                .body
                .ok()
        };
        let body = found.or_else(lenient);
        match fault {
            None => self.findings.pass(rule, ""),
            Some((broken, fault)) => {
                let note = format!(
                    "{}: {} ({})",
                    received.message_type(),
                    fault.sentence(),
                    fault.code
                );
                if body.is_some() {
                    self.findings.deviation(broken, note, &received.exchange);
                } else {
                    self.findings.violated(broken, note, &received.exchange);
                }
                if std::ptr::eq(broken, &rules::ENVELOPE) && body.is_some() {
                    self.findings.pass(rule, "");
                }
            }
        }
        body
    }

    /// Checks sender, conversation and token of every message. Announcements of the sources name no conversation: a
    /// referee may choose one for the match.
    fn envelopes(&mut self) {
        let first = self.received.first();
        let conversation = first.and_then(|received| received.text("conversation_id"));
        let conversation = conversation.map(str::to_owned);
        for received in self.received {
            let wanted =
                Sender::Referee(matchday_core::protocol::RefereeId::new(REFEREE)).to_string();
            self.findings.check(
                &rules::ENVELOPE,
                received.text("sender") == Some(wanted.as_str()),
                format!(
                    "{}: sender: expected \"{wanted}\", got {}",
                    received.message_type(),
                    quoted(received.text("sender"))
                ),
                &received.exchange,
            );
            match received.text("conversation_id") {
                Some(came) if came == self.game.conversation_id => {
                    self.findings.pass(&rules::CONVERSATION, "")
                }
                Some(came) if Some(came) == conversation.as_deref() => {
                    let note = format!(
                        "it plays the match as \"{came}\", which was announced as \"{}\"",
                        self.game.conversation_id
                    );
                    self.findings
                        .warn(&rules::CONVERSATION, note, &received.exchange);
                }
                None => {
                    let note = format!(
                        "{}: conversation_id: expected \"{}\", got nothing. A strict player refuses that, a lenient one reads the message all the same",
                        received.message_type(),
                        self.game.conversation_id
                    );
                    self.findings
                        .deviation(&rules::CONVERSATION, note, &received.exchange);
                }
                came => {
                    let wanted = conversation
                        .as_deref()
                        .unwrap_or(&self.game.conversation_id);
                    let note = format!(
                        "{}: expected \"{wanted}\", got {}",
                        received.message_type(),
                        quoted(came)
                    );
                    self.findings
                        .violated(&rules::CONVERSATION, note, &received.exchange);
                }
            }
            let shows = received.text("auth_token") == Some(self.league.token.reveal());
            match (&received.recipient, shows) {
                (Recipient::Player(..), true) => {
                    let note = format!(
                        "{} to a player shows the referee's own token",
                        received.message_type()
                    );
                    self.findings
                        .violated(&rules::OWN_TOKEN, note, &received.exchange);
                }
                (Recipient::Player(..), false) => self.findings.pass(&rules::OWN_TOKEN, ""),
                (Recipient::Manager, true) => self.findings.pass(&rules::REPORTED, ""),
                (Recipient::Manager, false) => {
                    let note = "the report does not show the token that this referee was given";
                    self.findings
                        .violated(&rules::REPORTED, note, &received.exchange);
                }
            }
        }
    }

    /// A result needs a match: both players must have been asked before it was reported.
    fn played(&mut self) {
        let place = self
            .received
            .iter()
            .position(|received| received.message_type() == "MATCH_RESULT_REPORT");
        let Some((before, report)) =
            place.and_then(|at| Some((self.received.get(..at)?, self.received.get(at)?)))
        else {
            return;
        };
        let is_asked = |side: Side| {
            before.iter().any(|received| {
                matches!(
                    received.message_type(),
                    "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL"
                ) && matches!(&received.recipient, Recipient::Player(_, at) if *at == side)
            })
        };
        let note = "it reported a result before it had asked both players";
        self.findings.check(
            &rules::PLAYED,
            is_asked(Side::A) && is_asked(Side::B),
            note,
            &report.exchange,
        );
    }

    /// The first message of a type to each player.
    fn pair(&mut self, kind: &str, rule: &'static Rule) -> Option<[ReceivedMessage; 2]> {
        let to = |side: Side| {
            self.received.iter().find(|received| {
                let general =
                    kind == "CHOOSE_PARITY_CALL" && received.message_type() == "GAME_MOVE_CALL";
                (received.message_type() == kind || general)
                    && matches!(&received.recipient, Recipient::Player(_, at) if *at == side)
            })
        };
        match (to(Side::A).cloned(), to(Side::B).cloned()) {
            (Some(a), Some(b)) => Some([a, b]),
            (a, b) => {
                let who = if a.is_none() && b.is_none() {
                    "neither player"
                } else {
                    "only one player"
                };
                let note = format!("{who} was sent {kind}");
                self.findings
                    .violated(rule, note, &Exchange::none("nothing came"));
                None
            }
        }
    }

    fn together(&mut self, rule: &'static Rule, pair: &[ReceivedMessage; 2]) {
        let [a, b] = pair;
        let separate = a.at.max(b.at).duration_since(a.at.min(b.at));
        self.findings.check(
            rule,
            separate <= SIMULTANEOUS,
            format!(
                "the second came {} ms after the first",
                separate.as_millis()
            ),
            &a.exchange,
        );
    }

    fn invitations(&mut self, pair: &[ReceivedMessage; 2]) {
        for ((received, role), opponent) in pair
            .iter()
            .zip([Role::PlayerA, Role::PlayerB])
            .zip(PLAYERS.iter().rev())
        {
            let Some(Body::GameInvitation(body)) = self.read(&rules::INVITED, received) else {
                continue;
            };
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
                self.findings
                    .violated(&rules::INVITED, note, &received.exchange);
            }
        }
    }

    fn questions(&mut self, pair: &[ReceivedMessage; 2]) {
        for (received, player) in pair.iter().zip(PLAYERS) {
            let asked = match self.read(&rules::ASKED, received) {
                Some(Body::ChooseParityCall(body)) => body.player_id.clone(),
                Some(Body::GameMoveCall(body)) => body.player_id.clone(),
                _ => continue,
            };
            if asked.as_str() != player {
                let note = format!("player_id: expected {player}, got {asked}");
                self.findings
                    .violated(&rules::ASKED, note, &received.exchange);
            }
        }
    }

    fn ends(&mut self, pair: &[ReceivedMessage; 2]) -> Option<MatchEnd> {
        let [a, b] = pair;
        for received in pair {
            self.read(&rules::OVER, received);
        }
        let result = a.message.get("game_result")?;
        let other = b.message.get("game_result");
        if Some(result) != other {
            self.findings.violated(
                &rules::OVER,
                "the two players receive different results",
                &b.exchange,
            );
        }
        let text = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
        let ended = MatchEnd {
            winner: text("winner_player_id").filter(|winner| winner != "DRAW"),
            number: result.get("drawn_number").and_then(Value::as_u64),
            choices: result.get("choices").cloned().unwrap_or_default(),
        };
        match self.right(&ended) {
            Ok(()) => self.findings.pass(&rules::OVER_RIGHT, ""),
            Err(why) => self.findings.violated(&rules::OVER_RIGHT, why, &a.exchange),
        }
        Some(ended)
    }

    /// Whether the winner follows from choices and number.
    fn right(&self, ended: &MatchEnd) -> Result<(), String> {
        let ([a, b], [first, second]) = (PLAYERS, self.game.choices);
        let chosen = json!({a: first, b: second});
        if ended.choices != chosen {
            return Err(format!("choices: expected {chosen}, got {}", ended.choices));
        }
        let number = ended.number.filter(|number| (1..=10).contains(number));
        let number = number.ok_or_else(|| "drawn_number: expected 1 to 10".to_owned())?;
        let parity = if number.is_multiple_of(2) {
            "even"
        } else {
            "odd"
        };
        let winner = match (first == parity, second == parity) {
            (true, false) => Some(a),
            (false, true) => Some(b),
            _ => None,
        };
        if ended.winner.as_deref() == winner {
            Ok(())
        } else {
            Err(format!(
                "{number} is {parity}: expected winner_player_id {}, got {}",
                quoted(winner),
                quoted(ended.winner.as_deref())
            ))
        }
    }

    fn report(&mut self, ended: Option<&MatchEnd>) {
        let Some(received) = self
            .received
            .iter()
            .find(|received| received.message_type() == "MATCH_RESULT_REPORT")
            .cloned()
        else {
            return self.findings.violated(
                &rules::REPORTED,
                "no report came",
                &Exchange::none("nothing came"),
            );
        };
        self.read(&rules::REPORTED, &received);
        let winner = received
            .message
            .pointer("/result/winner")
            .and_then(Value::as_str)
            .filter(|winner| *winner != "DRAW");
        let points = |id: &str| {
            received
                .message
                .get("result")?
                .get("score")?
                .get(id)?
                .as_u64()
        };
        let score = PLAYERS.map(points);
        let wanted = match winner {
            Some("P01") => [Some(3), Some(0)],
            Some("P02") => [Some(0), Some(3)],
            _ => [Some(1), Some(1)],
        };
        let number = received
            .message
            .pointer("/result/details/drawn_number")
            .and_then(Value::as_u64);
        let note = if ended.is_some_and(|ended| ended.winner.as_deref() != winner) {
            "it names another winner than GAME_OVER did".to_owned()
        } else if score != wanted {
            format!("score: expected {}, got {}", scored(wanted), scored(score))
        } else if number.is_some() && ended.is_some_and(|ended| ended.number != number) {
            "it names another number than GAME_OVER did".to_owned()
        } else {
            return self.findings.pass(&rules::REPORT_RIGHT, "");
        };
        self.findings
            .violated(&rules::REPORT_RIGHT, note, &received.exchange);
    }
}

/// A text as JSON has it; `null` without one.
fn quoted(text: Option<&str>) -> String {
    json!(text).to_string()
}

/// "3 and 0"; "nothing" for a player that has no score.
pub(super) fn scored(points: [Option<u64>; 2]) -> String {
    points
        .map(|points| points.map_or_else(|| "nothing".to_owned(), |points| points.to_string()))
        .join(" and ")
}
