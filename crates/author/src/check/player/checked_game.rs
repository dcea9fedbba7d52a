//! The game that a player is checked in: built in, or by the rules of a program of the author's.

use anyhow::{Result, anyhow};
use matchday_core::agent::{ExternalId, RulesRequest};
use matchday_core::entropy::Entropy;
use matchday_core::fair::{Dice, MatchDraw, Secret};
use matchday_core::game::{Game, GameEntry, MoveMessage, Seat, Turn};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, LeagueId, MatchId, Timestamp};
use matchday_runtime::ExternalRules as _;
use matchday_runtime::deciders::game_program::GameProgram;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct CheckedGame {
    pub(crate) entry: &'static GameEntry,
    program: Option<GameProgram>,
    secret: Secret,
    /// What happens before the first move of each seat.
    openings: [Vec<Step>; 2],
}

#[derive(Debug, Clone)]
enum Step {
    /// What the program said of the position.
    Ruled(Value),
    Chance,
    /// A move of the opponent.
    Move(Value),
}

impl CheckedGame {
    pub(crate) async fn prepare(
        entry: &'static GameEntry,
        program: Option<GameProgram>,
        entropy: &mut Entropy,
    ) -> Result<Self> {
        let mut game = Self {
            entry,
            program,
            secret: Secret::draw(entropy),
            openings: [Vec::new(), Vec::new()],
        };
        for seat in Seat::BOTH {
            *seat.of_mut(&mut game.openings) = game.opening_steps(seat).await?;
        }
        Ok(game)
    }

    async fn opening_steps(&self, seat: Seat) -> Result<Vec<Step>> {
        let mut game = (self.entry.new)();
        let mut steps = self.settle(game.as_mut()).await?;
        while game.turn() == Turn::One(seat.other()) {
            let options = game.request(seat.other()).valid_options;
            let first = options.into_iter().next().unwrap_or_default();
            game.play(seat.other(), &first)
                .map_err(|illegal| anyhow!("{}: {illegal}", self.entry.name))?;
            steps.push(Step::Move(first));
            steps.extend(self.settle(game.as_mut()).await?);
        }
        Ok(steps)
    }

    /// Lets chance and the rules outside have their way, until a player is to move or the game is over.
    async fn settle(&self, game: &mut dyn Game) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            match game.turn() {
                Turn::Chance => {
                    game.chance(&mut self.dice());
                    steps.push(Step::Chance);
                }
                Turn::External => {
                    let position = self.position(game).await?;
                    game.ruled(position.clone()).map_err(|why| anyhow!(why))?;
                    steps.push(Step::Ruled(position));
                }
                Turn::Both | Turn::One(_) | Turn::Over => return Ok(steps),
            }
        }
    }

    async fn position(&self, game: &dyn Game) -> Result<Value> {
        let program = self
            .program
            .as_ref()
            .ok_or_else(|| anyhow!("an external program has the rules of {}", self.entry.name))?;
        let request = RulesRequest {
            id: ExternalId(0),
            match_id: MatchId::new("check"),
            history: game.history().to_vec(),
            until: Timestamp::EPOCH,
        };
        program.position(request).await.map_err(|why| anyhow!(why))
    }

    /// The same dice each time, so that an opening can be repeated.
    fn dice(&self) -> Dice {
        let draw = MatchDraw {
            league_id: &LeagueId::new("league_check"),
            match_id: &MatchId::new("check"),
            attempt: Attempt::FIRST,
        };
        let nonce = Nonce("check".into());
        draw.dice(&self.secret, [&nonce, &nonce])
    }

    /// Whether the game asks by GAME_MOVE_CALL rather than by CHOOSE_PARITY_CALL.
    pub(crate) fn asks_by_move(&self) -> bool {
        (self.entry.new)().move_message() == MoveMessage::GameMove
    }

    /// A game in which this seat has its first move.
    pub(crate) fn opening(&self, seat: Seat) -> Box<dyn Game> {
        let mut game = (self.entry.new)();
        for step in seat.of(&self.openings) {
            // Each was possible before.
            match step {
                Step::Ruled(position) => drop(game.ruled(position.clone())),
                Step::Chance => game.chance(&mut self.dice()),
                Step::Move(choice) => drop(game.play(seat.other(), choice)),
            }
        }
        game
    }

    /// Makes a move for a seat, of which it is the turn. Returns whether it was legal.
    pub(crate) async fn play(
        &self,
        game: &mut dyn Game,
        seat: Seat,
        choice: &Value,
    ) -> Result<bool> {
        let is_legal = game.play(seat, choice).is_ok();
        self.settle(game).await?;
        Ok(is_legal)
    }

    /// Makes a legal move chosen by `number`. Returns whether there was one.
    pub(crate) async fn play_any(
        &self,
        game: &mut dyn Game,
        seat: Seat,
        number: usize,
    ) -> Result<bool> {
        let options = game.request(seat).valid_options;
        let place = number.checked_rem(options.len());
        match place.and_then(|place| options.get(place)) {
            Some(choice) => self.play(game, seat, choice).await,
            None => Ok(false),
        }
    }

    /// Plays to the end, by the first legal move each time.
    pub(crate) async fn play_out(&self, game: &mut dyn Game) -> Result<()> {
        loop {
            let seats = game.turn().seats();
            let mut moved = false;
            for seat in seats {
                moved |= self.play_any(game, *seat, 0).await?;
            }
            if !moved {
                return Ok(());
            }
        }
    }
}
