//! `check referee`: plays manager and players against a running referee, in plain matches and with injected faults,
//! and checks its behaviour against the rules.
//!
//! # Layout
//! - `rules`: the rules for referees; `registration`: `--wait`, the referee registers with us
//! - `scripted_agents`: the servers it calls; `fake_league`: the matches and messages that it is sent
//! - `plain_match`: checks every message of one match; `scenarios`: matches with injected faults

mod fake_league;
mod plain_match;
mod registration;
pub mod rules;
mod scenarios;
mod scripted_agents;

use super::exchange::Exchange;
use super::reply::{ReplyKind, check_acknowledged};
use super::report::{Findings, Report};
use super::role::AgentRole;
use super::rule::{Category, Rule};
use super::wire::{Wire, WireState};
use super::{CheckOptions, QUICK_MAX, Wait, preflight};
use fake_league::{Behaviour, FakeLeague, FakeMatch, REFEREE, ReportReply};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::Token;
use matchday_runtime::{Clock, entropy_from_system};
use plain_match::MatchJudge;
use registration::{Registered, ReportPolicies};
use scenarios::Scenario;
use scripted_agents::{Log, ReceivedMessage, Recipient, ScriptedReply, ScriptedServer, Side};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);
const PLAYED_WITHIN: Duration = Duration::from_secs(15);
const NOBODY_CAME: &str = "no referee registered here in time - start it with this address as its manager's, or name its URL. If it was started, see what it printed: one that ended at once says why there";
const NEEDS_REGISTRATION: &str = "a referee plays for its own manager only: check it with --wait";

pub async fn check(mut options: CheckOptions) -> anyhow::Result<Report> {
    let mut entropy = entropy_from_system()?;
    let wait = options.wait.take();
    let waits = wait.is_some();
    let applies = |rule: &&Rule| match rule.category {
        Category::Registration => waits,
        _ => rule.quick || !options.quick,
    };
    let mut findings = Findings::new(rules::all().filter(applies).collect());
    let (log, policies, token) = (
        Log::default(),
        ReportPolicies::default(),
        Token::issue(REFEREE, &mut entropy),
    );
    let mut registered = Registered {
        role: None,
        endpoint: None,
        capacity: 1,
    };
    let mut server: Option<ScriptedServer> = None;
    if let Some(Wait { listener, within }) = wait {
        let clock = Clock::start();
        let script = registration::manager(&token, Arc::clone(&policies), clock);
        server = Some(scripted_agents::serve(
            listener,
            Recipient::Manager,
            Arc::clone(&log),
            script,
        )?);
        registered = registration::wait(&mut findings, &log, within, clock).await;
    }
    let began = Instant::now();
    let Some(url) = options.url.clone().or_else(|| registered.endpoint.clone()) else {
        let subject = options.subject(AgentRole::Referee, "(unknown)");
        let mut report = findings.into_report(subject, Duration::ZERO, "nothing registered");
        report.stopped = Some(match registered.role {
            Some(role) => role.registers_instead_of(AgentRole::Referee),
            None => NOBODY_CAME.to_owned(),
        });
        return Ok(report);
    };
    preflight::wait_until_listening(
        url.raw(),
        if waits {
            LISTEN_TIMEOUT
        } else {
            Duration::ZERO
        },
    )
    .await;
    let probe = options.probe(&url, QUICK_MAX);
    let stopped = preflight::record_reachable(&probe, &mut findings).await;
    let capacity = registered.endpoint.is_some().then_some(registered.capacity);
    if stopped.is_none() {
        let entropy = Entropy::from_seed(entropy.bytes());
        let league = FakeLeague::new(probe, log, token, policies, url.raw().to_owned(), entropy);
        findings = examine(&options, league, findings, capacity).await?;
    }
    drop(server);
    let unreached = if capacity.is_some() {
        "not checked: an earlier step failed"
    } else {
        NEEDS_REGISTRATION
    };
    let subject = options.subject(AgentRole::Referee, url.raw());
    let mut report = findings.into_report(subject, began.elapsed(), unreached);
    report.stopped = stopped;
    Ok(report)
}

