//! The files in `deploy/`: what they ask for exists, and the tools that read them find nothing wrong.

use crate::page::{Played, address, figures, tool};
use http_body_util::BodyExt;
use matchday_net::tls::{ServerTls, ServerTlsFiles};
use matchday_runtime::telemetry::{Telemetry, metrics_response};
use matchday_store::{Store, backup_mark};
use matchday_testkit::certificates::Authority;
use matchday_testkit::cli::{Cli, free_address};
use matchday_testkit::postgres::Cluster;
use matchday_testkit::tools;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const METRICS: &str = include_str!("../../../../docs/metrics.md");
const ALARMS: &str = include_str!("../../../../docs/alarms.md");
const DASHBOARD: &str = include_str!("../../../../deploy/grafana-dashboard.json");
const ALERTS: &str = include_str!("../../../../deploy/alerts.yml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

/// Every name of a metric in a text.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("matchday_") || word.starts_with("process_"));
    ours.map(str::to_owned).collect()
}

/// Every series that a played league exports, and every metric.
fn exported(played: &Played) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut series = BTreeSet::new();
    let mut metrics = BTreeSet::new();
    let mut pages: Vec<String> = [&played.manager, &played.referee, &played.players[0]]
        .map(|agent| figures(&address(agent)))
        .into();
    pages.extend(sharing_service());
    pages.push(with_certificate_and_copy());
    for page in pages {
        for line in page.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(rest) => metrics.insert(rest.split(' ').next().unwrap().to_owned()),
                None => series.insert(line.split(['{', ' ']).next().unwrap().to_owned()),
            };
        }
    }
    (series, metrics)
}

/// The metrics of a service with a certificate and a copy of its store.
fn with_certificate_and_copy() -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("service.db")).unwrap();
    backup_mark::note(store.url()).unwrap();
    let pair = Authority::new("test").issue(folder.path(), "service", &["localhost"]);
    let tls = ServerTls::read(ServerTlsFiles {
        cert: pair.cert,
        key: pair.key,
        client_ca: None,
    });
    let telemetry = Telemetry::default();
    telemetry
        .metrics
        .service
        .shown
        .store(true, std::sync::atomic::Ordering::Relaxed);
    telemetry.metrics.show_store(&store);
    telemetry.metrics.show_certificate(Some(&tls.unwrap()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let body = runtime.block_on(async {
        let page = metrics_response(&telemetry).await.into_body();
        page.collect().await.unwrap().to_bytes()
    });
    String::from_utf8(body.to_vec()).unwrap()
}

/// The metrics of a service that shares its database with others. `None` where PostgreSQL is not installed, which fails the gate.
fn sharing_service() -> Option<String> {
    let database = Cluster::start()?;
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let service = cli.start(&[
        "serve",
        "--listen",
        &listen,
        "--store",
        &database.database(),
    ]);
    service.until("leagues are served at");
    Some(figures(&listen))
}

/// The queries of all panels.
fn panels() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    targets
        .map(|target| target["expr"].as_str().unwrap().to_owned())
        .collect()
}

/// The same, and those of all variables.
fn queries() -> String {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let asked = variables.filter_map(|variable| variable["definition"].as_str().map(str::to_owned));
    panels()
        .into_iter()
        .chain(asked)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn dashboard_and_alarms_ask_only_for_what_is_exported() {
    let (series, _) = exported(&Played::new());
    for name in named(&queries()) {
        assert!(
            series.contains(&name),
            "the dashboard asks for {name}, which nobody exports"
        );
    }
    let rules = ALERTS
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .collect::<Vec<_>>()
        .join("\n");
    for name in named(&rules) {
        assert!(
            series.contains(&name),
            "an alarm asks for {name}, which nobody exports"
        );
    }
}

#[test]
fn every_metric_has_a_panel_and_a_row() {
    let (_, metrics) = exported(&Played::new());
    let shown = named(&queries());
    for metric in &metrics {
        let seen = shown
            .iter()
            .any(|name| name == metric || name.starts_with(&format!("{metric}_")));
        assert!(
            seen || metric == "process_virtual_memory_bytes",
            "no panel shows {metric}"
        );
        assert!(
            METRICS.contains(&format!("| `{metric}`")),
            "docs/metrics.md has no {metric}"
        );
    }
}

#[test]
fn every_alarm_is_documented() {
    let alarms: Vec<_> = ALERTS
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .collect();
    assert!(alarms.len() > 10);
    for alarm in alarms {
        assert!(
            ALARMS.contains(&format!("| `{alarm}` |")),
            "docs/alarms.md does not say what to do about {alarm}"
        );
    }
}

#[test]
fn prometheus_reads_the_alarms_and_they_go_off() {
    if !tools::require("promtool") {
        return;
    }
    let check = |args: &[&str]| {
        let (content, said) = tool(
            Command::new("promtool").args(args).current_dir(folder()),
            "",
        );
        assert!(content, "{said}");
        said
    };
    let said = check(&["check", "rules", "alerts.yml"]);
    assert!(said.contains("rules found"), "{said}");
    check(&["test", "rules", "alerts_test.yml"]);
}

#[test]
fn prometheus_can_read_every_query_of_the_dashboard() {
    if !tools::require("promtool") {
        return;
    }
    let mut rules = "groups:\n  - name: panels\n    rules:\n".to_owned();
    for (number, query) in panels().iter().enumerate() {
        let query = query
            .replace("$__rate_interval", "5m")
            .replace("$job", ".*");
        let query = query
            .replace("$instance", ".*")
            .replace("$role", ".*")
            .replace('\'', "''");
        assert!(!query.contains('$'), "{query}");
        rules.push_str(&format!(
            "      - record: panel:{number}\n        expr: '{query}'\n"
        ));
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), rules).unwrap();
    let (content, said) = tool(
        Command::new("promtool")
            .args(["check", "rules"])
            .arg(file.path()),
        "",
    );
    assert!(content && panels().len() > 30, "{said}");
}

