//! Plays any game with the core's rules and strategies, without messages.

use crate::ending::{Ending, Played};
use crate::entrant::{Entrant, ExternalRules, StrategySource};
use matchday_core::entropy::Entropy;
use matchday_core::fair::{Dice, MatchDraw, Secret};
use matchday_core::game::context::Context;
use matchday_core::game::past::{DrawCheck, Past, PastGame};
use matchday_core::game::strategy::Strategy;
use matchday_core::game::turn::TurnSheet;
use matchday_core::game::{AskBy, Game, GameEntry, Outcome, Seat, Turn, past, strategy};
use matchday_core::protocol::messages::{ChoiceContext, GameDetails, Parity};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, GameType, LeagueId, MatchId, PlayerId, RoundId, Timestamp};
use serde_json::Value;
use std::sync::Arc;

/// There is no clock here.
const NO_TIME: Timestamp = Timestamp::from_micros(0);

/// The players of a game, with what they remember of each other.
#[derive(Debug)]
pub(crate) struct Players<'a> {
    entry: &'static GameEntry,
    rules: Option<&'a dyn ExternalRules>,
    game_type: GameType,
    strategies: Vec<&'a StrategySource>,
    ids: Vec<PlayerId>,
    memories: Vec<Memory>,
    /// Matches since the last [`forget`](Self::forget).
    played: u32,
    /// The first moves of every match, by their numbers among the options.
    opening: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Memory {
    overall: Past,
    against: Vec<Past>,
}

struct Table {
    players: [usize; 2],
    match_id: MatchId,
    round_id: RoundId,
    game: Box<dyn Game>,
    /// The last move of each player.
    choices: [Option<Value>; 2],
    /// What is left of the opening, the next move first.
    opening: std::vec::IntoIter<u32>,
    /// What external strategies are given as their source of chance.
    seeds: [Option<u64>; 2],
    /// A hash of all moves; `None` once chance has had part in it.
    moves: Option<u64>,
}

impl<'a> Players<'a> {
    pub(crate) fn new(
        entry: &'static GameEntry,
        rules: Option<&'a dyn ExternalRules>,
        entrants: impl Iterator<Item = &'a Entrant>,
    ) -> Self {
        let strategies: Vec<&StrategySource> = entrants.map(|entrant| &entrant.strategy).collect();
        let ids = (1..).map(PlayerId::numbered).take(strategies.len()).collect();
        let memory = Memory { against: vec![Past::default(); strategies.len()], ..Memory::default() };
        let memories = vec![memory; strategies.len()];
        Self {
            entry,
            rules,
            game_type: GameType::new(entry.name),
            strategies,
            ids,
            memories,
            played: 0,
            opening: Vec::new(),
        }
    }

    pub(crate) fn forget(&mut self) {
        for memory in &mut self.memories {
            memory.overall = Past::default();
            memory.against.fill(Past::default());
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
            choices: [None, None],
            opening: self.opening.clone().into_iter(),
            seeds: [a, b].map(|player| self.seed(player, entropy)),
            moves: Some(0),
        };
        let ending = self.play_out(&mut table, entropy);
        self.remember(&table, ending);
        Played { ending, totals: table.game.totals(), moves: table.moves }
    }

    fn play_out(&self, table: &mut Table, entropy: &mut Entropy) -> Ending {
        loop {
            match table.game.turn() {
                Turn::Both => {
                    let moves = Seat::BOTH.map(|seat| self.choose(table, seat, entropy));
                    let moved =
                        Seat::BOTH.map(|seat| self.make(table, seat, seat.of(&moves).as_ref(), entropy));
                    match moved {
                        [true, true] => {}
                        [false, true] => return Ending::Forfeited(Seat::A),
                        [true, false] => return Ending::Forfeited(Seat::B),
                        [false, false] => return Ending::ForfeitedByBoth,
                    }
                }
                Turn::One(seat) => {
                    let choice = self.choose(table, seat, entropy);
                    if !self.make(table, seat, choice.as_ref(), entropy) {
                        return Ending::Forfeited(seat);
                    }
                }
                Turn::Chance => {
                    table.moves = None;
                    let mut dice = self.dice(table, entropy);
                    table.game.chance(&mut dice);
                }
                Turn::External => {
                    let match_id = &table.match_id;
                    if !self.rules.is_some_and(|rules| rules.rule(match_id, table.game.as_mut())) {
                        return Ending::ForfeitedByBoth;
                    }
                }
                Turn::Over => {
                    return table.game.outcome().unwrap_or(Outcome::Draw).into();
                }
            }
        }
    }

    /// A number that every language can read from JSON; `None` for built-in strategies.
    fn seed(&self, player: usize, entropy: &mut Entropy) -> Option<u64> {
        let external = matches!(self.strategies.get(player), Some(StrategySource::External(_)));
        external.then(|| entropy.below(1 << 53))
    }

    fn dice(&self, table: &Table, entropy: &mut Entropy) -> Dice {
        let [a, b] = table.players.map(|player| Nonce::absent(self.id(player)));
        let (league_id, match_id) = (&LeagueId::new(""), &table.match_id);
        let draw = MatchDraw { league_id, match_id, attempt: Attempt::FIRST };
        draw.dice(&Secret::draw(entropy), [&a, &b])
    }

