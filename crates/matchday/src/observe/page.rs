//! All figures of a process on one page. The names and what they mean are told in docs/operating.md.

use super::exposition::Exposition;
use super::labels::{Direction, Kind, Outcome, Role};
use super::metrics::{Fate, LOG_LINES_DROPPED, Metrics, Tally};
use super::probe::Look;
use super::process;
use bytes::Bytes;
use matchday_core::protocol::messages::Phase;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// However many look at once, the agents are asked only so often.
const FRESH: Duration = Duration::from_millis(100);

pub(super) async fn page(metrics: &Metrics) -> Bytes {
    let mut last = metrics.page.lock().await;
    if let Some((at, page)) = &*last
        && at.elapsed() < FRESH
    {
        return page.clone();
    }
    let look = Look::at(metrics).await;
    let mut out = Exposition::default();
    out.gauge("matchday_build_info", "The program that runs here.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    agents(&mut out, &look);
    league(&mut out, &look);
    milestones(&mut out, metrics, &look);
    messages(&mut out, metrics, &look);
    queues(&mut out, metrics, &look);
    stores(&mut out, &look);
    process::write(&mut out, metrics.began);
    let page = Bytes::from(out.into_text());
    *last = Some((Instant::now(), page.clone()));
    page
}

/// The roles that there are in this process.
fn roles(look: &Look) -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(|role| look.agents.iter().any(|seen| seen.role == *role))
}

fn sum(look: &Look, role: Role, count: impl Fn(&super::probe::Seen) -> usize) -> usize {
    look.agents.iter().filter(|seen| seen.role == role).map(count).sum()
}

fn agents(out: &mut Exposition, look: &Look) {
    let mut family = out.gauge("matchday_agents", "Agents that run in this process, by how they stand.");
    for role in roles(look) {
        for (state, counts) in [("ready", Some(false)), ("unready", Some(true)), ("silent", None)] {
            let count = sum(look, role, |seen| {
                usize::from(seen.census.as_ref().map(|census| census.lacks.is_some()) == counts)
            });
            family.value(&[("role", role.name()), ("state", state)], count);
        }
    }
    let mut family = out.gauge("matchday_matches_live", "Matches being played, as the agents know of them.");
    for role in roles(look) {
        let live = |seen: &super::probe::Seen| seen.census.as_ref().map_or(0, |census| census.matches_live);
        family.value(&[("role", role.name())], sum(look, role, live));
    }
    let mut family =
        out.gauge("matchday_matches_waiting", "Matches that wait for a referee, for their time or for room.");
    for role in roles(look) {
        let waiting =
            |seen: &super::probe::Seen| seen.census.as_ref().map_or(0, |census| census.matches_waiting);
        family.value(&[("role", role.name())], sum(look, role, waiting));
    }
}

fn league(out: &mut Exposition, look: &Look) {
    let found = look.agents.iter().find_map(|seen| seen.census.as_ref()?.league.as_ref());
    let Some(league) = found else { return };
    let mut family = out.gauge("matchday_league_phase", "1 for the phase that the league is in.");
    for (phase, name) in [
        (Phase::Registration, "registration"),
        (Phase::Running, "running"),
        (Phase::Paused, "paused"),
        (Phase::Completed, "completed"),
    ] {
        family.value(&[("phase", name)], u8::from(league.phase == phase));
    }
    out.gauge("matchday_league_round", "The latest round that was announced; 0 before the first.")
        .value(&[], league.round);
    out.gauge("matchday_league_rounds", "Rounds that the league has.").value(&[], league.rounds);
    out.gauge("matchday_league_matches", "Matches that the league has.").value(&[], league.matches);
    out.gauge("matchday_league_matches_decided", "Matches of the league that have a result now.")
        .value(&[], league.matches_decided);
    let mut family = out.gauge("matchday_league_members", "Agents that are registered and not withdrawn.");
    family.value(&[("kind", "player")], league.players);
    family.value(&[("kind", "referee")], league.referees);
    let mut family = out.gauge("matchday_league_members_suspended", "Agents that are suspended now.");
    family.value(&[("kind", "player")], league.players_suspended);
    family.value(&[("kind", "referee")], league.referees_suspended);
}

fn milestones(out: &mut Exposition, metrics: &Metrics, look: &Look) {
    let name = "matchday_matches_decided_total";
    let mut family = out.counter(name, "Results, by how the match ended; counted from the log.");
    for role in roles(look).filter(|role| *role != Role::Player) {
        for (outcome, tally) in
            [("win", Tally::Won), ("draw", Tally::Drawn), ("technical_loss", Tally::Technical)]
        {
            let labels = [("role", role.name()), ("outcome", outcome)];
            family.value(&labels, metrics.tally(role, tally));
        }
    }
    let both: &[Role] = &[Role::Manager, Role::Referee];
    let (manager, referee, player) = (&[Role::Manager], &[Role::Referee], &[Role::Player]);
    let simple: [(&'static str, &'static str, Tally, &[Role]); 9] = [
        (
            "matchday_matches_assigned_total",
            "Attempts at matches; counted from the log.",
            Tally::Assigned,
            both,
        ),
        (
            "matchday_attempts_lost_total",
            "Attempts at matches that came to nothing; counted from the log.",
            Tally::AttemptLost,
            both,
        ),
        (
            "matchday_matches_voided_total",
            "Results that the operator has struck; counted from the log.",
            Tally::Voided,
            manager,
        ),
        (
            "matchday_rounds_announced_total",
            "Rounds that were announced; counted from the log.",
            Tally::RoundAnnounced,
            manager,
        ),
        (
            "matchday_rounds_completed_total",
            "Rounds that were played to their end; counted from the log.",
            Tally::RoundCompleted,
            manager,
        ),
        (
            "matchday_suspensions_total",
            "Times that an agent was suspended; counted from the log.",
            Tally::Suspended,
            manager,
        ),
        (
            "matchday_recoveries_total",
            "Times that a suspended agent came back; counted from the log.",
            Tally::Recovered,
            manager,
        ),
        (
            "matchday_reports_refused_total",
            "Results that the manager did not accept; counted from the log.",
            Tally::ReportRefused,
            referee,
        ),
        (
            "matchday_fallback_choices_total",
            "Moves that the fallback chose, because the mind outside did not; counted from the log.",
            Tally::FellBack,
            player,
        ),
    ];
    for (name, help, tally, whose) in simple {
        let mut family = out.counter(name, help);
        for role in roles(look).filter(|role| whose.contains(role)) {
            family.value(&[("role", role.name())], metrics.tally(role, tally));
        }
    }
}