#[test]
fn the_dashboard_has_no_panel_twice_and_no_panel_over_another() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut ids = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let place = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(place("x") + place("w") <= 24, "{panel}");
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(cells.insert((x, y)), "{} lies over another", panel["title"]);
            }
        }
    }
}

/// The units with the program that is tested in the place where they expect it.
fn units(into: &Path) -> Vec<PathBuf> {
    let program = env!("CARGO_BIN_EXE_matchday");
    let named = [
        ("matchday-manager.service", "matchday-manager.service"),
        ("matchday-referee@.service", "matchday-referee@8001.service"),
        ("matchday-serve.service", "matchday-serve.service"),
        (
            "matchday-backup@.service",
            "matchday-backup@manager.service",
        ),
    ];
    let units = named.map(|(file, unit)| {
        let text = fs::read_to_string(folder().join(file)).unwrap();
        assert!(text.contains("ExecStart=/usr/local/bin/matchday"), "{file}");
        let path = into.join(unit);
        let backup = folder().join("backup").canonicalize().unwrap();
        let text = text.replace("/usr/local/bin/matchday-backup", backup.to_str().unwrap());
        fs::write(&path, text.replace("/usr/local/bin/matchday", program)).unwrap();
        path
    });
    units.into()
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    if !tools::require("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for unit in units(folder.path()) {
        let (content, said) = tool(
            Command::new("systemd-analyze")
                .args(["verify", "--man=no"])
                .arg(&unit),
            "",
        );
        assert!(
            content && said.trim().is_empty(),
            "{}: {said}",
            unit.display()
        );
    }
}

#[test]
fn systemd_finds_nothing_wrong_with_the_timers() {
    if !tools::require("systemd-analyze") {
        return;
    }
    let into = tempfile::tempdir().unwrap();
    units(into.path());
    let (file, unit) = ("matchday-backup@.timer", "matchday-backup@manager.timer");
    let path = into.path().join(unit);
    fs::copy(folder().join(file), &path).unwrap();
    let (content, said) = tool(
        Command::new("systemd-analyze")
            .args(["verify", "--man=no"])
            .arg(&path),
        "",
    );
    assert!(content && said.trim().is_empty(), "{unit}: {said}");
}

#[test]
fn systemd_rates_the_units_as_well_shut_in() {
    if !tools::require("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for unit in units(folder.path()) {
        // In tenths: systemd calls less than 2.0 "OK", and an ordinary service is at 9.6.
        let args = ["security", "--offline=true", "--no-pager", "--threshold=15"];
        let (content, said) = tool(Command::new("systemd-analyze").args(args).arg(&unit), "");
        assert!(content, "{said}");
    }
}

#[test]
fn the_health_check_of_the_container_succeeds_only_for_an_agent_that_is_ready() {
    let cli = Cli::new(crate::MATCHDAY);
    let check = |at: &str| {
        let port = at.rsplit(':').next().unwrap();
        let by_script = tool(Command::new(folder().join("healthcheck")).arg(port), "").0;
        let by_program = tool(
            Command::new(crate::MATCHDAY)
                .arg("health")
                .env("MATCHDAY_PORT", port),
            "",
        )
        .0;
        assert_eq!(by_script, by_program);
        by_program
    };
    let player = cli.agent(&["player"]);
    player.until("cannot register");
    assert!(!check(&address(&player)), "it is not registered");
    let manager = cli.manager(&[]);
    assert!(check(&address(&manager)));
    player.until("registered as");
    let at = address(&manager);
    drop(manager);
    assert!(!check(&at), "nobody is there");
}

#[test]
fn the_image_runs_without_root_on_a_file_system_that_it_cannot_write_to() {
    let probe = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .arg("--bind")
        .args([probe.path(), probe.path()])
        .output();
    if !tools::require_mount(mounted.is_ok_and(|mounted| mounted.status.success())) {
        return;
    }
    let _ = Command::new("umount").arg(probe.path()).status();
    let port = free_address().rsplit(':').next().unwrap().to_owned();
    let mut check = Command::new(folder().join("check-container"));
    let (content, said) = tool(check.arg(crate::MATCHDAY).env("MATCHDAY_PORT", port), "");
    assert!(content, "{said}");
}
