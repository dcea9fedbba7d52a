//! What the manager tells a referee, and what someone who only says so does not.

use crate::bench::*;
use matchday_core::agent::{Agent, Answer, Ask, Content};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::*;
use matchday_core::referee::{RefereeEvent, RefereeSettings};
use serde_json::json;

fn assignment(endpoints: bool) -> MatchAssignment {
    MatchAssignment {
        name: AssignmentName::MatchAssignment,
        league_id: None,
        round_id: None,
        match_id: m("R2M1"),
        game_type: Some(GameType::new("even_odd")),
        player_a_id: p(1),
        player_b_id: p(2),
        player_a_endpoint: endpoints.then(|| endpoint(1)),
        player_b_endpoint: endpoints.then(|| endpoint(2)),
    }
}

fn players() -> LeagueQueryResponse {
    let listing = |n| {
        json!({"player_id": p(n), "display_name": "A", "version": "1.0.0", "state": "ACTIVE",
        "contact_endpoint": endpoint(n)})
    };
    LeagueQueryResponse {
        query_type: Query::Players,
        success: true,
        data: json!({"players": [listing(1), listing(2)]})
            .as_object()
            .cloned(),
        standings: None,
        error: None,
    }
}

fn completed(round: u32) -> RoundCompleted {
    let summary = RoundSummary {
        total_matches: 1,
        wins: 1,
        draws: 0,
        technical_losses: 0,
    };
    RoundCompleted {
        league_id: league(),
        round_id: RoundId(round),
        matches_completed: 1,
        matches_played: 1,
        next_round_id: None,
        summary,
        checkpoint: None,
    }
}

#[test]
fn a_false_or_missing_notice_token_is_refused_and_changes_nothing() {
    let mut bench = Bench::new();
    let events = bench.events.len();
    let round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
    let mut envelope = bench.manager_envelope();
    for (token, code) in [
        (None, "E011"),
        (Some(Token::new("tok_league_manager_guess")), "E012"),
        (Some(referee_token()), "E012"),
    ] {
        envelope.auth_token = token;
        assert_eq!(refused(&bench.told(envelope.clone(), round.clone())), code);
    }
    let envelope = Envelope {
        sender: Sender::Player(p(1)),
        ..bench.manager_envelope()
    };
    assert_eq!(refused(&bench.told(envelope, round)), "E012");
    assert_eq!(bench.events.len(), events);
}

#[test]
fn the_same_announcement_again_changes_nothing() {
    let mut bench = Bench::invited();
    let events = bench.events.len();
    let sent = bench.sent.len();
    assert_eq!(bench.announce(&[even_odd("R1M1", 1, 2)]), Content::Received);
    assert_eq!((bench.events.len(), bench.sent.len()), (events, sent));
}

#[test]
fn other_referees_matches_are_not_ours() {
    let mut bench = Bench::new();
    let mut round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
    let mut theirs = round.matches[0].clone();
    theirs.referee_id = Some(RefereeId::numbered(2));
    round.matches = vec![theirs].into();
    let envelope = bench.manager_envelope();
    assert_eq!(bench.told(envelope, round), Content::Received);
    assert!(bench.all(MessageType::GameInvitation).is_empty());
}

#[test]
fn a_new_attempt_replaces_an_unfinished_one() {
    let mut bench = Bench::joined();
    let old = bench.last_to(1, MessageType::ChooseParityCall).call;
    let mut again = even_odd("R1M1", 1, 2);
    again.attempt = 2;
    bench.announce(&[again]);
    let invitation = bench.last_to(1, MessageType::GameInvitation);
    assert_eq!(
        envelope(&invitation).conversation_id.as_str(),
        "conv-r1m1-002"
    );
    assert_eq!(
        envelope(&invitation).auth_token,
        Some(tokens(1, &m("R1M1"), 2).to_player)
    );
    let choice = bench.choice(1, "R1M1", Parity::Even);
    bench.answer(old, Answer::Message(Ok(choice)));
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    assert_eq!(
        bench.referee.matches().next().unwrap().attempt,
        Attempt(2),
        "the old one does not come back"
    );
}

#[test]
fn no_invitation_goes_out_before_the_round_starts() {
    let mut bench = Bench::new();
    let envelope = bench.manager_envelope();
    let round = bench.round(&[even_odd("R1M1", 1, 2)], 60);
    bench.told(envelope, round);
    bench.until(59.9);
    assert!(bench.all(MessageType::GameInvitation).is_empty());
    bench.until(60.0);
    assert_eq!(bench.all(MessageType::GameInvitation).len(), 2);
}

