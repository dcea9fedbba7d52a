//! The debugging report: history and totals, no tokens, no choice of a match that is still open.

use super::seat::*;
use matchday_core::agent::{Ask, Content, Input, Request, RequestId};
use matchday_core::protocol::Query;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::{
    Champion, LeagueCompleted, LeagueStandingsUpdate, Parity, StandingRow,
};
use matchday_core::protocol::{DisplayName, RoundId};
use serde_json::{Value, json};

fn data(content: Content) -> Value {
    match content {
        Content::Data(data) => data,
        other => panic!("data, not {other:?}"),
    }
}

#[test]
fn the_state_tells_history_and_totals_and_no_secret() {
    let mut seat = Seat::taken("mirror");
    seat.tell(from_referee(
        &m(1, 1),
        1,
        game_over(&m(1, 1), p(2), Parity::Even, Parity::Odd, 4),
    ));
    let choice = seat.parity(from_referee(&m(2, 1), 1, parity_call(&m(2, 1))));
    let state = data(seat.ask(Ask::Query(Query::PlayerState.into())));
    assert_eq!(state["player_id"], "P01");
    assert!(!state.to_string().contains("mirror"), "{state}");
    assert_eq!(state["registration"], "accepted");
    assert_eq!(
        state["totals"],
        json!({ "played": 1, "wins": 1, "draws": 0, "losses": 0 })
    );
    assert_eq!(state["opponents"]["P02"]["wins"], 1);
    assert_eq!(state["history"][0]["match_id"], "R1M1");
    assert_eq!(state["open_matches"][0]["match_id"], "R2M1");
    let text = state.to_string();
    assert!(!text.contains(own_token().reveal()));
    assert!(!text.contains(choice.nonce.unwrap().0.as_str()));
}

#[test]
fn the_state_tells_our_place_in_the_last_table() {
    let mut seat = Seat::taken("random");
    let row = StandingRow {
        rank: 3,
        player_id: p(1),
        display_name: DisplayName::parse("Alpha").unwrap(),
        played: 1,
        wins: 0,
        draws: 1,
        losses: 0,
        points: 1,
        shared_rank: None,
        technical_losses: None,
        rating: None,
        rating_deviation: None,
        rank_reason: None,
    };
    seat.tell(from_manager(LeagueStandingsUpdate {
        league_id: league(),
        round_id: RoundId(1),
        standings: vec![row].into(),
    }));
    assert_eq!(
        data(seat.ask(Ask::Query(Query::PlayerState.into())))["standing"]["rank"],
        3
    );
}

#[test]
fn a_ping_is_answered() {
    assert_eq!(
        data(Seat::empty("random").ask(Ask::Query(Query::Ping.into()))),
        json!({ "status": "ok" })
    );
}

#[test]
fn how_it_plays_is_told_to_nobody_and_how_often_that_failed_to_its_own_machine_only() {
    let mut seat = Seat::taken("mirror");
    let told = data(seat.ask(Ask::Query(Query::PlayerState.into())));
    assert_eq!(
        (told.get("strategy"), &told["fallbacks"]["count"]),
        (None, &json!(0))
    );
    let mut step = seat.step(Input::Request(Request {
        id: RequestId(1),
        ask: Ask::Query(Query::PlayerState.into()),
        dialect: Dialect::Standard,
        local: false,
        objection: None,
        client: None,
        join_code: None,
    }));
    let told = data(step.replies.remove(0).content);
    assert_eq!(
        (told.get("strategy"), &told["fallbacks"]),
        (None, &Value::Null)
    );
}

#[test]
fn a_player_is_shut_down_once_the_league_is_over_and_says_so() {
    let mut seat = Seat::empty("random");
    assert_eq!(
        data(seat.ask(Ask::Query(Query::PlayerState.into())))["state"],
        "INIT"
    );
    let mut seat = Seat::taken("random");
    assert_eq!(
        data(seat.ask(Ask::Query(Query::PlayerState.into())))["state"],
        "REGISTERED"
    );
    let _ = seat.parity(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))));
    assert_eq!(
        data(seat.ask(Ask::Query(Query::PlayerState.into())))["state"],
        "ACTIVE"
    );
    seat.tell(from_manager(LeagueCompleted {
        league_id: league(),
        total_rounds: 1,
        total_matches: 1,
        champion: Champion {
            player_id: p(1),
            display_name: DisplayName::parse("A").unwrap(),
            points: 3,
        },
        champions: Vec::new(),
        final_standings: Vec::new().into(),
        checkpoint: None,
    }));
    assert_eq!(
        data(seat.ask(Ask::Query(Query::PlayerState.into())))["state"],
        "SHUTDOWN"
    );
}
