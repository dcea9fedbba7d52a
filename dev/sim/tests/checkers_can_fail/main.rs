//! A check that cannot fail is worthless: each is shown a league that is right, and then one that is wrong.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod formats;
mod ladder;
mod planted;
mod shared_store;

use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::protocol::messages::{
    Blame, ByPlayer, Cause, Culprit, GameDetails, GameOver, GameResult, GameStatus, MatchResult,
    Parity, ParityDetails, ResultDetails,
};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, GameType, LeagueId, MatchId, PlayerId, RoundId};
use matchday_sim::check::{
    self, Course, Facts, Fixture, Outcome, Row, draw, fixtures, ledger::Ledger, signed,
};
use matchday_sim::{AgentId, Checker, CrashPoint, Fault, Moment, Options, Scenario};
use std::collections::BTreeSet;
use std::time::Duration;

fn player(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

fn fixture(round: u32, number: u32, a: u32, b: u32, outcome: Outcome) -> Fixture {
    Fixture {
        id: MatchId::numbered(RoundId(round), number),
        round: RoundId(round),
        a: player(a),
        b: player(b),
        outcome: Some(outcome),
        series: None,
    }
}

fn row(rank: u32, number: u32, wins: u32, draws: u32, losses: u32) -> Row {
    Row {
        rank,
        player: player(number),
        played: wins + draws + losses,
        wins,
        draws,
        losses,
        technical_losses: 0,
        points: 3 * wins + draws,
    }
}

/// Three players: the first has beaten the second, the others have drawn.
fn league() -> Facts {
    Facts {
        players: vec![player(1), player(2), player(3)],
        fixtures: vec![
            fixture(1, 1, 1, 2, Outcome::Won(player(1))),
            fixture(2, 1, 3, 1, Outcome::Drawn),
            fixture(3, 1, 2, 3, Outcome::Drawn),
        ],
        table: vec![row(1, 1, 1, 1, 0), row(2, 3, 0, 2, 0), row(3, 2, 0, 1, 1)],
        completed: true,
        course: Course::usual(),
    }
}

fn broken(change: impl FnOnce(&mut Facts)) -> Option<Checker> {
    let mut facts = league();
    change(&mut facts);
    check::always(&facts).err().map(|fault| fault.checker)
}

#[test]
fn a_sound_league_passes() {
    assert_eq!(broken(|_| {}), None);
}

#[test]
fn every_rule_on_fixtures_can_be_broken() {
    let again = |facts: &mut Facts| facts.fixtures[2] = fixture(3, 1, 2, 1, Outcome::Drawn);
    assert_eq!(broken(again), Some(Checker::EachPairOnce));
    let itself = |facts: &mut Facts| facts.fixtures[2].b = player(2);
    assert_eq!(broken(itself), Some(Checker::EachPairOnce));
    let never = |facts: &mut Facts| facts.fixtures.truncate(2);
    assert_eq!(broken(never), Some(Checker::EachPairOnce));
    let stranger = |facts: &mut Facts| facts.fixtures[2].b = player(9);
    assert_eq!(broken(stranger), Some(Checker::EachPairOnce));
    let same_name = |facts: &mut Facts| facts.fixtures[2].id = facts.fixtures[0].id.clone();
    assert_eq!(broken(same_name), Some(Checker::EachPairOnce));
    let same_round = |facts: &mut Facts| facts.fixtures[2].round = RoundId(2);
    assert_eq!(broken(same_round), Some(Checker::OneMatchPerRound));
    let undecided = |facts: &mut Facts| facts.fixtures[2].outcome = None;
    assert_eq!(broken(undecided), Some(Checker::EveryMatchDecided));
    let absent_winner =
        |facts: &mut Facts| facts.fixtures[0].outcome = Some(Outcome::Won(player(3)));
    assert_eq!(broken(absent_winner), Some(Checker::EveryMatchDecided));
}

#[test]
fn every_column_of_the_table_is_checked() {
    type Column = fn(&mut Row) -> &mut u32;
    let columns: [Column; 6] = [
        |row| &mut row.played,
        |row| &mut row.wins,
        |row| &mut row.draws,
        |row| &mut row.losses,
        |row| &mut row.technical_losses,
        |row| &mut row.points,
    ];
    for (place, column) in columns.into_iter().enumerate() {
        let changed = broken(|facts| *column(&mut facts.table[1]) += 1);
        assert_eq!(changed, Some(Checker::TableAddsUp), "column {place}");
    }
    assert_eq!(
        broken(|facts| drop(facts.table.pop())),
        Some(Checker::TableAddsUp)
    );
}

#[test]
fn any_other_order_of_the_table_is_noticed() {
    for (x, y) in [(0, 1), (1, 2), (0, 2)] {
        assert_eq!(
            broken(|facts| facts.table.swap(x, y)),
            Some(Checker::TableInOrder)
        );
    }
}

/// The first two are level on points, and the second has beaten the first.
fn level(first: u32, second: u32) -> Facts {
    Facts {
        players: (1..=4).map(player).collect(),
        fixtures: vec![
            fixture(1, 1, 1, 2, Outcome::Won(player(2))),
            fixture(1, 2, 3, 4, Outcome::Drawn),
            fixture(2, 1, 1, 3, Outcome::Won(player(1))),
            fixture(2, 2, 2, 4, Outcome::Won(player(4))),
            fixture(3, 1, 1, 4, Outcome::Won(player(1))),
            fixture(3, 2, 2, 3, Outcome::Won(player(2))),
        ],
        table: vec![
            row(1, first, 2, 0, 1),
            row(2, second, 2, 0, 1),
            row(3, 4, 1, 1, 1),
            row(4, 3, 0, 1, 2),
        ],
        completed: true,
        course: Course::usual(),
    }
}

#[test]
fn who_won_their_match_goes_before_the_id() {
    assert_eq!(check::always(&level(2, 1)), Ok(()));
    assert_eq!(
        check::always(&level(1, 2)).unwrap_err().checker,
        Checker::TableInOrder
    );
}

#[test]
fn those_in_a_circle_share_the_first_place() {
    let circle = |facts: &mut Facts| {
        facts.fixtures = vec![
            fixture(1, 1, 1, 2, Outcome::Won(player(2))),
            fixture(2, 1, 3, 1, Outcome::Won(player(1))),
            fixture(3, 1, 2, 3, Outcome::Won(player(3))),
        ];
        facts.table = (1..=3).map(|number| row(1, number, 1, 0, 1)).collect();
    };
    assert_eq!(broken(circle), None);
    let by_id = |facts: &mut Facts| {
        circle(facts);
        facts.table[1].rank = 2;
    };
    assert_eq!(broken(by_id), Some(Checker::TableInOrder));
    let wanted = |facts: &mut Facts| {
        circle(facts);
        facts.course.play_off = true;
    };
    assert_eq!(
        broken(wanted),
        Some(Checker::FormatIsFollowed),
        "the play-off is due"
    );
}

/// Two players who drew, and whose play-off the second has won.
fn played_off(a: u32, b: u32) -> Facts {
    let play_off = Fixture {
        series: Some(1),
        ..fixture(2, 1, a, b, Outcome::Won(player(a)))
    };
    Facts {
        players: vec![player(1), player(2), player(3)],
        fixtures: vec![
            fixture(1, 1, 1, 2, Outcome::Drawn),
            fixture(1, 2, 3, 1, Outcome::Won(player(1))),
            fixture(1, 3, 2, 3, Outcome::Won(player(2))),
            play_off,
        ],
        table: vec![row(1, 2, 1, 1, 0), row(2, 1, 1, 1, 0), row(3, 3, 0, 0, 2)],
        completed: true,
        course: Course {
            play_off: true,
            ..Course::usual()
        },
    }
}

#[test]
fn a_play_off_decides_the_first_place_and_counts_for_nothing_else() {
    let found = |facts: Facts| {
        check::play_off::is_played(&facts).and_then(|()| check::table::is_in_order(&facts))
    };
    assert_eq!(found(played_off(2, 1)), Ok(()));
    assert_eq!(check::table::adds_up(&played_off(2, 1)), Ok(()));
    assert_eq!(
        found(played_off(1, 2)).unwrap_err().checker,
        Checker::TableInOrder
    );
    assert_eq!(
        found(played_off(2, 3)).unwrap_err().checker,
        Checker::FormatIsFollowed
    );
    let mut nobody_asked = played_off(2, 1);
    nobody_asked.course.play_off = false;
    assert_eq!(
        found(nobody_asked).unwrap_err().checker,
        Checker::FormatIsFollowed
    );
}

#[test]
fn a_forfeit_of_a_player_that_answered_is_noticed() {
    let mut facts = league();
    assert_eq!(
        fixtures::none_forfeits(&facts, &[player(1), player(2)]),
        Ok(())
    );
    facts.fixtures[0].outcome = Some(Outcome::Forfeited { winner: player(1) });
    assert_eq!(fixtures::none_forfeits(&facts, &[player(1)]), Ok(()));
    let fault = fixtures::none_forfeits(&facts, &[player(2)]).unwrap_err();
    assert_eq!(fault.checker, Checker::HonestPlayersPlay);
    facts.fixtures[0].outcome = Some(Outcome::BothForfeited);
    assert!(fixtures::none_forfeits(&facts, &[player(1)]).is_err());
}

fn result(winner: u32) -> MatchResult {
    MatchResult {
        winner: Some(player(winner)),
        score: ByPlayer::pair(
            (player(1), if winner == 1 { 3 } else { 0 }),
            (player(2), if winner == 2 { 3 } else { 0 }),
        ),
        details: ResultDetails::of(GameDetails::Other(serde_json::Map::new())),
        status: Some(GameStatus::Win),
        reason: None,
    }
}

#[test]
fn a_result_that_is_decided_twice_changed_or_forgotten_is_noticed() {
    let mut ledger = Ledger::default();
    let match_id = league().fixtures[0].id.clone();
    let mut facts = league();
    ledger
        .record(&match_id, Outcome::Won(player(1)), result(1))
        .unwrap();
    assert_eq!(ledger.agrees(&facts), Ok(()));
    let checker = |outcome: Result<(), Fault>| outcome.unwrap_err().checker;
    for now in [None, Some(Outcome::Won(player(2))), Some(Outcome::Drawn)] {
        facts.fixtures[0].outcome = now;
        assert_eq!(checker(ledger.agrees(&facts)), Checker::ResultsNeverChange);
    }
    let twice = ledger.record(&match_id, Outcome::Won(player(1)), result(1));
    assert_eq!(checker(twice), Checker::ResultsNeverChange);
}

#[test]
fn a_receipt_for_what_is_not_on_the_disk_is_noticed() {
    let mut ledger = Ledger::default();
    let match_id = MatchId::new("R1M1");
    let checker = |outcome: Result<(), Fault>| outcome.unwrap_err().checker;
    assert_eq!(
        checker(ledger.has_recorded(&match_id, Some(&result(1)))),
        Checker::AcknowledgedIsDurable
    );
    ledger
        .record(&match_id, Outcome::Won(player(1)), result(1))
        .unwrap();
    assert_eq!(ledger.has_recorded(&match_id, Some(&result(1))), Ok(()));
    assert_eq!(
        checker(ledger.has_recorded(&match_id, Some(&result(2)))),
        Checker::AcknowledgedIsDurable
    );
}

/// A match that was played by the scheme, and the promise in its invitations.
fn played(league: &LeagueId) -> (GameOver, String) {
    let match_id = MatchId::new("R1M1");
    let attempt = Attempt::FIRST;
    let secret = Secret::from_bytes([7; 32]);
    let nonces = ["ours", "theirs"].map(|text| Nonce(text.into()));
    let draw = MatchDraw {
        league_id: league,
        match_id: &match_id,
        attempt,
    };
    let drawn = draw.dice(&secret, nonces.each_ref()).uniform(1..=10) as u8;
    let [a, b] = nonces;
    let reveal = draw.reveal(&secret, ByPlayer::pair((player(1), a), (player(2), b)));
    let promise = reveal.commitment.0.to_string();
    let details = ParityDetails {
        drawn_number: Some(drawn),
        number_parity: Some(Parity::of(drawn)),
        choices: ByPlayer::pair(
            (player(1), Some(Parity::Even)),
            (player(2), Some(Parity::Odd)),
        ),
    };
    let winner = if Parity::of(drawn) == Parity::Even {
        player(1)
    } else {
        player(2)
    };
    let over = GameOver {
        league_id: Some(league.clone()),
        round_id: Some(RoundId(1)),
        match_id,
        game_type: GameType::new("even_odd"),
        game_result: GameResult {
            status: GameStatus::Win,
            winner_player_id: Some(winner),
            details: GameDetails::Parity(details),
            reason: None,
            fairness: Some(reveal),
        },
        reason: None,
        signature: None,
    };
    (over, promise)
}

#[test]
fn a_draw_that_was_bent_is_noticed() {
    let league = LeagueId::new("league_sim");
    let (over, promise) = played(&league);
    assert_eq!(
        draw::recomputes(&over, &league, Attempt::FIRST, &promise),
        Ok(())
    );
    let bent = |change: fn(&mut GameOver)| {
        let mut over = over.clone();
        change(&mut over);
        draw::recomputes(&over, &league, Attempt::FIRST, &promise)
            .err()
            .map(|fault| fault.checker)
    };
    let another_number = |over: &mut GameOver| {
        if let GameDetails::Parity(details) = &mut over.game_result.details {
            details.drawn_number = details.drawn_number.map(|drawn| drawn % 10 + 1);
        }
    };
    let another_secret = |over: &mut GameOver| {
        if let Some(reveal) = &mut over.game_result.fairness {
            reveal.secret = "08".repeat(32).into();
        }
    };
    let no_reveal = |over: &mut GameOver| over.game_result.fairness = None;
    for change in [another_number, another_secret, no_reveal] {
        assert_eq!(bent(change), Some(Checker::FairDraws));
    }
    let another_promise = draw::recomputes(&over, &league, Attempt::FIRST, "00");
    assert_eq!(another_promise.unwrap_err().checker, Checker::FairDraws);
}

/// A manager that dies and is not started again before anyone stops waiting, at each step of a small league.
#[test]
fn a_league_that_does_not_end_and_one_whose_end_is_not_told_are_noticed() {
    let scenario = Scenario::plain(2, 1);
    let whole = matchday_sim::run(
        1,
        &Options {
            scenario: Some(scenario.clone()),
            ..Options::default()
        },
    );
    assert_eq!(whole.failure, None);
    let mut noticed = BTreeSet::new();
    for step in 1..=whole.stats.steps[&AgentId::Manager] {
        let moment = Moment::StoredUnsent;
        let down = Duration::from_secs(1_000_000);
        let crash = Some(CrashPoint {
            who: AgentId::Manager,
            step,
            moment,
            down,
        });
        let report = matchday_sim::run(
            1,
            &Options {
                scenario: Some(scenario.clone()),
                crash,
                ..Options::default()
            },
        );
        noticed.extend(report.failure.map(|failure| failure.fault.checker));
    }
    assert_eq!(
        noticed,
        BTreeSet::from([Checker::EndsInTime, Checker::AllAreTold])
    );
}

#[test]
fn a_loss_without_play_that_blames_nobody_or_the_wrong_one_is_noticed() {
    let lost = fixture(1, 1, 1, 2, Outcome::Forfeited { winner: player(1) });
    let found = |fixture: &Fixture, blamed: &[(u32, Culprit)]| {
        let mut told = result(1);
        let blame = |culprit| Blame {
            culprit,
            ..Blame::on_player(Cause::Silent)
        };
        let entries = blamed
            .iter()
            .map(|(number, culprit)| (player(*number), blame(*culprit)));
        told.details.blame = Some(Box::new(entries.collect()));
        check::blame::names_the_losers(fixture, &told)
            .err()
            .map(|fault| fault.checker)
    };
    assert_eq!(found(&lost, &[(2, Culprit::Player)]), None);
    assert_eq!(found(&lost, &[]), Some(Checker::BlameFits));
    assert_eq!(
        found(&lost, &[(1, Culprit::Player), (2, Culprit::Player)]),
        Some(Checker::BlameFits)
    );
    assert_eq!(
        found(&lost, &[(2, Culprit::Infrastructure)]),
        Some(Checker::BlameFits)
    );
    let played = fixture(1, 1, 1, 2, Outcome::Won(player(1)));
    assert_eq!(
        found(&played, &[(2, Culprit::Player)]),
        Some(Checker::BlameFits)
    );
    assert_eq!(found(&played, &[]), None);
}

#[test]
fn a_choice_or_a_number_on_record_that_was_not_made_or_drawn_is_noticed() {
    let checker = |outcome: Result<(), Fault>| outcome.unwrap_err().checker;
    let league = LeagueId::new("league_sim");
    let (over, _) = played(&league);
    let match_id = over.match_id.clone();
    let attempt = Attempt::FIRST;
    let GameResult {
        winner_player_id,
        details,
        fairness,
        ..
    } = over.game_result;
    let score = ByPlayer::pair((player(1), 3), (player(2), 0));
    let mut result = MatchResult {
        winner: winner_player_id,
        score,
        details: ResultDetails {
            fairness,
            ..ResultDetails::of(details)
        },
        status: Some(GameStatus::Win),
        reason: None,
    };
    assert_eq!(
        signed::are_made(&result, &match_id, &player(1), &[serde_json::json!("even")]),
        Ok(())
    );
    let reversed = signed::are_made(&result, &match_id, &player(1), &[serde_json::json!("odd")]);
    assert_eq!(checker(reversed), Checker::SignedIsRecorded);
    assert_eq!(
        checker(signed::are_made(&result, &match_id, &player(1), &[])),
        Checker::SignedIsRecorded
    );
    let is_drawn = |result: &_, attempt| {
        signed::is_drawn(
            result,
            &league,
            &match_id,
            attempt,
            [&player(1), &player(2)],
        )
    };
    assert_eq!(is_drawn(&result, attempt), Ok(()));
    assert_eq!(
        checker(is_drawn(&result, Attempt(2))),
        Checker::SignedIsRecorded
    );
    result.winner = None;
    assert_eq!(
        checker(is_drawn(&result, attempt)),
        Checker::SignedIsRecorded
    );
}