#[test]
fn an_announcement_without_endpoints_is_completed_by_asking_the_manager() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    let mut bare = even_odd("R1M1", 1, 2);
    bare.briefed = false;
    bench.announce(&[bare]);
    assert!(bench.all(MessageType::GameInvitation).is_empty());
    let query = bench.last(MessageType::LeagueQuery);
    assert_eq!(written(&query)["query_type"], "GET_PLAYERS");
    assert_eq!(envelope(&query).auth_token, Some(referee_token()));
    bench.answer(query.call, no_connection());
    bench.until(2.0);
    let query = bench.last(MessageType::LeagueQuery);
    let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), players())));
    bench.answer(query.call, answer);
    assert_eq!(bench.all_to(1, MessageType::GameInvitation).len(), 1);
    assert_eq!(bench.all_to(2, MessageType::GameInvitation).len(), 1);
    bench.until(60.0);
    assert_eq!(bench.all(MessageType::LeagueQuery).len(), 2);
}

#[test]
fn a_foreign_manager_may_assign_a_match_directly() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    let manager = bench.manager_envelope().with_token(None);
    assert_eq!(bench.told(manager, assignment(true)), Content::Received);
    let invitation = bench.last_to(1, MessageType::GameInvitation);
    assert_eq!(written(&invitation)["round_id"], 2);
    assert_eq!(written(&invitation)["league_id"], league().as_str());
    assert_eq!(
        envelope(&invitation).conversation_id.as_str(),
        "conv-r2m1-001"
    );
    let shown = envelope(&invitation).auth_token.clone().unwrap();
    assert_ne!(shown, referee_token(), "never our own token");
    assert_ne!(
        Some(shown),
        envelope(&bench.last_to(2, MessageType::GameInvitation)).auth_token
    );
}

#[test]
fn a_direct_assignment_without_endpoints_asks_for_them() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    let manager = bench.manager_envelope();
    bench.told(manager, assignment(false));
    assert_eq!(bench.all(MessageType::LeagueQuery).len(), 1);
}

#[test]
fn a_game_that_is_not_played_here_is_refused_and_the_others_are_taken() {
    let mut bench = Bench::new();
    let mut chess = even_odd("R1M1", 1, 2);
    chess.game = "chess";
    let reply = bench.announce(&[chess, even_odd("R1M2", 3, 4)]);
    assert_eq!(refused(&reply), "E002");
    assert_eq!(
        bench
            .referee
            .matches()
            .map(|view| view.match_id)
            .collect::<Vec<_>>(),
        [m("R1M2")]
    );
}

#[test]
fn another_league_is_e007() {
    let mut bench = Bench::new();
    let mut round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
    round.league_id = LeagueId::new("league_2026");
    let envelope = bench.manager_envelope();
    assert_eq!(refused(&bench.told(envelope, round)), "E007");
}

#[test]
fn a_match_decided_elsewhere_is_abandoned_with_its_mail() {
    let mut bench = Bench::joined();
    let mut envelope = bench.manager_envelope();
    envelope.conversation_id = ConversationId::new("conv-r1m1-001");
    let reply = bench.told(envelope, league_error(ErrorCode::ResultConflict, "R1M1"));
    assert_eq!(reply, Content::Received);
    assert!(matches!(
        bench.events.last(),
        Some(RefereeEvent::Abandoned { .. })
    ));
    assert_eq!(bench.referee.matches().count(), 0);
    let sent = bench.sent.len();
    bench.until(200.0);
    assert_eq!(bench.sent.len(), sent);
}

#[test]
fn the_end_of_a_round_clears_what_is_left_of_it() {
    let mut bench = Bench::joined();
    let envelope = bench.manager_envelope();
    assert_eq!(
        bench.told(envelope.clone(), completed(1)),
        Content::Received
    );
    assert_eq!(bench.referee.matches().count(), 0);
    assert!(bench.referee.durable().matches().is_empty());
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    assert_eq!(
        bench.referee.matches().count(),
        0,
        "an old announcement does not revive it"
    );
    let events = bench.events.len();
    bench.told(envelope, completed(1));
    assert_eq!(bench.events.len(), events);
}

