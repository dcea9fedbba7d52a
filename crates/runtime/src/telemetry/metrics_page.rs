//! The page `/metrics`: all metrics of a process. docs/metrics.md lists them.

use super::exposition::Exposition;
use super::labels::{Direction, MessageLabel, OutcomeLabel, Role};
use super::league_counters::{NAMED_MAX, OTHERS};
use super::metrics::{LOG_LINES_DROPPED, Metrics, MilestoneKind, SpanOutcome};
use super::probe::Snapshot;
use super::process;
use bytes::Bytes;
use matchday_core::metrics::LeagueGauges;
use matchday_core::protocol::messages::Phase;
use matchday_store::backup_mark;
use std::cmp::Reverse;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};
use tokio::time::Instant;
use tracing_appender::non_blocking::ErrorCounter;

/// However many scrape at once, the agents are probed only so often.
const CACHE_AGE_MAX: Duration = Duration::from_millis(100);

pub(super) async fn render(metrics: &Metrics) -> Bytes {
    let mut last = metrics.page.lock().await;
    if let Some((at, page)) = &*last
        && at.elapsed() < CACHE_AGE_MAX
    {
        return page.clone();
    }
    let snapshot = Snapshot::take(metrics).await;
    let mut out = Exposition::default();
    out.gauge("matchday_build_info", "The program that runs here.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    agents(&mut out, &snapshot);
    league(&mut out, &snapshot);
    league_exchanges(&mut out, metrics);
    milestones(&mut out, metrics, &snapshot);
    messages(&mut out, metrics, &snapshot);
    queues(&mut out, metrics, &snapshot);
    metrics.relay.write(&mut out);
    metrics.cluster.write(&mut out);
    metrics.service.write(&mut out);
    metrics.computations.write(&mut out);
    if let Some(at) = metrics.certificate_expires_at() {
        out.gauge(
            "matchday_tls_certificate_expiry_timestamp_seconds",
            "When the certificate that is shown to callers expires, in seconds since 1970.",
        )
        .value(&[], at);
    }
    stores(&mut out, &snapshot);
    process::write(&mut out, metrics.began);
    let page = Bytes::from(out.into_text());
    *last = Some((Instant::now(), page.clone()));
    page
}

/// The roles that there are in this process.
fn roles(snapshot: &Snapshot) -> impl Iterator<Item = Role> {
    Role::ALL
        .into_iter()
        .filter(|role| snapshot.agents.iter().any(|agent| agent.role == *role))
}

fn sum(
    snapshot: &Snapshot,
    role: Role,
    count: impl Fn(&super::probe::AgentSnapshot) -> usize,
) -> usize {
    snapshot
        .agents
        .iter()
        .filter(|agent| agent.role == role)
        .map(count)
        .sum()
}

fn agents(out: &mut Exposition, snapshot: &Snapshot) {
    let mut family = out.gauge(
        "matchday_agents",
        "Agents that run in this process, by how they stand.",
    );
    for role in roles(snapshot) {
        for (state, counts) in [
            ("ready", Some(false)),
            ("unready", Some(true)),
            ("silent", None),
        ] {
            let count = sum(snapshot, role, |agent| {
                usize::from(agent.gauges.as_ref().map(|gauges| gauges.lacks.is_some()) == counts)
            });
            family.value(&[("role", role.name()), ("state", state)], count);
        }
    }
    let mut family = out.gauge(
        "matchday_matches_live",
        "Matches being played, as the agents know of them.",
    );
    for role in roles(snapshot) {
        let live = |agent: &super::probe::AgentSnapshot| {
            agent
                .gauges
                .as_ref()
                .map_or(0, |gauges| gauges.matches_live)
        };
        family.value(&[("role", role.name())], sum(snapshot, role, live));
    }
    let mut family = out.gauge(
        "matchday_matches_waiting",
        "Matches that wait for a referee, for their time or for room.",
    );
    for role in roles(snapshot) {
        let waiting = |agent: &super::probe::AgentSnapshot| {
            agent
                .gauges
                .as_ref()
                .map_or(0, |gauges| gauges.matches_waiting)
        };
        family.value(&[("role", role.name())], sum(snapshot, role, waiting));
    }
}

/// The leagues of the process, by what `league` is to say of them. One alone needs no name; of several those without a referee and the
/// busiest have theirs.
fn leagues(snapshot: &Snapshot) -> Vec<(Option<String>, Vec<&LeagueGauges>)> {
    let gauges = snapshot
        .agents
        .iter()
        .filter_map(|agent| agent.gauges.as_ref());
    let mut leagues: Vec<(usize, &LeagueGauges)> = gauges
        .filter_map(|gauges| Some((gauges.matches_live, gauges.league.as_ref()?)))
        .collect();
    if let [(_, only)] = leagues.as_slice() {
        return vec![(None, vec![only])];
    }
    leagues.sort_by_key(|(live, league)| {
        (
            !league.without_referee,
            Reverse(*live),
            league.league_id.clone(),
        )
    });
    let rest = leagues.split_off(leagues.len().min(NAMED_MAX));
    let mut named: Vec<_> = leagues
        .into_iter()
        .map(|(_, league)| (Some(league.league_id.to_string()), vec![league]))
        .collect();
    if !rest.is_empty() {
        named.push((
            Some(OTHERS.to_owned()),
            rest.into_iter().map(|(_, league)| league).collect(),
        ));
    }
    named
}

type Figure = fn(&LeagueGauges) -> usize;

fn league(out: &mut Exposition, snapshot: &Snapshot) {
    let leagues = leagues(snapshot);
    if leagues.is_empty() {
        return;
    }
    let mut family = out.gauge(
        "matchday_league_phase",
        "1 for the phase that the league is in.",
    );
    for (name, leagues) in &leagues {
        for (phase, phase_name) in [
            (Phase::Registration, "registration"),
            (Phase::Running, "running"),
            (Phase::Paused, "paused"),
            (Phase::Completed, "completed"),
        ] {
            let count = leagues
                .iter()
                .filter(|league| league.phase == phase)
                .count();
            family.value(
                &with_league(name.as_deref(), &[("phase", phase_name)]),
                count,
            );
        }
    }
    let figures: [(&str, &str, Figure); 4] = [
        (
            "matchday_league_round",
            "The latest round that was announced; 0 before the first.",
            |league| usize::try_from(league.round).unwrap_or(usize::MAX),
        ),
        (
            "matchday_league_rounds",
            "Rounds that the league has.",
            |league| league.rounds,
        ),
        (
            "matchday_league_matches",
            "Matches that the league has.",
            |league| league.matches,
        ),
        (
            "matchday_league_matches_decided",
            "Matches of the league that have a result now.",
            |league| usize::try_from(league.matches_decided).unwrap_or(usize::MAX),
        ),
    ];
    for (metric, help, figure) in figures {
        let mut family = out.gauge(metric, help);
        for (name, leagues) in &leagues {
            let sum: usize = leagues.iter().map(|league| figure(league)).sum();
            family.value(&with_league(name.as_deref(), &[]), sum);
        }
    }
    let mut family = out.gauge(
        "matchday_league_without_referee",
        "1 if the league is running and none of its referees answers.",
    );
    for (name, leagues) in &leagues {
        let count = leagues
            .iter()
            .filter(|league| league.without_referee)
            .count();
        family.value(&with_league(name.as_deref(), &[]), count);
    }
    let mut family = out.gauge(
        "matchday_league_waiting_since_seconds",
        "Since when no match of those that are due has begun or ended, in seconds since 1970; 0 if none is due.",
    );
    for (name, leagues) in &leagues {
        let since = leagues
            .iter()
            .filter_map(|league| league.waiting_since)
            .min();
        let seconds = since.map_or(0, |since| since.as_micros().div_euclid(1_000_000));
        family.value(&with_league(name.as_deref(), &[]), seconds);
    }
    let members: [(&str, &str, [Figure; 2]); 2] = [
        (
            "matchday_league_members",
            "Agents that are registered and not withdrawn.",
            [|league| league.players, |league| league.referees],
        ),
        (
            "matchday_league_members_suspended",
            "Agents that are suspended now.",
            [
                |league| league.players_suspended,
                |league| league.referees_suspended,
            ],
        ),
    ];
    for (metric, help, figures) in members {
        let mut family = out.gauge(metric, help);
        for (name, leagues) in &leagues {
            for (kind, figure) in ["player", "referee"].into_iter().zip(figures) {
                let sum: usize = leagues.iter().map(|league| figure(league)).sum();
                family.value(&with_league(name.as_deref(), &[("kind", kind)]), sum);
            }
        }
    }
}

/// Exchanges of the busiest leagues of a service, and of all others together.
fn league_exchanges(out: &mut Exposition, metrics: &Metrics) {
    let series = metrics.leagues.scrape();
    let mut family = out.counter(
        "matchday_league_exchanges_total",
        "Exchanges of a league's agents, of the busiest leagues.",
    );
    for (league, counts) in &series {
        family.value(
            &[("league", league), ("direction", Direction::In.name())],
            counts.received,
        );
        family.value(
            &[("league", league), ("direction", Direction::Out.name())],
            counts.sent,
        );
    }
    let mut family = out.counter(
        "matchday_league_errors_total",
        "Those of them that did not end well.",
    );
    for (league, counts) in &series {
        family.value(&[("league", league)], counts.failed);
    }
}

fn with_league<'a>(
    league: Option<&'a str>,
    labels: &[(&'static str, &'a str)],
) -> Vec<(&'static str, &'a str)> {
    league
        .map(|league| ("league", league))
        .into_iter()
        .chain(labels.iter().copied())
        .collect()
}

