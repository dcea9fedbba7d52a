//! Matches in which something goes wrong, and what a referee must make of it.

use super::cast::{Deed, Part, Seen, Side};
use super::rules;
use super::stage::{Desk, Game, Stage, Taken, Twist};
use crate::check::exchange::Exchange;
use crate::check::probe::Reply;
use crate::check::rule::Rule;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How long something that must not happen is waited for.
const GRACE: Duration = Duration::from_millis(3500);
/// How long a player takes that others get ahead of.
const SLOW: Duration = Duration::from_millis(1500);

/// What is found of one scenario: what is wrong, if anything is.
pub(super) type Found = Result<(), (String, Exchange)>;

/// One match with its fault.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) rule: &'static Rule,
    choices: [&'static str; 2],
    twists: [Option<Twist>; 2],
    desk: Desk,
    /// By when it must be reported.
    within: Duration,
    extra: Extra,
    judge: fn(&Played) -> Result<(), String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extra {
    Nothing,
    /// The match is announced a second time.
    Twice,
    /// Player A sends a choice after the end.
    Late,
    /// A stranger chooses for player A, while A thinks.
    Forged,
    /// The manager fails to take the first report.
    Again,
}

/// What was seen of a match.
#[derive(Debug)]
pub(super) struct Played {
    seen: Vec<Seen>,
    /// Whether a late answer was answered, if one was sent.
    late_answered: Option<bool>,
}

const RIGHT: Option<Twist> = Some(|_, _, good| Deed::Say(good));
const ACKNOWLEDGES: Desk = |_| Taken::Acknowledged;

const PLAIN: Plan = Plan {
    rule: &rules::DUPLICATE,
    choices: ["even", "odd"],
    twists: [RIGHT, RIGHT],
    desk: ACKNOWLEDGES,
    within: Duration::from_secs(12),
    extra: Extra::Nothing,
    judge: |_| Ok(()),
};

/// Those that take their time come first.
pub(super) fn plans() -> Vec<Plan> {
    vec![
        Plan {
            rule: &rules::SILENT_CHOICE,
            twists: [
                Some(|kind, before, good| match kind {
                    "CHOOSE_PARITY_CALL" if before == 0 => Deed::Silence,
                    _ => Deed::Say(good),
                }),
                RIGHT,
            ],
            within: Duration::from_secs(42),
            judge: |played| {
                played.complained(Side::A, "E001")?;
                played.asked(Side::A, "CHOOSE_PARITY_CALL", 2)?;
                played.drawn()
            },
            ..PLAIN
        },
        Plan {
            rule: &rules::NEVER_JOINS,
            twists: [Some(|_, _, _| Deed::Silence), RIGHT],
            within: Duration::from_secs(34),
            judge: |played| {
                played.complained(Side::A, "E001")?;
                played.asked(Side::A, "GAME_INVITATION", 4)?;
                played.scored([0, 3], "TECHNICAL_LOSS")
            },
            ..PLAIN
        },
        Plan {
            rule: &rules::BOTH_SILENT,
            twists: [Some(|_, _, _| Deed::Silence), Some(|_, _, _| Deed::Silence)],
            within: Duration::from_secs(34),
            judge: |played| played.scored([0, 0], "TECHNICAL_LOSS"),
            ..PLAIN
        },
        Plan {
            rule: &rules::NO_CONNECTION,
            twists: [None, RIGHT],
            within: Duration::from_secs(15),
            judge: |played| played.scored([0, 3], "TECHNICAL_LOSS"),
            ..PLAIN
        },
        Plan {
            rule: &rules::REPORT_RETRIED,
            desk: |before| if before == 0 { Taken::Failed } else { Taken::Acknowledged },
            extra: Extra::Again,
            judge: |played| match played.reports() >= 2 {
                true => Ok(()),
                false => Err("after HTTP 500 no second report came".to_owned()),
            },
            ..PLAIN
        },
        Plan {
            rule: &rules::REPORT_CONFLICT,
            desk: |_| Taken::Refused,
            judge: |played| match played.reports() == 1 {
                true => Ok(()),
                false => Err(format!("it was refused with E016, and sent {} times", played.reports())),
            },
            ..PLAIN
        },
        Plan {
            rule: &rules::DECLINES,
            twists: [
                Some(|kind, _, mut good| {
                    if kind == "GAME_INVITATION" {
                        change(&mut good, "accept", json!(false));
                    }
                    Deed::Say(good)
                }),
                RIGHT,
            ],
            judge: |played| {
                // Else one that plays on could come to the right score by chance.
                played.asked(Side::A, "CHOOSE_PARITY_CALL", 0)?;
                played.scored([0, 3], "TECHNICAL_LOSS")
            },
            ..PLAIN
        },
        wrong(
            &rules::INVALID_CHOICE,
            |kind, before, good| spoilt(kind, before, good, "parity_choice", json!("Odd")),
            |played| {
                played.complained(Side::A, "E004")?;
                played.asked(Side::A, "CHOOSE_PARITY_CALL", 2)?;
                played.drawn()
            },
        ),
        wrong(
            &rules::WRONG_MATCH,
            |kind, before, good| spoilt(kind, before, good, "match_id", json!("R97M1")),
            |played| {
                played.complained(Side::A, "E015")?;
                played.drawn()
            },
        ),
        wrong(
            &rules::WRONG_PLAYER,
            |kind, before, good| spoilt(kind, before, good, "player_id", json!("P02")),
            |played| {
                played.complained(Side::A, "E012")?;
                played.drawn()
            },
        ),
        Plan { rule: &rules::DUPLICATE, extra: Extra::Twice, judge: Played::once, ..PLAIN },
        Plan {
            rule: &rules::REPORT_ONCE,
            judge: |played| match played.reports() {
                1 => Ok(()),
                many => Err(format!("it was acknowledged, and sent {many} times")),
            },
            ..PLAIN
        },
        Plan {
            rule: &rules::LATE,
            extra: Extra::Late,
            judge: |played| {
                if played.late_answered != Some(true) {
                    return Err("a late answer got no answer, or a failure".to_owned());
                }
                played.once()
            },
            ..PLAIN
        },
        Plan {
            rule: &rules::FORGED,
            twists: [
                Some(|kind, _, good| match kind {
                    "CHOOSE_PARITY_CALL" => Deed::Later(SLOW, good),
                    _ => Deed::Say(good),
                }),
                RIGHT,
            ],
            extra: Extra::Forged,
            judge: |played| match played.choice("P01").as_deref() {
                Some("even") => Ok(()),
                other => Err(format!("P01 chose even, and the stranger's choice counted: {other:?}")),
            },
            ..PLAIN
        },
    ]
}

/// A match in which A answers in this way.
fn wrong(rule: &'static Rule, twist: Twist, judge: fn(&Played) -> Result<(), String>) -> Plan {
    Plan { rule, twists: [Some(twist), RIGHT], judge, ..PLAIN }
}

/// The first choice with one field changed, and every other answer as it should be.
fn spoilt(kind: &str, before: usize, mut good: Value, key: &str, value: Value) -> Deed {
    if kind == "CHOOSE_PARITY_CALL" && before == 0 {
        change(&mut good, key, value);
    }
    Deed::Say(good)
}

fn change(message: &mut Value, key: &str, value: Value) {
    if let Some(message) = message.as_object_mut() {
        message.insert(key.to_owned(), value);
    }
}

impl Played {
    fn reports(&self) -> usize {
        self.seen.iter().filter(|seen| seen.kind() == "MATCH_RESULT_REPORT").count()
    }

    fn to(&self, side: Side, kind: &str) -> usize {
        let is =
            |seen: &&Seen| seen.kind() == kind && matches!(&seen.part, Part::Player(_, at) if *at == side);
        self.seen.iter().filter(is).count()
    }

    fn complained(&self, side: Side, code: &str) -> Result<(), String> {
        let codes: Vec<_> = self
            .seen
            .iter()
            .filter(|seen| {
                seen.kind() == "GAME_ERROR" && matches!(&seen.part, Part::Player(_, at) if *at == side)
            })
            .filter_map(|seen| seen.text("error_code"))
            .collect();
        match codes.contains(&code) {
            true => Ok(()),
            false => Err(format!("expected GAME_ERROR {code} to the player, got {codes:?}")),
        }
    }

    fn asked(&self, side: Side, kind: &str, times: usize) -> Result<(), String> {
        match self.to(side, kind) {
            came if came == times => Ok(()),
            came => Err(format!("expected {kind} {times} times, got it {came} times")),
        }
    }

    fn result(&self) -> Option<&Value> {
        self.seen.iter().find(|seen| seen.kind() == "MATCH_RESULT_REPORT")?.message.get("result")
    }

    /// A field of the result as the players were told it, or the manager.
    fn detail(&self, key: &str) -> Option<&Value> {
        let told = self.seen.iter().find(|seen| seen.kind() == "GAME_OVER");
        let told = told.and_then(|seen| seen.message.get("game_result")?.get(key));
        told.or_else(|| self.result()?.get("details")?.get(key))
    }

    fn choice(&self, player: &str) -> Option<String> {
        self.detail("choices")?.get(player)?.as_str().map(str::to_owned)
    }

    /// It came to a draw of the number, with the choice that was right in the end.
    fn drawn(&self) -> Result<(), String> {
        let number = self.detail("drawn_number").and_then(Value::as_u64);
        match (number, self.choice("P01").as_deref()) {
            (Some(_), Some("even")) => Ok(()),
            (_, choice) => {
                Err(format!("expected a match that is played with P01 even, got {number:?} and {choice:?}"))
            }
        }
    }

    fn scored(&self, wanted: [u64; 2], status: &str) -> Result<(), String> {
        let result = self.result().ok_or("no report came")?;
        let points = |id: &str| result.get("score")?.get(id)?.as_u64();
        let came = [points("P01"), points("P02")];
        if came != wanted.map(Some) {
            return Err(format!("score: expected {wanted:?}, got {came:?}"));
        }
        match result.get("status").and_then(Value::as_str) {
            None => Ok(()),
            Some(came) if came == status => Ok(()),
            Some(came) => Err(format!("status: expected {status}, got {came}")),
        }
    }

    fn once(&self) -> Result<(), String> {
        let (asked, reports) = (self.to(Side::B, "CHOOSE_PARITY_CALL"), self.reports());
        match (asked, reports) {
            (0 | 1, 1) => Ok(()),
            _ => Err(format!("the match was played {asked} times and reported {reports} times")),
        }
    }
}

impl Plan {
    /// Whether it is about what happens after the report.
    fn lingers(&self) -> bool {
        let after = [&rules::REPORT_ONCE, &rules::REPORT_CONFLICT, &rules::DUPLICATE, &rules::LATE];
        after.into_iter().any(|rule| std::ptr::eq(rule, self.rule))
    }

    pub(super) async fn play(&self, stage: &Stage) -> anyhow::Result<Found> {
        let game = stage.game(self.choices, self.twists, self.desk).await?;
        let letter = stage.announcement(&[&game]);
        stage.tell(&letter).await;
        let mut late_answered = None;
        if self.extra == Extra::Twice {
            stage.tell(&letter).await;
        }
        if self.extra == Extra::Forged {
            let asked = |seen: &[Seen]| seen.iter().any(|seen| seen.kind() == "CHOOSE_PARITY_CALL");
            stage.until(&game.match_id, self.within, asked).await;
            let forged = format!("tok_p01_{}", "0".repeat(64));
            stage.tell(&stage.separate_choice(&game, "odd", &forged)).await;
        }
        let reports = if self.extra == Extra::Again { 2 } else { 1 };
        let reported = move |seen: &[Seen]| {
            seen.iter().filter(|seen| seen.kind() == "MATCH_RESULT_REPORT").count() >= reports
        };
        let came = stage.until(&game.match_id, self.within, reported).await;
        if self.extra == Extra::Late && came {
            let late = stage.separate_choice(&game, "odd", &game.answer_token());
            let reply = stage.tell(&late).await;
            let answered = |reply: &Reply| reply.exchange.answered().is_some_and(|came| came.status < 500);
            late_answered = reply.as_ref().map(answered);
        }
        if self.lingers() {
            sleep(GRACE).await;
        }
        Ok(self.found(stage, &game, late_answered, came))
    }

    fn found(&self, stage: &Stage, game: &Game, late_answered: Option<bool>, came: bool) -> Found {
        let played = Played { seen: stage.seen(&game.match_id), late_answered };
        let last = || {
            played.seen.last().map_or_else(|| Exchange::none("nothing came"), |seen| seen.exchange.clone())
        };
        if !came && played.reports() == 0 {
            let note = format!("no report came within {} s", self.within.as_secs());
            return Err((note, last()));
        }
        (self.judge)(&played).map_err(|note| (note, last()))
    }
}