fn league_completed() -> LeagueCompleted {
    LeagueCompleted {
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
    }
}

#[test]
fn the_end_of_the_league_clears_everything() {
    let mut bench = Bench::joined();
    let envelope = bench.manager_envelope();
    assert_eq!(bench.told(envelope, league_completed()), Content::Received);
    assert!(bench.referee.durable().matches().is_empty());
    let sent = bench.sent.len();
    bench.until(300.0);
    assert_eq!(bench.sent.len(), sent);
}

#[test]
fn what_is_not_for_a_referee_is_refused_and_a_ping_is_answered() {
    let mut bench = Bench::new();
    let envelope = bench.player_envelope(1, &m("R1M1"));
    let start = StartLeague {
        league_id: league(),
    };
    let reply = bench.told(envelope, start);
    assert_eq!(refused(&reply), "E008");
    assert_eq!(
        refused(&bench.request(Ask::Query(Query::Standings.into()))),
        "E008"
    );
    assert_eq!(
        refused(&bench.request(Ask::Message(Err(invalid_choice("?"))))),
        "E004"
    );
    assert_eq!(
        refused(&bench.request(match_state(Some(m("R9M9"))))),
        "E006"
    );
    assert_eq!(
        bench.request(Ask::Query(Query::Ping.into())),
        Content::Data(json!({"status": "ok"}))
    );
}

/// What `get_match_state` tells of R1M1, or of everything.
fn state_of(bench: &mut Bench, match_id: Option<&str>) -> serde_json::Value {
    match bench.request(match_state(match_id.map(m))) {
        Content::Data(state) => state,
        other => panic!("expected a state, got {other:?}"),
    }
}

#[test]
fn a_finished_match_can_be_asked_for_until_the_league_ends() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    let at_once = state_of(&mut bench, Some("R1M1"));
    assert_eq!(
        (&at_once["phase"], &at_once["result"]["status"]),
        (&json!("FINISHED"), &json!("WIN"))
    );
    bench.acknowledge();
    let envelope = bench.manager_envelope();
    bench.told(envelope, completed(1));
    assert_eq!(
        state_of(&mut bench, Some("R1M1")),
        at_once,
        "after its round as well"
    );
    bench.crash();
    assert_eq!(
        state_of(&mut bench, Some("R1M1")),
        at_once,
        "and after a restart"
    );
}

#[test]
fn a_referee_is_shut_down_once_the_league_is_over_and_says_so() {
    let mut bench = Bench::fresh(settings());
    assert_eq!(state_of(&mut bench, None)["state"], "INIT");
    bench.register(true);
    assert_eq!(state_of(&mut bench, None)["state"], "REGISTERED");
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    assert_eq!(state_of(&mut bench, None)["state"], "ACTIVE");
    let envelope = bench.manager_envelope();
    bench.told(envelope, league_completed());
    assert_eq!(state_of(&mut bench, None)["state"], "SHUTDOWN");
}

fn queries(bench: &Bench) -> Vec<String> {
    let sent = bench.all(MessageType::LeagueQuery);
    let kind = |sent: &(Timestamp, _)| written(&sent.1)["query_type"].as_str().unwrap().to_owned();
    sent.iter().map(kind).collect()
}

/// A manager of another make that answers queries with this data.
fn told_by_data(data: serde_json::Value) -> Bench {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    let manager = bench.manager_envelope();
    bench.told(manager, assignment(false));
    let query = bench.last(MessageType::LeagueQuery);
    let response = LeagueQueryResponse {
        data: data.as_object().cloned(),
        ..players()
    };
    let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), response)));
    bench.answer(query.call, answer);
    bench
}

#[test]
fn endpoints_are_found_in_whatever_form_a_manager_lists_them() {
    for data in [
        json!({"players": {"P01": "http://localhost:8101/mcp", "P02": {"endpoint": "http://localhost:8102/mcp"}}}),
        json!({"players": [{"player_id": "P01", "endpoint": endpoint(1)}, {"player_id": "P02", "contact_endpoint": endpoint(2)}]}),
        json!({"rounds": [{"matches": [{"player_a_id": "P01", "player_a_endpoint": endpoint(1),
            "player_b_id": "P02", "player_b_endpoint": endpoint(2)}]}]}),
    ] {
        let bench = told_by_data(data);
        assert_eq!(bench.all_to(1, MessageType::GameInvitation).len(), 1);
        assert_eq!(bench.all_to(2, MessageType::GameInvitation).len(), 1);
    }
}

