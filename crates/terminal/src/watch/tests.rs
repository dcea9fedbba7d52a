//! Snapshots of the screen at several sizes, for leagues of 4 and 99 players; and what the keys do.

use super::app::{App, Flow, Key, Pane};
use super::exchanges::ExchangePage;
use super::screen::render;
use super::{Messages, Status, Update};
use matchday_core::protocol::messages::query_data::{
    MatchProgress, ScheduledMatch, ScheduledResult, ScheduledRound,
};
use matchday_core::protocol::messages::{ByPlayer, GameStatus, Phase, StandingRow};
use matchday_core::protocol::{DisplayName, GameType, MatchId, PlayerId, RefereeId, RoundId};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 15)];

fn id(number: u32) -> PlayerId {
    PlayerId::new(format!("P{number:02}"))
}

fn row(rank: u32) -> StandingRow {
    let name = if rank == 2 { "日本の選手".to_owned() } else { format!("Player {rank}") };
    StandingRow {
        rank,
        player_id: id(rank),
        display_name: DisplayName::parse(&name).unwrap(),
        played: 2,
        wins: 2 - rank.min(2),
        draws: 0,
        losses: rank.min(2),
        points: 3 * (2 - rank.min(2)),
        technical_losses: Some(u32::from(rank == 3)),
        rating: None,
        rating_deviation: None,
        rank_reason: (!rank.is_multiple_of(4)).then(|| format!("ahead of P{:02} on points", rank + 1).into()),
    }
}

fn played(round: u32, number: u32) -> ScheduledMatch {
    let (a, b) = (id(number * 2 - 1), id(number * 2));
    let technical = number % 4 == 2;
    let result = ScheduledResult {
        status: if technical { GameStatus::TechnicalLoss } else { GameStatus::Win },
        winner: Some(a.clone()),
        score: ByPlayer::pair((a.clone(), 3), (b.clone(), 0)),
        reason: match technical {
            true => format!("{b} failed to respond within timeout - {a} wins by default").into(),
            false => format!("{a} chose even, number was 8 (even)").into(),
        },
    };
    let state = if number == 1 { MatchProgress::Playing } else { MatchProgress::Decided };
    ScheduledMatch {
        match_id: MatchId::numbered(RoundId(round), number),
        game_type: GameType::new("even_odd"),
        player_a_id: a,
        player_b_id: b,
        referee_id: Some(RefereeId::new("REF01")),
        state,
        result: (state == MatchProgress::Decided).then_some(result),
    }
}

fn round(number: u32, players: u32) -> ScheduledRound {
    let matches = (1..=players / 2).map(|place| played(number, place)).collect();
    let bye = (players % 2 == 1).then(|| id(players));
    ScheduledRound { round_id: RoundId(number), title: None, matches, bye, byes: Vec::new() }
}

fn rows(count: u32) -> Messages {
    let one = |number: u32| {
        serde_json::json!({
            "id": number, "from": "REF01", "to": format!("P{:02}", number % 4 + 1), "type": "CHOOSE_PARITY_CALL",
            "conversation_id": "conv-r2m1-001", "match_id": "R2M1",
            "sent_at": format!("2026-03-02T09:00:{:02}.250Z", number % 60),
            "answered_at": (!number.is_multiple_of(3)).then(|| format!("2026-03-02T09:00:{:02}.254Z", number % 60)),
            "outcome": if number.is_multiple_of(3) { "no answer in time" } else { "ok" },
            "answer_type": (!number.is_multiple_of(3)).then_some("CHOOSE_PARITY_RESPONSE"),
            "error_code": number.is_multiple_of(3).then_some("E001"),
        })
    };
    let page = serde_json::json!({"version": 1, "messages": (0..count).map(one).collect::<Vec<_>>()});
    Messages::Listed(serde_json::from_value::<ExchangePage>(page).unwrap().messages)
}

fn update(players: u32) -> Update {
    Update {
        status: Status {
            league_id: "league_2025_even_odd".into(),
            status: Phase::Running,
            current_round: 2,
            total_rounds: if players.is_multiple_of(2) { players - 1 } else { players },
            round_title: None,
            matches_completed: players / 2 + players / 2 - 1,
        },
        matches: (players * (players - 1) / 2) as usize,
        standings: (1..=players).map(row).collect(),
        round: Some(round(2, players)),
        messages: rows(players * 2),
        board: None,
    }
}

