//! How connect four is searched: some moves ahead by the strategy, and to the end for what a move leads to. Pure: callers
//! cannot tell what was remembered.

use super::super::memo::Memo;
use super::super::prospect::Prospect;
use super::{BOARD, BOTTOM, Cells, STRIDE};
use std::sync::atomic::{AtomicU64, Ordering};

/// The middle first: it is part of the most lines, and good moves tried early spare the search the others.
const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];
/// How many moves the strategy looks ahead. At the end of each line it also sees who wins at once, and who cannot stop it.
pub(super) const DEPTH: u32 = 5;
/// A win, less the marks on the board when it comes: sooner is better.
const WON: i32 = 10_000;
/// How many positions are looked at for what a move leads to.
const POSITIONS_MAX: u32 = 10_000;

/// The best column for the player with `own` marks, the earliest in [`ORDER`] of equal ones.
pub(super) fn best_column(own: Cells, theirs: Cells) -> Option<u32> {
    static KNOWN: Memo<{ 1 << 18 }> = Memo::new();
    let position = Position::of(own, theirs);
    let best = KNOWN.get(position.key(), || {
        u8::try_from(choose(position, DEPTH)?).ok()
    });
    best.map(u32::from)
}

/// What the position is worth to the player who has just moved, as far as so many positions tell.
pub(super) fn prospect(moved: Cells, to_move: Cells) -> Prospect {
    if super::has_four(moved) {
        return Prospect::Won;
    }
    let mut solver = Solver {
        known: vec![0; 1 << SOLVED_BITS],
        positions_left: POSITIONS_MAX,
    };
    match solver.worth(Position::of(to_move, moved), -1, 1) {
        None => Prospect::Open,
        Some(1..) => Prospect::Lost,
        Some(0) => Prospect::Drawn,
        Some(_) => Prospect::Won,
    }
}

/// The columns of these cells in [`ORDER`].
fn in_order(cells: Cells) -> impl Iterator<Item = Cells> {
    ORDER
        .iter()
        .map(move |column| cells & 0x3F << (column * STRIDE))
        .filter(|cell| *cell != 0)
}

/// Nobody has four in a row.
#[derive(Debug, Clone, Copy)]
struct Position {
    /// The marks of the player to move.
    own: Cells,
    theirs: Cells,
    /// The cells that would make four of them, whether they can be reached or not.
    own_fours: Cells,
    their_fours: Cells,
    /// By how much the own marks lie nearer to the middle.
    middle: i32,
}

/// What is seen of a position without a move.
enum Seen {
    /// What it is worth to the player to move.
    Decided(i32),
    /// The moves after which the opponent does not win at once.
    Open(Cells),
}

impl Position {
    fn of(own: Cells, theirs: Cells) -> Self {
        Self {
            own,
            theirs,
            own_fours: completing(own),
            their_fours: completing(theirs),
            middle: near_middle(own) - near_middle(theirs),
        }
    }

    /// The lowest free cell of each column and one's own marks tell positions apart.
    fn key(self) -> u64 {
        (self.own | self.theirs) + BOTTOM + self.own
    }

    fn after(self, cell: Cells) -> Self {
        let moved = self.own | cell;
        Self {
            own: self.theirs,
            theirs: moved,
            own_fours: self.their_fours,
            their_fours: completing(moved),
            middle: -self.middle - near_middle(cell),
        }
    }

    fn marks(self) -> i32 {
        (self.own | self.theirs).count_ones() as i32
    }

    /// The lowest free cell of each column that has one.
    fn landings(self) -> Cells {
        ((self.own | self.theirs) + BOTTOM) & BOARD
    }

    fn see(self) -> Seen {
        let landings = self.landings();
        if landings == 0 {
            return Seen::Decided(0);
        }
        if self.own_fours & landings != 0 {
            return Seen::Decided(WON - self.marks() - 1);
        }
        let threats = self.their_fours & landings;
        let stops = match threats {
            0 => landings,
            several if several & (several - 1) != 0 => 0,
            one => one,
        };
        // A mark below a cell that makes four gives it to the opponent.
        match stops & !((self.their_fours & BOARD) >> 1) {
            0 => Seen::Decided(self.marks() + 2 - WON),
            safe => Seen::Open(safe),
        }
    }

    /// How good it looks to the player to move: free cells that would make four count most, then marks near the middle.
    fn promise(self) -> i32 {
        let free = BOARD & !(self.own | self.theirs);
        let fours = |cells: Cells| 8 * (cells & free).count_ones() as i32;
        fours(self.own_fours) - fours(self.their_fours) + self.middle
    }
}

/// Two for each mark in the middle column, one for each beside it.
fn near_middle(marks: Cells) -> i32 {
    const MIDDLE: Cells = 0x3F << (3 * STRIDE);
    const BESIDE: Cells = 0x3F << (2 * STRIDE) | 0x3F << (4 * STRIDE);
    (2 * (marks & MIDDLE).count_ones() + (marks & BESIDE).count_ones()) as i32
}