#[test]
fn where_no_list_has_them_the_schedule_is_asked_and_then_the_usual_ports_of_this_machine_are_called()
 {
    let mut bench = told_by_data(json!({"players": []}));
    assert_eq!(queries(&bench), ["GET_PLAYERS", "GET_SCHEDULE"]);
    let query = bench.last(MessageType::LeagueQuery);
    bench.answer(query.call, Answer::NotUnderstood("no such query".into()));
    assert_eq!(bench.all_to(1, MessageType::GameInvitation).len(), 1);
    assert_eq!(bench.all_to(2, MessageType::GameInvitation).len(), 1);
}

#[test]
fn what_the_manager_would_have_to_say_is_told_and_it_is_asked_less_and_less_often() {
    let settings = RefereeSettings {
        manager: Endpoint::parse("http://league.example/mcp").unwrap(),
        ..settings()
    };
    let mut bench = Bench::fresh(settings);
    bench.register(false);
    let manager = bench.manager_envelope();
    bench.told(manager, assignment(false));
    for second in 1..=150 {
        for (_, sent) in bench.all(MessageType::LeagueQuery) {
            bench.answer(sent.call, Answer::NotUnderstood("no such query".into()));
        }
        bench.until(f64::from(second));
    }
    assert!(queries(&bench).len() <= 10, "{:?}", queries(&bench));
    let lacks = bench.referee.lacks_endpoints().unwrap();
    assert!(
        lacks.contains("P01, P02") && lacks.contains("GET_PLAYERS"),
        "{lacks}"
    );
}

#[test]
fn a_table_is_taken_though_a_referee_needs_none() {
    let mut bench = Bench::new();
    let update = LeagueStandingsUpdate {
        league_id: league(),
        round_id: RoundId(1),
        standings: Vec::new().into(),
    };
    let envelope = bench.manager_envelope();
    assert_eq!(bench.told(envelope, update), Content::Received);
}

#[test]
fn a_manager_that_gives_out_no_tokens_is_known_by_its_address() {
    for (client, is_taken) in [("127.0.0.1", true), ("192.0.2.7", false)] {
        let mut bench = Bench::fresh(settings());
        bench.register_without_token();
        let envelope = bench.manager_envelope().with_token(None);
        let ask = Ask::Message(Ok(incoming(envelope, assignment(true))));
        assert_eq!(
            bench.request_from(client, ask) == Content::Received,
            is_taken
        );
    }
}

#[test]
fn under_a_manager_that_announces_to_players_alone_it_finds_its_matches_in_the_schedule() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    bench.until(10.0);
    assert_eq!(queries(&bench), ["GET_SCHEDULE"]);
    let own = settings().contact_endpoint;
    let game = |id: &str, endpoint: &str, state: &str| {
        json!({"match_id": id, "player_A_id": "P01", "player_B_id": "P02", "player_A_endpoint": "http://localhost:8101/mcp",
            "player_B_endpoint": "http://localhost:8102/mcp", "referee_endpoint": endpoint, "status": state})
    };
    let schedule = json!({"rounds": [
        {"round_id": 1, "matches": [game("R1M1", own.raw(), "COMPLETED")]},
        {"round_id": 2, "matches": [game("R2M1", own.raw(), "PENDING"), game("R2M2", "http://localhost:8009/mcp", "PENDING")]},
        {"round_id": 3, "matches": [game("R3M1", own.raw(), "PENDING")]},
    ]});
    let response = LeagueQueryResponse {
        query_type: Query::Schedule,
        data: schedule.as_object().cloned(),
        ..players()
    };
    let query = bench.last(MessageType::LeagueQuery);
    let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), response)));
    bench.answer(query.call, answer);
    let invited = bench.all(MessageType::GameInvitation);
    assert_eq!(invited.len(), 2);
    assert!(
        invited
            .iter()
            .all(|(_, sent)| written(sent)["match_id"] == "R2M1")
    );
}

#[test]
fn a_manager_that_tells_a_referee_of_its_matches_is_not_asked_for_the_schedule() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    let manager = bench.manager_envelope();
    bench.told(manager, assignment(true));
    bench.until(4.0);
    let told = queries(&bench);
    assert!(told.is_empty(), "{told:?}");
    assert_eq!(Bench::new().referee.deadline(), None);
}
