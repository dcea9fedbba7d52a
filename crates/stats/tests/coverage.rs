//! Coverage: how often do the 95 % intervals of Bradley-Terry strengths hold the truth, for all players and for the best
//! and the worst of the table? Leagues of known strengths are simulated; seeds are fixed.
//!
//! The gate runs a part of the grid. The whole of it, as a table (`PLAYERS=8 FORMAT=swiss` for a part):
//! `COVERAGE=full cargo test --release -p matchday-stats --test coverage -- --nocapture`

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

use matchday_stats::bradley_terry::{Model, Prior, RATING_SCALE};
use matchday_stats::null_model::ResultProbabilities;
use matchday_stats::posterior;
use matchday_stats::results::{Game, Verdict};
use matchday_stats::rng::SeededRng;
use matchday_stats::spread::{self, Hyperprior};
use std::fmt;

#[derive(Debug, Clone, Copy)]
enum Design {
    RoundRobin(u32),
    Swiss,
    Knockout,
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RoundRobin(legs) => write!(f, "round robin x{legs}"),
            Self::Swiss => f.write_str("swiss"),
            Self::Knockout => f.write_str("knockout"),
        }
    }
}

/// One league to be played: strengths are normal with this deviation, in rating points.
#[derive(Debug, Clone, Copy)]
struct Case {
    spread: f64,
    players: usize,
    design: Design,
    draws: bool,
}

struct World {
    strengths: Vec<f64>,
    draws: bool,
    rng: SeededRng,
    games: Vec<Game>,
    /// Wins count 2, draws 1.
    points: Vec<u32>,
}

impl World {
    fn new(case: &Case, rng: SeededRng) -> Self {
        let mut rng = rng;
        let mut strengths: Vec<f64> = (0..case.players)
            .map(|_| rng.normal() * case.spread / RATING_SCALE)
            .collect();
        let mean = strengths.iter().sum::<f64>() / case.players as f64;
        strengths.iter_mut().for_each(|strength| *strength -= mean);
        Self {
            strengths,
            draws: case.draws,
            rng,
            games: Vec::new(),
            points: vec![0; case.players],
        }
    }

    /// By Davidson's model; with draws, as many between equals as even/odd has.
    fn play(&mut self, a: usize, b: usize) -> Verdict {
        let half = (self.strengths[a] - self.strengths[b]) / 2.0;
        let [win, draw, loss] = [
            libm::exp(half),
            if self.draws { 2.0 } else { 0.0 },
            libm::exp(-half),
        ];
        let all = win + draw + loss;
        let chance = ResultProbabilities {
            win: win / all,
            draw: draw / all,
            loss: loss / all,
        };
        let verdict = self.rng.verdict(chance);
        self.games.push(Game {
            round: 1,
            a,
            b,
            verdict,
        });
        let [for_a, for_b] = match verdict {
            Verdict::A => [2, 0],
            Verdict::B => [0, 2],
            Verdict::Draw => [1, 1],
        };
        self.points[a] += for_a;
        self.points[b] += for_b;
        verdict
    }

    fn play_all(&mut self, design: Design) {
        let players = self.strengths.len();
        match design {
            Design::RoundRobin(legs) => {
                for (a, b) in (0..players).flat_map(|a| (a + 1..players).map(move |b| (a, b))) {
                    for _ in 0..legs {
                        self.play(a, b);
                    }
                }
            }
            Design::Swiss => (0..players.ilog2() + 2).for_each(|_| self.swiss_round()),
            Design::Knockout => self.knockout(),
        }
    }

    /// Neighbours of the table meet, if they have not met.
    fn swiss_round(&mut self) {
        let mut left: Vec<usize> = (0..self.strengths.len()).collect();
        left.sort_by_key(|player| std::cmp::Reverse(self.points[*player]));
        while left.len() > 1 {
            let player = left.remove(0);
            let met = |other: &usize| {
                self.games.iter().any(|game| {
                    [game.a, game.b] == [player, *other] || [game.b, game.a] == [player, *other]
                })
            };
            let place = left.iter().position(|other| !met(other)).unwrap_or(0);
            let opponent = left.remove(place);
            self.play(player, opponent);
        }
    }

    /// Level ties are played again.
    fn knockout(&mut self) {
        let mut left: Vec<usize> = (0..self.strengths.len()).collect();
        while left.len() > 1 {
            let (pairs, bye) = left.as_chunks::<2>();
            let mut through = bye.to_vec();
            for [a, b] in pairs {
                let winner = loop {
                    match self.play(*a, *b) {
                        Verdict::A => break *a,
                        Verdict::B => break *b,
                        Verdict::Draw => {}
                    }
                };
                through.push(winner);
            }
            left = through;
        }
    }
}

/// How often the interval held the truth: of everyone, of the first of the table, of the last.
#[derive(Debug, Clone, Copy, Default)]
struct Coverage {
    all: (u32, u32),
    best: (u32, u32),
    worst: (u32, u32),
    width: f64,
}

