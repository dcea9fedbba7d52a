//! Plays any game turn by turn in JSON, as referees and players do, but without messages: strategies and rules may be outside.

use crate::ending::{Ending, Played};
use crate::entrant::{Entrant, ExternalRules, Place, StrategySource};
use crate::game_log::GameLog;
use matchday_core::entropy::Entropy;
use matchday_core::fair::{Dice, MatchDraw, Secret};
use matchday_core::game::context::Context;
use matchday_core::game::past::{DrawCheck, Past, PastGame};
use matchday_core::game::strategy::Strategy;
use matchday_core::game::turn::{GAMES_TOLD_MAX, Memory, TurnSheet};
use matchday_core::game::{Game, GameEntry, MoveMessage, Outcome, Seat, Turn, past, strategy};
use matchday_core::protocol::messages::{ChoiceContext, GameDetails};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, GameType, LeagueId, MatchId, PlayerId, RoundId, Timestamp};
use matchday_runtime::decider::FailureKind;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// How often a match is begun that a model's server fails, before it is given up.
const ATTEMPTS_MAX: u32 = 3;

/// There is no clock here.
const NO_TIME: Timestamp = Timestamp::from_micros(0);

/// The players of a game, with what they remember of each other.
#[derive(Debug)]
pub(crate) struct Players<'a> {
    entry: &'static GameEntry,
    rules: Option<&'a dyn ExternalRules>,
    game_type: GameType,
    players: Vec<Player<'a>>,
    /// Matches since the last [`forget`](Self::forget).
    played: u32,
    /// Matches in all.
    number: u32,
    /// The first moves of every match, by their numbers among the options.
    opening: Vec<u32>,
}

#[derive(Debug)]
struct Player<'a> {
    strategy: &'a StrategySource,
    overall: Past,
    against: Vec<Past>,
    /// Games since the last [`forget`](Players::forget).
    games: usize,
    told: MemoryState,
}

/// What a strategy that remembers by itself has been told.
#[derive(Debug)]
struct MemoryState {
    memory: MemoryId,
    /// By which process, and of how many games; `None` before the first turn.
    games: Cell<Option<(u64, usize)>>,
}

/// Taken while it is kept: what is remembered under it is replaced, so that a program's memory does not grow.
#[derive(Debug)]
struct MemoryId(u64);

static MEMORIES: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

impl MemoryId {
    fn take() -> Self {
        let mut taken = MEMORIES.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (0..).find(|id| !taken.contains(id)).unwrap_or_default();
        taken.insert(free);
        Self(free)
    }
}

impl Drop for MemoryId {
    fn drop(&mut self) {
        MEMORIES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

impl Player<'_> {
    fn memory(&self, process: u64) -> Memory {
        let known = self.told.games.replace(Some((process, self.games)));
        let known = known.filter(|(teller, _)| *teller == process);
        let fresh = self.games - known.map_or(0, |(_, games)| games);
        let all = self.overall.games();
        let skipped = all.len().saturating_sub(fresh.min(GAMES_TOLD_MAX));
        Memory {
            id: self.told.memory.0,
            begins: known.is_none(),
            games: self.overall.games().skip(skipped).cloned().collect(),
        }
    }
}

struct Table {
    players: [usize; 2],
    match_id: MatchId,
    round_id: RoundId,
    game: Box<dyn Game>,
    /// What is left of the opening, the next move first.
    opening: std::vec::IntoIter<u32>,
    /// What external strategies are given as their source of chance.
    seeds: [Option<u64>; 2],
    place: Place,
    log: GameLog,
    /// Why A and B did not move.
    failures: [Option<FailureKind>; 2],
}

fn id(player: usize) -> PlayerId {
    PlayerId::numbered(u32::try_from(player + 1).unwrap_or(u32::MAX))
}

impl<'a> Players<'a> {
    pub(crate) fn new(
        entry: &'static GameEntry,
        rules: Option<&'a dyn ExternalRules>,
        entrants: impl Iterator<Item = &'a Entrant> + Clone,
    ) -> Self {
        let against = vec![Past::default(); entrants.clone().count()];
        let player = |entrant: &'a Entrant| Player {
            strategy: &entrant.strategy,
            overall: Past::default(),
            against: against.clone(),
            games: 0,
            told: MemoryState {
                memory: MemoryId::take(),
                games: Cell::new(None),
            },
        };
        let players = entrants.map(player).collect();
        let game_type = GameType::new(entry.name);
        Self {
            entry,
            rules,
            game_type,
            players,
            played: 0,
            number: 0,
            opening: Vec::new(),
        }
    }