fn milestones(out: &mut Exposition, metrics: &Metrics, snapshot: &Snapshot) {
    let name = "matchday_matches_decided_total";
    let mut family = out.counter(
        name,
        "Results, by how the match ended; counted from the log.",
    );
    for role in roles(snapshot).filter(|role| *role != Role::Player) {
        for (outcome, tally) in [
            ("win", MilestoneKind::Won),
            ("draw", MilestoneKind::Drawn),
            ("technical_loss", MilestoneKind::Technical),
        ] {
            let labels = [("role", role.name()), ("outcome", outcome)];
            family.value(&labels, metrics.tally(role, tally));
        }
    }
    let both: &[Role] = &[Role::Manager, Role::Referee];
    let manager = &[Role::Manager];
    let referee = &[Role::Referee];
    let player = &[Role::Player];
    let simple: [(&'static str, &'static str, MilestoneKind, &[Role]); 9] = [
        (
            "matchday_matches_assigned_total",
            "Attempts at matches; counted from the log.",
            MilestoneKind::Assigned,
            both,
        ),
        (
            "matchday_attempts_lost_total",
            "Aborted attempts at matches; counted from the log.",
            MilestoneKind::AttemptLost,
            both,
        ),
        (
            "matchday_matches_voided_total",
            "Results that the operator has voided; counted from the log.",
            MilestoneKind::Voided,
            manager,
        ),
        (
            "matchday_rounds_announced_total",
            "Rounds that were announced; counted from the log.",
            MilestoneKind::RoundAnnounced,
            manager,
        ),
        (
            "matchday_rounds_completed_total",
            "Rounds that were played to their end; counted from the log.",
            MilestoneKind::RoundCompleted,
            manager,
        ),
        (
            "matchday_suspensions_total",
            "Times that an agent was suspended; counted from the log.",
            MilestoneKind::Suspended,
            manager,
        ),
        (
            "matchday_recoveries_total",
            "Times that a suspended agent came back; counted from the log.",
            MilestoneKind::Recovered,
            manager,
        ),
        (
            "matchday_reports_refused_total",
            "Results that the manager did not accept; counted from the log.",
            MilestoneKind::ReportRefused,
            referee,
        ),
        (
            "matchday_fallback_choices_total",
            "Moves that the fallback chose, because the program or the model did not; counted from the log.",
            MilestoneKind::FellBack,
            player,
        ),
    ];
    for (name, help, tally, whose) in simple {
        let mut family = out.counter(name, help);
        for role in roles(snapshot).filter(|role| whose.contains(role)) {
            family.value(&[("role", role.name())], metrics.tally(role, tally));
        }
    }
}

