//! Calibration of the luck meter: in leagues of players who move at random it must see more than luck about as rarely as its
//! 5 % say, whatever the format. `./soak luck` plays more of them, and prints the table of docs/statistics.md.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use matchday_audit::statistics::chance_rounds;
use matchday_core::entropy::Entropy;
use matchday_core::game::{self, Outcome, Seat};
use matchday_core::league::format::{Competition, Draw};
use matchday_core::league::standings::Verdict;
use matchday_core::league::{Format, TieBreak};
use matchday_core::protocol::{GameType, PlayerId};
use matchday_stats::luck::Meter;
use matchday_stats::{Entrant, LeagueStatistics, MatchOutcome, Played, Resampling, Results};

const PLAYERS: usize = 8;

/// In how many leagues the table, its best player, and the record of any player seem to be more than luck.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    leagues: u32,
    spread: u32,
    best: u32,
    somebody: u32,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.leagues += other.leagues;
        self.spread += other.spread;
        self.best += other.best;
        self.somebody += other.somebody;
    }

    /// 5 %, and three standard errors of so many leagues.
    fn is_calibrated(&self) -> bool {
        let all = f64::from(self.leagues);
        let most = 0.05 * all + 3.0 * (0.05 * 0.95 * all).sqrt();
        [self.spread, self.best, self.somebody]
            .iter()
            .all(|seen| f64::from(*seen) <= most)
    }
}

/// A league of players who move at random, and what its statistics say.
fn league(game: &str, format: Format, number: u64) -> Seen {
    let ids: Vec<PlayerId> = (1..).map(PlayerId::numbered).take(PLAYERS).collect();
    let entry = game::find(&GameType::new(game)).unwrap();
    let mut players = (entry.built_in.unwrap().players)(&["random"; PLAYERS]);
    let mut entropy = Entropy::numbered(number);
    let competition = Competition::of(format);
    let draw = Draw::begin(&competition, &ids, &TieBreak::DEFAULT, number).unwrap();
    let mut matches = Vec::new();
    let course = draw.play_out(|a, b| {
        let place = |id: &PlayerId| ids.iter().position(|known| known == id).unwrap();
        let outcome = players.play(place(a), place(b), &mut entropy).outcome;
        let (verdict, outcome) = match outcome {
            Outcome::Win(Seat::A) => (Verdict::WonByA, MatchOutcome::WonByA),
            Outcome::Win(Seat::B) => (Verdict::WonByB, MatchOutcome::WonByB),
            Outcome::Draw => (Verdict::Drawn, MatchOutcome::Drawn),
        };
        matches.push(Played {
            round: 1,
            a: a.to_string(),
            b: b.to_string(),
            outcome,
            forfeited: false,
        });
        Some(verdict)
    });
    assert!(course.is_some());
    let entrant = |(rank, id): (u32, &PlayerId)| Entrant {
        rank,
        id: id.to_string(),
        name: id.to_string(),
    };
    let results = Results {
        game: game.to_owned(),
        players: (1..).zip(&ids).map(entrant).collect(),
        matches,
        ladder: false,
    };
    let settings = Resampling {
        seed: number,
        posterior_draws: 1,
        leagues_of_chance: 99,
    };
    let rounds = chance_rounds(Some(&draw), &results, true);
    let found = LeagueStatistics::of(&results, &rounds, &settings);
    let is_more = |meter: Meter| matches!(meter, Meter::ProbablyMore | Meter::HardlyLuck);
    Seen {
        leagues: 1,
        spread: is_more(found.luck.meter).into(),
        best: (found.luck.table.unwrap().best < 0.05).into(),
        somebody: found
            .players
            .iter()
            .any(|player| is_more(player.meter))
            .into(),
    }
}

#[test]
fn chance_looks_like_more_than_luck_in_one_league_of_twenty_in_every_format() {
    let asked = std::env::var("LUCK_LEAGUES").ok();
    let leagues: u64 = asked
        .as_deref()
        .map_or(60, |leagues| leagues.parse().unwrap());
    if asked.is_some() {
        println!("| Format | Game | Table | Best player | Any player |");
        println!("| --- | --- | --- | --- | --- |");
    }
    for format in Format::ENDING {
        for game in ["even_odd", "nim", "tic_tac_toe"] {
            let mut seen = Seen::default();
            (0..leagues).for_each(|number| seen.add(league(game, format, number)));
            if asked.is_some() {
                let [table, best, any] = [seen.spread, seen.best, seen.somebody]
                    .map(|seen| 100.0 * f64::from(seen) / leagues as f64);
                println!("| {format} | {game} | {table:.1} | {best:.1} | {any:.1} |");
            }
            assert!(seen.is_calibrated(), "{format}, {game}: {seen:?}");
        }
    }
}
