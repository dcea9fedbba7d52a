//! A game whose rules are in an external program: the last position that the program gave, and all moves so far. The
//! driver of the referee calls the program; this module does no I/O.
//!
//! The program is stateless: each request has all moves from the beginning, so it may crash and be restarted, or run on
//! another machine, in the middle of a match.

use super::view::View;
use super::{Game, GameEntry, IllegalMove, Outcome, Seat, Turn};
use crate::fair::Dice;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, PlayerId};
use crate::protocol::messages::{GameDetails, MoveRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

/// A program's description of its game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalGameInfo {
    /// The name under which a league chooses it.
    pub game_type: GameType,
    /// What it is, in one line.
    #[serde(default)]
    pub about: String,
    /// How it is played, asked and judged, in Markdown.
    #[serde(default)]
    pub rules: String,
    /// The most turns that a match can have; a turn of both at once counts as one.
    pub turns_max: u32,
}

impl ExternalGameInfo {
    /// An entry like that of a built-in game. It lives as long as the process, which has few such games.
    pub fn entry(&self) -> &'static GameEntry {
        let leak = |text: &str| -> &'static str { String::leak(text.to_owned()) };
        Box::leak(Box::new(GameEntry {
            name: leak(self.game_type.as_str()),
            about: leak(&self.about),
            rules: leak(&self.rules),
            turns_max: self.turns_max,
            new: || Box::new(ExternalGame::default()),
            sides_matter: true,
            payoff: None,
            built_in: None,
        }))
    }
}

/// How many bytes of details are told; more would not fit into a report.
const DETAILS_BYTES_MAX: usize = 4096;

/// A position of the match, as the program sends it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Position {
    turn: ToMove,
    #[serde(default = "any_move")]
    move_type: SmolStr,
    /// The legal moves of each player that is to move.
    #[serde(default)]
    moves: BySeat<Vec<Value>>,
    /// What each may see.
    #[serde(default)]
    context: BySeat<Map<String, Value>>,
    /// What chance draws from, both ends included.
    #[serde(default)]
    range: Option<(u32, u32)>,
    #[serde(default)]
    winner: Option<Winner>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    details: Option<Value>,
    /// What a spectator may see of it.
    #[serde(default)]
    view: Option<View>,
}

