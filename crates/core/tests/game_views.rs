//! Every game draws its positions: each can be drawn, the last move and the deciding line are marked, and nothing of a
//! simultaneous choice is shown before both are in.

use insta::assert_snapshot;
use matchday_core::game::replay::views;
use matchday_core::game::view::View;
use matchday_core::game::{GAMES, Seat, Turn};
use matchday_core::protocol::messages::{
    ByPlayer, GameDetails, Parity, ParityDetails, ResultDetails,
};
use matchday_core::protocol::{GameType, PlayerId};
use serde_json::{Map, Value, json};

fn players() -> [PlayerId; 2] {
    [1, 2].map(PlayerId::numbered)
}

/// The views of a match of these moves, made in turn.
fn played(game: &str, moves: &[Value]) -> Vec<View> {
    let [a, b] = players();
    let turn = |(number, made): (usize, &Value)| {
        let player = if number % 2 == 0 { &a } else { &b };
        ByPlayer::from_iter([(player.clone(), made.clone())])
    };
    let log = moves.iter().enumerate().map(turn).collect();
    let details = ResultDetails {
        turn_log: Some(log),
        ..ResultDetails::of(GameDetails::Other(Map::new()))
    };
    views(&GameType::new(game), [&a, &b], &details)
}

fn last(views: &[View]) -> String {
    views.last().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn every_position_of_every_game_can_be_drawn() {
    for entry in GAMES {
        let mut game = (entry.new)();
        loop {
            let view = game
                .view()
                .unwrap_or_else(|| panic!("{} has no view", entry.name));
            assert_eq!(view.check(), Ok(()), "{}", entry.name);
            let seats = match game.turn() {
                Turn::Both => Seat::BOTH.to_vec(),
                Turn::One(seat) => vec![seat],
                Turn::Chance | Turn::External | Turn::Over => break,
            };
            for seat in seats {
                let before = game.view();
                let choice = game.request(seat).valid_options.last().cloned().unwrap();
                game.play(seat, &choice).unwrap();
                if game.turn() == Turn::Both && seat == Seat::A {
                    assert_eq!(
                        game.view(),
                        before,
                        "{}: a choice is shown before both are in",
                        entry.name
                    );
                }
            }
        }
    }
}

#[test]
fn tic_tac_toe_lights_the_line() {
    let views = played("tic_tac_toe", &[0, 3, 1, 4, 2].map(Value::from));
    assert_eq!(views.len(), 6);
    assert_snapshot!(last(&views), @r"
    *X**X**X*
     O  O  .
     .  .  .
    ");
}

#[test]
fn connect_four_marks_the_cell_where_the_last_mark_fell() {
    let views = played("connect_four", &[0, 1, 1, 2].map(Value::from));
    assert_snapshot!(last(&views), @r"
     0  1  2  3  4  5  6
     .  .  .  .  .  .  .
     .  .  .  .  .  .  .
     .  .  .  .  .  .  .
     .  .  .  .  .  .  .
     .  X  .  .  .  .  .
     X  O [O] .  .  .  .
    ");
}

#[test]
fn connect_four_lights_four_in_a_diagonal() {
    let views = played(
        "connect_four",
        &[0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3].map(Value::from),
    );
    assert_snapshot!(last(&views), @r"
     0  1  2  3  4  5  6
     .  .  .  .  .  .  .
     .  .  .  .  .  .  .
     .  .  . *X* .  .  .
     .  . *X* X  .  .  .
     . *X* X  O  .  .  .
    *X* O  O  O  .  .  O
    ");
}

#[test]
fn nim_shows_what_was_taken() {
    let views = played("nim", &[json!({"heap": 2, "take": 2})]);
    assert_snapshot!(last(&views), @r"
    1 ●  ●  ●  .  .  .  .
    2 ●  ●  ● [.][.] .  .
    3 ●  ●  ●  ●  ●  ●  ●
    ");
}

#[test]
fn repeated_games_are_strips() {
    let [a, b] = players();
    let round = |x: &str, y: &str| ByPlayer::pair((a.clone(), json!(x)), (b.clone(), json!(y)));
    let log = vec![round("rock", "paper"), round("scissors", "paper")];
    let details = ResultDetails {
        turn_log: Some(log),
        ..ResultDetails::of(GameDetails::Other(Map::new()))
    };
    let views = views(&GameType::new("rock_paper_scissors"), [&a, &b], &details);
    assert_snapshot!(last(&views), @r"
    A  rock   scissors*  = 1
    B  paper* paper      = 1
    ");
}

#[test]
fn even_odd_shows_both_choices_and_the_number() {
    let [a, b] = players();
    let choices = ByPlayer::pair(
        (a.clone(), Some(Parity::Even)),
        (b.clone(), Some(Parity::Odd)),
    );
    let parity = ParityDetails {
        drawn_number: Some(8),
        number_parity: Some(Parity::Even),
        choices,
    };
    let details = ResultDetails::of(GameDetails::Parity(parity));
    let views = views(&GameType::new("even_odd"), [&a, &b], &details);
    assert_eq!(views.len(), 2);
    assert_snapshot!(last(&views), @r"
    A  even*  = 1
    B  odd    = 0
    #  8
    ");
}

#[test]
fn an_illegal_move_ends_what_is_drawn() {
    assert_eq!(played("tic_tac_toe", &[0, 0, 1].map(Value::from)).len(), 2);
}
