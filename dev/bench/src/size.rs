//! The size of a league. Pure.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) players: u16,
    pub(crate) referees: u16,
}

impl Size {
    pub(crate) const fn new(players: u16, referees: u16) -> Self {
        Self { players, referees }
    }

    /// How many exchanges are concurrent at most: two for each match that the referees can run at once.
    pub(crate) fn at_once(self) -> usize {
        let players = usize::from(self.players);
        let referees = usize::from(self.referees.max(1));
        let each = (players / 2).div_ceil(referees).clamp(1, 10);
        (each * referees).min(players / 2).max(1) * 2
    }

    pub(crate) fn agents(self) -> usize {
        1 + usize::from(self.players) + usize::from(self.referees)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.players, self.referees)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no size: expected PLAYERS/REFEREES, such as 50/10, with 2 to 99 players and 1 to 99 referees"
            )
        };
        let (players, referees) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<u16>().map_err(|_| wrong());
        let size = Self::new(number(players)?, number(referees)?);
        match (size.players, size.referees) {
            (2..=99, 1..=99) => Ok(size),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_as_it_is_shown() {
        assert_eq!("50/10".parse::<Size>().unwrap().to_string(), "50/10");
        for wrong in ["50", "1/1", "100/1", "4/0", "a/b", ""] {
            assert!(
                wrong
                    .parse::<Size>()
                    .unwrap_err()
                    .contains("PLAYERS/REFEREES"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn as_much_happens_at_once_as_there_are_players_and_referees_for() {
        for (size, at_once) in [
            ((4, 1), 4),
            ((99, 10), 98),
            ((50, 10), 50),
            ((99, 1), 20),
            ((2, 9), 2),
        ] {
            assert_eq!(Size::new(size.0, size.1).at_once(), at_once, "{size:?}");
        }
    }
}
