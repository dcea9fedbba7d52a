//! Openings: first moves that both players of a pair of matches are given, once from each seat. Deterministic strategies
//! play different games only from different openings. Pure.

use crate::seeds::{Purpose, stream};
use matchday_core::entropy::Entropy;
use matchday_core::game::{Game, GameEntry, Seat};
use serde_json::Value;
use std::collections::BTreeSet;

/// Moves in the order in which the game asks for them, A's first where both move at once; each by its number among the
/// options.
pub type Opening = Vec<u32>;

/// How often a random opening is drawn again that ended the game, or was there before.
const ATTEMPTS_MAX: usize = 1_000;

/// Why openings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOpening {
    /// Counted from 1; `None` if it is about all of them.
    pub line: Option<usize>,
    pub why: String,
}

/// So many different random openings of so many turns, or as many as there are. Fails if the game is over by then.
pub fn random(
    game: &GameEntry,
    count: usize,
    turns: u32,
    seed: u64,
) -> Result<Vec<Opening>, BadOpening> {
    let mut entropy = stream(seed, Purpose::Openings, 0);
    let mut openings: Vec<Opening> = Vec::new();
    let mut known = BTreeSet::new();
    let mut attempts = 0;
    while openings.len() < count && attempts < ATTEMPTS_MAX {
        attempts += 1;
        let drawn = (0..turns).try_fold(Position::of(game), |position, _| {
            position.random_turn(&mut entropy)
        });
        let opening = drawn
            .filter(|position| !position.is_over())
            .map(|position| position.made);
        if let Some(opening) = opening.filter(|opening| known.insert(opening.clone())) {
            openings.push(opening);
            attempts = 0;
        }
    }
    if openings.is_empty() {
        Err(BadOpening {
            line: None,
            why: format!(
                "{} has no openings of {turns} turns: they would end the match",
                game.name
            ),
        })
    } else {
        Ok(openings)
    }
}

/// One opening a line: a JSON array of moves, in the order in which the game asks for them. Blank lines and what follows
/// a # are ignored.
pub fn parse(game: &GameEntry, text: &str) -> Result<Vec<Opening>, BadOpening> {
    let mut openings = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let wrong = |why: String| BadOpening {
            line: Some(line),
            why,
        };
        let moves: Vec<Value> = serde_json::from_str(text).map_err(|error| {
            wrong(format!(
                "expected a JSON array of moves, as in [3, 3]: {error}"
            ))
        })?;
        openings.push(Position::of(game).played(&moves).map_err(wrong)?);
    }
    if openings.is_empty() {
        Err(BadOpening {
            line: None,
            why: "there is no opening in it".to_owned(),
        })
    } else {
        Ok(openings)
    }
}

struct Position {
    game: Box<dyn Game>,
    made: Opening,
}

impl Position {
    fn of(game: &GameEntry) -> Self {
        Self {
            game: (game.new)(),
            made: Vec::new(),
        }
    }

    fn is_over(&self) -> bool {
        self.game.turn().seats().is_empty()
    }

    /// `None` if nobody is to move.
    fn random_turn(mut self, entropy: &mut Entropy) -> Option<Self> {
        let seats = self.game.turn().seats();
        for seat in seats {
            let options = self.game.request(*seat).valid_options;
            let place = entropy.below(options.len() as u64);
            self.play(*seat, options.get(usize::try_from(place).ok()?)?)
                .ok()?;
        }
        (!seats.is_empty()).then_some(self)
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), String> {
        let options = self.game.request(seat).valid_options;
        self.game
            .play(seat, choice)
            .map_err(|illegal| illegal.to_string())?;
        let place = options.iter().position(|option| option == choice);
        self.made
            .extend(place.and_then(|place| u32::try_from(place).ok()));
        Ok(())
    }

    fn played(mut self, moves: &[Value]) -> Result<Opening, String> {
        let mut moves = moves.iter().peekable();
        while moves.peek().is_some() {
            let seats = self.game.turn().seats();
            if seats.is_empty() {
                return Err("the match is over before its last move".to_owned());
            }
            for seat in seats {
                let choice = moves
                    .next()
                    .ok_or("both move at once: a move of B is missing")?;
                self.play(*seat, choice)?;
            }
        }
        if self.is_over() {
            Err("it ends the match".to_owned())
        } else {
            Ok(self.made)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::game;
    use matchday_core::protocol::GameType;

    fn game(name: &str) -> &'static GameEntry {
        game::find(&GameType::new(name)).unwrap()
    }

    #[test]
    fn random_openings_differ_and_end_no_match() {
        let openings = random(game("connect_four"), 40, 2, 1).unwrap();
        assert_eq!(openings.len(), 40);
        assert!(openings.iter().all(|opening| opening.len() == 2));
        let all = random(game("nim"), 100, 1, 1).unwrap();
        assert_eq!(all.len(), 15, "there are no more");
        assert_eq!(
            random(game("rock_paper_scissors"), 1, 2, 1).unwrap()[0].len(),
            4
        );
        let none = random(game("even_odd"), 1, 1, 1).unwrap_err();
        assert_eq!(
            none.why,
            "even_odd has no openings of 1 turns: they would end the match"
        );
    }

    #[test]
    fn a_file_of_openings_is_read_line_by_line() {
        let text = "# two of them\n[3, 3]\n\n[0]  # the edge\n";
        assert_eq!(
            parse(game("connect_four"), text).unwrap(),
            [vec![3, 3], vec![0]]
        );
        let nim = parse(game("nim"), "[{\"heap\": 2, \"take\": 1}]").unwrap();
        assert_eq!(nim, [vec![3]], "numbers are places among the options");
        for (name, text, line, why) in [
            (
                "connect_four",
                "[3]\n[7]",
                Some(2),
                "expected one of 0, 1, 2, 3, 4, 5, 6, got 7",
            ),
            (
                "connect_four",
                "3 3",
                Some(1),
                "expected a JSON array of moves",
            ),
            ("tic_tac_toe", "[0,3,1,4,2]", Some(1), "it ends the match"),
            (
                "rock_paper_scissors",
                "[\"rock\"]",
                Some(1),
                "a move of B is missing",
            ),
            ("nim", "\n# nothing\n", None, "there is no opening in it"),
        ] {
            let error = parse(game(name), text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.why.contains(why), "{error:?}");
        }
    }
}
