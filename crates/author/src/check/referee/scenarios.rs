//! Matches with an injected fault each, and what the referee must do about it.

use super::fake_league::{Behaviour, FakeLeague, FakeMatch, ReportPolicy, ReportReply};
use super::plain_match::scored;
use super::rules;
use super::scripted_agents::{ReceivedMessage, Recipient, ScriptedReply, Side};
use crate::check::exchange::Exchange;
use crate::check::probe::Reply;
use crate::check::rule::Rule;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How long to wait for something that must not happen.
const GRACE: Duration = Duration::from_millis(3500);
/// The delay of a player whose request is raced by a forged answer.
const SLOW: Duration = Duration::from_millis(1500);

/// The violation and its evidence, if there is one.
pub(super) type ScenarioResult = Result<(), (String, Exchange)>;

#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) rule: &'static Rule,
    choices: [&'static str; 2],
    behaviours: [Option<Behaviour>; 2],
    report_policy: ReportPolicy,
    within: Duration,
    injection: Injection,
    judge: fn(&Transcript) -> Result<(), String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Injection {
    Nothing,
    /// Announces the match a second time.
    Twice,
    /// Sends a choice of player A after the end.
    Late,
    /// Sends a forged choice of player A while A's own answer is delayed.
    Forged,
    /// Fails the first report with HTTP 500, so that a second one must come.
    Again,
}

#[derive(Debug)]
pub(super) struct Transcript {
    received: Vec<ReceivedMessage>,
    /// Whether a late answer was answered, if one was sent.
    late_answered: Option<bool>,
}

const CORRECT: Option<Behaviour> = Some(|_, _, good| ScriptedReply::Say(good));
const ACKNOWLEDGES: ReportPolicy = |_| ReportReply::Acknowledged;

const PLAIN: Scenario = Scenario {
    rule: &rules::DUPLICATE,
    choices: ["even", "odd"],
    behaviours: [CORRECT, CORRECT],
    report_policy: ACKNOWLEDGES,
    within: Duration::from_secs(12),
    injection: Injection::Nothing,
    judge: |_| Ok(()),
};

/// The slowest come first.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        Scenario {
            rule: &rules::SILENT_CHOICE,
            behaviours: [
                Some(|kind, before, good| match kind {
                    "CHOOSE_PARITY_CALL" if before == 0 => ScriptedReply::Silence,
                    _ => ScriptedReply::Say(good),
                }),
                CORRECT,
            ],
            within: Duration::from_secs(42),
            judge: |played| {
                played.sent_game_error(Side::A, "E001")?;
                played.asked(Side::A, "CHOOSE_PARITY_CALL", 2)?;
                played.drawn()
            },
            ..PLAIN
        },
        Scenario {
            rule: &rules::NEVER_JOINS,
            behaviours: [Some(|_, _, _| ScriptedReply::Silence), CORRECT],
            within: Duration::from_secs(34),
            judge: |played| {
                played.sent_game_error(Side::A, "E001")?;
                played.asked(Side::A, "GAME_INVITATION", 4)?;
                played.scored([0, 3], "TECHNICAL_LOSS")
            },
            ..PLAIN
        },
        Scenario {
            rule: &rules::BOTH_SILENT,
            behaviours: [
                Some(|_, _, _| ScriptedReply::Silence),
                Some(|_, _, _| ScriptedReply::Silence),
            ],
            within: Duration::from_secs(34),
            judge: |played| played.scored([0, 0], "TECHNICAL_LOSS"),
            ..PLAIN
        },
        Scenario {
            rule: &rules::NO_CONNECTION,
            behaviours: [None, CORRECT],
            within: Duration::from_secs(15),
            judge: |played| played.scored([0, 3], "TECHNICAL_LOSS"),
            ..PLAIN
        },
        Scenario {
            rule: &rules::REPORT_RETRIED,
            report_policy: |before| {
                if before == 0 {
                    ReportReply::Failed
                } else {
                    ReportReply::Acknowledged
                }
            },
            injection: Injection::Again,
            judge: |played| {
                if played.reports() >= 2 {
                    Ok(())
                } else {
                    Err("after HTTP 500 no second report came".to_owned())
                }
            },
            ..PLAIN
        },
        Scenario {
            rule: &rules::REPORT_CONFLICT,
            report_policy: |_| ReportReply::Refused,
            judge: |played| {
                if played.reports() == 1 {
                    Ok(())
                } else {
                    Err(format!(
                        "it was refused with E016, and sent {} times",
                        played.reports()
                    ))
                }
            },
            ..PLAIN
        },
        Scenario {
            rule: &rules::DECLINES,
            behaviours: [
                Some(|kind, _, mut good| {
                    if kind == "GAME_INVITATION" {
                        change(&mut good, "accept", json!(false));
                    }
                    ScriptedReply::Say(good)
                }),
                CORRECT,
            ],
            judge: |played| {
                // Otherwise a referee that plays on could reach the right score by chance.
                played.asked(Side::A, "CHOOSE_PARITY_CALL", 0)?;
                played.scored([0, 3], "TECHNICAL_LOSS")
            },
            ..PLAIN
        },
        wrong(
            &rules::INVALID_CHOICE,
            |kind, before, good| {
                with_first_choice_changed(kind, before, good, "parity_choice", json!("Odd"))
            },
            |played| {
                played.sent_game_error(Side::A, "E004")?;
                played.asked(Side::A, "CHOOSE_PARITY_CALL", 2)?;
                played.drawn()
            },
        ),
        wrong(
            &rules::WRONG_MATCH,
            |kind, before, good| {
                with_first_choice_changed(kind, before, good, "match_id", json!("R97M1"))
            },
            |played| {
                played.sent_game_error(Side::A, "E015")?;
                played.drawn()
            },
        ),
        wrong(
            &rules::WRONG_PLAYER,
            |kind, before, good| {
                with_first_choice_changed(kind, before, good, "player_id", json!("P02"))
            },
            // A strict referee refuses it (E012) and asks again; for a lenient one the exchange says who answers.
            Transcript::drawn,
        ),
        Scenario {
            rule: &rules::DUPLICATE,
            injection: Injection::Twice,
            judge: Transcript::once,
            ..PLAIN
        },
        Scenario {
            rule: &rules::REPORT_ONCE,
            judge: |played| match played.reports() {
                1 => Ok(()),
                many => Err(format!("it was acknowledged, and sent {many} times")),
            },
            ..PLAIN
        },
        Scenario {
            rule: &rules::LATE,
            injection: Injection::Late,
            judge: |played| {
                if played.late_answered != Some(true) {
                    return Err("a late answer got no answer, or a failure".to_owned());
                }
                played.once()
            },
            ..PLAIN
        },
        Scenario {
            rule: &rules::FORGED,
            behaviours: [
                Some(|kind, _, good| match kind {
                    "CHOOSE_PARITY_CALL" => ScriptedReply::Later(SLOW, good),
                    _ => ScriptedReply::Say(good),
                }),
                CORRECT,
            ],
            injection: Injection::Forged,
            judge: |played| match played.choice("P01").as_deref() {
                Some("even") => Ok(()),
                other => Err(format!(
                    "P01 chose even, and {} counted",
                    other.map_or_else(
                        || "nothing".to_owned(),
                        |other| format!("{other} of the other agent")
                    )
                )),
            },
            ..PLAIN
        },
    ]
}

