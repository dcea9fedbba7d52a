//! `check referee`: is manager and players to a running referee, gives it matches that are plain and matches in which
//! something goes wrong, and holds what it does against the rules.
//!
//! # Layout
//! - `rules`: what a referee is held against; `cast`: whom it talks to; `stage`: the league it believes to be in
//! - `plain`: a match as most are; `faults`: the others

mod cast;
mod faults;
mod plain;
pub(crate) mod rules;
mod stage;

use super::exchange::Exchange;
use super::heard::Heard;
use super::player::Wait;
use super::player::rules as form;
use super::probe::Probe;
use super::reach;
use super::report::{Report, Sheet, Subject};
use super::rule::Category;
use super::wire::Wire;
use crate::net::client::Client;
use crate::shell::entropy_from_system;
use cast::{Deed, Door, Log, Part, Seen, Side};
use faults::Plan;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, decode};
use matchday_core::protocol::{Body, Endpoint, Token};
use plain::Judge;
use serde_json::{Value, json};
use stage::{Desk, Game, LEAGUE, REFEREE, Stage, Taken};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const WHOLE_MAX: Duration = Duration::from_secs(110);
const QUICK_MAX: Duration = Duration::from_millis(4500);
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LISTENS_WITHIN: Duration = Duration::from_secs(5);
/// How long a plain match may take.
const PLAYED_WITHIN: Duration = Duration::from_secs(15);
const NOBODY_CAME: &str =
    "no referee registered here in time - start it with this address as its manager's, or name its URL";
const NEEDS_REGISTRATION: &str = "a referee plays for its own manager only: check it with --wait";

/// How a referee is to be checked.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) url: Option<Endpoint>,
    pub(crate) wait: Option<Wait>,
    pub(crate) quick: bool,
    pub(crate) conformance: Conformance,
    /// What it is called with.
    pub(crate) client: Client,
}

/// What came of waiting for a registration.
#[derive(Debug)]
struct Enrolled {
    endpoint: Option<Endpoint>,
    /// How many matches it takes at once.
    room: usize,
}

type Desks = Arc<Mutex<BTreeMap<String, Desk>>>;

pub(crate) async fn check(mut order: Order) -> anyhow::Result<Report> {
    let mut entropy = entropy_from_system()?;
    let wait = order.wait.take();
    let waits = wait.is_some();
    let applies = |rule: &&super::rule::Rule| match rule.category {
        Category::Registration => waits,
        _ => rule.quick || !order.quick,
    };
    let mut sheet = Sheet::new(rules::all().filter(applies).collect());
    let (log, desks, token) = (Log::default(), Desks::default(), Token::issue(REFEREE, &mut entropy));
    let mut enrolled = Enrolled { endpoint: None, room: 1 };
    let mut door: Option<Door> = None;
    if let Some(Wait { listener, within }) = wait {
        let script = manager(&token, Arc::clone(&desks));
        door = Some(cast::serve(listener, Part::Manager, Arc::clone(&log), script)?);
        enrolled = registration(&mut sheet, &log, within, order.conformance).await;
    }
    let began = Instant::now();
    let subject = |target: &str| Subject::new("referee", target, order.conformance, order.quick);
    let Some(url) = order.url.clone().or_else(|| enrolled.endpoint.clone()) else {
        let mut report = sheet.into_report(subject("(unknown)"), Duration::ZERO, "nothing registered");
        report.stopped = Some(NOBODY_CAME.to_owned());
        return Ok(report);
    };
    reach::until_listening(url.raw(), if waits { LISTENS_WITHIN } else { Duration::ZERO }).await;
    let longest = if order.quick { QUICK_MAX } else { WHOLE_MAX };
    let probe = Probe::new(order.client.clone(), url.raw(), Instant::now() + longest, longest);
    let mut stopped = None;
    match reach::reach(&probe).await {
        Ok(_) => {
            sheet.pass(&form::REACHABLE, "");
            let mut stage =
                Stage::new(probe, log, token, url.raw().to_owned(), Entropy::from_seed(entropy.bytes()));
            stage.desks = desks;
            let registered = enrolled.endpoint.is_some();
            sheet = examine(&order, stage, sheet, registered.then_some(enrolled.room)).await?;
        }
        Err((exchange, why)) => {
            sheet.broken(&form::REACHABLE, why.clone(), &exchange);
            stopped = Some(why);
        }
    }
    drop(door);
    let unreached =
        if enrolled.endpoint.is_some() { "the check did not come to it" } else { NEEDS_REGISTRATION };
    let mut report = sheet.into_report(subject(url.raw()), began.elapsed(), unreached);
    report.stopped = stopped;
    Ok(report)
}