/// The cells that make four with three of these marks, whether free or not.
fn completing(marks: Cells) -> Cells {
    let upright = marks << 1 & marks << 2 & marks << 3;
    [STRIDE - 1, STRIDE, STRIDE + 1]
        .iter()
        .fold(upright, |found, step| {
            let [up, down] = [marks << step, marks >> step];
            let [two_up, two_down] = [up & marks << (2 * step), down & marks >> (2 * step)];
            found | two_up & (marks << (3 * step) | down) | two_down & (marks >> (3 * step) | up)
        })
}

/// The column to choose after looking so many moves ahead.
fn choose(position: Position, depth: u32) -> Option<u32> {
    let landings = position.landings();
    let wins = position.own_fours & landings;
    let threats = position.their_fours & landings;
    let candidates = match position.see() {
        _ if wins != 0 => wins,
        Seen::Open(safe) => safe,
        // It is lost; the opponent may overlook it.
        Seen::Decided(_) if threats != 0 => threats,
        Seen::Decided(_) => landings,
    };
    let mut best: Option<(Cells, i32)> = None;
    for cell in in_order(candidates) {
        let low = best.map_or(-WON, |(_, worth)| worth);
        let worth = if wins == 0 && candidates & (candidates - 1) != 0 {
            -lookahead(position.after(cell), depth - 1, -WON, -low)
        } else {
            0
        };
        if best.is_none_or(|(_, known)| worth > known) {
            best = Some((cell, worth));
        }
    }
    best.map(|(cell, _)| cell.trailing_zeros() / STRIDE)
}

/// What a position is worth to the player to move; `low` and `high` bound what is still of interest.
fn lookahead(position: Position, depth: u32, mut low: i32, mut high: i32) -> i32 {
    let safe = match position.see() {
        Seen::Decided(worth) => return worth,
        Seen::Open(safe) => safe,
    };
    let mut best = -WON;
    if depth == 0 {
        return position.promise();
    }
    // Looking up what is one move deep takes longer than to look.
    if depth == 1 {
        for cell in in_order(safe) {
            let after = position.after(cell);
            best = best.max(match after.see() {
                Seen::Decided(worth) => -worth,
                Seen::Open(_) => -after.promise(),
            });
            if best >= high {
                break;
            }
        }
        return best;
    }
    let slot = Slot::of(position.key(), depth);
    let asked = low;
    if let Some((bound, worth)) = slot.as_ref().and_then(Slot::known) {
        match bound {
            Bound::Exact => return worth,
            Bound::AtLeast => (best, low) = (worth, low.max(worth)),
            Bound::AtMost => high = high.min(worth),
        }
        if low >= high {
            return worth;
        }
    }
    for cell in in_order(safe) {
        best = best.max(-lookahead(position.after(cell), depth - 1, -high, -low));
        low = low.max(best);
        if low >= high {
            break;
        }
    }
    if let Some(slot) = slot {
        let bound = if best <= asked {
            Bound::AtMost
        } else if best >= high {
            Bound::AtLeast
        } else {
            Bound::Exact
        };
        slot.store(bound, best);
    }
    best
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact = 1,
    AtLeast = 2,
    AtMost = 3,
}

/// What is known of a position that was searched to a depth. A word holds all of it, so that threads never see half of it.
struct Slot {
    word: &'static AtomicU64,
    /// Tells it from all others that share the word.
    tag: u64,
}

/// Of a table that a processor's own cache holds: a larger one finds more positions, and takes longer to look into.
const SLOT_BITS: u32 = 14;
const KEY_BITS: u32 = 49;

impl Slot {
    fn of(key: u64, depth: u32) -> Option<Self> {
        static WORDS: [AtomicU64; 1 << SLOT_BITS] = [const { AtomicU64::new(0) }; 1 << SLOT_BITS];
        let (slot, rest) = scatter(key, SLOT_BITS);
        Some(Self {
            word: WORDS.get(slot)?,
            tag: rest << 4 | u64::from(depth),
        })
    }

    fn known(&self) -> Option<(Bound, i32)> {
        let word = self.word.load(Ordering::Relaxed);
        if word >> 18 != self.tag {
            return None;
        }
        let worth = (word & 0xFFFF) as i32 - WON;
        match word >> 16 & 3 {
            1 => Some((Bound::Exact, worth)),
            2 => Some((Bound::AtLeast, worth)),
            3 => Some((Bound::AtMost, worth)),
            _ => None,
        }
    }

    fn store(&self, bound: Bound, worth: i32) {
        let word = self.tag << 18 | (bound as u64) << 16 | (worth + WON) as u64;
        self.word.store(word, Ordering::Relaxed);
    }
}

/// A slot among so many for a key, and what tells it from the other keys of the slot: the multiplication can be undone.
fn scatter(key: u64, slot_bits: u32) -> (usize, u64) {
    let scattered = key.wrapping_mul(0x1_9E37_79B9_7F4B) & ((1 << KEY_BITS) - 1);
    let rest = KEY_BITS - slot_bits;
    ((scattered >> rest) as usize, scattered & ((1 << rest) - 1))
}

const SOLVED_BITS: u32 = 14;

