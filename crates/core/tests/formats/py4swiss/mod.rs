//! Swiss rounds against py4swiss, an implementation of FIDE's Dutch system, on the same positions of random tournaments; and
//! against the cheapest pairing, which networkx finds.
//!
//! The gate plays some tournaments. A thousand of them:
//! `TOURNAMENTS=1000 cargo test --release -p matchday-core --test formats py4swiss -- --nocapture`

use crate::season::{Season, pair, players};
use matchday_core::entropy::Entropy;
use matchday_core::league::format::{Competition, Format};
use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN, Verdict};
use matchday_core::protocol::PlayerId;
use matchday_testkit::tools;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = "crates/core/tests/formats/py4swiss/install";

/// What is known of the players before a round.
#[derive(Default, Clone)]
struct Position {
    players: Vec<PlayerId>,
    met: BTreeSet<(PlayerId, PlayerId)>,
    points: BTreeMap<PlayerId, u32>,
    had_bye: BTreeSet<PlayerId>,
    /// The sides of each player so far, oldest first.
    sides: BTreeMap<PlayerId, String>,
}

/// What a pairing costs, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    rematches: usize,
    impossible_sides: usize,
    bye_points: u32,
    /// The score groups between the players of each pair, added up.
    floats: usize,
}

impl Cost {
    fn parts(&self) -> [u64; 4] {
        let Self {
            rematches,
            impossible_sides,
            bye_points,
            floats,
        } = *self;
        [
            rematches as u64,
            impossible_sides as u64,
            bye_points.into(),
            floats as u64,
        ]
    }
}

impl Position {
    fn points(&self, player: &PlayerId) -> u32 {
        self.points.get(player).copied().unwrap_or(0)
    }

    /// The number of scores that are higher than its own.
    fn level(&self, player: &PlayerId) -> usize {
        let scores: BTreeSet<u32> = self
            .players
            .iter()
            .map(|player| self.points(player))
            .collect();
        scores.range(self.points(player) + 1..).count()
    }

    fn cost(&self, pairs: &[(PlayerId, PlayerId)], byes: &[PlayerId]) -> Cost {
        let met = pairs.iter().filter(|(a, b)| {
            let (a, b) = pair(a, b);
            self.met.contains(&(a.clone(), b.clone()))
        });
        let seats = pairs.iter().flat_map(|(a, b)| [(a, 'A'), (b, 'B')]);
        Cost {
            rematches: met.count()
                + byes
                    .iter()
                    .filter(|player| self.had_bye.contains(*player))
                    .count(),
            impossible_sides: seats
                .filter(|(player, side)| self.is_impossible(player, *side))
                .count(),
            bye_points: byes.iter().map(|player| self.points(player)).sum(),
            floats: pairs
                .iter()
                .map(|(a, b)| self.level(a).abs_diff(self.level(b)))
                .sum(),
        }
    }

    /// Every possible pair and bye with its costs, of fields in which networkx is quick.
    fn edges(&self) -> Vec<Value> {
        if self.players.len() > 20 {
            return Vec::new();
        }
        let numbered: Vec<_> = (1..).zip(&self.players).collect();
        let mut edges = Vec::new();
        for (a, one) in &numbered {
            for (b, other) in numbered.iter().filter(|(b, _)| b > a) {
                let cost = |first: &PlayerId, second: &PlayerId| {
                    self.cost(&[(first.clone(), second.clone())], &[])
                };
                let cheaper = cost(one, other).min(cost(other, one));
                edges.push(json!([a, b, cheaper.parts()]));
            }
            if self.players.len() % 2 == 1 {
                let cost = self.cost(&[], std::slice::from_ref(*one));
                edges.push(json!([a, 0, cost.parts()]));
            }
        }
        edges
    }

    /// Three times in a row, or three times more often than the other.
    fn is_impossible(&self, player: &PlayerId, side: char) -> bool {
        let mut sides = self.sides.get(player).cloned().unwrap_or_default();
        sides.push(side);
        let count = |side: char| sides.chars().filter(|one| *one == side).count();
        sides.ends_with("AAA") || sides.ends_with("BBB") || count('A').abs_diff(count('B')) > 2
    }
}