fn any_move() -> SmolStr {
    SmolStr::new_static("move")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum ToMove {
    A,
    B,
    #[serde(rename = "both")]
    Both,
    #[serde(rename = "chance")]
    Chance,
    #[serde(rename = "over")]
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Winner {
    A,
    B,
    #[serde(rename = "draw")]
    Draw,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct BySeat<T> {
    #[serde(rename = "A")]
    a: Option<T>,
    #[serde(rename = "B")]
    b: Option<T>,
}

impl<T> BySeat<T> {
    fn of(&self, seat: Seat) -> Option<&T> {
        match seat {
            Seat::A => self.a.as_ref(),
            Seat::B => self.b.as_ref(),
        }
    }
}

impl Position {
    fn turn(&self) -> Turn {
        match self.turn {
            ToMove::A => Turn::One(Seat::A),
            ToMove::B => Turn::One(Seat::B),
            ToMove::Both => Turn::Both,
            ToMove::Chance => Turn::Chance,
            ToMove::Over => Turn::Over,
        }
    }

    fn options(&self, seat: Seat) -> &[Value] {
        self.moves.of(seat).map_or(&[], Vec::as_slice)
    }

    /// Whether what was said can be played by; if not, what is missing.
    fn check(&self) -> Result<(), String> {
        for seat in self.turn().seats() {
            let letter = letter(*seat);
            let options = self.options(*seat);
            if options.is_empty() {
                return Err(format!(
                    "moves.{letter}: {letter} is to move, and has no legal move"
                ));
            }
            if options.contains(&Value::Null) {
                return Err(format!("moves.{letter}: null cannot be a move"));
            }
        }
        self.view.as_ref().map_or(Ok(()), View::check)?;
        match (self.turn, self.range, self.winner) {
            (ToMove::Chance, None, _) => {
                Err("range: chance is to move, and has nothing to draw from".into())
            }
            (ToMove::Chance, Some((low, high)), _) if low > high => {
                Err(format!("range: {low} is above {high}"))
            }
            (ToMove::Over, _, None) => {
                Err("winner: the game is over: expected \"A\", \"B\" or \"draw\"".into())
            }
            _ => Ok(()),
        }
    }
}

fn letter(seat: Seat) -> &'static str {
    match seat {
        Seat::A => "A",
        Seat::B => "B",
    }
}

/// One match of such a game.
#[derive(Debug, Default)]
pub(crate) struct ExternalGame {
    /// What the program said of the position, unless it has still to be asked.
    position: Option<Position>,
    /// The moves of the present turn.
    pending: [Option<Value>; 2],
    /// Every turn: `{"A": move}`, `{"A": move, "B": move}` or `{"chance": number}`.
    history: Vec<Value>,
}

impl ExternalGame {
    fn close_turn(&mut self, turn: Value) {
        self.history.push(turn);
        self.pending = [None, None];
        self.position = None;
    }

    fn is_awaited(&self, seat: Seat) -> bool {
        self.turn().seats().contains(&seat) && seat.of(&self.pending).is_none()
    }
}

impl Game for ExternalGame {
    fn turn(&self) -> Turn {
        self.position
            .as_ref()
            .map_or(Turn::External, Position::turn)
    }

    fn request(&self, seat: Seat) -> MoveRequest {
        let position = self.position.as_ref();
        let mut context = position
            .and_then(|position| position.context.of(seat))
            .cloned()
            .unwrap_or_default();
        // Two turns may look alike to the program: the number tells them apart.
        context.insert("turn_number".to_owned(), json!(self.history.len() + 1));
        context.insert("your_seat".to_owned(), letter(seat).into());
        if let Some(view) = self.view().and_then(|view| serde_json::to_value(view).ok()) {
            context.insert("view".to_owned(), view);
        }
        MoveRequest {
            move_type: position.map_or_else(any_move, |position| position.move_type.clone()),
            valid_options: position
                .map(|position| position.options(seat).to_vec())
                .unwrap_or_default(),
            context,
        }
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove> {
        let awaited = self.is_awaited(seat);
        let options = self
            .position
            .as_ref()
            .map_or(&[][..], |position| position.options(seat));
        if !awaited || !options.contains(choice) {
            let legal = if awaited {
                options.to_vec()
            } else {
                Vec::new()
            };
            return Err(IllegalMove {
                code: ErrorCode::InvalidMove,
                came: choice.clone(),
                legal,
            });
        }
        *seat.of_mut(&mut self.pending) = Some(choice.clone());
        if !Seat::BOTH.iter().any(|seat| self.is_awaited(*seat)) {
            let made = Seat::BOTH.iter().filter_map(|seat| {
                Some((letter(*seat).to_owned(), seat.of(&self.pending).clone()?))
            });
            let turn: Map<String, Value> = made.collect();
            self.close_turn(turn.into());
        }
        Ok(())
    }

    fn chance(&mut self, dice: &mut Dice) {
        if let Some((low, high)) = self.position.as_ref().and_then(|position| position.range) {
            let drawn = dice.uniform(low..=high);
            self.close_turn(json!({ "chance": drawn }));
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position
            .as_ref()?
            .winner
            .filter(|_| self.turn() == Turn::Over)
            .map(|winner| match winner {
                Winner::A => Outcome::Win(Seat::A),
                Winner::B => Outcome::Win(Seat::B),
                Winner::Draw => Outcome::Draw,
            })
    }

    fn details(&self, _players: &[PlayerId; 2]) -> GameDetails {
        let told = self
            .position
            .as_ref()
            .and_then(|position| position.details.clone());
        let view = self.view().and_then(|view| serde_json::to_value(view).ok());
        let details = [("told", told), ("view", view)];
        let given = details
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        GameDetails::Other(given.collect())
    }

    fn view(&self) -> Option<View> {
        self.position.as_ref()?.view.clone()
    }

    fn reason(&self, players: &[PlayerId; 2]) -> String {
        let said = self
            .position
            .as_ref()
            .and_then(|position| position.reason.clone());
        said.unwrap_or_else(|| match self.outcome() {
            Some(Outcome::Win(seat)) => {
                format!("{} has won by the rules of the game", seat.of(players))
            }
            Some(Outcome::Draw) => "A draw by the rules of the game".into(),
            None => "The game was not played to its end".into(),
        })
    }

    fn history(&self) -> &[Value] {
        &self.history
    }

    fn ruled(&mut self, said: Value) -> Result<(), String> {
        let mut position: Position = serde_json::from_value(said)
            .map_err(|error| format!("this is no position: {error}"))?;
        position.check()?;
        position.details = position
            .details
            .filter(|told| told.to_string().len() <= DETAILS_BYTES_MAX);
        self.position = Some(position);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_that_cannot_be_played_by_is_refused_with_what_is_missing() {
        for (said, why) in [
            (json!({}), "this is no position: missing field `turn`"),
            (
                json!({"turn": "C"}),
                "this is no position: unknown variant `C`",
            ),
            (
                json!({"turn": "A"}),
                "moves.A: A is to move, and has no legal move",
            ),
            (
                json!({"turn": "both", "moves": {"A": [1]}}),
                "moves.B: B is to move",
            ),
            (
                json!({"turn": "A", "moves": {"A": [null]}}),
                "moves.A: null cannot be a move",
            ),
            (json!({"turn": "chance"}), "range: chance is to move"),
            (
                json!({"turn": "chance", "range": [2, 1]}),
                "range: 2 is above 1",
            ),
            (json!({"turn": "over"}), "winner: the game is over"),
        ] {
            let error = ExternalGame::default().ruled(said.clone()).unwrap_err();
            assert!(error.starts_with(why), "{said}: {error}");
        }
    }

    #[test]
    fn every_turn_is_put_to_the_program_with_all_moves_before_it() {
        let mut game = ExternalGame::default();
        assert_eq!((game.turn(), game.history()), (Turn::External, &[][..]));
        game.ruled(json!({"turn": "both", "moves": {"A": [1, 2], "B": [3]}, "context": {"B": {"hint": 7}}}))
            .unwrap();
        assert_eq!(game.turn(), Turn::Both);
        let before = game.request(Seat::B);
        assert_eq!(
            (&before.valid_options, before.context.get("hint")),
            (&vec![json!(3)], Some(&json!(7)))
        );
        game.play(Seat::A, &json!(2)).unwrap();
        assert_eq!(
            game.request(Seat::B),
            before,
            "a move is not told before both are made"
        );
        assert_eq!(game.play(Seat::B, &json!(4)).unwrap_err().legal, [json!(3)]);
        game.play(Seat::B, &json!(3)).unwrap();
        assert_eq!(
            (game.turn(), game.history()),
            (Turn::External, &[json!({"A": 2, "B": 3})][..])
        );
        game.ruled(json!({"turn": "over", "winner": "B", "reason": "B was luckier"}))
            .unwrap();
        assert_eq!(
            (game.turn(), game.outcome()),
            (Turn::Over, Some(Outcome::Win(Seat::B)))
        );
        assert_eq!(
            game.reason(&[1, 2].map(PlayerId::numbered)),
            "B was luckier"
        );
    }
}