fn share((held, all): (u32, u32)) -> f64 {
    f64::from(held) / f64::from(all)
}

fn coverage(case: &Case, leagues: u32, draws: u32) -> Coverage {
    let mut held = Coverage::default();
    for league in 0..leagues {
        let mut world = World::new(case, SeededRng::new(20, league.into()));
        world.play_all(case.design);
        let model = Model::of(case.players, &world.games, Prior::default());
        let fit = spread::fit(&model, Hyperprior::Uniform).unwrap();
        let intervals =
            posterior::intervals(&model, &fit, draws, &mut SeededRng::new(21, league.into()));
        let holds = |player: usize| {
            let [low, high] = intervals[player];
            u32::from((low..=high).contains(&world.strengths[player]))
        };
        for (player, [low, high]) in intervals.iter().enumerate() {
            held.all = (held.all.0 + holds(player), held.all.1 + 1);
            held.width += (high - low) * RATING_SCALE;
        }
        // The table goes by points, then by the rating.
        let key = |player: &usize| (world.points[*player], (1e6 * fit.strengths[*player]) as i64);
        let best = (0..case.players).max_by_key(key).unwrap();
        let worst = (0..case.players).min_by_key(key).unwrap();
        held.best = (held.best.0 + holds(best), held.best.1 + 1);
        held.worst = (held.worst.0 + holds(worst), held.worst.1 + 1);
    }
    held.width /= f64::from(held.all.1);
    held
}

/// So many leagues leave a standard error of 1.3 % in the share of all players and of 2.5 % in those of the best and the
/// worst, so that the bounds are wider than the 93 to 97 % of the whole grid.
#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    for (spread, players, design, draws) in [
        (100.0, 8, Design::RoundRobin(1), true),
        (800.0, 8, Design::RoundRobin(1), false),
        (400.0, 4, Design::RoundRobin(10), true),
        (100.0, 8, Design::Knockout, false),
        (400.0, 8, Design::Swiss, false),
    ] {
        let case = Case {
            spread,
            players,
            design,
            draws,
        };
        let Coverage {
            all, best, worst, ..
        } = coverage(&case, 80, 200);
        let [all, best, worst] = [all, best, worst].map(share);
        assert!(
            all > 0.92 && best > 0.88 && worst > 0.88,
            "{case:?}: {all} {best} {worst}"
        );
        if matches!(design, Design::RoundRobin(_)) {
            assert!(all < 0.985, "{case:?}: {all}");
        }
    }
}

/// Rating, spread and interval of a league that everyone can recompute.
#[test]
fn the_same_results_and_seed_give_the_same_intervals() {
    let mut world = World::new(
        &Case {
            spread: 300.0,
            players: 5,
            design: Design::RoundRobin(2),
            draws: true,
        },
        SeededRng::new(1, 1),
    );
    world.play_all(Design::RoundRobin(2));
    let model = Model::of(5, &world.games, Prior::default());
    let fit = spread::fit(&model, Hyperprior::Uniform).unwrap();
    let [one, same, other] =
        [1, 1, 2].map(|seed| posterior::intervals(&model, &fit, 400, &mut SeededRng::new(seed, 2)));
    assert!(one == same && one != other);
    for ((strength, low_high), other) in fit.strengths.iter().zip(&one).zip(&other) {
        assert!(low_high[0] <= *strength && *strength <= low_high[1]);
        // Another seed moves the ends by what draws by chance move them.
        assert!(
            low_high
                .iter()
                .zip(other)
                .all(|(one, other)| (one - other).abs() * RATING_SCALE < 80.0)
        );
    }
}

#[test]
fn the_whole_grid() {
    if std::env::var_os("COVERAGE").is_none() {
        return;
    }
    let sizes = std::env::var("PLAYERS")
        .ok()
        .map(|players| vec![players.parse().unwrap()]);
    let format = std::env::var("FORMAT").ok();
    println!("| format | players | spread | draws | all | best | worst | width |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for players in sizes.unwrap_or_else(|| vec![4, 8, 16, 50]) {
        let round_robins = [1, 2, 10].map(Design::RoundRobin);
        let designs = round_robins
            .into_iter()
            .chain([Design::Swiss, Design::Knockout]);
        for design in designs.filter(|design| {
            format
                .as_ref()
                .is_none_or(|name| design.to_string() == *name)
        }) {
            for (draws, spread) in [false, true]
                .into_iter()
                .flat_map(|draws| [100.0, 200.0, 400.0, 800.0].map(|spread| (draws, spread)))
            {
                let leagues = if players >= 50 { 40 } else { 300 };
                let Coverage {
                    all,
                    best,
                    worst,
                    width,
                } = coverage(
                    &Case {
                        spread,
                        players,
                        design,
                        draws,
                    },
                    leagues,
                    500,
                );
                let [all, best, worst] = [all, best, worst].map(|held| 100.0 * share(held));
                println!(
                    "| {design} | {players} | {spread} | {draws} | {all:.1} | {best:.1} | {worst:.1} | {width:.0} |"
                );
            }
        }
    }
}