/// The same league with a board that is being played on.
fn with_board() -> Update {
    let position = serde_json::json!({
        "kind": "grid", "columns": 3, "cells": ["X", "", "", "", "O", "", "", "", "X"], "last": [8],
        "marks": {"A": ["X"], "B": ["O"]}, "column_names": ["a", "b", "c"], "row_names": ["1", "2", "3"],
    });
    let position = serde_json::from_value(position).unwrap();
    let match_id = MatchId::numbered(RoundId(2), 1);
    Update { board: Some(super::Board { match_id, players: [id(1), id(2)], position }), ..update(4) }
}

fn app(players: u32) -> App {
    let mut app = App::default();
    app.take(Ok(update(players)));
    app
}

fn frame(app: &mut App, (columns, rows): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| render(app, frame)).unwrap();
    terminal.backend().to_string()
}

fn frames(players: u32, pane: Pane) -> String {
    let mut app = app(players);
    app.press(Key::Look(pane));
    SIZES.map(|size| frame(&mut app, size)).join("\n")
}

#[test]
fn the_table() {
    insta::assert_snapshot!("table_of_4", frames(4, Pane::Table));
    insta::assert_snapshot!("table_of_99", frames(99, Pane::Table));
}

#[test]
fn the_matches_of_a_round() {
    insta::assert_snapshot!("matches_of_4", frames(4, Pane::Matches));
    insta::assert_snapshot!("matches_of_99", frames(99, Pane::Matches));
}

#[test]
fn the_messages() {
    insta::assert_snapshot!("messages_of_4", frames(4, Pane::Messages));
    insta::assert_snapshot!("messages_of_99", frames(99, Pane::Messages));
}

#[test]
fn the_board_stands_below_the_matches_where_there_is_room() {
    let mut app = App::default();
    app.take(Ok(with_board()));
    app.press(Key::Look(Pane::Matches));
    insta::assert_snapshot!("board", SIZES.map(|size| frame(&mut app, size)).join("\n"));
    assert_eq!(app.requested().board, 0);
    app.press(Key::NextBoard);
    assert_eq!(app.requested().board, 1);
}

#[test]
fn boards_are_those_of_matches_that_are_played_or_else_were() {
    let mut round = round(2, 8);
    let shown =
        |round: &ScheduledRound, number| super::featured(round, number).map(|game| game.match_id.to_string());
    assert_eq!(shown(&round, 0).as_deref(), Some("R2M1"), "it is being played");
    assert_eq!(shown(&round, 1).as_deref(), Some("R2M1"), "the only one");
    round.matches.remove(0);
    assert_eq!(shown(&round, 1).as_deref(), Some("R2M3"));
    assert_eq!(shown(&round, 3).as_deref(), Some("R2M2"));
    round.matches.clear();
    assert_eq!(shown(&round, 0), None);
}

#[test]
fn ranks_that_changed_since_the_last_round_have_arrows() {
    let mut app = app(4);
    let mut later = update(4);
    later.status.current_round = 3;
    app.take(Ok(later.clone()));
    later.standings.rotate_left(1);
    (1..).zip(&mut later.standings).for_each(|(rank, row)| row.rank = rank);
    app.take(Ok(later));
    let shown = frame(&mut app, (80, 24));
    assert!(shown.contains("1 ▲1") && shown.contains("4 ▼3"), "{shown}");
}

#[test]
fn results_have_colours() {
    let mut app = app(4);
    app.press(Key::Look(Pane::Matches));
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| render(&mut app, frame)).unwrap();
    let cells = terminal.backend().buffer().content.iter();
    let technical: String =
        cells.filter(|cell| cell.fg == Color::Magenta).map(|cell| cell.symbol()).collect();
    assert_eq!(technical, "P03 won (technical)");
}

#[test]
fn the_help() {
    let mut app = app(4);
    app.press(Key::Help);
    insta::assert_snapshot!("help", SIZES.map(|size| frame(&mut app, size)).join("\n"));
}

#[test]
fn before_the_manager_answers_and_when_it_goes_away() {
    let mut app = App::default();
    let asking = frame(&mut app, (80, 24));
    let away =
        "no manager answers at http://localhost:8000/mcp (no connection) - start one, or name its address";
    app.take(Err(away.into()));
    let nobody = frame(&mut app, (80, 24));
    app.take(Ok(update(4)));
    app.take(Err(away.into()));
    insta::assert_snapshot!("away", [asking, nobody, frame(&mut app, (80, 24))].join("\n"));
    app.take(Ok(update(4)));
    assert!(!frame(&mut app, (80, 24)).contains("no manager answers"), "it is back");
}

