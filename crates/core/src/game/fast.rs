//! Very many matches by [`Rules`]: no JSON, no allocation, one call for each match. Pure.

use super::rules::{Choose, Presentation, Rules, Situation, StrategyOf};
use super::{Outcome, Seat, Turn};
use crate::entropy::Entropy;
use serde_json::Value;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// A match that was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastMatch {
    /// How it ended.
    pub outcome: Outcome,
    /// What A and B have scored within the match, in games that keep such a score.
    pub totals: Option<[u32; 2]>,
    /// A hash of all moves: matches that differ in it are different. `None` if chance was part of it.
    pub moves: Option<u64>,
}

/// What happens in a match, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ply {
    /// A move of a player.
    Move(Seat, Value),
    /// A number that chance drew.
    Drawn(u32),
}

/// The players of a game, with what they remember of each other.
pub trait FastPlayers: Debug + Send {
    /// Every match begins with these moves, by their numbers, until this is called again. Moves after the end are ignored.
    fn open(&mut self, opening: &[u32]);

    /// Everyone forgets all matches.
    fn forget(&mut self);

    /// Plays a match. Players are known by their places among the strategies.
    fn play(&mut self, a: usize, b: usize, entropy: &mut Entropy) -> FastMatch;

    /// The same, and what happened in it from the opening on.
    fn play_recorded(&mut self, a: usize, b: usize, entropy: &mut Entropy)
    -> (FastMatch, Vec<Ply>);
}

/// Sets up the players of these strategies. One that the game does not know moves at random, as everywhere.
pub(super) fn players<R: Presentation>(strategies: &[&str]) -> Box<dyn FastPlayers> {
    let player = |name: &&str| {
        let choose = StrategyOf::<R>::named(name).map(|strategy| strategy.choose);
        Player {
            choose,
            memory: R::Memory::default(),
        }
    };
    let players = strategies.iter().map(player).collect();
    Box::new(Players::<R> {
        opened: (R::default(), Fnv::default()),
        opening: Vec::new(),
        players,
    })
}

/// FNV-1a by words: the hasher of the standard library takes longer than most moves.
#[derive(Debug, Clone)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01B3);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Debug)]
struct Players<R: Rules> {
    /// The position after the opening, and the hash of its moves.
    opened: (R, Fnv),
    opening: Vec<Ply>,
    players: Vec<Player<R>>,
}

#[derive(Debug)]
struct Player<R: Rules> {
    choose: Option<Choose<R>>,
    memory: R::Memory,
}

impl<R: Rules> Players<R> {
    fn choose(
        &self,
        position: &R,
        seat: Seat,
        places: [usize; 2],
        entropy: &mut Entropy,
    ) -> R::Move {
        let [own, opponent] = [seat, seat.other()].map(|seat| *seat.of(&places));
        let chosen = self.players.get(own).and_then(|Player { choose, memory }| {
            choose.as_ref()?(&Situation {
                position,
                seat,
                memory,
                opponent,
            })
        });
        chosen.unwrap_or_else(|| {
            let number = entropy.below(position.options() as u64);
            position.option(usize::try_from(number).unwrap_or_default())
        })
    }
}

/// What happens in a match.
enum Event<R: Rules> {
    Move(Seat, R::Move),
    Drawn(u32),
}

impl<R: Presentation> FastPlayers for Players<R> {
    fn open(&mut self, opening: &[u32]) {
        let mut position = R::default();
        let mut moves = Fnv::default();
        self.opening.clear();
        let mut opening = opening.iter().map(|number| *number as usize);
        loop {
            let seats = position.turn().seats();
            if seats.is_empty() || opening.len() < seats.len() {
                break;
            }
            for (seat, number) in seats.iter().zip(opening.by_ref()) {
                let made = position.option(number);
                made.hash(&mut moves);
                self.opening.push(Ply::Move(*seat, R::write(made)));
                position.play(*seat, made);
            }
        }
        self.opened = (position, moves);
    }

    fn forget(&mut self) {
        self.players
            .iter_mut()
            .for_each(|player| player.memory = R::Memory::default());
    }

    fn play(&mut self, a: usize, b: usize, entropy: &mut Entropy) -> FastMatch {
        self.play_watched(a, b, entropy, |_| {})
    }

    fn play_recorded(
        &mut self,
        a: usize,
        b: usize,
        entropy: &mut Entropy,
    ) -> (FastMatch, Vec<Ply>) {
        let mut plies = self.opening.clone();
        let played = self.play_watched(a, b, entropy, |event| {
            plies.push(match event {
                Event::Move(seat, made) => Ply::Move(seat, R::write(made)),
                Event::Drawn(number) => Ply::Drawn(number),
            });
        });
        (played, plies)
    }
}

impl<R: Rules> Players<R> {
    #[inline]
    fn play_watched(
        &mut self,
        a: usize,
        b: usize,
        entropy: &mut Entropy,
        mut watch: impl FnMut(Event<R>),
    ) -> FastMatch {
        let (mut position, mut moves) = self.opened.clone();
        let mut has_chance = false;
        let places = [a, b];
        loop {
            match position.turn() {
                Turn::Both => {
                    let made = Seat::BOTH.map(|seat| self.choose(&position, seat, places, entropy));
                    for (seat, made) in Seat::BOTH.into_iter().zip(made) {
                        made.hash(&mut moves);
                        watch(Event::Move(seat, made));
                        position.play(seat, made);
                    }
                }
                Turn::One(seat) => {
                    let made = self.choose(&position, seat, places, entropy);
                    made.hash(&mut moves);
                    watch(Event::Move(seat, made));
                    position.play(seat, made);
                }
                Turn::Chance => {
                    has_chance = true;
                    position.chance(|range| {
                        let (low, high) = range.into_inner();
                        let offset = entropy.below(u64::from(high - low) + 1);
                        let number = low + u32::try_from(offset).unwrap_or_default();
                        watch(Event::Drawn(number));
                        number
                    });
                }
                Turn::External | Turn::Over => break,
            }
        }
        for (seat, own, opponent) in [(Seat::A, a, b), (Seat::B, b, a)] {
            // Chance remembers nothing.
            if let Some(player) = self
                .players
                .get_mut(own)
                .filter(|player| player.choose.is_some())
            {
                position.remember(&mut player.memory, seat, opponent);
            }
        }
        FastMatch {
            outcome: position.outcome().unwrap_or(Outcome::Draw),
            totals: position.totals(),
            moves: (!has_chance).then(|| moves.finish()),
        }
    }
}
