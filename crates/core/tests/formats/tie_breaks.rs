//! Tie-breaks, against tables worked out by hand.

use matchday_core::entropy::Entropy;
use matchday_core::league::TieBreak;
use matchday_core::league::standings::{
    Basis, CountedMatch, IndexedMatch, Verdict, compute, rank_by,
};
use matchday_core::protocol::PlayerId;

fn id(number: usize) -> PlayerId {
    PlayerId::numbered(number as u32)
}

/// `1>2` is a win of P01, `1=2` a draw.
fn games(text: &str) -> Vec<(PlayerId, PlayerId, Verdict)> {
    text.split_whitespace()
        .map(|game| {
            let (sign, verdict) = if game.contains('>') {
                ('>', Verdict::WonByA)
            } else {
                ('=', Verdict::Drawn)
            };
            let (a, b) = game.split_once(sign).unwrap();
            (id(a.parse().unwrap()), id(b.parse().unwrap()), verdict)
        })
        .collect()
}

fn ranked(players: usize, text: &str, rules: &[TieBreak]) -> Vec<String> {
    let ids: Vec<PlayerId> = (1..=players).map(id).collect();
    let games = games(text);
    let counted = games.iter().map(|(a, b, verdict)| CountedMatch {
        a,
        b,
        verdict: *verdict,
        technical: false,
    });
    let rows = compute(&ids, counted, rules).into_iter();
    rows.map(|place| {
        let reason = place
            .ahead
            .map(|ahead| format!(" {ahead}"))
            .unwrap_or_default();
        format!("{} {}{reason}", place.player, place.tally.points())
    })
    .collect()
}

/// Points: P01 6 (beat P03 and P04), P02 6 (beat P04 and P05), P03 4, P04 3, P05 1.
/// Sonneborn-Berger: P01 = 4 + 3 = 7; P02 = 3 + 1 = 4.
#[test]
fn sonneborn_berger_counts_the_points_of_those_one_beat() {
    let played = "1>3 1>4 2>4 2>5 3=5 3>4 4>5";
    let by = |rules: &[TieBreak]| ranked(5, played, rules)[0].clone();
    assert_eq!(
        by(&[TieBreak::SonnebornBerger]),
        "P01 6 ahead of P02 on Sonneborn-Berger"
    );
    assert_eq!(by(&[TieBreak::HeadToHead]), "P01 6 level with P02");
}

/// P02 and P01 have 4 each. P01 beat P03 (0 points) and drew with P04 (4): 0 + 2 = 2. P02 beat P04 (4) and drew with
/// P05 (1): 4 + 0.5 = 4.5.
#[test]
fn a_draw_counts_half_the_points_of_the_opponent() {
    let played = "1>3 1=4 2>4 2=5 4>3";
    let table = ranked(5, played, &[TieBreak::SonnebornBerger]);
    assert_eq!(table[0], "P02 4 ahead of P01 on Sonneborn-Berger");
    // P04 beat P03 (0) and drew with P01 (4): 2 as well.
    assert_eq!(table[1], "P01 4 level with P04");
}

/// P01 lost to nobody it met but met weak ones; P02 won as much and met the strong: the sum of all opponents' points
/// counts, won or lost.
#[test]
fn buchholz_counts_the_points_of_all_whom_one_met() {
    // P01: met P04 (0) and P05 (0). P02: met P03 (3) and P05 (0). P03: met P02 (3) and P04 (0).
    let played = "1>4 5=1 2>5 3>2 3=4 2=4";
    let table = ranked(5, played, &[TieBreak::Buchholz]);
    // Points: P01 4, P02 4, P03 4, P04 2, P05 1. Buchholz: P01 = 2 + 1 = 3, P02 = 1 + 4 + 2 = 7, P03 = 4 + 2 = 6.
    assert_eq!(table[0], "P02 4 ahead of P03 on Buchholz");
    assert_eq!(table[1], "P03 4 ahead of P01 on Buchholz");
}

#[test]
fn a_bye_counts_as_a_win_over_someone_who_stands_as_oneself() {
    let ids = [id(1), id(2), id(3)];
    let ids: Vec<&PlayerId> = ids.iter().collect();
    // P01 beat P03; P02 sat out: both have 3. Buchholz: P01 has the 0 of P03, P02 its own 3.
    let games = || {
        vec![IndexedMatch {
            a: 0,
            b: 2,
            verdict: Verdict::WonByA,
            technical: false,
        }]
    };
    let basis = Basis {
        byes: vec![0, 1, 0],
        ..Basis::default()
    };
    let first = |rule| rank_by(&ids, games(), &[rule], &basis)[0].player;
    assert_eq!(first(TieBreak::Buchholz), 1);
    assert_eq!(first(TieBreak::SonnebornBerger), 1);
    assert_eq!(first(TieBreak::Wins), 0);
}

#[test]
fn lots_follow_from_the_seed_and_the_player_alone() {
    let everyone: Vec<PlayerId> = (1..=20).map(id).collect();
    let order = |ids: &[&PlayerId], seed: u64| -> Vec<PlayerId> {
        let basis = Basis {
            seed,
            ..Basis::default()
        };
        let ranked = rank_by(ids, Vec::new(), &[TieBreak::Lots], &basis);
        ranked.iter().map(|row| ids[row.player].clone()).collect()
    };
    let ids: Vec<&PlayerId> = everyone.iter().collect();
    let drawn = order(&ids, 1);
    assert_ne!(drawn, everyone);
    assert_ne!(drawn, order(&ids, 2));
    // Other players make no difference to two players.
    let some: Vec<&PlayerId> = ids.iter().copied().skip(5).step_by(2).collect();
    let kept: Vec<PlayerId> = drawn
        .iter()
        .filter(|player| some.contains(player))
        .cloned()
        .collect();
    assert_eq!(order(&some, 1), kept);
}

/// Whatever the rules, the table has everyone once, and does not depend on the order of players or matches.
#[test]
fn every_order_of_rules_gives_one_order_of_players() {
    let mut chance = Entropy::numbered(11);
    for _ in 0..300 {
        let players = 2 + chance.below(9) as usize;
        let mut rules = TieBreak::ALL.to_vec();
        for place in (1..rules.len()).rev() {
            rules.swap(place, chance.below(place as u64 + 1) as usize);
        }
        rules.truncate(chance.below(8) as usize);
        let mut games: Vec<(usize, usize, Verdict)> = (0..chance.below(20))
            .map(|_| {
                let a = chance.below(players as u64) as usize;
                let b = (a + 1 + chance.below(players as u64 - 1) as usize) % players;
                let verdict = match chance.below(4) {
                    0 => Verdict::WonByA,
                    1 => Verdict::WonByB,
                    2 => Verdict::Drawn,
                    _ => Verdict::LostByBoth,
                };
                (a, b, verdict)
            })
            .collect();
        let ids: Vec<PlayerId> = (1..=players).map(id).collect();
        let order = |ids: &[PlayerId], games: &[(usize, usize, Verdict)]| {
            let known: Vec<PlayerId> = (1..=players).map(id).collect();
            let counted = games.iter().map(|(a, b, verdict)| CountedMatch {
                a: &known[*a],
                b: &known[*b],
                verdict: *verdict,
                technical: false,
            });
            compute(ids, counted, &rules)
        };
        let first = order(&ids, &games);
        let mut names: Vec<_> = first.iter().map(|place| place.player.clone()).collect();
        let turned: Vec<PlayerId> = ids.iter().rev().cloned().collect();
        games.reverse();
        assert_eq!(order(&turned, &games), first, "{rules:?} {games:?}");
        names.sort();
        assert_eq!(names, ids);
    }
}