/// The manager of the pretended league.
fn manager(token: &Token, desks: Desks) -> Arc<cast::Script> {
    let (token, reports) = (token.clone(), Mutex::new(BTreeMap::<String, usize>::new()));
    Arc::new(move |message: &Value, _| {
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
        let stamp = matchday_core::protocol::Timestamp::EPOCH;
        let answer = |kind: &str, fields: Value| {
            let mut answer = json!({
                "protocol": "league.v2", "message_type": kind, "sender": "league_manager", "timestamp": stamp,
                "conversation_id": message.get("conversation_id"),
            });
            if let (Some(answer), Value::Object(fields)) = (answer.as_object_mut(), fields) {
                answer.extend(fields);
            }
            Deed::Say(answer)
        };
        match text("message_type") {
            "REFEREE_REGISTER_REQUEST" => answer(
                "REFEREE_REGISTER_RESPONSE",
                json!({
                    "status": "ACCEPTED", "referee_id": REFEREE, "reason": null, "league_id": LEAGUE,
                    "auth_token": token.reveal(), "match_tokens": true,
                }),
            ),
            "MATCH_RESULT_REPORT" => {
                let id = text("match_id");
                let before = {
                    let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
                    let count = reports.entry(id.to_owned()).or_default();
                    *count += 1;
                    *count - 1
                };
                let desk = desks.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied();
                match desk.map_or(Taken::Acknowledged, |desk| desk(before)) {
                    Taken::Acknowledged => {
                        answer("MATCH_RESULT_ACK", json!({"match_id": id, "status": "recorded"}))
                    }
                    Taken::Failed => Deed::Fail,
                    Taken::Refused => answer(
                        "LEAGUE_ERROR",
                        json!({
                            "error_code": "E016", "error_name": "RESULT_CONFLICT",
                            "error_description": "RESULT_CONFLICT", "original_message_type": "MATCH_RESULT_REPORT",
                        }),
                    ),
                }
            }
            _ => Deed::Received,
        }
    })
}

/// Waits for the referee to register, and judges how it does.
async fn registration(sheet: &mut Sheet, log: &Log, within: Duration, conformance: Conformance) -> Enrolled {
    let deadline = Instant::now() + within;
    let came = loop {
        let is_request = |seen: &&Seen| seen.kind() == "REFEREE_REGISTER_REQUEST";
        let came = log.lock().unwrap_or_else(PoisonError::into_inner).iter().find(is_request).cloned();
        match came {
            Some(seen) => break seen,
            None if Instant::now() >= deadline => return Enrolled { endpoint: None, room: 1 },
            None => sleep(LOOK_EVERY).await,
        }
    };
    // Its answer may still be on the way into the log.
    sleep(LOOK_EVERY).await;
    let now = matchday_core::protocol::Timestamp::EPOCH;
    let read = |conformance| {
        decode(
            &came.message,
            &Reading { conformance, now, limits: Limits::MANAGER, exchange: None, about: None },
        )
    };
    let fault = match read(Conformance::Strict) {
        Ok(Incoming { body: Ok(_), .. }) => None,
        Ok(Incoming { body: Err(fault), .. }) | Err(fault) => Some(fault),
    };
    let lenient = read(Conformance::Lenient).ok().and_then(|incoming| incoming.body.ok());
    match fault {
        None => sheet.pass(&rules::REGISTERED, ""),
        Some(fault) => {
            let note = format!("{} ({})", fault.sentence(), fault.code);
            match conformance == Conformance::Lenient && lenient.is_some() {
                true => sheet.warn(&rules::REGISTERED, note, &came.exchange),
                false => sheet.broken(&rules::REGISTERED, note, &came.exchange),
            }
        }
    }
    match lenient {
        Some(Body::RefereeRegisterRequest(body)) => Enrolled {
            endpoint: Some(body.referee_meta.contact_endpoint.clone()),
            room: usize::try_from(body.referee_meta.max_concurrent_matches).unwrap_or(1).max(1),
        },
        _ => Enrolled { endpoint: None, room: 1 },
    }
}

