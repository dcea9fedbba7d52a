//! Any game by the core's own rules and strategies: positions and moves are values, and nothing is written as text.

use crate::ending::Ending;
use crate::entrant::{Chooser, Entrant};
use matchday_core::entropy::Entropy;
use matchday_core::fair::{Dice, MatchDraw, Nonce, Scheme, Secret};
use matchday_core::game::{AskBy, Game, GameEntry, Outcome, Seat, Turn};
use matchday_core::player::TurnSheet;
use matchday_core::player::memory::{self, DrawCheck, Past, PastGame};
use matchday_core::player::question::Context;
use matchday_core::player::strategy::{self, Strategy};
use matchday_core::protocol::messages::{ChoiceContext, GameDetails, Parity};
use matchday_core::protocol::{Attempt, GameType, LeagueId, MatchId, PlayerId, RoundId, Timestamp};
use serde_json::Value;
use std::sync::Arc;

/// What a turn is dated with: there is no clock here.
const NO_TIME: Timestamp = Timestamp::from_micros(0);

/// Players of any game, and what they remember of each other.
#[derive(Debug)]
pub(crate) struct Players<'a> {
    entry: &'static GameEntry,
    game_type: GameType,
    choosers: Vec<&'a Chooser>,
    ids: Vec<PlayerId>,
    memories: Vec<Memory>,
    /// How many matches have been played since everyone forgot.
    played: u32,
}

#[derive(Debug, Clone, Default)]
struct Memory {
    overall: Past,
    against: Vec<Past>,
}

/// A match that is being played.
struct Table {
    players: [usize; 2],
    match_id: MatchId,
    round_id: RoundId,
    game: Box<dyn Game>,
    /// The last move of each, for games of a single one.
    choices: [Option<Value>; 2],
}

impl<'a> Players<'a> {
    pub(crate) fn new(entry: &'static GameEntry, entrants: impl Iterator<Item = &'a Entrant>) -> Self {
        let choosers: Vec<&Chooser> = entrants.map(|entrant| &entrant.chooser).collect();
        let ids = (1..).map(PlayerId::numbered).take(choosers.len()).collect();
        let memory = Memory { against: vec![Past::default(); choosers.len()], ..Memory::default() };
        let memories = vec![memory; choosers.len()];
        Self { entry, game_type: GameType::new(entry.name), choosers, ids, memories, played: 0 }
    }

    pub(crate) fn forget(&mut self) {
        for memory in &mut self.memories {
            memory.overall = Past::default();
            memory.against.fill(Past::default());
        }
        self.played = 0;
    }

    pub(crate) fn play(&mut self, a: usize, b: usize, entropy: &mut Entropy) -> Ending {
        self.played += 1;
        let round_id = RoundId(self.played);
        let mut table = Table {
            players: [a, b],
            match_id: MatchId::numbered(round_id, 1),
            round_id,
            game: (self.entry.new)(),
            choices: [None, None],
        };
        let ending = self.play_out(&mut table, entropy);
        self.remember(&table, ending);
        ending
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
                    let mut dice = self.dice(table, entropy);
                    table.game.chance(&mut dice);
                }
                // Games whose rules are kept outside have no entry, and so cannot be here.
                Turn::Over | Turn::Outside => {
                    return table.game.outcome().unwrap_or(Outcome::Draw).into();
                }
            }
        }
    }

    fn dice(&self, table: &Table, entropy: &mut Entropy) -> Dice {
        let [a, b] = table.players.map(|player| Nonce::absent(self.id(player)));
        let (league_id, match_id) = (&LeagueId::new(""), &table.match_id);
        // The older scheme knows no league, and there is none here.
        let draw = MatchDraw { scheme: Scheme::Draw1, league_id, match_id, attempt: Attempt::FIRST };
        draw.dice(&Secret::draw(entropy), [&a, &b])
    }

    fn id(&self, player: usize) -> &PlayerId {
        static NOBODY: std::sync::LazyLock<PlayerId> = std::sync::LazyLock::new(|| PlayerId::numbered(0));
        self.ids.get(player).unwrap_or(&NOBODY)
    }

    /// What a player chooses; `None` if it does not.
    fn choose(&self, table: &Table, seat: Seat, entropy: &mut Entropy) -> Option<Value> {
        let [own, other] = [seat, seat.other()].map(|seat| *seat.of(&table.players));
        let memory = self.memories.get(own)?;
        let request = table.game.request(seat);
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
        match self.choosers.get(own)? {
            Chooser::BuiltIn(entry) => Some(entry.choose(&turn, entropy)),
            Chooser::Outside(oracle) => {
                let (match_id, round_id) = (table.match_id.clone(), Some(table.round_id));
                oracle.decide(TurnSheet::of(&turn, match_id, round_id, NO_TIME, NO_TIME))
            }
        }
    }

    /// Makes a move; whether there was one that the rules allow. A built-in strategy whose choice they do not allow takes
    /// any that they do, as it does in a player.
    fn make(&self, table: &mut Table, seat: Seat, choice: Option<&Value>, entropy: &mut Entropy) -> bool {
        let Some(choice) = choice else { return false };
        let mut made = choice.clone();
        if table.game.play(seat, choice).is_err() {
            let chooser = self.choosers.get(*seat.of(&table.players));
            let options = table.game.request(seat).valid_options;
            let place = entropy.below(options.len() as u64);
            let any = usize::try_from(place).ok().and_then(|place| options.get(place));
            match (chooser, any) {
                (Some(Chooser::BuiltIn(_)), Some(any)) if table.game.play(seat, any).is_ok() => {
                    made = any.clone();
                }
                _ => return false,
            }
        }
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
            });
            if let Some(memory) = self.memories.get_mut(own) {
                memory.against.get_mut(other).into_iter().for_each(|past| past.push(Arc::clone(&game)));
                memory.overall.push(game);
            }
        }
    }
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

fn outcome(ending: Ending, seat: Seat) -> memory::Outcome {
    match ending.winner() {
        Some(winner) if winner == seat => memory::Outcome::Win,
        None if ending == Ending::Drawn => memory::Outcome::Draw,
        _ => memory::Outcome::Loss,
    }
}
