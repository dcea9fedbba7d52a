//! What each strategy makes of a history, as tables.

use super::seat::{even_odd, m, p};
use matchday_core::entropy::Entropy;
use matchday_core::game::context::Context;
use matchday_core::game::past::{DrawCheck, Outcome, Past, PastGame};
use matchday_core::game::strategy::{Turn, all, find, named};
use matchday_core::protocol::messages::{Parity, Record};
use matchday_core::protocol::{GameType, PlayerId};
use serde_json::{Value, json};

/// One letter each for our choice, the opponent's and the drawn parity: `eoe`; `-` where there was none.
fn past(games: &[&str]) -> Past {
    let parity = |letter: u8| match letter {
        b'e' => Some(Parity::Even),
        b'o' => Some(Parity::Odd),
        _ => None,
    };
    let game = |(number, letters): (usize, &&str)| {
        let &[own, theirs, drawn] = letters.as_bytes() else {
            panic!("three letters");
        };
        PastGame {
            match_id: m(1, number as u32),
            round_id: None,
            game_type: even_odd(),
            opponent_id: Some(p(2)),
            own_choice: parity(own),
            opponent_choice: parity(theirs),
            drawn_parity: parity(drawn),
            outcome: Outcome::Draw,
            technical: false,
            draw: DrawCheck::NotPromised,
            summary: None,
        }
    };
    games.iter().enumerate().map(game).collect()
}

/// What the strategy may choose with this history, over many seeds: `e`, `o`, or `eo` where it is left to chance.
fn choices(name: &str, overall: &[&str], against: &[&str]) -> String {
    let overall = past(overall);
    let against = past(against);
    let options = [json!("even"), json!("odd")];
    let context = Context::OfParity(None);
    let (game_type, own_id): (GameType, PlayerId) = (even_odd(), p(1));
    let turn = Turn {
        game_type: &game_type,
        own_id: &own_id,
        opponent_id: None,
        options: &options,
        context: &context,
        against: &against,
        overall: &overall,
        record: Record::default(),
    };
    let strategy = find(name).unwrap().build();
    let chosen: Vec<Value> = (0..40)
        .map(|seed| strategy.choose(&turn, &mut Entropy::numbered(seed)))
        .collect();
    let letters = [("even", "e"), ("odd", "o")];
    letters
        .into_iter()
        .filter(|(parity, _)| chosen.contains(&json!(parity)))
        .map(|(_, letter)| letter)
        .collect()
}

#[test]
fn each_strategy_chooses_by_its_rule() {
    let table: &[(&str, &[&str], &[&str], &str)] = &[
        ("random", &[], &[], "eo"),
        ("random", &["eee", "eee"], &["eee"], "eo"),
        ("always_even", &["ooo"], &["ooo"], "e"),
        ("always_odd", &["eee"], &["eee"], "o"),
        ("alternating", &[], &[], "e"),
        ("alternating", &["eoo"], &[], "o"),
        ("alternating", &["eoo", "---"], &[], "e"),
        ("frequency", &[], &[], "eo"),
        ("frequency", &["ooe", "ooe", "ooo"], &[], "e"),
        ("frequency", &["eee", "eeo", "eeo", "ee-"], &[], "o"),
        ("frequency", &["eee", "eeo"], &[], "eo"),
        ("pattern", &[], &[], "eo"),
        ("pattern", &["--e"], &[], "eo"),
        // After even, odd, even there once came odd.
        (
            "pattern",
            &["--e", "--o", "--e", "--o", "--e", "--o", "--e"],
            &[],
            "o",
        ),
        // Three in a row are new; after odd, odd there came even.
        (
            "pattern",
            &["--o", "--o", "--e", "--e", "--o", "--o"],
            &[],
            "e",
        ),
        // Only the last one was seen before, and even followed it.
        ("pattern", &["--o", "--e", "--e", "--o"], &[], "e"),
        ("mirror", &["eoe"], &[], "eo"),
        ("mirror", &[], &["eeo", "eoe"], "o"),
        ("mirror", &[], &["eeo", "e--"], "e"),
        ("win_stay_lose_shift", &[], &[], "eo"),
        ("win_stay_lose_shift", &["eoe"], &[], "e"),
        ("win_stay_lose_shift", &["eoo"], &[], "o"),
        ("win_stay_lose_shift", &["ooo", "---"], &[], "o"),
        ("win_stay_lose_shift", &["ooe"], &[], "e"),
    ];
    for (name, overall, against, expected) in table {
        assert_eq!(
            choices(name, overall, against),
            *expected,
            "{name} after {overall:?}, and {against:?} with this opponent"
        );
    }
}

#[test]
fn a_strategy_is_found_by_its_name_in_any_common_spelling() {
    for entry in all() {
        assert_eq!(find(entry.name).unwrap().name, entry.name);
        assert_eq!(
            find(&entry.name.replace('_', "-")).unwrap().name,
            entry.name
        );
        assert!(!entry.about.is_empty());
    }
}

#[test]
fn an_unknown_strategy_is_an_error_that_names_the_known_ones() {
    let error = named("mirorr").unwrap_err();
    assert_eq!(error.nearest, Some("mirror"));
    assert_eq!(
        error.to_string(),
        "there is no strategy \"mirorr\" (did you mean \"mirror\"?); choose one of: random, always_even, always_odd, \
         alternating, frequency, pattern, mirror, win_stay_lose_shift, perfect, tit_for_tat, grim, always_cooperate, \
         always_defect, lookahead, optimal"
    );
    assert_eq!(named("quantum").unwrap_err().nearest, None);
}
