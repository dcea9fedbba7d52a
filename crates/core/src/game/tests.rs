//! Two strategies at one game, without referee or messages: for the games' own tests.

use super::context::Context;
use super::past::Past;
use super::strategy;
use super::strategy::Strategy;
use super::{Game, GameEntry, Outcome, Seat, Turn};
use crate::entropy::Entropy;
use crate::protocol::ids::{GameType, PlayerId};
use crate::protocol::messages::Record;
use serde_json::Value;

/// How one side did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) won: u32,
    pub(super) drawn: u32,
    pub(super) lost: u32,
}

/// So many matches, the first strategy on either side in turn, and how it did.
pub(super) fn series(game: &GameEntry, first: &str, second: &str, matches: u64) -> Tally {
    let [first, second] = [first, second].map(|name| strategy::named(name).unwrap());
    against(game, first, second, matches)
}

/// The same with any strategies, built in or not.
pub(super) fn against(
    game: &GameEntry,
    first: &dyn Strategy,
    second: &dyn Strategy,
    matches: u64,
) -> Tally {
    let mut tally = Tally::default();
    for number in 0..matches {
        let own = if number % 2 == 0 { Seat::A } else { Seat::B };
        let strategies = if own == Seat::A {
            [first, second]
        } else {
            [second, first]
        };
        match play_out(game, strategies, &mut Entropy::numbered(number)).outcome() {
            Some(Outcome::Win(seat)) if seat == own => tally.won += 1,
            Some(Outcome::Win(_)) => tally.lost += 1,
            Some(Outcome::Draw) => tally.drawn += 1,
            None => panic!("{} has ended without an outcome", game.name),
        }
    }
    tally
}

/// Plays one game to its end, and sees that it does not take more turns than it says.
pub(super) fn play_out(
    entry: &GameEntry,
    strategies: [&dyn Strategy; 2],
    entropy: &mut Entropy,
) -> Box<dyn Game> {
    let mut game = (entry.new)();
    let mut turns = 0;
    loop {
        let seats = game.turn().seats();
        if seats.is_empty() {
            assert_eq!(
                game.turn(),
                Turn::Over,
                "{} needs dice, or rules",
                entry.name
            );
            return game;
        }
        turns += 1;
        assert!(
            turns <= entry.turns_max,
            "{} goes on after turn {}",
            entry.name,
            entry.turns_max
        );
        for seat in seats {
            let choice = choice(entry, game.as_ref(), *seat, *seat.of(&strategies), entropy);
            game.play(*seat, &choice).unwrap();
        }
    }
}

/// What the strategy of this name chooses in a position.
pub(super) fn asked(entry: &GameEntry, game: &dyn Game, seat: Seat, name: &str) -> Value {
    choice(
        entry,
        game,
        seat,
        strategy::named(name).unwrap(),
        &mut Entropy::numbered(1),
    )
}

fn choice(
    entry: &GameEntry,
    game: &dyn Game,
    seat: Seat,
    strategy: &dyn Strategy,
    entropy: &mut Entropy,
) -> Value {
    let request = game.request(seat);
    let turn = strategy::Turn {
        game_type: &GameType::new(entry.name),
        own_id: &PlayerId::numbered(1),
        opponent_id: None,
        options: &request.valid_options,
        context: &Context::OfMove(request.context.clone()),
        against: Past::NONE,
        overall: Past::NONE,
        record: Record::default(),
    };
    let choice = strategy.choose(&turn, entropy);
    assert!(
        request.valid_options.contains(&choice),
        "{} chose {choice}",
        entry.name
    );
    choice
}

#[test]
fn every_game_can_be_played_out_by_each_of_its_strategies() {
    for game in super::GAMES
        .iter()
        .filter(|game| game.name != GameType::EVEN_ODD)
    {
        for strategy in strategy::of(game) {
            for seed in 0..3 {
                let played = play_out(
                    game,
                    [strategy, &strategy::RANDOM],
                    &mut Entropy::numbered(seed),
                );
                assert!(played.outcome().is_some(), "{}", game.name);
            }
        }
    }
}

#[test]
fn matches_in_json_go_as_fast_ones_do() {
    for game in super::GAMES
        .iter()
        .filter(|game| game.name != GameType::EVEN_ODD)
    {
        for (a, b) in strategy::of(game).flat_map(|a| strategy::of(game).map(move |b| (a, b))) {
            let mut players = (game.built_in.unwrap().players)(&[a.name, b.name]);
            let mut one = Entropy::numbered(1);
            let mut other = Entropy::numbered(1);
            for number in 0..if a.name == "lookahead" { 4 } else { 40 } {
                let fast = players.play(0, 1, &mut one);
                let played = play_out(game, [a, b], &mut other);
                let what = format!(
                    "match {number} of {} and {} in {}",
                    a.name, b.name, game.name
                );
                assert_eq!(Some(fast.outcome), played.outcome(), "{what}");
                assert_eq!(fast.totals, played.totals(), "{what}");
            }
            assert_eq!(
                one.next_u64(),
                other.next_u64(),
                "{} and {} in {}",
                a.name,
                b.name,
                game.name
            );
        }
    }
}