/// Plays on to the end: 1 is won, 0 drawn, -1 lost.
struct Solver {
    known: Vec<u64>,
    positions_left: u32,
}

impl Solver {
    /// `None` if the positions did not suffice.
    fn worth(&mut self, position: Position, mut low: i32, mut high: i32) -> Option<i32> {
        self.positions_left = self.positions_left.checked_sub(1)?;
        let safe = match position.see() {
            Seen::Decided(worth) => return Some(worth.signum()),
            Seen::Open(safe) => safe,
        };
        let (slot, rest) = scatter(position.key(), SOLVED_BITS);
        let tag = rest + 1;
        let word = self.known.get(slot).copied().unwrap_or(0);
        let [known_least, known_most] = if word >> 4 == tag {
            [word >> 2 & 3, word & 3].map(|bound| bound as i32 - 1)
        } else {
            [-1, 1]
        };
        low = low.max(known_least);
        high = high.min(known_most);
        if low >= high {
            return Some(if known_least >= high {
                known_least
            } else {
                known_most
            });
        }
        let asked = low;
        let mut best = known_least;
        for next in most_threatening_first(position, safe) {
            best = best.max(-self.worth(next, -high, -low)?);
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        let at_least = if best > asked { best } else { known_least };
        let at_most = if best < high { best } else { known_most };
        if let Some(slot) = self.known.get_mut(slot) {
            *slot = tag << 4 | ((at_least + 1) as u64) << 2 | (at_most + 1) as u64;
        }
        Some(best)
    }
}

fn most_threatening_first(position: Position, safe: Cells) -> Vec<Position> {
    let mut next: Vec<Position> = in_order(safe).map(|cell| position.after(cell)).collect();
    next.sort_by_key(|after| {
        let free = BOARD & !(after.own | after.theirs);
        std::cmp::Reverse((after.their_fours & free).count_ones())
    });
    next
}

#[cfg(test)]
mod tests {
    use super::super::super::rules::Rules;
    use super::super::{ConnectFour, Outcome};
    use super::*;
    use proptest::prelude::*;

    fn moves(game: &ConnectFour) -> Vec<u32> {
        ORDER
            .into_iter()
            .filter(|column| (0..game.options()).any(|number| game.option(number) == *column))
            .collect()
    }

    fn after(game: &ConnectFour, column: u32) -> ConnectFour {
        let mut game = game.clone();
        game.play(game.next, column);
        game
    }

    fn position(game: &ConnectFour) -> Position {
        let [own, theirs] = [game.next, game.next.other()].map(|seat| *seat.of(&game.marks));
        Position::of(own, theirs)
    }

    fn wins_at_once(game: &ConnectFour) -> bool {
        moves(game)
            .iter()
            .any(|column| matches!(after(game, *column).outcome(), Some(Outcome::Win(_))))
    }

    /// The same worth by the rules alone, looking at every move.
    fn plain(game: &ConnectFour, depth: u32) -> i32 {
        let marks = position(game).marks();
        match game.outcome() {
            Some(Outcome::Win(_)) => return marks - WON,
            Some(Outcome::Draw) => return 0,
            None => {}
        }
        if depth == 0 {
            let is_lost = moves(game)
                .iter()
                .all(|column| wins_at_once(&after(game, *column)));
            return match (wins_at_once(game), is_lost) {
                (true, _) => WON - marks - 1,
                (false, true) => marks + 2 - WON,
                (false, false) => position(game).promise(),
            };
        }
        let worths = moves(game)
            .into_iter()
            .map(|column| -plain(&after(game, column), depth - 1));
        worths.max().unwrap_or(0)
    }

    /// Plays the columns as far as they are legal and nobody wins.
    fn played(columns: &[u32]) -> ConnectFour {
        let mut game = ConnectFour::default();
        for column in columns {
            if moves(&game).contains(column) {
                let next = after(&game, *column);
                if next.outcome().is_none() {
                    game = next;
                }
            }
        }
        game
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        /// What was remembered of other searches changes nothing.
        #[test]
        fn lookahead_finds_what_the_rules_alone_find(
            columns in prop::collection::vec(0_u32..7, 0..42),
            depth in 1_u32..4,
        ) {
            let game = played(&columns);
            let found = lookahead(position(&game), depth, -WON, WON);
            prop_assert_eq!(found, plain(&game, depth));
            let best = moves(&game).into_iter().max_by_key(|column| -plain(&after(&game, *column), depth - 1));
            let worth = |column: Option<u32>| column.map(|column| plain(&after(&game, column), depth - 1));
            prop_assert_eq!(worth(choose(position(&game), depth)), worth(best));
        }

        #[test]
        fn what_a_move_leads_to_is_what_playing_on_finds(columns in prop::collection::vec(0_u32..7, 60..90)) {
            let game = played(&columns);
            let position = position(&game);
            prop_assume!(position.marks() >= 32);
            let found = prospect(position.theirs, position.own);
            let expected = match plain(&game, 42).signum() {
                1 => Prospect::Lost,
                0 => Prospect::Drawn,
                _ => Prospect::Won,
            };
            prop_assert_eq!(found, expected);
        }
    }
}