/// Runs the suite. `capacity`: the referee's `max_concurrent_matches`, if it registered here.
async fn examine(
    options: &CheckOptions,
    league: FakeLeague,
    mut findings: Findings,
    capacity: Option<usize>,
) -> anyhow::Result<Findings> {
    let mut state = WireState::default();
    let league = Arc::new(league);
    if let Some(capacity) = capacity {
        let played = plain_match(&league, &mut findings, &mut state).await?;
        if !played {
            let own = rules::all().filter(|rule| rule.category != Category::JsonRpc);
            let others = own
                .filter(|rule| findings.is_undecided(rule) && !rule.id.starts_with("robust."))
                .collect::<Vec<_>>();
            for rule in
                others
                    .into_iter()
                    .chain([&rules::DUPLICATE, &rules::TWO_MATCHES, &rules::LATE])
            {
                findings.skip(
                    rule,
                    "it does not play a plain match to its end: fix that first",
                );
            }
        } else {
            draw(&league, &mut findings).await?;
        }
        if played && !options.quick {
            two_matches(&league, &mut findings, capacity).await?;
            false_notice(&league, &mut findings).await?;
            all_faults(&league, &mut findings, capacity).await?;
        }
    }
    let mut wire = Wire {
        probe: &league.probe,
        findings: &mut findings,
        state: &mut state,
    };
    wire.broken_json().await;
    wire.ids().await;
    if !options.quick {
        wire.odd_requests().await;
        if let Some(like) = league.round_completed() {
            wire.unknown_message(&like).await;
        }
        wire.slow_drip().await;
        wire.closed_connections().await;
    }
    wire.alive_at_end().await;
    wire.finish_format_rules();
    Ok(findings)
}

const CORRECT: Behaviour = |_, _, good| ScriptedReply::Say(good);
/// Slow enough to tell a referee that asks the players in sequence from one that asks both at once.
const SLOW_PLAYER: Behaviour = |_, _, good| ScriptedReply::Later(Duration::from_millis(600), good);

async fn plain_match(
    league: &FakeLeague,
    findings: &mut Findings,
    state: &mut WireState,
) -> anyhow::Result<bool> {
    let game = league
        .game(["even", "odd"], [Some(SLOW_PLAYER); 2], |_| {
            ReportReply::Acknowledged
        })
        .await?;
    let (reply, begun) = league.assign_first(&game).await;
    if let Some(reply) = &reply {
        Wire {
            probe: &league.probe,
            findings,
            state,
        }
        .check_response_format(reply);
        check_acknowledged(findings, &rules::ANNOUNCED, reply);
    }
    let within = if begun { PLAYED_WITHIN } else { Duration::ZERO };
    let played = league.wait_until(&game.match_id, within, is_over).await;
    let received = league.received(&game.match_id);
    MatchJudge {
        league,
        findings,
        game: &game,
        received: &received,
    }
    .judge();
    Ok(played)
}

/// Whether both players were sent GAME_OVER and the manager a report.
fn is_over(received: &[ReceivedMessage]) -> bool {
    let is_notified = |side: Side| {
        let to = |received: &ReceivedMessage| matches!(&received.recipient, Recipient::Player(_, at) if *at == side);
        received
            .iter()
            .any(|received| received.message_type() == "GAME_OVER" && to(received))
    };
    is_notified(Side::A) && is_notified(Side::B) && reported(received).is_some()
}

fn reported(received: &[ReceivedMessage]) -> Option<&ReceivedMessage> {
    received
        .iter()
        .find(|received| received.message_type() == "MATCH_RESULT_REPORT")
}

async fn draw(league: &FakeLeague, findings: &mut Findings) -> anyhow::Result<()> {
    let game = league
        .game(["odd", "odd"], [Some(CORRECT); 2], |_| {
            ReportReply::Acknowledged
        })
        .await?;
    league.assign(&game).await;
    league
        .wait_until(&game.match_id, PLAYED_WITHIN, is_over)
        .await;
    let received = league.received(&game.match_id);
    let Some(report) = reported(&received) else {
        findings.violated(
            &rules::DRAW,
            "no report came",
            &Exchange::none("nothing came"),
        );
        return Ok(());
    };
    let score = report.message.pointer("/result/score");
    let winner = report
        .message
        .pointer("/result/winner")
        .and_then(Value::as_str)
        .filter(|winner| *winner != "DRAW");
    match (score == Some(&json!({"P01": 1, "P02": 1})), winner) {
        (true, None) => findings.pass(&rules::DRAW, ""),
        _ => findings.violated(
            &rules::DRAW,
            "both chose odd: expected no winner and 1-1",
            &report.exchange,
        ),
    }
    Ok(())
}