/// A scenario in which player A behaves like this.
fn wrong(
    rule: &'static Rule,
    behaviour: Behaviour,
    judge: fn(&Transcript) -> Result<(), String>,
) -> Scenario {
    Scenario {
        rule,
        behaviours: [Some(behaviour), CORRECT],
        judge,
        ..PLAIN
    }
}

/// Changes one field of the first choice.
fn with_first_choice_changed(
    kind: &str,
    before: usize,
    mut good: Value,
    key: &str,
    value: Value,
) -> ScriptedReply {
    if kind == "CHOOSE_PARITY_CALL" && before == 0 {
        change(&mut good, key, value);
    }
    ScriptedReply::Say(good)
}

fn change(message: &mut Value, key: &str, value: Value) {
    if let Some(message) = message.as_object_mut() {
        message.insert(key.to_owned(), value);
    }
}

impl Transcript {
    fn reports(&self) -> usize {
        self.received
            .iter()
            .filter(|received| received.message_type() == "MATCH_RESULT_REPORT")
            .count()
    }

    fn to(&self, side: Side, kind: &str) -> usize {
        let is = |received: &&ReceivedMessage| {
            received.message_type() == kind
                && matches!(&received.recipient, Recipient::Player(_, at) if *at == side)
        };
        self.received.iter().filter(is).count()
    }

    fn sent_game_error(&self, side: Side, code: &str) -> Result<(), String> {
        let codes: Vec<_> = self
            .received
            .iter()
            .filter(|received| {
                received.message_type() == "GAME_ERROR"
                    && matches!(&received.recipient, Recipient::Player(_, at) if *at == side)
            })
            .filter_map(|received| received.text("error_code"))
            .collect();
        if codes.contains(&code) {
            Ok(())
        } else {
            let codes = match codes.as_slice() {
                [] => "none".to_owned(),
                codes => codes.join(", "),
            };
            Err(format!(
                "expected GAME_ERROR {code} to the player, got {codes}"
            ))
        }
    }

    fn asked(&self, side: Side, kind: &str, times: usize) -> Result<(), String> {
        match self.to(side, kind) {
            came if came == times => Ok(()),
            came => Err(format!(
                "expected {kind} {times} times, got it {came} times"
            )),
        }
    }