fn messages(out: &mut Exposition, metrics: &Metrics, look: &Look) {
    let name = "matchday_messages_total";
    let mut family = out.counter(name, "Exchanges that are over, by how they ended.");
    for (role, direction) in pairs(look) {
        for kind in Kind::all() {
            for outcome in Outcome::all() {
                let count = metrics.messages(role, direction, kind, outcome);
                if count > 0 {
                    let labels = [
                        ("role", role.name()),
                        ("direction", direction.name()),
                        ("type", kind.name()),
                        ("outcome", outcome.name()),
                    ];
                    family.value(&labels, count);
                }
            }
        }
    }
    let mut family = out.counter("matchday_errors_total", "Exchanges that did not end well, by why.");
    for (role, direction) in pairs(look) {
        for outcome in Outcome::all().filter(|outcome| !outcome.is_ok()) {
            let count: u64 = Kind::all().map(|kind| metrics.messages(role, direction, kind, outcome)).sum();
            let labels = [("role", role.name()), ("direction", direction.name()), ("code", outcome.name())];
            family.value(&labels, count);
        }
    }
    let name = "matchday_request_duration_seconds";
    let mut family = out.histogram(name, "How long we took to answer (in), and our peers (out), in seconds.");
    for (role, direction) in pairs(look) {
        for kind in Kind::all() {
            let spread = metrics.durations(role, direction, kind).map(|histogram| histogram.spread());
            if let Some(spread) = spread.filter(|spread| spread.count > 0) {
                let labels = [("role", role.name()), ("direction", direction.name()), ("type", kind.name())];
                family.spread(&labels, &spread);
            }
        }
    }
    let name = "matchday_deadline_used_ratio";
    let mut family = out.histogram(name, "Which part of the time allowed was gone when a call was over.");
    for role in roles(look) {
        for kind in Kind::all() {
            let spread = metrics.deadlines(role, kind).map(|histogram| histogram.spread());
            if let Some(spread) = spread.filter(|spread| spread.count > 0) {
                family.spread(&[("role", role.name()), ("type", kind.name())], &spread);
            }
        }
    }
}

fn pairs(look: &Look) -> impl Iterator<Item = (Role, Direction)> {
    roles(look).flat_map(|role| Direction::ALL.map(|direction| (role, direction)))
}

fn queues(out: &mut Exposition, metrics: &Metrics, look: &Look) {
    let mut family = out.gauge("matchday_requests_waiting", "Requests that wait for their reply.");
    for role in roles(look) {
        family.value(&[("role", role.name())], sum(look, role, |seen| seen.requests_waiting));
    }
    let mut family = out.gauge("matchday_calls_in_flight", "Calls of ours that are not answered yet.");
    for role in roles(look) {
        family.value(&[("role", role.name())], metrics.calls(role));
    }
    out.gauge("matchday_connections_open", "Connections that others have to this process.")
        .value(&[], metrics.connections.load(Ordering::Relaxed));
    out.counter("matchday_log_lines_dropped_total", "Log lines that nobody read in time.")
        .value(&[], LOG_LINES_DROPPED.load(Ordering::Relaxed));
    let mut family = out.counter("matchday_trace_spans_total", "Spans, by what became of them.");
    for fate in Fate::ALL {
        family.value(&[("outcome", fate.name())], metrics.spans(fate));
    }
}

fn stores(out: &mut Exposition, look: &Look) {
    // What several would add up to means nothing; a manager may have another one for its seats.
    let Some(store) = look.stores.first() else { return };
    let (stats, figures) = (store.stats(), store.figures());
    out.gauge("matchday_store_queue_batches", "Batches that wait to be stored.")
        .value(&[], stats.queue_depth);
    out.counter("matchday_store_events_total", "Events that were stored.").value(&[], stats.events);
    out.counter("matchday_store_exchanges_total", "Messages that were kept for replay.")
        .value(&[], stats.exchanges);
    out.gauge("matchday_store_size_bytes", "How large the store is, in bytes.").value(&[], store.bytes());
    out.gauge("matchday_store_failed", "1 if nothing can be stored any more.")
        .value(&[], u8::from(store.trouble().is_some()));
    out.histogram(
        "matchday_store_commit_duration_seconds",
        "How long it took until a commit was on disk, in seconds.",
    )
    .spread(&[], &figures.seconds.spread());
    out.histogram("matchday_store_commit_events", "How many events a commit carried.")
        .spread(&[], &figures.events.spread());
}