    fn id(&self, player: usize) -> &PlayerId {
        static NOBODY: std::sync::LazyLock<PlayerId> = std::sync::LazyLock::new(|| PlayerId::numbered(0));
        self.ids.get(player).unwrap_or(&NOBODY)
    }

    /// `None` if an external strategy does not decide.
    fn choose(&self, table: &mut Table, seat: Seat, entropy: &mut Entropy) -> Option<Value> {
        let [own, other] = [seat, seat.other()].map(|seat| *seat.of(&table.players));
        let memory = self.memories.get(own)?;
        let request = table.game.request(seat);
        if let Some(opening) = table.opening.next() {
            return request.valid_options.get(usize::try_from(opening).ok()?).cloned();
        }
        let context = match table.game.asks_by() {
            AskBy::Move => Context::OfMove(request.context),
            AskBy::Parity => Context::OfParity(Some(ChoiceContext {
                opponent_id: Some(self.id(other).clone()),
                round_id: Some(table.round_id),
                your_standings: Some(memory.overall.record()),
            })),
        };
        let turn = strategy::Turn {
            game_type: &self.game_type,
            own_id: self.id(own),
            opponent_id: Some(self.id(other)),
            options: &request.valid_options,
            context: &context,
            against: memory.against.get(other).unwrap_or(Past::NONE),
            overall: &memory.overall,
            record: memory.overall.record(),
        };
        match self.strategies.get(own)? {
            StrategySource::BuiltIn(entry) => Some(entry.choose(&turn, entropy)),
            StrategySource::External(strategy) => {
                let (match_id, round_id) = (table.match_id.clone(), Some(table.round_id));
                let sheet = TurnSheet::of(&turn, match_id, round_id, NO_TIME, NO_TIME);
                strategy.decide(TurnSheet { seed: *seat.of(&table.seeds), ..sheet })
            }
        }
    }

    /// Makes a move. Returns whether it was legal. If the choice of a built-in strategy is illegal, a random legal
    /// move is made, as in a player.
    fn make(&self, table: &mut Table, seat: Seat, choice: Option<&Value>, entropy: &mut Entropy) -> bool {
        let Some(choice) = choice else { return false };
        let mut made = choice.clone();
        if table.game.play(seat, choice).is_err() {
            let strategy = self.strategies.get(*seat.of(&table.players));
            let options = table.game.request(seat).valid_options;
            let place = entropy.below(options.len() as u64);
            let any = usize::try_from(place).ok().and_then(|place| options.get(place));
            match (strategy, any) {
                (Some(StrategySource::BuiltIn(_)), Some(any)) if table.game.play(seat, any).is_ok() => {
                    made = any.clone();
                }
                _ => return false,
            }
        }
        table.moves = table.moves.map(|moves| hash(moves, &made));
        *seat.of_mut(&mut table.choices) = Some(made);
        true
    }

    fn remember(&mut self, table: &Table, ending: Ending) {
        let is_parity = table.game.asks_by() == AskBy::Parity;
        let drawn_parity = drawn(table, is_parity);
        let parity = |seat: Seat| {
            let choice = seat.of(&table.choices).as_ref().filter(|_| is_parity)?;
            choice.as_str().and_then(Parity::parse)
        };
        for seat in Seat::BOTH {
            let [own, other] = [seat, seat.other()].map(|seat| *seat.of(&table.players));
            let game = Arc::new(PastGame {
                match_id: table.match_id.clone(),
                round_id: Some(table.round_id),
                game_type: self.game_type.clone(),
                opponent_id: Some(self.id(other).clone()),
                own_choice: parity(seat),
                opponent_choice: parity(seat.other()),
                drawn_parity,
                outcome: outcome(ending, seat),
                technical: matches!(ending, Ending::Forfeited(_) | Ending::ForfeitedByBoth),
                draw: if drawn_parity.is_some() { DrawCheck::Proven } else { DrawCheck::NotPromised },
                summary: None,
            });
            if let Some(memory) = self.memories.get_mut(own) {
                memory.against.get_mut(other).into_iter().for_each(|past| past.push(Arc::clone(&game)));
                memory.overall.push(game);
            }
        }
    }
}

/// FNV-1a, over the text of a move.
fn hash(moves: u64, made: &Value) -> u64 {
    made.to_string()
        .bytes()
        .chain([b'\n'])
        .fold(moves, |moves, byte| (moves ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn drawn(table: &Table, is_parity: bool) -> Option<Parity> {
    if !is_parity {
        return None;
    }
    match table.game.details(&[1, 2].map(PlayerId::numbered)) {
        GameDetails::Parity(details) => details.number_parity,
        GameDetails::Other(_) => None,
    }
}

fn outcome(ending: Ending, seat: Seat) -> past::Outcome {
    match ending.winner() {
        Some(winner) if winner == seat => past::Outcome::Win,
        None if ending == Ending::Drawn => past::Outcome::Draw,
        _ => past::Outcome::Loss,
    }
}
