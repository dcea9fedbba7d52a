//! Plays any game turn by turn in JSON, as referees and players do, but without messages: strategies and rules may be outside.

use crate::ending::{Ending, Played};
use crate::entrant::{Entrant, ExternalRules, StrategySource};
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
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

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
    told: Told,
}

/// What a strategy that remembers by itself has been told.
#[derive(Debug)]
struct Told {
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
    /// A hash of all moves; `None` once chance has had part in it.
    moves: Option<u64>,
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
            told: Told {
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
        let round_id = RoundId(self.played);
        let mut table = Table {
            players: [a, b],
            match_id: MatchId::numbered(round_id, 1),
            round_id,
            game: (self.entry.new)(),
            opening: self.opening.clone().into_iter(),
            seeds: [a, b].map(|player| self.seed(player, entropy)),
            moves: Some(0),
        };
        let ending = self.play_out(&mut table, entropy);
        self.remember(&table, ending);
        Played {
            ending,
            payoffs: table.game.totals(),
            moves: table.moves,
        }
    }

    fn play_out(&self, table: &mut Table, entropy: &mut Entropy) -> Ending {
        loop {
            let turn = table.game.turn();
            match turn {
                Turn::Both | Turn::One(_) => {
                    let choose = |seat: &Seat| (*seat, self.choose(table, *seat, entropy));
                    let chosen: Vec<(Seat, Option<Value>)> =
                        turn.seats().iter().map(choose).collect();
                    let forfeits: Vec<Seat> = chosen
                        .into_iter()
                        .filter_map(|(seat, choice)| (!table.make(seat, choice)).then_some(seat))
                        .collect();
                    match forfeits[..] {
                        [] => {}
                        [seat] => return Ending::Forfeited(seat),
                        _ => return Ending::ForfeitedByBoth,
                    }
                }
                Turn::Chance => {
                    table.moves = None;
                    let mut dice = table.dice(entropy);
                    table.game.chance(&mut dice);
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

    /// `None` if an external strategy does not decide.
    fn choose(&self, table: &mut Table, seat: Seat, entropy: &mut Entropy) -> Option<Value> {
        let [own, other] = [seat, seat.other()].map(|seat| *seat.of(&table.players));
        let [own_id, other_id] = [own, other].map(id);
        let player = self.players.get(own)?;
        let request = table.game.request(seat);
        if let Some(opening) = table.opening.next() {
            return request
                .valid_options
                .get(usize::try_from(opening).ok()?)
                .cloned();
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
            StrategySource::BuiltIn(entry) => Some(entry.choose(&turn, entropy)),
            StrategySource::External(strategy) => {
                let match_id = table.match_id.clone();
                let round_id = Some(table.round_id);
                let sheet = TurnSheet::of(&turn, match_id, round_id, NO_TIME, NO_TIME);
                strategy.decide(TurnSheet {
                    seed: *seat.of(&table.seeds),
                    rules: sheet.rules.filter(|_| process.is_none()),
                    memory: process.map(|process| player.memory(process)),
                    ..sheet
                })
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
    /// Makes a move. Returns whether it was legal.
    fn make(&mut self, seat: Seat, choice: Option<Value>) -> bool {
        let made = choice.filter(|choice| self.game.play(seat, choice).is_ok());
        self.moves = self
            .moves
            .zip(made.as_ref())
            .map(|(moves, made)| hash(moves, made));
        made.is_some()
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

/// FNV-1a, over the text of a move.
fn hash(moves: u64, made: &Value) -> u64 {
    made.to_string()
        .bytes()
        .chain([b'\n'])
        .fold(moves, |moves, byte| {
            (moves ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
}

fn outcome(ending: Ending, seat: Seat) -> past::Outcome {
    match ending.winner() {
        Some(winner) if winner == seat => past::Outcome::Win,
        None if ending == Ending::Drawn => past::Outcome::Draw,
        _ => past::Outcome::Loss,
    }
}
