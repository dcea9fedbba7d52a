//! What the front page shows beside the table: the ticker, what is at stake, the match that the viewer picks.

use super::*;
use matchday_core::protocol::messages::GameStatus;

#[test]
fn the_ticker_tells_in_plain_words_what_has_happened() {
    let lines = ticker::of(&whole().projection.league);
    insta::assert_json_snapshot!(lines);
    let begun = when(|league| league.phase == Phase::Running);
    assert!(ticker::of(&begun.projection.league).is_empty());
}

#[test]
fn the_match_that_the_viewer_picks_comes_first() {
    let snapshot = whole();
    let league = &snapshot.projection.league;
    let usual = featured::choose(league, None, None, 4);
    let last = usual.last().unwrap();
    let picked = featured::choose(league, Some(last), None, 4);
    assert_eq!(&picked[0], last);
    assert_eq!(picked.len(), usual.len());
    let unknown = MatchId::new("R9M9");
    assert_eq!(featured::choose(league, Some(&unknown), None, 4), usual);
}

#[test]
fn what_is_at_stake_is_said_of_matches_that_are_open() {
    let open = when(|league| {
        let decided = |game: &&matchday_core::league::fixture::Match| {
            game.decision
                .as_ref()
                .is_some_and(|decision| decision.status == GameStatus::Win)
        };
        league.matches.values().any(|game| game.in_play)
            && league.matches.values().filter(decided).count() > 0
    });
    let league = &open.projection.league;
    let told: Vec<Vec<String>> = league
        .matches
        .values()
        .map(|game| stakes::of(league, game))
        .collect();
    insta::assert_json_snapshot!(told);
    let over = whole();
    let league = &over.projection.league;
    assert!(
        league
            .matches
            .values()
            .all(|game| stakes::of(league, game).is_empty())
    );
}