/// Runs the suite. `room`: how many matches the referee takes at once, if it is registered here.
async fn examine(
    order: &Order,
    stage: Stage,
    mut sheet: Sheet,
    room: Option<usize>,
) -> anyhow::Result<Sheet> {
    let (mut gone, mut answers_otherwise) = (false, false);
    let stage = Arc::new(stage);
    if let Some(room) = room {
        let played = plain_match(order, &stage, &mut sheet, &mut gone, &mut answers_otherwise).await?;
        if !played {
            let own = rules::all().filter(|rule| rule.category != Category::JsonRpc);
            let others =
                own.filter(|rule| sheet.is_open(rule) && !rule.id.starts_with("robust.")).collect::<Vec<_>>();
            for rule in others.into_iter().chain([&rules::DUPLICATE, &rules::TWO_MATCHES, &rules::LATE]) {
                sheet.skip(rule, "it does not play a plain match to its end: mend that first");
            }
        } else {
            draw(&stage, &mut sheet).await?;
        }
        if played && !order.quick {
            two_matches(&stage, &mut sheet, room).await?;
            false_notice(&stage, &mut sheet).await?;
            all_faults(&stage, &mut sheet, room).await?;
        }
    }
    let mut wire = Wire {
        probe: &stage.probe,
        sheet: &mut sheet,
        gone: &mut gone,
        answers_otherwise: &mut answers_otherwise,
    };
    wire.broken_json().await;
    wire.ids().await;
    if !order.quick {
        wire.odd_requests().await;
        if let Some(like) = stage.round_completed() {
            wire.unknown_message(&like).await;
        }
        wire.slow_drip().await;
        wire.closed_connections().await;
    }
    wire.at_the_end().await;
    wire.settle_form();
    Ok(sheet)
}

const RIGHT: stage::Twist = |_, _, good| Deed::Say(good);
/// Takes long enough to tell a referee that asks one after the other from one that asks both at once.
const THOUGHTFUL: stage::Twist = |_, _, good| Deed::Later(Duration::from_millis(600), good);

async fn plain_match(
    order: &Order,
    stage: &Stage,
    sheet: &mut Sheet,
    gone: &mut bool,
    answers_otherwise: &mut bool,
) -> anyhow::Result<bool> {
    let game = stage.game(["even", "odd"], [Some(THOUGHTFUL); 2], |_| Taken::Acknowledged).await?;
    let reply = stage.tell(&stage.announcement(&[&game])).await;
    if let Some(reply) = &reply {
        Wire { probe: &stage.probe, sheet, gone, answers_otherwise }.judge_form(reply);
        match Heard::of(reply) {
            Heard::Message(_) | Heard::Received => sheet.pass(&rules::ANNOUNCED, ""),
            Heard::Refused { code, words } => {
                sheet.broken(&rules::ANNOUNCED, format!("it refused with {code}: {words}"), &reply.exchange);
            }
            Heard::Garbled(why) => sheet.broken(&rules::ANNOUNCED, why, &reply.exchange),
            Heard::Nothing => {
                sheet.broken(&rules::ANNOUNCED, reply.exchange.outcome_in_words(), &reply.exchange)
            }
            Heard::Unknown(why) => sheet.skip(&rules::ANNOUNCED, why),
        }
    }
    let played = stage.until(&game.match_id, PLAYED_WITHIN, is_over).await;
    let seen = stage.seen(&game.match_id);
    Judge { stage, sheet, conformance: order.conformance, game: &game, seen: &seen }.judge();
    Ok(played)
}

/// Whether a match is told to both, and reported.
fn is_over(seen: &[Seen]) -> bool {
    let told = |side: Side| {
        let to = |seen: &Seen| matches!(&seen.part, Part::Player(_, at) if *at == side);
        seen.iter().any(|seen| seen.kind() == "GAME_OVER" && to(seen))
    };
    told(Side::A) && told(Side::B) && reported(seen).is_some()
}

fn reported(seen: &[Seen]) -> Option<&Seen> {
    seen.iter().find(|seen| seen.kind() == "MATCH_RESULT_REPORT")
}

