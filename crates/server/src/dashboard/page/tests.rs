//! Pages of a league that is at hand, without HTTP: the log of a small league that was written long ago.

mod model_calls;
mod stage;

use super::*;
use crate::dashboard::access::Access;
use crate::dashboard::projection::{Projection, Snapshot};
use matchday_core::event_codec;
use matchday_core::league::{League, LeagueEvent, Proof, RegistrationRecord, RenewedBy};
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{MatchId, PlayerId, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const LOG: &str = include_str!("../../../../core/tests/manager/league_v1.jsonl");

/// The league after so many of its events.
fn after(events: usize) -> Snapshot {
    let mut projection = Projection::new();
    for (seq, line) in (1..).zip(LOG.lines()).take(events) {
        let (at, event) = event_codec::decode(line).unwrap();
        projection.apply(seq, at, &event);
    }
    Snapshot {
        projection: Arc::new(projection),
        messages: 0,
    }
}

fn whole() -> Snapshot {
    after(LOG.lines().count())
}

/// The first moment at which the league fulfils this.
fn when(wanted: impl Fn(&League) -> bool) -> Snapshot {
    let snapshots = (1..=LOG.lines().count()).map(after);
    snapshots
        .into_iter()
        .find(|snapshot| wanted(&snapshot.projection.league))
        .expect("such a moment")
}

fn value(page: impl Serialize) -> Value {
    serde_json::to_value(page).unwrap()
}

fn location() -> league::LeagueLocation {
    let manager = Some("http://localhost:8000/mcp".to_owned());
    league::LeagueLocation {
        live: true,
        manager,
        file: "league.db".to_owned(),
        registration: matchday_core::league::Registration::Open,
        has_relay: true,
    }
}

fn no_records() -> losses::LossRecords {
    losses::LossRecords {
        fallbacks: BTreeMap::new(),
        source: "http://localhost:8000/".to_owned(),
    }
}

fn first_page(snapshot: &Snapshot) -> Value {
    let now = Timestamp::from_micros(1_736_940_000_123_456);
    value(league::page(
        snapshot,
        None,
        &location(),
        now,
        Access::PUBLIC,
    ))
}

#[test]
fn the_league_when_it_is_over() {
    insta::assert_json_snapshot!(first_page(&whole()));
}

#[test]
fn the_table_of_a_league() {
    insta::assert_json_snapshot!(value(standings::page(&whole(), None, None)));
}

#[test]
fn a_round_of_a_league() {
    insta::assert_json_snapshot!(value(rounds::one(&whole(), 1, (0, 100), Access::PUBLIC)));
}

#[test]
fn a_player_of_a_league() {
    insta::assert_json_snapshot!(value(player::page(
        &whole(),
        &PlayerId::new("P01"),
        &[],
        &no_records(),
        None,
        Access::PUBLIC
    )));
}

#[test]
fn what_is_to_be_done_follows_from_how_far_the_league_is() {
    let first = |snapshot: &Snapshot| {
        first_page(snapshot)["next"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(first(&after(1)).starts_with("No referee has registered yet"));
    let ready = when(|league| league.players.len() >= 2 && !league.referees.is_empty());
    assert!(
        first(&ready).contains("start the league"),
        "{}",
        first(&ready)
    );
    let running = when(|league| league.phase == Phase::Running);
    assert_eq!(first_page(&running)["next"], serde_json::json!([]));
    assert!(first(&whole()).starts_with("Verify every number"));
    let stopped = league::LeagueLocation {
        live: false,
        manager: None,
        ..location()
    };
    let page = value(league::page(
        &running,
        None,
        &stopped,
        Timestamp::EPOCH,
        Access::PUBLIC,
    ));
    assert_eq!(
        page["next"][0]["command"],
        "matchday manager --store league.db"
    );
}

#[test]
fn a_visitor_of_a_service_is_told_how_to_join_and_no_command_of_the_operator() {
    let ready = when(|league| league.players.len() >= 2 && !league.referees.is_empty());
    let service = league::LeagueLocation {
        manager: Some("https://leagues.example/leagues/monday/mcp".to_owned()),
        ..location()
    };
    let next = |access| {
        let page = value(league::page(
            &ready,
            None,
            &service,
            Timestamp::EPOCH,
            access,
        ));
        assert_eq!(
            page["join"],
            serde_json::json!({
                "url": "https://leagues.example/leagues/monday/mcp",
                "dial": true,
                "needs_code": false
            })
        );
        page["next"].to_string()
    };
    let visitor = next(Access::PUBLIC);
    assert!(
        visitor.contains("the operator starts the league") && !visitor.contains("matchday start"),
        "{visitor}"
    );
    assert!(next(Access::OPERATOR).contains("matchday start"));
}

#[test]
fn an_agent_that_has_registered_again_is_a_warning() {
    let ready = when(|league| league.players.len() >= 2 && !league.referees.is_empty());
    let mut projection = Projection::clone(&ready.projection);
    let (id, known) = projection.league.players.iter().next().unwrap();
    let request = RegistrationRecord {
        proof: Proof::Conversation(known.token),
        sent_at: Timestamp::EPOCH,
        client: None,
        renewed_by: Some(RenewedBy::Address),
    };
    let event = LeagueEvent::PlayerRegistered {
        player_id: id.clone(),
        meta: known.meta.clone(),
        token: known.token,
        dialect: known.dialect,
        request,
    };
    projection.apply(100, Timestamp::EPOCH, &event);
    let page = first_page(&Snapshot {
        projection: Arc::new(projection),
        messages: 0,
    });
    let text = page["next"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("Warning: P01 has registered again once, last known by its address alone"),
        "{text}"
    );
    assert_eq!(
        page["next"][0]["command"],
        "matchday admin rotate P01 --manager http://localhost:8000/mcp"
    );
}

#[test]
fn a_match_goes_through_its_states() {
    let id = MatchId::new("R1M1");
    let state = |snapshot: &Snapshot| {
        let page = one_match::page(snapshot, &id, None, Access::PUBLIC, "league.db")?;
        Some(value(page)["state"].as_str()?.to_owned())
    };
    let mut states: Vec<Option<String>> = (0..=LOG.lines().count())
        .map(|events| state(&after(events)))
        .collect();
    states.dedup();
    let states: Vec<String> = states.into_iter().flatten().collect();
    assert_eq!(states, ["scheduled", "assigned", "playing", "decided"]);
}

#[test]
fn the_version_grows_with_every_event_and_every_message() {
    let versions: Vec<u64> = (0..=5).map(|events| after(events).version()).collect();
    assert_eq!(versions, [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        Snapshot {
            messages: 7,
            ..after(5)
        }
        .version(),
        12
    );
}

#[test]
fn nothing_of_a_match_that_is_not_decided_is_told_but_its_state() {
    let playing = when(|league| league.matches.values().any(|game| game.in_play));
    let (id, _) = playing
        .projection
        .league
        .matches
        .iter()
        .find(|(_, game)| game.in_play)
        .unwrap();
    let page = value(one_match::page(
        &playing,
        id,
        None,
        Access::PUBLIC,
        "league.db",
    ));
    assert!(page["withheld"].is_string(), "{page}");
    for silent in [
        "status",
        "winner",
        "score",
        "reason",
        "blame",
        "moves",
        "draw",
        "decided_at",
    ] {
        assert!(page.get(silent).is_none(), "{silent}: {page}");
    }
}

#[test]
fn ratings_that_are_being_computed_have_their_column() {
    let pending = |snapshot: &Snapshot| {
        value(standings::page(snapshot, None, None))["ratings_pending"].clone()
    };
    assert_eq!(pending(&after(1)), false);
    assert_eq!(pending(&whole()), true);
}

#[test]
fn points_are_told_after_rounds_that_were_played() {
    let snapshots = (1..=LOG.lines().count()).map(after);
    for snapshot in snapshots {
        let league = &snapshot.projection.league;
        for id in league.players.keys() {
            let own = league
                .matches
                .values()
                .filter(|game| game.has(id) && game.decision.is_some());
            let completed = league.rounds.iter().filter(|round| round.completed).count();
            let told = race::points_by_round(league, id);
            assert!(told.len() <= own.count().max(completed), "{id}: {told:?}");
            assert!(told.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}

#[test]
fn the_race_ends_with_the_points_of_the_table() {
    let race = value(race::page(&whole()));
    let table = value(standings::page(&whole(), None, None));
    let rows = table["rows"].as_array().unwrap();
    for (runner, row) in race["players"].as_array().unwrap().iter().zip(rows) {
        assert_eq!(runner["id"], row["id"]);
        assert_eq!(
            runner["points"].as_array().unwrap().last(),
            Some(&row["points"])
        );
    }
}

#[test]
fn a_technical_loss_is_a_loss_too() {
    let mut cell = cross_table::Meetings::default();
    cell.add('T', "R1M1");
    assert_eq!(
        value(cell),
        serde_json::json!({ "w": 0, "d": 0, "l": 1, "t": 1, "last": "R1M1" })
    );
}

#[test]
fn the_commands_of_an_empty_league_can_be_given_twice() {
    let page = first_page(&after(1));
    let commands: Vec<&str> = page["next"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["command"].as_str())
        .collect();
    assert_eq!(commands.len(), 2);
    assert!(
        commands
            .iter()
            .all(|command| command.contains("--listen 127.0.0.1:0")),
        "{commands:?}"
    );
}

#[test]
fn a_league_that_is_over_has_awards() {
    let page = first_page(&whole());
    let kinds: Vec<&str> = page["awards"]
        .as_array()
        .unwrap()
        .iter()
        .map(|award| award["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["fastest", "without_play"], "no game was long");
    let running = when(|league| league.phase == Phase::Running);
    assert!(first_page(&running).get("awards").is_none());
}

#[test]
fn the_featured_boards_are_those_being_played_first() {
    let playing = when(|league| league.matches.values().filter(|game| game.in_play).count() > 1);
    let league = &playing.projection.league;
    let chosen = featured::choose(league, None, None, 2);
    assert!(
        chosen.iter().all(|id| league.matches[id].in_play),
        "{chosen:?}"
    );
    let page = value(featured::page(
        &playing,
        &chosen,
        &BTreeMap::new(),
        Access::PUBLIC,
    ));
    let board = &page["boards"][0];
    // In even/odd both choose at once, and nothing is shown before the result.
    assert_eq!(board["view"]["rounds"], serde_json::json!([]));
    assert_eq!(board["to_move"].as_array().unwrap().len(), 2);
}

#[test]
fn a_loss_is_told_with_the_command_that_plays_it_again() {
    let snapshot = whole();
    let league = &snapshot.projection.league;
    let beaten = league.players.keys().find(|id| {
        let page = player::page(&snapshot, id, &[], &no_records(), None, Access::PUBLIC);
        value(page)["why_lost"]
            .as_array()
            .is_some_and(|losses| !losses.is_empty())
    });
    let id = beaten.expect("someone lost");
    let page = value(player::page(
        &snapshot,
        id,
        &[],
        &no_records(),
        None,
        Access::PUBLIC,
    ));
    let loss = &page["why_lost"][0];
    let wanted = format!(
        "matchday replay http://localhost:8000/ --match {} --as {id} --wait",
        loss["match_id"].as_str().unwrap()
    );
    assert_eq!(loss["command"], wanted);
}
