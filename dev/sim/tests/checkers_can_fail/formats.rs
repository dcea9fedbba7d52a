//! Knockouts and swiss leagues that do not follow their format.

use super::{fixture, player, row};
use matchday_core::protocol::RoundId;
use matchday_sim::Checker;
use matchday_sim::check::{self, Course, Drawn, Facts, Kind, Outcome};

fn drawn(round: u32) -> Drawn {
    Drawn {
        round: RoundId(round),
        stage: round,
        in_groups: false,
        byes: Vec::new(),
        announced: true,
    }
}

/// A knockout of four, played to its end: the first seed has won it, the last tie by lot.
fn knockout() -> Facts {
    let course = Course {
        kind: Kind::Knockout,
        rounds: vec![drawn(1), drawn(2)],
        lots: vec![(player(1), player(3))],
        champion: Some(player(1)),
        ..Course::usual()
    };
    let fixtures = vec![
        fixture(1, 1, 1, 4, Outcome::Won(player(1))),
        fixture(1, 2, 2, 3, Outcome::Won(player(3))),
        fixture(2, 1, 1, 3, Outcome::Drawn),
    ];
    let table = vec![
        row(1, 1, 1, 1, 0),
        row(2, 3, 1, 1, 0),
        row(3, 2, 0, 0, 1),
        row(3, 4, 0, 0, 1),
    ];
    Facts {
        players: (1..=4).map(player).collect(),
        fixtures,
        table,
        completed: true,
        course,
    }
}

#[test]
fn a_knockout_that_lets_the_wrong_player_through_is_noticed() {
    let broken = |change: fn(&mut Facts)| {
        let mut facts = knockout();
        change(&mut facts);
        check::course::is_followed(&facts)
            .err()
            .map(|fault| fault.checker)
    };
    assert_eq!(broken(|_| {}), None);
    let cases: [fn(&mut Facts); 4] = [
        |facts| facts.fixtures[1].outcome = Some(Outcome::Won(player(2))),
        |facts| facts.course.lots.clear(),
        |facts| facts.course.champion = Some(player(3)),
        |facts| facts.fixtures[2].a = player(4),
    ];
    for change in cases {
        assert_eq!(broken(change), Some(Checker::FormatIsFollowed));
    }
}

/// Four players, two swiss rounds.
fn swiss(second: [(u32, u32); 2]) -> Facts {
    let course = Course {
        kind: Kind::Swiss,
        rounds: vec![drawn(1), drawn(2)],
        ..Course::usual()
    };
    let [(a, b), (c, d)] = second;
    let fixtures = vec![
        fixture(1, 1, 1, 3, Outcome::Drawn),
        fixture(1, 2, 2, 4, Outcome::Drawn),
        fixture(2, 1, a, b, Outcome::Drawn),
        fixture(2, 2, c, d, Outcome::Drawn),
    ];
    Facts {
        players: (1..=4).map(player).collect(),
        fixtures,
        table: Vec::new(),
        completed: true,
        course,
    }
}

#[test]
fn a_swiss_round_with_a_rematch_that_could_be_avoided_is_noticed() {
    assert_eq!(check::course::is_followed(&swiss([(1, 2), (3, 4)])), Ok(()));
    let fault = check::course::is_followed(&swiss([(3, 1), (2, 4)])).unwrap_err();
    assert_eq!(fault.checker, Checker::FormatIsFollowed);
    let fault = check::course::is_followed(&swiss([(1, 2), (1, 4)])).unwrap_err();
    assert_eq!(fault.checker, Checker::FormatIsFollowed);
}

#[test]
fn a_second_bye_while_someone_has_had_none_is_noticed() {
    let mut facts = swiss([(1, 2), (3, 4)]);
    facts.players.push(player(5));
    facts.course.rounds[0].byes = vec![player(5)];
    facts.course.rounds[1].byes = vec![player(5)];
    let fault = check::course::is_followed(&facts).unwrap_err();
    assert_eq!(fault.checker, Checker::FormatIsFollowed);
}