    fn result(&self) -> Option<&Value> {
        self.received
            .iter()
            .find(|received| received.message_type() == "MATCH_RESULT_REPORT")?
            .message
            .get("result")
    }

    /// A field of the result from GAME_OVER, or else from the report.
    fn detail(&self, key: &str) -> Option<&Value> {
        let told = self
            .received
            .iter()
            .find(|received| received.message_type() == "GAME_OVER");
        let told = told.and_then(|received| received.message.get("game_result")?.get(key));
        told.or_else(|| self.result()?.get("details")?.get(key))
    }

    fn choice(&self, player: &str) -> Option<String> {
        self.detail("choices")?
            .get(player)?
            .as_str()
            .map(str::to_owned)
    }

    /// The match was played out with the valid choice of P01.
    fn drawn(&self) -> Result<(), String> {
        let number = self.detail("drawn_number").and_then(Value::as_u64);
        match (number, self.choice("P01").as_deref()) {
            (Some(_), Some("even")) => Ok(()),
            (number, choice) => Err(format!(
                "expected a match that is played with P01 even, got drawn_number {} and the choice {}",
                json!(number),
                json!(choice)
            )),
        }
    }

    fn scored(&self, wanted: [u64; 2], status: &str) -> Result<(), String> {
        let result = self.result().ok_or("no report came")?;
        let points = |id: &str| result.get("score")?.get(id)?.as_u64();
        let came = [points("P01"), points("P02")];
        if came != wanted.map(Some) {
            let (wanted, came) = (scored(wanted.map(Some)), scored(came));
            return Err(format!("score: expected {wanted}, got {came}"));
        }
        match result.get("status").and_then(Value::as_str) {
            None => Ok(()),
            Some(came) if came == status => Ok(()),
            Some(came) => Err(format!("status: expected {status}, got {came}")),
        }
    }

    fn once(&self) -> Result<(), String> {
        let asked = self.to(Side::B, "CHOOSE_PARITY_CALL");
        let reports = self.reports();
        match (asked, reports) {
            (0 | 1, 1) => Ok(()),
            _ => Err(format!(
                "the match was played {asked} times and reported {reports} times"
            )),
        }
    }
}

impl Scenario {
    fn observes_aftermath(&self) -> bool {
        let after = [
            &rules::REPORT_ONCE,
            &rules::REPORT_CONFLICT,
            &rules::DUPLICATE,
            &rules::LATE,
        ];
        after.into_iter().any(|rule| std::ptr::eq(rule, self.rule))
    }

    pub(super) async fn play(&self, league: &FakeLeague) -> anyhow::Result<ScenarioResult> {
        let game = league
            .game(self.choices, self.behaviours, self.report_policy)
            .await?;
        league.assign(&game).await;
        let mut late_answered = None;
        if self.injection == Injection::Twice {
            league.assign(&game).await;
        }
        if self.injection == Injection::Forged {
            let asked = |received: &[ReceivedMessage]| {
                received
                    .iter()
                    .any(|received| received.message_type() == "CHOOSE_PARITY_CALL")
            };
            league.wait_until(&game.match_id, self.within, asked).await;
            let forged = format!("tok_p01_{}", "0".repeat(64));
            league
                .send_message(&league.separate_choice(&game, "odd", &forged))
                .await;
        }
        let reports = if self.injection == Injection::Again {
            2
        } else {
            1
        };
        let reported = move |received: &[ReceivedMessage]| {
            received
                .iter()
                .filter(|received| received.message_type() == "MATCH_RESULT_REPORT")
                .count()
                >= reports
        };
        let came = league
            .wait_until(&game.match_id, self.within, reported)
            .await;
        if self.injection == Injection::Late && came {
            let late = league.separate_choice(&game, "odd", &game.answer_token());
            let reply = league.send_message(&late).await;
            let answered = |reply: &Reply| {
                reply
                    .exchange
                    .answered()
                    .is_some_and(|came| came.status < 500)
            };
            late_answered = reply.as_ref().map(answered);
        }
        if self.observes_aftermath() {
            sleep(GRACE).await;
        }
        Ok(self.found(league, &game, late_answered, came))
    }

    fn found(
        &self,
        league: &FakeLeague,
        game: &FakeMatch,
        late_answered: Option<bool>,
        came: bool,
    ) -> ScenarioResult {
        let played = Transcript {
            received: league.received(&game.match_id),
            late_answered,
        };
        let last = || {
            played.received.last().map_or_else(
                || Exchange::none("nothing came"),
                |received| received.exchange.clone(),
            )
        };
        if !came && played.reports() == 0 {
            let note = format!("no report came within {} s", self.within.as_secs());
            return Err((note, last()));
        }
        (self.judge)(&played).map_err(|note| (note, last()))
    }
}