    pub(crate) fn forget(&mut self) {
        for player in &mut self.players {
            player.overall = Past::default();
            player.against.fill(Past::default());
            player.games = 0;
            player.told.games.set(None);
        }
        self.played = 0;
    }

    pub(crate) fn open(&mut self, opening: &[u32]) {
        self.opening = opening.to_vec();
    }

    pub(crate) fn play(&mut self, a: usize, b: usize, entropy: &mut Entropy) -> Played {
        self.played += 1;
        self.number += 1;
        let round_id = RoundId(self.played);
        // Every attempt has the same chance.
        let before = entropy.clone();
        let mut attempt = 1;
        let (table, ending) = loop {
            *entropy = before.clone();
            let mut table = Table {
                players: [a, b],
                match_id: MatchId::numbered(round_id, 1),
                round_id,
                game: (self.entry.new)(),
                opening: self.opening.clone().into_iter(),
                seeds: [a, b].map(|player| self.seed(player, entropy)),
                place: Place {
                    number: self.number,
                    attempt,
                    turn: 0,
                },
                log: GameLog::default(),
                failures: [None; 2],
            };
            let ending = self.play_out(&mut table, entropy);
            if ending != Ending::NotPlayed || attempt == ATTEMPTS_MAX {
                break (table, ending);
            }
            attempt += 1;
        };
        if ending != Ending::NotPlayed {
            self.remember(&table, ending);
        }
        Played {
            ending,
            payoffs: table.game.totals(),
            moves: table.log.hash(),
            failures: table.failures,
            voided: attempt - u32::from(ending != Ending::NotPlayed),
            log: Some(table.log),
        }
    }

    fn play_out(&self, table: &mut Table, entropy: &mut Entropy) -> Ending {
        loop {
            let turn = table.game.turn();
            match turn {
                Turn::Both | Turn::One(_) => {
                    table.place.turn += 1;
                    let choose = |seat: &Seat| (*seat, self.choose(table, *seat, entropy));
                    let chosen: Vec<(Seat, Result<Value, FailureKind>)> =
                        turn.seats().iter().map(choose).collect();
                    for (seat, choice) in chosen {
                        table.make(seat, choice);
                    }
                    match table.failures {
                        [None, None] => {}
                        [Some(FailureKind::Server | FailureKind::NotAsked), _]
                        | [_, Some(FailureKind::Server | FailureKind::NotAsked)] => {
                            return Ending::NotPlayed;
                        }
                        [Some(_), None] => return Ending::Forfeited(Seat::A),
                        [None, Some(_)] => return Ending::Forfeited(Seat::B),
                        [Some(_), Some(_)] => return Ending::ForfeitedByBoth,
                    }
                }
                Turn::Chance => {
                    let mut dice = table.dice(entropy);
                    table.game.chance(&mut dice);
                    for number in dice.drawn() {
                        table.log.push_drawn(*number);
                    }
                }
                Turn::External => {
                    let match_id = &table.match_id;
                    if !self
                        .rules
                        .is_some_and(|rules| rules.rule(match_id, table.game.as_mut()))
                    {
                        return Ending::ForfeitedByBoth;
                    }
                }
                Turn::Over => return table.game.outcome().unwrap_or(Outcome::Draw).into(),
            }
        }
    }

    /// A number that every language can read from JSON; `None` for built-in strategies.
    fn seed(&self, player: usize, entropy: &mut Entropy) -> Option<u64> {
        let strategy = self.players.get(player).map(|player| player.strategy);
        matches!(strategy, Some(StrategySource::External(_))).then(|| entropy.below(1 << 53))
    }