#[test]
fn an_empty_league_says_what_comes_next() {
    let mut app = App::default();
    let status = Status {
        status: Phase::Registration,
        current_round: 0,
        total_rounds: 0,
        round_title: None,
        matches_completed: 0,
        ..update(4).status
    };
    let why = "This manager shows no messages: its dashboard is off.".to_owned();
    let messages = Messages::Withheld(why);
    app.take(Ok(Update { status, matches: 0, standings: Vec::new(), round: None, messages, board: None }));
    let shown = Pane::ALL.map(|pane| {
        app.press(Key::Look(pane));
        frame(&mut app, (80, 24))
    });
    insta::assert_snapshot!("empty", shown.join("\n"));
}

#[test]
fn scrolling_ends_where_the_lines_end() {
    let mut app = app(99);
    frame(&mut app, (80, 24));
    (0..3).for_each(|_| assert_eq!(app.press(Key::Bottom), Flow::Continue));
    assert!(frame(&mut app, (80, 24)).contains("82-99 of 99"), "{}", frame(&mut app, (80, 24)));
    app.press(Key::Down);
    frame(&mut app, (80, 24));
    app.press(Key::Up);
    assert!(frame(&mut app, (80, 24)).contains("81-98 of 99"), "one up from the end is one up");
    app.press(Key::PageUp);
    assert!(frame(&mut app, (80, 24)).contains("64-81 of 99"));
    app.press(Key::Top);
    assert!(frame(&mut app, (80, 24)).contains("1-18 of 99"));
    let larger = frame(&mut app, (120, 40));
    assert!(larger.contains("1-34 of 99"), "{larger}");
}

#[test]
fn an_earlier_round_is_asked_for_and_the_current_one_again() {
    let mut app = app(4);
    assert_eq!(app.requested().round, None);
    app.press(Key::EarlierRound);
    assert_eq!(app.requested().round, None, "there are no rounds in the table");
    app.press(Key::Look(Pane::Matches));
    app.press(Key::EarlierRound);
    assert_eq!(app.requested().round, Some(1));
    assert!(frame(&mut app, (80, 24)).contains("asking for round 1"));
    app.take(Ok(Update { round: Some(round(1, 4)), ..update(4) }));
    assert!(frame(&mut app, (80, 24)).contains("R1M1"));
    app.press(Key::EarlierRound);
    assert_eq!(app.requested().round, Some(1), "there is none before the first");
    app.press(Key::LaterRound);
    assert_eq!(app.requested().round, None, "the current round is gone along with");
    app.press(Key::LaterRound);
    app.press(Key::LaterRound);
    assert_eq!(app.requested().round, Some(3), "there is none after the last");
    app.press(Key::CurrentRound);
    assert_eq!(app.requested().round, None);
}

#[test]
fn messages_are_asked_for_only_where_they_are_seen_and_kept_when_they_are_not() {
    let mut app = app(4);
    assert!(!app.requested().messages);
    app.take(Ok(Update { messages: Messages::NotAsked, ..update(4) }));
    app.press(Key::LastPane);
    assert!(app.requested().messages);
    assert!(
        frame(&mut app, (80, 24)).contains("CHOOSE_PARITY_CALL"),
        "what was listed before is still there"
    );
}

#[test]
fn a_key_leaves_the_help_first_and_then_the_program() {
    let mut app = app(4);
    app.press(Key::Help);
    assert_eq!(app.press(Key::Back), Flow::Continue);
    assert_eq!(app.press(Key::Back), Flow::Quit);
    assert_eq!(app.press(Key::Quit), Flow::Quit);
}

#[test]
fn what_a_manager_says_cannot_move_the_cursor() {
    let mut app = app(4);
    let mut update = update(4);
    update.status.league_id = "\u{1b}[2Jgone\u{7}".into();
    if let Some(first) = update.round.as_mut().unwrap().matches.get_mut(1) {
        first.result.as_mut().unwrap().reason = "\u{1b}]0;title\u{7}".into();
    }
    app.take(Ok(update));
    app.press(Key::Look(Pane::Matches));
    let shown = frame(&mut app, (120, 40));
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
}
