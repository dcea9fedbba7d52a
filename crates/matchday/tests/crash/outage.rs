//! A database that is away for longer than any deadline, below a manager: its league stands still, requests that it must store
//! are answered 503, and it goes on by itself.

use crate::agents::Agents;
use crate::stopping::{champion, events, span, technical_losses};
use crate::{PLAYERS, REFEREES, assert_right_end};
use matchday_store::StoreUrl;
use matchday_testkit::cut_proxy::{CutProxy, Direction};
use matchday_testkit::eventually::eventually;
use matchday_testkit::page::{ask, get, value};
use matchday_testkit::postgres::Cluster;
use serde_json::json;
use std::time::Instant;

/// A registration, of which the manager must store that it was refused or taken.
fn registration() -> String {
    let message = json!({
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": "player:late",
        "timestamp": "2026-03-02T09:00:00Z",
        "conversation_id": "conv-late",
        "player_meta": {
            "display_name": "Late",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": "http://127.0.0.1:9/mcp",
        },
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message}).to_string()
}

fn until(what: &str, agents: &Agents, holds: impl Fn() -> bool) {
    eventually(what, || {
        if holds() {
            Ok(())
        } else {
            Err(agents.last_words())
        }
    });
}

/// Plays a league whose database goes away by `away` once play has begun, and comes back by `back`.
fn outlasts(away: impl Fn(&Cluster, &CutProxy), back: impl Fn(&Cluster, &CutProxy)) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let proxy = cluster.proxy();
    let address = cluster.database_behind(&proxy);
    let store = StoreUrl::from(address.as_str());
    let agents = Agents::start(folder.path(), &address, PLAYERS, REFEREES);
    until("a match", &agents, || {
        events(&store)
            .iter()
            .any(|event| event["type"] == "match_assigned")
    });
    away(&cluster, &proxy);
    let gone = Instant::now();
    until("away", &agents, || {
        get(&agents.manager, "/health/ready")
            .body
            .contains("its store is unavailable")
    });
    let refused = ask(&agents.manager, "POST", "/mcp", &registration());
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.head.contains("retry-after: "), "{refused:?}");
    let ready = get(&agents.manager, "/health/ready");
    assert!(
        ready.status == 503 && ready.body.contains("its store is unavailable"),
        "{ready:?}"
    );
    let page = get(&agents.manager, "/api/league");
    assert!(
        page.status == 503 && page.head.contains("retry-after: "),
        "{page:?}"
    );
    assert!(
        !page.body.contains("postgres"),
        "a stranger is not told where the database is: {page:?}"
    );
    let figure = |name: &str| value(&get(&agents.manager, "/metrics").body, name);
    assert_eq!(figure("matchday_store_away"), 1.0);
    std::thread::sleep(span().saturating_sub(gone.elapsed()));
    back(&cluster, &proxy);
    until("ready", &agents, || {
        get(&agents.manager, "/health/ready").status == 200
    });
    assert_eq!(figure("matchday_store_away"), 0.0);
    until("a champion", &agents, || champion(&store));
    let said = agents.said("manager");
    for line in ["the store is unavailable", "the store is available again"] {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
    drop(agents);
    assert_right_end(folder.path(), &store);
    let lost = technical_losses(&store);
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn a_league_outlasts_a_database_that_is_stopped_at_once() {
    outlasts(
        |cluster, _| cluster.stop("immediate"),
        |cluster, _| cluster.up(),
    );
}

#[test]
fn a_league_outlasts_a_database_that_is_killed() {
    outlasts(|cluster, _| cluster.kill(), |cluster, _| cluster.up());
}

#[test]
fn a_league_outlasts_a_network_that_is_cut() {
    outlasts(|_, proxy| proxy.cut(), |_, proxy| proxy.restore());
}

#[test]
fn a_league_outlasts_a_network_that_answers_nothing_and_then_ends() {
    outlasts(
        |_, proxy| proxy.hold(Direction::ToClient),
        |_, proxy| {
            proxy.cut();
            proxy.restore();
        },
    );
}
