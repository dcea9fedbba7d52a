//! The round-robin schedule, by the circle method.

use crate::protocol::PlayerId;
use serde::{Deserialize, Serialize};

/// One round of a schedule: each player meets at most one other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairings {
    /// Side A first.
    pub pairs: Vec<(PlayerId, PlayerId)>,
    /// The player without a match, if their number is odd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bye: Option<PlayerId>,
}

/// The sources fix the schedule for four players. No rule generates it, because its sides are not balanced (the second
/// player is always B).
const FOUR: [[(usize, usize); 2]; 3] = [[(0, 1), (2, 3)], [(2, 0), (3, 1)], [(3, 0), (2, 1)]];

/// Each pair once. With an odd number of players each has one bye; except for four players, each player's sides differ
/// by at most one.
pub fn round_robin(players: &[PlayerId]) -> Vec<Pairings> {
    match players.len() {
        0 | 1 => Vec::new(),
        4 => FOUR
            .iter()
            .map(|round| seat(players, round.iter().copied(), None))
            .collect(),
        n if n.is_multiple_of(2) => (0..n - 1).map(|round| even_round(players, round)).collect(),
        n => (0..n)
            .map(|round| seat(players, circle(n, round), Some(round)))
            .collect(),
    }
}

/// The first player is fixed; the others rotate.
fn even_round(players: &[PlayerId], round: usize) -> Pairings {
    let pinned = if round.is_multiple_of(2) {
        (0, round + 1)
    } else {
        (round + 1, 0)
    };
    let others = circle(players.len() - 1, round).map(|(a, b)| (a + 1, b + 1));
    seat(players, std::iter::once(pinned).chain(others), None)
}

/// The pairs of an odd circle of `m` around the position `round`, which is left out.
///
/// A is the one from which the other is less than half the circle away clockwise: so everyone is A against one half of
/// the others and B against the other half.
fn circle(m: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    let half = (m - 1) / 2;
    (1..=half).map(move |k| {
        let x = (round + k) % m;
        let y = (round + m - k) % m;
        if (y + m - x) % m <= half {
            (x, y)
        } else {
            (y, x)
        }
    })
}

fn seat(
    players: &[PlayerId],
    pairs: impl Iterator<Item = (usize, usize)>,
    bye: Option<usize>,
) -> Pairings {
    let player = |place: usize| players.get(place).cloned();
    Pairings {
        pairs: pairs
            .filter_map(|(a, b)| player(a).zip(player(b)))
            .collect(),
        bye: bye.and_then(player),
    }
}