async fn draw(stage: &Stage, sheet: &mut Sheet) -> anyhow::Result<()> {
    let game = stage.game(["odd", "odd"], [Some(RIGHT); 2], |_| Taken::Acknowledged).await?;
    stage.tell(&stage.announcement(&[&game])).await;
    stage.until(&game.match_id, PLAYED_WITHIN, is_over).await;
    let seen = stage.seen(&game.match_id);
    let Some(report) = reported(&seen) else {
        sheet.broken(&rules::DRAW, "no report came", &Exchange::none("nothing came"));
        return Ok(());
    };
    let score = report.message.pointer("/result/score");
    let winner =
        report.message.pointer("/result/winner").and_then(Value::as_str).filter(|winner| *winner != "DRAW");
    match (score == Some(&json!({"P01": 1, "P02": 1})), winner) {
        (true, None) => sheet.pass(&rules::DRAW, ""),
        _ => sheet.broken(&rules::DRAW, "both chose odd: expected no winner and 1-1", &report.exchange),
    }
    Ok(())
}

/// Two matches in one announcement, of which the first takes longer.
async fn two_matches(stage: &Stage, sheet: &mut Sheet, room: usize) -> anyhow::Result<()> {
    let rule = &rules::TWO_MATCHES;
    if room < 2 {
        sheet.pass(rule, "it takes one match at a time, and says so");
        return Ok(());
    }
    const SLOW: stage::Twist = |kind, _, good| match kind {
        "CHOOSE_PARITY_CALL" => Deed::Later(Duration::from_millis(1500), good),
        _ => Deed::Say(good),
    };
    let first = stage.game(["even", "odd"], [Some(SLOW), Some(RIGHT)], |_| Taken::Acknowledged).await?;
    let second = stage.game(["odd", "even"], [Some(RIGHT); 2], |_| Taken::Acknowledged).await?;
    stage.tell(&stage.announcement(&[&first])).await;
    stage.tell(&stage.announcement(&[&second])).await;
    let mut times = Vec::new();
    for game in [&first, &second] {
        stage.until(&game.match_id, PLAYED_WITHIN, is_over).await;
        times.push(reported(&stage.seen(&game.match_id)).map(|seen| seen.at));
    }
    match times.as_slice() {
        [Some(first), Some(second)] if second < first => sheet.pass(rule, ""),
        [Some(_), Some(_)] => {
            let note = "the second match waited for the first to end";
            sheet.broken(rule, note, &Exchange::none("seen from the order of the reports"));
        }
        _ => sheet.broken(rule, "not both were reported", &Exchange::none("nothing came")),
    }
    Ok(())
}

/// An announcement by someone who does not know the notice token.
async fn false_notice(stage: &Stage, sheet: &mut Sheet) -> anyhow::Result<()> {
    let rule = &rules::FALSE_NOTICE;
    let game: Game = stage.game(["even", "odd"], [Some(RIGHT); 2], |_| Taken::Acknowledged).await?;
    let mut letter = stage.announcement(&[&game]);
    if let Some(letter) = letter.as_object_mut() {
        letter.insert("auth_token".to_owned(), json!(format!("tok_league_manager_{}", "0".repeat(64))));
    }
    let Some(reply) = stage.tell(&letter).await else { return Ok(()) };
    match Heard::of(&reply) {
        Heard::Refused { code, .. } if code == "E012" => sheet.pass(rule, ""),
        Heard::Unknown(why) => sheet.skip(rule, why),
        _ => {
            sheet.broken(rule, "expected LEAGUE_ERROR E012", &reply.exchange);
            // It is played then, and takes a place.
            stage.until(&game.match_id, PLAYED_WITHIN, is_over).await;
        }
    }
    Ok(())
}

/// Every fault in a match of its own, as many at once as the referee takes.
async fn all_faults(stage: &Arc<Stage>, sheet: &mut Sheet, room: usize) -> anyhow::Result<()> {
    let places = Arc::new(Semaphore::new(room));
    let mut playing = JoinSet::new();
    for plan in faults::plans() {
        let (stage, places) = (Arc::clone(stage), Arc::clone(&places));
        playing.spawn(async move {
            let _place = places.acquire_owned().await;
            let rule = plan.rule;
            (rule, Plan::play(&plan, &stage).await)
        });
    }
    while let Some(played) = playing.join_next().await {
        let (rule, found) = played?;
        match found? {
            Ok(()) => sheet.pass(rule, ""),
            Err((note, exchange)) => sheet.broken(rule, note, &exchange),
        }
    }
    Ok(())
}