    fn choose(
        &self,
        table: &mut Table,
        seat: Seat,
        entropy: &mut Entropy,
    ) -> Result<Value, FailureKind> {
        let [own, other] = [seat, seat.other()].map(|seat| *seat.of(&table.players));
        let [own_id, other_id] = [own, other].map(id);
        let player = self.players.get(own).ok_or(FailureKind::NotAsked)?;
        let request = table.game.request(seat);
        if let Some(opening) = table.opening.next() {
            let number = usize::try_from(opening).unwrap_or(usize::MAX);
            let made = request.valid_options.get(number).cloned();
            return made.ok_or(FailureKind::Illegal);
        }
        let context = match table.game.move_message() {
            MoveMessage::GameMove => Context::OfMove(request.context),
            MoveMessage::ChooseParity => Context::OfParity(Some(ChoiceContext {
                opponent_id: Some(other_id.clone()),
                round_id: Some(table.round_id),
                your_standings: Some(player.overall.record()),
            })),
        };
        let process = match player.strategy {
            StrategySource::External(strategy) => strategy.remembers(),
            StrategySource::BuiltIn(_) => None,
        };
        // Who remembers by itself is told what is new.
        let [against, overall] = match process {
            Some(_) => [Past::NONE; 2],
            None => [
                player.against.get(other).unwrap_or(Past::NONE),
                &player.overall,
            ],
        };
        let turn = strategy::Turn {
            game_type: &self.game_type,
            own_id: &own_id,
            opponent_id: Some(&other_id),
            options: &request.valid_options,
            context: &context,
            against,
            overall,
            record: player.overall.record(),
        };
        match player.strategy {
            StrategySource::BuiltIn(entry) => Ok(entry.choose(&turn, entropy)),
            StrategySource::External(strategy) => {
                let match_id = table.match_id.clone();
                let round_id = Some(table.round_id);
                let sheet = TurnSheet::of(&turn, match_id, round_id, NO_TIME, NO_TIME);
                let sheet = TurnSheet {
                    seed: *seat.of(&table.seeds),
                    rules: sheet.rules.filter(|_| process.is_none()),
                    memory: process.map(|process| player.memory(process)),
                    ..sheet
                };
                strategy.decide(sheet, table.place)
            }
        }
    }

    fn remember(&mut self, table: &Table, ending: Ending) {
        let parities = match table.game.details(&table.players.map(id)) {
            GameDetails::Parity(parities) => Some(parities),
            GameDetails::Other(_) => None,
        };
        let choice = |player| {
            parities
                .as_ref()?
                .choices
                .get(&id(player))
                .copied()
                .flatten()
        };
        let drawn_parity = parities
            .as_ref()
            .and_then(|parities| parities.number_parity);
        for seat in Seat::BOTH {
            let [own, other] = [seat, seat.other()].map(|seat| *seat.of(&table.players));
            let game = Arc::new(PastGame {
                match_id: table.match_id.clone(),
                round_id: Some(table.round_id),
                game_type: self.game_type.clone(),
                opponent_id: Some(id(other)),
                own_choice: choice(own),
                opponent_choice: choice(other),
                drawn_parity,
                outcome: outcome(ending, seat),
                technical: matches!(ending, Ending::Forfeited(_) | Ending::ForfeitedByBoth),
                draw: if drawn_parity.is_some() {
                    DrawCheck::Proven
                } else {
                    DrawCheck::NotPromised
                },
                summary: None,
            });
            if let Some(player) = self.players.get_mut(own) {
                player
                    .against
                    .get_mut(other)
                    .into_iter()
                    .for_each(|past| past.push(Arc::clone(&game)));
                player.overall.push(game);
                player.games += 1;
            }
        }
    }
}

impl Table {
    /// Makes a move, or notes why it is none.
    fn make(&mut self, seat: Seat, choice: Result<Value, FailureKind>) {
        let made = choice.and_then(|choice| match self.game.play(seat, &choice) {
            Ok(()) => Ok(choice),
            Err(_) => Err(FailureKind::Illegal),
        });
        match made {
            Ok(made) => self.log.push_move(&made),
            Err(kind) => {
                self.log.push_missing();
                let [a, b] = &mut self.failures;
                let own = if seat == Seat::A { a } else { b };
                *own = Some(kind);
            }
        }
    }

    fn dice(&self, entropy: &mut Entropy) -> Dice {
        let [a, b] = self.players.map(|player| Nonce::absent(&id(player)));
        let league_id = &LeagueId::new("");
        let match_id = &self.match_id;
        let draw = MatchDraw {
            league_id,
            match_id,
            attempt: Attempt::FIRST,
        };
        draw.dice(&Secret::draw(entropy), [&a, &b])
    }
}

fn outcome(ending: Ending, seat: Seat) -> past::Outcome {
    match ending.winner() {
        Some(winner) if winner == seat => past::Outcome::Win,
        None if ending == Ending::Drawn => past::Outcome::Draw,
        _ => past::Outcome::Loss,
    }
}
