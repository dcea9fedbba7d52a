//! What cannot be, and how that is said.

use matchday_core::league::format::{Competition, Format};

fn said(competition: &Competition, players: usize) -> String {
    competition
        .check_for(players)
        .map_or_else(|error| error.to_string(), |()| "fine".to_owned())
}

#[test]
fn impossible_competitions_are_refused_with_the_setting_and_the_way_out() {
    let of = Competition::of;
    let cases = [
        (
            Competition {
                rounds: Some(3),
                ..of(Format::Knockout)
            },
            8,
        ),
        (
            Competition {
                groups: Some(2),
                ..of(Format::Swiss)
            },
            8,
        ),
        (
            Competition {
                qualifiers: Some(2),
                ..Competition::default()
            },
            8,
        ),
        (
            Competition {
                third_place: true,
                ..of(Format::Swiss)
            },
            8,
        ),
        (
            Competition {
                matches_per_pairing: 0,
                ..Competition::default()
            },
            8,
        ),
        (
            Competition {
                replays: 100,
                ..of(Format::Knockout)
            },
            8,
        ),
        (
            Competition {
                rounds: Some(0),
                ..of(Format::Swiss)
            },
            8,
        ),
        (
            Competition {
                rounds: Some(8),
                ..of(Format::Swiss)
            },
            8,
        ),
        (
            Competition {
                rounds: Some(8),
                ..of(Format::Swiss)
            },
            9,
        ),
        (
            Competition {
                groups: Some(3),
                ..of(Format::GroupsKnockout)
            },
            5,
        ),
        (
            Competition {
                groups: Some(2),
                qualifiers: Some(3),
                ..of(Format::GroupsKnockout)
            },
            5,
        ),
        (
            Competition {
                groups: Some(1),
                qualifiers: Some(1),
                ..of(Format::GroupsKnockout)
            },
            5,
        ),
        (of(Format::GroupsKnockout), 3),
        (of(Format::GroupsKnockout), 2),
        (of(Format::Swiss), 1),
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|(competition, players)| said(competition, *players))
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    rounds: knockout has no such setting; it goes with swiss
    groups: swiss has no such setting; it goes with groups_knockout
    qualifiers: round_robin has no such setting; it goes with groups_knockout
    third_place: swiss has no such setting; it goes with knockout and groups_knockout
    matches_per_pairing: expected 1 to 99, got 0
    replays: expected 0 to 99, got 100
    rounds: expected 1 to 9999, got 0
    rounds: 8 players can play 1 to 7 rounds before everyone has met everyone, not 8
    fine
    groups: 5 players cannot be put into 3 groups of at least 2; expected at most 2
    groups: 5 players cannot be put into 2 groups of at least 3; expected at most 1
    qualifiers: with 1 group(s) and 1 from each, fewer than 2 players go through
    fine
    fine
    a league needs at least 2 players, and there are 1
    ");
}