fn messages(out: &mut Exposition, metrics: &Metrics, snapshot: &Snapshot) {
    let name = "matchday_messages_total";
    let mut family = out.counter(name, "Exchanges that are over, by how they ended.");
    for (role, direction) in pairs(snapshot) {
        for kind in MessageLabel::all() {
            for outcome in OutcomeLabel::all() {
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
    let mut family = out.counter(
        "matchday_errors_total",
        "Exchanges that did not end well, by why.",
    );
    for (role, direction) in pairs(snapshot) {
        for outcome in OutcomeLabel::all().filter(|outcome| !outcome.is_ok()) {
            let count: u64 = MessageLabel::all()
                .map(|kind| metrics.messages(role, direction, kind, outcome))
                .sum();
            let labels = [
                ("role", role.name()),
                ("direction", direction.name()),
                ("code", outcome.name()),
            ];
            family.value(&labels, count);
        }
    }
    let name = "matchday_request_duration_seconds";
    let mut family = out.histogram(
        name,
        "How long we took to answer (in), and our peers (out), in seconds.",
    );
    for (role, direction) in pairs(snapshot) {
        for kind in MessageLabel::all() {
            let histogram = metrics
                .durations(role, direction, kind)
                .map(|histogram| histogram.snapshot());
            if let Some(histogram) = histogram.filter(|histogram| histogram.count > 0) {
                let labels = [
                    ("role", role.name()),
                    ("direction", direction.name()),
                    ("type", kind.name()),
                ];
                family.histogram(&labels, &histogram);
            }
        }
    }
    let name = "matchday_deadline_used_ratio";
    let mut family = out.histogram(
        name,
        "Which part of the time allowed was gone when a call was over.",
    );
    for role in roles(snapshot) {
        for kind in MessageLabel::all() {
            let histogram = metrics
                .deadlines(role, kind)
                .map(|histogram| histogram.snapshot());
            if let Some(histogram) = histogram.filter(|histogram| histogram.count > 0) {
                family.histogram(&[("role", role.name()), ("type", kind.name())], &histogram);
            }
        }
    }
}

fn pairs(snapshot: &Snapshot) -> impl Iterator<Item = (Role, Direction)> {
    roles(snapshot).flat_map(|role| Direction::ALL.map(|direction| (role, direction)))
}

fn queues(out: &mut Exposition, metrics: &Metrics, snapshot: &Snapshot) {
    let mut family = out.gauge(
        "matchday_requests_waiting",
        "Requests that wait for their reply.",
    );
    for role in roles(snapshot) {
        family.value(
            &[("role", role.name())],
            sum(snapshot, role, |agent| agent.requests_waiting),
        );
    }
    let mut family = out.gauge(
        "matchday_calls_in_flight",
        "Own calls that are not answered yet.",
    );
    for role in roles(snapshot) {
        family.value(&[("role", role.name())], metrics.calls(role));
    }
    out.gauge(
        "matchday_connections_open",
        "Connections that others have to this process.",
    )
    .value(&[], metrics.connections.load(Ordering::Relaxed));
    out.counter(
        "matchday_log_lines_dropped_total",
        "Log lines that nobody read in time.",
    )
    .value(
        &[],
        LOG_LINES_DROPPED
            .get()
            .map_or(0, ErrorCounter::dropped_lines),
    );
    let mut family = out.counter(
        "matchday_trace_spans_total",
        "Spans, by what became of them.",
    );
    for outcome in SpanOutcome::ALL {
        family.value(&[("outcome", outcome.name())], metrics.spans(outcome));
    }
}

fn stores(out: &mut Exposition, snapshot: &Snapshot) {
    // What several would add up to means nothing; a manager may have another one for its seats.
    let Some(store) = snapshot.stores.first() else {
        return;
    };
    let stats = store.stats();
    let commits = store.commit_metrics();
    out.gauge(
        "matchday_store_queue_batches",
        "Batches that wait to be stored.",
    )
    .value(&[], stats.queue_depth);
    out.counter("matchday_store_events_total", "Events that were stored.")
        .value(&[], stats.events);
    out.counter(
        "matchday_store_exchanges_total",
        "Messages that were kept for replay.",
    )
    .value(&[], stats.exchanges);
    out.gauge(
        "matchday_store_size_bytes",
        "How large the store is, in bytes.",
    )
    .value(&[], store.bytes());
    if let Some(at) = backup_mark::noted_at(store.url()) {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        out.gauge(
            "matchday_store_backup_timestamp_seconds",
            "When the last good copy was made by `matchday backup`, in seconds since 1970.",
        )
        .value(&[], since.as_secs());
    }
    out.gauge(
        "matchday_store_failed",
        "1 if nothing can be stored any more.",
    )
    .value(&[], u8::from(store.failure().is_some()));
    out.gauge(
        "matchday_store_away",
        "1 while the store cannot be reached and its leagues wait.",
    )
    .value(&[], u8::from(store.unavailable().is_some()));
    out.counter(
        "matchday_store_outages_total",
        "How often the store could not be reached.",
    )
    .value(&[], stats.outages);
    out.histogram(
        "matchday_store_commit_duration_seconds",
        "How long it took until a commit was on disk, in seconds.",
    )
    .histogram(&[], &commits.micros.snapshot());
    out.histogram(
        "matchday_store_commit_events",
        "How many events a commit carried.",
    )
    .histogram(&[], &commits.events.snapshot());
}
