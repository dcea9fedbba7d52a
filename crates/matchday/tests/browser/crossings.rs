//! The front door where it crosses what else a service may be: one of several that share a database, behind a proxy that speaks TLS.

#[path = "../cluster/fixture.rs"]
#[allow(dead_code, reason = "another suite uses all of it")]
mod services;

use crate::script::{Script, can_be_run};
use crate::service::fixture::{Fixture, SERVICE_TOKEN};
use matchday_testkit::certificates::{Authority, Pair};
use matchday_testkit::cli::{Process, free_address};
use services::{Service, Services};

/// Plays the scenario; players come when it says so. They are started at the service, whatever stands before it.
fn steers(url: &str, more: &[&str], player: impl Fn(&str) -> Process) {
    let mut script = Script::start("crossings", url, &[&[SERVICE_TOKEN], more].concat());
    script.until("closed");
    let refused = player("climbers");
    refused.until("Registration closed");
    script.until("open");
    let _climbers = joined(&player, "climbers");
    script.until("season");
    let _players = joined(&player, "nightly");
    script.until("scheduled");
    script.succeeds();
}

fn joined(player: &impl Fn(&str) -> Process, league: &str) -> Vec<Process> {
    let players: Vec<_> = (0..2).map(|_| player(league)).collect();
    players
        .iter()
        .for_each(|player| player.until("registered as"));
    players
}

#[test]
fn a_service_is_operated_in_the_browser() {
    if !can_be_run() {
        return;
    }
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let url = format!("http://{}/", fixture.listen);
    steers(&url, &[], |league| fixture.player(league));
}

#[test]
fn a_service_behind_a_proxy_that_speaks_tls_is_operated_in_the_browser() {
    if !can_be_run() {
        return;
    }
    let fixture = Fixture::new();
    let public = format!("https://{}", free_address());
    let _service = fixture.serve(&[
        "--public-url",
        &public,
        "--trusted-proxies",
        "127.0.0.1",
        "--endpoints",
        "any",
    ]);
    let authority = Authority::new("lab");
    let Pair { cert, key } = authority.issue(fixture.cli.path(), "proxy", &["127.0.0.1"]);
    let behind = format!("http://{}/", fixture.listen);
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (cert, key) = (text(&cert), text(&key));
    steers(&format!("{public}/"), &[&behind, &cert, &key], |league| {
        fixture.player(league)
    });
}

#[test]
fn a_service_that_owns_no_league_is_operated_in_the_browser() {
    let Some(services) = Services::start().filter(|_| can_be_run()) else {
        return;
    };
    let (owner, asked): (Service, Service) = services.two();
    let url = format!("http://{}/", asked.listen);
    steers(&url, &[], |league| services.player(&owner, league));
}