/// Two matches at once, of which the first is slower.
async fn two_matches(
    league: &FakeLeague,
    findings: &mut Findings,
    capacity: usize,
) -> anyhow::Result<()> {
    let rule = &rules::TWO_MATCHES;
    if capacity < 2 {
        findings.pass(rule, "it takes one match at a time, and says so");
        return Ok(());
    }
    const SLOW: Behaviour = |kind, _, good| match kind {
        "CHOOSE_PARITY_CALL" => ScriptedReply::Later(Duration::from_millis(1500), good),
        _ => ScriptedReply::Say(good),
    };
    let first = league
        .game(["even", "odd"], [Some(SLOW), Some(CORRECT)], |_| {
            ReportReply::Acknowledged
        })
        .await?;
    let second = league
        .game(["odd", "even"], [Some(CORRECT); 2], |_| {
            ReportReply::Acknowledged
        })
        .await?;
    league.assign(&first).await;
    league.assign(&second).await;
    let mut times = Vec::new();
    for game in [&first, &second] {
        league
            .wait_until(&game.match_id, PLAYED_WITHIN, is_over)
            .await;
        times.push(reported(&league.received(&game.match_id)).map(|received| received.at));
    }
    match times.as_slice() {
        [Some(first), Some(second)] if second < first => findings.pass(rule, ""),
        [Some(_), Some(_)] => {
            let note = "the second match waited for the first to end";
            findings.violated(
                rule,
                note,
                &Exchange::none("seen from the order of the reports"),
            );
        }
        _ => findings.violated(
            rule,
            "not both were reported",
            &Exchange::none("nothing came"),
        ),
    }
    Ok(())
}

/// An announcement with an invalid notice token.
async fn false_notice(league: &FakeLeague, findings: &mut Findings) -> anyhow::Result<()> {
    let rule = &rules::FALSE_NOTICE;
    let game: FakeMatch = league
        .game(["even", "odd"], [Some(CORRECT); 2], |_| {
            ReportReply::Acknowledged
        })
        .await?;
    let mut request = league.announcement(&[&game]);
    if let Some(request) = request.as_object_mut() {
        request.insert(
            "auth_token".to_owned(),
            json!(format!("tok_league_manager_{}", "0".repeat(64))),
        );
    }
    let Some(reply) = league.send_message(&request).await else {
        return Ok(());
    };
    match ReplyKind::of(&reply) {
        ReplyKind::Refused { code, .. } if code == "E012" => findings.pass(rule, ""),
        ReplyKind::Unknown(why) => findings.skip(rule, why),
        _ => {
            findings.violated(rule, "expected LEAGUE_ERROR E012", &reply.exchange);
            // The match is then played, and occupies the referee.
            league
                .wait_until(&game.match_id, PLAYED_WITHIN, is_over)
                .await;
        }
    }
    Ok(())
}

/// One match for each scenario, as many at once as the referee accepts.
async fn all_faults(
    league: &Arc<FakeLeague>,
    findings: &mut Findings,
    capacity: usize,
) -> anyhow::Result<()> {
    let places = Arc::new(Semaphore::new(capacity));
    let mut playing = JoinSet::new();
    for scenario in scenarios::all() {
        let league = Arc::clone(league);
        let places = Arc::clone(&places);
        playing.spawn(async move {
            let _place = places.acquire_owned().await;
            let rule = scenario.rule;
            (rule, Scenario::play(&scenario, &league).await)
        });
    }
    while let Some(played) = playing.join_next().await {
        let (rule, found) = played?;
        match found? {
            Ok(()) => findings.pass(rule, ""),
            Err((note, exchange)) => findings.violated(rule, note, &exchange),
        }
    }
    Ok(())
}