/// One tournament: each position with the pairing that was drawn there, and what is told to py4swiss.
fn positions(seed: u64) -> Vec<(Position, Cost, Value)> {
    let mut chance = Entropy::numbered(seed);
    let count = 6 + chance.below(35) as usize;
    let season = Season::play(
        &Competition::of(Format::Swiss),
        count,
        |_, _| match chance.below(10) {
            0..4 => Verdict::WonByA,
            4..8 => Verdict::WonByB,
            _ => Verdict::Drawn,
        },
    );
    let number = |player: &PlayerId| player.as_str()[1..].parse::<u32>().unwrap();
    let mut position = Position {
        players: players(count),
        ..Position::default()
    };
    let mut told = Vec::new();
    let mut found = Vec::new();
    for (round, verdicts) in season.rounds.iter().zip(&season.verdicts) {
        if !told.is_empty() {
            let asked = json!({
                "players": count,
                "rounds_in_all": season.rounds.len(),
                "rounds": told,
                "edges": position.edges(),
            });
            found.push((
                position.clone(),
                position.cost(&round.pairs, &round.byes),
                asked,
            ));
        }
        let mut pairs = Vec::new();
        for ((a, b), verdict) in round.pairs.iter().zip(verdicts) {
            let (for_a, for_b, result) = match verdict.unwrap() {
                Verdict::WonByA => (POINTS_WIN, 0, "1"),
                Verdict::WonByB => (0, POINTS_WIN, "0"),
                _ => (POINTS_DRAW, POINTS_DRAW, "="),
            };
            *position.points.entry(a.clone()).or_default() += for_a;
            *position.points.entry(b.clone()).or_default() += for_b;
            position.sides.entry(a.clone()).or_default().push('A');
            position.sides.entry(b.clone()).or_default().push('B');
            let (low, high) = pair(a, b);
            position.met.insert((low.clone(), high.clone()));
            pairs.push(json!([number(a), number(b), result]));
        }
        for player in &round.byes {
            *position.points.entry(player.clone()).or_default() += POINTS_WIN;
            position.had_bye.insert(player.clone());
        }
        told.push(json!({"pairs": pairs, "bye": round.byes.first().map(number)}));
    }
    found
}

/// The answers of py4swiss, in the order of the questions.
fn asked(python: &Path, questions: &[(Position, Cost, Value)]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/py4swiss/pair.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut into = child.stdin.take().unwrap();
    let lines: String = questions
        .iter()
        .map(|(_, _, asked)| format!("{asked}\n"))
        .collect();
    // Answers come while questions are still being written.
    let writing = std::thread::spawn(move || into.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    answers
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn no_round_costs_more_than_that_of_py4swiss() {
    let Some(folder) = tools::require_installed("py4swiss", SCRIPT) else {
        return;
    };
    let tournaments = std::env::var("TOURNAMENTS").map_or(25, |count| count.parse().unwrap());
    let questions: Vec<_> = (0..tournaments).flat_map(positions).collect();
    let answers = asked(&folder.join("python/bin/python"), &questions);
    assert_eq!(answers.len(), questions.len());
    let mut same = 0;
    let mut fewer_floats = 0;
    let mut otherwise = 0;
    let mut without = 0;
    let mut cheapest = 0;
    for ((position, ours, question), answer) in questions.iter().zip(&answers) {
        if let Some(least) = answer["least"].as_array() {
            assert_eq!(json!(ours.parts()), json!(least), "{question}");
            cheapest += 1;
        }
        let player =
            |value: &Value| PlayerId::numbered(u32::try_from(value.as_u64().unwrap()).unwrap());
        // It refuses a round that cannot be paired without a rematch.
        let Some(pairs) = answer["pairs"].as_array() else {
            without += 1;
            assert!(
                ours.rematches > 0 || ours.impossible_sides > 0,
                "{answer} for {question}: {ours:?}"
            );
            continue;
        };
        let pairs: Vec<_> = pairs
            .iter()
            .map(|pair| (player(&pair[0]), player(&pair[1])))
            .collect();
        let byes: Vec<_> = Some(&answer["bye"])
            .filter(|bye| !bye.is_null())
            .map(player)
            .into_iter()
            .collect();
        let theirs = position.cost(&pairs, &byes);
        assert!(
            *ours <= theirs,
            "{ours:?} instead of {theirs:?} for {question}"
        );
        match () {
            () if *ours == theirs => same += 1,
            () if Cost { floats: 0, ..*ours }
                == Cost {
                    floats: 0,
                    ..theirs
                } =>
            {
                fewer_floats += 1
            }
            () => otherwise += 1,
        }
    }
    println!(
        "{tournaments} tournaments, {} rounds: {same} cost the same, {fewer_floats} have fewer floats, {otherwise} are \
         better otherwise, {without} py4swiss cannot pair",
        questions.len()
    );
    assert!(cheapest > 20, "networkx was asked about {cheapest} rounds");
    assert!(same > questions.len() / 2, "{same} of {}", questions.len());
}
